//! Confidence intervals of aggregates, over queries or over clusters of them.

use crate::error::{Error, Kind, Result};
use crate::memory::Vec;
use crate::number::aggregate::Part;
use crate::number::distributions::t_quantile;
use crate::policy::Aggregate;
use crate::resample::betting::{self, Unit};
use crate::resample::bootstrap::{self, Draws};
use crate::resample::units::Units;
use crate::watch::Watch;

/// How an interval is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By resampling units: bias-corrected and accelerated.
    Bootstrap,
    /// Student's, for means only; over clusters with their robust error.
    Student,
    /// By betting, for bounded values only.
    Betting,
}

/// Why there is no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The aggregate is undefined.
    Undefined,
    /// There are fewer than two units.
    Single,
    /// There are too few units to choose the bootstrap.
    Few,
    /// There are too few units for the bootstrap that was asked for.
    FewDrawn,
    /// All units have the same value, which has no limits.
    Equal,
    /// Betting needs a mean of bounded values.
    Unbounded,
}

impl Reason {
    /// The name by which Python knows it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Single => "single",
            Self::Few => "few",
            Self::FewDrawn => "few_drawn",
            Self::Equal => "equal",
            Self::Unbounded => "unbounded",
        }
    }
}

/// The settings of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The probability with which it covers the aggregate of all units there might be.
    pub level: f64,
    /// The method; none to choose one by the values.
    pub method: Option<Method>,
    /// For the bootstrap.
    pub draws: Draws,
    /// The lowest and the highest value of a part; infinite where there is none.
    pub range: (f64, f64),
    /// The number of threads, on which the interval doesn't depend.
    pub threads: usize,
}

/// An aggregate with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The aggregate.
    pub value: f64,
    /// The ends of the interval; NaN where there is none.
    pub ends: (f64, f64),
    /// The method that was used, or why there is no interval.
    pub outcome: std::result::Result<Method, Reason>,
    /// The number of parts.
    pub count: usize,
    /// The number of units.
    pub units: usize,
    /// Kish's effective sample size of the weights (*Survey Sampling*, 1965).
    pub effective: f64,
}

/// So many units the bootstrap needs.
const FEWEST_DRAWN: usize = 20;
/// So many units the bootstrap needs before it is chosen for bounded values, and for others, whose tails
/// can be long.
const FEWEST_TRUSTED: usize = 30;
const FEWEST_UNBOUNDED: usize = 50;
/// So many units have to make up the variance before the bootstrap is chosen: the number of units over
/// their kurtosis. In simulations (`dev/simulate/compare`), it covers too little with fewer.
const LEAST_SPREAD: f64 = 8.0;

/// Estimates an aggregate with its interval, over units that are parts, or clusters of parts with the
/// same code.
///
/// # Errors
/// Where a t interval is wanted of another aggregate than a mean, or it is stopped.
pub fn estimate(
    aggregate: Aggregate,
    parts: &[Part],
    clusters: Option<&[i64]>,
    settings: Settings,
    watch: Watch<'_>,
) -> Result<Estimate> {
    if settings.method == Some(Method::Student) && aggregate != Aggregate::Mean {
        return Err(Error::new(
            Kind::Policy,
            "interval_unavailable",
            "expected a mean, the only aggregate with a t interval, found another aggregate",
        )
        .hint("use method=\"bca\""));
    }
    let units = Units::new(parts, clusters);
    let value = aggregate.of(parts);
    let (low, high) = read_range(parts, settings.range);
    let bets = read_bets(aggregate, &units, (low, high));
    let outcome = choose(aggregate, &units, value, settings.method, bets.as_deref());
    let ends = match outcome {
        Ok(Method::Student) => student(&units, value, settings.level),
        Ok(Method::Bootstrap) => bootstrap::interval(
            aggregate,
            &units,
            value,
            settings.level,
            settings.draws,
            settings.threads,
            watch,
        )?,
        Ok(Method::Betting) => {
            let (lower, upper) = betting::interval(bets.as_deref().unwrap_or(&[]), settings.level);
            // Two roundings may not leave the value outside.
            ((low + (high - low) * lower).min(value), (low + (high - low) * upper).max(value))
        }
        Err(_) => (f64::NAN, f64::NAN),
    };
    let within = |end: f64| {
        if end.is_nan() || aggregate == Aggregate::Sum { end } else { end.clamp(low, high) }
    };
    let weight: f64 = parts.iter().map(|part| part.weight).sum();
    let squares: f64 = parts.iter().map(|part| part.weight * part.weight).sum();
    Ok(Estimate {
        value,
        ends: (within(ends.0), within(ends.1)),
        outcome,
        count: parts.len(),
        units: units.count(),
        effective: weight * weight / squares,
    })
}

