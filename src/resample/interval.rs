//! Confidence intervals of aggregates, from resampled queries or from the t distribution.

use std::sync::atomic::{AtomicUsize, Ordering};

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::error::{Error, Kind, Result};
use crate::memory::{self, Vec};
use crate::number::aggregate::{GEOMETRIC_FLOOR, Part};
use crate::number::random::Random;
use crate::policy::Aggregate;
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// How an interval is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By drawing queries again: bias-corrected and accelerated (Efron, *Better bootstrap confidence
    /// intervals*, 1987).
    Bootstrap {
        /// How often all queries are drawn.
        resamples: usize,
        /// What the draws begin with.
        seed: u64,
    },
    /// Student's, which has only means.
    Student,
}

/// An interval that covers the aggregate of all queries there might be with this probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level(pub f64);

/// The ends of an interval; NaN where there are fewer than two values, or one is NaN.
///
/// # Errors
/// Where the method has no interval of the aggregate, or it is stopped.
pub fn interval(
    aggregate: Aggregate,
    parts: &[Part],
    level: Level,
    method: Method,
    threads: usize,
    watch: Watch<'_>,
) -> Result<(f64, f64)> {
    if method == Method::Student && aggregate != Aggregate::Mean {
        return Err(Error::new(
            Kind::Policy,
            "interval_unavailable",
            "expected a mean, of which alone there is a t interval, found another aggregate",
        )
        .hint("say method=\"bca\""));
    }
    let value = aggregate.of(parts);
    if parts.len() < 2 || value.is_nan() {
        return Ok((f64::NAN, f64::NAN));
    }
    match method {
        Method::Student => Ok(student(parts, value, level)),
        Method::Bootstrap { resamples, seed } => {
            let draws = draw(aggregate, parts, (resamples, seed), threads, watch)?;
            Ok(accelerated(draws, value, &influences(aggregate, parts, value), level))
        }
    }
}

#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn student(parts: &[Part], mean: f64, level: Level) -> (f64, f64) {
    let count = parts.len() as f64;
    let total: f64 = parts.iter().map(|part| part.weight).sum();
    let squares: f64 = parts.iter().map(|part| (part.weight * (part.value - mean)).powi(2)).sum();
    let error = (squares * count / (count - 1.0)).sqrt() / total;
    let quantile = t_quantile(level, count - 1.0);
    (mean - quantile * error, mean + quantile * error)
}

/// How many standard errors wide half of Student's interval is; NaN without degrees of freedom.
#[must_use]
pub fn t_quantile(level: Level, degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees)
        .map_or(f64::NAN, |student| student.inverse_cdf(f64::midpoint(1.0, level.0)))
}

/// The aggregates of queries drawn with replacement, in any order.
fn draw(
    aggregate: Aggregate,
    parts: &[Part],
    (resamples, seed): (usize, u64),
    threads: usize,
    watch: Watch<'_>,
) -> Result<Vec<f64>> {
    let next = AtomicUsize::new(0);
    let work = |watch: Watch<'_>| {
        let mut draws = Vec::new();
        let mut drawn = Vec::with_capacity(parts.len());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= resamples {
                return Ok(draws);
            }
            if let Err(stopped) = watch(Event::Work) {
                next.store(resamples, Ordering::Relaxed);
                return Err(stopped);
            }
            // Each draw has numbers of its own, so that it does not matter which thread makes it.
            let mut random = Random::new(seed, number as u64);
            drawn.clear();
            drawn.extend((0..parts.len()).map(|_| parts[random.below(parts.len())]));
            draws.push(aggregate.nearly(&drawn));
        }
    };
    let threads = if parts.len().saturating_mul(resamples) < MANY_DRAWS { 1 } else { threads };
    let draws: Result<Vec<Vec<f64>>> = on_threads(threads, watch, work).into_iter().collect();
    Ok(memory::concat(&draws?))
}

/// Fewer draws than this are not worth a thread.
const MANY_DRAWS: usize = 1_000_000;

/// The ends by the quantiles of `draws` that bias and skewness ask for.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn accelerated(mut draws: Vec<f64>, value: f64, influences: &[f64], level: Level) -> (f64, f64) {
    draws.sort_unstable_by(f64::total_cmp);
    let normal = Normal::standard();
    let below = draws.partition_point(|&draw| draw < value);
    let up_to = draws.partition_point(|&draw| draw <= value);
    if below == draws.len() || up_to == 0 || draws.first() == draws.last() {
        // All draws lie on one side, as where every query has one value.
        return (draws[0], draws[draws.len() - 1]);
    }
    let bias = normal.inverse_cdf(f64::midpoint(below as f64, up_to as f64) / draws.len() as f64);
    let cubes: f64 = influences.iter().map(|influence| influence.powi(3)).sum();
    let squares: f64 = influences.iter().map(|influence| influence.powi(2)).sum();
    let acceleration = if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 };
    let end = |share: f64| {
        let z = bias + normal.inverse_cdf(share);
        quantile(&draws, normal.cdf(bias + z / (1.0 - acceleration * z)))
    };
    let tail = (1.0 - level.0) / 2.0;
    (end(tail), end(1.0 - tail))
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // places in a list
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * (place - place.floor())
}

