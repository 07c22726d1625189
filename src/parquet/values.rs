//! Decodes flat columns of texts and numbers, plain or with a dictionary, in the usual compressions.
//!
//! Whatever else a page may be is refused, and another library reads the file.

use flate2::Crc;

use super::footer::Footer;
use super::pages::{DICTIONARY, Header, Page, UNCOUNTED, measure_header};
use super::schema::Physical;
use super::source::{Source, damaged, require};
use crate::error::{Error, Result};
use crate::ids::interner::Ids;
use crate::memory::{self, Vec, vec};
use crate::table::columns::check_text;
use crate::table::frame::Column;

const PLAIN: u32 = 1;
const SNAPPY: i32 = 1;
const ZSTD: i32 = 6;
/// So many values are decoded at once.
const AT_ONCE: usize = 1 << 12;
/// So many bytes of texts of one column may be in memory.
const MOST_TEXT: usize = 64 << 20;
/// So many bytes of a column are read at once.
const AHEAD: usize = 1 << 20;
/// So many bytes follow a page, for packed integers are read eight bytes at a time.
const BEYOND: usize = 8;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Identifiers: texts or integers.
    Ids,
    /// Identifiers, of which texts are numbered in the order in which they are found in pages.
    Numbered,
    /// Numbers.
    Scores,
    /// Numbers; NaN where there is none.
    Grades,
}

/// The error for what isn't decoded here.
#[must_use]
pub fn unknown() -> Error {
    damaged("a column has what only another library reads")
}

/// Integers in runs of one value, or packed into so many bits each.
#[derive(Clone, Copy, Debug, Default)]
struct Runs {
    at: usize,
    end: usize,
    width: usize,
    /// How many integers of the run are left, and their value; packed ones have none.
    left: usize,
    value: Option<u32>,
    /// The bit at which the next packed integer begins.
    bit: usize,
}

impl Runs {
    fn new(at: usize, end: usize, width: usize) -> Option<Self> {
        (width <= 32).then_some(Self { at, end, width, ..Self::default() })
    }

    /// Reads some integers, at most so many: how many, and their value if they are a run. Others are
    /// written to `out`.
    fn next(
        &mut self,
        page: &[u8],
        most: usize,
        out: &mut Vec<u32>,
    ) -> Option<(usize, Option<u32>)> {
        while self.left == 0 {
            self.begin(page)?;
        }
        let count = self.left.min(most);
        self.left -= count;
        if self.value.is_none() {
            let mask = u32::try_from((1_u64 << self.width) - 1).ok()?;
            out.resize(count, 0);
            for integer in out.iter_mut() {
                let word = page.get(self.bit / 8..)?.first_chunk()?;
                #[allow(clippy::cast_possible_truncation)] // the lower bits are meant
                let low = (u64::from_le_bytes(*word) >> (self.bit % 8)) as u32;
                *integer = low & mask;
                self.bit += self.width;
            }
        }
        Some((count, self.value))
    }

    fn begin(&mut self, page: &[u8]) -> Option<()> {
        let rest = page.get(..self.end)?;
        let mut head = 0_usize;
        for shift in (0..35).step_by(7) {
            let byte = *rest.get(self.at)?;
            self.at += 1;
            head |= usize::from(byte & 127) << shift;
            if byte < 128 {
                break;
            }
        }
        let length = if head & 1 == 0 {
            let bytes = rest.get(self.at..)?.get(..self.width.div_ceil(8))?;
            let mut value = [0; 4];
            value[..bytes.len()].copy_from_slice(bytes);
            self.value = Some(u32::from_le_bytes(value));
            self.left = head >> 1;
            bytes.len()
        } else {
            self.value = None;
            self.bit = 8 * self.at;
            self.left = (head >> 1).checked_mul(8)?;
            (head >> 1).checked_mul(self.width)?
        };
        self.at += length;
        (self.at <= self.end).then_some(())
    }
}

/// Where the values of a page are.
#[derive(Clone, Copy, Debug)]
enum Coded {
    Plain(usize),
    Codes(Runs),
}

/// Reads one column of all row groups, from the first row on.
#[derive(Debug)]
pub struct ColumnReader {
    leaf: usize,
    physical: Physical,
    is_optional: bool,
    allows_null: bool,
    /// The row group after this one, and where the next page of this one begins.
    group: usize,
    at: u64,
    /// How many values there are in further pages of the row group, and in this page.
    left: u64,
    left_in_page: usize,
    dictionary: Column,
    /// Texts that are numbered.
    known: Ids,
    page: Vec<u8>,
    end: usize,
    levels: Runs,
    coded: Coded,
    window: (u64, Vec<u8>),
    room: (Vec<u32>, Vec<u32>),
}

