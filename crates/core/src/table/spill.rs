//! Rows of a table that is larger than memory, in partitions by the hash of their query.
//!
//! Each partition collects its rows in memory. Once all partitions together hold more than they may,
//! they write what they hold to files without names, which the system removes when the process ends,
//! however it ends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};
use crate::number::random::Random;
use crate::table::frame::{Column, Frame};

/// A block of rows in the file of a partition: how many bytes it has there, and how many unpacked.
#[derive(Clone, Copy, Debug)]
struct Block {
    rows: usize,
    bytes: usize,
    unpacked: usize,
}

/// So many rows of a partition are put into few bytes, for columns that grow take more than they hold.
const AT_ONCE: usize = 1 << 10;

/// The rows of some queries, in the order in which they came.
#[derive(Debug, Default)]
pub struct Partition {
    /// The last rows, and how many bytes their values take.
    held: Frame,
    held_size: usize,
    file: Option<File>,
    /// The first blocks, which are in the file.
    blocks: Vec<Block>,
    /// The rows of those between, and their bytes.
    kept: Vec<(usize, Vec<u8>)>,
    rows: u64,
    size: u64,
    /// The hash of a query in it.
    hash: Option<u64>,
    has_several: bool,
    level: u64,
}

impl Partition {
    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many bytes its evaluation takes, if that takes so many for a row besides its values.
    pub fn needed(&self, row: u64) -> u64 {
        // Texts are there twice: as they came, and each different one once.
        2 * self.size + row * self.rows
    }

    /// Whether the rows belong to more than one query.
    pub fn has_several(&self) -> bool {
        self.has_several
    }

    /// Gives all rows to `each`, block by block.
    fn read(&mut self, folder: &Path, mut each: impl FnMut(&Frame) -> Result<()>) -> Result<()> {
        let mut frame: Frame = self.held.iter().map(Column::empty).collect();
        self.read_blocks(folder, |rows, mut written| {
            frame.iter_mut().for_each(Column::clear);
            for column in &mut frame {
                column.read_from(rows, &mut written).ok_or_else(|| changed(folder))?;
            }
            each(&frame)
        })?;
        each(&self.held)
    }

    fn read_blocks(
        &mut self,
        folder: &Path,
        mut each: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        if let Some(file) = &mut self.file {
            let refuse = |error: io::Error| refuse_folder(folder, &error);
            file.seek(SeekFrom::Start(0)).map_err(refuse)?;
            let mut written = Vec::new();
            for block in &self.blocks {
                written.resize(block.bytes, 0);
                file.read_exact(&mut written).map_err(refuse)?;
                if block.bytes == block.unpacked {
                    each(block.rows, &written)?;
                } else {
                    let unpacked = zstd::bulk::decompress(&written, block.unpacked);
                    each(block.rows, &unpacked.map_err(|_| changed(folder))?)?;
                }
            }
        }
        self.kept.iter().try_for_each(|(rows, bytes)| each(*rows, bytes))
    }

    /// The first integer of the first column, as text.
    pub fn first_query(&mut self, folder: &Path) -> Result<String> {
        let mut found = None;
        self.blocks.truncate(1);
        self.kept.truncate(1);
        self.read(folder, |frame| {
            let first = frame.first().and_then(|column| column.ints().first());
            found = found.take().or(first.map(i64::to_string));
            Ok(())
        })?;
        Ok(found.unwrap_or_default())
    }

    /// All rows.
    pub fn load(mut self, folder: &Path) -> Result<Frame> {
        let mut all: Frame = self.held.iter().map(Column::empty).collect();
        let count = usize::try_from(self.rows).unwrap_or(0);
        for column in &mut all {
            column.reserve(count);
        }
        self.read_blocks(folder, |rows, mut written| {
            for column in &mut all {
                column.read_from(rows, &mut written).ok_or_else(|| changed(folder))?;
            }
            Ok(())
        })?;
        let rows: Vec<u32> = (0..).zip(0..self.held[0].len()).map(|(row, _)| row).collect();
        for (column, held) in all.iter_mut().zip(&self.held) {
            column.take(held, &rows);
        }
        Ok(all)
    }

    /// Puts the last rows into few bytes; gives how many these take, and how many they took.
    fn pack(&mut self, room: &mut Vec<u8>) -> (usize, usize) {
        let rows = self.held.first().map_or(0, Column::len);
        if rows == 0 {
            return (0, 0);
        }
        room.clear();
        self.held.iter().for_each(|column| column.write_to(room));
        let bytes = room.clone();
        if rows > 2 * AT_ONCE {
            // The memory goes back too, for partitions grow unevenly.
            self.held = self.held.iter().map(Column::empty).collect();
        } else {
            self.held.iter_mut().for_each(Column::clear);
        }
        let sizes = (bytes.len(), std::mem::take(&mut self.held_size));
        self.kept.push((rows, bytes));
        sizes
    }

