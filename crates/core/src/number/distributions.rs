//! Tails of the distributions that test statistics have.

use std::f64::consts::{PI, SQRT_2};

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::erf::erfc;
use statrs::function::gamma::ln_gamma;

/// The probability that Student's t is at least this far from 0; NaN without degrees of freedom.
pub fn student_tails(statistic: f64, degrees: f64) -> f64 {
    // Written so that neither NaN passes.
    if statistic.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return f64::NAN;
    }
    if degrees.is_infinite() {
        return normal_tails(statistic);
    }
    let square = statistic * statistic;
    if square.is_infinite() {
        return 0.0;
    }
    // The incomplete beta function, at degrees / (degrees + square), of degrees / 2 and 1/2. The
    // library's loses digits with many degrees, and the tail where it is small.
    let (half, ratio) = (degrees / 2.0, square / degrees);
    let (x, rest) = (1.0 / (1.0 + ratio), ratio / (1.0 + ratio));
    let factor = gamma_ratio(half) / PI.sqrt() * (-half * ratio.ln_1p()).exp() * rest.sqrt();
    if x < (half + 1.0) / (half + 2.5) {
        factor / half * beta_fraction(half, 0.5, x)
    } else {
        1.0 - factor / 0.5 * beta_fraction(0.5, half, rest)
    }
}

/// Γ(a + 1/2) / Γ(a).
fn gamma_ratio(a: f64) -> f64 {
    if a < 50.0 {
        return (ln_gamma(a + 0.5) - ln_gamma(a)).exp();
    }
    // NIST, *Digital library of mathematical functions*, 5.11.13.
    let r = a.recip();
    let series =
        1.0 + r * (-1.0 / 8.0 + r * (1.0 / 128.0 + r * (5.0 / 1024.0 - r * 21.0 / 32768.0)));
    a.sqrt() * series
}

/// The continued fraction of the incomplete beta function (*Digital library of mathematical functions*,
/// 8.17.22), by the method of Lentz. It converges fast below (a + 1) / (a + b + 2).
#[allow(clippy::many_single_char_names)] // those of the formula
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for step in 1..10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / (1.0 + term * d);
            c = 1.0 + term / c;
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < 3e-16 {
            break;
        }
    }
    value
}

/// From so many degrees of freedom on, Student's quantiles are nearly those of the normal distribution.
const MANY_DEGREES: f64 = 2000.0;

/// How many standard errors wide half of Student's interval is; NaN without degrees of freedom.
pub fn t_quantile(level: f64, degrees: f64) -> f64 {
    let share = f64::midpoint(1.0, level);
    if degrees > MANY_DEGREES {
        // The library's search ends too early.
        return expand(share, degrees);
    }
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::NAN, |student| student.inverse_cdf(share))
}

/// Cornish and Fisher's expansion of Student's quantile (*Moments and cumulants in the specification of
/// distributions*, 1938), with an error of degrees^-3.
fn expand(share: f64, degrees: f64) -> f64 {
    let z = Normal::standard().inverse_cdf(share);
    let (first, second) = (z.powi(3) + z, 5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z);
    z + first / (4.0 * degrees) + second / (96.0 * degrees * degrees)
}

/// The probability that a standard normal number is at least this far from 0.
pub fn normal_tails(statistic: f64) -> f64 {
    erfc(statistic.abs() / SQRT_2)
}

/// The probability that a standard normal number is at most so large.
pub fn normal_lower(number: f64) -> f64 {
    erfc(-number / SQRT_2) / 2.0
}

/// How many natural logarithms below its mode a density is left out.
const DEPTH: f64 = 40.0;
/// How many steps there are in a standard deviation of what is integrated.
const STEPS: f64 = 4.0;
/// With so many steps, the error is small even where the normal part is nearly a step itself.
const MOST_STEPS: f64 = 200_000.0;

/// The probability that a noncentral t is at most so large: (Z + shift) / S, with Z standard normal and
/// S the root of a chi-squared number divided by its degrees of freedom.
///
/// It is the mean of Φ(statistic · S - shift) over S. The trapezoidal rule in log S converges
/// geometrically, as the integrand is analytic and vanishes at both ends (Trefethen and Weideman, *The
/// exponentially convergent trapezoidal rule*, 2014).
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count of steps
pub fn noncentral_t_lower(statistic: f64, degrees: f64, shift: f64) -> f64 {
    let is_known = degrees > 0.0 && degrees.is_finite() && shift.is_finite();
    if !is_known || statistic.is_nan() {
        return f64::NAN;
    }
    // The logarithm of the density of log S is degrees · (x - (exp(2x) - 1) / 2), less a constant. It
    // falls by 40 within these ends.
    let spread = (DEPTH / degrees).sqrt();
    let (low, high) = (-spread - DEPTH / degrees, spread);
    let step = ((2.0 * degrees).sqrt().recip()).min((1.0 + shift.abs()).recip()) / STEPS;
    let steps = ((high - low) / step).ceil().min(MOST_STEPS);
    let (mut total, mut weights) = (0.0, 0.0);
    for at in 0..=steps as usize {
        let log = low + (high - low) * (at as f64 / steps);
        let weight = (degrees * (log - (2.0 * log).exp_m1() / 2.0)).exp();
        weights += weight;
        total += weight * normal_lower(statistic * log.exp() - shift);
    }
    total / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-12 * expected.abs()
    }

    #[test]
    fn student_s_t_with_one_and_two_degrees_has_formulas() {
        for statistic in [0.1_f64, 1.0, 3.0, 50.0, 1e5] {
            let one = 1.0 - 2.0 * statistic.atan() / PI;
            let two = {
                let root = (2.0 + statistic * statistic).sqrt();
                2.0 / (root * (root + statistic))
            };
            assert!((student_tails(statistic, 1.0) - one).abs() < 1e-14);
            assert!(is_near(student_tails(-statistic, 2.0), two), "{statistic}");
        }
        assert!(student_tails(1.0, 0.0).is_nan());
    }

    #[test]
    fn without_a_shift_a_noncentral_t_is_student_s() {
        for degrees in [1.0, 2.5, 9.0, 249.0, 1e6] {
            for statistic in [-3.0, -0.5, 0.0, 2.0] {
                let tail = student_tails(statistic, degrees) / 2.0;
                let expected = if statistic < 0.0 { tail } else { 1.0 - tail };
                let found = noncentral_t_lower(statistic, degrees, 0.0);
                assert!(
                    (found - expected).abs() < 1e-11,
                    "{degrees} {statistic} {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn a_noncentral_t_is_negative_as_often_as_a_shifted_normal_number() {
        let found = noncentral_t_lower(0.0, 7.0, 1.5);
        assert!((found - normal_lower(-1.5)).abs() < 1e-13);
    }

    #[test]
    fn student_s_quantiles_are_expanded_beyond_2000_degrees() {
        for degrees in [1999.0, 2000.0, 2000.0_f64.next_up(), 2001.0] {
            let (found, expanded) = (t_quantile(0.95, degrees), expand(0.975, degrees));
            assert!((found - expanded).abs() < 1e-8, "{degrees}");
            assert_eq!(found == expanded, degrees > 2000.0, "{degrees}");
        }
    }
}
