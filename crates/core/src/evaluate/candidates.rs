//! Whether lists look like samples of candidates, such as one item that was bought and 100 others.
//!
//! Every list of such an evaluation has the same number of documents, all of them judged, and
//! exactly one of them relevant. Values over a sample aren't those over the whole catalogue
//! (Krichene and Rendle, *On sampled metrics for item recommendation*, 2020).

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// How many documents a sample of candidates may have.
const SIZES: RangeInclusive<usize> = 20..=1001;

/// What all lists seen so far have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Candidates {
    /// Nothing was seen.
    #[default]
    None,
    /// So many documents each, exactly one of them relevant.
    Sampled(usize),
    /// Some list is no sample of candidates, or their sizes differ.
    Other,
}

impl Candidates {
    /// Takes a list into account.
    ///
    /// # Arguments
    /// - `retrieved`: How many documents it has.
    /// - `judged`: How many of them are judged.
    /// - `ideal`: The grades of all judged documents, largest first.
    pub fn see(&mut self, retrieved: usize, judged: usize, ideal: &[f64]) {
        if *self == Self::Other {
            return;
        }
        let is_whole = judged == retrieved && ideal.len() == retrieved;
        let is_sample = is_whole && SIZES.contains(&retrieved) && ideal[0] > 0.0 && ideal[1] <= 0.0;
        self.merge(if is_sample { Self::Sampled(retrieved) } else { Self::Other });
    }

    /// Takes what other lists have in common into account.
    pub fn merge(&mut self, other: Self) {
        *self = match (*self, other) {
            (Self::None, only) | (only, Self::None) => only,
            (one, same) if one == same => one,
            _ => Self::Other,
        };
    }

    /// The number of documents of each list if all are samples of candidates, else 0.
    pub fn size(self) -> u64 {
        if let Self::Sampled(size) = self { size as u64 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ideal(relevant: usize, size: usize) -> Vec<f64> {
        let mut grades = vec![0.0; size];
        grades[..relevant].fill(1.0);
        grades
    }

    fn of(lists: &[(usize, usize)]) -> u64 {
        let mut seen = Candidates::default();
        for &(relevant, size) in lists {
            seen.see(size, size, &ideal(relevant, size));
        }
        seen.size()
    }

    #[test]
    fn lists_of_one_size_with_one_relevant_document_are_samples() {
        assert_eq!(of(&[(1, 101), (1, 101), (1, 101)]), 101);
        assert_eq!(of(&[(1, 20)]), 20);
        assert_eq!(of(&[(1, 1001)]), 1001);
    }

    #[test]
    fn other_lists_are_not() {
        for lists in [
            vec![],
            vec![(1, 101), (2, 101)],
            vec![(1, 101), (0, 101)],
            vec![(1, 101), (1, 100)],
            vec![(1, 100), (1, 101), (1, 100)],
            vec![(1, 19)],
            vec![(1, 1002)],
        ] {
            assert_eq!(of(&lists), 0, "{lists:?}");
        }
    }

    #[test]
    fn unjudged_and_unretrieved_documents_make_no_sample() {
        let mut seen = Candidates::default();
        seen.see(101, 100, &ideal(1, 100));
        assert_eq!(seen.size(), 0);
        let mut seen = Candidates::default();
        seen.see(100, 100, &ideal(1, 101));
        assert_eq!(seen.size(), 0);
    }

    #[test]
    fn parts_are_merged() {
        let mut all = Candidates::None;
        all.merge(Candidates::Sampled(50));
        all.merge(Candidates::None);
        assert_eq!(all.size(), 50);
        all.merge(Candidates::Sampled(51));
        assert_eq!(all, Candidates::Other);
    }
}
