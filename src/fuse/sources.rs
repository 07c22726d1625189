//! Where the lists of runs come from, some queries at a time.

use std::sync::{Mutex, PoisonError};

use super::chunk::{Chunk, Window};
use crate::error::{Error, Result};
use crate::memory::{Vec, vec};
use crate::policy::ScoreType;
use crate::rank::lists::Lists;
use crate::text::blocks::{Block, Blocks};
use crate::text::source::Input;
use crate::text::split::Tape;
use crate::text::trec::{self, RunNotes};
use crate::threads::on_threads;
use crate::watch::Watch;

/// Some lists of a run.
pub type Part<'a> = Box<dyn Lists + Send + 'a>;

/// A run that is read from its start.
pub trait Source: Send {
    /// The lists of the next queries, if any are left. A query whose rows are not together comes more
    /// than once.
    ///
    /// # Errors
    /// Where the source cannot be read, or is not a run.
    fn next(&mut self, threads: usize, watch: Watch<'_>) -> Result<Vec<Part<'_>>>;
}

/// A run in TREC format.
pub struct Text {
    blocks: Blocks,
    score_type: ScoreType,
    /// How many blocks to read at a time.
    at_once: usize,
    spare: Vec<Buffers>,
}

/// Working memory for one block at a time.
#[derive(Default)]
struct Buffers {
    block: Block,
    tape: Tape,
    notes: RunNotes,
}

/// About how many bytes a block takes, with the lists that are read from it.
const BLOCK: usize = 400 << 10;
/// How many blocks each thread reads at a time, if memory allows.
const BLOCKS_OF_THREAD: usize = 8;

impl Text {
    /// Starts to read an input, with about as many bytes of memory as there may be used.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn open(
        input: &Input,
        score_type: ScoreType,
        (memory, threads): (usize, usize),
        watch: Watch<'_>,
    ) -> Result<Self> {
        let blocks = Blocks::new(input.open(watch)?, watch)?;
        let at_once = (memory / BLOCK).clamp(1, BLOCKS_OF_THREAD * threads.max(1));
        Ok(Self::of_blocks(blocks, score_type, at_once))
    }

    /// Reads blocks, so many at a time.
    #[must_use]
    pub fn of_blocks(blocks: Blocks, score_type: ScoreType, at_once: usize) -> Self {
        Self { blocks, score_type, at_once, spare: vec![] }
    }
}

impl Source for Text {
    fn next(&mut self, threads: usize, watch: Watch<'_>) -> Result<Vec<Part<'_>>> {
        let at_once = self.blocks.count() + self.at_once as u64;
        let score_type = self.score_type;
        let shared = Mutex::new((&mut self.blocks, &mut self.spare));
        let work = |watch: Watch<'_>| {
            let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
            let mut buffers = lock().1.pop().unwrap_or_default();
            let mut read = vec![];
            loop {
                let is_there = {
                    let (blocks, _) = &mut *lock();
                    if blocks.count() >= at_once {
                        break;
                    }
                    blocks.next(&mut buffers.block, watch)?
                };
                if !is_there {
                    break;
                }
                read.push((buffers.block.number, buffers.read(score_type)?));
            }
            lock().1.push(buffers);
            Ok(read)
        };
        let mut read: Vec<(u64, Chunk)> = vec![];
        for outcome in on_threads(threads.min(self.at_once), watch, work) {
            let outcome: Result<Vec<(u64, Chunk)>> = outcome;
            read.extend(outcome?);
        }
        read.sort_unstable_by_key(|&(number, _)| number);
        Ok(read.into_iter().map(|(_, chunk)| Box::new(chunk) as Part<'_>).collect())
    }
}

impl Buffers {
    fn read(&mut self, score_type: ScoreType) -> Result<Chunk> {
        let Self { block, tape, notes } = self;
        let mut chunk = Chunk::default();
        trec::read_run(block.text(), block.number, tape, score_type, notes, |list| {
            list.rows.iter().for_each(|row| chunk.push(row.doc, row.score));
            chunk.end(list.query);
            Ok::<(), Error>(())
        })?;
        Ok(chunk)
    }
}

/// A run in memory.
pub struct Held<'a> {
    lists: &'a dyn Lists,
    next: usize,
}

/// How many queries of a run in memory are taken at a time.
const QUERIES_AT_ONCE: usize = 1 << 10;

impl<'a> Held<'a> {
    /// Starts with the first query.
    #[must_use]
    pub fn new(lists: &'a dyn Lists) -> Self {
        Self { lists, next: 0 }
    }
}

impl Source for Held<'_> {
    fn next(&mut self, _: usize, _: Watch<'_>) -> Result<Vec<Part<'_>>> {
        let range = self.next..self.lists.len().min(self.next + QUERIES_AT_ONCE);
        self.next = range.end;
        let window = Window { lists: self.lists, range };
        Ok(if window.is_empty() { vec![] } else { vec![Box::new(window) as Part<'_>] })
    }
}
