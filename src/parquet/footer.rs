//! The metadata at the end of a Parquet file, checked and copied.

use super::compact::{Keep, Kind, Reader};
use super::schema::{Leaf, Physical, Schema};
use super::source::{Source, count, damaged, require};
use crate::error::{self, Error, Result};
use crate::memory::{self, Vec};

const MAGIC: &[u8; 4] = b"PAR1";
const MAGIC_ENCRYPTED: &[u8; 4] = b"PARE";
/// The length of the metadata, and the magic bytes after it.
const TAIL: u32 = 8;
/// How long a text is usually, with its place.
const TEXT_WIDTH: u64 = 24;
/// The bytes of a number.
const WIDTH: u64 = 8;

/// The values of one column in one row group.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// Where its first page is.
    pub start: u64,
    /// How many bytes its pages have.
    pub stored: u64,
    /// How many values it has, with nulls and empty lists.
    pub values: u64,
    /// How many bytes its pages have before compression.
    pub unpacked: u64,
    /// The number of the compression.
    pub codec: i32,
    /// A bit for each encoding that it says its pages have.
    pub encodings: u32,
}

/// What the metadata of a file says.
#[derive(Clone, Debug)]
pub struct Footer {
    /// The columns.
    pub schema: Schema,
    /// How many rows there are.
    pub rows: u64,
    /// The rows of each row group.
    pub groups: Vec<u64>,
    /// The chunks: those of all columns of the first row group, then of the second.
    pub chunks: Vec<Chunk>,
    /// The bytes that row groups say they have before compression.
    pub unpacked: u64,
    /// Where the metadata begins, and the pages end.
    pub start: u64,
    /// What was checked, as an empty file that another library can read.
    pub copy: Vec<u8>,
}

impl Footer {
    /// Reads the metadata of a file of some size.
    ///
    /// # Errors
    /// The file is damaged, encrypted or no Parquet file, or can't be read.
    pub fn read(source: &mut impl Source, size: u64) -> Result<Self> {
        let no_parquet = "its end has no magic bytes: it is cut off, or another kind of file";
        require(size > u64::from(TAIL) + MAGIC.len() as u64, no_parquet)?;
        let tail = source.read(size - u64::from(TAIL), TAIL as usize)?;
        require(tail.len() == TAIL as usize, no_parquet)?;
        if &tail[4..] == MAGIC_ENCRYPTED {
            return Err(encrypted());
        }
        require(&tail[4..] == MAGIC, no_parquet)?;
        let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
        let room = size - u64::from(TAIL) - MAGIC.len() as u64;
        require(length <= room, "its metadata is longer than the file")?;
        let start = size - u64::from(TAIL) - length;
        let length = usize::try_from(length).map_err(|_| damaged("its metadata is too long"))?;
        let bytes = source.read(start, length)?;
        require(bytes.len() == length, "its metadata is cut off")?;
        Self::parse(&bytes, start)
    }

    /// Reads metadata that begins at an offset of its file.
    ///
    /// # Errors
    /// It is damaged, or says that the file is encrypted.
    pub fn parse(bytes: &[u8], start: u64) -> Result<Self> {
        let mut schema = None;
        let mut rows = None;
        let mut version = None;
        let mut are_there = false;
        let (mut groups, mut chunks, mut unpacked) = (Vec::new(), Vec::new(), 0_u64);
        let mut out = memory::copy(MAGIC);
        let mut reader = Reader::new(bytes);
        reader.copy(&mut out, |reader, out, field| {
            match field.id {
                1 => version = Some(reader.int(field.kind)?),
                2 => schema = Some(Schema::read(reader, field.kind)?),
                3 => rows = Some(count(reader.long(field.kind)?, "it has fewer than no rows")?),
                4 => {
                    let schema = schema.as_ref().ok_or_else(|| damaged("it has no schema"))?;
                    are_there = true;
                    reader.copy_list(field.kind, out, |reader, out, _| {
                        let group = read_group(reader, out, schema, start, &mut chunks)?;
                        unpacked = unpacked.saturating_add(group.1);
                        groups.push(group.0);
                        Ok(())
                    })?;
                    return Ok(Keep::Written);
                }
                5 => read_pairs(reader, field.kind)?,
                6 => drop(reader.text(field.kind)?),
                7 => {
                    let count = reader.list(field.kind, Kind::Struct)?;
                    let columns = schema.as_ref().map_or(0, |schema| schema.leaves.len());
                    require(count == columns, "it orders more or fewer columns than it has")?;
                    (0..count).try_for_each(|_| reader.skip(Kind::Struct))?;
                }
                8 | 9 => return Err(encrypted()),
                _ => {
                    reader.skip(field.kind)?;
                    return Ok(Keep::Dropped);
                }
            }
            Ok(Keep::Copied)
        })?;
        let schema = schema.ok_or_else(|| damaged("it has no schema"))?;
        let rows = rows.ok_or_else(|| damaged("it has no number of rows"))?;
        require(version.is_some() && are_there, "a field of its metadata is missing")?;
        let sum = groups.iter().try_fold(0_u64, |sum, &rows| sum.checked_add(rows));
        require(sum == Some(rows), "its row groups have more or fewer rows than it says")?;
        let length = u32::try_from(out.len() - MAGIC.len());
        let length = length.map_err(|_| damaged("its metadata is too long"))?;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(MAGIC);
        Ok(Self { schema, rows, groups, chunks, unpacked, start, copy: out })
    }

