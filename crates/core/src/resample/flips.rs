//! Sign-flip tests of all pairs of systems over many families, such as measures and slices.
//!
//! Under the null hypothesis, the difference of two systems on a unit (a query, or all queries of a
//! user) is as likely to be `d` as `-d`. The p-value is the share of sign flips whose sum of differences
//! is at least as large as the one observed. All pairs of all families use the same flips, so that the
//! largest of their statistics has the distribution that dependent hypotheses have together (Westfall
//! and Young, *Resampling-Based Multiple Testing*, 1993).
//!
//! Flips are drawn as blocks of 2^b. The units of a block get random codes of b bits, and flip `i` of
//! the block turns the sign of a unit if its code and `i` have an odd number of bits in common. All sums
//! of a block are then one fast Walsh-Hadamard transform, and take b additions per flip instead of one
//! per unit. The first block is a random subgroup of all flips, and the others are random cosets of it,
//! so the test is exact for any number of flips (Hemerik and Goeman, *Exact testing with random
//! permutations*, 2018). Any two flips are independent, so the p-value has the same variance as with
//! flips that are all drawn separately.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Result;
use crate::number::random::Random;
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// All flips are counted where at most so many units differ.
pub const MOST_ENUMERATED: usize = 16;
/// Values that differ by less, relative to the larger one, are equal: they only differ by rounding.
pub const CLOSE: f64 = 1e-12;
/// The bits of a block: small blocks stay in the first cache, large ones spare passes over the units.
const BITS: (u32, u32) = (8, 12);
/// Fewer additions than this are not worth a thread.
const FEW_ADDITIONS: usize = 4_000_000;
/// Which random numbers of a seed are used for the codes of units, and for the flips to leave out.
const CODES: u64 = u64::MAX;
const LEFT_OUT: u64 = u64::MAX - 1;

/// The values of some systems on some units, and the pairs of systems to compare.
#[derive(Clone, Debug)]
pub struct Family {
    units: Vec<usize>,
    /// System after system.
    values: Vec<f64>,
    pairs: Vec<(usize, usize)>,
}

impl Family {
    /// A family; none where the numbers don't fit.
    pub fn new(
        units: Vec<usize>,
        values: Vec<f64>,
        systems: usize,
        pairs: Vec<(usize, usize)>,
    ) -> Option<Self> {
        let fits = values.len() == units.len().checked_mul(systems)?
            && pairs.iter().all(|&(one, other)| one < systems && other < systems);
        fits.then_some(Self { units, values, pairs })
    }

    pub(super) fn units(&self) -> &[usize] {
        &self.units
    }

    pub(super) fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    fn of(&self, system: usize) -> &[f64] {
        &self.values[system * self.units.len()..(system + 1) * self.units.len()]
    }

    /// The differences of a pair, 0 where the values are equal except for rounding.
    pub(super) fn differences(&self, (one, other): (usize, usize)) -> impl Iterator<Item = f64> {
        let values = self.of(one).iter().zip(self.of(other));
        values.map(|(&one, &other)| if is_close(one, other) { 0.0 } else { other - one })
    }
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= CLOSE * one.abs().max(other.abs())
}

/// What was counted for each pair of each family, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// The sum of differences, divided by the root of their sum of squares: in standard errors under
    /// random flips.
    pub statistics: Vec<f64>,
    /// The number of units whose values differ.
    pub differing: Vec<u64>,
    /// How many flips have a sum as large, and of how many; both include the flip that changes nothing.
    pub larger: Vec<(u64, u64)>,
    /// How many flips have a statistic as large in any of the pairs that aren't larger, by step-down.
    pub largest: Vec<u64>,
    /// Of how many.
    pub flips: u64,
    /// Whether these are all flips that there are.
    pub is_all: bool,
}

/// A hypothesis that two columns have the same sum.
#[derive(Clone, Copy, Debug)]
struct Pair {
    columns: (usize, usize),
    /// What a difference of sums is multiplied by.
    scale: f64,
    statistic: f64,
    /// The statistic less what rounding may have added.
    threshold: f64,
    differing: usize,
}

