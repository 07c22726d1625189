//! One pass per query over all measures, and the means at the end.

use std::sync::Arc;

use crate::aggregate::{Aggregate, Part};
use crate::axis::Axis;
use crate::error::{Error, Kind, Result, show};
use crate::join::Joiner;
use crate::judgments::{Duplicates, Judgments};
use crate::kernels::{Kernel, Query};
use crate::memory::{Vec, vec};
use crate::notes::Notes;
use crate::rank::{Ranked, Ties};
use crate::trec::{List, ScoreType};
use crate::views::{Seen, Views};

/// The value of a query for which a measure is undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Empty {
    /// 0.
    #[default]
    Zero,
    /// 1.
    One,
    /// None; the query is left out of the mean.
    Skip,
    /// NaN, and so is the mean.
    Nan,
    /// It is refused.
    Error,
}

/// What becomes of a judged query that is not in the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// It counts as an empty list.
    #[default]
    Zero,
    /// It is left out.
    Skip,
    /// It is refused.
    Error,
}

/// What becomes of negative grades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Negative {
    /// They have no gain.
    #[default]
    Nonrelevant,
    /// Their gain is what the gain function makes of them.
    Gain,
    /// As [`Negative::Gain`], and nDCG is taken between the worst order and the best.
    MinMax,
    /// They are refused.
    Error,
}

/// What becomes of retrieved documents without a judgment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Unjudged {
    /// They have no gain.
    #[default]
    Nonrelevant,
    /// They leave the list, as do those with a negative grade.
    Remove,
    /// They have this gain.
    Gain(f64),
}

/// What becomes of judged documents that were not retrieved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unretrieved {
    /// They count where measures ask for all that is judged.
    #[default]
    Count,
    /// They are unknown.
    Ignore,
}

/// The choices that change values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// What decides between equal scores.
    pub ties: Ties,
    /// The value where a measure is undefined.
    pub empty: Empty,
    /// Judged queries that are not in the run.
    pub missing: Missing,
    /// Negative grades.
    pub negative: Negative,
    /// Retrieved documents without a judgment.
    pub unjudged: Unjudged,
    /// Judged documents that were not retrieved.
    pub unretrieved: Unretrieved,
    /// The gain at ranks after the end of lists shorter than the cutoff.
    pub missing_gain: f64,
}

/// A measure to evaluate.
#[derive(Clone)]
pub struct Measure {
    /// Its name, for messages.
    pub name: String,
    /// What it computes.
    pub kernel: Arc<dyn Kernel>,
    /// Whether it sees judged documents only.
    pub judged_only: bool,
    /// How its values become one.
    pub aggregate: Aggregate,
}

impl Measure {
    fn check_aggregate(&self, is_weighted: bool) -> Result<()> {
        let refuse = |wanted: &str| {
            Err(Error::new(
                Kind::Policy,
                "aggregate_unavailable",
                format!("expected measures {wanted}, found {}", self.name),
            )
            .hint("say aggregate=\"mean\", or leave the measure out"))
        };
        if self.aggregate == Aggregate::RatioOfSums && self.kernel.ratio(&Query::EMPTY).is_none() {
            return refuse("that are ratios, as aggregate=\"ratio_of_sums\" needs");
        }
        if is_weighted && !self.aggregate.takes_weights() {
            return refuse("whose aggregate has weights, which medians and quantiles have not");
        }
        Ok(())
    }
}

/// What to evaluate, and how.
#[derive(Clone)]
pub struct Plan {
    /// The measures.
    pub measures: Vec<Measure>,
    /// The cutoffs at which unjudged documents are counted, `usize::MAX` for whole lists.
    pub cutoffs: Vec<usize>,
    /// The choices that change values.
    pub policy: Policy,
    /// What to do with documents given twice.
    pub duplicates: Duplicates,
    /// How scores are read.
    pub score_type: ScoreType,
    /// How much each query counts, where they do not count alike.
    pub weights: Option<Vec<f64>>,
}

impl Plan {
    /// The same with other weights of the queries.
    ///
    /// # Errors
    /// Where an aggregate takes none.
    pub fn with_weights(&self, weights: Vec<f64>) -> Result<Self> {
        self.measures.iter().try_for_each(|measure| measure.check_aggregate(true))?;
        Ok(Self { weights: Some(weights), ..self.clone() })
    }