/// The method to use, or why there is none.
fn choose(
    aggregate: Aggregate,
    units: &Units<'_>,
    value: f64,
    asked: Option<Method>,
    bets: Option<&[Unit]>,
) -> std::result::Result<Method, Reason> {
    if value.is_nan() {
        return Err(Reason::Undefined);
    }
    // Betting holds for any sample.
    let or_bet = |reason| if bets.is_some() { Ok(Method::Betting) } else { Err(reason) };
    match asked {
        Some(Method::Betting) => return or_bet(Reason::Unbounded),
        Some(Method::Student) if units.count() < 2 => return Err(Reason::Single),
        Some(Method::Student) => return Ok(Method::Student),
        Some(Method::Bootstrap) | None => {}
    }
    // Of other aggregates, the bootstrap is the only interval.
    let is_mean = matches!(aggregate, Aggregate::Mean | Aggregate::Sum | Aggregate::RatioOfSums);
    let is_chosen = asked.is_none() && is_mean;
    let influences = units.influences(aggregate, value);
    let fewest = match (is_chosen, bets.is_some()) {
        (false, _) => FEWEST_DRAWN,
        (true, true) => FEWEST_TRUSTED,
        (true, false) => FEWEST_UNBOUNDED,
    };
    if units.count() < fewest {
        or_bet(if is_chosen { Reason::Few } else { Reason::FewDrawn })
    } else if !influences.is_empty() && influences.iter().all(|&influence| influence == 0.0) {
        or_bet(Reason::Equal)
    } else if is_chosen && bets.is_some() && count_spread(&influences) < LEAST_SPREAD {
        Ok(Method::Betting)
    } else {
        Ok(Method::Bootstrap)
    }
}

/// How many units make up the variance: their number over their kurtosis.
fn count_spread(influences: &[f64]) -> f64 {
    let squares: f64 = influences.iter().map(|influence| influence.powi(2)).sum();
    let fourths: f64 = influences.iter().map(|influence| influence.powi(4)).sum();
    squares * squares / fourths
}

/// The range of values; infinite if one is outside, as where grades below 0 count.
fn read_range(parts: &[Part], (low, high): (f64, f64)) -> (f64, f64) {
    let is_inside = |part: &Part| part.value >= low - SLACK && part.value <= high + SLACK;
    if parts.iter().all(is_inside) { (low, high) } else { (f64::NEG_INFINITY, f64::INFINITY) }
}

/// Values can leave their range by an error of rounding.
const SLACK: f64 = 1e-9;

/// What units are bet on: their sums, in units of the range, and their weights. None for aggregates
/// other than means, and where values have no range, or are outside it.
fn read_bets(
    aggregate: Aggregate,
    units: &Units<'_>,
    (low, high): (f64, f64),
) -> Option<Vec<Unit>> {
    let is_mean = matches!(aggregate, Aggregate::Mean | Aggregate::RatioOfSums);
    if !(is_mean && (high - low).is_finite() && low < high) {
        return None;
    }
    let terms = units.terms(aggregate)?;
    let mut bets = Vec::with_capacity(units.count());
    for (&sum, &count) in terms.numerators.iter().zip(&terms.denominators) {
        let (sum, slack) = ((sum - low * count) / (high - low), SLACK * count);
        if !(sum >= -slack && sum <= count + slack) {
            return None;
        }
        if count > 0.0 {
            bets.push(Unit { sum: sum.clamp(0.0, count), count });
        }
    }
    Some(bets)
}