/// Counts the flips with sums as large as those observed, for all pairs of all families. Flips are drawn
/// for all units there are, so that those of a pair don't depend on the other pairs and families.
pub fn count_flips(
    families: &[Family],
    units: usize,
    flips: usize,
    seed: u64,
    threads: usize,
    watch: Watch<'_>,
) -> Result<Counted> {
    let (mut families, differing) = drop_equal(families, units);
    let drawn = if differing.len() <= MOST_ENUMERATED {
        for unit in families.iter_mut().flat_map(|family| &mut family.units) {
            *unit = differing.partition_point(|other| other < unit);
        }
        Flips::enumerate(differing.len())
    } else {
        Flips::draw(units, flips, seed)
    };
    let columns: Vec<(&[usize], &[f64])> = families
        .iter()
        .flat_map(|family| {
            let systems = family.values.len().checked_div(family.units.len()).unwrap_or(0);
            (0..systems).map(|system| (&family.units[..], family.of(system)))
        })
        .collect();
    let mut pairs = Vec::new();
    let mut first = 0;
    for family in &families {
        if family.units.is_empty() {
            pairs.extend(family.pairs.iter().map(|_| EQUAL));
            continue;
        }
        pairs.extend(family.pairs.iter().map(|&pair| measure(family, pair, first)));
        first += family.values.len() / family.units.len();
    }
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_unstable_by(|&one, &other| {
        let size = |at: usize| pairs[at].statistic.abs();
        size(one).total_cmp(&size(other)).then(other.cmp(&one))
    });
    let ascending: Vec<Pair> = order.iter().map(|&at| pairs[at]).collect();
    let counts = drawn.count(&columns, &ascending, threads, watch)?;
    let mut found = Counted {
        statistics: pairs.iter().map(|pair| pair.statistic).collect(),
        differing: pairs.iter().map(|pair| pair.differing as u64).collect(),
        larger: vec![(0, drawn.total()); pairs.len()],
        largest: vec![0; pairs.len()],
        flips: drawn.total(),
        is_all: drawn.is_all,
    };
    let mut most = 0;
    for (&at, &(own, all)) in order.iter().zip(&counts).rev() {
        found.larger[at].0 = own;
        // A hypothesis is not rejected before those that are larger.
        most = most.max(all);
        found.largest[at] = most;
    }
    if !drawn.is_all {
        let mut at = 0;
        for family in &families {
            for &pair in &family.pairs {
                if pairs[at].differing <= MOST_ENUMERATED {
                    watch(Event::Work)?;
                    found.larger[at] = enumerate(family, pair, &pairs[at]);
                }
                at += 1;
            }
        }
    }
    Ok(found)
}

/// The families with only the units on which systems differ, and these units in ascending order.
fn drop_equal(families: &[Family], units: usize) -> (Vec<Family>, Vec<usize>) {
    let mut is_used = vec![false; units];
    let mut made = Vec::with_capacity(families.len());
    for family in families {
        let mut differs = vec![false; family.units.len()];
        for &pair in &family.pairs {
            for (differs, difference) in differs.iter_mut().zip(family.differences(pair)) {
                *differs |= difference != 0.0;
            }
        }
        let mut values = Vec::new();
        for row in family.values.chunks_exact(family.units.len().max(1)) {
            let row = row.iter().zip(&differs).filter(|(_, differs)| **differs);
            values.extend(row.map(|(&value, _)| value));
        }
        let kept = family.units.iter().zip(&differs).filter(|(_, differs)| **differs);
        let kept: Vec<usize> = kept.map(|(&unit, _)| unit).collect();
        for &unit in &kept {
            is_used[unit] = true;
        }
        made.push(Family { units: kept, values, pairs: family.pairs.clone() });
    }
    (made, (0..units).filter(|&unit| is_used[unit]).collect())
}

