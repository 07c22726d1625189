//! The values of all measures, and how they are aggregated.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result, show};
use crate::evaluate::averaging::Averaging;
use crate::evaluate::batches::Batches;
use crate::evaluate::candidates::Candidates;
use crate::evaluate::plan::{Measure, Plan};
use crate::evaluate::scorer::{Scored, append_values};
use crate::kernels::views::Views;
use crate::kernels::{Needs, Query, Ranking};
use crate::notes::{Note, Notes};
use crate::number::aggregate::Part;
use crate::policy::{Aggregate, Empty, Missing, Policy};
use crate::qrels::axis::Axis;
use crate::saved::{self, What, require};

/// How many queries and documents there were of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Judged queries.
    pub queries: u64,
    /// Those whose values entered the means, as far as the measures are defined for them.
    pub evaluated: u64,
    /// Those without a document of a grade above 0.
    pub empty: u64,
    /// Those that are not in the run.
    pub missing: u64,
    /// Queries of the run that are not judged.
    pub run_only: u64,
    /// Queries in which a judged document shares its score with another.
    pub tied: u64,
    /// Those with a list of documents.
    pub listed: u64,
    /// Those of them none of whose documents is judged.
    pub unmatched: u64,
    /// By cutoff: documents retrieved, and those of them that are unjudged.
    pub at_cutoffs: Vec<(u64, u64)>,
}

impl Counts {
    /// Adds the counts of other queries.
    pub fn add(&mut self, other: &Self) {
        if self.at_cutoffs.is_empty() {
            self.at_cutoffs = vec![(0, 0); other.at_cutoffs.len()];
        }
        self.queries += other.queries;
        self.evaluated += other.evaluated;
        self.empty += other.empty;
        self.missing += other.missing;
        self.run_only += other.run_only;
        self.tied += other.tied;
        self.listed += other.listed;
        self.unmatched += other.unmatched;
        for (own, others) in self.at_cutoffs.iter_mut().zip(&other.at_cutoffs) {
            *own = (own.0 + others.0, own.1 + others.1);
        }
    }
}

/// The values of all measures.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Evaluation {
    /// By measure, then by query in the order of the judgments; NaN where there is none.
    pub values: Vec<Vec<f64>>,
    /// By measure and query, the numerators and denominators of ratios of sums.
    ratios: Vec<Vec<(f64, f64)>>,
    /// By measure.
    pub means: Vec<f64>,
    /// By measure: how many queries the mean is over.
    pub denominators: Vec<u64>,
    /// Of queries and documents.
    pub counts: Counts,
    /// By query, whether it is in the run.
    pub is_present: Vec<bool>,
    /// Suspicious but legal things in the run.
    pub notes: Notes,
    /// Queries of two and more documents that all have one score.
    pub flat: u64,
    /// Whether all lists look like samples of candidates.
    pub candidates: Candidates,
    /// The first query none of whose documents is judged, and the first of them.
    #[serde(skip)]
    pub unmatched: Option<(u32, Vec<Vec<u8>>)>,
}

/// Puts together what lists came to.
pub fn finish(plan: &Plan, axis: &Axis, mut parts: Vec<Scored>) -> Result<Evaluation> {
    if let Some(mistake) = parts.iter_mut().find_map(|part| part.mistake.take()) {
        return Err(mistake);
    }
    let queries = axis.len();
    let measures = plan.measures.len();
    let mut made = Evaluation {
        values: vec![vec![f64::NAN; queries]; measures],
        ratios: vec![vec![(f64::NAN, f64::NAN); queries]; plan.ratios()],
        is_present: vec![false; queries],
        ..Evaluation::default()
    };
    let mut has_list = vec![false; queries];
    made.counts.queries = queries as u64;
    made.counts.at_cutoffs = vec![(0, 0); plan.cutoffs.len()];
    for scored in parts {
        for (at, seen) in scored.seen.iter().enumerate() {
            let query = seen.query as usize;
            made.is_present[query] = true;
            has_list[query] = !seen.is_blank;
            made.counts.tied += u64::from(seen.is_tied);
            made.counts.listed += u64::from(!seen.is_blank);
            made.counts.unmatched += u64::from(seen.is_unmatched);
            let values = &scored.values[at * measures..(at + 1) * measures];
            for (column, &value) in made.values.iter_mut().zip(values) {
                column[query] = value;
            }
            let ratios = &scored.ratios[at * plan.ratios()..(at + 1) * plan.ratios()];
            for (column, &ratio) in made.ratios.iter_mut().zip(ratios) {
                column[query] = ratio;
            }
        }
        for (sum, part) in made.counts.at_cutoffs.iter_mut().zip(&scored.at_cutoffs) {
            *sum = (sum.0 + part.0, sum.1 + part.1);
        }
        made.flat += scored.flat;
        made.notes.add_many(Note::IntegerIds, scored.as_text, (0, 0));
        made.notes.add_many(Note::EqualAfterNormalisation, scored.alike, (0, 0));
        made.unmatched = made.unmatched.into_iter().chain(scored.unmatched).min();
        made.candidates.merge(scored.candidates);
    }
    let is_empty = |query: &usize| axis.best(*query).is_none_or(|grade| grade <= 0.0);
    made.counts.empty = (0..queries).filter(is_empty).count() as u64;
    made.counts.missing = made.is_present.iter().filter(|&&is_present| !is_present).count() as u64;
    made.fill_missing(plan, axis)?;
    for (column, measure) in plan.measures.iter().enumerate() {
        // Measures of the whole run have no values that could be missing.
        if measure.kernel.of_run().is_none() {
            made.apply_empty(column, measure, &has_list, (plan.policy, axis))?;
        }
    }
    made.aggregate(&plan.averaging());
    let left_out = if plan.policy.missing == Missing::Skip { made.counts.missing } else { 0 };
    made.counts.evaluated = made.counts.queries - left_out;
    Ok(made)
}

