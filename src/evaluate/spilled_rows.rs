//! Rows in any order, which go to files where they exceed memory, and come back query by query.

use crate::error::Result;
use crate::ids::columns::hash_ids;
use crate::memory::Vec;
use crate::table::frame::Frame;
use crate::table::queue::{Next, Queue, Spill};
use crate::table::spill::{Partition, Partitions};
use crate::threads;

/// Rows in frames whose first column is the query.
#[derive(Debug)]
pub struct SpilledRows {
    spill: Spill,
    partitions: Option<Partitions>,
    queue: Queue,
    rows: u64,
    /// How many rows came back, and how many of them came last.
    taken: u64,
    last: u64,
}

impl SpilledRows {
    /// No rows, with the memory that they may take.
    #[must_use]
    pub fn new(spill: Spill) -> Self {
        Self { spill, partitions: None, queue: Queue::default(), rows: 0, taken: 0, last: 0 }
    }

    /// Adds rows.
    ///
    /// # Errors
    /// Where a file can't be written.
    pub fn push(&mut self, frame: &Frame) -> Result<()> {
        let mut hashes = Vec::new();
        hash_ids(&frame[0], &mut hashes);
        self.rows += hashes.len() as u64;
        let spill = &self.spill;
        self.partitions.get_or_insert_with(|| spill.open()).push(frame, &hashes)
    }

    /// How many rows were added.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many bytes were written to files.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.queue.written() + self.partitions.as_ref().map_or(0, Partitions::written)
    }

    /// How many rows are done, all before those that came back last, and how many there are.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.taken - self.last, self.rows)
    }

    /// The rows of some more queries, in the order in which they were added; `needed` says how many
    /// bytes the evaluation of a partition takes.
    ///
    /// # Errors
    /// Where a query is too large, or a file can't be read.
    pub fn next(&mut self, needed: impl Fn(&Partition) -> u64) -> Result<Next> {
        if let Some(partitions) = self.partitions.take() {
            self.queue.fill(partitions);
        }
        let next = self.queue.next(&self.spill, needed, hash_ids, |query| query)?;
        self.last = if let Next::Whole(frame) = &next { frame[0].len() as u64 } else { 0 };
        self.taken += self.last;
        Ok(next)
    }

    /// Does the same work on partitions, several at once where they fit into memory together, each on
    /// some of the threads; nothing comes where one was split, and at the end.
    ///
    /// # Errors
    /// Where a query is too large, or a file can't be read.
    pub fn on_next<T: Send>(
        &mut self,
        needed: impl Fn(&Partition) -> u64,
        threads: usize,
        work: impl Fn(&Frame, usize) -> Result<T> + Sync,
    ) -> Result<Next<Vec<T>>> {
        if let Some(partitions) = self.partitions.take() {
            self.queue.fill(partitions);
        }
        let (mut taken, mut size) = (Vec::new(), 0);
        while taken.len() < threads.max(1) {
            let more = self.queue.peek(&needed);
            if !taken.is_empty() && more.is_none_or(|more| size + more > self.spill.room()) {
                break;
            }
            match self.queue.take(&self.spill, &needed, hash_ids, |query| query)? {
                Next::Whole(partition) => {
                    size += needed(&partition);
                    taken.push(partition);
                }
                Next::Split => return Ok(Next::Split),
                Next::End => return Ok(Next::End),
            }
        }
        self.last = taken.iter().map(Partition::rows).sum();
        self.taken += self.last;
        let each = (threads / taken.len().max(1)).max(1);
        let folder = &self.spill.folder;
        let done = threads::on_each(taken, |partition: Partition| {
            partition.load(folder).and_then(|frame| work(&frame, each))
        });
        done.into_iter().collect::<Result<_>>().map(Next::Whole)
    }
}
