//! The differences that a sign-flip test doesn't reject: its confidence interval.
//!
//! If a difference d is the true one, the differences less d times the weights are as likely to have the
//! other signs. A flip is as large for the d between two means: that of the units whose sign it turns,
//! and that of the others. The share of flips whose means lie on both sides of d is the p-value of d, so
//! that the ends of the interval are order statistics of these means (Hartigan, *Using subsample values
//! as typical values*, 1969).

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Result;
use crate::resample::flips::{CLOSE, Family, Flips, MOST_ENUMERATED};
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// Sums of differences over units, and the weights of these units, such as their number of queries.
#[derive(Clone, Copy, Debug)]
pub struct Weighed<'a> {
    /// The number of each unit among all, which decides its flips.
    pub units: &'a [usize],
    /// The sum of each unit.
    pub sums: &'a [f64],
    /// The weight of each unit, above 0.
    pub weights: &'a [f64],
}

/// How flips are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// The number of all units there are.
    pub units: usize,
    /// The number of random flips, where not all are counted.
    pub flips: usize,
    /// The random seed.
    pub seed: u64,
    /// The number of threads, on which nothing depends.
    pub threads: usize,
}

/// The test of sign flips for all means that there might be.
pub struct Inverted {
    /// The means of the units whose sign a flip turns and of the others, the lower one first, for each
    /// flip; both are infinite where it turns all or none.
    flips: Vec<(f64, f64)>,
    /// The number of flips, with those that turn nothing and aren't listed.
    total: u64,
    /// What sums that are 0 but for rounding may be.
    rounding: f64,
}

impl Inverted {
    /// The ends of the interval of a mean: what the test doesn't reject at the level. They are infinite
    /// where there are too few units for the test to reject anything.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let rank = rank(self.total, level);
        // A flip that isn't listed turns nothing, and is as large for every difference.
        let Some(at) = rank.checked_sub(self.unlisted() + 1) else {
            return (f64::NEG_INFINITY, f64::INFINITY);
        };
        let mut lower: Vec<f64> = self.flips.iter().map(|means| means.0).collect();
        let mut upper: Vec<f64> = self.flips.iter().map(|means| -means.1).collect();
        let pick = |ends: &mut Vec<f64>| *ends.select_nth_unstable_by(at, f64::total_cmp).1;
        let settle = |end: f64| if end.abs() <= self.rounding { 0.0 } else { end };
        (settle(pick(&mut lower)), settle(-pick(&mut upper)))
    }

    /// The p-value of a mean: the share of flips that are as large.
    #[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
    pub fn p_value(&self, mean: f64) -> f64 {
        let is_between = |means: &&(f64, f64)| means.0 <= mean && mean <= means.1;
        let between = self.flips.iter().filter(is_between).count();
        (self.unlisted() + between) as f64 / self.total as f64
    }

    #[allow(clippy::cast_possible_truncation)] // there are no more flips than fit in memory
    fn unlisted(&self) -> usize {
        (self.total - self.flips.len() as u64) as usize
    }
}

/// Whether the test of so many units can reject anything.
pub fn may_reject(units: usize, level: f64) -> bool {
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // few units
    let smallest = 0.5_f64.powi(units.min(64) as i32 - 1);
    smallest < 1.0 - level - SLACK
}

/// Rounding of a level.
const SLACK: f64 = 1e-12;

/// How many flips, from the largest one on, have a p-value that isn't below 1 - level.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn rank(total: u64, level: f64) -> usize {
    let least = ((1.0 - level - SLACK) * total as f64).ceil();
    (least as usize).max(1)
}

/// Inverts the test of a mean of sums over weights.
pub fn invert(given: Weighed<'_>, draws: Draws, watch: Watch<'_>) -> Result<Inverted> {
    let own: Vec<usize> = (0..given.units.len()).collect();
    let is_all = own.len() <= MOST_ENUMERATED;
    let (flips, units) = if is_all {
        (Flips::enumerate(own.len()), &own[..])
    } else {
        (Flips::draw(draws.units, draws.flips, draws.seed), given.units)
    };
    let total = [given.sums, given.weights].map(|column| column.iter().sum::<f64>());
    let columns = [(units, given.sums), (units, given.weights)];
    let next = AtomicUsize::new(0);
    let work = |watch: Watch<'_>| {
        let (mut found, mut signs) = (Vec::new(), Vec::new());
        let mut sums: Vec<f64> = vec![0.0; 2 << flips.bits()];
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= flips.blocks() {
                return Ok(found);
            }
            if let Err(stopped) = watch(Event::Work) {
                next.store(flips.blocks(), Ordering::Relaxed);
                return Err(stopped);
            }
            let count = flips.sum(block, &columns, &mut signs, &mut sums);
            let (sums, weights) = sums.split_at(1 << flips.bits());
            for (&sum, &weight) in sums[..count].iter().zip(&weights[..count]) {
                let turned = (total[0] - sum) / (total[1] - weight);
                let others = (total[0] + sum) / (total[1] + weight);
                // One of the two is 0 / 0 where all units are on one side.
                found.push(if is_one_side(weight, total[1]) {
                    (f64::NEG_INFINITY, f64::INFINITY)
                } else {
                    (turned.min(others), turned.max(others))
                });
            }
        }
    };
    let additions = flips.blocks().saturating_mul(2 * units.len() + (2 << flips.bits()));
    let threads = if additions < FEW_ADDITIONS { 1 } else { draws.threads };
    let made: Result<Vec<Vec<(f64, f64)>>> =
        on_threads(threads.clamp(1, flips.blocks()), watch, work).into_iter().collect();
    let rounding = CLOSE * given.sums.iter().map(|sum| sum.abs()).sum::<f64>() / total[1];
    Ok(Inverted { flips: made?.concat(), total: flips.total(), rounding })
}

