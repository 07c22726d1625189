//! Writes the lines of a run in TREC format.

/// Appends lines with one run tag to a text.
pub struct RunLines<'a> {
    tag: &'a str,
    rank: itoa::Buffer,
    score: zmij::Buffer,
}

impl<'a> RunLines<'a> {
    /// Lines that end with this tag.
    pub fn new(tag: &'a str) -> Self {
        Self { tag, rank: itoa::Buffer::new(), score: zmij::Buffer::new() }
    }

    /// Appends the line of a document. A score is written with as few digits as say exactly which
    /// number it is.
    pub fn append(&mut self, out: &mut Vec<u8>, query: &[u8], doc: &[u8], rank: usize, score: f64) {
        let numbers = (self.rank.format(rank).as_bytes(), self.score.format(score).as_bytes());
        let tag = self.tag.as_bytes();
        out.reserve(query.len() + doc.len() + numbers.0.len() + numbers.1.len() + tag.len() + 8);
        for part in [query, b" Q0 ", doc, b" ", numbers.0, b" ", numbers.1, b" ", tag, b"\n"] {
            out.extend_from_slice(part);
        }
    }
}
