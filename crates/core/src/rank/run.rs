//! A run held in memory, for rows that come in any order and sources that cannot be read twice.

use std::ops::Range;

use crate::error::{Error, Kind, Result};
use crate::ids::interner::{Arena, Ids};
use crate::notes::{Lines, Note, Notes};
use crate::number::decimal::Decimal;
use crate::policy::{Duplicates, ScoreType};
use crate::rank::join::Joiner;
use crate::rank::join_columns::RunColumns;
use crate::rank::ranks::note_ranks_of;
use crate::table::cells::look_through;
use crate::table::columns::{check_all_finite, check_lengths};
use crate::text::blocks::{Block, Blocks};
use crate::text::list::{List, Ranks, Row, is_too_long, too_many_rows};
use crate::text::source::Input;
use crate::text::split::Tape;
use crate::text::trec::{self, RunNotes};
use crate::text::written::RunLines;
use crate::watch::{Event, Watch};

/// The lists of a run, each query's rows in the order in which they came.
#[derive(Debug, Default)]
pub struct Run {
    queries: Ids,
    /// Of each query, what its ranks say, and its first line.
    ranks: Vec<(Ranks, u64)>,
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
}

impl Run {
    /// Reads a run; `watch` learns how far the reading is, and may stop it.
    pub fn read(
        input: &Input,
        score_type: ScoreType,
        duplicates: Duplicates,
        watch: Watch<'_>,
    ) -> Result<Self> {
        let mut reader = RunReader::open(input, score_type, duplicates, watch)?;
        reader.read(usize::MAX, watch)?;
        reader.finish()
    }

    /// From columns, whose rows may be in any order.
    pub fn from_columns(
        columns: &RunColumns<'_>,
        score_type: ScoreType,
        lines: Option<&[i64]>,
    ) -> Result<Self> {
        let RunColumns { queries, docs, scores, ranks, .. } = columns;
        columns.check_lengths()?;
        check_lengths(&[scores.len(), lines.map_or(scores.len(), <[_]>::len)])?;
        let mut run = Self::default();
        let (mut of_query, mut of_doc) = (Decimal::default(), Decimal::default());
        let refused = look_through(*scores, 0..scores.len(), |start, block| {
            let mut add = || -> Result<()> {
                let rounded = block.iter().map(|&score| score_type.round(score) + 0.0);
                check_all_finite(start, rounded.clone(), "score", "score")?;
                for (row, score) in (start..).zip(rounded) {
                    let query = queries.get(row, &mut of_query)?;
                    let doc = docs.get(row, &mut of_doc)?;
                    let before = lines.map_or(row as u64, |lines| lines[row].cast_unsigned());
                    run.add_row(query, &Row { doc, score, line: before + 1 });
                }
                Ok(())
            };
            add().err()
        });
        let mut run = refused.map_or_else(|| run.finish(Notes::default()), Err)?;
        if let Some(cells) = ranks {
            let mut ranks = vec![0.0; cells.len()];
            cells.read(0, &mut ranks);
            let mut list = Vec::new();
            for query in 0..run.queries().len() {
                list.extend(run.rows_of(query).map(|row| (ranks[row], run.scores[row])));
                note_ranks_of(&mut list, &mut run.notes);
            }
        }
        Ok(run)
    }

