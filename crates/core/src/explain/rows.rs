//! A list as a measure sees it, and which of its documents are unjudged.

use std::ops::Range;

use crate::policy::Ties;

/// A list, and which document each unjudged row has.
pub struct Rows {
    /// The grade of each row, NaN where it is unjudged.
    pub relevance: Vec<f64>,
    /// The score of each row, largest first.
    pub scores: Vec<f64>,
    /// What becomes of equal scores.
    pub ties: Ties,
    /// What a gain of 1 is worth at each row, where the measure discounts gains.
    pub weights: Vec<f64>,
    /// The rows without a judgment, and which unjudged document of the query each is.
    pub unjudged: Vec<(usize, usize)>,
    /// The rows of these documents in the list as it was given.
    pub given: Vec<usize>,
}

impl Rows {
    /// The first row that a document could stand at.
    pub fn first_of_tie(&self, row: usize) -> usize {
        if self.ties != Ties::Average {
            return row;
        }
        let before = self.scores[..row].iter().rev();
        row - before.take_while(|&&score| score == self.scores[row]).count()
    }

    /// The rows of each tie that is averaged over; each other row for itself.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        let is_one = move |a: &f64, b: &f64| self.ties == Ties::Average && a == b;
        let mut start = 0;
        self.scores.chunk_by(is_one).map(move |group| {
            start += group.len();
            start - group.len()..start
        })
    }

    /// The mean of what the rows of its tie are worth, for each row.
    #[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
    pub fn average(&self, of_row: &[f64]) -> Vec<f64> {
        let mean = |rows: Range<usize>| {
            let mean = of_row[rows.clone()].iter().sum::<f64>() / rows.len() as f64;
            std::iter::repeat_n(mean, rows.len())
        };
        self.groups().flat_map(mean).collect()
    }
}
