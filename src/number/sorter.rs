//! Sorts lists by score.

use crate::memory::Vec;

/// Sorts one list after another, with memory of its own.
#[derive(Clone, Debug, Default)]
pub struct Sorter {
    /// The high bits of each score's key, and its row in the low ones.
    packed: Vec<u64>,
    /// The same in the order of a part of the key.
    halfway: Vec<u64>,
    /// Where the rows of each part of a key begin.
    starts: [Vec<u32>; 2],
    /// The rows of the last list in order.
    pub order: Vec<u32>,
}

/// Longer lists leave too few bits for their scores.
const LONGEST_PACKED: usize = 1 << 20;
/// Lists of these lengths are sorted by steps of their scores; shorter ones are too short for the
/// tables that it takes, and longer ones for the number of steps.
const STEPPED: std::ops::Range<usize> = 192..1 << 16;

/// Added to this, a number below 2^52 is rounded to an integer, which is in the last bits.
const WHOLE: f64 = 4_503_599_627_370_496.0;

impl Sorter {
    /// The rows by score, largest first, those of equal scores in the order of the list.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn sort(&mut self, rows: usize, score: impl Fn(usize) -> f64) -> &mut [u32] {
        self.order.clear();
        if rows > LONGEST_PACKED {
            self.order.extend(0..rows as u32);
            self.order.sort_unstable_by_key(|&row| key(row, &score));
        } else if !(STEPPED.contains(&rows) && self.sort_by_steps(rows, &score)) {
            self.sort_packed(rows, &score);
        }
        &mut self.order
    }

    /// Integers that hold both the score and the row are sorted faster than pairs. The score gives up
    /// its last bits for that, so rows that differ only in these are sorted once more.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn sort_packed(&mut self, rows: usize, score: &impl Fn(usize) -> f64) {
        let row_bits = rows.next_power_of_two() as u64 - 1;
        self.packed.clear();
        let keys = (0..rows).map(|row| descending_bits(score(row)) & !row_bits | row as u64);
        self.packed.extend(keys);
        self.packed.sort_unstable();
        self.order.clear();
        self.order.extend(self.packed.iter().map(|packed| (packed & row_bits) as u32));
        let mut start = 0;
        for alike in self.packed.chunk_by(|one, other| one & !row_bits == other & !row_bits) {
            let rows = &mut self.order[start..start + alike.len()];
            // Rows of one score are in order.
            let first = score(rows[0] as usize);
            if rows.iter().any(|&row| score(row as usize) != first) {
                rows.sort_unstable_by_key(|&row| key(row, score));
            }
            start += alike.len();
        }
    }

    /// Divides the range of the scores into steps of one size, and sorts the rows by their steps: by the
    /// low bits of the number of the step, then by the high ones. Rows on one step are sorted once
    /// more. False, and no order, where too many rows share a step with others.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn sort_by_steps(&mut self, rows: usize, score: &impl Fn(usize) -> f64) -> bool {
        let bits = match rows {
            ..512 => 8,
            512..4096 => 10,
            _ => 11,
        };
        let (mut least, mut most) = ([f64::INFINITY; 4], [f64::NEG_INFINITY; 4]);
        for row in 0..rows {
            let (score, at) = (score(row), row % least.len());
            least[at] = if score < least[at] { score } else { least[at] };
            most[at] = if score > most[at] { score } else { most[at] };
        }
        let least = least.into_iter().fold(f64::INFINITY, f64::min);
        let most = most.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let steps = f64::from((1_u32 << (2 * bits)) - 1);
        let scale = steps / (most - least);
        if !(scale.is_finite() && scale > 0.0) {
            return false;
        }
        let step = |score: f64| ((most - score) * scale + WHOLE).to_bits() << 32;
        self.packed.clear();
        self.packed.extend((0..rows).map(|row| step(score(row)) | row as u64));
        let parts = 1 << bits;
        let low = |packed: u64| (packed >> 32) as usize & (parts - 1);
        let high = |packed: u64| (packed >> (32 + bits)) as usize & (parts - 1);
        let [by_low, by_high] = &mut self.starts;
        for starts in [&mut *by_low, &mut *by_high] {
            starts.clear();
            starts.resize(parts, 0);
        }
        for &packed in &self.packed {
            by_low[low(packed)] += 1;
            by_high[high(packed)] += 1;
        }
        for starts in [&mut *by_low, &mut *by_high] {
            let mut next = 0;
            for start in starts {
                next += std::mem::replace(start, next);
            }
        }
        self.halfway.resize(rows, 0);
        self.order.resize(rows, 0);
        for &packed in &self.packed {
            let place = &mut by_low[low(packed)];
            self.halfway[*place as usize] = packed;
            *place += 1;
        }
        for &packed in &self.halfway {
            let place = &mut by_high[high(packed)];
            self.order[*place as usize] = packed as u32;
            *place += 1;
        }
        self.sort_nearly_sorted(score)
    }

    /// Sorts an order in which only neighbours can be wrong; false where there are many of them.
    fn sort_nearly_sorted(&mut self, score: &impl Fn(usize) -> f64) -> bool {
        let order = &mut self.order;
        let is_wrong = |pair: &[u32]| score(pair[0] as usize) < score(pair[1] as usize);
        let wrong = order.windows(2).fold(0, |wrong, pair| wrong + usize::from(is_wrong(pair)));
        if wrong == 0 {
            return true;
        }
        if wrong > order.len() / 8 {
            return false;
        }
        let mut moves = 4 * order.len();
        for end in 1..order.len() {
            let mut at = end;
            while at > 0 && is_wrong(&order[at - 1..=at]) {
                if moves == 0 {
                    return false;
                }
                order.swap(at - 1, at);
                (at, moves) = (at - 1, moves - 1);
            }
        }
        true
    }
}

