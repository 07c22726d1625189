//! Confidence intervals of aggregates, over queries or over clusters of them.

use crate::error::{Error, Kind, Result};
use crate::number::aggregate::Part;
use crate::number::distributions::t_quantile;
use crate::policy::Aggregate;
use crate::resample::bootstrap::{self, Draws};
use crate::resample::bounded::{self, Unit};
use crate::resample::invert::{self, Weighed};
use crate::resample::student;
use crate::resample::units::Units;
use crate::watch::Watch;

/// How an interval is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// What a test of sign flips doesn't reject, for means and sums.
    Dense,
    /// For any distribution of values with limits.
    Bounded,
    /// Student's, for means only; over clusters with their robust error.
    Student,
    /// By resampling units, for aggregates that are no mean and no sum.
    Percentile,
}

/// Why there is no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The aggregate is undefined.
    Undefined,
    /// There are fewer than two units.
    Single,
    /// There are too few units for a test of sign flips to reject anything, or fewer than 20 clusters.
    Few,
    /// There are too few units for the bootstrap.
    FewDrawn,
    /// Units of unequal size have too few effective degrees of freedom.
    FewDegrees,
    /// All parts have the same value, of which resamples show nothing.
    Equal,
    /// Bounds need a mean of values with limits.
    Unbounded,
}

