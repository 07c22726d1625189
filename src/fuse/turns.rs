//! Brings what is made of queries into their order.

use std::cmp::Reverse;

use crate::memory::Vec;

/// The place of a query. Those of the first series come first, one after another from 0; the places of
/// others may have gaps.
pub(super) type Turn = (usize, usize);

const LAST: Turn = (usize::MAX, usize::MAX);

/// What came before its turn.
pub(super) struct Turns<T> {
    /// How many of the first series have passed.
    passed: usize,
    held: Vec<(Turn, T)>,
    /// The first turn among those that are held.
    first: Turn,
    /// Whether they are in order, the first one last.
    are_sorted: bool,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { passed: 0, held: Vec::new(), first: LAST, are_sorted: true }
    }
}

impl<T> Turns<T> {
    /// Whether it is this turn; what has it passes.
    pub(super) fn pass(&mut self, turn: Turn) -> bool {
        let is_next = turn == (0, self.passed);
        self.passed += usize::from(is_next);
        is_next
    }

    /// Holds what has to wait.
    pub(super) fn hold(&mut self, turn: Turn, item: T) {
        self.first = self.first.min(turn);
        self.are_sorted = false;
        self.held.push((turn, item));
    }

    /// All that is held.
    pub(super) fn held_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.held.iter_mut().map(|(_, item)| item)
    }

    /// Passes what is held whose turn it is.
    pub(super) fn next(&mut self) -> Option<T> {
        if self.first == (0, self.passed) { self.take_first() } else { None }
    }

    /// Passes the first one that is held, when nothing else will come.
    pub(super) fn take_first(&mut self) -> Option<T> {
        if !self.are_sorted {
            self.held.sort_unstable_by_key(|&(turn, _)| Reverse(turn));
            self.are_sorted = true;
        }
        let (turn, item) = self.held.pop()?;
        self.pass(turn);
        self.first = self.held.last().map_or(LAST, |&(turn, _)| turn);
        Some(item)
    }
}