impl ColumnReader {
    /// A reader of the column of a name, and where its values go; nothing if it can't be read here.
    /// Integers are numbers or identifiers.
    #[must_use]
    pub fn open(footer: &Footer, name: &str, role: Role) -> Option<(Self, Column)> {
        let leaves = &footer.schema.leaves;
        let leaf = leaves.iter().position(|leaf| footer.schema.top(leaf) == name)?;
        let physical = leaves[leaf].physical;
        let are_ids = matches!(role, Role::Ids | Role::Numbered);
        let out = match physical {
            Physical::TEXT if role == Role::Numbered => Column::Ints(Vec::new()),
            Physical::TEXT if are_ids => Column::Texts { offsets: vec![0], bytes: Vec::new() },
            Physical::INT | Physical::LONG if are_ids => Column::Ints(Vec::new()),
            Physical::INT | Physical::LONG | Physical::FLOAT | Physical::DOUBLE if !are_ids => {
                Column::Doubles(Vec::new())
            }
            _ => return None,
        };
        let made = Self {
            leaf,
            physical,
            is_optional: leaves[leaf].optional?,
            allows_null: role == Role::Grades,
            group: 0,
            at: 0,
            left: 0,
            left_in_page: 0,
            dictionary: out.empty(),
            known: Ids::default(),
            page: Vec::new(),
            end: 0,
            levels: Runs::default(),
            coded: Coded::Plain(0),
            window: (0, Vec::new()),
            room: (Vec::new(), Vec::new()),
        };
        Some((made, out))
    }

    /// The texts that were numbered, in the order of their numbers.
    pub fn take_known(&mut self) -> Ids {
        std::mem::take(&mut self.known)
    }

    /// Appends the values of so many further rows; null becomes NaN.
    ///
    /// # Errors
    /// A page can't be read here.
    pub fn read(
        &mut self,
        footer: &Footer,
        source: &mut impl Source,
        mut rows: usize,
        out: &mut Column,
    ) -> Result<()> {
        while rows > 0 {
            while self.left_in_page == 0 {
                self.open_page(footer, source)?;
            }
            let most = rows.min(self.left_in_page).min(AT_ONCE);
            let count = self.read_some(most, out).ok_or_else(unknown)?;
            self.left_in_page -= count;
            rows -= count;
        }
        Ok(())
    }

    /// Appends at most so many values of the page; says how many.
    fn read_some(&mut self, most: usize, out: &mut Column) -> Option<usize> {
        if !self.is_optional {
            self.append(most, out)?;
            return Some(most);
        }
        let mut levels = std::mem::take(&mut self.room.0);
        let (count, level) = self.levels.next(&self.page, most, &mut levels)?;
        let mut add = |level, count| match (level, &mut *out) {
            (1, out) => self.append(count, out),
            (0, Column::Doubles(numbers)) if self.allows_null => {
                numbers.resize(numbers.len() + count, f64::NAN);
                Some(())
            }
            _ => None,
        };
        match level {
            Some(level) => add(level, count)?,
            None => levels.chunk_by(|a, b| a == b).try_for_each(|run| add(run[0], run.len()))?,
        }
        self.room.0 = levels;
        Some(count)
    }

    /// Appends so many values that are there.
    fn append(&mut self, mut count: usize, out: &mut Column) -> Option<()> {
        let page = &self.page[..];
        match &mut self.coded {
            Coded::Plain(at) => {
                let page = &page[..self.end];
                append_plain((self.physical, &mut self.known), page, at, count, out)
            }
            Coded::Codes(codes) => {
                while count > 0 {
                    let (read, code) = codes.next(page, count, &mut self.room.1)?;
                    match code {
                        Some(code) => {
                            append_coded(&self.dictionary, std::iter::repeat_n(code, read), out)?;
                        }
                        None => {
                            append_coded(&self.dictionary, self.room.1.iter().copied(), out)?;
                        }
                    }
                    count -= read;
                }
                Some(())
            }
        }
    }

