//! Sorts numbers by a network: which of them are compared depends on how many there are alone, so that
//! several are compared at once, and no branch is guessed wrong.
//!
//! It is Batcher's bitonic one, *Sorting networks and their applications*, 1968. Numbers lie in rows of
//! four. First each of the four columns is sorted, then the columns are merged.

// What is inlined is compiled once for each kind of vectors.
#![allow(clippy::inline_always)]

use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch, f64x4};

/// Up to so many numbers are sorted by a network; for more of them, it grows too large.
pub const MOST: usize = 1024;

const COLUMNS: usize = 4;
/// In which order the columns follow one another once they are merged.
const MERGED: [usize; COLUMNS] = [0, 2, 1, 3];
/// The fewest rows.
const FEWEST: usize = 4;
/// So many numbers are sorted in no time.
const FEWEST_GROUPS: usize = FEWEST * COLUMNS;

/// One number of each column, aligned as vectors should be.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Row([f64; COLUMNS]);

/// A network, with memory of its own.
#[derive(Clone, Debug)]
pub struct Network {
    /// The vectors that the processor at hand has.
    level: Level,
    rows: Vec<Row>,
    /// The largest number of each group of them.
    largest: Vec<f64>,
}

impl Default for Network {
    fn default() -> Self {
        Self { level: Level::new(), rows: Vec::new(), largest: Vec::new() }
    }
}

impl Network {
    /// Puts at most [`MOST`] numbers in descending order, none of which is NaN; 0.0 and -0.0 are the same.
    pub fn sort(&mut self, numbers: &mut [f64]) {
        let Self { level, rows, .. } = self;
        dispatch!(*level, simd => sort_with(simd, numbers, rows));
    }

    /// Puts the `k` largest of some numbers in descending order at the front; or all numbers. None may be
    /// NaN.
    #[inline(always)]
    pub fn descend_first<S: Simd>(&mut self, simd: S, numbers: &mut [f64], k: usize) {
        let groups = groups_for(k, numbers.len()).filter(|_| k > 0);
        let count = groups.map_or(numbers.len(), |groups| {
            self.keep_largest(simd, numbers, k, groups, |least| least)
        });
        if count > MOST {
            numbers.sort_unstable_by(|a, b| b.total_cmp(a));
        } else {
            self.sort(&mut numbers[..count]);
        }
    }

    /// Moves the `k` largest numbers to the front, and all others that are at least what `least` makes of a
    /// number that is at most these; how many they are. No branch depends on a number, for those would be
    /// guessed wrong too often.
    #[inline(always)]
    pub fn keep_largest<S: Simd>(
        &mut self,
        simd: S,
        numbers: &mut [f64],
        k: usize,
        groups: usize,
        least: impl Fn(f64) -> f64,
    ) -> usize {
        let mut largest = std::mem::take(&mut self.largest);
        largest.clear();
        largest.extend_from_slice(&numbers[..groups]);
        for chunk in numbers[groups..].chunks(groups) {
            let (vectors, rest) = chunk.as_chunks::<COLUMNS>();
            let (of_groups, _) = largest.as_chunks_mut::<COLUMNS>();
            for (largest, numbers) in of_groups.iter_mut().zip(vectors) {
                let numbers = f64x4::from_slice(simd, numbers);
                numbers.max(f64x4::from_slice(simd, largest)).store_slice(largest);
            }
            for (largest, &number) in largest[4 * vectors.len()..].iter_mut().zip(rest) {
                *largest = largest.max(number);
            }
        }
        self.sort(&mut largest);
        // As many numbers as are wanted are at least this.
        let least = least(largest[k - 1]);
        self.largest = largest;
        let mut count = 0;
        for at in 0..numbers.len() {
            let number = numbers[at];
            numbers[count] = number;
            count += usize::from(number >= least);
        }
        count
    }
}

/// Among how many groups the largest `k` of some numbers are searched: half as many again, so that few others
/// are above the `k`-th of the largest numbers of the groups. Nothing where all are better sorted.
#[inline(always)]
pub fn groups_for(k: usize, numbers: usize) -> Option<usize> {
    let groups = k.saturating_add(k / 2).max(FEWEST_GROUPS).checked_next_power_of_two()?;
    (groups <= MOST.min(numbers / 2)).then_some(groups)
}

