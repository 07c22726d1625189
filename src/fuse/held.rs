//! Holds fused lists as a run in memory.

use super::output::Output;
use super::queries::Fused;
use super::turns::{Turn, Turns};
use crate::error::Result;
use crate::ids::interner::Arena;
use crate::memory::Vec;
use crate::notes::Notes;
use crate::rank::run::Run;
use crate::text::list::{List, Row};

/// A run that grows.
#[derive(Default)]
pub(super) struct Growing {
    run: Run,
    turns: Turns<Part>,
}

/// The lists of adjacent queries.
#[derive(Default)]
pub(super) struct Part {
    queries: Arena,
    docs: Arena,
    scores: Vec<f64>,
    /// Where the list of each query ends.
    ends: Vec<usize>,
}

impl Growing {
    /// The run of all lists in their order.
    ///
    /// # Errors
    /// Where there are none.
    pub(super) fn finish(mut self) -> Result<Run> {
        while let Some(part) = self.turns.take_first() {
            part.add_to(&mut self.run, 0);
        }
        self.run.finish(Notes::default())
    }
}

impl Output for Growing {
    type Part = Part;
    type Form = ();

    fn form(&self) {}

    fn add((): (), part: &mut Part, fused: &Fused<'_>) {
        part.queries.push(fused.query);
        for (doc, score) in fused.rows() {
            part.docs.push(doc);
            part.scores.push(score);
        }
        part.ends.push(part.scores.len());
    }

    fn take(&mut self, part: Part, turns: &[Turn]) -> Result<u64> {
        for (number, &turn) in turns.iter().enumerate() {
            if self.turns.pass(turn) {
                part.add_to(&mut self.run, number);
                while let Some(held) = self.turns.next() {
                    held.add_to(&mut self.run, 0);
                }
            } else {
                self.turns.hold(turn, part.list(number));
            }
        }
        Ok(part.scores.len() as u64)
    }
}

impl Part {
    fn rows(&self, number: usize) -> impl Iterator<Item = (&[u8], f64)> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        (start..self.ends[number]).map(|row| (self.docs.get(row), self.scores[row]))
    }

    /// A copy of one list.
    fn list(&self, number: usize) -> Self {
        let mut list = Self::default();
        list.queries.push(self.queries.get(number));
        for (doc, score) in self.rows(number) {
            list.docs.push(doc);
            list.scores.push(score);
        }
        list.ends.push(list.scores.len());
        list
    }

    fn add_to(&self, run: &mut Run, number: usize) {
        let mut list = List { query: self.queries.get(number), ..List::default() };
        list.rows.extend(self.rows(number).map(|(doc, score)| Row { doc, score, line: 0 }));
        run.add(&list, 0);
    }
}
