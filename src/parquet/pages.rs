//! The headers of pages, checked against the metadata of the file.

use super::compact::{Kind, Reader};
use super::footer::{Chunk, Footer, encoding};
use super::schema::Physical;
use super::source::{Source, count, damaged, require};
use crate::error::Result;
use crate::memory::Vec;

/// How many bytes are read at once for small chunks, and for the headers of large pages.
const WINDOW: u64 = 1 << 16;
const SMALL_WINDOW: u64 = 1 << 10;
/// A header is never longer.
const MOST_HEADER: u64 = 1 << 24;
/// Some files of 2013 count the bytes of a dictionary's header as no part of the chunk.
pub(super) const UNCOUNTED: u64 = 100;

const RLE: u32 = 1 << 3;
pub(super) const DICTIONARY: u32 = 1 << 2;
const PREFIXES: u32 = 1 << 7;

/// How much larger than its pages a column of texts may be once it is decoded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    /// The most bytes if each value were the longest that its dictionary has room for.
    pub most: u64,
    /// The longest that a value may be in pages that share the beginnings of texts, 0 if none do.
    pub longest: u64,
}

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// Values.
    Data,
    /// Nothing that anyone reads.
    Index,
    /// The different values of a chunk.
    Dictionary,
}

/// What stands before a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) page: Page,
    pub(super) unpacked: u64,
    pub(super) stored: u64,
    pub(super) values: u64,
    pub(super) encoding: u32,
    pub(super) checksum: Option<u32>,
    /// The bytes of levels before what is compressed, and whether that is: only in pages of version 2.
    pub(super) apart: Option<(u64, bool)>,
}

/// Checks the pages of some columns, and returns how much each may grow.
///
/// # Errors
/// A header is damaged, or does not fit the metadata of the file.
pub fn check(footer: &Footer, leaves: &[usize], source: &mut impl Source) -> Result<Vec<Growth>> {
    let mut growths: Vec<Growth> = leaves.iter().map(|_| Growth::default()).collect();
    let mut window = Window { source, start: 0, bytes: Vec::new() };
    let width = footer.schema.leaves.len().max(1);
    for chunks in footer.chunks.chunks(width) {
        for (growth, &leaf) in growths.iter_mut().zip(leaves) {
            let of = &footer.schema.leaves[leaf];
            let (dictionary, prefixed) = check_chunk(&chunks[leaf], footer.start, &mut window)?;
            if of.physical == Physical::TEXT {
                let more = dictionary.saturating_mul(chunks[leaf].values);
                growth.most = growth.most.saturating_add(more);
                if prefixed > 0 {
                    growth.longest = growth.longest.max(prefixed).max(dictionary);
                }
            }
        }
    }
    Ok(growths)
}

/// Checks the pages of a chunk. Returns the bytes of its dictionary, and of the largest page that shares
/// the beginnings of texts.
fn check_chunk(
    chunk: &Chunk,
    end: u64,
    window: &mut Window<'_, impl Source>,
) -> Result<(u64, u64)> {
    let (mut at, mut seen, mut dictionary, mut prefixed) = (chunk.start, 0_u64, 0, 0);
    let end = end.min(chunk.start.saturating_add(chunk.stored).saturating_add(UNCOUNTED));
    let mut is_first = true;
    while seen < chunk.values {
        let (header, length) = window.header(at, end, chunk.stored)?;
        at += length + header.stored;
        require(at <= end, "a page is outside its column")?;
        let is_whole = chunk.codec != 0 || header.stored == header.unpacked;
        require(is_whole, "a page has two sizes, and no compression")?;
        match header.page {
            Page::Dictionary => {
                require(is_first, "a dictionary is not the first page of its column")?;
                dictionary = header.unpacked;
            }
            Page::Data => {
                let is_known = header.encoding & !chunk.encodings == 0;
                require(is_known, "a page has an encoding that its column does not name")?;
                let has_values = header.encoding & DICTIONARY == 0 || dictionary > 0;
                require(has_values || header.values == 0 || !is_first, "a dictionary is missing")?;
                if header.encoding & PREFIXES != 0 {
                    prefixed = header.unpacked.max(prefixed);
                }
                seen += header.values;
            }
            Page::Index => {}
        }
        is_first = false;
    }
    require(seen == chunk.values, "pages have more values than their column")?;
    Ok((dictionary, prefixed))
}

/// Bytes of a file around a place.
struct Window<'a, S> {
    source: &'a mut S,
    start: u64,
    bytes: Vec<u8>,
}

impl<S: Source> Window<'_, S> {
    /// Reads the header at an offset. Returns it with its length.
    fn header(&mut self, at: u64, end: u64, chunk: u64) -> Result<(Header, u64)> {
        let room = end.saturating_sub(at).min(MOST_HEADER);
        let skipped = at.checked_sub(self.start).and_then(|skipped| usize::try_from(skipped).ok());
        if let Some(there) = skipped.and_then(|skipped| self.bytes.get(skipped..))
            && let Ok(found) = measure_header(there)
        {
            return Ok(found);
        }
        let mut count = if chunk <= WINDOW { WINDOW } else { SMALL_WINDOW };
        loop {
            self.bytes = self.source.read(at, usize::try_from(count).unwrap_or(usize::MAX))?;
            self.start = at;
            match measure_header(&self.bytes) {
                // It may go on where the bytes end.
                Err(_) if count < room => count *= WINDOW / SMALL_WINDOW,
                found => return found,
            }
        }
    }
}

