//! Computes all measures of one query after another.

use crate::error::{Error, Result};
use crate::evaluate::batches::Batches;
use crate::evaluate::candidates::Candidates;
use crate::evaluate::plan::{Plan, Ways};
use crate::kernels::views::Views;
use crate::kernels::{Query, Ranking, Shown};
use crate::policy::Aggregate;
use crate::qrels::axis::Axis;
use crate::qrels::judgments::Judgments;
use crate::rank::integers::moves_grades_of_list;
use crate::rank::join::Joiner;
use crate::rank::ranked::Ranked;
use crate::text::list::List;

/// What one query's list came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) query: u32,
    pub(super) is_tied: bool,
    pub(super) is_blank: bool,
    pub(super) is_unmatched: bool,
}

/// What lists came to.
#[derive(Debug, Default)]
pub struct Scored {
    pub(super) seen: Vec<Outcome>,
    pub(super) values: Vec<f64>,
    pub(super) ratios: Vec<(f64, f64)>,
    /// Retrieved and unjudged documents at each cutoff.
    pub(super) at_cutoffs: Vec<(u64, u64)>,
    pub(super) flat: u64,
    /// Queries with grades at other ranks than if integer identifiers were ordered as numbers.
    pub(super) as_text: u64,
    pub(super) candidates: Candidates,
    /// Documents that are judged in another spelling.
    pub(super) alike: u64,
    /// The first query none of whose documents is judged, and the first of them.
    pub(super) unmatched: Option<(u32, Vec<Vec<u8>>)>,
    /// Documents dropped because they were given twice.
    pub dropped: u64,
    /// Why a measure that is written in Python could not be computed.
    pub(super) mistake: Option<Error>,
}

impl Scored {
    /// Whether nothing was evaluated.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }
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
    ways: Ways,
    batches: Batches,
    made: Scored,
}

impl<'a> Scorer<'a> {
    /// A scorer that has seen nothing.
    pub fn new(plan: &'a Plan, axis: &'a Axis) -> Self {
        Self::resume(plan, axis, Scored::default())
    }

    /// A scorer that goes on from what another one scored by this plan.
    pub fn resume(plan: &'a Plan, axis: &'a Axis, mut made: Scored) -> Self {
        made.at_cutoffs.resize(plan.cutoffs.len(), (0, 0));
        Self {
            plan,
            axis,
            joiner: Joiner::default(),
            ranked: Ranked::default(),
            ideal: Vec::new(),
            views: Views::default(),
            ways: plan.ways(),
            batches: Batches::default(),
            made,
        }
    }

    /// What all lists came to.
    pub fn finish(mut self) -> Scored {
        self.compute_batches(true);
        self.made
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
        self.made.dropped += self.joiner.dropped;
        self.made.alike += self.joiner.alike;
        if let Some(query) = query {
            self.score_joined(query, list);
        }
        Ok(())
    }

    /// Evaluates a list whose documents are known to differ.
    pub fn score_distinct(&mut self, judgments: &Judgments, query: usize, list: &List<'_>) {
        self.joiner.join_distinct(judgments, query, &list.rows);
        self.made.alike += self.joiner.alike;
        self.score_joined(query, list);
    }

    fn score_joined(&mut self, query: usize, list: &List<'_>) {
        self.ranked.rank(&list.rows, list.is_sorted, &self.joiner.hits, self.plan.policy.ties);
        self.made.flat += u64::from(list.is_flat());
        let hits = &self.joiner.hits;
        let ties = self.plan.policy.ties;
        let is_tied = self.ranked.is_tied && list.are_integers;
        self.made.as_text += u64::from(is_tied && moves_grades_of_list(&list.rows, hits, ties));
        if self.axis.subtopics().is_some() {
            self.ranked.name_judged();
        }
        let ranked = std::mem::take(&mut self.ranked);
        self.score_ranked(query, &ranked, list.rows.len(), |row| list.rows[row].doc.to_vec());
        self.ranked = ranked;
    }

    /// Evaluates a list of so many documents by the ranks and grades of the judged ones.
    #[allow(clippy::cast_possible_truncation)] // queries are counted in 32 bits by the builder
    pub fn score_ranked(
        &mut self,
        query: usize,
        ranked: &Ranked,
        retrieved: usize,
        name: impl Fn(usize) -> Vec<u8>,
    ) {
        let is_unmatched = retrieved > 0 && ranked.ranks.is_empty();
        if is_unmatched && self.made.unmatched.as_ref().is_none_or(|first| query < first.0 as usize)
        {
            self.made.unmatched = Some((query as u32, (0..retrieved.min(2)).map(name).collect()));
        }
        let Ranked { ranks, grades, ties, judged, .. } = ranked;
        let ideal = self.axis.ideal(query, &mut self.ideal);
        let subtopics = self.axis.subtopics_of(query).map(|of| Ranking { judged, of });
        let items = self.plan.items.as_deref().filter(|_| !ranked.items.is_empty());
        let items = items.map(|of| Shown {
            items: &ranked.items,
            user: of.find_user(&self.axis.name(query)),
            of,
            judged: &ranked.judged_items,
        });
        let whole = Query { ranks, grades, ties, retrieved, ideal, subtopics, items };
        let whole = whole.first(self.plan.depth);
        let retrieved = whole.retrieved;
        self.made.candidates.see(retrieved, whole.ranks.len(), ideal);
        for (&k, count) in self.plan.cutoffs.iter().zip(&mut self.made.at_cutoffs) {
            let shown = k.min(retrieved);
            count.0 += shown as u64;
            count.1 += (shown - whole.judged_within(k)) as u64;
        }
        let (is_tied, is_blank) = (ranked.is_tied, retrieved == 0);
        self.made.seen.push(Outcome { query: query as u32, is_tied, is_blank, is_unmatched });
        let out = (&mut self.made.values, &mut self.made.ratios);
        let views = (&self.ways, &mut self.views);
        append_values(self.plan, &whole, views, out, &mut self.batches);
    }

    /// Computes the measures that are computed of several lists at once, where much is held for them.
    /// They can be written in Python; nothing else here runs code of the caller.
    pub fn compute_held(&mut self) {
        self.compute_batches(false);
    }

    fn compute_batches(&mut self, all: bool) {
        if self.made.mistake.is_none() {
            self.made.mistake = self.batches.put(self.plan, &mut self.made.values, all).err();
        }
    }
}

/// Appends the value of every measure for one query, and the ratios of those that need them.
pub(super) fn append_values(
    plan: &Plan,
    whole: &Query<'_>,
    (ways, views): (&Ways, &mut Views),
    (values, ratios): (&mut Vec<f64>, &mut Vec<(f64, f64)>),
    batches: &mut Batches,
) {
    let seen = plan.see(whole, &ways.different, views);
    for (number, (measure, &way)) in plan.measures.iter().zip(&*ways.of_measures).enumerate() {
        let query = seen.by(way);
        let later =
            ways.has_batches.then(|| batches.take(plan, number, query, values.len())).flatten();
        values.push(later.unwrap_or_else(|| measure.kernel.value(query)));
        if measure.aggregate == Aggregate::RatioOfSums {
            ratios.push(measure.kernel.ratio(query).unwrap_or((f64::NAN, f64::NAN)));
        }
    }
}
