//! A run held in memory, for rows that come in any order and sources that cannot be read twice.

use std::ops::Range;

use crate::error::{Error, Kind, Result};
use crate::ids::interner::{Arena, Ids};
use crate::notes::{Lines, Note, Notes};
use crate::number::decimal::Decimal;
use crate::policy::{Duplicates, ScoreType};
use crate::rank::join::Joiner;
use crate::rank::join_columns::RunColumns;
use crate::table::cells::look_through;
use crate::table::columns::{check_all_finite, check_lengths};
use crate::text::blocks::{Block, Blocks};
use crate::text::list::{List, Ranks, Row};
use crate::text::source::Input;
use crate::text::split::Tape;
use crate::text::trec::{self, RunNotes};
use crate::text::written::RunLines;
use crate::watch::{Event, Watch};

/// The lists of a run, each query's rows in the order in which they came.
#[derive(Debug, Default)]
pub struct Run {
    queries: Ids,
    docs: Arena,
    scores: Vec<f64>,
    lines: Vec<u64>,
    /// Ordered by query once finished.
    stretches: Vec<Stretch>,
    /// Stretches of query q are `stretches[offsets[q]..offsets[q + 1]]`.
    offsets: Vec<usize>,
    notes: Notes,
}

/// Adjacent rows of one query.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    query: usize,
    start: usize,
    end: usize,
    ranks: Ranks,
}

impl Run {
    /// Reads a run; `watch` learns how far the reading is, and may stop it.
    pub fn read(
        input: &Input,
        score_type: ScoreType,
        duplicates: Duplicates,
        watch: Watch<'_>,
    ) -> Result<Self> {
        let mut run = Self::default();
        let notes = each_list(input, score_type, duplicates, watch, |list, lines_before| {
            run.add(list, lines_before);
            Ok(())
        })?;
        run.finish(notes).map_err(|error| error.file(&input.name()))
    }

    /// From columns, whose rows may be in any order.
    ///
    /// # Errors
    /// Where the columns do not fit, there are no rows, or a cell is no identifier or score; lines are
    /// 1-based rows.
    pub fn from_columns(columns: &RunColumns<'_>, score_type: ScoreType) -> Result<Self> {
        let RunColumns { queries, docs, scores, .. } = columns;
        check_lengths(&[queries.len(), docs.len(), scores.len()])?;
        let mut run = Self::default();
        let (mut of_query, mut of_doc) = (Decimal::default(), Decimal::default());
        let refused = look_through(*scores, 0..scores.len(), |start, block| {
            let mut add = || -> Result<()> {
                let rounded = block.iter().map(|&score| score_type.round(score) + 0.0);
                check_all_finite(start, rounded.clone(), "score", "score")?;
                for (row, score) in (start..).zip(rounded) {
                    let query = queries.get(row, &mut of_query)?;
                    let doc = docs.get(row, &mut of_doc)?;
                    run.add_row(query, &Row { doc, score, line: row as u64 + 1 });
                }
                Ok(())
            };
            add().err()
        });
        refused.map_or_else(|| run.finish(Notes::default()), Err)
    }

    /// Adds adjacent rows of one query, whose lines follow `lines_before` others.
    pub fn add(&mut self, list: &List<'_>, lines_before: u64) {
        self.add_query(list.query);
        for row in &list.rows {
            self.docs.push(row.doc);
            self.scores.push(row.score);
            self.lines.push(lines_before + row.line);
        }
        if let Some(last) = self.stretches.last_mut() {
            last.end = self.scores.len();
            last.ranks = list.ranks;
        }
    }

    /// Adds one row; those of one query are best added one after another.
    pub fn add_row(&mut self, query: &[u8], row: &Row<'_>) {
        let is_last = |last: &Stretch| self.queries.texts().get(last.query) == query;
        if !self.stretches.last().is_some_and(is_last) {
            self.add_query(query);
        }
        self.docs.push(row.doc);
        self.scores.push(row.score);
        self.lines.push(row.line);
        if let Some(last) = self.stretches.last_mut() {
            last.end = self.scores.len();
        }
    }

    /// Names a query, so that it is known even if nothing was retrieved for it.
    pub fn add_query(&mut self, query: &[u8]) {
        let query = self.queries.number(query);
        let start = self.scores.len();
        self.stretches.push(Stretch { query, start, end: start, ranks: Ranks::default() });
    }

    /// Brings the rows of each query together.
    pub fn finish(mut self, mut notes: Notes) -> Result<Self> {
        if self.stretches.is_empty() {
            return Err(no_rows());
        }
        self.stretches.sort_by_key(|one| one.query);
        self.offsets = vec![0];
        for stretches in self.stretches.chunk_by(|a, b| a.query == b.query) {
            self.offsets.push(self.offsets.last().map_or(0, |last| last + stretches.len()));
            let mut ranks = stretches[0].ranks;
            for pair in stretches.windows(2) {
                ranks.merge(&pair[1].ranks);
            }
            let first_line = self.lines.get(stretches[0].start).copied().unwrap_or(0);
            ranks.note(&mut notes, (0, first_line));
        }
        self.notes = notes;
        Ok(self)
    }

