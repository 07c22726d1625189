//! Rankings: the ragged columns that every later question is asked of.

use std::sync::Arc;

use crate::axis::Axis;
use crate::error::{Error, Kind, Result};
use crate::evaluate::{Evaluation, Plan, Scorer};
use crate::ids::Ids;
use crate::join::Joiner;
use crate::judgments::{Duplicates, Judgments};
use crate::notes::{Note, Notes};
use crate::rank::{self, Ranked, Ties};
use crate::run::Run;
use crate::stream::{earlier, finish_run};
use crate::trec::List;

/// A run joined with its judgments, each list in rank order; immutable.
#[derive(Debug)]
pub struct Rankings {
    axis: Arc<Axis>,
    ties: Ties,
    /// Retrieved documents of query q are rows `offsets[q]..offsets[q + 1]`.
    offsets: Vec<usize>,
    relevance: Vec<f64>,
    scores: Vec<f64>,
    docs: Ids,
    codes: Vec<u32>,
    is_present: Vec<bool>,
    run_only: Ids,
    notes: Notes,
    flat: u64,
}

impl Rankings {
    /// Joins and ranks a run.
    ///
    /// # Errors
    /// Where a document occurs twice in a query, or the run has no query that is judged.
    pub fn new(
        judgments: &Judgments,
        run: &Run,
        ties: Ties,
        duplicates: Duplicates,
    ) -> Result<Self> {
        let queries = judgments.axis().len();
        let mut of_run = vec![None; queries];
        let mut run_only = Ids::default();
        for (number, query) in run.queries().iter().enumerate() {
            match judgments.find_query(query) {
                Some(judged) => of_run[judged] = Some(number),
                None => {
                    run_only.number(query);
                }
            }
        }
        let mut made = Self {
            ties,
            offsets: vec![0],
            relevance: Vec::with_capacity(run.rows()),
            scores: Vec::with_capacity(run.rows()),
            docs: Ids::default(),
            codes: Vec::with_capacity(run.rows()),
            is_present: of_run.iter().map(Option::is_some).collect(),
            run_only,
            notes: run.notes().clone(),
            flat: 0,
            axis: Arc::clone(judgments.axis()),
        };
        let mut joiner = Joiner::default();
        let mut list = List::default();
        let mut dropped = 0;
        let mut first_error = None;
        for (query, number) in of_run.into_iter().enumerate() {
            if let Some(number) = number {
                run.fill(number, &mut list);
                let outcome = joiner.join(judgments, Some(query), &mut list, duplicates);
                first_error = earlier(first_error, outcome.err());
                dropped += joiner.dropped;
                made.add(&list, &joiner)?;
            }
            made.offsets.push(made.scores.len());
        }
        for number in 0..run.queries().len() {
            if judgments.find_query(run.queries().get(number)).is_none() {
                run.fill(number, &mut list);
                let outcome = joiner.join(judgments, None, &mut list, duplicates);
                first_error = earlier(first_error, outcome.err());
                dropped += joiner.dropped;
            }
        }
        if let Some(error) = first_error {
            return Err(error);
        }
        made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
        Ok(made)
    }

    fn add(&mut self, list: &List<'_>, joiner: &Joiner) -> Result<()> {
        let mut order = Vec::new();
        rank::sort(&mut order, &list.rows, list.is_sorted, &joiner.hits, self.ties);
        self.flat += u64::from(list.is_flat());
        for row in order {
            let found = joiner.hits.binary_search_by_key(&row, |hit| hit.row);
            self.relevance.push(found.map_or(f64::NAN, |index| joiner.hits[index].grade));
            let row = &list.rows[row as usize];
            self.scores.push(row.score);
            let code = u32::try_from(self.docs.number(row.doc)).map_err(|_| {
                Error::new(Kind::Limit, "memory", "expected fewer than 2^32 different documents")
            })?;
            self.codes.push(code);
        }
        Ok(())
    }

    /// The values of a plan whose ties are those of the rankings.
    ///
    /// # Errors
    /// Where the plan refuses the rankings.
    #[allow(clippy::cast_possible_truncation)] // rows of a query are counted in 32 bits
    pub fn evaluate(&self, plan: &Plan) -> Result<Evaluation> {
        if plan.policy.ties != self.ties {
            return Err(Error::new(
                Kind::Policy,
                "ties_fixed",
                "expected the ties with which the rankings were made, found others",
            )
            .hint("ties are chosen when Rankings are made: pass ties= there"));
        }
        plan.check(&self.axis)?;
        let mut scorer = Scorer::new(plan, &self.axis);
        let mut ranked = Ranked::default();
        for query in (0..self.is_present.len()).filter(|&query| self.is_present[query]) {
            let rows = self.offsets[query]..self.offsets[query + 1];
            let retrieved = rows.len();
            ranked.take_in_order(&self.relevance[rows.clone()], &self.scores[rows], self.ties);
            scorer.score_ranked(query, &ranked, retrieved);
        }
        let mut evaluation = finish_run(plan, &self.axis, vec![scorer], self.run_only.texts())?;
        evaluation.notes.merge(&self.notes);
        evaluation.flat = self.flat;
        Ok(evaluation)
    }

    /// The queries, and the grades of each.
    #[must_use]
    pub fn axis(&self) -> &Axis {
        &self.axis
    }

    /// Where each query's rows begin, and the last one's end.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The grade of each row, NaN where unjudged.
    #[must_use]
    pub fn relevance(&self) -> &[f64] {
        &self.relevance
    }

    /// The score of each row.
    #[must_use]
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The identifier of each row's document, as an index into [`Rankings::docs`].
    #[must_use]
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The different documents.
    #[must_use]
    pub fn docs(&self) -> &crate::ids::Arena {
        self.docs.texts()
    }
}
