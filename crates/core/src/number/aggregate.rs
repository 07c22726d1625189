//! Aggregates the values of queries: means, sums, quantiles and ratios.

use crate::number::sum::ExactSum;
use crate::policy::Aggregate;

/// `trec_eval`'s smallest value in a geometric mean.
pub const GEOMETRIC_FLOOR: f64 = 0.000_01;

/// A value of one query, and what it is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The value.
    pub value: f64,
    /// How much the query counts.
    pub weight: f64,
    /// Numerator and denominator of the value.
    pub ratio: (f64, f64),
}

impl Aggregate {
    /// Whether queries may count for more or less than one.
    pub fn takes_weights(self) -> bool {
        !matches!(self, Self::Median | Self::Quantile(_))
    }

    /// Brings values together; NaN where there are none, and where one of them is NaN.
    pub fn of(self, parts: &[Part]) -> f64 {
        if parts.iter().any(|part| part.value.is_nan()) && self != Self::RatioOfSums {
            return f64::NAN;
        }
        self.combine::<ExactSum>(parts)
    }

    /// The same to within rounding, and faster, for resampling.
    pub fn nearly(self, parts: &[Part]) -> f64 {
        self.combine::<RoundedSum>(parts)
    }

    /// The aggregate by two sums over its parts: of weighted values, logarithms or inverse values, and of
    /// weights.
    pub fn of_sums(self, numerator: f64, denominator: f64) -> f64 {
        match self {
            Self::Sum => numerator,
            Self::Geometric => (numerator / denominator).exp(),
            Self::Harmonic => denominator / numerator,
            _ => numerator / denominator,
        }
    }

    fn combine<S: FromIterator<f64> + Into<f64>>(self, parts: &[Part]) -> f64 {
        let weighed = |value: fn(&Part) -> f64| -> f64 {
            parts.iter().map(|part| part.weight * value(part)).collect::<S>().into()
        };
        let weight = || -> f64 { parts.iter().map(|part| part.weight).collect::<S>().into() };
        match self {
            Self::Sum => weighed(|part| part.value),
            Self::Mean => weighed(|part| part.value) / weight(),
            Self::Geometric => {
                (weighed(|part| part.value.max(GEOMETRIC_FLOOR).ln()) / weight()).exp()
            }
            Self::Harmonic => weight() / weighed(|part| 1.0 / part.value),
            Self::RatioOfSums => weighed(|part| part.ratio.0) / weighed(|part| part.ratio.1),
            Self::Median => quantile(&sorted(parts), 0.5),
            Self::Quantile(share) => quantile(&sorted(parts), share),
            Self::TailMean(share) => tail_mean(&sorted(parts), share),
        }
    }
}

/// A sum that is rounded at every step.
struct RoundedSum(f64);

impl FromIterator<f64> for RoundedSum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self(values.into_iter().sum())
    }
}

impl From<RoundedSum> for f64 {
    fn from(sum: RoundedSum) -> Self {
        sum.0
    }
}

impl From<ExactSum> for f64 {
    fn from(sum: ExactSum) -> Self {
        sum.value()
    }
}

fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.collect::<ExactSum>().value()
}

fn sorted(parts: &[Part]) -> Vec<Part> {
    let mut parts = parts.to_vec();
    parts.sort_by(|a, b| a.value.total_cmp(&b.value));
    parts
}

/// The quantile of Hyndman and Fan's seventh kind, between two values in proportion.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // places in a list
fn quantile(sorted: &[Part], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place.floor();
    let (low, high) = (sorted[below as usize].value, sorted[place.ceil() as usize].value);
    low + (high - low) * (place - below)
}

/// The mean of the smallest values that weigh `share` of all; the last counts as far as it fits.
fn tail_mean(sorted: &[Part], share: f64) -> f64 {
    let room = share * sum(sorted.iter().map(|part| part.weight));
    let mut left = room;
    let mut total = ExactSum::default();
    for part in sorted {
        let weight = part.weight.min(left);
        total.add(weight * part.value);
        left -= weight;
    }
    total.value() / room
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(values: &[f64]) -> Vec<Part> {
        values.iter().map(|&value| Part { value, weight: 1.0, ratio: (value, 1.0) }).collect()
    }

    #[test]
    fn each_is_its_definition() {
        let values = parts(&[0.5, 0.25, 1.0, 0.125]);
        assert_eq!(Aggregate::Mean.of(&values), 1.875 / 4.0);
        assert_eq!(Aggregate::Sum.of(&values), 1.875);
        assert!((Aggregate::Geometric.of(&values) - 2_f64.powf(-1.5)).abs() < 1e-15);
        assert_eq!(Aggregate::Harmonic.of(&values), 4.0 / 15.0);
        assert_eq!(Aggregate::Median.of(&values), 0.375);
        assert_eq!(Aggregate::Quantile(1.0 / 3.0).of(&values), 0.25);
        assert_eq!(Aggregate::TailMean(0.5).of(&values), 0.1875);
        assert_eq!(Aggregate::TailMean(0.375).of(&values), (0.125 + 0.5 * 0.25) / 1.5);
        assert_eq!(Aggregate::RatioOfSums.of(&values), 1.875 / 4.0);
    }

    #[test]
    fn two_sums_give_the_same() {
        let values = [0.5, 0.25, 1.0, 0.125];
        let sum = |of: fn(f64) -> f64| values.iter().map(|&value| of(value)).sum::<f64>();
        for (aggregate, numerator) in [
            (Aggregate::Mean, sum(|value| value)),
            (Aggregate::Sum, sum(|value| value)),
            (Aggregate::Geometric, sum(f64::ln)),
            (Aggregate::Harmonic, sum(f64::recip)),
            (Aggregate::RatioOfSums, sum(|value| value)),
        ] {
            let difference = aggregate.of_sums(numerator, 4.0) - aggregate.of(&parts(&values));
            assert!(difference.abs() < 1e-15, "{aggregate:?}");
        }
    }

    #[test]
    fn nothing_has_no_mean_and_a_zero_ends_the_harmonic_one() {
        assert!(Aggregate::Mean.of(&[]).is_nan());
        assert!(Aggregate::Median.of(&[]).is_nan());
        assert_eq!(Aggregate::Sum.of(&[]), 0.0);
        assert_eq!(Aggregate::Harmonic.of(&parts(&[0.0, 1.0])), 0.0);
        assert!(Aggregate::TailMean(0.1).of(&parts(&[f64::NAN, 1.0])).is_nan());
    }

    #[test]
    fn a_geometric_mean_counts_no_value_below_a_hundred_thousandth() {
        let floor: f64 = 0.000_01;
        for value in [0.0, floor.next_down(), floor, floor.next_up(), 0.000_010_1] {
            let expected = value.max(floor).ln().exp();
            assert_eq!(Aggregate::Geometric.of(&parts(&[value])), expected);
        }
    }
}
