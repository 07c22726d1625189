//! Matches a run of columns to its judgments by numbers, without looking at the text of documents.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::ids::finder::{Finder, MOST_ENTRIES};
use crate::ids::vocabulary::Vocabulary;
use crate::notes::{Note, Notes};
use crate::policy::{Duplicates, ScoreType};
use crate::qrels::duplicates::occurs_again;
use crate::qrels::judgments::Judgments;
use crate::rank::order::Docs;
use crate::rank::ranks::note_ranks;
use crate::table::cells::Cells;
use crate::table::columns::{IdColumn, check_all_finite, check_lengths};
use crate::table::group::{Grouped, group};
use crate::threads;

/// Retrieved documents, in rows of any order.
#[derive(Debug)]
pub struct RunColumns<'a> {
    /// The query of each row.
    pub queries: IdColumn<'a>,
    /// The document of each row.
    pub docs: IdColumn<'a>,
    /// The score of each row, or its rank below zero.
    pub scores: &'a dyn Cells<f64>,
    /// Whether scores are ranks below zero.
    pub are_ranks: bool,
    /// The rank of each row beside its score.
    pub ranks: Option<&'a dyn Cells<f64>>,
}

impl RunColumns<'_> {
    /// Refuses columns of different lengths.
    pub fn check_lengths(&self) -> Result<()> {
        let ranks = self.ranks.map_or(self.scores.len(), Cells::len);
        check_lengths(&[self.queries.len(), self.docs.len(), self.scores.len(), ranks])
    }
}

/// A run beside its judgments: rows by judged query, in the order in which they came.
#[derive(Debug, Default)]
pub struct Joined {
    /// Rows of judged query q are `offsets[q]..offsets[q + 1]`.
    pub offsets: Vec<usize>,
    /// The grade of each row, NaN where unjudged.
    pub relevance: Vec<f64>,
    /// The score of each row.
    pub scores: Vec<f64>,
    /// The document of each row.
    pub codes: Vec<u32>,
    /// The different documents.
    pub docs: Docs,
    /// By judged query, whether it is in the run.
    pub is_present: Vec<bool>,
    /// The queries of the run that are not judged.
    pub run_only: Vocabulary,
    /// What was suspicious but legal.
    pub notes: Notes,
}

/// Joins a run.
///
/// # Errors
/// Where the columns do not fit, hold what is no identifier or score, or a document occurs twice in a
/// query; lines are 1-based rows.
pub fn join(
    judgments: &Arc<Judgments>,
    run: &RunColumns<'_>,
    choices: (Duplicates, ScoreType),
    threads: usize,
) -> Result<Joined> {
    run.check_lengths()?;
    let (queries, run_only) = number_queries(judgments, run, threads)?;
    let (codes, docs) = number_docs(judgments, run, threads)?;
    let judged = judgments.axis().len();
    let grouped = group(queries, judged + run_only.len(), threads);
    let rows = Rows { judgments, run, grouped, codes, docs, run_only, present: None };
    let (mut made, grouped) = rows.join(choices, &mut Vec::new(), threads)?;
    made.is_present = grouped.offsets[..=judged].windows(2).map(|rows| rows[0] < rows[1]).collect();
    Ok(made)
}

/// What is kept from one part of a run to the next.
#[derive(Debug, Default)]
pub struct Room {
    /// By number of a query, one more than its place among those of the part.
    places: Vec<u32>,
    finders: Vec<Finder>,
}

/// A part of a run with all rows of its queries, by query.
#[derive(Debug)]
pub struct Part {
    /// The queries of the part by number, ascending: judged ones, then others.
    pub queries: Vec<u32>,
    /// How many of them are judged.
    pub judged: usize,
    /// The rows of each.
    pub grouped: Grouped,
    /// The queries of the part that are not judged.
    pub run_only: Vocabulary,
}

impl Part {
    /// Groups the rows of a part, in time that grows with its rows and not with the judged queries.
    ///
    /// # Errors
    /// Where the columns do not fit, or hold what is no query; lines are 1-based rows.
    pub fn group(
        judgments: &Judgments,
        run: &RunColumns<'_>,
        room: &mut Room,
        threads: usize,
    ) -> Result<Self> {
        run.check_lengths()?;
        let (mut codes, run_only) = number_queries(judgments, run, threads)?;
        let judged = judgments.axis().len();
        let queries = room.renumber(&mut codes, judged + run_only.len());
        let grouped = group(codes, queries.len(), threads);
        let judged = queries.partition_point(|&query| (query as usize) < judged);
        Ok(Self { queries, judged, grouped, run_only })
    }

    /// What a query of the part is called.
    pub fn name(&self, judgments: &Judgments, group: usize) -> Vec<u8> {
        let query = self.queries[group] as usize;
        match query.checked_sub(judgments.axis().len()) {
            None => judgments.axis().name(query).to_vec(),
            Some(other) => self.run_only.get(other).to_vec(),
        }
    }

