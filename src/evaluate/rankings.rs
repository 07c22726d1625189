//! Evaluates rankings that are held in memory.

use std::sync::atomic::{self, AtomicUsize};

use crate::error::{Error, Kind, Result};
use crate::evaluate::evaluation::{Evaluation, finish};
use crate::evaluate::held::finish_run;
use crate::evaluate::plan::Plan;
use crate::evaluate::scorer::{Scored, Scorer};
use crate::evaluate::trial::{Listed, Trial};
use crate::memory::Vec;
use crate::rank::ranked::Ranked;
use crate::rank::rankings::Rankings;
use crate::threads::{FEW_ROWS, on_threads};
use crate::watch::Watch;

/// How many queries a thread takes at once.
const AT_ONCE: usize = 256;

impl Rankings {
    /// The values of a plan whose ties are those of the rankings.
    ///
    /// # Errors
    /// Where the plan refuses the rankings.
    pub fn evaluate(&self, plan: &Plan, threads: usize) -> Result<Evaluation> {
        let scored = self.score(plan, threads)?;
        let evaluation = finish_run(plan, self.axis(), scored, self.run_only())?;
        Ok(self.add_notes(evaluation))
    }

    /// The same for a part of the queries, in which none may be both judged and in the run.
    ///
    /// # Errors
    /// Where the plan refuses the rankings.
    pub fn evaluate_part(&self, plan: &Plan, threads: usize) -> Result<Evaluation> {
        let mut evaluation = finish(plan, self.axis(), self.score(plan, threads)?)?;
        evaluation.counts.run_only = self.run_only().len() as u64;
        Ok(self.add_notes(evaluation))
    }

    fn add_notes(&self, mut evaluation: Evaluation) -> Evaluation {
        evaluation.notes.merge(self.notes());
        evaluation.flat = self.flat();
        evaluation
    }

    fn score(&self, plan: &Plan, threads: usize) -> Result<Vec<Scored>> {
        if plan.policy.ties != self.ties() {
            return Err(Error::new(
                Kind::Policy,
                "ties_fixed",
                "expected the ties with which the rankings were made, found others",
            )
            .hint("ties are chosen when Rankings are made: pass ties= there"));
        }
        plan.check_lists(self.axis())?;
        let threads = if self.scores().len() < FEW_ROWS { 1 } else { threads };
        let next = AtomicUsize::new(0);
        let work = |_: Watch<'_>| {
            let mut scorer = Scorer::new(plan, self.axis());
            let mut ranked = Ranked::default();
            let mut room = Vec::new();
            loop {
                let start = next.fetch_add(AT_ONCE, atomic::Ordering::Relaxed);
                if start >= self.len() {
                    return scorer.finish();
                }
                let end = self.len().min(start + AT_ONCE);
                for query in (start..end).filter(|&query| self.is_present(query)) {
                    let (relevance, scores) = self.list(query, &mut room);
                    ranked.take_in_order(relevance, scores, self.ties());
                    ranked.judged.clear();
                    ranked.judged.extend(self.judged(query));
                    scorer.score_ranked(query, &ranked, scores.len());
                }
            }
        };
        Ok(on_threads(threads, &mut |_| Ok(()), work))
    }

    /// The values of the first measure of a plan at each of several cutoffs, which ascend up to its own:
    /// those of a query one after another, NaN where undefined. Nothing where the measure has none.
    ///
    /// # Errors
    /// Where the plan refuses the rankings.
    pub fn values_at(&self, plan: &Plan, cutoffs: &[usize]) -> Result<Option<Vec<f64>>> {
        plan.check(self.axis())?;
        let kernel = &plan.measures[0].kernel;
        let mut trial = Trial::new(plan);
        let (mut room, mut of_ideal) = (Vec::new(), Vec::new());
        let mut values = Vec::with_capacity(self.len() * cutoffs.len());
        for query in 0..self.len() {
            let (relevance, scores) = self.list(query, &mut room);
            let ideal = self.axis().ideal(query, &mut of_ideal);
            let list = Listed { relevance, scores, ideal };
            let found = trial.look(list, self.ties(), |query| kernel.values_at(query, cutoffs));
            let Some(found) = found else { return Ok(None) };
            values.extend(found);
        }
        Ok(Some(values))
    }
}