/// How much each value moves the aggregate, up to a common factor: the infinitesimal jackknife.
fn influences(aggregate: Aggregate, parts: &[Part], value: f64) -> Vec<f64> {
    let each = |influence: &dyn Fn(&Part) -> f64| parts.iter().map(influence).collect();
    match aggregate {
        Aggregate::Mean | Aggregate::Sum => {
            let total: f64 = parts.iter().map(|part| part.weight).sum();
            let mean = if aggregate == Aggregate::Sum { value / total } else { value };
            each(&|part| part.weight * (part.value - mean))
        }
        Aggregate::Geometric => {
            each(&|part| part.weight * (part.value.max(GEOMETRIC_FLOOR).ln() - value.ln()))
        }
        Aggregate::Harmonic if value > 0.0 => {
            each(&|part| part.weight * (value.recip() - part.value.recip()))
        }
        Aggregate::RatioOfSums => each(&|part| part.weight * (part.ratio.0 - value * part.ratio.1)),
        Aggregate::TailMean(share) => {
            let edge = Aggregate::Quantile(share).of(parts);
            let mean = edge - share * (edge - value);
            each(&|part| part.weight * (part.value.min(edge) - mean))
        }
        // Quantiles jump: there is no smooth influence to speak of.
        Aggregate::Harmonic | Aggregate::Median | Aggregate::Quantile(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(values: &[f64]) -> Vec<Part> {
        values.iter().map(|&value| Part { value, weight: 1.0, ratio: (value, 1.0) }).collect()
    }

    fn of(aggregate: Aggregate, values: &[f64], method: Method, threads: usize) -> (f64, f64) {
        interval(aggregate, &parts(values), Level(0.95), method, threads, &mut |_| Ok(())).unwrap()
    }

    const VALUES: [f64; 8] = [0.1, 0.9, 0.4, 0.4, 0.7, 0.2, 1.0, 0.3];

    #[test]
    fn a_t_interval_is_the_textbook_s() {
        // Mean 0.5, standard deviation 0.33381..., t(7, 0.975) = 2.364624251592785.
        let squares: f64 = VALUES.iter().map(|value| (value - 0.5) * (value - 0.5)).sum();
        let half = 2.364_624_251_592_785 * (squares / 7.0 / 8.0).sqrt();
        let (lower, upper) = of(Aggregate::Mean, &VALUES, Method::Student, 1);
        assert!((lower - (0.5 - half)).abs() < 1e-9 && (upper - (0.5 + half)).abs() < 1e-9);
    }

    #[test]
    fn a_seed_gives_one_interval_for_any_threads_and_another_seed_another() {
        let values: Vec<f64> = (0..2000).map(|index| f64::from(index * 37 % 101) / 101.0).collect();
        let method = |seed| Method::Bootstrap { resamples: 600, seed };
        let one = of(Aggregate::Mean, &values, method(1), 1);
        assert_eq!(one, of(Aggregate::Mean, &values, method(1), 3));
        assert_ne!(one, of(Aggregate::Mean, &values, method(2), 3));
    }

    #[test]
    fn one_value_everywhere_is_its_own_interval() {
        let method = Method::Bootstrap { resamples: 100, seed: 0 };
        assert_eq!(of(Aggregate::Mean, &[0.5; 5], method, 1), (0.5, 0.5));
        assert!(of(Aggregate::Mean, &[0.5], method, 1).0.is_nan());
    }

    #[test]
    fn every_aggregate_lies_in_its_interval() {
        let method = Method::Bootstrap { resamples: 999, seed: 7 };
        for aggregate in [
            Aggregate::Mean,
            Aggregate::Sum,
            Aggregate::Geometric,
            Aggregate::Harmonic,
            Aggregate::Median,
            Aggregate::Quantile(0.25),
            Aggregate::TailMean(0.5),
            Aggregate::RatioOfSums,
        ] {
            let value = aggregate.of(&parts(&VALUES));
            let (lower, upper) = of(aggregate, &VALUES, method, 1);
            assert!(lower < value && value < upper, "{aggregate:?}: {lower} {value} {upper}");
        }
    }

    #[test]
    fn skewed_values_are_covered_as_often_as_the_level_says() {
        // Exponential values with mean 1, 30 at a time: the t interval covers too seldom.
        let mut random = Random::new(11, 0);
        let mut covered = 0;
        for trial in 0..400 {
            #[allow(clippy::cast_precision_loss)] // 53 bits of the number
            let mut uniform = || (random.draw() >> 11) as f64 / 2_f64.powi(53);
            let values: Vec<f64> = (0..30).map(|_| -(1.0 - uniform()).ln()).collect();
            let method = Method::Bootstrap { resamples: 999, seed: trial };
            let (lower, upper) = of(Aggregate::Mean, &values, method, 1);
            covered += u32::from(lower <= 1.0 && 1.0 <= upper);
        }
        // 95 % of 400 are 380; BCa of 30 exponential values covers about 93 %.
        assert!((358..=394).contains(&covered), "{covered} of 400");
    }
}
