//! Sorts lists by score.

use crate::memory::Vec;

/// Sorts one list after another, with memory of its own.
#[derive(Clone, Debug, Default)]
pub struct Sorter {
    /// The high bits of each score's key, and its row in the low ones.
    packed: Vec<u64>,
    /// The rows of the last list in order.
    pub order: Vec<u32>,
}

/// Longer lists leave too few bits for their scores.
const LONGEST_PACKED: usize = 1 << 20;

impl Sorter {
    /// The rows by score, largest first, those of equal scores in the order of the list.
    ///
    /// Integers that hold both the score and the row are sorted faster than pairs. The score gives up
    /// its last bits for that, so rows that differ only in these are sorted once more.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn sort(&mut self, rows: usize, score: impl Fn(usize) -> f64) -> &mut [u32] {
        let key = |row: u32| (descending_bits(score(row as usize)), row);
        self.order.clear();
        if rows > LONGEST_PACKED {
            self.order.extend(0..rows as u32);
            self.order.sort_unstable_by_key(|&row| key(row));
            return &mut self.order;
        }
        let row_bits = rows.next_power_of_two() as u64 - 1;
        self.packed.clear();
        let keys = (0..rows).map(|row| descending_bits(score(row)) & !row_bits | row as u64);
        self.packed.extend(keys);
        self.packed.sort_unstable();
        self.order.extend(self.packed.iter().map(|packed| (packed & row_bits) as u32));
        let mut start = 0;
        for alike in self.packed.chunk_by(|one, other| one & !row_bits == other & !row_bits) {
            if alike.len() > 1 {
                self.order[start..start + alike.len()].sort_unstable_by_key(|&row| key(row));
            }
            start += alike.len();
        }
        &mut self.order
    }
}

/// Integers that ascend where scores descend; 0.0 and -0.0 are one score.
#[must_use]
pub fn descending_bits(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 0 { !bits & !(1 << 63) } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_sorted_by_score_and_place(
            scores in prop::collection::vec(
                prop_oneof![
                    (-3i8..3).prop_map(f64::from),
                    (0u64..9).prop_map(|steps| f64::from_bits(1.5f64.to_bits() + steps)),
                    any::<f64>().prop_filter("a score", |score| score.is_finite()),
                    Just(-0.0),
                ],
                0..90,
            ),
        ) {
            let mut expected: Vec<u32> = (0..).take(scores.len()).collect();
            expected.sort_by(|&a, &b| scores[b as usize].partial_cmp(&scores[a as usize]).unwrap());
            let mut sorter = Sorter::default();
            let order = sorter.sort(scores.len(), |row| scores[row]);
            prop_assert_eq!(&*order, &expected[..]);
        }
    }
}
