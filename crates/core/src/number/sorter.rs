//! Sorts lists by score.

#![allow(clippy::inline_always)] // what is inlined is compiled once for each kind of vectors

use std::cmp::Ordering;

use fearless_simd::Simd;

use crate::number::network::{MOST, Network, groups_for};

/// Sorts one list after another, with memory of its own.
#[derive(Clone, Debug, Default)]
pub struct Sorter {
    /// What sorts few numbers.
    pub network: Network,
    /// Scores whose last bits say in which row they are.
    keys: Vec<f64>,
    /// The step of each score, and its row in the low bits.
    packed: Vec<u64>,
    /// The same in the order of a part of the step.
    halfway: Vec<u64>,
    /// Where the rows of each part of a step begin.
    starts: [Vec<u32>; 2],
    /// The rows of the last list in order.
    pub order: Vec<u32>,
    /// After [`Sorter::sort_first`], their scores; or none, and no two of them are equal.
    pub scores: Vec<f64>,
}

/// Longer lists leave too few bits for their scores.
const LONGEST_WITH_KEYS: usize = 1 << 20;
/// Lists of these lengths are sorted by steps of their scores: shorter ones are sorted faster by a network,
/// and for longer ones, there are too many steps.
const STEPPED: std::ops::Range<usize> = MOST + 1..1 << 16;

/// Added to this, a number below 2^52 is rounded to an integer, which is in the last bits.
const WHOLE: f64 = 4_503_599_627_370_496.0;

impl Sorter {
    /// The rows by score, largest first, those of equal scores in the order of the list.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn sort(&mut self, rows: usize, score: impl Fn(usize) -> f64) -> &mut [u32] {
        let bits = bits_of_rows(rows);
        if STEPPED.contains(&rows) && self.sort_by_steps(rows, &score) {
            return &mut self.order;
        }
        if rows <= LONGEST_WITH_KEYS && write_keys(&mut self.keys, rows, bits, &score) {
            self.sort_keys(rows);
            self.read_keys(rows, bits, &score);
        } else {
            self.order.clear();
            self.order.extend(0..rows as u32);
            self.order.sort_unstable_by_key(|&row| key(row, &score));
        }
        &mut self.order
    }

    /// Sorts the rows of the `k` largest scores, and of those that equal the last of these; or all rows.
    #[inline(always)]
    pub fn sort_first<S: Simd>(&mut self, simd: S, scores: &[f64], k: usize) {
        let (mut count, score) = (scores.len(), |row: usize| scores[row]);
        let (bits, groups) = (bits_of_rows(count), groups_for(k, count));
        let are_few = count <= MOST || groups.is_some();
        if k == 0 || !are_few || !write_keys(&mut self.keys, count, bits, score) {
            self.sort(count, score);
            self.find_scores(&score);
            if self.scores.windows(2).filter(|pair| pair[0] == pair[1]).count() == 0 {
                self.scores.clear();
            }
            return;
        }
        if let Some(groups) = groups {
            let keys = &mut self.keys[..count];
            count = self.network.keep_largest(simd, keys, k, groups, |key| least_alike(key, bits));
        }
        self.sort_keys(count);
        let last = least_alike(self.keys[k - 1], bits);
        let equal = self.keys[k..count].iter().take_while(|&&key| key >= last).count();
        self.read_keys(k + equal, bits, &score);
    }
    /// Puts the first keys in descending order.
    fn sort_keys(&mut self, count: usize) {
        let keys = &mut self.keys[..count];
        if count <= MOST {
            self.network.sort(keys);
        } else {
            keys.sort_unstable_by(|one, other| other.partial_cmp(one).unwrap_or(Ordering::Equal));
        }
    }

    /// Makes the rows of the first keys the order, and finds their scores if some may be equal. Rows whose
    /// keys differ by the row alone are sorted once more, for it took the place of the last bits of their
    /// scores.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn read_keys(&mut self, count: usize, bits: u64, score: &impl Fn(usize) -> f64) {
        let is_alike = |one: f64, other: f64| (one.to_bits() ^ other.to_bits()) <= bits;
        let keys = &self.keys[..count];
        self.order.resize(count, 0);
        for (row, key) in self.order.iter_mut().zip(keys) {
            *row = ((key.to_bits() ^ place_bits(key.to_bits(), bits)) & bits) as u32;
        }
        self.scores.clear();
        // Counting takes no branch per pair.
        let (mut alike, mut wrong) = (0_u64, 0_u64);
        for at in 1..count {
            alike += u64::from(is_alike(keys[at - 1], keys[at]));
        }
        if alike == 0 {
            return;
        }
        self.find_scores(score);
        let (keys, scores) = (&self.keys[..count], &self.scores[..count]);
        for at in 1..count {
            let differ = scores[at - 1] != scores[at];
            wrong += u64::from(is_alike(keys[at - 1], keys[at]) & differ);
        }
        if wrong > 0 {
            let mut rest = &mut self.order[..];
            for alike in keys.chunk_by(|&one, &other| is_alike(one, other)) {
                let (rows, later) = rest.split_at_mut(alike.len());
                rows.sort_unstable_by_key(|&row| key(row, score));
                rest = later;
            }
            self.find_scores(score);
        }
    }

    /// Finds the scores of the rows in order.
    #[inline(always)]
    pub fn find_scores(&mut self, score: &impl Fn(usize) -> f64) {
        self.scores.resize(self.order.len(), 0.0);
        for (found, &row) in self.scores.iter_mut().zip(&self.order) {
            *found = score(row as usize);
        }
    }

    /// Divides the range of the scores into steps of one size, and sorts the rows by their steps: by the
    /// low bits of the number of the step, then by the high ones. Rows on one step are sorted once
    /// more. False, and no order, where too many rows share a step with others.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn sort_by_steps(&mut self, rows: usize, score: &impl Fn(usize) -> f64) -> bool {
        let bits = if rows < 4096 { 10 } else { 11 };
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
pub fn descending_bits(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 0 { !bits & !(1 << 63) } else { bits }
}

