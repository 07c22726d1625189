//! Evaluates a run of columns part by part, each with all rows of its queries: in memory are one part,
//! the judgments, and one value per query and measure.

use std::sync::Arc;
use std::sync::atomic::{self, AtomicUsize};

use crate::error::Result;
use crate::evaluate::evaluation::Evaluation;
use crate::evaluate::held::finish_run;
use crate::evaluate::plan::Plan;
use crate::evaluate::scorer::{Scored, Scorer};
use crate::ids::vocabulary::Vocabulary;
use crate::memory::{Vec, vec};
use crate::notes::{Note, Notes};
use crate::qrels::attributes::pick;
use crate::qrels::judgments::Judgments;
use crate::rank::join_columns::{JoinedPart, Room, RunColumns, join_part};
use crate::rank::order::{Rows, rank_rows};
use crate::rank::ranked::Ranked;
use crate::rank::rows::are_regular;
use crate::rank::run::no_rows;
use crate::threads::{FEW_ROWS, on_threads};
use crate::watch::Watch;

/// How many queries a thread takes at once.
const AT_ONCE: usize = 64;

/// What was evaluated so far.
#[derive(Debug)]
pub struct RunParts {
    judgments: Arc<Judgments>,
    room: Room,
    scored: Vec<Scored>,
    /// By judged query, whether its rows came.
    is_seen: Vec<bool>,
    /// The queries that are not judged, and the first row of each.
    run_only: Vocabulary,
    first_rows: Vec<u64>,
    notes: Notes,
    flat: u64,
    rows: u64,
}

impl RunParts {
    /// A run without rows.
    #[must_use]
    pub fn new(judgments: &Arc<Judgments>) -> Self {
        Self {
            room: Room::default(),
            scored: Vec::new(),
            is_seen: vec![false; judgments.axis().len()],
            run_only: Vocabulary::default(),
            first_rows: Vec::new(),
            notes: Notes::default(),
            flat: 0,
            rows: 0,
            judgments: Arc::clone(judgments),
        }
    }

    /// Evaluates the rows of some more queries, all rows of each; says whether none of the queries came
    /// before. If one did, nothing more can be added.
    ///
    /// # Errors
    /// As [`join_part`]; lines are 1-based rows of the part.
    pub fn push(&mut self, plan: &Plan, run: &RunColumns<'_>, threads: usize) -> Result<bool> {
        let before = self.rows;
        self.push_numbered(plan, run, |row| before + row as u64, threads)
    }

    /// The same for rows that have other numbers in the run.
    ///
    /// # Errors
    /// As [`RunParts::push`].
    pub(super) fn push_numbered(
        &mut self,
        plan: &Plan,
        run: &RunColumns<'_>,
        number: impl Fn(usize) -> u64,
        threads: usize,
    ) -> Result<bool> {
        let choices = (plan.duplicates, plan.score_type);
        let part = join_part(&self.judgments, run, choices, &mut self.room, threads)?;
        for &query in &part.queries {
            if std::mem::replace(&mut self.is_seen[query as usize], true) {
                return Ok(false);
            }
        }
        if !self.run_only.append_new(&part.joined.run_only) {
            return Ok(false);
        }
        self.first_rows.extend(part.first_rows.iter().map(|&row| number(row)));
        self.rows += run.scores.len() as u64;
        self.score(plan, part, run.are_ranks, threads);
        Ok(true)
    }

    fn score(&mut self, plan: &Plan, part: JoinedPart, are_ranks: bool, threads: usize) {
        let JoinedPart { queries, mut joined, .. } = part;
        let (offsets, ties) = (&joined.offsets, plan.policy.ties);
        let rows = Rows {
            offsets,
            relevance: &mut joined.relevance,
            scores: &mut joined.scores,
            codes: &mut joined.codes,
        };
        let tied = rank_rows(rows, &joined.docs, ties, threads);
        self.flat += tied.flat;
        self.notes.add_many(Note::IntegerIds, tied.as_text, (0, 0));
        self.notes.merge(&joined.notes);
        let list = |at: usize| offsets[at]..offsets[at + 1];
        if are_ranks {
            let ranks = |at: &usize| joined.scores[list(*at)].iter().map(|score| -score);
            let irregular = (0..queries.len()).filter(|at| !are_regular(ranks(at))).count();
            self.notes.add_many(Note::RankGap, irregular as u64, (0, 0));
        }
        let next = AtomicUsize::new(0);
        let scored = std::sync::Mutex::new(std::mem::take(&mut self.scored));
        let work = |_: Watch<'_>| {
            let known = scored.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
            let axis = self.judgments.axis();
            let mut scorer = Scorer::resume(plan, axis, known.unwrap_or_default());
            let mut ranked = Ranked::default();
            loop {
                let start = next.fetch_add(AT_ONCE, atomic::Ordering::Relaxed);
                if start >= queries.len() {
                    return scorer.finish();
                }
                for at in start..queries.len().min(start + AT_ONCE) {
                    let (relevance, scores) =
                        (&joined.relevance[list(at)], &joined.scores[list(at)]);
                    ranked.take_in_order(relevance, scores, ties);
                    scorer.score_ranked(queries[at] as usize, &ranked, scores.len());
                    scorer.compute_held();
                }
            }
        };
        let threads = if joined.scores.len() < FEW_ROWS { 1 } else { threads };
        let made = on_threads(threads, &mut |_| Ok(()), work);
        self.scored = scored.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.scored.extend(made);
    }

    /// How many rows were evaluated.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The evaluation of all.
    ///
    /// # Errors
    /// Where there was no row, no query is judged, or the plan refuses one.
    #[allow(clippy::cast_possible_truncation)] // queries are counted in 32 bits
    pub fn finish(self, plan: &Plan) -> Result<Evaluation> {
        if self.rows == 0 {
            return Err(no_rows());
        }
        let axis = self.judgments.axis();
        plan.check(axis)?;
        let mut run_only = self.run_only;
        if !self.first_rows.is_sorted() {
            let mut order: Vec<u32> = (0..self.first_rows.len() as u32).collect();
            order.sort_unstable_by_key(|&query| self.first_rows[query as usize]);
            run_only = pick(&run_only, &order);
        }
        let mut made = finish_run(plan, axis, self.scored, &run_only)?;
        made.notes.merge(&self.notes);
        made.flat = self.flat;
        Ok(made)
    }
}