    /// Whether a measure sees lists without unjudged documents.
    #[must_use]
    pub fn condenses(&self, measure: &Measure) -> bool {
        measure.judged_only || self.policy.unjudged == Unjudged::Remove
    }

    /// What measures see of a query.
    pub fn see<'a>(&self, whole: &Query<'a>, views: &'a mut Views) -> Seen<'a> {
        let condenses = self.measures.iter().any(|measure| self.condenses(measure));
        views.see(whole, condenses, self.policy.unretrieved == Unretrieved::Ignore)
    }

    /// How many measures need numerators and denominators.
    fn ratios(&self) -> usize {
        let needs = |measure: &&Measure| measure.aggregate == Aggregate::RatioOfSums;
        self.measures.iter().filter(needs).count()
    }

    /// Refuses grades that a measure or the policy has no answer for.
    ///
    /// # Errors
    /// Where there are such grades.
    pub fn check(&self, axis: &Axis) -> Result<()> {
        let grades = axis.grades();
        if self.policy.negative == Negative::Error
            && let Some(grade) = grades.first().filter(|&&grade| grade < 0.0)
        {
            return Err(Error::new(
                Kind::Policy,
                "negative_gain",
                format!("expected grades of 0 and more, as negative=\"error\" says, found {grade}"),
            )
            .hint("say negative=\"nonrelevant\" to give them no gain"));
        }
        let has_none = |measure: &&Measure| !measure.kernel.averages_ties();
        if self.policy.ties == Ties::Average
            && let Some(measure) = self.measures.iter().find(has_none)
        {
            return Err(Error::new(
                Kind::Policy,
                "ties_unavailable",
                format!(
                    "expected measures with an exact value over ties, as ties=\"average\" needs, \
                     found {}",
                    measure.name
                ),
            )
            .hint("say ties=\"doc_id\", or leave the measure out"));
        }
        self.measures.iter().try_for_each(|measure| {
            measure.check_aggregate(self.weights.is_some())?;
            measure.kernel.check(grades)
        })
    }
}

/// What one query's list came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcome {
    query: u32,
    is_tied: bool,
}

/// Evaluates lists one after another, with memory of its own; several may share a plan.
pub struct Scorer<'a> {
    plan: &'a Plan,
    axis: &'a Axis,
    joiner: Joiner,
    ranked: Ranked,
    /// Room for the ideal order.
    ideal: Vec<f64>,
    views: Views,
    seen: Vec<Outcome>,
    values: Vec<f64>,
    ratios: Vec<(f64, f64)>,
    /// Retrieved and unjudged documents at each cutoff.
    at_cutoffs: Vec<(u64, u64)>,
    flat: u64,
    /// Documents dropped because they were given twice.
    pub dropped: u64,
}

impl<'a> Scorer<'a> {
    /// A scorer that has seen nothing.
    #[must_use]
    pub fn new(plan: &'a Plan, axis: &'a Axis) -> Self {
        Self {
            plan,
            axis,
            joiner: Joiner::default(),
            ranked: Ranked::default(),
            ideal: Vec::new(),
            views: Views::default(),
            seen: Vec::new(),
            values: Vec::new(),
            ratios: Vec::new(),
            at_cutoffs: vec![(0, 0); plan.cutoffs.len()],
            flat: 0,
            dropped: 0,
        }
    }

    /// Whether it has evaluated nothing.
    #[must_use]
    pub fn is_unused(&self) -> bool {
        self.seen.is_empty()
    }

    /// Evaluates a list, or only checks it where its query is not judged.
    ///
    /// # Errors
    /// Where a document occurs twice.
    pub fn score(
        &mut self,
        judgments: &Judgments,
        query: Option<usize>,
        list: &mut List<'_>,
    ) -> Result<()> {
        self.joiner.join(judgments, query, list, self.plan.duplicates)?;
        self.dropped += self.joiner.dropped;
        if let Some(query) = query {
            self.score_joined(query, list);
        }
        Ok(())
    }

    /// Evaluates a list whose documents are known to differ.
    pub fn score_distinct(&mut self, judgments: &Judgments, query: usize, list: &List<'_>) {
        self.joiner.join_distinct(judgments, query, &list.rows);
        self.score_joined(query, list);
    }