impl Evaluation {
    /// Adds an evaluation of other queries, by a plan of the same measures and policy.
    pub fn append(&mut self, other: Self) {
        for (own, others) in self.values.iter_mut().zip(other.values) {
            own.extend(others);
        }
        for (own, others) in self.ratios.iter_mut().zip(other.ratios) {
            own.extend(others);
        }
        self.is_present.extend(other.is_present);
        self.counts.add(&other.counts);
        self.notes.merge(&other.notes);
        self.flat += other.flat;
        self.candidates.merge(other.candidates);
    }

    /// Puts the queries in another order, that of their numbers so far.
    pub fn reorder(&mut self, order: &[u32]) {
        for values in &mut self.values {
            *values = order.iter().map(|&query| values[query as usize]).collect();
        }
        for ratios in &mut self.ratios {
            *ratios = order.iter().map(|&query| ratios[query as usize]).collect();
        }
        let is_present = &self.is_present;
        self.is_present = order.iter().map(|&query| is_present[query as usize]).collect();
    }

    /// Brings the values of all queries together.
    pub fn aggregate(&mut self, averaging: &Averaging) {
        let all = (0..averaging.measures.len())
            .map(|column| self.mean_over(averaging, column, 0..self.is_present.len()));
        (self.means, self.denominators) = all.unzip();
    }

    /// The bytes of it, and of how its values were brought together.
    pub fn save(&self, averaging: &Averaging) -> Vec<u8> {
        saved::save(What::Evaluation, &(self, averaging))
    }

    /// Reads what was saved.
    pub fn restore(bytes: &[u8]) -> Result<(Self, Averaging)> {
        let (made, averaging): (Self, Averaging) = saved::restore(What::Evaluation, bytes)?;
        let (queries, measures) = (made.is_present.len(), averaging.measures.len());
        averaging.validate(queries)?;
        require(made.values.len() == measures && made.ratios.len() == averaging.ratios())?;
        require(made.values.iter().all(|values| values.len() == queries))?;
        require(made.ratios.iter().all(|ratios| ratios.len() == queries))?;
        require(made.means.len() == measures && made.denominators.len() == measures)?;
        Ok((made, averaging))
    }

    fn fill_missing(&mut self, plan: &Plan, axis: &Axis) -> Result<()> {
        let (mut row, mut ratios) = (Vec::with_capacity(plan.measures.len()), Vec::new());
        let mut room = Vec::new();
        let ways = plan.ways();
        for query in (0..self.is_present.len()).filter(|&query| !self.is_present[query]) {
            match plan.policy.missing {
                Missing::Skip => return Ok(()),
                Missing::Error => {
                    let id = &axis.name(query);
                    return Err(Error::new(
                        Kind::Policy,
                        "missing_query",
                        format!(
                            "expected every judged query in the run, as missing=\"error\" says, \
                             but {} are missing, `{}` first",
                            self.counts.missing,
                            show(id)
                        ),
                    )
                    .hint("set policy=\"missing=zero\" or \"missing=skip\"")
                    .value(id));
                }
                Missing::Zero => {
                    let subtopics = axis.subtopics_of(query);
                    let nothing = Query {
                        ideal: axis.ideal(query, &mut room),
                        subtopics: subtopics.map(|of| Ranking { judged: &[], of }),
                        ..Query::EMPTY
                    };
                    row.clear();
                    ratios.clear();
                    let out = (&mut row, &mut ratios);
                    let mut batches = Batches::default();
                    let views = (&ways, &mut Views::default());
                    append_values(plan, &nothing, views, out, &mut batches);
                    batches.put(plan, &mut row, true)?;
                    for (column, &value) in self.values.iter_mut().zip(&row) {
                        column[query] = value;
                    }
                    for (column, &ratio) in self.ratios.iter_mut().zip(&ratios) {
                        column[query] = ratio;
                    }
                }
            }
        }
        Ok(())
    }