    /// The numbers of the columns that are parts of the named ones.
    pub fn parts_of<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = usize> + 'a {
        let leaves = self.schema.leaves.iter().enumerate();
        let is_wanted = |top: &str| names.iter().any(|name| name == top);
        leaves.filter(move |(_, leaf)| is_wanted(self.schema.top(leaf))).map(|(at, _)| at)
    }

    /// The chunks of a column, each with the rows of its row group.
    pub fn chunks_of(&self, leaf: usize) -> impl Iterator<Item = (&Chunk, u64)> {
        let all = self.chunks.chunks(self.schema.leaves.len().max(1));
        all.zip(&self.groups).filter_map(move |(chunks, &rows)| Some((chunks.get(leaf)?, rows)))
    }

    /// How many values the largest of some columns has, and about how many bytes all have in memory.
    #[must_use]
    pub fn estimate(&self, leaves: &[usize]) -> (u64, u64) {
        let (mut most, mut bytes) = (0, 0_u64);
        for &leaf in leaves {
            let is_text = self.schema.leaves[leaf].physical == Physical::TEXT;
            let mut values = 0_u64;
            for (chunk, _) in self.chunks_of(leaf) {
                values = values.saturating_add(chunk.values);
                let least = chunk.values.saturating_mul(if is_text { TEXT_WIDTH } else { WIDTH });
                bytes =
                    bytes.saturating_add(if is_text { least.max(chunk.unpacked) } else { least });
            }
            most = most.max(values);
        }
        (most, bytes)
    }
}

fn encrypted() -> Error {
    let message = "expected a Parquet file that anyone can read, found an encrypted one";
    Error::new(error::Kind::Format, "parquet_encrypted", message)
        .hint("decrypt it first: read it with its keys, and write it again without encryption")
}

/// Reads a row group: its rows, and its bytes before compression.
fn read_group(
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
    schema: &Schema,
    end: u64,
    chunks: &mut Vec<Chunk>,
) -> Result<(u64, u64)> {
    let (mut rows, mut unpacked) = (None, None);
    let first = chunks.len();
    let mut is_there = false;
    reader.copy(out, |reader, out, field| {
        match field.id {
            1 => {
                is_there = true;
                let found = reader.copy_list(field.kind, out, |reader, out, number| {
                    let leaf = schema.leaves.get(number);
                    let leaf = leaf.ok_or_else(|| damaged(COLUMNS))?;
                    chunks.push(read_chunk(reader, out, schema, leaf, end)?);
                    Ok(())
                })?;
                require(found == schema.leaves.len(), COLUMNS)?;
                return Ok(Keep::Written);
            }
            2 => unpacked = Some(count(reader.long(field.kind)?, "a row group has no size")?),
            3 => rows = Some(count(reader.long(field.kind)?, "a row group has no rows")?),
            _ => {
                reader.skip(field.kind)?;
                return Ok(Keep::Dropped);
            }
        }
        Ok(Keep::Copied)
    })?;
    let missing = || damaged("a field of a row group is missing");
    let rows = rows.ok_or_else(missing)?;
    require(is_there, COLUMNS)?;
    for (leaf, chunk) in schema.leaves.iter().zip(&chunks[first..]) {
        let is_same = chunk.values == rows || (leaf.is_repeated && chunk.values > rows);
        require(is_same, "a column has more or fewer values than its row group has rows")?;
    }
    Ok((rows, unpacked.ok_or_else(missing)?))
}

const COLUMNS: &str = "a row group has more or fewer columns than the schema";