    /// The identifiers of the queries, in first-seen order.
    pub fn queries(&self) -> &Arena {
        self.queries.texts()
    }

    /// Whether the queries' rows were adjacent.
    pub fn is_grouped(&self) -> bool {
        self.stretches.len() == self.queries().len()
    }

    /// What was seen while reading.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.scores.len()
    }

    /// About how many bytes of memory it takes.
    pub fn size(&self) -> usize {
        let row = size_of::<usize>() + size_of::<f64>() + size_of::<u64>();
        let stretches = self.stretches.len() * size_of::<Stretch>();
        self.docs.size() + row * self.rows() + stretches
    }

    /// Gives each stretch of rows of one query to `each`, in the order in which they came; the lines
    /// of the rows are those of the input.
    pub fn each_stretch(&self, mut each: impl FnMut(&List<'_>) -> Result<()>) -> Result<()> {
        let mut list = List::default();
        self.stretches.iter().try_for_each(|stretch| {
            list.query = self.queries().get(stretch.query);
            list.ranks = stretch.ranks;
            list.rows.clear();
            list.rows.extend(self.stretch_rows(stretch));
            each(&list)
        })
    }

    fn stretch_rows(&self, stretch: &Stretch) -> impl Iterator<Item = Row<'_>> {
        (stretch.start..stretch.end).map(|row| Row {
            doc: self.docs.get(row),
            score: self.scores[row],
            line: self.lines[row],
        })
    }

    /// Whether a query has no documents.
    pub fn is_blank(&self, query: usize) -> bool {
        let stretches = &self.stretches[self.offsets[query]..self.offsets[query + 1]];
        stretches.iter().all(|stretch| stretch.start == stretch.end)
    }

    /// Appends the lists of queries as lines of a run in TREC format, in the order of their rows.
    pub fn write_lines(&self, queries: Range<usize>, tag: &str, out: &mut Vec<u8>) {
        let mut lines = RunLines::new(tag);
        for query in queries {
            let name = self.queries().get(query);
            for (row, rank) in self.rows_of(query).zip(1..) {
                let (doc, score) = self.row(row);
                lines.append(out, name, doc, rank, score);
            }
        }
    }

    /// The rows of a query's stretches, in the order in which they came.
    pub fn rows_of(&self, query: usize) -> impl Iterator<Item = usize> {
        let stretches = &self.stretches[self.offsets[query]..self.offsets[query + 1]];
        stretches.iter().flat_map(|stretch| stretch.start..stretch.end)
    }

    /// The document of a row, and its score.
    pub fn row(&self, row: usize) -> (&[u8], f64) {
        (self.docs.get(row), self.scores[row])
    }

    /// Makes `list` the list of a query.
    pub fn fill<'a>(&'a self, query: usize, list: &mut List<'a>) {
        list.query = self.queries().get(query);
        list.rows.clear();
        for stretch in &self.stretches[self.offsets[query]..self.offsets[query + 1]] {
            list.rows.extend(self.stretch_rows(stretch));
        }
        list.is_sorted = list.rows.is_sorted_by(|above, below| above.score >= below.score);
        list.are_integers = self.notes.has_integers;
    }
}

/// Reads a run, and gives each stretch of rows of one query to `each`, with the number of lines before
/// the block that it is in.
pub fn each_list(
    input: &Input,
    score_type: ScoreType,
    duplicates: Duplicates,
    watch: Watch<'_>,
    mut each: impl FnMut(&List<'_>, u64) -> Result<()>,
) -> Result<Notes> {
    let name = input.name();
    let mut blocks = Blocks::new(input.open(watch)?, watch)?;
    let mut notes = RunNotes::default();
    let mut lines = Lines::default();
    let (mut block, mut tape, mut joiner) = (Block::default(), Tape::default(), Joiner::default());
    let mut before = 0;
    if blocks.had_bom {
        notes.notes.add(Note::Bom, (0, 1));
    }
    while blocks.next(&mut block, watch).map_err(|error| error.after_lines(before))? {
        let add = |list: &mut List<'_>| {
            if duplicates == Duplicates::Error {
                joiner.check_distinct(list)?;
            }
            each(list, before)
        };
        let count =
            trec::read_run(block.text(), block.number, &mut tape, score_type, &mut notes, add)
                .map_err(|error| error.after_lines(before).file(&name))?;
        lines.set(block.number, count);
        before += count;
        watch(Event::Read(blocks.consumed()))?;
    }
    Ok(notes.finish(&lines))
}

/// The error for a run without rows.
pub fn no_rows() -> Error {
    Error::new(Kind::Empty, "empty_input", "expected retrieved documents, found none")
        .hint("is the file empty, or the run cut off?")
}