/// A pair without any difference.
const EQUAL: Pair =
    Pair { columns: (0, 0), scale: 0.0, statistic: 0.0, threshold: 0.0, differing: 0 };

/// The statistic of a pair whose family has its columns from the first one on.
fn measure(family: &Family, pair: (usize, usize), first: usize) -> Pair {
    let (mut sum, mut squares, mut differing) = (0.0, 0.0_f64, 0);
    for difference in family.differences(pair) {
        sum += difference;
        squares += difference * difference;
        differing += usize::from(difference != 0.0);
    }
    if differing == 0 || squares == 0.0 {
        return EQUAL;
    }
    let scale = squares.sqrt().recip();
    let total = |system| family.of(system).iter().map(|value| value.abs()).sum::<f64>();
    let rounding = CLOSE * (total(pair.0) + total(pair.1));
    Pair {
        columns: (first + pair.0, first + pair.1),
        scale,
        statistic: sum * scale,
        threshold: (sum.abs() - rounding) * scale,
        differing,
    }
}

/// How many of all flips of the differences of a pair have a sum as large.
fn enumerate(family: &Family, pair: (usize, usize), measured: &Pair) -> (u64, u64) {
    let mut sums = vec![0.0; 1 << measured.differing];
    let differing = family.differences(pair).filter(|difference| *difference != 0.0);
    for (at, difference) in differing.enumerate() {
        sums[1 << at] = difference;
    }
    transform(&mut sums);
    let is_large = |sum: &&f64| (**sum * measured.scale).abs() >= measured.threshold;
    (sums.iter().filter(is_large).count() as u64, sums.len() as u64)
}

/// Sign flips of units.
#[derive(Clone, Debug)]
pub(super) struct Flips {
    units: usize,
    seed: u64,
    /// The code of each unit in a block.
    codes: Vec<u16>,
    bits: u32,
    blocks: usize,
    /// The flips that are not counted, in ascending order.
    left_out: Vec<usize>,
    is_all: bool,
}

impl Flips {
    /// All flips.
    pub(super) fn enumerate(units: usize) -> Self {
        #[allow(clippy::cast_possible_truncation)] // there are few units
        let bits = (units as u32).min(BITS.0);
        let code = |unit: usize| if unit < bits as usize { 1 << unit } else { 0 };
        Self {
            units,
            seed: 0,
            codes: (0..units).map(code).collect(),
            bits,
            blocks: 1 << (units - bits as usize),
            left_out: Vec::new(),
            is_all: true,
        }
    }

    /// So many random flips, besides the one that changes nothing.
    pub(super) fn draw(units: usize, flips: usize, seed: u64) -> Self {
        let bits = units.max(1).ilog2().clamp(BITS.0, BITS.1);
        let mut random = Random::new(seed, CODES);
        #[allow(clippy::cast_possible_truncation)] // as many bits as a code has
        let codes = (0..units).map(|_| (random.draw() >> (64 - bits)) as u16).collect();
        let blocks = (flips + 1).div_ceil(1 << bits);
        let total = blocks << bits;
        let mut is_left_out = vec![false; total];
        is_left_out[0] = true;
        let mut random = Random::new(seed, LEFT_OUT);
        let mut left = total - 1 - flips;
        while left > 0 {
            let drawn = random.below(total);
            left -= usize::from(!is_left_out[drawn]);
            is_left_out[drawn] = true;
        }
        let left_out = (0..total).filter(|&flip| is_left_out[flip]).collect();
        Self { units, seed, codes, bits, blocks, left_out, is_all: false }
    }

    /// The number of flips, with the one that changes nothing.
    pub(super) fn total(&self) -> u64 {
        let identity = usize::from(!self.is_all);
        ((self.blocks << self.bits) - self.left_out.len() + identity) as u64
    }

