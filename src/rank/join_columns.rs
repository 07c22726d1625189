//! Matches a run of columns to its judgments by numbers, without looking at the text of documents.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::ids::finder::{Finder, MOST_ENTRIES};
use crate::ids::vocabulary::{Vocabulary, extend_both};
use crate::memory::{self, Vec, vec};
use crate::notes::{Note, Notes};
use crate::policy::{Duplicates, ScoreType};
use crate::qrels::duplicates::occurs_again;
use crate::qrels::judgments::Judgments;
use crate::rank::order::Docs;
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
    (duplicates, score_type): (Duplicates, ScoreType),
    threads: usize,
) -> Result<Joined> {
    check_lengths(&[run.queries.len(), run.docs.len(), run.scores.len()])?;
    let none = Vocabulary::default();
    let judged_queries = judgments.axis().ids().unwrap_or(&none);
    let numbered = judgments.by_number();
    let [(queries, run_only), (codes, others)] =
        extend_both([(judged_queries, &run.queries), (&numbered.docs, &run.docs)], threads)?;
    let judged = judgments.axis().len();
    let grouped = group(queries, judged + run_only.len(), threads);
    let docs = Docs::new(Some(Arc::clone(judgments)), others);
    let arrange_scores = || {
        grouped.arrange(run.scores, |start, block, out| {
            let rounded = block.iter().map(|&score| score_type.round(score) + 0.0);
            out.iter_mut().zip(rounded).for_each(|(out, score)| *out = score);
            check_all_finite(start, out.iter().copied(), "score", "score")
        })
    };
    let arrange_codes = || grouped.arrange_all(&codes);
    let (scores, codes) = threads::both(threads, arrange_scores, arrange_codes);
    let scores = scores?;
    let relevance = vec![0.0; scores.len()];
    let mut made = Joined { relevance, scores, codes, ..Joined::default() };
    // Each thread has an entry a document.
    let threads = threads.min(1 + MOST_ENTRIES / docs.len().max(1));
    let ranges = threads::cut(&grouped.offsets, threads);
    let relevance = threads::split(&mut made.relevance, &ranges, &grouped.offsets);
    let scores = threads::split(&mut made.scores, &ranges, &grouped.offsets);
    let kept = threads::split(&mut made.codes, &ranges, &grouped.offsets);
    let columns = relevance.into_iter().zip(scores).zip(kept);
    let columns = columns.map(|((relevance, scores), codes)| Columns { relevance, scores, codes });
    let parts: Vec<_> = ranges.iter().cloned().zip(columns).collect();
    let lengths: Vec<usize> = parts.iter().map(|(_, columns)| columns.codes.len()).collect();
    let joiner = Joiner { judgments, grouped: &grouped, docs: &docs };
    let outcomes = threads::on_each(parts, |(range, mut columns)| {
        joiner.join(range, &mut columns, duplicates)
    });
    let mut used = Vec::with_capacity(outcomes.len());
    let mut dropped = 0;
    made.offsets.push(0);
    for outcome in outcomes {
        let Part { sizes, count } = outcome.map_err(|again| {
            let query = name(judged_queries, &run_only, again.query);
            occurs_again(&docs.get(again.doc), &query, grouped.row(again.place) as u64 + 1)
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
    made.offsets.truncate(judged + 1);
    let end = made.offsets[judged];
    made.codes.truncate(end);
    made.scores.truncate(end);
    made.relevance.truncate(end);
    made.is_present = grouped.offsets[..=judged].windows(2).map(|rows| rows[0] < rows[1]).collect();
    for column in [run.queries, run.docs] {
        made.notes.add_many(Note::IntegerIds, column.integers(), (0, 0));
    }
    made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
    Ok(Joined { docs, run_only, ..made })
}

/// What all threads join.
struct Joiner<'a> {
    judgments: &'a Judgments,
    grouped: &'a Grouped,
    docs: &'a Docs,
}

/// The rows of the queries of one thread, which puts those that it keeps in front.
struct Columns<'a> {
    relevance: &'a mut [f64],
    scores: &'a mut [f64],
    codes: &'a mut [u32],
}

/// What one thread did: how many rows each query kept, and how many were dropped.
struct Part {
    sizes: Vec<usize>,
    count: u64,
}

/// A document that occurs again.
struct Again {
    query: usize,
    doc: u32,
    place: usize,
}

impl Joiner<'_> {
    fn join(
        &self,
        queries: Range<usize>,
        columns: &mut Columns<'_>,
        duplicates: Duplicates,
    ) -> std::result::Result<Part, Again> {
        let numbered = self.judgments.by_number();
        let judged = self.judgments.axis().offsets();
        let mut finder = Finder::new(self.docs.len());
        let mut made = Part { sizes: Vec::with_capacity(queries.len()), count: 0 };
        let start = self.grouped.offsets[queries.start];
        let mut at = 0;
        for query in queries {
            let judged = judged.get(query..query + 2).map_or(0..0, |ends| ends[0]..ends[1]);
            let judged_codes = &numbered.codes[judged.clone()];
            let places = self.grouped.offsets[query]..self.grouped.offsets[query + 1];
            finder.begin(judged_codes, judged.start, places.len());
            let first = at;
            for place in places {
                let code = columns.codes[place - start];
                let score = columns.scores[place - start];
                if let Some(earlier) = finder.find_retrieved(code, &columns.codes[first..at], first)
                {
                    if duplicates == Duplicates::Error {
                        return Err(Again { query, doc: code, place });
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

fn name(judged: &Vocabulary, others: &Vocabulary, query: usize) -> Vec<u8> {
    match query.checked_sub(judged.len()) {
        None => memory::copy(&judged.get(query)),
        Some(other) => memory::copy(&others.get(other)),
    }
}
