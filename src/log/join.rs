//! Finds the rankings of labels.

use std::cmp::Ordering;

use super::labels::Labels;
use super::rankings::Rankings;
use super::texts::count;
use crate::memory::Vec;

/// The rows of labels whose ranking is there, and before them the rows of their rankings. Both blocks are
/// sorted; so is what is found.
#[must_use]
pub fn join(rankings: &Rankings, labels: &Labels) -> (Vec<i64>, Vec<i64>) {
    let (mut positions, mut rows) = (Vec::new(), Vec::new());
    let mut position = 0;
    for row in 0..labels.len() {
        let order = loop {
            if position == rankings.len() {
                return (positions, rows);
            }
            let by_time = rankings.times[position].cmp(&labels.shown[row]);
            let order = by_time
                .then_with(|| rankings.ranking_ids.get(position).cmp(labels.ranking_ids.get(row)));
            if order != Ordering::Less {
                break order;
            }
            position += 1;
        };
        if order == Ordering::Equal {
            positions.push(count(position));
            rows.push(count(row));
        }
    }
    (positions, rows)
}
