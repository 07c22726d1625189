//! Student's t for means over units of unequal size, such as users with many or few queries.
//!
//! The standard error is the cluster-robust one known as CR2 (Bell and McCaffrey, *Bias reduction in
//! standard errors for linear regression with multi-stage samples*, 2002): the residual of a unit that
//! is a share p of all counts with 1 / (1 - p), for the mean is near to it. The degrees of freedom are
//! those of Satterthwaite for this error (Pustejovsky and Tipton, *Small-sample methods for
//! cluster-robust variance estimation and hypothesis testing in fixed effects models*, 2018). Of units
//! of one size, both are the usual ones.

/// With fewer effective degrees of freedom, units of unequal size have no t.
pub const FEWEST_DEGREES: f64 = 4.0;
/// Residuals that are smaller than this share of the largest value are rounding.
const CLOSE: f64 = 1e-12;

/// A mean and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Student {
    /// The sums of the units divided by their sizes.
    pub mean: f64,
    /// Its standard error; NaN with fewer than two units.
    pub error: f64,
    /// The effective degrees of freedom; 0 with fewer than two units.
    pub degrees: f64,
}

/// The mean over units, by what each adds up to and its size, which is above 0.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
pub fn average(sums: &[f64], sizes: &[f64]) -> Student {
    let total: f64 = sizes.iter().sum();
    let mean = sums.iter().sum::<f64>() / total;
    if sizes.len() < 2 {
        return Student { mean, error: f64::NAN, degrees: 0.0 };
    }
    let residuals: Vec<f64> = sums.iter().zip(sizes).map(|(sum, size)| sum - mean * size).collect();
    let largest =
        |values: &[f64]| values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let is_equal = largest(&residuals) <= CLOSE * largest(sums);
    let count = sizes.len() as f64;
    if sizes.windows(2).all(|pair| pair[0] == pair[1]) {
        let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let error = if is_equal { 0.0 } else { (squares * count / (count - 1.0)).sqrt() / total };
        return Student { mean, error, degrees: count - 1.0 };
    }
    let (mut squares, mut own, mut counted, mut twice) = (0.0, 0.0, 0.0, 0.0);
    for (&residual, &size) in residuals.iter().zip(sizes) {
        let share = size / total;
        let inflated = size * share / (1.0 - share);
        squares += residual * residual / (1.0 - share);
        own += size * share;
        counted += inflated;
        twice += inflated * inflated;
    }
    let error = if is_equal { 0.0 } else { squares.sqrt() / total };
    // The trace squared over the trace of the square, both multiplied by the square of the total.
    let degrees = total / (own + (counted * counted - twice) / total);
    Student { mean, error, degrees }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_units_of_one_size_it_is_the_usual_error() {
        let found = average(&[0.0, 0.4, 0.2], &[2.0; 3]);
        assert!((found.mean - 0.1).abs() < 1e-15 && found.degrees == 2.0);
        assert!((found.error - (0.01_f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn degrees_are_those_of_satterthwaite() {
        // By the definition, with the matrix of all pairs of units.
        let sizes = [1.0, 2.0, 5.0, 12.0];
        let total: f64 = sizes.iter().sum();
        let factor = |size: f64| 1.0 / (1.0 - size / total);
        let (mut trace, mut square) = (0.0, 0.0);
        for (at, &one) in sizes.iter().enumerate() {
            for (place, &other) in sizes.iter().enumerate() {
                let own = if at == place { one } else { 0.0 };
                let entry = (factor(one) * factor(other)).sqrt() * (own - one * other / total);
                trace += if at == place { entry } else { 0.0 };
                square += entry * entry;
            }
        }
        let found = average(&[0.1, 0.9, 2.0, 7.0], &sizes);
        assert!((found.degrees - trace * trace / square).abs() < 1e-12, "{found:?}");
        assert!((trace - total).abs() < 1e-12);
    }

    #[test]
    fn equal_values_have_no_error_and_a_unit_has_none_at_all() {
        assert_eq!(average(&[0.3, 0.1 + 0.2], &[1.0, 1.0]).error, 0.0);
        assert_eq!(average(&[0.3, 0.6], &[1.0, 2.0]).error, 0.0);
        let alone = average(&[0.3], &[1.0]);
        assert!(alone.error.is_nan() && alone.degrees == 0.0);
    }
}