pub(super) fn measure_header(bytes: &[u8]) -> Result<(Header, u64)> {
    let mut reader = Reader::new(bytes);
    let header = read_header(&mut reader)?;
    Ok((header, reader.position() as u64))
}

fn read_header(reader: &mut Reader<'_>) -> Result<Header> {
    let (mut kind, mut unpacked, mut stored, mut body) = (None, None, None, None);
    let mut checksum = None;
    reader.walk(|reader, field| {
        let size = |value: i32| count(value, "a page has a negative size");
        match field.id {
            1 => kind = Some(reader.int(field.kind)?),
            2 => unpacked = Some(size(reader.int(field.kind)?)?),
            3 => stored = Some(size(reader.int(field.kind)?)?),
            4 => checksum = Some(reader.int(field.kind)?.cast_unsigned()),
            5..=8 => {
                require(field.kind == Kind::Struct && body.is_none(), PAGE)?;
                body = Some((field.id, read_body(reader, field.id)?));
            }
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    let missing = || damaged("a field of a page is missing");
    let (unpacked, stored) = unpacked.zip(stored).ok_or_else(missing)?;
    let apart = kind == Some(3);
    let (page, body) = match (kind, body) {
        (Some(0), Some((5, body))) | (Some(3), Some((8, body))) => (Page::Data, body),
        (Some(1), _) => (Page::Index, Body::default()),
        (Some(2), Some((7, body))) => (Page::Dictionary, body),
        _ => return Err(damaged(PAGE)),
    };
    require(body.levels <= stored.min(unpacked), "a page is shorter than its levels")?;
    let Body { values, encoding, levels, is_packed } = body;
    let apart = apart.then_some((levels, is_packed));
    Ok(Header { page, unpacked, stored, values, encoding, checksum, apart })
}

const PAGE: &str = "a page is of no known type";

#[derive(Clone, Copy)]
struct Body {
    values: u64,
    encoding: u32,
    levels: u64,
    is_packed: bool,
}

impl Default for Body {
    fn default() -> Self {
        Self { values: 0, encoding: 0, levels: 0, is_packed: true }
    }
}

/// Reads what only pages of one type have.
fn read_body(reader: &mut Reader<'_>, id: i16) -> Result<Body> {
    let mut body = Body::default();
    let (mut has_values, mut has_encoding) = (false, false);
    reader.walk(|reader, field| {
        let counted = |value: i32| count(value, "a page has a negative number of values");
        match (id, field.id) {
            (5 | 7 | 8, 1) => {
                has_values = true;
                body.values = counted(reader.int(field.kind)?)?;
            }
            (5 | 7, 2) | (8, 4) => {
                has_encoding = true;
                body.encoding = encoding(reader.int(field.kind)?)?;
            }
            (5, 3 | 4) => {
                let levels = encoding(reader.int(field.kind)?)?;
                // The other encoding of levels is deprecated. It has to be among those of the column.
                body.encoding |= levels & !RLE;
            }
            (8, 2 | 3) => {
                let some = counted(reader.int(field.kind)?)?;
                require(some <= body.values, "a page has more nulls or rows than values")?;
            }
            (8, 5 | 6) => body.levels += counted(reader.int(field.kind)?)?,
            (8, 7) => body.is_packed = reader.flag(field.kind)?,
            (7, 3) => drop(reader.flag(field.kind)?),
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    require(id == 6 || (has_values && has_encoding), "a field of a page is missing")?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &[u8] = include_bytes!("../../fuzz/seeds/parquet/lists");

    #[test]
    fn a_copy_says_what_was_checked() {
        let footer = Footer::read(&mut &GOOD[..], GOOD.len() as u64).unwrap();
        let copied = &footer.copy[4..footer.copy.len() - 8];
        let again = Footer::parse(copied, footer.start).unwrap();
        assert_eq!(again.copy, footer.copy);
        assert_eq!(again.rows, 4);
        assert_eq!(again.estimate(&[1]), (6, 6 * 24));
    }

    #[test]
    fn a_cut_file_is_an_error() {
        for end in 0..GOOD.len() {
            assert!(Footer::read(&mut &GOOD[..end], end as u64).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_checked_or_an_error(
            places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let mut bytes = crate::memory::copy(GOOD);
            for (at, byte) in places {
                let at = at.index(GOOD.len());
                bytes[at] = byte;
            }
            if let Ok(footer) = Footer::read(&mut &bytes[..], bytes.len() as u64) {
                let leaves: Vec<usize> = (0..footer.schema.leaves.len()).collect();
                let _ = footer.estimate(&leaves);
                let _ = check(&footer, &leaves, &mut &bytes[..]);
            }
        }
    }

    #[test]
    fn a_chunk_has_100_bytes_more_than_it_counts_at_most() {
        for more in [99_u8, 100, 101] {
            // Both sizes in two bytes each; then one value, which has no encoding of its own.
            let (low, high) = (more << 1 | 128, more >> 6);
            let sizes = [0x15, 0, 0x15, low, high, 0x15, low, high];
            let body = [0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];
            let header = [&sizes[..], &body].concat();
            let chunk =
                Chunk { start: 0, stored: 19, values: 1, unpacked: 19, codec: 0, encodings: 1 };
            let mut window = Window { source: &mut &header[..], start: 0, bytes: Vec::new() };
            let found = check_chunk(&chunk, u64::MAX, &mut window);
            assert_eq!(found.is_ok(), more <= 100, "{more} {found:?}");
        }
    }
}