    /// The first row of each query that is not judged.
    pub fn first_rows(&self) -> impl Iterator<Item = usize> {
        let others = &self.grouped.offsets[self.judged..self.queries.len()];
        others.iter().map(|&place| self.grouped.row(place))
    }

    /// Joins the part by the numbers of documents.
    pub fn join(
        self,
        judgments: &Arc<Judgments>,
        run: &RunColumns<'_>,
        choices: (Duplicates, ScoreType),
        room: &mut Room,
        threads: usize,
    ) -> Result<Joined> {
        let (codes, docs) = number_docs(judgments, run, threads)?;
        let Self { queries, grouped, run_only, .. } = self;
        let rows = Rows { judgments, run, grouped, codes, docs, run_only, present: Some(&queries) };
        Ok(rows.join(choices, &mut room.finders, threads)?.0)
    }
}

/// The scores of a run in the order of its groups.
///
/// # Errors
/// Where one is not finite; the line is the 1-based row.
pub fn arrange_scores(
    run: &RunColumns<'_>,
    grouped: &Grouped,
    score_type: ScoreType,
) -> Result<Vec<f64>> {
    grouped.arrange(run.scores, |start, block, out| {
        let rounded = block.iter().map(|&score| score_type.round(score) + 0.0);
        out.iter_mut().zip(rounded).for_each(|(out, score)| *out = score);
        check_all_finite(start, out.iter().copied(), "score", "score")
    })
}

impl Room {
    /// Replaces numbers of queries, of which there are so many, by their places among those that
    /// occur, which it returns in ascending order.
    #[allow(clippy::cast_possible_truncation)] // queries are counted in 32 bits
    fn renumber(&mut self, queries: &mut [u32], count: usize) -> Vec<u32> {
        if self.places.len() < count {
            self.places.resize(count, 0);
        }
        let mut present = Vec::new();
        for rows in queries.chunk_by(|one, other| one == other) {
            let place = &mut self.places[rows[0] as usize];
            if *place == 0 {
                *place = 1;
                present.push(rows[0]);
            }
        }
        present.sort_unstable();
        for (place, &query) in (1..).zip(&present) {
            self.places[query as usize] = place;
        }
        for rows in queries.chunk_by_mut(|one, other| one == other) {
            rows.fill(self.places[rows[0] as usize] - 1);
        }
        for &query in &present {
            self.places[query as usize] = 0;
        }
        present
    }
}

/// The numbers of queries, judged ones first, and what the others are called.
fn number_queries(
    judgments: &Judgments,
    run: &RunColumns<'_>,
    threads: usize,
) -> Result<(Vec<u32>, Vocabulary)> {
    let none = Vocabulary::default();
    judgments.axis().ids().unwrap_or(&none).extend(&run.queries, threads)
}

/// The numbers of documents, judged ones first, and what they are called. What threads number anew is
/// numbered once more for all of them, which costs more time than it saves where most are new.
fn number_docs(
    judgments: &Arc<Judgments>,
    run: &RunColumns<'_>,
    threads: usize,
) -> Result<(Vec<u32>, Docs)> {
    let (codes, others) = judgments.by_number().docs.extend(&run.docs, threads.div_ceil(2))?;
    Ok((codes, Docs::new(Some(Arc::clone(judgments)), others, run.docs.are_integers())))
}

/// Rows in groups by query.
struct Rows<'a> {
    judgments: &'a Judgments,
    run: &'a RunColumns<'a>,
    grouped: Grouped,
    codes: Vec<u32>,
    docs: Docs,
    run_only: Vocabulary,
    /// The query of each group, where it does not have the number of the group.
    present: Option<&'a [u32]>,
}

