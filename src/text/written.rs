//! Writes the lines of a run in TREC format.

use std::fmt::Write;

use crate::memory::Vec;

/// Appends lines with one run tag to a text.
pub struct RunLines<'a> {
    tag: &'a str,
    /// The numbers of a line.
    numbers: String,
}

impl<'a> RunLines<'a> {
    /// Lines that end with this tag.
    #[must_use]
    pub fn new(tag: &'a str) -> Self {
        Self { tag, numbers: String::new() }
    }

    /// Appends the line of a document. A score is written with as few digits as say exactly which
    /// number it is.
    pub fn append(&mut self, out: &mut Vec<u8>, query: &[u8], doc: &[u8], rank: usize, score: f64) {
        self.numbers.clear();
        // Writing to a string never fails.
        let _ = write!(self.numbers, " {rank} {score:?} ");
        let numbers = self.numbers.as_bytes();
        for part in [query, b" Q0 ", doc, numbers, self.tag.as_bytes(), b"\n"] {
            out.extend_from_slice(part);
        }
    }
}