    /// Writes what is in memory to the file; gives the number of bytes.
    fn write(&mut self, folder: &Path) -> io::Result<u64> {
        self.pack(&mut Vec::new());
        if self.kept.is_empty() {
            return Ok(0);
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(folder)?),
        };
        let mut written = 0;
        for (rows, bytes) in std::mem::take(&mut self.kept) {
            let packed = zstd::bulk::compress(&bytes, 1).ok();
            let packed = packed.filter(|packed| packed.len() < bytes.len());
            let stored = packed.as_deref().unwrap_or(&bytes);
            file.write_all(stored)?;
            written += stored.len() as u64;
            self.blocks.push(Block { rows, bytes: stored.len(), unpacked: bytes.len() });
        }
        Ok(written)
    }
}

/// All partitions of a table.
#[derive(Debug)]
pub struct Partitions {
    all: Vec<Partition>,
    folder: PathBuf,
    /// How many bytes of rows may be in memory.
    most_held: usize,
    held: usize,
    written: u64,
}

impl Partitions {
    /// So many partitions without rows, which write files into a folder once they hold more bytes
    /// than they may.
    pub fn new(count: usize, folder: &Path, most_held: usize) -> Self {
        Self::at_level(0, count, folder, most_held)
    }

    fn at_level(level: u64, count: usize, folder: &Path, most_held: usize) -> Self {
        let partition = || Partition { level, ..Partition::default() };
        Self {
            all: (0..count).map(|_| partition()).collect(),
            folder: folder.to_owned(),
            most_held,
            held: 0,
            written: 0,
        }
    }

    /// The partitions that a partition falls into.
    pub fn split(
        mut from: Partition,
        count: usize,
        folder: &Path,
        most_held: usize,
        hash: impl Fn(&Column, &mut Vec<u64>),
    ) -> Result<Self> {
        let mut made = Self::at_level(from.level + 1, count, folder, most_held);
        let mut hashes = Vec::new();
        from.read(folder, |frame| {
            hash(&frame[0], &mut hashes);
            made.push(frame, &hashes)
        })?;
        Ok(made)
    }

    /// Adds rows, whose queries have these hashes.
    #[allow(clippy::cast_possible_truncation)] // a batch has fewer rows
    pub fn push(&mut self, frame: &Frame, hashes: &[u64]) -> Result<()> {
        let count = self.all.len();
        let level = self.all[0].level;
        let place = |hash: u64| Random::from_place(hash, level).below(count);
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (row, &hash) in (0..).zip(hashes) {
            let at = place(hash);
            rows[at].push(row);
            let partition = &mut self.all[at];
            partition.has_several |= *partition.hash.get_or_insert(hash) != hash;
        }
        let mut room = Vec::new();
        for (partition, rows) in self.all.iter_mut().zip(&rows) {
            if partition.held.is_empty() {
                partition.held = frame.iter().map(Column::empty).collect();
            }
            let mut size = 0;
            for (own, column) in partition.held.iter_mut().zip(frame) {
                own.take(column, rows);
                size += column.size_of(rows);
            }
            partition.rows += rows.len() as u64;
            partition.size += size as u64;
            partition.held_size += size;
            self.held += size;
            if partition.held[0].len() >= AT_ONCE {
                let (bytes, before) = partition.pack(&mut room);
                self.held = self.held + bytes - before;
            }
        }
        if self.held > self.most_held { self.write() } else { Ok(()) }
    }

    /// Writes all rows that are in memory to files.
    fn write(&mut self) -> Result<()> {
        for partition in &mut self.all {
            let wrote = partition.write(&self.folder);
            self.written += wrote.map_err(|error| refuse_folder(&self.folder, &error))?;
        }
        self.held = 0;
        Ok(())
    }

    /// How many bytes were written to files.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The partitions that have rows, without memory for more of them.
    pub fn into_partitions(self) -> impl DoubleEndedIterator<Item = Partition> {
        let mut room = Vec::new();
        self.all.into_iter().filter(|partition| partition.rows > 0).map(move |mut partition| {
            partition.pack(&mut room);
            partition.held = partition.held.iter().map(Column::empty).collect();
            partition
        })
    }
}

fn changed(folder: &Path) -> Error {
    let message =
        format!("a temporary file in {} changed while it was in use", folder.to_string_lossy());
    Error::new(Kind::File, "spill_file", message).hint("check the disk, and evaluate again")
}