    /// How many blocks of flips there are.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// A block has 2 to the power of so many flips.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// The sums of columns under the flips of a block that are counted; returns how many there are.
    pub(super) fn sum(
        &self,
        block: usize,
        columns: &[(&[usize], &[f64])],
        signs: &mut Vec<u64>,
        sums: &mut [f64],
    ) -> usize {
        self.signs(block, signs);
        for (sums, column) in sums.chunks_exact_mut(1 << self.bits).zip(columns) {
            self.add_up(column, signs, sums);
        }
        self.close_gaps(block, sums)
    }

    /// The sums of a column under all flips of a block.
    fn add_up(&self, column: &(&[usize], &[f64]), signs: &[u64], sums: &mut [f64]) {
        sums.fill(0.0);
        for (&unit, value) in column.0.iter().zip(column.1) {
            let sign = signs[unit / 64] >> (unit % 64) << 63;
            let signed = f64::from_bits(value.to_bits() ^ sign);
            sums[usize::from(self.codes[unit])] += signed;
        }
        transform(sums);
    }

    /// One bit per unit: whether a block has the sign of the unit flipped throughout.
    fn signs(&self, block: usize, signs: &mut Vec<u64>) {
        signs.clear();
        let words = self.units.div_ceil(64);
        if self.is_all {
            signs.extend((0..words).map(|_| (block as u64) << self.bits));
        } else if block == 0 {
            signs.resize(words, 0);
        } else {
            let mut random = Random::new(self.seed, block as u64);
            signs.extend((0..words).map(|_| random.draw()));
        }
    }

    /// How many flips have a statistic as large as each pair, and a largest one so far as large.
    fn count(
        &self,
        columns: &[(&[usize], &[f64])],
        ascending: &[Pair],
        threads: usize,
        watch: Watch<'_>,
    ) -> Result<Vec<(u64, u64)>> {
        let values: usize = columns.iter().map(|column| column.1.len()).sum();
        let per_block = values + (ascending.len() + columns.len()).saturating_mul(1 << self.bits);
        let is_little = self.blocks.saturating_mul(per_block) < FEW_ADDITIONS;
        let next = AtomicUsize::new(0);
        let work = |watch: Watch<'_>| {
            let mut counts = vec![(0, 0); ascending.len()];
            let mut signs = Vec::new();
            let mut sums: Vec<f64> = vec![0.0; columns.len() << self.bits];
            let mut largest: Vec<f64> = vec![0.0; 1 << self.bits];
            loop {
                let block = next.fetch_add(1, Ordering::Relaxed);
                if block >= self.blocks {
                    return Ok(counts);
                }
                self.signs(block, &mut signs);
                for (sums, column) in sums.chunks_exact_mut(1 << self.bits).zip(columns) {
                    if let Err(stopped) = watch(Event::Work) {
                        next.store(self.blocks, Ordering::Relaxed);
                        return Err(stopped);
                    }
                    self.add_up(column, &signs, sums);
                }
                let flips = self.close_gaps(block, &mut sums);
                largest.fill(0.0);
                for (pair, count) in ascending.iter().zip(&mut counts) {
                    if pair.differing == 0 {
                        *count = (count.0 + flips as u64, count.1 + flips as u64);
                        continue;
                    }
                    let of = |column: usize| &sums[column << self.bits..][..flips];
                    let (one, other) = (of(pair.columns.0), of(pair.columns.1));
                    let found = compare(one, other, pair, &mut largest[..flips]);
                    *count = (count.0 + found.0, count.1 + found.1);
                }
            }
        };
        let threads = if is_little { 1 } else { threads.clamp(1, self.blocks) };
        // The flip that changes nothing is always as large.
        let identity = u64::from(!self.is_all);
        let mut counts = vec![(identity, identity); ascending.len()];
        for counted in on_threads(threads, watch, work) {
            for (count, found) in counts.iter_mut().zip(&counted?) {
                *count = (count.0 + found.0, count.1 + found.1);
            }
        }
        Ok(counts)
    }

    /// Moves the last flips of a block into the places of those left out; returns how many are counted.
    fn close_gaps(&self, block: usize, sums: &mut [f64]) -> usize {
        let length = 1 << self.bits;
        let from = self.left_out.partition_point(|&flip| flip < block << self.bits);
        let to = self.left_out.partition_point(|&flip| flip < (block + 1) << self.bits);
        let mut flips = length;
        for flip in self.left_out[from..to].iter().rev() {
            flips -= 1;
            for sums in sums.chunks_exact_mut(length) {
                sums[flip % length] = sums[flips];
            }
        }
        flips
    }
}

