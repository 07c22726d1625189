//! Evaluates a run of columns that is larger than memory: its rows in any order are partitioned by
//! query, and one partition after another is evaluated in memory.
//!
//! Values, notes and errors are those of [`Rankings::from_pairs`] and [`Rankings::evaluate`] on the
//! whole run: of several mistakes the one is named that comes first there.
//!
//! [`Rankings::from_pairs`]: crate::rank::rankings::Rankings::from_pairs
//! [`Rankings::evaluate`]: crate::rank::rankings::Rankings::evaluate

use std::sync::Arc;

use crate::error::{Error, Kind, Result};
use crate::evaluate::evaluation::Evaluation;
use crate::evaluate::plan::Plan;
use crate::evaluate::run_parts::{RunParts, view};
use crate::evaluate::spilled::ROW_WITH_DOC;
use crate::evaluate::spilled_rows::SpilledRows;
use crate::ids::columns::hash_ids;
use crate::ids::vocabulary::Vocabulary;
use crate::memory::{Vec, vec};
use crate::number::decimal::Decimal;
use crate::qrels::judgments::Judgments;
use crate::rank::join_columns::RunColumns;
use crate::table::columns::check_lengths;
use crate::table::frame::{Column, Frame};
use crate::table::queue::{Next, Spill};

/// Where a mistake comes among those that a whole run would be checked for, one kind after another:
/// the kind, the query where that comes first, and the row.
type Place = (Check, usize, u64);

/// The checks of a run, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Check {
    Queries,
    Docs,
    Scores,
    Distinct,
}

/// A run of columns that is larger than memory.
#[derive(Debug)]
pub struct SpilledColumns {
    judgments: Arc<Judgments>,
    are_ranks: bool,
    rows: SpilledRows,
    parts: RunParts,
    mistake: Option<(Place, Error)>,
}

impl SpilledColumns {
    /// A run without rows.
    #[must_use]
    pub fn new(judgments: &Arc<Judgments>, spill: Spill) -> Self {
        Self {
            judgments: Arc::clone(judgments),
            are_ranks: false,
            rows: SpilledRows::new(spill),
            parts: RunParts::new(judgments),
            mistake: None,
        }
    }

    /// Adds rows.
    ///
    /// # Errors
    /// Where the columns differ in length, or a file can't be written.
    pub fn push(&mut self, run: &RunColumns<'_>) -> Result<()> {
        let rows = run.scores.len();
        check_lengths(&[run.queries.len(), run.docs.len(), rows])?;
        self.are_ranks = run.are_ranks;
        self.rows.push(&vec![
            Column::of_ids(&run.queries),
            Column::of_row_numbers(self.rows.rows(), rows),
            Column::of_ids(&run.docs),
            Column::of_doubles(run.scores),
        ])
    }

    /// The rows, those that were written to files among them.
    #[must_use]
    pub fn rows(&self) -> &SpilledRows {
        &self.rows
    }

    /// Evaluates another partition, or splits it; false if none is left.
    ///
    /// # Errors
    /// Where a query is too large, or a file can't be read. Other mistakes come with
    /// [`SpilledColumns::finish`], for the first one may be in another partition.
    pub fn evaluate_next(&mut self, plan: &Plan, threads: usize) -> Result<bool> {
        let frame = match self.rows.next(|partition| partition.needed(ROW_WITH_DOC))? {
            Next::Whole(frame) => frame,
            Next::Split => return Ok(true),
            Next::End => return Ok(false),
        };
        let numbers = frame[1].ints();
        let number = |row: usize| numbers[row].cast_unsigned();
        let outcome = view(&frame, self.are_ranks, |run| {
            self.parts.push_numbered(plan, run, number, threads)
        });
        if let Err(error) = outcome {
            let (place, error) = self.place(&frame, error)?;
            if self.mistake.as_ref().is_none_or(|(first, _)| place < *first) {
                self.mistake = Some((place, error));
            }
        }
        Ok(true)
    }

    /// Where a mistake comes, with its row in the whole run.
    ///
    /// # Errors
    /// Where it is no mistake of the run, as when memory runs out.
    fn place(&self, frame: &Frame, error: Error) -> Result<(Place, Error)> {
        let Some(line) = error.place().line.filter(|_| error.kind() != Kind::Memory) else {
            return Err(error);
        };
        #[allow(clippy::cast_possible_truncation)] // a row in memory
        let row = line as usize - 1;
        let number = |row: usize| frame[1].ints()[row].cast_unsigned();
        let mut ints: &[i64] = &[];
        let queries = frame[0].ids(&mut ints);
        let place = match error.code() {
            "score_nan" | "score_overflow" | "score_not_number" => (Check::Scores, 0, number(row)),
            _ if error.kind() == Kind::Duplicate => {
                let mut room = Decimal::default();
                let judged = self.judgments.find_query(queries.get(row, &mut room)?);
                let mut hashes = Vec::new();
                hash_ids(&frame[0], &mut hashes);
                let first = hashes.iter().position(|&hash| hash == hashes[row]).unwrap_or(row);
                (Check::Distinct, judged.unwrap_or(usize::MAX), number(first))
            }
            _ if Vocabulary::number(&queries, 1).is_err() => (Check::Queries, 0, number(row)),
            _ => (Check::Docs, 0, number(row)),
        };
        Ok((place, error.line(number(row) + 1)))
    }

    /// The first mistake in the rows; to be asked for once all of them were evaluated.
    ///
    /// # Errors
    /// That mistake, if there is one.
    pub fn check(&mut self) -> Result<()> {
        self.mistake.take().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// The evaluation of all.
    ///
    /// # Errors
    /// As [`RunParts::finish`].
    pub fn finish(self, plan: &Plan) -> Result<Evaluation> {
        self.parts.finish(plan)
    }
}
