//! Writes fused lists as lines of a run.

use super::output::Output;
use super::pieces::{Pieces, Sink};
use super::queries::Fused;
use super::turns::Turn;
use crate::error::Result;
use crate::memory::Vec;
use crate::table::queue::Room;
use crate::text::written::RunLines;

/// The lines of a run on their way.
pub(super) struct Lines<'a, 'r> {
    tag: &'a str,
    pieces: Pieces<'a>,
    room: &'a mut Room<'r>,
}

/// The lines of adjacent queries.
#[derive(Default)]
pub(super) struct Part {
    text: Vec<u8>,
    /// Where the lines of each query end.
    ends: Vec<usize>,
    documents: u64,
}

impl<'a, 'r> Lines<'a, 'r> {
    /// Lines with a tag, which hold so many bytes before their turn.
    pub(super) fn new(tag: &'a str, sink: Sink<'a>, room: &'a mut Room<'r>) -> Self {
        Self { tag, pieces: Pieces::new(sink), room }
    }

    /// Writes all lines that are left; gives the number of bytes that were written to a temporary file.
    ///
    /// # Errors
    /// Where they can't be written.
    pub(super) fn finish(mut self) -> Result<u64> {
        self.pieces.finish()?;
        Ok(self.pieces.written())
    }
}

impl<'a> Output for Lines<'a, '_> {
    type Part = Part;
    type Form = &'a str;

    fn form(&self) -> &'a str {
        self.tag
    }

    fn add(tag: &'a str, part: &mut Part, fused: &Fused<'_>) {
        let mut lines = RunLines::new(tag);
        for ((doc, score), rank) in fused.rows().zip(1..) {
            lines.append(&mut part.text, fused.query, doc, rank, score);
            part.documents += 1;
        }
        part.ends.push(part.text.len());
    }

    fn take(&mut self, part: Part, turns: &[Turn]) -> Result<u64> {
        let mut from = 0;
        for (&end, &turn) in part.ends.iter().zip(turns) {
            self.pieces.add(turn, &part.text[from..end])?;
            from = end;
        }
        if let Some(room) = self.room.spill(self.pieces.held())? {
            self.pieces.spill(room)?;
        }
        Ok(part.documents)
    }
}