    /// Reads the next page.
    fn open_page(&mut self, footer: &Footer, source: &mut impl Source) -> Result<()> {
        if self.left == 0 {
            let width = footer.schema.leaves.len();
            let chunk = footer.chunks.get(width * self.group + self.leaf).ok_or_else(unknown)?;
            (self.at, self.left) = (chunk.start, chunk.values);
            self.window = (chunk.start, Vec::new());
            self.group += 1;
            self.dictionary = self.dictionary.empty();
            return Ok(());
        }
        let chunk = &footer.chunks[footer.schema.leaves.len() * (self.group - 1) + self.leaf];
        let end = footer.start.min(chunk.start.saturating_add(chunk.stored + UNCOUNTED));
        self.fill(source, 1, end)?;
        if measure_header(self.ahead()).is_err() {
            // It may go on where the bytes end.
            self.fill(source, self.ahead().len() + 1, end)?;
        }
        let (header, length) = measure_header(self.ahead())?;
        require(header.unpacked <= chunk.unpacked, "a page is larger than its column")?;
        self.at += length;
        let stored = usize::try_from(header.stored).map_err(|_| unknown())?;
        self.fill(source, stored, end)?;
        let (start, window) = std::mem::take(&mut self.window);
        let skipped = usize::try_from(self.at - start).unwrap_or(usize::MAX);
        let bytes = window.get(skipped..).and_then(|rest| rest.get(..stored));
        self.at += header.stored;
        let is_read = header.page == Page::Index
            || bytes.is_some_and(|bytes| self.unpack(&header, chunk.codec, bytes).is_some());
        self.window = (start, window);
        let values = usize::try_from(header.values).ok().filter(|_| is_read);
        let opened = values.and_then(|values| match header.page {
            Page::Dictionary if header.encoding & !(PLAIN | DICTIONARY) == 0 => {
                let page = &self.page[..self.end];
                let kind = (self.physical, &mut self.known);
                append_plain(kind, page, &mut 0, values, &mut self.dictionary)
            }
            Page::Data => {
                self.left = self.left.checked_sub(header.values)?;
                self.left_in_page = values;
                self.open_values(&header)
            }
            Page::Index => Some(()),
            Page::Dictionary => None,
        });
        opened.ok_or_else(unknown)
    }

    /// The bytes that are read from the next page on.
    fn ahead(&self) -> &[u8] {
        let (start, bytes) = &self.window;
        let skipped = usize::try_from(self.at - start).unwrap_or(usize::MAX);
        bytes.get(skipped..).unwrap_or_default()
    }

    /// Reads at least so many bytes ahead, if the column has them.
    fn fill(&mut self, source: &mut impl Source, count: usize, end: u64) -> Result<()> {
        let have = self.ahead().len();
        if have < count {
            let (start, bytes) = &mut self.window;
            bytes.drain(..bytes.len() - have);
            *start = self.at;
            let next = self.at + have as u64;
            let room = usize::try_from(end.saturating_sub(next)).unwrap_or(usize::MAX);
            let more = (count - have).max(AHEAD).min(room);
            bytes.extend_from_slice(&source.read(next, more)?);
        }
        Ok(())
    }

    /// Decompresses a page.
    fn unpack(&mut self, header: &Header, codec: i32, bytes: &[u8]) -> Option<()> {
        if let Some(sum) = header.checksum {
            let mut crc = Crc::new();
            crc.update(bytes);
            (crc.sum() == sum).then_some(())?;
        }
        let (levels, is_packed) = header.apart.unwrap_or((0, true));
        let (levels, packed) = bytes.split_at_checked(usize::try_from(levels).ok()?)?;
        self.end = usize::try_from(header.unpacked).ok()?;
        if self.page.len() < self.end + BEYOND {
            self.page = memory::fill(0, self.end + BEYOND);
        }
        let (plain, rest) = self.page[..self.end].split_at_mut_checked(levels.len())?;
        plain.copy_from_slice(levels);
        let length = match codec {
            _ if packed.is_empty() => 0,
            _ if codec == 0 || !is_packed => {
                rest.get_mut(..packed.len())?.copy_from_slice(packed);
                packed.len()
            }
            SNAPPY => snap::raw::Decoder::new().decompress(packed, rest).ok()?,
            ZSTD => zstd::bulk::decompress_to_buffer(packed, rest).ok()?,
            _ => return None,
        };
        (length == rest.len()).then_some(())
    }