/// What rows are sorted by: their scores, then their places.
fn key(row: u32, score: &impl Fn(usize) -> f64) -> (u64, u32) {
    (descending_bits(score(row as usize)), row)
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

    fn check(scores: &[f64]) {
        let mut expected: Vec<u32> = (0..).take(scores.len()).collect();
        expected.sort_by(|&a, &b| scores[b as usize].partial_cmp(&scores[a as usize]).unwrap());
        let mut sorter = Sorter::default();
        let order = sorter.sort(scores.len(), |row| scores[row]);
        assert_eq!(&*order, &expected[..]);
    }

    fn any_score() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-3i8..3).prop_map(f64::from),
            (0u64..9).prop_map(|steps| f64::from_bits(1.5f64.to_bits() + steps)),
            any::<f64>().prop_filter("a score", |score| score.is_finite()),
            Just(-0.0),
        ]
    }

    #[test]
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // small numbers
    fn long_lists_of_every_kind_are_sorted() {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from((state >> 33) as u32) / f64::from(1 << 31)
        };
        for rows in [191, 192, 511, 512, 1000, 4096, 70_000] {
            let even: Vec<f64> = (0..rows).map(|_| next()).collect();
            let with =
                |change: fn(f64) -> f64| even.iter().copied().map(change).collect::<Vec<_>>();
            check(&even);
            check(&with(|score| (score * 10.0).floor()));
            check(&with(|score| (score * 3.0).floor() - 1.0 + score * 1e-16));
            check(&with(|score| if score > 0.99 { 1e300 } else { score }));
            check(&with(|score| if score > 0.99 { 1e6 } else { score }));
            check(&with(|score| (1.0 / (score + 1e-9)).powi(3)));
            check(&with(|score| if score > 0.5 { f64::MAX } else { f64::MIN }));
            check(&with(|score| if score > 0.5 { 0.0 } else { -0.0 }));
            check(&with(|score| score * 1e-310));
            // But for the last, the scores are two runs on one step.
            let half = rows / 2;
            let mut runs: Vec<f64> = (0..rows).map(|row| -((row % half) as f64)).collect();
            runs[rows - 1] = 1e300;
            check(&runs);
        }
    }

    proptest! {
        #[test]
        fn rows_are_sorted_by_score_and_place(scores in prop::collection::vec(any_score(), 0..90)) {
            check(&scores);
        }

        #[test]
        fn long_lists_are_sorted_by_score_and_place(
            scores in prop::collection::vec(-3.0..3.0, 190..700), odd in prop::collection::vec(any_score(), 0..20),
        ) {
            check(&[scores, odd].concat());
        }
    }

    #[test]
    #[allow(clippy::cast_precision_loss)] // small numbers
    fn lists_of_every_length_are_sorted() {
        let limits = [192_usize, 1 << 16];
        for rows in limits.into_iter().flat_map(|limit| [limit - 1, limit, limit + 1]) {
            // The multiplier is odd, so that no two of the products are the same.
            let scores: Vec<f64> =
                (0..rows).map(|row| (row * 40_503 % (1 << 21)) as f64 / 3.0).collect();
            check(&scores);
        }
    }
}
