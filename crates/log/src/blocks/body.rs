//! The bytes in which a store keeps a block.
//!
//! A body begins with a byte for its version, a byte for what it holds, and a CRC32 of all its other bytes.
//! Then comes the number of rows, and then the columns, one after another. Counts and sizes are varints:
//! seven bits in each byte, the lowest first, and the highest bit set in all bytes but the last.
//!
//! - **Integers**: a byte 0 and the integer, where all rows have the same; otherwise a byte 1 and a piece
//!   with how far each is from the one before. Such an integer or difference is a varint whose lowest bit
//!   is its sign.
//! - **Sizes** (of texts and of lists): a byte 0 and the size, where all are the same; otherwise a byte 1
//!   and a piece of varints.
//! - **Texts**: their sizes, and a piece with the texts in UTF-8, end to end.
//! - **Ranks**: a byte 0 where each list has the ranks 1, 2, 3, …; otherwise they are integers.
//! - **Numbers**: a byte 0 where all are NaN; otherwise a byte 4 or 8 for their width, and as many pieces:
//!   the first byte (little-endian) of each number, then the second of each, and so on.
//!
//! A piece whose size does not follow from what came before begins with its size. Then every piece that is
//! not empty has the size to which zstd compressed it, or 0 where that would not be smaller, and its bytes.

use std::cell::RefCell;

use flate2::Crc;
use zstd::bulk::{Compressor, Decompressor};

use super::texts::{Texts, count, place};

/// The version of bodies that are written.
pub const VERSION: u8 = 1;
/// A block of rankings.
pub const RANKINGS: u8 = 1;
/// A block of labels.
pub const LABELS: u8 = 2;

/// Where the checksum is.
const CHECKSUM: std::ops::Range<usize> = 2..6;
/// The most bytes of a column.
const MOST: usize = 1 << 30;
/// The most that one byte of zstd stands for: a block has 4 bytes at least, and 128 KiB at most.
const MOST_PACKED: usize = 1 << 15;
/// Smaller pieces are never compressed: the head of zstd is as large as what it saves.
const LEAST: usize = 32;
const LEVEL: i32 = 1;

const ALIKE: u8 = 0;
const EACH: u8 = 1;
const NONE: u8 = 0;
const SHORT: u8 = 4;
const LONG: u8 = 8;

/// Why bytes are not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// They are not what was written.
    Damaged,
    /// They are of this version.
    Version(u8),
}

thread_local! {
    // Making one takes longer than compressing a small block.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses bytes into room for them; none where it does not suffice.
fn compress(bytes: &[u8], room: &mut [u8]) -> Option<usize> {
    COMPRESSOR.with_borrow_mut(|kept| {
        if kept.is_none() {
            *kept = Compressor::new(LEVEL).ok();
        }
        kept.as_mut()?.compress_to_buffer(bytes, room).ok()
    })
}

/// Fills room with what was compressed; none where that is not what it holds.
fn decompress(packed: &[u8], room: &mut [u8]) -> Option<()> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        if kept.is_none() {
            *kept = Decompressor::new().ok();
        }
        let size = kept.as_mut()?.decompress_to_buffer(packed, room).ok()?;
        (size == room.len()).then_some(())
    })
}

