//! Brings pieces of text into an order, and writes them.
//!
//! A piece that comes before its turn is held, in memory or in a file without a name, which the system
//! removes when the process ends, however it ends.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::turns::{Turn, Turns};
use crate::error::Result;
use crate::memory::{self, Vec};
use crate::table::queue::Spill;
use crate::table::spill::refuse_folder;

/// Takes text to write it.
pub type Sink<'a> = &'a mut (dyn FnMut(&[u8]) -> Result<()> + Send);

/// So many bytes are written at a time.
const AT_ONCE: usize = 1 << 20;

/// Pieces of text on their way.
pub(super) struct Pieces<'a> {
    sink: Sink<'a>,
    /// Text in order.
    ready: Vec<u8>,
    turns: Turns<Piece>,
    held_size: usize,
    spilled: Option<(File, PathBuf)>,
    written: u64,
}

enum Piece {
    Held(Vec<u8>),
    Spilled { start: u64, length: usize },
}

impl<'a> Pieces<'a> {
    pub(super) fn new(sink: Sink<'a>) -> Self {
        Self {
            sink,
            ready: Vec::new(),
            turns: Turns::default(),
            held_size: 0,
            spilled: None,
            written: 0,
        }
    }

    /// Takes a piece, and writes it once it is its turn.
    ///
    /// # Errors
    /// Where it can't be written.
    pub(super) fn add(&mut self, turn: Turn, text: &[u8]) -> Result<()> {
        if self.turns.pass(turn) {
            self.ready.extend_from_slice(text);
            while let Some(piece) = self.turns.next() {
                self.write(piece)?;
            }
            return self.write_if_long();
        }
        self.held_size += text.len() + size_of::<(Turn, Piece)>();
        self.turns.hold(turn, Piece::Held(memory::copy(text)));
        Ok(())
    }

    /// How many bytes of memory the pieces take whose turn has not come.
    pub(super) fn held(&self) -> usize {
        self.held_size
    }

    /// How many bytes were written to a temporary file.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Moves what is held to a file.
    ///
    /// # Errors
    /// Where it can't be written.
    pub(super) fn spill(&mut self, room: &Spill) -> Result<()> {
        let refuse = |error| refuse_folder(&room.folder, &error);
        let (file, _) = if let Some(spilled) = &mut self.spilled {
            spilled
        } else {
            let file = tempfile::tempfile_in(&room.folder).map_err(refuse)?;
            self.spilled.insert((file, room.folder.clone()))
        };
        let mut text = Vec::new();
        for piece in self.turns.held_mut() {
            if let Piece::Held(held) = piece {
                let start = self.written + text.len() as u64;
                text.extend_from_slice(held);
                *piece = Piece::Spilled { start, length: held.len() };
            }
            if text.len() >= AT_ONCE {
                file.write_all(&text).map_err(refuse)?;
                self.written += text.len() as u64;
                text.clear();
            }
        }
        file.write_all(&text).map_err(refuse)?;
        self.written += text.len() as u64;
        self.held_size = 0;
        Ok(())
    }

    /// Writes all pieces that are left, in their order.
    ///
    /// # Errors
    /// Where they can't be written.
    pub(super) fn finish(&mut self) -> Result<()> {
        while let Some(piece) = self.turns.take_first() {
            self.write(piece)?;
        }
        if !self.ready.is_empty() {
            (self.sink)(&self.ready)?;
            self.ready.clear();
        }
        Ok(())
    }

    /// Writes a piece that was held.
    fn write(&mut self, piece: Piece) -> Result<()> {
        match piece {
            Piece::Held(text) => {
                self.held_size -= text.len() + size_of::<(Turn, Piece)>();
                self.ready.extend_from_slice(&text);
            }
            Piece::Spilled { start, length } => self.read_spilled(start, length)?,
        }
        self.write_if_long()
    }

    fn read_spilled(&mut self, start: u64, length: usize) -> Result<()> {
        let Some((file, folder)) = &mut self.spilled else { return Ok(()) };
        let before = self.ready.len();
        self.ready.resize(before + length, 0);
        let read = file
            .seek(SeekFrom::Start(start))
            .and_then(|_| file.read_exact(&mut self.ready[before..]))
            // What is spilled next comes after all that was spilled.
            .and_then(|()| file.seek(SeekFrom::End(0)));
        read.map(drop).map_err(|error| refuse_folder(folder, &error))
    }

    fn write_if_long(&mut self) -> Result<()> {
        if self.ready.len() >= AT_ONCE {
            (self.sink)(&self.ready)?;
            self.ready.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_written_in_their_order(
            turns in prop::collection::btree_set((1usize..3, 0usize..20), 0..20),
            firsts in 0usize..40,
            shuffled in any::<prop::sample::Index>(),
            spills in prop::collection::vec(any::<bool>(), 60),
        ) {
            let mut turns: std::vec::Vec<Turn> =
                (0..firsts).map(|at| (0, at)).chain(turns).collect();
            let text = |turn: &Turn| format!("{turn:?};");
            let expected: String = turns.iter().map(text).collect();
            // Any order will do: some come before their turn, and some after.
            let middle = shuffled.index(turns.len() + 1);
            turns.rotate_left(middle);
            turns.chunks_mut(3).for_each(<[Turn]>::reverse);
            let mut out: std::vec::Vec<u8> = std::vec::Vec::new();
            let mut sink = |text: &[u8]| {
                out.extend_from_slice(text);
                Ok(())
            };
            let mut pieces = Pieces::new(&mut sink);
            let room = Spill { folder: std::env::temp_dir(), memory: 0, expected: None };
            for (turn, spill) in turns.iter().zip(spills) {
                pieces.add(*turn, text(turn).as_bytes()).unwrap();
                if spill {
                    pieces.spill(&room).unwrap();
                    prop_assert_eq!(pieces.held(), 0);
                }
            }
            pieces.finish().unwrap();
            prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
