//! Betting bounds: confidence bounds for means of bounded values that hold for any sample size and
//! any distribution (Waudby-Smith and Ramdas, *Estimating means of bounded random variables by
//! betting*, JRSSB 2024).
//!
//! A mean m is refuted if someone who bets against it, with odds that are fair if the mean is m,
//! multiplies their money by 1 / error. The bets are fixed by the number of units, and the money is
//! split over bets for different variances, so that bounds don't depend on the order of units.

use crate::memory::{self, Vec};

/// What each bet is made for: a variance of the values, and the share of the money that it gets.
/// Most measures have a variance from 1/64 to 1/4; known-item measures near 1 have less.
const VARIANCES: [(f64, f64); 5] =
    [(1.0 / 4.0, 0.3), (1.0 / 16.0, 0.3), (1.0 / 64.0, 0.2), (1.0 / 256.0, 0.1), (0.0, 0.1)];
/// No bet risks more than this share of its money, so that none is ever ruined.
const MOST: f64 = 0.98;
const STEPS: usize = 60;
const PRECISION: f64 = 1e-9;
const SMALLEST: f64 = 1e-9;
/// So many gains are multiplied before a logarithm is taken: each is below 1e10.
const FACTORS: usize = 16;

/// The values of an independent unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Their sum, from 0 to `count`.
    pub sum: f64,
    /// How many there are, or their weight; above 0.
    pub count: f64,
}

/// A lower bound of the mean of all values, which is above it with a probability of at most `error`;
/// 0 without units.
#[must_use]
pub fn bound_below(units: &[Unit], error: f64) -> f64 {
    let largest = units.iter().map(|unit| unit.count).fold(0.0, f64::max);
    let scale = |unit: &Unit| Unit { sum: unit.sum / largest, count: unit.count / largest };
    let mut units: Vec<Unit> = units.iter().map(scale).collect();
    // Sums depend on the order of their terms.
    memory::sort_by(&mut units, |one, other| {
        one.count.total_cmp(&other.count).then(one.sum.total_cmp(&other.sum))
    });
    let total: f64 = units.iter().map(|unit| unit.sum).sum();
    let count: f64 = units.iter().map(|unit| unit.count).sum();
    let possible = total / count;
    if units.is_empty() || possible <= SMALLEST {
        return 0.0;
    }
    let needed = -error.ln();
    let squares: f64 = units.iter().map(|unit| unit.count * unit.count).sum();
    let bets = VARIANCES.map(|(variance, _)| (2.0 * needed / (squares * variance)).sqrt());
    search(|mean| grow(&units, &bets, mean) - needed, possible)
}

/// The logarithm of the money of someone who bets that the mean is larger.
fn grow(units: &[Unit], bets: &[f64; VARIANCES.len()], mean: f64) -> f64 {
    let mut gains = [0.0; VARIANCES.len()];
    for chunk in units.chunks(FACTORS) {
        let mut factors = [1.0; VARIANCES.len()];
        for unit in chunk {
            let excess = unit.sum - mean * unit.count;
            for (factor, bet) in factors.iter_mut().zip(bets) {
                *factor *= 1.0 + bet.min(MOST / mean) * excess;
            }
        }
        for (gain, factor) in gains.iter_mut().zip(factors) {
            *gain += factor.ln();
        }
    }
    let most = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares = gains.iter().zip(VARIANCES).map(|(gain, (_, share))| share * (gain - most).exp());
    most + shares.sum::<f64>().ln()
}

/// Where a falling function gets negative, or a little before (the Illinois method).
fn search(excess: impl Fn(f64) -> f64, possible: f64) -> f64 {
    let (mut possible, mut at_possible) = (possible, excess(possible));
    if at_possible >= 0.0 {
        return possible.min(1.0);
    }
    // The function is infinite at 0; half the way down is refuted unless there are few units.
    let mut refuted = possible / 2.0;
    let mut at_refuted = excess(refuted);
    while at_refuted < 0.0 {
        if refuted < SMALLEST {
            return 0.0;
        }
        (possible, at_possible) = (refuted, at_refuted);
        refuted /= 2.0;
        at_refuted = excess(refuted);
    }
    let mut side = 0;
    for _ in 0..STEPS {
        if possible - refuted <= PRECISION {
            break;
        }
        let share = at_refuted / (at_refuted - at_possible);
        let middle = refuted + (possible - refuted) * share;
        if !(refuted < middle && middle < possible) {
            break;
        }
        let found = excess(middle);
        if found >= 0.0 {
            (refuted, at_refuted) = (middle, found);
            at_possible /= if side > 0 { 2.0 } else { 1.0 };
            side = 1;
        } else {
            (possible, at_possible) = (middle, found);
            at_refuted /= if side < 0 { 2.0 } else { 1.0 };
            side = -1;
        }
    }
    refuted
}

/// The ends of the interval of a mean of values from 0 to 1: two bounds, each of which may be wrong
/// with half the probability. Both ends are NaN without units.
#[must_use]
pub fn interval(units: &[Unit], level: f64) -> (f64, f64) {
    if units.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let error = (1.0 - level) / 2.0;
    let mirrored: Vec<Unit> = units
        .iter()
        .map(|unit| Unit { sum: (unit.count - unit.sum).max(0.0), count: unit.count })
        .collect();
    (bound_below(units, error), 1.0 - bound_below(&mirrored, error))
}