/// The error for a folder that can't hold temporary files.
pub fn refuse_folder(folder: &Path, error: &io::Error) -> Error {
    let shown = folder.to_string_lossy();
    match error.kind() {
        io::ErrorKind::OutOfMemory => Error::out_of_memory(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            let message = format!("the disk of {shown} is full, which holds what exceeds memory");
            Error::new(Kind::File, "disk_full", message).hint(
                "free some space, name a folder on another disk (spill_folder, --spill-folder), or \
                 raise the memory limit (memory, --memory)",
            )
        }
        _ => {
            let message = format!("can't use {shown} for temporary files: {error}");
            Error::new(Kind::File, "spill_file", message)
                .hint("name another folder: spill_folder, --spill-folder or TMPDIR")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(values: &[String]) -> Column {
        let mut column = Column::Texts { offsets: vec![0], bytes: Vec::new() };
        if let Column::Texts { offsets, bytes } = &mut column {
            for value in values {
                bytes.extend_from_slice(value.as_bytes());
                offsets.push(i64::try_from(bytes.len()).unwrap());
            }
        }
        column
    }

    /// The bits of all values, for NaN equals nothing.
    fn bits(frame: &Frame) -> Vec<(Vec<i64>, Vec<u64>, Vec<u8>)> {
        let each = |column: &Column| match column {
            Column::Ints(values) => (values.clone(), Vec::new(), Vec::new()),
            Column::Doubles(values) => {
                let bits = values.iter().map(|value| value.to_bits()).collect();
                (Vec::new(), bits, Vec::new())
            }
            Column::Texts { offsets, bytes } => (offsets.clone(), Vec::new(), bytes.clone()),
        };
        frame.iter().map(each).collect()
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            (0u8..5).prop_map(f64::from),
            (0u16..300).prop_map(f64::from),
            Just(-0.0),
            Just(f64::NAN),
            Just(0.1),
            Just(0.5),
            any::<f64>().prop_filter("one NaN is enough", |value| !value.is_nan()),
        ]
    }

    fn integer() -> impl Strategy<Value = i64> {
        prop_oneof![-5i64..5, any::<i64>(), (0i64..400).prop_map(|value| value << 20)]
    }

    proptest! {
        #[test]
        fn rows_come_back_in_order_from_memory_and_files(
            rows in prop::collection::vec((0i64..9, integer(), number(), "[a-c]{0,4}"), 1..80),
            batch in 1usize..30,
            count in 1usize..5,
            most_held in 0usize..3000,
        ) {
            let column = |rows: &[(i64, i64, f64, String)]| -> Frame {
                vec![
                    Column::Ints(rows.iter().map(|row| row.0).collect()),
                    Column::Ints(rows.iter().map(|row| row.1).collect()),
                    Column::Doubles(rows.iter().map(|row| row.2).collect()),
                    texts(&rows.iter().map(|row| row.3.clone()).collect::<Vec<_>>()),
                ]
            };
            let hash = |values: &[i64]| -> Vec<u64> {
                values.iter().map(|value| value.cast_unsigned()).collect()
            };
            let folder = std::env::temp_dir();
            let mut partitions = Partitions::new(count, &folder, most_held);
            for some in rows.chunks(batch) {
                let frame = column(some);
                partitions.push(&frame, &hash(frame[0].ints())).unwrap();
            }
            let mut seen = 0;
            for partition in partitions.into_partitions() {
                let parts = Partitions::split(partition, 3, &folder, most_held / 2, |first, out| {
                    *out = hash(first.ints());
                });
                for partition in parts.unwrap().into_partitions() {
                    let has_several = partition.has_several();
                    let frame = partition.load(&folder).unwrap();
                    let queries = frame[0].ints();
                    prop_assert_eq!(has_several, queries.iter().any(|&query| query != queries[0]));
                    let expected: Vec<_> =
                        rows.iter().filter(|row| queries.contains(&row.0)).cloned().collect();
                    prop_assert_eq!(bits(&frame), bits(&column(&expected)));
                    seen += expected.len();
                }
            }
            prop_assert_eq!(seen, rows.len());
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let mut partitions = Partitions::new(2, Path::new("/nowhere/at/all"), 0);
        let frame = vec![Column::Ints(vec![1])];
        let error = partitions.push(&frame, &[1]).unwrap_err();
        assert_eq!((error.kind(), error.code()), (Kind::File, "spill_file"));
    }

    #[test]
    fn a_full_disk_is_an_error_of_its_own() {
        let error = refuse_folder(Path::new("/tmp"), &io::ErrorKind::StorageFull.into());
        assert_eq!((error.kind(), error.code()), (Kind::File, "disk_full"));
    }
}