/// Reads the metadata of a column in a row group, which are in a struct of their own.
fn read_chunk(
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
    schema: &Schema,
    leaf: &Leaf,
    end: u64,
) -> Result<Chunk> {
    let mut found = None;
    reader.copy(out, |reader, out, field| match field.id {
        1 => Err(damaged("its rows are in other files: read those instead")),
        2 => reader.long(field.kind).map(|_| Keep::Copied),
        3 => {
            require(field.kind == Kind::Struct, "a column has no metadata")?;
            found = Some(read_metadata(reader, out, schema, leaf)?);
            Ok(Keep::Written)
        }
        8 | 9 => Err(encrypted()),
        _ => reader.skip(field.kind).map(|()| Keep::Dropped),
    })?;
    let chunk = found.ok_or_else(|| damaged("a column has no metadata"))?;
    let is_inside = chunk.start.checked_add(chunk.stored).is_some_and(|last| last <= end)
        && chunk.start >= MAGIC.len() as u64;
    require(is_inside || chunk.values == 0, "a column is outside the file")?;
    Ok(chunk)
}

fn read_metadata(
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
    schema: &Schema,
    leaf: &Leaf,
) -> Result<Chunk> {
    let mut physical = None;
    let mut encodings = None;
    let mut codec = None;
    let mut numbers: [Option<i64>; 12] = [None; 12];
    reader.copy(out, |reader, _, field| {
        match field.id {
            1 => physical = Some(Physical::of(reader.int(field.kind)?)?),
            2 => encodings = Some(read_encodings(reader, field.kind)?),
            3 => {
                let count = reader.list(field.kind, Kind::Binary)?;
                let mut path = Vec::with_capacity(count);
                for _ in 0..count {
                    path.push(reader.binary(Kind::Binary)?);
                }
                require(schema.is_at(leaf, &path), "a column is not the one of the schema")?;
            }
            4 => codec = Some(reader.int(field.kind)?),
            5..=7 | 9 | 11 => {
                numbers[usize::from(field.id.unsigned_abs())] = Some(reader.long(field.kind)?);
            }
            12 => {
                require(field.kind == Kind::Struct, "statistics are of another type")?;
                read_statistics(reader, leaf)?;
            }
            _ => {
                reader.skip(field.kind)?;
                return Ok(Keep::Dropped);
            }
        }
        Ok(Keep::Copied)
    })?;
    require(physical == Some(leaf.physical), "a column is of another type than in the schema")?;
    let known = codec.filter(|codec| (0..=7).contains(codec));
    let number = |at: usize| {
        let value = numbers[at].ok_or_else(|| damaged("a field of a column is missing"))?;
        count(value, "a column has a negative size or offset")
    };
    // Some writers say 0 where there is no dictionary.
    let pages = number(9)?;
    let dictionary = if numbers[11].is_some() { number(11)? } else { 0 };
    Ok(Chunk {
        start: if dictionary > 0 && dictionary < pages { dictionary } else { pages },
        stored: number(7)?,
        values: number(5)?,
        unpacked: number(6)?,
        codec: known.ok_or_else(|| damaged("a column has an unknown compression"))?,
        encodings: encodings.ok_or_else(|| damaged("a column has no encodings"))?,
    })
}

fn read_encodings(reader: &mut Reader<'_>, kind: Kind) -> Result<u32> {
    let mut found = 0;
    for _ in 0..reader.list(kind, Kind::Int)? {
        found |= encoding(reader.int(Kind::Int)?)?;
    }
    Ok(found)
}

/// The bit of an encoding. Both numbers of dictionaries have the same.
pub(crate) fn encoding(number: i32) -> Result<u32> {
    let number = if number == 8 { 2 } else { number };
    let bit = u32::try_from(number).ok().and_then(|number| 1_u32.checked_shl(number));
    bit.filter(|_| number != 1).ok_or_else(|| damaged("a column has an unknown encoding"))
}

/// Reads statistics, whose smallest and largest values have to be values of the column.
fn read_statistics(reader: &mut Reader<'_>, leaf: &Leaf) -> Result<()> {
    let width = leaf.physical.width(leaf.length);
    reader.walk(|reader, field| match field.id {
        1 | 2 | 5 | 6 => {
            let length = reader.binary(field.kind)?.len();
            let is_value = width.is_none_or(|width| length == 0 || length == width);
            require(is_value, "statistics are no values of their column")
        }
        3 | 4 => count(reader.long(field.kind)?, "statistics count fewer than no values").map(drop),
        7 | 8 => reader.flag(field.kind).map(drop),
        _ => reader.skip(field.kind),
    })
}

/// Reads what writers add: keys and values.
fn read_pairs(reader: &mut Reader<'_>, kind: Kind) -> Result<()> {
    for _ in 0..reader.list(kind, Kind::Struct)? {
        reader.walk(|reader, field| match field.id {
            1 | 2 => reader.binary(field.kind).map(drop),
            _ => reader.skip(field.kind),
        })?;
    }
    Ok(())
}