    fn score_joined(&mut self, query: usize, list: &List<'_>) {
        self.ranked.rank(&list.rows, list.is_sorted, &self.joiner.hits, self.plan.policy.ties);
        self.flat += u64::from(list.is_flat());
        let ranked = std::mem::take(&mut self.ranked);
        self.score_ranked(query, &ranked, list.rows.len());
        self.ranked = ranked;
    }

    /// Evaluates a list of so many documents by the ranks and grades of the judged ones.
    #[allow(clippy::cast_possible_truncation)] // queries are counted in 32 bits by the builder
    pub fn score_ranked(&mut self, query: usize, ranked: &Ranked, retrieved: usize) {
        let Ranked { ranks, grades, ties, .. } = ranked;
        let ideal = self.axis.ideal(query, &mut self.ideal);
        let whole = Query { ranks, grades, ties, retrieved, ideal };
        for (&k, count) in self.plan.cutoffs.iter().zip(&mut self.at_cutoffs) {
            let shown = k.min(retrieved);
            count.0 += shown as u64;
            count.1 += (shown - whole.judged_within(k)) as u64;
        }
        self.seen.push(Outcome { query: query as u32, is_tied: ranked.is_tied });
        let out = (&mut self.values, &mut self.ratios);
        append_values(self.plan, &whole, &mut self.views, out);
    }
}

/// Appends the value of every measure for one query, and the ratios of those that need them.
fn append_values(
    plan: &Plan,
    whole: &Query<'_>,
    views: &mut Views,
    (values, ratios): (&mut Vec<f64>, &mut Vec<(f64, f64)>),
) {
    let seen = plan.see(whole, views);
    for measure in &plan.measures {
        let query = seen.by(plan.condenses(measure));
        values.push(measure.kernel.value(query));
        if measure.aggregate == Aggregate::RatioOfSums {
            ratios.push(measure.kernel.ratio(query).unwrap_or((f64::NAN, f64::NAN)));
        }
    }
}

/// How many queries and documents there were of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// By cutoff: documents retrieved, and those of them that are unjudged.
    pub at_cutoffs: Vec<(u64, u64)>,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.queries += other.queries;
        self.evaluated += other.evaluated;
        self.empty += other.empty;
        self.missing += other.missing;
        self.run_only += other.run_only;
        self.tied += other.tied;
        for (own, others) in self.at_cutoffs.iter_mut().zip(&other.at_cutoffs) {
            *own = (own.0 + others.0, own.1 + others.1);
        }
    }
}

/// The values of all measures.
#[derive(Clone, Debug, Default)]
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
}

