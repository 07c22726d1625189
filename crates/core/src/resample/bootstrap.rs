//! The percentile bootstrap (Efron and Tibshirani, *An introduction to the bootstrap*, 1993), expanded for
//! small samples: the quantiles are those of Student's t, and the variance is divided by n - 1 (Hesterberg,
//! *What teachers should know about the bootstrap*, The American Statistician 69, 2015).

use std::sync::atomic::{AtomicUsize, Ordering};

use statrs::distribution::{ContinuousCDF, Normal};

use crate::error::Result;
use crate::number::aggregate::Part;
use crate::number::distributions::t_quantile;
use crate::number::random::Random;
use crate::policy::Aggregate;
use crate::resample::units::Units;
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// How often units are drawn again, and the seed of the draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// The number of resamples.
    pub resamples: usize,
    /// The random seed.
    pub seed: u64,
}

/// Fewer draws than this are not worth a thread.
const MANY_DRAWS: usize = 1_000_000;

/// The ends of the interval of an aggregate over two or more units.
pub fn interval(
    aggregate: Aggregate,
    units: &Units<'_>,
    level: f64,
    draws: Draws,
    threads: usize,
    watch: Watch<'_>,
) -> Result<(f64, f64)> {
    let work = units.count().saturating_mul(draws.resamples);
    let threads = if work < MANY_DRAWS { 1 } else { threads };
    let mut values = repeat(aggregate, units, draws, threads, watch)?;
    values.sort_unstable_by(f64::total_cmp);
    let outside = Normal::standard().cdf(-expand(level, units.count()));
    Ok((quantile(&values, outside), quantile(&values, 1.0 - outside)))
}

/// The aggregates of resamples, in any order. Each has random numbers of its own, so that it doesn't
/// matter which thread draws it.
fn repeat(
    aggregate: Aggregate,
    units: &Units<'_>,
    draws: Draws,
    threads: usize,
    watch: Watch<'_>,
) -> Result<Vec<f64>> {
    let next = AtomicUsize::new(0);
    let work = |watch: Watch<'_>| {
        let (mut values, mut parts): (Vec<f64>, Vec<Part>) = (Vec::new(), Vec::new());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= draws.resamples {
                return Ok(values);
            }
            if let Err(stopped) = watch(Event::Work) {
                next.store(draws.resamples, Ordering::Relaxed);
                return Err(stopped);
            }
            let mut random = Random::new(draws.seed, number as u64);
            parts.clear();
            for _ in 0..units.count() {
                units.append(random.below(units.count()), &mut parts);
            }
            values.push(aggregate.nearly(&parts));
        }
    };
    let values: Result<Vec<Vec<f64>>> = on_threads(threads, watch, work).into_iter().collect();
    Ok(values?.concat())
}

/// How many standard errors of the resamples half of the interval is wide. Resamples vary less than
/// samples do, by the factor (n - 1) / n in the variance.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn expand(level: f64, units: usize) -> f64 {
    let (count, degrees) = (units as f64, (units - 1) as f64);
    t_quantile(level, degrees) * (count / degrees).sqrt()
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // places in a list
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * (place - place.floor())
}