    /// Finds the levels and the values of a page.
    fn open_values(&mut self, header: &Header) -> Option<()> {
        let page = &self.page[..self.end];
        let mut at = 0;
        if let Some((levels, _)) = header.apart {
            at = usize::try_from(levels).ok()?;
            self.levels = Runs::new(0, at, 1)?;
        } else if self.is_optional {
            let length = u32::from_le_bytes(*page.first_chunk()?);
            at = 4_usize.checked_add(usize::try_from(length).ok()?)?;
            self.levels = Runs::new(4, at, 1)?;
        }
        self.coded = match header.encoding {
            PLAIN => Coded::Plain(at),
            DICTIONARY => Coded::Codes(Runs::new(at + 1, self.end, usize::from(*page.get(at)?))?),
            _ => return None,
        };
        Some(())
    }
}

/// Appends so many values as they stand in a page, from a place on; texts may be numbered.
fn append_plain(
    (physical, known): (Physical, &mut Ids),
    page: &[u8],
    at: &mut usize,
    count: usize,
    out: &mut Column,
) -> Option<()> {
    let rest = page.get(*at..)?;
    let numbers = rest.get(..count.checked_mul(physical.width(0).unwrap_or(0))?)?;
    *at += numbers.len();
    let (words, longs) = (numbers.as_chunks().0.iter(), numbers.as_chunks().0.iter());
    let (ints, longs) = (words.map(|&word| i32::from_le_bytes(word)), longs);
    match (out, physical) {
        (Column::Texts { offsets, bytes }, _) => {
            offsets.reserve(count.min(rest.len() / 4));
            *at += each_text(rest, count, |text| {
                bytes.extend_from_slice(text);
                offsets.push(bytes.len().cast_signed() as i64);
                Some(())
            })?;
            return (bytes.len() <= MOST_TEXT).then_some(());
        }
        (Column::Ints(values), Physical::TEXT) => {
            *at += each_text(rest, count, |text| {
                let before = known.texts().len();
                let number = known.number(text);
                if number == before {
                    check_text(text).ok()?;
                }
                values.push(i64::try_from(number).ok()?);
                Some(())
            })?;
        }
        (Column::Ints(values), Physical::INT) => values.extend(ints.map(i64::from)),
        (Column::Ints(values), _) => values.extend(longs.map(|&long| i64::from_le_bytes(long))),
        (Column::Doubles(values), Physical::INT) => values.extend(ints.map(f64::from)),
        (Column::Doubles(values), Physical::FLOAT) => {
            values.extend(ints.map(|int| f64::from(f32::from_bits(int.cast_unsigned()))));
        }
        (Column::Doubles(values), Physical::DOUBLE) => {
            values.extend(longs.map(|&long| f64::from_le_bytes(long)));
        }
        (Column::Doubles(values), _) => {
            values.reserve(count);
            for &long in longs {
                let integer = i64::from_le_bytes(long);
                // Integers that a double holds only nearly are a mistake.
                (integer.unsigned_abs() <= 1 << 53).then_some(())?;
                #[allow(clippy::cast_precision_loss)] // see above
                values.push(integer as f64);
            }
        }
    }
    Some(())
}

/// Gives so many texts to `each`, each of which stands after its length; says how many bytes that are.
fn each_text(
    mut rest: &[u8],
    count: usize,
    mut each: impl FnMut(&[u8]) -> Option<()>,
) -> Option<usize> {
    let before = rest.len();
    for _ in 0..count {
        let (length, after) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (text, after) = after.split_at_checked(length)?;
        each(text)?;
        rest = after;
    }
    Some(before - rest.len())
}

/// Appends values of a dictionary.
fn append_coded(
    dictionary: &Column,
    codes: impl Iterator<Item = u32> + Clone,
    out: &mut Column,
) -> Option<()> {
    match (dictionary, out) {
        (Column::Ints(known), Column::Ints(values)) => {
            for code in codes {
                values.push(*known.get(code as usize)?);
            }
        }
        (Column::Doubles(known), Column::Doubles(values)) => {
            for code in codes {
                values.push(*known.get(code as usize)?);
            }
        }
        (Column::Texts { offsets: known, bytes: texts }, Column::Texts { offsets, bytes }) => {
            let ends = |code: u32| known.get(code as usize..)?.first_chunk::<2>();
            let mut length = bytes.len().cast_signed() as i64;
            for code in codes.clone() {
                let [start, end] = ends(code)?;
                length += end - start;
                offsets.push(length);
            }
            let length = usize::try_from(length).ok().filter(|&length| length <= MOST_TEXT)?;
            bytes.reserve(length - bytes.len());
            for code in codes {
                let &[start, end] = ends(code)?;
                let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
                bytes.extend_from_slice(texts.get(range)?);
            }
        }
        _ => return None,
    }
    Some(())
}