    fn apply_empty(
        &mut self,
        column: usize,
        measure: &Measure,
        has_list: &[bool],
        (policy, axis): (Policy, &Axis),
    ) -> Result<()> {
        let is_left_out = |is_present: bool| !is_present && policy.missing == Missing::Skip;
        let is_of_items = matches!(measure.kernel.needs(), Needs::Items(_));
        for (query, value) in self.values[column].iter_mut().enumerate() {
            if value.is_infinite() {
                return Err(overflow(&measure.name, &axis.name(query)));
            }
            if !value.is_nan() || is_left_out(self.is_present[query]) {
                continue;
            }
            if policy.empty == Empty::Error {
                let id = &axis.name(query);
                return Err(Error::new(
                    Kind::Policy,
                    "empty_query",
                    format!(
                        "expected relevant documents for every query, as empty=\"error\" says, \
                         but {} is undefined for query `{}`",
                        measure.name,
                        show(id)
                    ),
                )
                .hint("set empty to \"zero\" or \"skip\", as in policy=\"empty=zero\"")
                .value(id));
            }
            if let Some(counted) = policy.empty.value() {
                // A measure of items is undefined for want of attributes or of a history, not of
                // relevant documents, and stays so; else 0 could be its best value.
                *value = match (is_of_items && !counted.is_nan(), has_list[query]) {
                    (false, _) => counted,
                    (true, true) => f64::NAN,
                    (true, false) => measure.kernel.without_list(),
                };
            }
        }
        Ok(())
    }

    /// The aggregate of a measure over some queries, and how many of them enter it.
    pub fn mean_over(
        &self,
        averaging: &Averaging,
        column: usize,
        queries: impl IntoIterator<Item = usize>,
    ) -> (f64, u64) {
        let parts = self.parts(averaging, column, queries);
        (averaging.measures[column].1.of(&parts), parts.len() as u64)
    }

    /// What the aggregate of a measure over some queries is made of.
    pub fn parts(
        &self,
        averaging: &Averaging,
        column: usize,
        queries: impl IntoIterator<Item = usize>,
    ) -> Vec<Part> {
        let is_ratio = |measure: &&(String, Aggregate)| measure.1 == Aggregate::RatioOfSums;
        let ratios = is_ratio(&&averaging.measures[column]).then(|| {
            let before = averaging.measures[..column].iter().filter(is_ratio);
            &self.ratios[before.count()]
        });
        let part = |query: usize| Part {
            value: self.values[column][query],
            weight: averaging.weights.as_ref().map_or(1.0, |weights| weights[query]),
            ratio: ratios.map_or((f64::NAN, f64::NAN), |ratios| ratios[query]),
        };
        self.entering(averaging, column, queries).map(part).collect()
    }

    /// Which of some queries enter the mean of a measure.
    pub fn entering(
        &self,
        averaging: &Averaging,
        column: usize,
        queries: impl IntoIterator<Item = usize>,
    ) -> impl Iterator<Item = usize> {
        queries.into_iter().filter(move |&query| self.takes_part(averaging, query, column))
    }

    /// Whether a query enters the mean of a measure.
    fn takes_part(&self, averaging: &Averaging, query: usize, column: usize) -> bool {
        let is_left_out = !self.is_present[query] && averaging.missing == Missing::Skip;
        // Where undefined values count as a number, those that are left are of items, see above.
        let is_skipped = averaging.empty != Empty::Nan && self.values[column][query].is_nan();
        !is_left_out && !is_skipped
    }
}

/// The error for a value that is beyond double precision.
pub fn overflow(measure: &str, query: &[u8]) -> Error {
    Error::new(
        Kind::Measure,
        "gain_overflow",
        format!("expected a finite {measure}, but the gains of query `{}` overflow", show(query)),
    )
    .hint("map the grades to smaller ones")
    .value(query)
}
