//! Sorts lists by score.

#![allow(clippy::inline_always)] // what is inlined is compiled once for each kind of vectors

use fearless_simd::{Level, Simd, SimdBase, SimdFloat, f64x4};

use crate::memory::Vec;
use crate::number::network;

/// Sorts one list after another, with memory of its own.
#[derive(Clone, Debug)]
pub struct Sorter {
    /// The vectors that the processor at hand has.
    level: Level,
    /// Scores whose last bits say in which row they are.
    keys: Vec<f64>,
    memory: Memory,
    /// The high bits of each score's key, and its row in the low ones.
    packed: Vec<u64>,
    /// The same in the order of a part of the key.
    halfway: Vec<u64>,
    /// Where the rows of each part of a key begin.
    starts: [Vec<u32>; 2],
    /// The rows of the last list in order.
    pub order: Vec<u32>,
    /// After [`Sorter::sort_first`], their scores; or none, and no two of them are equal.
    pub scores: Vec<f64>,
}

/// What the largest numbers are searched with.
#[derive(Clone, Debug, Default)]
struct Memory {
    largest: Vec<f64>,
    rows: Vec<network::Row>,
}

/// Longer lists leave too few bits for their scores.
const LONGEST_PACKED: usize = 1 << 20;
/// Lists of these lengths are sorted by steps of their scores: shorter ones are sorted faster by a network,
/// and for longer ones, there are too many steps.
const STEPPED: std::ops::Range<usize> = network::MOST + 1..1 << 16;
/// So many numbers are sorted in no time.
const FEWEST_GROUPS: usize = 16;

/// Added to this, a number below 2^52 is rounded to an integer, which is in the last bits.
const WHOLE: f64 = 4_503_599_627_370_496.0;

impl Default for Sorter {
    fn default() -> Self {
        Self {
            level: Level::new(),
            keys: Vec::new(),
            memory: Memory::default(),
            packed: Vec::new(),
            halfway: Vec::new(),
            starts: [Vec::new(), Vec::new()],
            order: Vec::new(),
            scores: Vec::new(),
        }
    }
}