/// Fewer additions than this are not worth a thread.
const FEW_ADDITIONS: usize = 1_000_000;

/// Whether a flip turns all units or none, but for rounding.
fn is_one_side(weight: f64, total: f64) -> bool {
    total - weight.abs() <= 1e-12 * total
}

/// The inverted tests of the differences of all pairs of a family, by the sizes of its units.
pub fn invert_pairs(
    family: &Family,
    sizes: &[f64],
    draws: Draws,
    watch: Watch<'_>,
    mut take: impl FnMut(&Inverted),
) -> Result<()> {
    for &pair in family.pairs() {
        let sums: Vec<f64> = family.differences(pair).collect();
        let given = Weighed { units: family.units(), sums: &sums, weights: sizes };
        take(&invert(given, draws, watch)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::random::Random;

    fn draws(units: usize) -> Draws {
        Draws { units, flips: 9_999, seed: 3, threads: 1 }
    }

    fn find(sums: &[f64], weights: &[f64], level: f64) -> (f64, f64) {
        let units: Vec<usize> = (0..sums.len()).collect();
        let given = Weighed { units: &units, sums, weights };
        invert(given, draws(sums.len()), &mut |_| Ok(())).unwrap().interval(level)
    }

    fn p_at(sums: &[f64], weights: &[f64], mean: f64) -> f64 {
        let units: Vec<usize> = (0..sums.len()).collect();
        let given = Weighed { units: &units, sums, weights };
        invert(given, draws(sums.len()), &mut |_| Ok(())).unwrap().p_value(mean)
    }

    fn numbers(count: usize) -> Vec<f64> {
        let mut random = Random::new(5, 3);
        (0..count)
            .map(|_| f64::from(u32::try_from(random.below(1000)).unwrap()) / 500.0 - 0.7)
            .collect()
    }

    #[test]
    fn the_ends_are_where_the_test_begins_to_reject() {
        for count in [6, 9, 16, 17, 60] {
            let sums = numbers(count);
            let weights: Vec<f64> =
                (0_u8..60).take(count).map(|at| f64::from(1 + at % 4)).collect();
            for weights in [vec![1.0; count], weights] {
                let (lower, upper) = find(&sums, &weights, 0.95);
                let mean = sums.iter().sum::<f64>() / weights.iter().sum::<f64>();
                assert!(lower < mean && mean < upper);
                for (inside, outside) in
                    [(lower + 1e-9, lower - 1e-9), (upper - 1e-9, upper + 1e-9)]
                {
                    assert!(p_at(&sums, &weights, inside) >= 0.05, "{count}");
                    assert!(p_at(&sums, &weights, outside) < 0.05, "{count}");
                }
            }
        }
    }

    #[test]
    fn of_six_units_the_ends_are_the_second_means_of_all_subsets() {
        // Of 64 flips, p < 0.05 leaves out three: the two that turn all or none, and one more.
        let sums = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2];
        let (lower, upper) = find(&sums, &[1.0; 6], 0.95);
        // Each pair of complements counts twice: the largest means are of the last unit alone.
        assert!((lower - 0.1).abs() < 1e-12 && (upper - 3.2).abs() < 1e-12, "{lower} {upper}");
    }

    #[test]
    fn five_units_exclude_nothing() {
        assert_eq!(find(&numbers(5), &[1.0; 5], 0.95), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(find(&[0.0; 5], &[1.0; 5], 0.95).1, f64::INFINITY);
        assert_eq!(find(&[0.0; 6], &[1.0; 6], 0.95), (0.0, 0.0));
        assert!(may_reject(6, 0.95) && !may_reject(5, 0.95));
        // A p-value of exactly 1 - level is not below it.
        assert!(!may_reject(6, 1.0 - 1.0 / 32.0) && may_reject(7, 1.0 - 1.0 / 32.0));
    }
}
