//! Base-2 logarithms of ranks, correctly rounded, the same on every platform.
//!
//! C libraries differ in the last bit for some integers, so discounts come from here. The value is
//! computed in double-double arithmetic (about 100 bits) and rounded once.

use std::sync::OnceLock;

/// One table a power of two, filled when the first rank in it is asked for.
static TABLES: [OnceLock<Box<[f64]>>; TABLED] = [const { OnceLock::new() }; TABLED];
/// Ranks from 2^19 on are computed each time: few lists are as long, and filling a table takes long.
const TABLED: usize = 19;

/// log2 of a positive integer below 2^53.
///
/// ```
/// assert_eq!(rankscope_core::number::log2::log2(8), 3.0);
/// assert_eq!(rankscope_core::number::log2::log2(3), 1.584962500721156);
/// ```
pub fn log2(integer: usize) -> f64 {
    let power = (usize::BITS - 1 - integer.max(1).leading_zeros()) as usize;
    if power >= TABLED {
        return compute(integer);
    }
    let start = 1 << power;
    TABLES[power].get_or_init(|| (start..2 * start).map(compute).collect())[integer.max(1) - start]
}

/// 1, 1/3, 1/5, …: the coefficients of the series, as many as 100 bits need.
static ODD_INVERSES: OnceLock<[Pair; 23]> = OnceLock::new();

/// An unevaluated sum of two doubles, the second at most half an ulp of the first.
#[derive(Clone, Copy)]
struct Pair(f64, f64);

/// 1/ln 2 to 106 bits.
const INVERSE_LN2: Pair = Pair(std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17);

fn add_exact(a: f64, b: f64) -> Pair {
    let sum = a + b;
    let part = sum - a;
    Pair(sum, (a - (sum - part)) + (b - part))
}

fn multiply_exact(a: f64, b: f64) -> Pair {
    const SPLIT: f64 = 134_217_729.0; // 2^27 + 1
    let halves = |x: f64| {
        let high = SPLIT * x - (SPLIT * x - x);
        (high, x - high)
    };
    let product = a * b;
    let ((ah, al), (bh, bl)) = (halves(a), halves(b));
    Pair(product, ((ah * bh - product) + ah * bl + al * bh) + al * bl)
}

fn normal(pair: Pair) -> Pair {
    let sum = pair.0 + pair.1;
    Pair(sum, pair.1 - (sum - pair.0))
}

fn add(a: Pair, b: Pair) -> Pair {
    let high = add_exact(a.0, b.0);
    let low = add_exact(a.1, b.1);
    let sum = normal(Pair(high.0, high.1 + low.0));
    normal(Pair(sum.0, sum.1 + low.1))
}

fn multiply(a: Pair, b: Pair) -> Pair {
    let product = multiply_exact(a.0, b.0);
    normal(Pair(product.0, product.1 + (a.0 * b.1 + a.1 * b.0)))
}

fn divide(a: Pair, b: Pair) -> Pair {
    let mut quotient = Pair(a.0 / b.0, 0.0);
    for _ in 0..2 {
        let product = multiply(quotient, b);
        let rest = add(a, Pair(-product.0, -product.1));
        quotient = add(quotient, Pair(rest.0 / b.0, 0.0));
    }
    quotient
}

/// ln m = 2 (s + s³/3 + s⁵/5 + …) with s = (m - 1)/(m + 1), and m within √½..√2, so s² < 0.03.
#[allow(clippy::cast_precision_loss)] // ranks stay below 2^53
fn compute(integer: usize) -> f64 {
    let mut exponent = f64::from(usize::BITS - 1 - integer.leading_zeros());
    let mut mantissa = integer as f64 / exponent.exp2();
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1.0;
    }
    let s = divide(add_exact(mantissa, -1.0), add_exact(mantissa, 1.0));
    let square = multiply(s, s);
    let odd_inverses = ODD_INVERSES.get_or_init(|| {
        std::array::from_fn(|term| divide(Pair(1.0, 0.0), Pair((2 * term + 1) as f64, 0.0)))
    });
    let series = odd_inverses
        .iter()
        .rev()
        .fold(Pair(0.0, 0.0), |series, &inverse| add(multiply(series, square), inverse));
    let half_log = multiply(multiply(s, series), INVERSE_LN2);
    add(Pair(exponent, 0.0), Pair(2.0 * half_log.0, 2.0 * half_log.1)).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact() {
        for power in 0..52_u32 {
            assert_eq!(log2(1 << power), f64::from(power));
        }
    }

    #[test]
    #[allow(clippy::cast_precision_loss)]
    fn it_is_within_one_ulp_of_the_system_library() {
        for integer in (1..200_000).chain((1 << 24)..(1 << 24) + 100) {
            let system = (integer as f64).log2();
            assert!((log2(integer) - system).abs() <= system * f64::EPSILON, "{integer}");
        }
    }
}