/// Student's interval. Over clusters, residuals are added up within clusters before they are squared
/// (Liang and Zeger, *Longitudinal data analysis using generalized linear models*, 1986, with the
/// correction G / (G - 1) known as CR1), and there are G - 1 degrees of freedom.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn student(units: &Units<'_>, mean: f64, level: f64) -> (f64, f64) {
    let count = units.count() as f64;
    let residuals = units.influences(Aggregate::Mean, mean);
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let error = (squares * count / (count - 1.0)).sqrt() / units.weight();
    let half = t_quantile(level, count - 1.0) * error;
    (mean - half, mean + half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::random::Random;

    fn parts(values: &[f64]) -> Vec<Part> {
        values.iter().map(|&value| Part { value, weight: 1.0, ratio: (value, 1.0) }).collect()
    }

    fn settings(method: Option<Method>) -> Settings {
        Settings {
            level: 0.95,
            method,
            draws: Draws { resamples: 999, seed: 7 },
            range: (0.0, 1.0),
            threads: 1,
        }
    }

    fn of(values: &[f64], settings: Settings) -> Estimate {
        estimate(Aggregate::Mean, &parts(values), None, settings, &mut |_| Ok(())).unwrap()
    }

    const VALUES: [f64; 8] = [0.1, 0.9, 0.4, 0.4, 0.7, 0.2, 1.0, 0.3];

    #[test]
    fn a_t_interval_is_the_textbook_s() {
        // Mean 0.5, standard deviation 0.33381..., t(7, 0.975) = 2.364624251592785.
        let squares: f64 = VALUES.iter().map(|value| (value - 0.5) * (value - 0.5)).sum();
        let half = 2.364_624_251_592_785 * (squares / 7.0 / 8.0).sqrt();
        let (lower, upper) = of(&VALUES, settings(Some(Method::Student))).ends;
        assert!((lower - (0.5 - half)).abs() < 1e-9 && (upper - (0.5 + half)).abs() < 1e-9);
    }

    #[test]
    fn a_seed_gives_one_interval_for_any_threads_and_another_seed_another() {
        let values: Vec<f64> = (0..5000).map(|index| f64::from(index * 37 % 101) / 101.0).collect();
        let with = |seed, threads| {
            let draws = Draws { resamples: 600, seed };
            let settings = Settings { draws, threads, ..settings(Some(Method::Bootstrap)) };
            of(&values, settings).ends
        };
        assert_eq!(with(1, 1), with(1, 3));
        assert_ne!(with(1, 3), with(2, 3));
    }

    #[test]
    fn clusters_of_one_part_are_like_none() {
        let values: Vec<f64> = (0..100).map(|index| f64::from(index * 37 % 101) / 101.0).collect();
        let codes: Vec<i64> = (0..100).collect();
        for method in [Method::Bootstrap, Method::Student, Method::Betting] {
            let settings = settings(Some(method));
            let clustered =
                estimate(Aggregate::Mean, &parts(&values), Some(&codes), settings, &mut |_| Ok(()));
            assert_eq!(clustered.unwrap(), of(&values, settings));
        }
    }

    #[test]
    fn few_or_equal_values_have_no_bootstrap() {
        let settings = settings(Some(Method::Bootstrap));
        assert_eq!(of(&VALUES, settings).outcome, Ok(Method::Betting));
        assert_eq!(of(&[0.5; 60], settings).outcome, Ok(Method::Betting));
        let settings = Settings { range: (0.0, f64::INFINITY), ..settings };
        assert_eq!(of(&VALUES, settings).outcome, Err(Reason::FewDrawn));
        assert_eq!(of(&[0.5; 60], settings).outcome, Err(Reason::Equal));
        assert!(of(&[0.5; 60], settings).ends.0.is_nan());
    }

    #[test]
    fn every_aggregate_lies_in_its_interval() {
        let values: Vec<f64> = VALUES.iter().copied().cycle().take(40).collect();
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
            let settings = settings(Some(Method::Bootstrap));
            let made =
                estimate(aggregate, &parts(&values), None, settings, &mut |_| Ok(())).unwrap();
            let (lower, upper) = made.ends;
            assert!(lower < made.value && made.value < upper, "{aggregate:?}: {made:?}");
        }
    }

    #[test]
    fn skewed_values_are_covered_as_often_as_the_level_says() {
        // Exponential values with mean 1, 30 at a time: the t interval covers too seldom.
        let mut random = Random::new(11, 0);
        let mut covered = 0;
        for seed in 0..400 {
            #[allow(clippy::cast_precision_loss)] // 53 bits of the number
            let mut uniform = || (random.draw() >> 11) as f64 / 2_f64.powi(53);
            let values: Vec<f64> = (0..30).map(|_| -(1.0 - uniform()).ln()).collect();
            let draws = Draws { resamples: 999, seed };
            let range = (0.0, f64::INFINITY);
            let settings = Settings { draws, range, ..settings(Some(Method::Bootstrap)) };
            let (lower, upper) = of(&values, settings).ends;
            covered += u32::from(lower <= 1.0 && 1.0 <= upper);
        }
        // 95 % of 400 are 380; BCa of 30 exponential values covers about 93 %.
        assert!((358..=394).contains(&covered), "{covered} of 400");
    }

    /// So many values from 0 to 1, all of them different.
    #[allow(clippy::cast_precision_loss)] // small numbers
    fn spread(count: usize) -> Vec<f64> {
        (0..count).map(|at| at as f64 / (count - 1) as f64).collect()
    }

    #[test]
    fn a_bootstrap_needs_20_units() {
        let settings =
            Settings { range: (0.0, f64::INFINITY), ..settings(Some(Method::Bootstrap)) };
        let outcomes = [19, 20, 21].map(|count| of(&spread(count), settings).outcome);
        assert_eq!(outcomes, [Err(Reason::FewDrawn), Ok(Method::Bootstrap), Ok(Method::Bootstrap)]);
    }

    #[test]
    fn a_bootstrap_is_chosen_from_30_units_on_and_without_a_range_from_50() {
        let bounded = [29, 30, 31].map(|count| of(&spread(count), settings(None)).outcome);
        assert_eq!(bounded, [Method::Betting, Method::Bootstrap, Method::Bootstrap].map(Ok));
        let settings = Settings { range: (0.0, f64::INFINITY), ..settings(None) };
        let unbounded = [49, 50, 51].map(|count| of(&spread(count), settings).outcome);
        assert_eq!(unbounded, [Err(Reason::Few), Ok(Method::Bootstrap), Ok(Method::Bootstrap)]);
    }

    #[test]
    fn eight_units_have_to_make_up_the_variance() {
        // Of 40 units, two are `first` from the mean, six a quarter, and the others are the mean.
        let outcome = |first: f64| {
            let mut values = [0.5; 40];
            for (at, value) in values.iter_mut().enumerate().take(8) {
                let distance = if at < 2 { first } else { 0.25 };
                *value += if at % 2 == 0 { distance } else { -distance };
            }
            let squares = 2.0 * first.powi(2) + 6.0 * 0.25_f64.powi(2);
            let fourths = 2.0 * first.powi(4) + 6.0 * 0.25_f64.powi(4);
            (squares * squares / fourths, of(&values, settings(None)).outcome)
        };
        assert_eq!(outcome(0.25), (8.0, Ok(Method::Bootstrap)));
        let (spread, found) = outcome(0.25 * 1.03);
        assert!((7.9..8.0).contains(&spread), "{spread}");
        assert_eq!(found, Ok(Method::Betting));
    }

    #[test]
    fn values_are_outside_their_range_by_rounding_up_to_a_billionth() {
        let slack: f64 = 1e-9;
        for beyond in [slack.next_down(), slack, slack.next_up()] {
            let range = read_range(&parts(&[-beyond]), (0.0, 1.0));
            assert_eq!(range == (0.0, 1.0), beyond <= slack);
        }
        for (beyond, is_inside) in [(0.99e-9, true), (1.01e-9, false)] {
            let range = read_range(&parts(&[1.0 + beyond]), (0.0, 1.0));
            assert_eq!(range == (0.0, 1.0), is_inside);
        }
    }
}