impl Reason {
    /// The name by which Python knows it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Single => "single",
            Self::Few => "few",
            Self::FewDrawn => "few_drawn",
            Self::FewDegrees => "few_degrees",
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
    /// The method; none for bounds where values have limits, and the densest there is for others.
    pub method: Option<Method>,
    /// For the bootstrap and sign flips.
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

/// So many units the bootstrap needs, and so many clusters a dense interval: with fewer, it covers too
/// seldom where what a user does goes with how often the user came.
const FEWEST_DRAWN: usize = 20;

/// Estimates an aggregate with its interval, over units that are parts, or clusters of parts with the
/// same code.
pub fn estimate(
    aggregate: Aggregate,
    parts: &[Part],
    clusters: Option<&[i64]>,
    settings: Settings,
    watch: Watch<'_>,
) -> Result<Estimate> {
    let is_linear = matches!(aggregate, Aggregate::Mean | Aggregate::Sum | Aggregate::RatioOfSums);
    let refused = match settings.method {
        Some(Method::Student) if aggregate != Aggregate::Mean => {
            "expected a mean, the only aggregate with a t interval, found another aggregate"
        }
        Some(Method::Percentile) if is_linear => {
            "means and sums have no percentile interval: it covers too seldom where values are skewed"
        }
        _ => "",
    };
    if !refused.is_empty() {
        return Err(
            Error::new(Kind::Policy, "interval_unavailable", refused).hint("leave the method out")
        );
    }
    let units = Units::new(parts, clusters);
    let value = aggregate.of(parts);
    let (low, high) = read_range(parts, settings.range);
    let bounded_units = read_bounded(aggregate, &units, (low, high));
    let is_equal = parts.windows(2).all(|pair| pair[0].value == pair[1].value);
    let bounded = bounded_units.as_ref().map(|_| Method::Bounded).ok_or(Reason::Unbounded);
    let is_enough = invert::may_reject(units.count(), settings.level)
        && (clusters.is_none() || units.count() >= FEWEST_DRAWN);
    let chosen = match choose(is_linear, units.count(), is_enough, settings.method, bounded) {
        _ if value.is_nan() => Err(Reason::Undefined),
        Ok(Method::Percentile) if is_equal => Err(Reason::Equal),
        chosen => chosen,
    };
    let mut outcome = chosen;
    let ends = match chosen {
        Ok(Method::Student) => student(&units, settings.level).unwrap_or_else(|reason| {
            outcome = Err(reason);
            (f64::NAN, f64::NAN)
        }),
        Ok(Method::Dense) => dense(aggregate, &units, settings, watch)?,
        Ok(Method::Percentile) => bootstrap::interval(
            aggregate,
            &units,
            settings.level,
            settings.draws,
            settings.threads,
            watch,
        )?,
        Ok(Method::Bounded) => {
            let given = bounded_units.as_deref().unwrap_or(&[]);
            let (lower, upper) = bounded::interval(given, settings.level);
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

/// The p-values of two hypotheses about a mean, for every distribution within the range: that it is at most
/// `limit`, and that it is at least `limit`. None where values have no range, or are outside it.
pub fn bounded_tails(
    parts: &[Part],
    clusters: Option<&[i64]>,
    range: (f64, f64),
    limit: f64,
) -> Option<(f64, f64)> {
    let (low, high) = read_range(parts, range);
    let units = read_bounded(Aggregate::Mean, &Units::new(parts, clusters), (low, high))?;
    let mean = (limit - low) / (high - low);
    let above = bounded::p_above(&units, mean);
    Some((above, bounded::p_above(&bounded::mirror(&units), 1.0 - mean)))
}

/// How many units have a lower bound of at least `limit` with a probability of `power`, if they vary
/// `times` as much as these around a mean of `truth`; none where values have no range, or are outside it,
/// and where there is no such number.
pub fn bounded_units_needed(
    parts: &[Part],
    clusters: Option<&[i64]>,
    range: (f64, f64),
    (limit, truth): (f64, f64),
    times: f64,
    (level, power): (f64, f64),
) -> Option<usize> {
    let (low, high) = read_range(parts, range);
    let units = read_bounded(Aggregate::Mean, &Units::new(parts, clusters), (low, high))?;
    let [limit, truth] = [limit, truth].map(|mean| (mean - low) / (high - low));
    bounded::units_needed(&units, limit, truth, times, ((1.0 - level) / 2.0, power))
}

/// The method to use, or why there is none. It depends on the number of units and on what is known of
/// them before they are seen, not on their values: a choice that looks at the values promises less than
/// the method that it chooses.
fn choose(
    is_linear: bool,
    units: usize,
    is_enough: bool,
    method: Option<Method>,
    bounded: std::result::Result<Method, Reason>,
) -> std::result::Result<Method, Reason> {
    match method {
        Some(Method::Bounded) => bounded,
        Some(Method::Student) if units < 2 => Err(Reason::Single),
        Some(Method::Student) => Ok(Method::Student),
        None if bounded.is_ok() => bounded,
        _ if is_linear && is_enough => Ok(Method::Dense),
        _ if is_linear => bounded.map_err(|_| Reason::Few),
        _ if units < FEWEST_DRAWN => Err(Reason::FewDrawn),
        _ => Ok(Method::Percentile),
    }
}

/// The aggregates that a test of sign flips doesn't reject.
fn dense(
    aggregate: Aggregate,
    units: &Units<'_>,
    settings: Settings,
    watch: Watch<'_>,
) -> Result<(f64, f64)> {
    let Some(terms) = units.terms(aggregate) else {
        return Ok((f64::NAN, f64::NAN));
    };
    let numbers: Vec<usize> = (0..units.count()).collect();
    let given = Weighed { units: &numbers, sums: &terms.numerators, weights: &terms.denominators };
    let draws = invert::Draws {
        units: units.count(),
        flips: settings.draws.resamples,
        seed: settings.draws.seed,
        threads: settings.threads,
    };
    let (lower, upper) = invert::invert(given, draws, watch)?.interval(settings.level);
    let total: f64 = terms.denominators.iter().sum();
    Ok((aggregate.of_sums(lower * total, total), aggregate.of_sums(upper * total, total)))
}

/// The range of values; infinite if one is outside, as where grades below 0 count.
fn read_range(parts: &[Part], (low, high): (f64, f64)) -> (f64, f64) {
    let is_inside = |part: &Part| part.value >= low - SLACK && part.value <= high + SLACK;
    if parts.iter().all(is_inside) { (low, high) } else { (f64::NEG_INFINITY, f64::INFINITY) }
}

/// Values can leave their range by an error of rounding.
const SLACK: f64 = 1e-9;

/// The sums of units, in units of the range, and their weights. None for aggregates other than means, and
/// where values have no range, or are outside it.
fn read_bounded(
    aggregate: Aggregate,
    units: &Units<'_>,
    (low, high): (f64, f64),
) -> Option<Vec<Unit>> {
    let is_mean = matches!(aggregate, Aggregate::Mean | Aggregate::RatioOfSums);
    if !(is_mean && (high - low).is_finite() && low < high) {
        return None;
    }
    let terms = units.terms(aggregate)?;
    let mut found = Vec::with_capacity(units.count());
    for (&sum, &count) in terms.numerators.iter().zip(&terms.denominators) {
        let (sum, slack) = ((sum - low * count) / (high - low), SLACK * count);
        if !(sum >= -slack && sum <= count + slack) {
            return None;
        }
        if count > 0.0 {
            found.push(Unit { sum: sum.clamp(0.0, count), count });
        }
    }
    Some(found)
}

/// Student's interval; none with too few effective degrees of freedom.
fn student(units: &Units<'_>, level: f64) -> std::result::Result<(f64, f64), Reason> {
    let Some(terms) = units.terms(Aggregate::Mean) else {
        return Err(Reason::Undefined);
    };
    let found = student::average(&terms.numerators, &terms.denominators);
    if found.degrees < student::FEWEST_DEGREES && !units.are_single(&terms) {
        return Err(Reason::FewDegrees);
    }
    let half = t_quantile(level, found.degrees) * found.error;
    Ok((found.mean - half, found.mean + half))
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

    fn resampled(aggregate: Aggregate, values: &[f64], settings: Settings) -> Estimate {
        let settings = Settings { method: Some(Method::Percentile), ..settings };
        estimate(aggregate, &parts(values), None, settings, &mut |_| Ok(())).unwrap()
    }

    #[test]
    fn a_seed_gives_one_interval_for_any_threads_and_another_seed_another() {
        let values: Vec<f64> = (0..5000).map(|index| f64::from(index * 37 % 101) / 101.0).collect();
        let with = |seed, threads| {
            let draws = Draws { resamples: 600, seed };
            resampled(
                Aggregate::TailMean(0.3),
                &values,
                Settings { draws, threads, ..settings(None) },
            )
            .ends
        };
        assert_eq!(with(1, 1), with(1, 3));
        assert_ne!(with(1, 3), with(2, 3));
    }

    #[test]
    fn clusters_of_one_part_are_like_none() {
        let values: Vec<f64> = (0..100).map(|index| f64::from(index * 37 % 101) / 101.0).collect();
        let codes: Vec<i64> = (0..100).collect();
        for method in [Method::Student, Method::Bounded, Method::Dense] {
            let settings = settings(Some(method));
            let clustered =
                estimate(Aggregate::Mean, &parts(&values), Some(&codes), settings, &mut |_| Ok(()));
            assert_eq!(clustered.unwrap(), of(&values, settings));
        }
    }

    #[test]
    fn few_or_equal_values_have_no_bootstrap() {
        let outcome = |values: &[f64]| resampled(Aggregate::Median, values, settings(None)).outcome;
        assert_eq!(outcome(&VALUES), Err(Reason::FewDrawn));
        assert_eq!(outcome(&[0.5; 60]), Err(Reason::Equal));
        let outcomes = [19, 20].map(|count| outcome(&spread(count)));
        assert_eq!(outcomes, [Err(Reason::FewDrawn), Ok(Method::Percentile)]);
    }

    #[test]
    fn what_is_no_mean_and_no_sum_lies_in_a_bootstrap_interval() {
        let values: Vec<f64> = VALUES.iter().copied().cycle().take(40).collect();
        for aggregate in [
            Aggregate::Geometric,
            Aggregate::Harmonic,
            Aggregate::Median,
            Aggregate::Quantile(0.25),
            Aggregate::TailMean(0.5),
        ] {
            let made = resampled(aggregate, &values, settings(None));
            let (lower, upper) = made.ends;
            assert!(lower < made.value && made.value < upper, "{aggregate:?}: {made:?}");
        }
    }

    #[test]
    fn a_median_is_covered_as_often_as_the_level_says() {
        // Exponential values, 31 at a time, with the median ln 2.
        let mut random = Random::new(11, 0);
        let mut covered = 0;
        for seed in 0..400 {
            #[allow(clippy::cast_precision_loss)] // 53 bits of the number
            let mut uniform = || (random.draw() >> 11) as f64 / 2_f64.powi(53);
            let values: Vec<f64> = (0..31).map(|_| -(1.0 - uniform()).ln()).collect();
            let draws = Draws { resamples: 999, seed };
            let range = (0.0, f64::INFINITY);
            let settings = Settings { draws, range, ..settings(None) };
            let (lower, upper) = resampled(Aggregate::Median, &values, settings).ends;
            covered += u32::from(lower <= 2_f64.ln() && 2_f64.ln() <= upper);
        }
        // 95 % of 400 are 380, with a standard deviation of 4.4.
        assert!((366..=394).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn means_and_sums_have_no_bootstrap() {
        for aggregate in [Aggregate::Mean, Aggregate::Sum, Aggregate::RatioOfSums] {
            let settings = settings(Some(Method::Percentile));
            let made = estimate(aggregate, &parts(&spread(40)), None, settings, &mut |_| Ok(()));
            assert!(made.is_err());
        }
    }

    /// So many values from 0 to 1, all of them different.
    #[allow(clippy::cast_precision_loss)] // small numbers
    fn spread(count: usize) -> Vec<f64> {
        (0..count).map(|at| at as f64 / (count - 1) as f64).collect()
    }

    #[test]
    fn the_method_depends_on_limits_and_the_number_of_units_alone() {
        let unbounded = (0.0, f64::INFINITY);
        let choose = |count, method, range| {
            of(&spread(count), Settings { range, ..settings(method) }).outcome
        };
        for count in [2, 5, 6, 7, 300] {
            assert_eq!(choose(count, None, (0.0, 1.0)), Ok(Method::Bounded));
            let is_few = count < 6;
            let few = if is_few { Err(Reason::Few) } else { Ok(Method::Dense) };
            assert_eq!(choose(count, None, unbounded), few);
            assert_eq!(choose(count, Some(Method::Dense), unbounded), few);
            let instead = if is_few { Method::Bounded } else { Method::Dense };
            assert_eq!(choose(count, Some(Method::Dense), (0.0, 1.0)), Ok(instead));
            assert_eq!(choose(count, Some(Method::Bounded), unbounded), Err(Reason::Unbounded));
        }
    }

    #[test]
    fn bounds_of_equal_values_have_a_width() {
        for value in [0.0, 0.5, 1.0] {
            let (lower, upper) = of(&[value; 400], settings(None)).ends;
            assert!(lower < upper && lower <= value && value <= upper);
        }
    }

    #[test]
    fn clusters_of_unequal_size_need_four_degrees_of_freedom() {
        let outcome = |sizes: &[usize]| {
            let codes = sizes.iter().enumerate();
            #[allow(clippy::cast_possible_wrap)] // small numbers
            let codes: Vec<i64> =
                codes.flat_map(|(code, &size)| std::iter::repeat_n(code as i64, size)).collect();
            let values = parts(&spread(codes.len()));
            let settings = settings(Some(Method::Student));
            estimate(Aggregate::Mean, &values, Some(&codes), settings, &mut |_| Ok(()))
                .unwrap()
                .outcome
        };
        assert_eq!(outcome(&[3; 5]), Ok(Method::Student));
        assert_eq!(outcome(&[3; 4]), Err(Reason::FewDegrees));
        assert_eq!(outcome(&[200, 5, 5, 5, 5, 5, 5, 5, 5]), Err(Reason::FewDegrees));
        assert_eq!(of(&spread(2), settings(Some(Method::Student))).outcome, Ok(Method::Student));
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
