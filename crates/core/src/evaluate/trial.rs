//! Evaluates one query repeatedly, with other grades or in other orders.

use crate::evaluate::plan::Plan;
use crate::kernels::Query;
use crate::kernels::views::{View, Views};
use crate::policy::Ties;
use crate::rank::ranked::Ranked;

/// Evaluates lists by the first measure of a plan.
pub struct Trial<'a> {
    plan: &'a Plan,
    ranked: Ranked,
    views: Views,
}

/// A list in rank order.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// The grade of each document, NaN where it is unjudged.
    pub relevance: &'a [f64],
    /// The score of each document, largest first.
    pub scores: &'a [f64],
    /// All judged grades of the query, largest first.
    pub ideal: &'a [f64],
}

impl<'a> Trial<'a> {
    /// Of this plan.
    pub fn new(plan: &'a Plan) -> Self {
        Self { plan, ranked: Ranked::default(), views: Views::default() }
    }

    /// The value of a list, NaN where it is undefined.
    pub fn value(&mut self, list: Listed<'_>, ties: Ties) -> f64 {
        let kernel = &self.plan.measures[0].kernel;
        self.look(list, ties, |query| kernel.value(query))
    }

    /// Looks at a list as the measure does.
    pub fn look<T>(
        &mut self,
        list: Listed<'_>,
        ties: Ties,
        with: impl FnOnce(&Query<'_>) -> T,
    ) -> T {
        self.ranked.take_in_order(list.relevance, list.scores, ties);
        let Ranked { ranks, grades, ties, .. } = &self.ranked;
        let retrieved = list.relevance.len();
        let query = Query {
            ranks,
            grades,
            ties,
            retrieved,
            ideal: list.ideal,
            subtopics: None,
            items: None,
        };
        let condenses = self.plan.condenses(&self.plan.measures[0]);
        let view = View { condenses, positive: false };
        with(self.plan.see(&query, &[view], &mut self.views).by(view))
    }
}
