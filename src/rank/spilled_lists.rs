//! Rows of runs that come in any order, and exceed memory: they are partitioned by query in files, and
//! come back with all rows of some queries at a time.

use crate::error::{Result, show};
use crate::ids::columns::hash_ids;
use crate::ids::interner::Ids;
use crate::memory::{Vec, vec};
use crate::notes::Notes;
use crate::rank::run::Run;
use crate::table::frame::{Column, Frame};
use crate::table::queue::{Next, Queue, Spill};
use crate::table::spill::{Partition, Partitions};
use crate::text::list::{List, Row};

/// What a row takes in memory besides its values, once it is back.
const ROW: u64 = 128;
/// How many rows are partitioned at once.
const AT_ONCE: usize = 1 << 16;

/// Rows of one or more runs by query on disk.
#[derive(Debug)]
pub struct SpilledLists {
    room: Spill,
    runs: usize,
    queries: Ids,
    /// Rows that are not in a partition yet: numbers of queries, lines, scores and documents, and the
    /// numbers of runs where there are several.
    rows: Frame,
    partitions: Option<Partitions>,
    queue: Queue,
}

impl SpilledLists {
    /// No rows of so many runs, with the memory that they may take.
    #[must_use]
    pub fn new(room: Spill, runs: usize) -> Self {
        let texts = Column::Texts { offsets: vec![0], bytes: Vec::new() };
        let ints = || Column::Ints(Vec::new());
        let mut rows = vec![ints(), ints(), Column::Doubles(Vec::new()), texts];
        if runs > 1 {
            rows.push(ints());
        }
        let partitions = Some(room.open());
        Self { room, runs, queries: Ids::default(), rows, partitions, queue: Queue::default() }
    }

    /// Adds adjacent rows of one query of a run, whose lines follow `lines_before` others; gives the
    /// number of the query.
    ///
    /// # Errors
    /// Where a file can't be written.
    pub fn add(&mut self, run: usize, list: &List<'_>, lines_before: u64) -> Result<usize> {
        let query = self.queries.number(list.query);
        for row in &list.rows {
            let [
                Column::Ints(queries),
                Column::Ints(lines),
                Column::Doubles(scores),
                docs,
                of_runs @ ..,
            ] = &mut self.rows[..]
            else {
                unreachable!("a frame of runs has these columns")
            };
            queries.push(query.cast_signed() as i64);
            lines.push((lines_before + row.line).cast_signed());
            scores.push(row.score);
            docs.push_text(row.doc);
            if let [Column::Ints(runs)] = of_runs {
                runs.push(run.cast_signed() as i64);
            }
        }
        if self.rows[0].len() >= AT_ONCE {
            self.partition()?;
        }
        Ok(query)
    }

    /// The queries in first-seen order.
    #[must_use]
    pub fn queries(&self) -> &Ids {
        &self.queries
    }

    /// How many bytes were written to files.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.queue.written() + self.partitions.as_ref().map_or(0, Partitions::written)
    }

    /// All rows of some more queries, by run; nothing once all rows came back. Of each run, rows and
    /// queries are in the order in which they were added.
    ///
    /// # Errors
    /// Where a file can't be read, or a single query takes more memory than there may be used.
    pub fn take_next(&mut self) -> Result<Option<Vec<Option<Run>>>> {
        self.partition()?;
        if let Some(partitions) = self.partitions.take() {
            self.queue.fill(partitions);
        }
        let needed = |partition: &Partition| partition.needed(ROW);
        let queries = self.queries.texts();
        let name =
            |number: String| number.parse().map_or(number, |query: usize| show(queries.get(query)));
        loop {
            match self.queue.next(&self.room, needed, hash_ids, name)? {
                Next::Whole(frame) => return self.collect(&frame).map(Some),
                Next::Split => {}
                Next::End => return Ok(None),
            }
        }
    }

    /// Moves rows to their partitions.
    fn partition(&mut self) -> Result<()> {
        let Some(partitions) = &mut self.partitions else { return Ok(()) };
        let mut hashes = Vec::new();
        hash_ids(&self.rows[0], &mut hashes);
        partitions.push(&self.rows, &hashes)?;
        self.rows.iter_mut().for_each(Column::clear);
        Ok(())
    }

    /// The rows of a partition as runs.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as they were written
    fn collect(&self, frame: &Frame) -> Result<Vec<Option<Run>>> {
        let [numbers, lines, scores, Column::Texts { offsets, bytes }, of_runs @ ..] = &frame[..]
        else {
            unreachable!("a frame of runs has these columns")
        };
        let of_runs = of_runs.first().map(Column::ints);
        let mut runs: Vec<Option<Run>> = (0..self.runs).map(|_| None).collect();
        let values = numbers.ints().iter().zip(lines.ints()).zip(scores.doubles());
        for (at, (((&query, &line), &score), ends)) in values.zip(offsets.windows(2)).enumerate() {
            let doc = &bytes[ends[0] as usize..ends[1] as usize];
            let run = runs[of_runs.map_or(0, |runs| runs[at] as usize)].get_or_insert_default();
            let query = self.queries.texts().get(query as usize);
            run.add_row(query, &Row { doc, score, line: line.cast_unsigned() });
        }
        let finish = |run: Option<Run>| run.map(|run| run.finish(Notes::default())).transpose();
        runs.into_iter().map(finish).collect()
    }
}
