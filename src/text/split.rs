//! Finds every blank and newline of a text, 64 bytes at a time.

use crate::memory::Vec;
use wide::u8x64;

/// Where the blanks of a text are, and what else is in it.
#[derive(Debug, Default)]
pub struct Tape {
    /// Positions of spaces, tabs and newlines, ascending.
    pub blanks: Vec<u32>,
    /// Positions of newlines, ascending.
    pub newlines: Vec<u32>,
    /// Every field is followed by exactly one blank, and no line begins with one.
    pub is_regular: bool,
    /// All bytes are below 128.
    pub is_ascii: bool,
    /// There are control characters other than tab and newline.
    pub has_controls: bool,
}

impl Tape {
    /// Scans a text of less than 2^32 bytes.
    pub fn scan(&mut self, text: &[u8]) {
        self.blanks.clear();
        self.newlines.clear();
        let mut seen = Seen { previous: 1, ..Seen::default() };
        let (chunks, rest) = text.as_chunks::<64>();
        for (index, chunk) in chunks.iter().enumerate() {
            self.scan_chunk(*chunk, index * 64, &mut seen);
        }
        if !rest.is_empty() {
            let mut chunk = [b'x'; 64];
            chunk[..rest.len()].copy_from_slice(rest);
            self.scan_chunk(chunk, chunks.len() * 64, &mut seen);
        }
        self.is_regular = seen.adjacent == 0;
        self.is_ascii = seen.high == 0;
        self.has_controls = seen.controls != 0;
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // texts are blocks, far below 2^32 bytes
    fn scan_chunk(&mut self, chunk: [u8; 64], start: usize, seen: &mut Seen) {
        let bytes = u8x64::new(chunk);
        let newline_bytes = bytes.simd_eq(u8x64::splat(b'\n'));
        let blank_bytes =
            bytes.simd_eq(u8x64::splat(b' ')) | bytes.simd_eq(u8x64::splat(b'\t')) | newline_bytes;
        let low_bytes = bytes.saturating_sub(u8x64::splat(b' ')).simd_eq(u8x64::splat(0));
        let blanks = blank_bytes.to_bitmask();
        seen.adjacent |= blanks & ((blanks << 1) | seen.previous);
        seen.previous = blanks >> 63;
        seen.controls |= low_bytes.to_bitmask() & !blanks;
        seen.high |= bytes.to_bitmask();
        let start = start as u32;
        push_positions(&mut self.blanks, blanks, start);
        push_positions(&mut self.newlines, newline_bytes.to_bitmask(), start);
    }
}

#[derive(Default)]
struct Seen {
    previous: u64,
    adjacent: u64,
    controls: u64,
    high: u64,
}

#[inline]
fn push_positions(positions: &mut Vec<u32>, mut mask: u64, start: u32) {
    while mask != 0 {
        positions.push(start + mask.trailing_zeros());
        mask &= mask - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_are_those_that_a_plain_loop_finds(
            text in prop::collection::vec(prop::sample::select(b"ab \t\n\r\x00\xc3".to_vec()), 0..300),
        ) {
            let mut tape = Tape::default();
            tape.scan(&text);
            let at = |wanted: &[u8]| -> Vec<u32> {
                (0_u32..).zip(&text).filter(|(_, byte)| wanted.contains(byte)).map(|(i, _)| i).collect()
            };
            prop_assert_eq!(&tape.blanks, &at(b" \t\n"));
            prop_assert_eq!(&tape.newlines, &at(b"\n"));
            prop_assert_eq!(tape.is_ascii, text.is_ascii());
            prop_assert_eq!(tape.has_controls, text.contains(&0) || text.contains(&b'\r'));
            let is_blank = |byte: u8| b" \t\n".contains(&byte);
            let leads = text.first().is_some_and(|&byte| is_blank(byte));
            let doubled = text.windows(2).any(|pair| is_blank(pair[0]) && is_blank(pair[1]));
            prop_assert_eq!(tape.is_regular, !leads && !doubled);
        }
    }
}