    /// Adds adjacent rows of one query, whose lines follow `lines_before` others; says how many rows the
    /// query has then.
    pub fn add(&mut self, list: &List<'_>, lines_before: u64) -> usize {
        let query = self.add_query(list.query);
        let (ranks, first_line) = &mut self.ranks[query];
        if *first_line == 0 {
            *first_line = list.rows.first().map_or(0, |row| lines_before + row.line);
        }
        ranks.merge(&list.ranks);
        let count = ranks.count();
        for row in &list.rows {
            self.docs.push(row.doc);
            self.scores.push(row.score);
            self.lines.push(lines_before + row.line);
        }
        if let Some(last) = self.stretches.last_mut() {
            last.end = self.scores.len();
        }
        count
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

    /// Names a query, so that it is known even if nothing was retrieved for it; gives its number.
    pub fn add_query(&mut self, query: &[u8]) -> usize {
        let query = self.queries.number(query);
        if query == self.ranks.len() {
            self.ranks.push((Ranks::default(), 0));
        }
        let start = self.scores.len();
        self.stretches.push(Stretch { query, start, end: start });
        query
    }

    /// Brings the rows of each query together.
    pub fn finish(mut self, notes: Notes) -> Result<Self> {
        if self.stretches.is_empty() {
            return Err(no_rows());
        }
        self.stretches.sort_by_key(|one| one.query);
        self.offsets = vec![0];
        for stretches in self.stretches.chunk_by(|a, b| a.query == b.query) {
            self.offsets.push(self.offsets.last().map_or(0, |last| last + stretches.len()));
        }
        self.notes = notes;
        self.note_ranks();
        Ok(self)
    }

    /// The same run without the documents that have the identifier of their query. A query of which
    /// nothing is left is not in it.
    pub fn without_same(&self) -> Result<Self> {
        let mut run = Self::default();
        for query in 0..self.queries().len() {
            let name = self.queries().get(query);
            if self.is_blank(query) {
                run.add_query(name);
            }
            for row in self.rows_of(query) {
                let (doc, score) = self.row(row);
                if doc != name {
                    run.add_row(name, &Row { doc, score, line: self.lines[row] });
                }
            }
        }
        run.finish(self.notes.clone())
    }

    fn note_ranks(&mut self) {
        for (ranks, first_line) in &self.ranks {
            ranks.note(&mut self.notes, (0, *first_line));
        }
    }

    /// The identifiers of the queries, in first-seen order.
    pub fn queries(&self) -> &Arena {
        self.queries.texts()
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

    /// Gives each row and its query to `each`, in the order in which they came, and forgets the rows.
    pub fn drain_rows(&mut self, mut each: impl FnMut(&[u8], Row<'_>)) {
        for stretch in &self.stretches {
            let query = self.queries().get(stretch.query);
            self.stretch_rows(stretch).for_each(|row| each(query, row));
        }
        self.docs.clear();
        self.scores.clear();
        self.lines.clear();
        self.stretches.clear();
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

/// Reads the text of a run, which may take more memory than there is: rows can be taken on the way.
pub struct RunReader {
    blocks: Blocks,
    score_type: ScoreType,
    duplicates: Duplicates,
    notes: RunNotes,
    lines: Lines,
    /// How many lines are before the next block.
    before: u64,
    block: Block,
    tape: Tape,
    joiner: Joiner,
    /// The rows that were not taken yet.
    pub run: Run,
}

impl RunReader {
    /// Begins to read a run.
    pub fn open(
        input: &Input,
        score_type: ScoreType,
        duplicates: Duplicates,
        watch: Watch<'_>,
    ) -> Result<Self> {
        let blocks = Blocks::new(input.open(watch)?, watch)?;
        let mut notes = RunNotes::default();
        if blocks.had_bom {
            notes.notes.add(Note::Bom, (0, 1));
        }
        Ok(Self {
            blocks,
            score_type,
            duplicates,
            notes,
            lines: Lines::default(),
            before: 0,
            block: Block::default(),
            tape: Tape::default(),
            joiner: Joiner::default(),
            run: Run::default(),
        })
    }

    /// Reads on until the rows take more than so many bytes; says whether there may be others.
    pub fn read(&mut self, size: usize, watch: Watch<'_>) -> Result<bool> {
        let Self { blocks, notes, before, block, tape, joiner, run, .. } = self;
        while run.size() <= size {
            if !blocks.next(block, watch).map_err(|error| error.after_lines(*before))? {
                return Ok(false);
            }
            let add = |list: &mut List<'_>| {
                if self.duplicates == Duplicates::Error {
                    joiner.check_distinct(list)?;
                }
                let is_too_long = is_too_long(run.add(list, *before));
                if is_too_long { Err(too_many_rows()) } else { Ok(()) }
            };
            let count =
                trec::read_run(block.text(), block.number, tape, self.score_type, notes, add)
                    .map_err(|error| error.after_lines(*before).file(blocks.name()))?;
            self.lines.set(block.number, count);
            *before += count;
            watch(Event::Read(blocks.consumed()))?;
        }
        Ok(true)
    }

    /// The rows that were not taken, as a run.
    pub fn finish(self) -> Result<Run> {
        let name = self.blocks.name().to_owned();
        self.run.finish(self.notes.finish(&self.lines)).map_err(|error| error.file(&name))
    }

    /// What was seen while reading, once all rows were taken.
    pub fn into_notes(self) -> Notes {
        let mut run = self.run;
        run.notes = self.notes.finish(&self.lines);
        run.note_ranks();
        run.notes
    }
}

/// The error for a run without rows.
pub fn no_rows() -> Error {
    Error::new(Kind::Empty, "empty_input", "expected retrieved documents, found none")
        .hint("is the file empty, or the run cut off?")
}
