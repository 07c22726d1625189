//! Matches a run of columns to its judgments by numbers, without looking at the text of documents.

use std::sync::Arc;

use crate::columns::occurs_again;
use crate::error::Result;
use crate::judgments::{Duplicates, Judgments};
use crate::notes::{Note, Notes};
use crate::numbered::extend_both;
use crate::order::Docs;
use crate::run::no_rows;
use crate::table::{IdColumn, check_finite, check_lengths, group};
use crate::trec::ScoreType;
use crate::vocabulary::Vocabulary;

/// Retrieved documents, in rows of any order.
#[derive(Debug)]
pub struct RunColumns<'a> {
    /// The query of each row.
    pub queries: IdColumn<'a>,
    /// The document of each row.
    pub docs: IdColumn<'a>,
    /// The score of each row.
    pub scores: Vec<f64>,
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

/// Where a document was last seen in the judgments, and in the run; one more than the place.
#[derive(Clone, Copy, Default)]
struct Places {
    judged: u32,
    retrieved: u32,
}

/// Joins a run.
///
/// # Errors
/// Where the columns do not fit, hold what is no identifier or score, or a document occurs twice in a
/// query; lines are 1-based rows.
#[allow(clippy::cast_possible_truncation)] // rows and judgments are counted in 32 bits
pub fn join(
    judgments: &Arc<Judgments>,
    run: &RunColumns<'_>,
    duplicates: Duplicates,
    score_type: ScoreType,
) -> Result<Joined> {
    check_lengths(&[run.queries.len(), run.docs.len(), run.scores.len()])?;
    if run.scores.is_empty() {
        return Err(no_rows());
    }
    for (line, &score) in (1..).zip(&run.scores) {
        check_finite(score_type.round(score), "score", "score")
            .map_err(|error| error.line(line))?;
    }
    let none = Vocabulary::default();
    let judged_queries = judgments.axis().ids().unwrap_or(&none);
    let numbered = judgments.by_number();
    let [(queries, run_only), (codes, others)] =
        extend_both([(judged_queries, &run.queries), (&numbered.docs, &run.docs)])?;
    let judged = judgments.axis().len();
    let grouped = group(&queries, judged + run_only.len());
    let mut made = Joined {
        offsets: Vec::with_capacity(judged + 1),
        relevance: Vec::with_capacity(run.scores.len()),
        scores: Vec::with_capacity(run.scores.len()),
        codes: Vec::with_capacity(run.scores.len()),
        ..Joined::default()
    };
    made.offsets.push(0);
    let docs = Docs::new(Some(Arc::clone(judgments)), others);
    let mut places = vec![Places::default(); docs.len()];
    let judged_offsets = judgments.axis().offsets();
    let mut dropped = 0;
    for (query, range) in grouped.offsets.windows(2).enumerate() {
        let first_judged = judged_offsets.get(query).map_or(0, |&first| first as u32);
        if query < judged {
            for place in judged_offsets[query]..judged_offsets[query + 1] {
                places[numbered.codes[place] as usize].judged = place as u32 + 1;
            }
        }
        let first = made.codes.len();
        for row in (range[0]..range[1]).map(|place| grouped.row(place)) {
            let (code, score) = (codes[row], score_type.round(run.scores[row]) + 0.0);
            let place = &mut places[code as usize];
            if place.retrieved as usize > first {
                if duplicates == Duplicates::Error {
                    let query = name(judged_queries, &run_only, query);
                    return Err(occurs_again(&docs.get(code), &query, row as u64 + 1));
                }
                dropped += 1;
                if duplicates == Duplicates::Max {
                    let kept = &mut made.scores[place.retrieved as usize - 1];
                    *kept = kept.max(score);
                }
                continue;
            }
            made.codes.push(code);
            made.scores.push(score);
            place.retrieved = made.codes.len() as u32;
            let is_judged = query < judged && place.judged > first_judged;
            made.relevance.push(if is_judged {
                numbered.grades[place.judged as usize - 1]
            } else {
                f64::NAN
            });
        }
        if query < judged {
            made.is_present.push(range[0] < range[1]);
            made.offsets.push(made.codes.len());
        }
    }
    let end = made.offsets.last().copied().unwrap_or(0);
    made.codes.truncate(end);
    made.scores.truncate(end);
    made.relevance.truncate(end);
    for column in [run.queries, run.docs] {
        made.notes.add_many(Note::IntegerIds, column.integers(), (0, 0));
    }
    made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
    Ok(Joined { docs, run_only, ..made })
}

fn name(judged: &Vocabulary, others: &Vocabulary, query: usize) -> Vec<u8> {
    match query.checked_sub(judged.len()) {
        None => judged.get(query).into_owned(),
        Some(other) => others.get(other).into_owned(),
    }
}
