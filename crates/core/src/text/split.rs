//! Finds every blank and newline of a text, 64 bytes at a time, with the widest vectors that the
//! processor at hand has.

// What is inlined is compiled once for each kind of vectors; without branches, it fits into them.
#![allow(clippy::inline_always, clippy::needless_bitwise_bool)]

use std::ops::Deref;

use fearless_simd::{Bytes, Level, Simd, SimdBase, SimdInt, SimdMask, dispatch, i8x64, u8x64};

/// Where the blanks of a text are, and what else is in it.
#[derive(Debug, Default)]
pub struct Tape {
    /// Positions of spaces, tabs and newlines, ascending.
    pub blanks: Positions,
    /// How many newlines there are.
    pub newlines: usize,
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
        dispatch!(Level::new(), simd => self.scan_with(simd, text));
    }

    #[inline(always)]
    fn scan_with<S: Simd>(&mut self, simd: S, text: &[u8]) {
        self.blanks.count = 0;
        self.newlines = 0;
        let mut seen = Seen { previous: 1, ..Seen::default() };
        let (chunks, rest) = text.as_chunks::<64>();
        for (index, chunk) in chunks.iter().enumerate() {
            self.take(simd, chunk, index * 64, &mut seen);
        }
        if !rest.is_empty() {
            let mut chunk = [b'x'; 64];
            chunk[..rest.len()].copy_from_slice(rest);
            self.take(simd, &chunk, chunks.len() * 64, &mut seen);
        }
        self.is_regular = seen.adjacent == 0;
        self.is_ascii = seen.any.is_ascii();
        self.has_controls = seen.has_controls;
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // texts are blocks, far below 2^32 bytes
    fn take<S: Simd>(&mut self, simd: S, chunk: &[u8; 64], start: usize, seen: &mut Seen) {
        let bytes = u8x64::from_slice(simd, chunk);
        let newlines = bytes.simd_eq(b'\n');
        let blanks = (bytes.simd_eq(b' ') | bytes.simd_eq(b'\t') | newlines).to_bitmask();
        let newlines = newlines.to_bitmask();
        // Bytes from 128 on are negative here.
        let printed = bytes.bitcast::<i8x64<S>>().simd_gt(31);
        seen.adjacent |= blanks & ((blanks << 1) | seen.previous);
        seen.previous = blanks >> 63;
        if printed.to_bitmask() | blanks != u64::MAX {
            seen.look_closer(chunk);
        }
        self.blanks.push(blanks, start as u32);
        self.newlines += newlines.count_ones() as usize;
    }
}

#[derive(Default)]
struct Seen {
    previous: u64,
    adjacent: u64,
    /// The bits of any byte.
    any: u8,
    has_controls: bool,
}

impl Seen {
    #[inline(never)]
    fn look_closer(&mut self, bytes: &[u8; 64]) {
        for &byte in bytes {
            self.any |= byte;
            self.has_controls |= (byte < b' ') & (byte != b'\t') & (byte != b'\n');
        }
    }
}

/// Lines of runs and judgments have a blank in six bytes or so, and so have 64 bytes twice as many, or
/// fewer.
const AT_A_TIME: usize = 6;

/// Positions in a text. The memory after them is written before it is known to be needed.
#[derive(Debug, Default)]
pub struct Positions {
    room: Vec<u32>,
    count: usize,
}

impl Deref for Positions {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        &self.room[..self.count]
    }
}

impl Positions {
    /// Adds the positions of the bits of a word, some at a time: how many there are is hard for the
    /// processor to foresee, whether there are more than so many is not.
    #[inline(always)]
    fn push(&mut self, mut mask: u64, start: u32) {
        if self.room.len() < self.count + 64 + AT_A_TIME {
            self.grow();
        }
        let (room, _) = self.room[self.count..].as_chunks_mut::<AT_A_TIME>();
        self.count += mask.count_ones() as usize;
        for steps in room {
            for position in steps {
                *position = start.wrapping_add(mask.trailing_zeros());
                mask &= mask.wrapping_sub(1);
            }
            if mask == 0 {
                return;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let room = (2 * self.room.len()).max(1 << 12);
        self.room.resize(room, 0);
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
            prop_assert_eq!(&tape.blanks[..], &at(b" \t\n")[..]);
            prop_assert_eq!(tape.newlines, at(b"\n").len());
            prop_assert_eq!(tape.is_ascii, text.is_ascii());
            prop_assert_eq!(tape.has_controls, text.contains(&0) || text.contains(&b'\r'));
            let is_blank = |byte: u8| b" \t\n".contains(&byte);
            let leads = text.first().is_some_and(|&byte| is_blank(byte));
            let doubled = text.windows(2).any(|pair| is_blank(pair[0]) && is_blank(pair[1]));
            prop_assert_eq!(tape.is_regular, !leads && !doubled);
        }
    }
}