/// The last bits of a key, which say in which of so many rows it is.
#[inline(always)]
fn bits_of_rows(rows: usize) -> u64 {
    rows.next_power_of_two() as u64 - 1
}

/// Writes scores whose last bits say in which row they are, and are larger for the first of equal scores;
/// false where that is not possible, because one is not finite, or nearly as large as infinity. Keys are
/// no subnormal numbers, for with some settings of the processor, those equal 0.
#[inline(always)]
fn write_keys(keys: &mut Vec<f64>, rows: usize, bits: u64, score: impl Fn(usize) -> f64) -> bool {
    const SMALLEST: u64 = 1 << 52; // the bits of the smallest number that is not subnormal
    if keys.len() < rows {
        keys.resize(rows, 0.0);
    }
    let mut have_keys = true;
    for (row, key) in keys[..rows].iter_mut().enumerate() {
        let score = score(row);
        have_keys &= score.abs() < f64::MAX / 2.0;
        let moved = (score + 0.0).to_bits().wrapping_add(SMALLEST);
        *key = f64::from_bits(moved & !bits | place_bits(moved, bits) ^ row as u64);
    }
    have_keys
}

/// The last bits of the key of the first row.
#[inline(always)]
fn place_bits(key: u64, bits: u64) -> u64 {
    if key >> 63 == 0 { bits } else { 0 }
}

/// The smallest key that differs from one by its last bits alone.
#[inline(always)]
fn least_alike(key: f64, bits: u64) -> f64 {
    let key = key.to_bits();
    f64::from_bits(key & !bits | !place_bits(key, bits) & bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};
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
            (0u64..300).prop_map(|steps| -f64::from_bits(1.5f64.to_bits() + steps)),
            (0u64..9).prop_map(f64::from_bits),
            prop::sample::select(&[f64::MAX / 2.0, f64::MAX, f64::MIN][..]),
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
        for rows in [200, 512, 1000, 1024, 1025, 4096, 70_000] {
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
            scores in prop::collection::vec(-3.0..3.0, 900..1400), odd in prop::collection::vec(any_score(), 0..20),
        ) {
            check(&[scores, odd].concat());
        }

        #[test]
        fn the_first_are_those_of_all(
            scores in prop::collection::vec(any_score(), 1..150),
            even in prop::collection::vec(-3.0..3.0, 0..1200),
            depth in 1usize..1400,
            is_short in any::<bool>(),
        ) {
            let scores = if is_short { scores } else { [scores, even].concat() };
            let k = depth.min(scores.len());
            let mut sorter = Sorter::default();
            let all = sorter.sort(scores.len(), |row| scores[row]).to_vec();
            let score = |row: u32| scores[row as usize];
            dispatch!(Level::new(), simd => sorter.sort_first(simd, &scores, k));
            let Sorter { order, scores: found, .. } = &sorter;
            let equal = all[k..].iter().take_while(|&&row| score(row) == score(all[k - 1])).count();
            prop_assert!(order.len() >= k + equal);
            prop_assert_eq!(&order[..], &all[..order.len()]);
            if found.is_empty() {
                prop_assert!(order.windows(2).all(|pair| score(pair[0]) != score(pair[1])));
            } else {
                let expected: Vec<f64> = order.iter().map(|&row| score(row)).collect();
                prop_assert_eq!(found, &expected);
            }
        }
    }

    #[test]
    #[allow(clippy::cast_precision_loss)] // small numbers
    fn lists_of_every_length_are_sorted() {
        let limits = [STEPPED.start, STEPPED.end];
        for rows in limits.into_iter().flat_map(|limit| [limit - 1, limit, limit + 1]) {
            // The multiplier is odd, so that no two of the products are the same.
            let scores: Vec<f64> =
                (0..rows).map(|row| (row * 40_503 % (1 << 21)) as f64 / 3.0).collect();
            check(&scores);
        }
    }
}
