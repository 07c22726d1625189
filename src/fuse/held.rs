//! Holds fused lists as a run in memory.

use super::chunk::Chunk;
use super::output::Output;
use super::queries::Fused;
use super::turns::{Turn, Turns};
use crate::error::Result;
use crate::notes::Notes;
use crate::rank::run::Run;

/// A run that grows.
#[derive(Default)]
pub(super) struct Growing {
    run: Run,
    turns: Turns<Chunk>,
}

impl Growing {
    /// The run of all lists in their order.
    ///
    /// # Errors
    /// Where there are none.
    pub(super) fn finish(mut self) -> Result<Run> {
        while let Some(held) = self.turns.take_first() {
            self.run.add(&held.list(0), 0);
        }
        self.run.finish(Notes::default())
    }
}

impl Output for Growing {
    type Part = Chunk;
    type Form = ();

    fn form(&self) {}

    fn add((): (), part: &mut Chunk, fused: &Fused<'_>) {
        fused.rows().for_each(|(doc, score)| part.push(doc, score));
        part.end(fused.query);
    }

    fn take(&mut self, part: Chunk, turns: &[Turn]) -> Result<u64> {
        for (number, &turn) in turns.iter().enumerate() {
            if self.turns.pass(turn) {
                self.run.add(&part.list(number), 0);
                while let Some(held) = self.turns.next() {
                    self.run.add(&held.list(0), 0);
                }
            } else {
                self.turns.hold(turn, Chunk::of_list(&part, number)?);
            }
        }
        Ok(part.documents() as u64)
    }
}
