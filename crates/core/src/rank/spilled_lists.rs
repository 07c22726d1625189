//! Rows of a run that come in any order, and exceed memory: they are partitioned by query in files, and
//! come back with all rows of some queries at a time.

use crate::error::{Result, show};
use crate::ids::columns::hash_ids;
use crate::ids::interner::Ids;
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

/// Rows of a run by query on disk.
#[derive(Debug)]
pub struct SpilledLists {
    room: Spill,
    queries: Ids,
    /// Rows that are not in a partition yet: numbers of queries, lines, scores and documents.
    rows: Frame,
    partitions: Option<Partitions>,
    queue: Queue,
}

impl SpilledLists {
    /// No rows, with the memory that they may take.
    pub fn new(room: Spill) -> Self {
        let texts = Column::Texts { offsets: vec![0], bytes: Vec::new() };
        let ints = || Column::Ints(Vec::new());
        let rows = vec![ints(), ints(), Column::Doubles(Vec::new()), texts];
        let partitions = Some(room.open());
        Self { room, queries: Ids::default(), rows, partitions, queue: Queue::default() }
    }

    /// Adds adjacent rows of one query, whose lines follow `lines_before` others; gives the
    /// number of the query.
    pub fn add(&mut self, list: &List<'_>, lines_before: u64) -> Result<usize> {
        let query = self.queries.number(list.query);
        for row in &list.rows {
            let [Column::Ints(queries), Column::Ints(lines), Column::Doubles(scores), docs] =
                &mut self.rows[..]
            else {
                unreachable!("a frame of a run has these columns")
            };
            queries.push(query.cast_signed() as i64);
            lines.push((lines_before + row.line).cast_signed());
            scores.push(row.score);
            docs.push_text(row.doc);
        }
        if self.rows[0].len() >= AT_ONCE {
            self.partition()?;
        }
        Ok(query)
    }

    /// The queries in first-seen order.
    pub fn queries(&self) -> &Ids {
        &self.queries
    }

    /// How many bytes were written to files.
    pub fn written(&self) -> u64 {
        self.queue.written() + self.partitions.as_ref().map_or(0, Partitions::written)
    }

    /// All rows of some more queries; nothing once all rows came back. Rows and queries are in the order
    /// in which they were added.
    pub fn take_next(&mut self) -> Result<Option<Run>> {
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

    /// The rows of a partition as a run.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as they were written
    fn collect(&self, frame: &Frame) -> Result<Run> {
        let [numbers, lines, scores, Column::Texts { offsets, bytes }] = &frame[..] else {
            unreachable!("a frame of a run has these columns")
        };
        let mut run = Run::default();
        let values = numbers.ints().iter().zip(lines.ints()).zip(scores.doubles());
        for (((&query, &line), &score), ends) in values.zip(offsets.windows(2)) {
            let doc = &bytes[ends[0] as usize..ends[1] as usize];
            let query = self.queries.texts().get(query as usize);
            run.add_row(query, &Row { doc, score, line: line.cast_unsigned() });
        }
        run.finish(Notes::default())
    }
}