impl Rows<'_> {
    /// The number of the query of a group: judged ones first.
    fn query(&self, group: usize) -> usize {
        self.present.map_or(group, |present| present[group] as usize)
    }

    fn name(&self, group: usize) -> Vec<u8> {
        let query = self.query(group);
        let axis = self.judgments.axis();
        match query.checked_sub(axis.len()) {
            None => axis.name(query).to_vec(),
            Some(other) => self.run_only.get(other).to_vec(),
        }
    }

    fn join(
        self,
        (duplicates, score_type): (Duplicates, ScoreType),
        finders: &mut Vec<Finder>,
        threads: usize,
    ) -> Result<(Joined, Grouped)> {
        let Self { run, grouped, docs, .. } = &self;
        let arrange_codes = || grouped.arrange_all(&self.codes);
        let (scores, codes) =
            threads::both(threads, || arrange_scores(run, grouped, score_type), arrange_codes);
        let scores = scores?;
        let relevance = vec![0.0; scores.len()];
        let mut made = Joined { relevance, scores, codes, ..Joined::default() };
        if let Some(ranks) = run.ranks {
            note_ranks(ranks, &made.scores, grouped, &mut made.notes);
        }
        // Each thread has an entry a document.
        let threads = threads.min(1 + MOST_ENTRIES / docs.len().max(1));
        let ranges = threads::cut(&grouped.offsets, threads);
        if finders.len() < ranges.len() {
            finders.extend((finders.len()..ranges.len()).map(|_| Finder::default()));
        }
        for finder in &mut *finders {
            finder.restart(docs.len(), made.scores.len());
        }
        let relevance = threads::split(&mut made.relevance, &ranges, &grouped.offsets);
        let scores = threads::split(&mut made.scores, &ranges, &grouped.offsets);
        let kept = threads::split(&mut made.codes, &ranges, &grouped.offsets);
        let columns = relevance.into_iter().zip(scores).zip(kept);
        let columns =
            columns.map(|((relevance, scores), codes)| Columns { relevance, scores, codes });
        let parts: Vec<_> = ranges.iter().cloned().zip(columns).zip(finders).collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.0.1.codes.len()).collect();
        let outcomes = threads::on_each(parts, |((range, mut columns), finder)| {
            self.join_groups(range, &mut columns, duplicates, finder)
        });
        let mut used = Vec::with_capacity(outcomes.len());
        let mut dropped = 0;
        made.offsets.push(0);
        for outcome in outcomes {
            let Kept { sizes, count } = outcome.map_err(|again| {
                let line = grouped.row(again.place) as u64 + 1;
                occurs_again(&docs.get(again.doc), &self.name(again.group), line)
            })?;
            dropped += count;
            let start = made.offsets.last().copied().unwrap_or(0);
            let ends = sizes.iter().scan(start, |end, size| {
                *end += size;
                Some(*end)
            });
            let ends: Vec<usize> = ends.collect();
            used.push(ends.last().map_or(0, |end| end - start));
            made.offsets.extend(ends);
        }
        threads::close_gaps(&mut made.relevance, &lengths, &used);
        threads::close_gaps(&mut made.scores, &lengths, &used);
        threads::close_gaps(&mut made.codes, &lengths, &used);
        // Queries that are not judged come last.
        let groups = made.offsets.len() - 1;
        let is_judged = |group: usize| self.query(group) < self.judgments.axis().len();
        let judged = groups - (0..groups).rev().take_while(|&group| !is_judged(group)).count();
        made.offsets.truncate(judged + 1);
        let end = made.offsets[judged];
        made.codes.truncate(end);
        made.scores.truncate(end);
        made.relevance.truncate(end);
        made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
        let Self { grouped, docs, run_only, .. } = self;
        Ok((Joined { docs, run_only, ..made }, grouped))
    }

    fn join_groups(
        &self,
        groups: Range<usize>,
        columns: &mut Columns<'_>,
        duplicates: Duplicates,
        finder: &mut Finder,
    ) -> std::result::Result<Kept, Again> {
        let numbered = self.judgments.by_number();
        let judged = self.judgments.axis().offsets();
        let mut made = Kept { sizes: Vec::with_capacity(groups.len()), count: 0 };
        let start = self.grouped.offsets[groups.start];
        let mut at = 0;
        for group in groups {
            let query = self.query(group);
            let judged = judged.get(query..query + 2).map_or(0..0, |ends| ends[0]..ends[1]);
            let judged_codes = &numbered.codes[judged.clone()];
            let places = self.grouped.offsets[group]..self.grouped.offsets[group + 1];
            finder.begin(judged_codes, judged.start, places.len());
            let first = at;
            for place in places {
                let code = columns.codes[place - start];
                let score = columns.scores[place - start];
                if let Some(earlier) = finder.find_retrieved(code, &columns.codes[first..at], first)
                {
                    if duplicates == Duplicates::Error {
                        return Err(Again { group, doc: code, place });
                    }
                    made.count += 1;
                    if duplicates == Duplicates::Max {
                        columns.scores[earlier] = columns.scores[earlier].max(score);
                    }
                    continue;
                }
                let judgment = finder.find_judged(code, judged_codes, judged.start);
                columns.relevance[at] = judgment.map_or(f64::NAN, |place| numbered.grades[place]);
                columns.codes[at] = code;
                columns.scores[at] = score;
                finder.see(code, at);
                at += 1;
            }
            made.sizes.push(at - first);
        }
        Ok(made)
    }
}

/// The rows of the queries of one thread, which puts those that it keeps in front.
struct Columns<'a> {
    relevance: &'a mut [f64],
    scores: &'a mut [f64],
    codes: &'a mut [u32],
}

/// What one thread did: how many rows each query kept, and how many were dropped.
struct Kept {
    sizes: Vec<usize>,
    count: u64,
}

/// A document that occurs again.
struct Again {
    group: usize,
    doc: u32,
    place: usize,
}