impl Sorter {
    /// The rows by score, largest first, those of equal scores in the order of the list.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn sort(&mut self, rows: usize, score: impl Fn(usize) -> f64) -> &mut [u32] {
        match rows {
            ..=network::MOST if self.sort_by_network(rows, &score) => {}
            _ if STEPPED.contains(&rows) && self.sort_by_steps(rows, &score) => {}
            ..=LONGEST_PACKED => self.sort_packed(rows, &score),
            _ => {
                self.order.clear();
                self.order.extend(0..rows as u32);
                self.order.sort_unstable_by_key(|&row| key(row, &score));
            }
        }
        &mut self.order
    }

    /// Sorts the rows of the `k` largest scores, and of those that equal the last of these; or all rows.
    #[inline(always)]
    pub fn sort_first<S: Simd>(&mut self, simd: S, scores: &[f64], k: usize) {
        if !self.sort_first_by_network(simd, scores, k) {
            self.sort(scores.len(), |row| scores[row]);
            self.find_scores(scores);
        }
    }

    /// Finds the scores even where no two of them are equal.
    pub fn find_scores(&mut self, scores: &[f64]) {
        find_scores(&mut self.scores, &self.order, &|row| scores[row]);
    }

    /// Puts the `k` largest of some numbers in descending order at the front; or all numbers. None may be
    /// NaN.
    #[inline(always)]
    pub fn descend_first<S: Simd>(&mut self, simd: S, numbers: &mut [f64], k: usize) {
        let mut count = numbers.len();
        if k > 0 && has_groups(count, k) {
            count = keep_largest(simd, numbers, k, 0, &mut self.memory);
        }
        if count > network::MOST {
            numbers.sort_unstable_by(|a, b| b.total_cmp(a));
        } else {
            network::sort(simd.level(), &mut numbers[..count], &mut self.memory.rows);
        }
    }

    /// The same; false where there are too many scores, or some that have no key.
    #[inline(always)]
    fn sort_first_by_network<S: Simd>(&mut self, simd: S, scores: &[f64], k: usize) -> bool {
        let mut count = scores.len();
        let (bits, is_searched) = (bits_of_rows(count), has_groups(count, k));
        if k == 0 || !(is_searched || count <= network::MOST) {
            return false;
        }
        if !write_keys(&mut self.keys, count, bits, |row| scores[row]) {
            return false;
        }
        if is_searched {
            count = keep_largest(simd, &mut self.keys[..count], k, bits, &mut self.memory);
        }
        if count > network::MOST {
            return false;
        }
        network::sort(simd.level(), &mut self.keys[..count], &mut self.memory.rows);
        let last = least_alike(self.keys[k - 1], bits);
        let equal = self.keys[k..count].iter().take_while(|&&key| key >= last).count();
        self.read_keys(k + equal, bits);
        self.settle(bits, &|row| scores[row]);
        true
    }

    /// Sorts the rows; false where a score has no key.
    fn sort_by_network(&mut self, rows: usize, score: &impl Fn(usize) -> f64) -> bool {
        let bits = bits_of_rows(rows);
        if !write_keys(&mut self.keys, rows, bits, score) {
            return false;
        }
        let Self { level, keys, memory, .. } = self;
        network::sort(*level, &mut keys[..rows], &mut memory.rows);
        self.read_keys(rows, bits);
        self.settle(bits, score);
        true
    }

    /// Makes the rows of the first keys the order.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn read_keys(&mut self, count: usize, bits: u64) {
        self.order.resize(count, 0);
        for (row, key) in self.order.iter_mut().zip(&self.keys) {
            *row = ((key.to_bits() ^ place_bits(key.to_bits(), bits)) & bits) as u32;
        }
    }

    /// Sorts rows whose keys differ by the row alone once more, for the row took the place of the last
    /// bits of their scores. If there are any, it finds the scores.
    #[inline(always)]
    fn settle(&mut self, bits: u64, score: &impl Fn(usize) -> f64) {
        let is_alike = |one: f64, other: f64| (one.to_bits() ^ other.to_bits()) <= bits;
        let keys = &self.keys[..self.order.len()];
        let (mut alike, mut wrong) = (0_u64, 0_u64);
        // Counting takes no branch per pair.
        for at in 1..keys.len() {
            alike += u64::from(is_alike(keys[at - 1], keys[at]));
        }
        self.scores.clear();
        if alike == 0 {
            return;
        }
        find_scores(&mut self.scores, &self.order, score);
        let scores = &self.scores[..keys.len()];
        for at in 1..keys.len() {
            let differ = scores[at - 1] != scores[at];
            wrong += u64::from(is_alike(keys[at - 1], keys[at]) & differ);
        }
        if wrong == 0 {
            return;
        }
        let mut start = 0;
        for alike in keys.chunk_by(|&one, &other| is_alike(one, other)) {
            let rows = &mut self.order[start..start + alike.len()];
            rows.sort_unstable_by_key(|&row| key(row, score));
            start += alike.len();
        }
        find_scores(&mut self.scores, &self.order, score);
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
#[must_use]
pub fn descending_bits(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 0 { !bits & !(1 << 63) } else { bits }
}

/// Writes the scores of rows in order.
#[inline(always)]
fn find_scores(scores: &mut Vec<f64>, order: &[u32], score: &impl Fn(usize) -> f64) {
    scores.resize(order.len(), 0.0);
    for (found, &row) in scores.iter_mut().zip(order) {
        *found = score(row as usize);
    }
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

/// Moves the `k` largest numbers to the front, and others, among them all that differ from the last one of
/// these by no more than some last bits; how many they are. No branch depends on a number, for those would
/// be guessed wrong too often.
#[inline(always)]
fn keep_largest<S: Simd>(
    simd: S,
    numbers: &mut [f64],
    k: usize,
    bits: u64,
    memory: &mut Memory,
) -> usize {
    let groups = groups_for(k);
    let Memory { largest, rows } = memory;
    // The largest number of each group.
    largest.clear();
    largest.extend_from_slice(&numbers[..groups]);
    for chunk in numbers[groups..].chunks(groups) {
        let (vectors, rest) = chunk.as_chunks::<4>();
        let (largest, _) = largest.as_chunks_mut::<4>();
        for (largest, numbers) in largest.iter_mut().zip(vectors) {
            let numbers = f64x4::from_slice(simd, numbers);
            numbers.max(f64x4::from_slice(simd, largest)).store_slice(largest);
        }
        if let Some(largest) = largest.get_mut(vectors.len()) {
            for (largest, &number) in largest.iter_mut().zip(rest) {
                *largest = largest.max(number);
            }
        }
    }
    network::sort(simd.level(), largest, rows);
    // As many numbers as are wanted are at least this.
    let least = least_alike(largest[k - 1], bits);
    let mut count = 0;
    for at in 0..numbers.len() {
        let number = numbers[at];
        numbers[count] = number;
        count += usize::from(number >= least);
    }
    count
}

/// Among how many groups the largest `k` numbers are searched: half as many again, so that few others are
/// above the `k`-th of the largest numbers of the groups.
#[inline(always)]
fn groups_for(k: usize) -> usize {
    (k + k / 2).next_power_of_two().max(FEWEST_GROUPS)
}

/// Whether there are enough numbers for groups, and not too many groups.
#[inline(always)]
fn has_groups(count: usize, k: usize) -> bool {
    groups_for(k) <= network::MOST.min(count / 2)
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
    use fearless_simd::dispatch;
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

        #[test]
        fn the_first_numbers_are_the_largest(
            numbers in prop::collection::vec(any_score(), 0..300),
            depth in 0usize..300,
        ) {
            let k = depth.min(numbers.len());
            let mut expected = numbers.clone();
            expected.sort_by(|a, b| b.partial_cmp(a).unwrap());
            let mut found = numbers;
            let mut sorter = Sorter::default();
            dispatch!(Level::new(), simd => sorter.descend_first(simd, &mut found, k));
            prop_assert_eq!(&found[..k], &expected[..k]);
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