/// Puts together what scorers saw.
///
/// # Errors
/// Where the policy refuses a query, or a value is beyond double precision.
pub fn finish(plan: &Plan, axis: &Axis, scorers: Vec<Scorer<'_>>) -> Result<Evaluation> {
    let queries = axis.len();
    let measures = plan.measures.len();
    let mut made = Evaluation {
        values: vec![vec![f64::NAN; queries]; measures],
        ratios: vec![vec![(f64::NAN, f64::NAN); queries]; plan.ratios()],
        is_present: vec![false; queries],
        ..Evaluation::default()
    };
    made.counts.queries = queries as u64;
    made.counts.at_cutoffs = vec![(0, 0); plan.cutoffs.len()];
    for scorer in scorers {
        for (at, seen) in scorer.seen.iter().enumerate() {
            let query = seen.query as usize;
            made.is_present[query] = true;
            made.counts.tied += u64::from(seen.is_tied);
            let values = &scorer.values[at * measures..(at + 1) * measures];
            for (column, &value) in made.values.iter_mut().zip(values) {
                column[query] = value;
            }
            let ratios = &scorer.ratios[at * plan.ratios()..(at + 1) * plan.ratios()];
            for (column, &ratio) in made.ratios.iter_mut().zip(ratios) {
                column[query] = ratio;
            }
        }
        for (sum, part) in made.counts.at_cutoffs.iter_mut().zip(&scorer.at_cutoffs) {
            *sum = (sum.0 + part.0, sum.1 + part.1);
        }
        made.flat += scorer.flat;
    }
    let is_empty = |query: &usize| axis.best(*query).is_none_or(|grade| grade <= 0.0);
    made.counts.empty = (0..queries).filter(is_empty).count() as u64;
    made.counts.missing = made.is_present.iter().filter(|&&is_present| !is_present).count() as u64;
    made.fill_missing(plan, axis)?;
    for (column, measure) in plan.measures.iter().enumerate() {
        made.apply_empty(column, measure, plan.policy, axis)?;
    }
    made.aggregate(plan);
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
    }

    /// Brings the values of all queries together, by a plan of the same measures and policy.
    pub fn aggregate(&mut self, plan: &Plan) {
        let all = (0..plan.measures.len())
            .map(|column| self.mean_over(plan, column, 0..self.is_present.len()));
        (self.means, self.denominators) = all.unzip();
    }

    fn fill_missing(&mut self, plan: &Plan, axis: &Axis) -> Result<()> {
        let (mut row, mut ratios) = (Vec::with_capacity(plan.measures.len()), Vec::new());
        let mut room = Vec::new();
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
                    .hint("say missing=\"zero\" or \"skip\"")
                    .value(id));
                }
                Missing::Zero => {
                    let nothing = Query { ideal: axis.ideal(query, &mut room), ..Query::EMPTY };
                    row.clear();
                    ratios.clear();
                    let out = (&mut row, &mut ratios);
                    append_values(plan, &nothing, &mut Views::default(), out);
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
        policy: Policy,
        axis: &Axis,
    ) -> Result<()> {
        let is_left_out = |is_present: bool| !is_present && policy.missing == Missing::Skip;
        for (query, value) in self.values[column].iter_mut().enumerate() {
            if value.is_infinite() {
                return Err(overflow(&measure.name, &axis.name(query)));
            }
            if !value.is_nan() || is_left_out(self.is_present[query]) {
                continue;
            }
            match policy.empty {
                Empty::Zero => *value = 0.0,
                Empty::One => *value = 1.0,
                Empty::Skip | Empty::Nan => {}
                Empty::Error => {
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
                    .hint("say empty=\"zero\" or \"skip\"")
                    .value(id));
                }
            }
        }
        Ok(())
    }

    /// The aggregate of a measure over some queries, and how many of them enter it.
    #[must_use]
    pub fn mean_over(
        &self,
        plan: &Plan,
        column: usize,
        queries: impl IntoIterator<Item = usize>,
    ) -> (f64, u64) {
        let parts = self.parts(plan, column, queries);
        (plan.measures[column].aggregate.of(&parts), parts.len() as u64)
    }

    /// What the aggregate of a measure over some queries is made of.
    #[must_use]
    pub fn parts(
        &self,
        plan: &Plan,
        column: usize,
        queries: impl IntoIterator<Item = usize>,
    ) -> Vec<Part> {
        let is_ratio = |measure: &Measure| measure.aggregate == Aggregate::RatioOfSums;
        let ratios = is_ratio(&plan.measures[column]).then(|| {
            let before = plan.measures[..column].iter().filter(|measure| is_ratio(measure));
            &self.ratios[before.count()]
        });
        let part = |query: usize| Part {
            value: self.values[column][query],
            weight: plan.weights.as_ref().map_or(1.0, |weights| weights[query]),
            ratio: ratios.map_or((f64::NAN, f64::NAN), |ratios| ratios[query]),
        };
        let entering = queries.into_iter().filter(|&query| self.takes_part(plan, query, column));
        entering.map(part).collect()
    }

    /// Whether a query enters the mean of a measure.
    fn takes_part(&self, plan: &Plan, query: usize, column: usize) -> bool {
        let is_left_out = !self.is_present[query] && plan.policy.missing == Missing::Skip;
        let is_skipped = plan.policy.empty == Empty::Skip && self.values[column][query].is_nan();
        !is_left_out && !is_skipped
    }
}

fn overflow(measure: &str, query: &[u8]) -> Error {
    Error::new(
        Kind::Measure,
        "gain_overflow",
        format!("expected a finite {measure}, but the gains of query `{}` overflow", show(query)),
    )
    .hint("map the grades to smaller ones")
    .value(query)
}