#[inline(always)]
fn sort_with<S: Simd>(simd: S, numbers: &mut [f64], rows: &mut Vec<Row>) {
    let count = numbers.len().div_ceil(COLUMNS).next_power_of_two().max(FEWEST);
    if rows.len() < count {
        rows.resize(count, Row([0.0; COLUMNS]));
    }
    let rows = &mut rows[..count];
    let (whole, rest) = numbers.as_chunks::<COLUMNS>();
    for (row, numbers) in rows.iter_mut().zip(whole) {
        row.0 = *numbers;
    }
    for row in &mut rows[whole.len()..] {
        row.0 = [f64::NEG_INFINITY; COLUMNS];
    }
    if !rest.is_empty() {
        rows[whole.len()].0[..rest.len()].copy_from_slice(rest);
    }
    // As many rows are sorted at once as there are registers for.
    match count {
        FEWEST => sort_rows::<S, FEWEST>(simd, rows),
        ..16 => sort_rows::<S, 8>(simd, rows),
        _ if S::f64s::N < COLUMNS => sort_rows::<S, 8>(simd, rows),
        _ => sort_rows::<S, 16>(simd, rows),
    }
    for (column, numbers) in MERGED.into_iter().zip(numbers.chunks_mut(count)) {
        for (number, row) in numbers.iter_mut().zip(&*rows) {
            *number = row.0[column];
        }
    }
}

#[inline(always)]
fn sort_rows<S: Simd, const AT_ONCE: usize>(simd: S, rows: &mut [Row]) {
    for block in rows.as_chunks_mut::<AT_ONCE>().0 {
        let mut vectors = load_all(simd, block);
        sort_block(&mut vectors);
        store_all(&vectors, block);
    }
    let mut size = 2 * AT_ONCE;
    while size <= rows.len() {
        for sorted in rows.chunks_exact_mut(size) {
            let (above, below) = sorted.split_at_mut(size / 2);
            for (one, other) in above.iter_mut().zip(below.iter_mut().rev()) {
                exchange(simd, one, other);
            }
            merge_halves::<S, AT_ONCE>(simd, above);
            merge_halves::<S, AT_ONCE>(simd, below);
        }
        size *= 2;
    }
    // The first two columns are merged with the last two, then the even ones with the odd.
    let (above, below) = rows.split_at_mut(rows.len() / 2);
    for (one, other) in above.iter_mut().zip(below.iter_mut().rev()) {
        let (a, b) = (load(simd, one), load(simd, other));
        let (far_a, far_b) = (pick(simd, a, a, [2, 3, 0, 1]), pick(simd, b, b, [2, 3, 0, 1]));
        pick(simd, a.max(far_b), a.min(far_b), [0, 1, 6, 7]).store_slice(&mut one.0);
        pick(simd, b.max(far_a), b.min(far_a), [0, 1, 6, 7]).store_slice(&mut other.0);
    }
    merge_halves::<S, AT_ONCE>(simd, rows);
    let (above, below) = rows.split_at_mut(rows.len() / 2);
    for (one, other) in above.iter_mut().zip(below.iter_mut().rev()) {
        let (a, b) = (load(simd, one), load(simd, other));
        let (far_a, far_b) = (pick(simd, a, a, [3, 2, 1, 0]), pick(simd, b, b, [3, 2, 1, 0]));
        let a = pick(simd, a.max(far_b), a.min(far_b), [0, 5, 2, 7]);
        let b = pick(simd, b.max(far_a), b.min(far_a), [0, 5, 2, 7]);
        for (vector, row) in [(a, one), (b, other)] {
            let far = pick(simd, vector, vector, [2, 3, 0, 1]);
            pick(simd, vector.max(far), vector.min(far), [0, 1, 6, 7]).store_slice(&mut row.0);
        }
    }
    merge_halves::<S, AT_ONCE>(simd, rows);
}

/// Sorts each column, where each is bitonic.
#[inline(always)]
fn merge_halves<S: Simd, const AT_ONCE: usize>(simd: S, rows: &mut [Row]) {
    let mut stride = rows.len() / 2;
    while stride >= AT_ONCE {
        for group in rows.chunks_exact_mut(2 * stride) {
            let (above, below) = group.split_at_mut(stride);
            for (one, other) in above.iter_mut().zip(below) {
                exchange(simd, one, other);
            }
        }
        stride /= 2;
    }
    for block in rows.as_chunks_mut::<AT_ONCE>().0 {
        let mut vectors = load_all(simd, block);
        merge_block(&mut vectors);
        store_all(&vectors, block);
    }
}

#[inline(always)]
fn sort_block<S: Simd, const N: usize>(vectors: &mut [f64x4<S>; N]) {
    exchange_all::<S, N, 1>(vectors);
    exchange_all::<S, N, 3>(vectors);
    exchange_all::<S, N, 1>(vectors);
    if N > 4 {
        exchange_all::<S, N, 7>(vectors);
        exchange_all::<S, N, 2>(vectors);
        exchange_all::<S, N, 1>(vectors);
    }
    if N > 8 {
        exchange_all::<S, N, 15>(vectors);
        exchange_all::<S, N, 4>(vectors);
        exchange_all::<S, N, 2>(vectors);
        exchange_all::<S, N, 1>(vectors);
    }
}

