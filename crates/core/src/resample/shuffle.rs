//! Randomised Tukey HSD: all pairs of systems, with the range of their sums under random labels.
//!
//! Under the null hypothesis that all systems are equal, the values of a unit belong to its systems in
//! any order. Each permutation shuffles the values of every unit, and the largest difference of sums is
//! compared with that of each pair (Carterette, *Multiple testing in statistical analysis of
//! systems-based information retrieval experiments*, 2012).

use std::sync::atomic::{AtomicUsize, Ordering};

use super::flips::CLOSE;
use crate::error::Result;
use crate::number::random::Random;
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// So many permutations are one piece of work.
const PIECE: usize = 64;
/// Fewer values to shuffle than this are not worth a thread.
const FEW_VALUES: usize = 2_000_000;
/// All permutations are counted where there are at most so many.
const MOST_ENUMERATED: usize = 1 << 16;

/// How many permutations have a range as large as the difference of each pair, of how many, and whether
/// these are all that there are. The one that changes nothing is included.
///
/// `values` has one row of `systems` values per unit.
pub fn count_ranges(
    values: &[f64],
    systems: usize,
    pairs: &[(usize, usize)],
    permutations: usize,
    seed: u64,
    threads: usize,
    watch: Watch<'_>,
) -> Result<(Vec<u64>, u64, bool)> {
    let rows = || values.chunks_exact(systems.max(1));
    let mut kept = Vec::new();
    rows().filter(|row| !are_close(row)).for_each(|row| kept.extend_from_slice(row));
    let units = kept.len() / systems.max(1);
    let orders = (2..=systems).try_fold(1_usize, usize::checked_mul);
    let all = orders
        .zip(u32::try_from(units).ok())
        .and_then(|(orders, units)| orders.checked_pow(units))
        .filter(|&all| all <= MOST_ENUMERATED);
    let sum = |system: usize| rows().map(|row| row[system]).sum::<f64>();
    let size = |system: usize| rows().map(|row| row[system].abs()).sum::<f64>();
    let threshold = |&(one, other): &(usize, usize)| {
        (sum(one) - sum(other)).abs() - CLOSE * (size(one) + size(other))
    };
    let thresholds: Vec<f64> = pairs.iter().map(threshold).collect();
    let count = all.unwrap_or(permutations);
    let next = AtomicUsize::new(0);
    let work = |watch: Watch<'_>| {
        let mut counts = vec![0; pairs.len()];
        let (mut sums, mut row) = (vec![0.0; systems], vec![0.0; systems]);
        loop {
            let first = next.fetch_add(PIECE, Ordering::Relaxed);
            if first >= count {
                return Ok(counts);
            }
            for number in first..count.min(first + PIECE) {
                if let Err(stopped) = watch(Event::Work) {
                    next.store(count, Ordering::Relaxed);
                    return Err(stopped);
                }
                sums.fill(0.0);
                let mut left = number;
                let mut random = Random::new(seed, number as u64);
                for values in kept.chunks_exact(systems) {
                    row.copy_from_slice(values);
                    if all.is_some() {
                        // The digits of the number say where each value goes.
                        shuffle(&mut row, |below| {
                            let digit = left % below;
                            left /= below;
                            digit
                        });
                    } else {
                        shuffle(&mut row, |below| random.below(below));
                    }
                    sums.iter_mut().zip(&row).for_each(|(sum, value)| *sum += value);
                }
                let highest = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let lowest = sums.iter().copied().fold(f64::INFINITY, f64::min);
                for (count, threshold) in counts.iter_mut().zip(&thresholds) {
                    *count += u64::from(highest - lowest >= *threshold);
                }
            }
        }
    };
    let is_little = kept.len().saturating_mul(count) < FEW_VALUES;
    let threads = if is_little { 1 } else { threads };
    // The one that changes nothing is not among those drawn.
    let identity = u64::from(all.is_none());
    let mut counts = vec![identity; pairs.len()];
    for counted in on_threads(threads, watch, work) {
        counts.iter_mut().zip(&counted?).for_each(|(count, found)| *count += found);
    }
    Ok((counts, count as u64 + identity, all.is_some()))
}

/// Whether the values of a unit are equal, except for rounding.
fn are_close(row: &[f64]) -> bool {
    let highest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = row.iter().copied().fold(f64::INFINITY, f64::min);
    highest - lowest <= CLOSE * highest.abs().max(lowest.abs())
}

/// Fisher and Yates' shuffle; `pick` returns a number below the one that it is given.
fn shuffle(row: &mut [f64], mut pick: impl FnMut(usize) -> usize) {
    for last in (1..row.len()).rev() {
        row.swap(last, pick(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(values: &[f64], permutations: usize, threads: usize) -> (Vec<u64>, u64, bool) {
        let pairs = [(0, 1), (1, 2), (0, 2)];
        count_ranges(values, 3, &pairs, permutations, 1, threads, &mut |_| Ok(())).unwrap()
    }

    #[test]
    fn few_units_are_enumerated() {
        // One unit with values 0, 1 and 5: the range is 5 in every order.
        assert_eq!(count(&[0.0, 1.0, 5.0], 99, 1), (vec![6, 6, 6], 6, true));
        // A unit with equal values changes nothing.
        assert_eq!(count(&[0.0, 1.0, 5.0, 2.0, 2.0, 2.0], 99, 1).1, 6);
        // Two units with values 0, 0 and 1: both ones meet in a third of the orders.
        let found = count(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0], 99, 1);
        assert_eq!(found, (vec![36, 12, 12], 36, true));
    }

    #[test]
    fn counts_do_not_depend_on_threads() {
        let values: Vec<f64> = (0..300).map(|at| f64::from(at * 37 % 101)).collect();
        let one = count(&values, 10_000, 1);
        assert_eq!(one, count(&values, 10_000, 3));
        assert_eq!((one.1, one.2), (10_001, false));
    }

    #[test]
    fn up_to_65536_permutations_are_enumerated() {
        // Each unit of two systems has two orders.
        for units in [15, 16, 17] {
            let values: Vec<f64> = (0..2 * units).map(f64::from).collect();
            let found = count_ranges(&values, 2, &[(0, 1)], 99, 1, 1, &mut |_| Ok(())).unwrap();
            let all = if units <= 16 { 1 << units } else { 100 };
            assert_eq!((found.1, found.2), (all, units <= 16));
        }
    }

    #[test]
    fn values_of_a_unit_are_equal_up_to_a_trillionth_of_the_largest_one() {
        for (difference, are_equal) in [(0.995e-12, true), (1.005e-12, false)] {
            assert_eq!(are_close(&[8.0, 8.0 * (1.0 - difference), 8.0]), are_equal);
        }
    }
}
