//! Cuts a stream of lines into blocks that end where the query changes.
//!
//! A block holds every adjacent line of its queries, so blocks can be parsed and evaluated by any
//! thread, and nothing but one block a thread is ever in memory.

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use crate::error::{Error, Kind, Result};
use crate::text::fields;
use crate::text::list::too_many_rows;
use crate::text::source::Source;
use crate::watch::Watch;

/// Small enough for a core's second-level cache with all that is made of it.
const BLOCK: usize = 128 << 10;
const MAX_LINE: usize = 1 << 20;
/// Positions in a block are 32-bit numbers.
const MAX_BLOCK: usize = 1 << 30;

/// The text of some adjacent lines, and its place in the stream.
#[derive(Debug, Default)]
pub struct Block {
    buffer: Vec<u8>,
    length: usize,
    /// Blocks are numbered from 0 in the order of the stream.
    pub number: u64,
}

impl Block {
    /// The lines, all ended by a newline but perhaps the last of the stream.
    pub fn text(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// Hands out blocks in order.
pub struct Blocks {
    source: Source,
    carry: Vec<u8>,
    next: u64,
    at_end: bool,
    size: usize,
    /// Whether the stream began with a byte-order mark.
    pub had_bom: bool,
}

impl Blocks {
    /// Starts to cut a source.
    pub fn new(source: Source, watch: Watch<'_>) -> Result<Self> {
        Self::with_size(source, BLOCK, watch)
    }

    /// As [`Blocks::new`], with blocks of about `size` bytes.
    pub fn with_size(mut source: Source, size: usize, watch: Watch<'_>) -> Result<Self> {
        let mut head = vec![0; 512];
        let count = source.fill(&mut head, watch)?;
        head.truncate(count);
        let had_bom = head.starts_with(BOM);
        if had_bom {
            head.drain(..BOM.len());
        }
        check_is_text(&head).map_err(|error| error.file(source.name()))?;
        Ok(Self { source, carry: head, next: 0, at_end: count < 512, size, had_bom })
    }

    /// The name to use in messages.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// How many bytes of the file have been read.
    pub fn consumed(&self) -> u64 {
        self.source.consumed()
    }

    /// How many blocks were handed out.
    pub fn count(&self) -> u64 {
        self.next
    }

    /// Puts the next lines into a block; says whether there were any.
    ///
    /// # Errors
    /// Where reading fails, or a line is longer than 1 MiB; lines are counted from the start of the block.
    pub fn next(&mut self, block: &mut Block, watch: Watch<'_>) -> Result<bool> {
        block.length = self.carry.len();
        let mut size = self.size.max(2 * self.carry.len());
        if block.buffer.len() < size {
            block.buffer.resize(size, 0);
        }
        block.buffer[..self.carry.len()].copy_from_slice(&self.carry);
        self.carry.clear();
        loop {
            if !self.at_end {
                let count = self.source.fill(&mut block.buffer[block.length..size], watch)?;
                self.at_end = count < size - block.length;
                block.length += count;
            }
            let text = &block.buffer[..block.length];
            check_last_line(text).map_err(|error| error.file(self.source.name()))?;
            let cut = if self.at_end { block.length } else { last_change(text) };
            if cut > 0 || self.at_end {
                self.carry.extend_from_slice(&text[cut..]);
                block.length = cut;
                block.number = self.next;
                self.next += 1;
                return Ok(cut > 0);
            }
            size = double(size).map_err(|error| error.file(self.source.name()))?;
            block.buffer.resize(size, 0);
        }
    }
}

const BOM: &[u8] = b"\xef\xbb\xbf";

fn check_is_text(head: &[u8]) -> Result<()> {
    let trimmed = head.trim_ascii_start();
    let opens = |word: &[u8]| {
        trimmed.len() >= word.len() && trimmed[..word.len()].eq_ignore_ascii_case(word)
    };
    if opens(b"<!doctype") || opens(b"<html") || opens(b"<?xml") {
        return Err(Error::new(
            Kind::Format,
            "looks_like_html",
            "expected lines of text, found a web page",
        )
        .hint(LOOK)
        .line(1));
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(Error::new(Kind::Format, "encoding", "expected UTF-8, found UTF-16")
            .hint("convert it: iconv -f UTF-16 -t UTF-8")
            .line(1));
    }
    let unpack = "unpack it first; gzip, zstd and bzip2 are read as they are";
    let kinds: [(&[u8], &str, &str); 8] = [
        (b"%PDF", "a PDF", LOOK),
        (b"\x7fELF", "a program", LOOK),
        (b"\x89PNG", "a picture", LOOK),
        (b"PAR1", "a Parquet file", "write its columns as lines of text"),
        (b"PK\x03\x04", "a zip archive", unpack),
        (b"\xfd7zXZ\0", "an xz file", unpack),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive", unpack),
        (b"\x04\x22\x4d\x18", "an lz4 file", unpack),
    ];
    let kinds = kinds.into_iter().map(|(magic, kind, hint)| (0, magic, kind, hint));
    // An archive of tar begins with the name of its first file.
    let tar =
        (TAR_AT, &b"ustar"[..], "a tar archive", "unpack it with tar -xf, and read its files");
    for (at, magic, kind, hint) in kinds.chain([tar]) {
        if head.get(at..).is_some_and(|from| from.starts_with(magic)) {
            let message = format!("expected lines of text, found {kind}");
            return Err(Error::new(Kind::Format, "not_text", message).hint(hint).line(1));
        }
    }
    Ok(())
}

const TAR_AT: usize = 257;
const LOOK: &str = "the download may have failed: open the file and look";

/// The size of a larger block, for a query that fills this one.
fn double(size: usize) -> Result<usize> {
    if size > MAX_BLOCK { Err(too_many_rows()) } else { Ok(2 * size) }
}

fn check_last_line(text: &[u8]) -> Result<()> {
    let start = memrchr(b'\n', text).map_or(0, |at| at + 1);
    if text.len() - start <= MAX_LINE {
        return Ok(());
    }
    let before = memchr_iter(b'\n', &text[..start]).count() as u64;
    Err(line_too_long(&text[start..]).line(before + 1))
}

/// The error for a line over the limit, whose reason may be in what it holds.
fn line_too_long(line: &[u8]) -> Error {
    // What stands here once is refused in a shorter line, too.
    if let Some(at) = memchr2(0, b'\r', line) {
        let error = if line[at] == 0 { fields::nul_byte() } else { fields::lone_cr() };
        return error.column(at + 1);
    }
    Error::new(
        Kind::Limit,
        "line_length",
        format!("expected lines of at most {MAX_LINE} bytes, found a longer one"),
    )
    .hint("check that the file has line ends")
}

/// Where the last query of the text begins, or 0 where it is the only one. Of a query that comes and
/// goes it may be any beginning, for only few lines are looked at.
fn last_change(text: &[u8]) -> usize {
    let Some(last_newline) = memrchr(b'\n', text) else {
        return 0;
    };
    let line_start = |within: usize| memrchr(b'\n', &text[..within]).map_or(0, |at| at + 1);
    let line_after =
        |start: usize| memchr(b'\n', &text[start..]).map_or(start, |at| start + at + 1);
    let mut start = line_start(last_newline);
    let last_query = first_field(&text[start..last_newline]);
    if last_query.is_empty() || last_query == b"#" {
        // A blank line or a comment is of no query, however many follow one another.
        return start;
    }
    let is_last = |start: usize| first_field(&text[start..line_after(start) - 1]) == last_query;
    if is_last(0) {
        while start > 0 {
            let before = line_start(start - 1);
            if !is_last(before) {
                return start;
            }
            start = before;
        }
        return 0;
    }
    // The line at `other` is of another query, that at `start` of the last one.
    let mut other = 0;
    loop {
        let middle = line_start(other + (start - other) / 2);
        let line = if middle > other { middle } else { line_after(other) };
        if line == start {
            return start;
        }
        if is_last(line) {
            start = line;
        } else {
            other = line;
        }
    }
}

fn first_field(line: &[u8]) -> &[u8] {
    let line = match line {
        [b' ' | b'\t', ..] => line.trim_ascii_start(),
        _ => line,
    };
    let space = memchr(b' ', line).unwrap_or(line.len());
    let tab = memchr(b'\t', &line[..space]).unwrap_or(space);
    &line[..tab]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::source::{Encoding, Input, Origin};
    use proptest::prelude::*;

    fn cut(text: &str, size: usize) -> Vec<String> {
        let origin = Origin::Bytes(text.as_bytes().into());
        let source = Input { origin, encoding: Encoding::Utf8 }.open(&mut |_| Ok(())).unwrap();
        let mut blocks = Blocks::with_size(source, size, &mut |_| Ok(())).unwrap();
        let mut block = Block::default();
        let mut found = Vec::new();
        while blocks.next(&mut block, &mut |_| Ok(())).unwrap() {
            found.push(String::from_utf8(block.text().to_vec()).unwrap());
        }
        found
    }

    proptest! {
        #[test]
        fn blocks_join_to_the_text_and_never_split_a_query(
            runs in prop::collection::vec((0usize..3, 1usize..200), 0..40), size in 1usize..2000,
        ) {
            let text: String = runs
                .iter()
                .flat_map(|&(query, lines)| (0..lines).map(move |line| format!("q{query} x{line}\n")))
                .collect();
            let blocks = cut(&text, size);
            prop_assert_eq!(blocks.concat(), text);
            let query = |line: &str| line.split(' ').next().unwrap().to_owned();
            for pair in blocks.windows(2) {
                let last = query(pair[0].lines().last().unwrap());
                prop_assert_ne!(last, query(pair[1].lines().next().unwrap()));
            }
        }
    }

    #[test]
    fn a_line_has_a_mebibyte_at_most() {
        let text = [b'x'].repeat((1 << 20) + 1);
        for length in [(1 << 20) - 1, 1 << 20, (1 << 20) + 1] {
            assert_eq!(check_last_line(&text[..length]).is_ok(), length <= 1 << 20);
        }
    }

    #[test]
    fn positions_in_a_block_fit_in_32_bits() {
        assert_eq!(double((1 << 30) - 1).unwrap(), (1 << 31) - 2);
        assert_eq!(double(1 << 30).unwrap(), 1 << 31);
        assert_eq!(double((1 << 30) + 1).unwrap_err().code(), "max_group");
    }
}