#[inline(always)]
fn merge_block<S: Simd, const N: usize>(vectors: &mut [f64x4<S>; N]) {
    if N > 8 {
        exchange_all::<S, N, 8>(vectors);
    }
    if N > 4 {
        exchange_all::<S, N, 4>(vectors);
    }
    exchange_all::<S, N, 2>(vectors);
    exchange_all::<S, N, 1>(vectors);
}

/// Exchanges each with the one whose place differs in these bits.
#[inline(always)]
fn exchange_all<S: Simd, const N: usize, const BITS: usize>(vectors: &mut [f64x4<S>; N]) {
    for at in 0..N {
        if at < at ^ BITS {
            let (one, other) = (vectors[at], vectors[at ^ BITS]);
            (vectors[at], vectors[at ^ BITS]) = (one.max(other), other.min(one));
        }
    }
}

/// Puts the larger number of each column into the first row.
#[inline(always)]
fn exchange<S: Simd>(simd: S, one: &mut Row, other: &mut Row) {
    let (a, b) = (load(simd, one), load(simd, other));
    a.max(b).store_slice(&mut one.0);
    b.min(a).store_slice(&mut other.0);
}

/// The elements of two vectors at these places, those of the second one from 4 on.
#[inline(always)]
fn pick<S: Simd>(simd: S, a: f64x4<S>, b: f64x4<S>, places: [usize; COLUMNS]) -> f64x4<S> {
    let at = |place: usize| if places[place] < 4 { a[places[place]] } else { b[places[place] - 4] };
    f64x4::from_slice(simd, &[at(0), at(1), at(2), at(3)])
}

#[inline(always)]
fn load<S: Simd>(simd: S, row: &Row) -> f64x4<S> {
    f64x4::from_slice(simd, &row.0)
}

#[inline(always)]
fn load_all<S: Simd, const N: usize>(simd: S, rows: &[Row; N]) -> [f64x4<S>; N] {
    let mut vectors = [f64x4::splat(simd, 0.0); N];
    for at in 0..N {
        vectors[at] = load(simd, &rows[at]);
    }
    vectors
}

#[inline(always)]
fn store_all<S: Simd, const N: usize>(vectors: &[f64x4<S>; N], rows: &mut [Row; N]) {
    for at in 0..N {
        vectors[at].store_slice(&mut rows[at].0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The vectors that the processor at hand has, and narrower ones.
    fn levels() -> Vec<Level> {
        let mut levels = vec![Level::new()];
        #[cfg(target_arch = "x86_64")]
        levels.extend(Level::new().as_sse4_2().map(Level::Sse4_2));
        levels
    }

    fn any_number() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>().prop_filter("a number", |number| !number.is_nan()),
            (-3i8..3).prop_map(f64::from),
            prop::sample::select(&[f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324][..]),
        ]
    }

    #[test]
    fn all_zeros_and_ones_are_sorted() {
        // A network that sorts these sorts everything: Knuth, *Sorting and searching*, 5.3.4.
        for level in levels() {
            let mut network = Network { level, ..Network::default() };
            for ones in 0_u16..=u16::MAX {
                let mut numbers: [f64; 16] = std::array::from_fn(|at| (ones >> at & 1).into());
                network.sort(&mut numbers);
                let first = ones.count_ones() as usize;
                assert!(numbers[..first].iter().all(|&number| number == 1.0), "{ones:b}");
                assert!(numbers[first..].iter().all(|&number| number == 0.0), "{ones:b}");
            }
        }
    }

    proptest! {
        #[test]
        fn numbers_of_every_kind_are_sorted(
            numbers in prop::collection::vec(any_number(), 0..=MOST),
            length in 0..=MOST,
        ) {
            let numbers = &numbers[..numbers.len().min(length)];
            let mut expected = numbers.to_vec();
            expected.sort_by(|a, b| b.partial_cmp(a).unwrap());
            for level in levels() {
                let mut sorted = numbers.to_vec();
                Network { level, ..Network::default() }.sort(&mut sorted);
                prop_assert_eq!(&sorted, &expected);
                // None is lost, not even the sign of a zero.
                let bits = |numbers: &[f64]| {
                    let mut bits: Vec<u64> = numbers.iter().map(|number| number.to_bits()).collect();
                    bits.sort_unstable();
                    bits
                };
                prop_assert_eq!(bits(&sorted), bits(numbers));
            }
        }

        #[test]
        fn the_first_numbers_are_the_largest(
            numbers in prop::collection::vec(any_number(), 0..300),
            depth in 0usize..300,
        ) {
            let k = depth.min(numbers.len());
            let mut expected = numbers.clone();
            expected.sort_by(|a, b| b.partial_cmp(a).unwrap());
            let mut found = numbers;
            let mut network = Network::default();
            dispatch!(network.level, simd => network.descend_first(simd, &mut found, k));
            prop_assert_eq!(&found[..k], &expected[..k]);
        }
    }
}