/// How many flips have a statistic as large as the pair's, and a largest one so far as large.
fn compare(one: &[f64], other: &[f64], pair: &Pair, largest: &mut [f64]) -> (u64, u64) {
    let (scale, threshold) = (pair.scale, pair.threshold);
    let (mut own, mut all) = (0, 0);
    for ((one, other), largest) in one.iter().zip(other).zip(largest) {
        let statistic = ((other - one) * scale).abs();
        *largest = if statistic > *largest { statistic } else { *largest };
        own += u64::from(statistic >= threshold);
        all += u64::from(*largest >= threshold);
    }
    (own, all)
}

/// The Walsh-Hadamard transform, in place: place `i` gets the sum of all values, each negated if its
/// place and `i` have an odd number of bits in common.
fn transform(values: &mut [f64]) {
    let mut half = 1;
    while half < values.len() {
        for both in values.chunks_exact_mut(2 * half) {
            let (low, high) = both.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (*low + *high, *low - *high);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn family(values: &[&[f64]], pairs: &[(usize, usize)]) -> Family {
        let units = (0..values[0].len()).collect();
        let flat = values.iter().flat_map(|row| row.iter().copied()).collect();
        Family::new(units, flat, values.len(), pairs.to_vec()).unwrap()
    }

    fn count(families: &[Family], flips: usize, seed: u64, threads: usize) -> Counted {
        count_flips(families, 70, flips, seed, threads, &mut |_| Ok(())).unwrap()
    }

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed, 3);
        (0..count).map(|_| f64::from(u32::try_from(random.below(1000)).unwrap()) / 1000.0).collect()
    }

    proptest! {
        #[test]
        fn a_transform_is_its_definition(values in prop::collection::vec(-9i8..9, 16)) {
            let mut found: Vec<f64> = values.iter().map(|&value| value.into()).collect();
            transform(&mut found);
            for (at, found) in found.iter().enumerate() {
                let is_odd = |place: usize| (place & at).count_ones() % 2 == 1;
                let signed = values.iter().enumerate().map(|(place, &value)| {
                    if is_odd(place) { -f64::from(value) } else { value.into() }
                });
                prop_assert_eq!(*found, signed.sum::<f64>());
            }
        }

        #[test]
        fn few_units_are_enumerated(values in prop::collection::vec(-4i8..5, 1..11)) {
            let other: Vec<f64> = values.iter().map(|&value| value.into()).collect();
            let zero = vec![0.0; other.len()];
            let found = count(&[family(&[&zero, &other], &[(0, 1)])], 10, 0, 1);
            let observed: f64 = other.iter().sum::<f64>().abs();
            let units = other.len();
            let is_large = |&flip: &usize| {
                let sign = |at| if flip >> at & 1 == 1 { -1.0 } else { 1.0 };
                (0..units).map(|at| sign(at) * other[at]).sum::<f64>().abs() >= observed
            };
            let larger = (0..1_usize << units).filter(is_large).count();
            let (counted, of) = found.larger[0];
            prop_assert_eq!(counted << units, (larger as u64) * of);
            prop_assert!(found.is_all && found.flips == of);
        }
    }

    #[test]
    fn a_pair_with_few_differences_is_enumerated_beside_another() {
        let [one, other] = [numbers(60, 1), numbers(60, 2)];
        let mut close = one.clone();
        close[..5].iter_mut().for_each(|value| *value += 1.0);
        let found = count(&[family(&[&one, &other, &close], &[(0, 1), (0, 2)])], 999, 0, 1);
        assert_eq!(found.larger[1], (2, 32));
        assert_eq!((found.larger[0].1, found.flips, found.is_all), (1000, 1000, false));
        assert_eq!(&found.differing[..], [60, 5]);
    }

    #[test]
    fn counts_do_not_depend_on_threads() {
        let rows: Vec<_> = (0..6).map(|seed| numbers(70, seed)).collect();
        let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
        let pairs: Vec<_> = (0..6).flat_map(|one| (0..one).map(move |at| (at, one))).collect();
        let made = [family(&rows, &pairs), family(&rows[1..4], &[(0, 2)])];
        let one = count(&made, 300_000, 5, 1);
        assert_eq!(one, count(&made, 300_000, 5, 3));
        assert_ne!(one, count(&made, 300_000, 6, 3));
        // The same pair in another family is the same hypothesis.
        assert_eq!(one.larger[15], one.larger[4]);
    }

    #[test]
    fn a_pair_has_the_same_flips_in_any_company() {
        let [one, other, third] = [numbers(70, 1), numbers(70, 2), numbers(70, 3)];
        let [narrow, close]: [Vec<f64>; 2] = [[5, 2], [3, 9]].map(|[start, step]| {
            let moves = |at: &usize| *at >= start && at.is_multiple_of(step);
            one.iter()
                .enumerate()
                .map(|(at, value)| value + f64::from(u8::from(moves(&at))))
                .collect()
        });
        let alone = count(&[family(&[&one, &narrow], &[(0, 1)])], 999, 5, 1);
        assert_eq!(alone.differing[0], 32);
        let wide = family(&[&one, &other, &third], &[(0, 1), (1, 2)]);
        let beside =
            [wide, family(&[&one, &narrow], &[(0, 1)]), family(&[&one, &close], &[(0, 1)])];
        let beside = count(&beside, 999, 5, 1);
        assert_eq!(beside.larger[2], alone.larger[0]);
    }

    #[test]
    #[allow(clippy::cast_precision_loss)] // small counts
    fn two_flips_of_a_unit_agree_half_of_the_time() {
        let drawn = Flips::draw(300, 5000, 7);
        assert_eq!(drawn.total(), 5001);
        let mut signs = Vec::new();
        let mut flipped = 0_u32;
        for block in 0..drawn.blocks {
            drawn.signs(block, &mut signs);
            for unit in 0..300 {
                let sign = signs[unit / 64] >> (unit % 64) & 1;
                let bits = |flip: u16| u64::from((drawn.codes[unit] & flip).count_ones()) ^ sign;
                flipped += (0..256).map(|flip| u32::from(bits(flip) & 1 == 1)).sum::<u32>();
            }
        }
        let share = f64::from(flipped) / (drawn.blocks * 256 * 300) as f64;
        assert!((share - 0.5).abs() < 0.01, "{share}");
    }

    #[test]
    fn up_to_16_differences_of_a_pair_are_enumerated_beside_another() {
        let [one, other] = [numbers(60, 1), numbers(60, 2)];
        for count in [15, 16, 17] {
            let mut close = one.clone();
            close[..count].iter_mut().for_each(|value| *value += 1.0);
            let made = [family(&[&one, &other, &close], &[(0, 1), (0, 2)])];
            let found = super::tests::count(&made, 999, 0, 1);
            let all = if count <= 16 { 1 << count } else { 1000 };
            assert_eq!((found.larger[1].1, found.is_all), (all, false), "{count}");
        }
    }

    #[test]
    fn values_are_equal_up_to_a_trillionth_of_the_larger_one() {
        for (difference, are_close) in [(0.995e-12, true), (1.005e-12, false)] {
            for large in [1.0, -8.0, 1e-6] {
                assert_eq!(is_close(large, large * (1.0 - difference)), are_close);
                assert_eq!(is_close(large * (1.0 - difference), large), are_close);
            }
        }
    }
}