#[allow(clippy::cast_possible_truncation)] // seven bits at a time
fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read_varint(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *from.split_off_first()?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// A varint whose lowest bit is the sign.
fn fold(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

fn unfold(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Writes a body.
#[derive(Debug)]
pub struct Writer {
    body: Vec<u8>,
    piece: Vec<u8>,
    room: Vec<u8>,
}

impl Writer {
    /// Begins the body of a kind of block with so many rows.
    pub fn new(kind: u8, rows: usize) -> Self {
        let body = vec![VERSION, kind, 0, 0, 0, 0];
        let mut writer = Self { body, piece: Vec::new(), room: Vec::new() };
        writer.count(rows);
        writer
    }

    /// Writes a count.
    pub fn count(&mut self, count: usize) {
        write_varint(count as u64, &mut self.body);
    }

    /// Writes integers.
    pub fn integers(&mut self, integers: &[i64]) -> Option<()> {
        let first = integers.first().copied().unwrap_or(0);
        if integers.iter().all(|&integer| integer == first) {
            fits(integers.len(), 8)?;
            self.body.push(ALIKE);
            write_varint(fold(first), &mut self.body);
            return Some(());
        }
        self.body.push(EACH);
        self.piece.clear();
        let mut before = 0i64;
        for &integer in integers {
            write_varint(fold(integer.wrapping_sub(before)), &mut self.piece);
            before = integer;
        }
        self.end_piece()
    }

    /// Writes the sizes of what lies between offsets.
    pub fn sizes(&mut self, offsets: &[i64]) -> Option<()> {
        let sizes = offsets.windows(2).map(|ends| (ends[1] - ends[0]).cast_unsigned());
        let first = sizes.clone().next().unwrap_or(0);
        fits(offsets.len() - 1, 8)?;
        if sizes.clone().all(|size| size == first) {
            self.body.push(ALIKE);
            write_varint(first, &mut self.body);
            return Some(());
        }
        self.body.push(EACH);
        self.piece.clear();
        for size in sizes {
            write_varint(size, &mut self.piece);
        }
        self.end_piece()
    }

    /// Writes texts.
    pub fn texts(&mut self, texts: &Texts) -> Option<()> {
        self.sizes(&texts.offsets)?;
        pack(&texts.bytes, &mut self.room, &mut self.body)
    }

    /// Writes the ranks of lists.
    pub fn ranks(&mut self, ranks: &[i64], offsets: &[i64]) -> Option<()> {
        let counts = (0..offsets.len() - 1).flat_map(|row| 1..=count(place(offsets, row).len()));
        if ranks.iter().copied().eq(counts) {
            self.body.push(NONE);
            return Some(());
        }
        self.body.push(EACH);
        self.integers(ranks)
    }

    /// Writes numbers.
    pub fn numbers(&mut self, numbers: &[f64]) -> Option<()> {
        if numbers.iter().all(|number| number.is_nan()) {
            fits(numbers.len(), 8)?;
            self.body.push(NONE);
            return Some(());
        }
        #[allow(clippy::cast_possible_truncation)] // it is asked whether something is lost
        let shorten = |number: f64| number as f32;
        let is_short = |number: f64| {
            f64::from(shorten(number)).to_bits() == number.to_bits() || number.is_nan()
        };
        if numbers.iter().all(|&number| is_short(number)) {
            self.body.push(SHORT);
            self.planes(&numbers.iter().map(|&number| shorten(number).to_le_bytes()))
        } else {
            self.body.push(LONG);
            self.planes(&numbers.iter().map(|number| number.to_le_bytes()))
        }
    }

    fn planes<const N: usize>(
        &mut self,
        numbers: &(impl ExactSizeIterator<Item = [u8; N]> + Clone),
    ) -> Option<()> {
        fits(numbers.len(), 8)?;
        for place in 0..N {
            self.piece.clear();
            self.piece.extend(numbers.clone().map(|bytes| bytes[place]));
            pack(&self.piece, &mut self.room, &mut self.body)?;
        }
        Some(())
    }

    fn end_piece(&mut self) -> Option<()> {
        write_varint(self.piece.len() as u64, &mut self.body);
        pack(&self.piece, &mut self.room, &mut self.body)
    }

    /// Ends the body.
    pub fn finish(mut self) -> Vec<u8> {
        mend(&mut self.body);
        self.body
    }
}

/// Whether so many values of some bytes are not too many for a column.
fn fits(values: usize, width: usize) -> Option<()> {
    (values <= MOST / width).then_some(())
}

/// Writes a piece, compressed where that is smaller.
fn pack(piece: &[u8], room: &mut Vec<u8>, body: &mut Vec<u8>) -> Option<()> {
    fits(piece.len(), 1)?;
    if piece.is_empty() {
        return Some(());
    }
    let mut size = None;
    if piece.len() >= LEAST {
        if room.len() < piece.len() {
            room.resize(piece.len(), 0);
        }
        size = compress(piece, &mut room[..piece.len() - 1]);
    }
    write_varint(size.unwrap_or(0) as u64, body);
    body.extend_from_slice(size.map_or(piece, |size| &room[..size]));
    Some(())
}

/// Writes the checksum of what is there.
pub(super) fn mend(body: &mut [u8]) {
    let checksum = checksum(body).to_le_bytes();
    body[CHECKSUM].copy_from_slice(&checksum);
}

fn checksum(body: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(&body[..CHECKSUM.start]);
    crc.update(&body[CHECKSUM.end..]);
    crc.sum()
}

/// Reads a body.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    /// The most rows, or items, of a body of this size. Those of a block differ in their numbers or
    /// ids, so each is in a piece, of which a byte stands for no more than this; what a body says
    /// beyond takes no memory.
    most: usize,
}

impl<'a> Reader<'a> {
    /// Checks a body, and returns how many rows it has.
    pub fn open(body: &'a [u8], kind: u8) -> Result<(Self, usize), Fault> {
        let rest = body.get(CHECKSUM.end..).ok_or(Fault::Damaged)?;
        if body[CHECKSUM] != checksum(body).to_le_bytes() {
            return Err(Fault::Damaged);
        }
        if body[0] != VERSION {
            return Err(Fault::Version(body[0]));
        }
        let mut reader = Self { rest, most: rest.len().saturating_mul(MOST_PACKED) };
        let rows = reader.count().filter(|_| body[1] == kind).ok_or(Fault::Damaged)?;
        Ok((reader, rows))
    }

    /// Whether nothing is left.
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads a count of rows.
    pub fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(read_varint(&mut self.rest)?).ok()?;
        fits(count, 8)?;
        (count <= self.most).then_some(count)
    }

    /// Reads so many integers.
    pub fn integers(&mut self, rows: usize) -> Option<Vec<i64>> {
        if self.byte()? == ALIKE {
            return Some(vec![unfold(read_varint(&mut self.rest)?); rows]);
        }
        let mut value = 0i64;
        self.varints(rows, |difference| {
            value = value.wrapping_add(unfold(difference));
            Some(value)
        })
    }

    /// Reads sizes, as the offsets of what has these.
    pub fn sizes(&mut self, rows: usize) -> Option<Vec<i64>> {
        let mut end = 0;
        let most = self.most.min(MOST);
        let mut add = |size: u64| {
            end += usize::try_from(size).ok().filter(|&size| size <= most)?;
            (end <= most).then(|| count(end))
        };
        let mut offsets = if self.byte()? == ALIKE {
            let size = read_varint(&mut self.rest)?;
            let mut offsets = Vec::with_capacity(rows + 1);
            for _ in 0..rows {
                offsets.push(add(size)?);
            }
            offsets
        } else {
            self.varints(rows, add)?
        };
        offsets.push(0);
        offsets.rotate_right(1);
        Some(offsets)
    }

    /// Reads texts.
    pub fn texts(&mut self, rows: usize) -> Option<Texts> {
        let offsets = self.sizes(rows)?;
        let size = usize::try_from(*offsets.last()?).ok()?;
        let bytes = self.unpack(size)?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let is_whole =
            |&end: &i64| usize::try_from(end).is_ok_and(|end| text.is_char_boundary(end));
        (text.is_ascii() || offsets.iter().all(is_whole)).then_some(())?;
        Some(Texts { offsets, bytes })
    }

    /// Repeats texts; none where they are more than a column has.
    pub fn repeat(&self, texts: &Texts, rows: &[usize]) -> Option<Texts> {
        fits(rows.iter().map(|&row| texts.place(row).len()).sum(), 1)?;
        Some(texts.take(rows))
    }

    /// Reads the ranks of lists.
    pub fn ranks(&mut self, offsets: &[i64]) -> Option<Vec<i64>> {
        let items = usize::try_from(*offsets.last()?).ok()?;
        if self.byte()? != NONE {
            return self.integers(items);
        }
        fits(items, 8)?;
        let mut ranks = Vec::with_capacity(items);
        for row in 0..offsets.len() - 1 {
            ranks.extend((1..).take(place(offsets, row).len()));
        }
        Some(ranks)
    }

    /// Reads numbers.
    pub fn numbers(&mut self, rows: usize) -> Option<Vec<f64>> {
        fits(rows, 8)?;
        match self.byte()? {
            NONE => Some(vec![f64::NAN; rows]),
            SHORT => self.planes(rows, |bytes| f32::from_le_bytes(bytes).into()),
            LONG => self.planes(rows, f64::from_le_bytes),
            _ => None,
        }
    }

    fn planes<const N: usize>(
        &mut self,
        rows: usize,
        number: impl Fn([u8; N]) -> f64,
    ) -> Option<Vec<f64>> {
        let mut bytes = vec![[0; N]; rows];
        for place in 0..N {
            for (bytes, byte) in bytes.iter_mut().zip(self.unpack(rows)?) {
                bytes[place] = byte;
            }
        }
        Some(bytes.into_iter().map(number).collect())
    }

    fn byte(&mut self) -> Option<u8> {
        self.rest.split_off_first().copied()
    }

    /// Reads a piece of so many varints.
    fn varints(
        &mut self,
        rows: usize,
        mut value: impl FnMut(u64) -> Option<i64>,
    ) -> Option<Vec<i64>> {
        let size = usize::try_from(read_varint(&mut self.rest)?).ok()?;
        let piece = self.unpack(size)?;
        // One byte at least for each: but for that, memory would be taken as damaged bytes say.
        (rows <= piece.len()).then_some(())?;
        let mut values = Vec::with_capacity(rows + 1);
        let mut rest = &piece[..];
        for _ in 0..rows {
            values.push(value(read_varint(&mut rest)?)?);
        }
        rest.is_empty().then_some(values)
    }

    /// Reads a piece of so many bytes.
    fn unpack(&mut self, size: usize) -> Option<Vec<u8>> {
        fits(size, 1)?;
        if size == 0 {
            return Some(Vec::new());
        }
        let packed = usize::try_from(read_varint(&mut self.rest)?).ok()?;
        if packed == 0 {
            return Some(self.rest.split_off(..size)?.to_vec());
        }
        let packed = self.rest.split_off(..packed)?;
        (size / MOST_PACKED <= packed.len()).then_some(())?;
        let mut piece = vec![0; size];
        decompress(packed, &mut piece)?;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut writer = Writer::new(RANKINGS, 2);
        write(&mut writer);
        writer.finish()
    }

    fn read<T>(body: &[u8], read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Option<T> {
        let (mut reader, rows) = Reader::open(body, RANKINGS).unwrap();
        assert_eq!(rows, 2);
        read(&mut reader)
    }

    #[test]
    fn varints_hold_every_integer_and_no_more() {
        for value in [0, 0x7f, 0x80, 0x3fff, 0x4000, u64::MAX >> 1, u64::MAX] {
            let mut bytes = Vec::new();
            write_varint(value, &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!((read_varint(&mut rest), rest.len()), (Some(value), 0));
            assert_eq!(read_varint(&mut &bytes[..bytes.len() - 1]), None);
        }
        for last in [1, 2] {
            let mut bytes = vec![0xff; 9];
            bytes.push(last);
            assert_eq!(read_varint(&mut &bytes[..]), (last == 1).then_some(u64::MAX));
        }
    }

    #[test]
    fn another_version_is_named_and_another_kind_is_damaged() {
        let mut made = body(|_| ());
        assert_eq!(Reader::open(&made, LABELS).unwrap_err(), Fault::Damaged);
        made[0] = VERSION + 1;
        mend(&mut made);
        assert_eq!(Reader::open(&made, RANKINGS).unwrap_err(), Fault::Version(VERSION + 1));
    }

    #[test]
    fn texts_are_whole_characters() {
        let texts = |ends: [i64; 3], bytes: &[u8]| {
            let texts = Texts { offsets: ends.into(), bytes: bytes.to_vec() };
            let made = body(|writer| writer.texts(&texts).unwrap());
            read(&made, |reader| reader.texts(2)).is_some()
        };
        assert!(texts([0, 2, 4], "éé".as_bytes()));
        assert!(!texts([0, 1, 4], "éé".as_bytes()));
        assert!(!texts([0, 1, 2], b"a\xff"));
    }

    #[test]
    fn pieces_are_compressed_where_that_is_smaller() {
        let size = |byte: fn(usize) -> u8| {
            let bytes: Vec<u8> = (0..1000).map(byte).collect();
            let texts = Texts { offsets: vec![0, 0, 1000], bytes };
            body(|writer| writer.texts(&texts).unwrap()).len()
        };
        let head = body(|writer| writer.sizes(&[0, 0, 1000]).unwrap()).len();
        assert!(size(|_| b'a') < head + 30);
        // Cubes of numbers by a prime look like chance.
        assert_eq!(size(|at| (at * at * at % 65_521).to_le_bytes()[0]), head + 1 + 1000);
    }

    #[test]
    fn a_column_has_at_most_a_gibibyte() {
        assert_eq!([MOST / 8, MOST / 8 + 1].map(|rows| fits(rows, 8)), [Some(()), None]);
        let filled = |mut writer: Writer| {
            writer.body.resize(CHECKSUM.end + MOST / MOST_PACKED, 0);
            writer.finish()
        };
        let rows = |rows| Reader::open(&filled(Writer::new(RANKINGS, rows)), RANKINGS).is_ok();
        assert_eq!([MOST / 8, MOST / 8 + 1].map(rows), [true, false]);
        let offsets = |size| {
            let mut writer = Writer::new(RANKINGS, 2);
            writer.sizes(&[0, size, 2 * size]).unwrap();
            let made = filled(writer);
            read(&made, |reader| reader.sizes(2)).is_some()
        };
        assert_eq!([count(MOST / 2), count(MOST / 2 + 1)].map(offsets), [true, false]);
    }

    #[test]
    fn a_body_has_no_more_rows_or_items_than_its_bytes_can_stand_for() {
        let rows = |rows| Reader::open(&Writer::new(RANKINGS, rows).finish(), RANKINGS).is_ok();
        assert_eq!([3 * MOST_PACKED, 3 * MOST_PACKED + 1].map(rows), [true, false]);
        let made = body(|writer| writer.sizes(&[0, 1 << 28, 1 << 29]).unwrap());
        assert_eq!(read(&made, |reader| reader.sizes(2)), None);
    }

    #[test]
    fn what_is_compressed_is_not_more_than_it_can_stand_for() {
        let mut reader = Reader { rest: &[1, 0], most: MOST };
        assert_eq!(reader.unpack(2 * MOST_PACKED), None);
        let mut room = vec![0; 1000];
        let size = compress(&vec![0; 4 << 20], &mut room).unwrap();
        assert!(4 << 20 <= size * MOST_PACKED);
    }
}
