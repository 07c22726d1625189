//! Partitions of rows on their way through memory: one after another, and split where one is too large.

use std::path::PathBuf;

use crate::error::{Error, Kind, Result};
use crate::table::frame::{Column, Frame};
use crate::table::spill::{Partition, Partitions};

/// The share of the memory limit that rows may take before they are written to files.
const SHARE_HELD: u64 = 8;
/// The share of it that the evaluation of a partition may take.
const SHARE_EVALUATED: u64 = 2;
/// How many partitions there are at least, and at most.
const COUNT: std::ops::RangeInclusive<u64> = 64..=256;
/// As many as there are if nobody knows how many rows will come.
const USUAL_COUNT: usize = 64;

/// Where rows go that exceed memory, and how much of it there is.
#[derive(Clone, Debug)]
pub struct Spill {
    /// The folder for files.
    pub folder: PathBuf,
    /// How many bytes of memory the rows and their evaluation may take.
    pub memory: u64,
}

impl Spill {
    /// Partitions without rows.
    pub fn open(&self) -> Partitions {
        Partitions::new(USUAL_COUNT, &self.folder, self.most_held())
    }

    /// How many bytes of rows may be in memory before they are written.
    pub fn most_held(&self) -> usize {
        usize::try_from(self.memory / SHARE_HELD).unwrap_or(usize::MAX)
    }

    /// How many bytes of memory the evaluation of partitions may take.
    pub fn room(&self) -> u64 {
        self.memory / SHARE_EVALUATED
    }

    /// Into how many partitions to split what takes so many bytes, so that all of them fit even if
    /// some are half as large again as others.
    fn count(&self, needed: u64) -> usize {
        let most = self.room().max(1);
        let count = (needed.saturating_mul(3) / 2).div_ceil(most);
        usize::try_from(count.clamp(*COUNT.start(), *COUNT.end())).unwrap_or(USUAL_COUNT)
    }
}

/// Says how much memory there is, which takes a while to find out.
pub type FindRoom<'a> = Box<dyn Fn() -> Result<Spill> + Send + Sync + 'a>;

/// How much memory rows may take, which is looked up when it first matters.
pub struct Room<'a> {
    find: FindRoom<'a>,
    /// How many bytes of rows need no look.
    unasked: usize,
    found: Option<Spill>,
}

impl<'a> Room<'a> {
    /// Room that is looked up once rows take more than so many bytes.
    pub fn new(unasked: usize, find: FindRoom<'a>) -> Self {
        Self { find, unasked, found: None }
    }

    /// Room for all rows.
    pub fn unlimited() -> Self {
        Self::new(usize::MAX, Box::new(|| Err(Error::out_of_memory())))
    }

    /// Where rows go that take so many bytes in memory, if that is too much.
    pub fn spill(&mut self, size: usize) -> Result<Option<&Spill>> {
        if size <= self.unasked {
            return Ok(None);
        }
        let found = match self.found.take() {
            Some(found) => found,
            None => (self.find)()?,
        };
        self.unasked = found.most_held();
        let found = self.found.insert(found);
        Ok(Some(&*found).filter(|_| size > self.unasked))
    }
}

/// The partitions that are still to be evaluated.
#[derive(Debug, Default)]
pub struct Queue {
    /// The next one comes last.
    left: Vec<Partition>,
    written: u64,
}

/// What comes next.
#[derive(Debug)]
pub enum Next {
    /// All rows of some queries.
    Whole(Frame),
    /// A partition that was too large was split.
    Split,
    /// Nothing.
    End,
}

impl Queue {
    /// Adds partitions before those that are there.
    pub fn fill(&mut self, partitions: Partitions) {
        self.written += partitions.written();
        self.left.extend(partitions.into_partitions().rev());
    }

    /// How many bytes these partitions wrote to files.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Loads the next partition, or splits it if its evaluation, which takes as many bytes as
    /// `needed` says, is too large; `hash` hashes queries, and `name` gives the name of one that is
    /// shown by its text or integer.
    pub fn next(
        &mut self,
        spill: &Spill,
        needed: impl Fn(&Partition) -> u64,
        hash: impl Fn(&Column, &mut Vec<u64>),
        name: impl Fn(String) -> String,
    ) -> Result<Next> {
        let Some(mut partition) = self.left.pop() else { return Ok(Next::End) };
        let needed = needed(&partition);
        if needed > spill.room() && partition.has_several() {
            let (folder, most_held) = (&spill.folder, spill.most_held());
            self.fill(Partitions::split(partition, spill.count(needed), folder, most_held, hash)?);
            return Ok(Next::Split);
        }
        if needed > spill.memory {
            let rows = partition.rows();
            let query = name(partition.first_query(&spill.folder)?);
            return Err(too_large(&query, rows, needed, spill.memory));
        }
        Ok(Next::Whole(partition.load(&spill.folder)?))
    }
}

fn too_large(query: &str, rows: u64, needed: u64, limit: u64) -> Error {
    let message = format!(
        "query `{query}` has {rows} rows, which take about {} of memory, but the limit is {}",
        show_bytes(needed),
        show_bytes(limit)
    );
    let hint = format!("raise it: memory=\"{}\"", show_bytes(needed).replace(' ', ""));
    Error::new(Kind::Memory, "query_memory", message).hint(hint)
}

/// So many bytes as a person writes them.
#[allow(clippy::cast_precision_loss)] // for people
fn show_bytes(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|&(size, _)| bytes >= size);
    unit.map_or_else(
        || format!("{bytes} B"),
        |(size, name)| format!("{:.1} {name}", (bytes as f64 / size as f64 * 10.0).ceil() / 10.0),
    )
}
