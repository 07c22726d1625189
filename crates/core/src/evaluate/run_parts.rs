//! Evaluates a run of columns part by part, each with all rows of its queries: in memory are one part,
//! the judgments, and one value per query and measure.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::evaluate::evaluation::Evaluation;
use crate::evaluate::held::finish_run;
use crate::evaluate::plan::Plan;
use crate::evaluate::scorer::{Scored, Scorer};
use crate::ids::vocabulary::Vocabulary;
use crate::notes::{Note, Notes};
use crate::qrels::attributes::pick;
use crate::qrels::duplicates::occurs_again;
use crate::qrels::judgments::Judgments;
use crate::rank::join_columns::{Joined, Part, Room, RunColumns, arrange_scores};
use crate::rank::order::{Rows, rank_rows};
use crate::rank::ranked::Ranked;
use crate::rank::ranks::{are_regular, note_ranks};
use crate::rank::run::no_rows;
use crate::table::columns::{IdColumn, check_texts, slice, write_texts};
use crate::text::list::{List, Row, is_too_long};
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

    /// A run without rows, for the same judgments.
    pub fn begin_anew(&self) -> Self {
        Self::new(&self.judgments)
    }

    /// Evaluates the rows of some more queries, all rows of each; says whether none of the queries came
    /// before. If one did, nothing more can be added. The numbers of the rows tell which query came
    /// first; without them, rows follow those before.
    ///
    /// # Errors
    /// As [`Part::join`]; lines are 1-based rows of the part.
    pub fn push(
        &mut self,
        plan: &Plan,
        run: &RunColumns<'_>,
        threads: usize,
        numbers: Option<&[i64]>,
    ) -> Result<bool> {
        let before = self.rows;
        let number = |row: usize| {
            let known = numbers.and_then(|numbers| numbers.get(row));
            known.map_or(before + row as u64, |number| number.cast_unsigned())
        };
        let part = Part::group(&self.judgments, run, &mut self.room, threads)?;
        for &query in &part.queries[..part.judged] {
            if std::mem::replace(&mut self.is_seen[query as usize], true) {
                return Ok(false);
            }
        }
        if !self.run_only.append_new(&part.run_only) {
            return Ok(false);
        }
        self.first_rows.extend(part.first_rows().map(number));
        self.rows += run.scores.len() as u64;
        let has_topics = self.judgments.axis().subtopics().is_some();
        // Lists have a limit, and columns have none.
        let is_long = part.grouped.offsets.windows(2).any(|ends| is_too_long(ends[1] - ends[0]));
        match run.docs {
            IdColumn::Texts { offsets, bytes } if has_topics || !is_long => {
                self.score_texts(plan, &part, run, (offsets, bytes), threads)?;
            }
            // Subtopics are known of documents by their texts.
            IdColumn::Ints(values) if has_topics => {
                let (offsets, bytes) = write_texts(values);
                self.score_texts(plan, &part, run, (&offsets, &bytes), threads)?;
            }
            _ => {
                let choices = (plan.duplicates, plan.score_type);
                let queries = part.queries[..part.judged].to_vec();
                let joined = part.join(&self.judgments, run, choices, &mut self.room, threads)?;
                self.score_numbered(plan, &queries, joined, run.are_ranks, threads);
            }
        }
        Ok(true)
    }

    /// Evaluates lists whose documents are texts, which are compared within their query only: no other
    /// document has to be remembered.
    fn score_texts(
        &mut self,
        plan: &Plan,
        part: &Part,
        run: &RunColumns<'_>,
        (offsets, bytes): (&[i64], &[u8]),
        threads: usize,
    ) -> Result<()> {
        check_texts(offsets, bytes, threads)?;
        let scores = arrange_scores(run, &part.grouped, plan.score_type)?;
        if let Some(ranks) = run.ranks {
            note_ranks(ranks, &scores, &part.grouped, &mut self.notes);
        }
        let doc = |row: usize| slice(bytes, offsets[row], offsets[row + 1]).unwrap_or_default();
        let judgments = Arc::clone(&self.judgments);
        let mistake = Mutex::new(None);
        let irregular = AtomicU64::new(0);
        let make = || {
            let are_integers = run.docs.are_integers();
            let (mut list, mut ranks) = (List { are_integers, ..List::default() }, Vec::new());
            let (scores, grouped, judgments) = (&scores, &part.grouped, &*judgments);
            let (doc, mistake, irregular) = (&doc, &mistake, &irregular);
            move |scorer: &mut Scorer<'_>, group: usize| {
                list.begin(&[]);
                let places = grouped.offsets[group]..grouped.offsets[group + 1];
                for (place, &score) in places.clone().zip(&scores[places]) {
                    let row = grouped.row(place);
                    list.is_sorted &= score <= list.last_score();
                    list.rows.push(Row { doc: doc(row), score, line: row as u64 });
                }
                let query = (group < part.judged).then(|| part.queries[group] as usize);
                if let Err(error) = scorer.score(judgments, query, &mut list) {
                    let mut mistake = mistake.lock().unwrap_or_else(PoisonError::into_inner);
                    if mistake.as_ref().is_none_or(|&(first, _)| group < first) {
                        *mistake = Some((group, error));
                    }
                    return false;
                }
                if run.are_ranks && query.is_some() {
                    ranks.clear();
                    ranks.extend(list.rows.iter().map(|row| -row.score));
                    ranks.sort_unstable_by(f64::total_cmp);
                    let is_regular = are_regular(ranks.iter().copied());
                    irregular.fetch_add(u64::from(!is_regular), Relaxed);
                }
                true
            }
        };
        self.score_each(plan, (part.queries.len(), scores.len()), threads, make);
        if let Some((group, error)) = mistake.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let row = error.place().line.and_then(|row| usize::try_from(row).ok());
            let again = |row| occurs_again(doc(row), &part.name(&judgments, group), row as u64 + 1);
            return Err(row.map_or(error, again));
        }
        self.notes.add_many(Note::RankGap, irregular.into_inner(), (0, 0));
        Ok(())
    }

    /// Evaluates lists whose documents are numbers.
    fn score_numbered(
        &mut self,
        plan: &Plan,
        queries: &[u32],
        mut joined: Joined,
        are_ranks: bool,
        threads: usize,
    ) {
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
        self.score_each(plan, (queries.len(), joined.scores.len()), threads, || {
            let (mut ranked, joined) = (Ranked::default(), &joined);
            move |scorer: &mut Scorer<'_>, at: usize| {
                let (relevance, scores) = (&joined.relevance[list(at)], &joined.scores[list(at)]);
                ranked.take_in_order(relevance, scores, ties);
                let name = |row| joined.docs.get(joined.codes[list(at).start + row]).to_vec();
                scorer.score_ranked(queries[at] as usize, &ranked, scores.len(), name);
                true
            }
        });
    }

    /// Scores so many lists on several threads, each of which makes what it scores them with. Where one
    /// can't be scored, those before it are.
    fn score_each<F: FnMut(&mut Scorer<'_>, usize) -> bool>(
        &mut self,
        plan: &Plan,
        (lists, rows): (usize, usize),
        threads: usize,
        make: impl Fn() -> F + Sync,
    ) {
        let threads = if rows < FEW_ROWS { 1 } else { threads };
        let next = AtomicUsize::new(0);
        let scored = Mutex::new(std::mem::take(&mut self.scored));
        let work = |_: Watch<'_>| {
            let known = scored.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let axis = self.judgments.axis();
            let mut scorer = Scorer::resume(plan, axis, known.unwrap_or_default());
            let mut score = make();
            loop {
                let start = next.fetch_add(AT_ONCE, Relaxed);
                if start >= lists {
                    return scorer.finish();
                }
                for at in start..lists.min(start + AT_ONCE) {
                    if !score(&mut scorer, at) {
                        next.store(lists, Relaxed);
                        break;
                    }
                    scorer.compute_held();
                }
            }
        };
        let made = on_threads(threads, &mut |_| Ok(()), work);
        self.scored = scored.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.scored.extend(made);
    }

    /// Adds what was seen while rows were read.
    pub fn note(&mut self, notes: &Notes) {
        self.notes.merge(notes);
    }

    /// How many rows were evaluated.
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
        plan.check_lists(axis)?;
        let mut run_only = self.run_only;
        if !self.first_rows.is_sorted() {
            let mut order: Vec<u32> = (0..self.first_rows.len() as u32).collect();
            order.sort_unstable_by_key(|&query| self.first_rows[query as usize]);
            run_only = pick(&run_only, &order);
        }
        let dropped = self.scored.iter().map(|scored| scored.dropped).sum();
        let mut made = finish_run(plan, axis, self.scored, &run_only)?;
        made.notes.merge(&self.notes);
        made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
        made.flat += self.flat;
        Ok(made)
    }
}
