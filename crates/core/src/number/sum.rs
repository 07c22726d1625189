//! Exact sums of `f64`: order-free, mergeable, subtractable, rounded once at the end.
//!
//! A fixed-point number wide enough for every finite double (the superaccumulator of Kulisch, in
//! the carry-saving layout of Neal, *Fast exact summation using small and large superaccumulators*,
//! 2015). The rounded result equals Python's `math.fsum`.

use serde::{Deserialize, Serialize};

const DIGIT_BITS: u32 = 32;
const DIGIT_MASK: u64 = (1 << DIGIT_BITS) - 1;
/// 2^-1074 is the lowest bit; 2098 bits of doubles, and 64 more for carries of many terms.
const DIGITS: usize = 68;
/// Each addition moves a digit by less than 2^32, so carries wait for 2^30 of them.
const CARRY_AFTER: u32 = 1 << 30;

/// A digit as bytes, and the bit beside the number of digits that says that a sum is negative.
const DIGIT_BYTES: usize = 4;
const SIGN: u8 = 1 << 7;

/// What infinities and NaN are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite;

/// A sum of doubles without rounding.
///
/// ```
/// use rankscope_core::number::sum::ExactSum;
/// let mut sum = ExactSum::default();
/// for value in [1e100, 1.0, -1e100] {
///     sum.add(value);
/// }
/// assert_eq!(sum.value(), 1.0);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub struct ExactSum {
    digits: [i64; DIGITS],
    pending: u32,
    nan: i64,
    positive_infinity: i64,
    negative_infinity: i64,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { digits: [0; DIGITS], pending: 0, nan: 0, positive_infinity: 0, negative_infinity: 0 }
    }
}

impl From<ExactSum> for Vec<u8> {
    fn from(sum: ExactSum) -> Self {
        let mut packed = Self::new();
        // Nothing is packed where it isn't finite, which is refused when it is read.
        sum.pack(&mut packed).unwrap_or_default();
        packed
    }
}

impl TryFrom<Vec<u8>> for ExactSum {
    type Error = &'static str;

    fn try_from(packed: Vec<u8>) -> Result<Self, Self::Error> {
        let mut rest = &packed[..];
        let sum = Self::unpack(&mut rest).filter(|_| rest.is_empty());
        sum.ok_or("expected a packed sum")
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        let mut sum = Self::default();
        for value in values {
            sum.add(value);
        }
        sum
    }
}

impl ExactSum {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.put(value, 1);
    }

    /// Takes away a value that was added before.
    pub fn subtract(&mut self, value: f64) {
        self.put(value, -1);
    }

    /// Adds everything that another sum holds.
    pub fn merge(&mut self, other: &Self) {
        // A digit is below 2^32 once it is carried, as if something had been added to it once.
        if self.pending + other.pending + 1 >= CARRY_AFTER {
            self.carry();
            let mut carried = other.clone();
            carried.carry();
            return self.merge(&carried);
        }
        for (digit, more) in self.digits.iter_mut().zip(&other.digits) {
            *digit += more;
        }
        self.pending += other.pending + 1;
        self.nan += other.nan;
        self.positive_infinity += other.positive_infinity;
        self.negative_infinity += other.negative_infinity;
    }

    #[allow(clippy::cast_possible_wrap)] // each part is below 2^32
    #[allow(clippy::cast_possible_truncation)] // digits are cut to 32 bits
    fn put(&mut self, value: f64, sign: i64) {
        if !value.is_finite() {
            if value.is_nan() {
                self.nan += sign;
            } else if value > 0.0 {
                self.positive_infinity += sign;
            } else {
                self.negative_infinity += sign;
            }
            return;
        }
        let bits = value.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as usize;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, position) = match exponent {
            0 => (fraction, 0),
            _ => (fraction | (1 << 52), exponent - 1),
        };
        let sign = if value.is_sign_negative() { -sign } else { sign };
        let first = position / DIGIT_BITS as usize;
        let wide = u128::from(mantissa) << (position % DIGIT_BITS as usize);
        for part in 0..3 {
            let digit = (wide >> (part * DIGIT_BITS)) & u128::from(DIGIT_MASK);
            self.digits[first + part as usize] += sign * digit as i64;
        }
        self.pending += 1;
        if self.pending == CARRY_AFTER {
            self.carry();
        }
    }

    /// Brings every digit but the last into 0..2^32; the last keeps the sign.
    fn carry(&mut self) {
        let mut carry = 0_i64;
        for digit in &mut self.digits[..DIGITS - 1] {
            let sum = *digit + carry;
            carry = sum >> DIGIT_BITS;
            *digit = sum & DIGIT_MASK.cast_signed();
        }
        self.digits[DIGITS - 1] += carry;
        self.pending = 0;
    }

    /// Appends the sum as bytes: the place of the lowest digit that is not 0, how many there are from
    /// it on, with the sign as highest bit, and the digits, little-endian. Equal sums give equal
    /// bytes.
    pub fn pack(&self, out: &mut Vec<u8>) -> Result<(), NotFinite> {
        if (self.nan, self.positive_infinity, self.negative_infinity) != (0, 0, 0) {
            return Err(NotFinite);
        }
        let (negative, digits) = self.magnitude();
        let first = digits.iter().position(|&digit| digit != 0).unwrap_or(0);
        let end = digits.iter().rposition(|&digit| digit != 0).map_or(0, |top| top + 1);
        let byte = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
        out.push(byte(first));
        out.push(byte(end - first) | if negative { SIGN } else { 0 });
        for digit in &digits[first..end] {
            out.extend_from_slice(&digit.to_le_bytes()[..DIGIT_BYTES]);
        }
        Ok(())
    }

    /// Takes a sum from the front of bytes; none where they are not what [`ExactSum::pack`] gives.
    pub fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let (&[first, count], rest) = bytes.split_first_chunk()?;
        let (negative, count) = (count & SIGN != 0, usize::from(count & !SIGN));
        let (packed, rest) = rest.split_at_checked(count * DIGIT_BYTES)?;
        let mut sum = Self::default();
        let digits = sum.digits.get_mut(usize::from(first)..usize::from(first) + count)?;
        for (digit, four) in digits.iter_mut().zip(packed.chunks_exact(DIGIT_BYTES)) {
            let value = four.iter().rev().fold(0_i64, |value, &byte| value << 8 | i64::from(byte));
            *digit = if negative { -value } else { value };
        }
        sum.pending = 1;
        *bytes = rest;
        Some(sum)
    }

    /// Whether the sum is below zero, and its digits without the sign.
    fn magnitude(&self) -> (bool, [i64; DIGITS]) {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.digits[DIGITS - 1] < 0;
        if negative {
            for digit in &mut sum.digits {
                *digit = -*digit;
            }
            sum.carry();
        }
        (negative, sum.digits)
    }

    /// The sum, rounded once to the nearest double, ties to even.
    pub fn value(&self) -> f64 {
        if self.nan != 0 || (self.positive_infinity > 0 && self.negative_infinity > 0) {
            return f64::NAN;
        }
        if self.positive_infinity > 0 {
            return f64::INFINITY;
        }
        if self.negative_infinity > 0 {
            return f64::NEG_INFINITY;
        }
        let (negative, digits) = self.magnitude();
        let magnitude = round(&digits);
        if negative { -magnitude } else { magnitude }
    }
}

/// The double nearest to a non-negative fixed-point number.
fn round(digits: &[i64; DIGITS]) -> f64 {
    let Some(top) = digits.iter().rposition(|&digit| digit != 0) else {
        return 0.0;
    };
    let digit = |index: usize| digits[index].cast_unsigned();
    let length = top * DIGIT_BITS as usize + (64 - digit(top).leading_zeros() as usize);
    // The 53 bits from `low` upwards are kept, `low` counting from 2^-1074.
    let low = length.saturating_sub(53);
    let bit = |position: usize| {
        (digit(position / DIGIT_BITS as usize) >> (position % DIGIT_BITS as usize)) & 1
    };
    let mut mantissa = 0_u64;
    for position in (low..length).rev() {
        mantissa = (mantissa << 1) | bit(position);
    }
    if low > 0 && bit(low - 1) == 1 {
        let half = low - 1;
        let below = digits[..half / DIGIT_BITS as usize].iter().any(|&digit| digit != 0)
            || digit(half / DIGIT_BITS as usize) & ((1 << (half % DIGIT_BITS as usize)) - 1) != 0;
        if below || mantissa & 1 == 1 {
            mantissa += 1;
        }
    }
    scale(mantissa, low)
}

/// `mantissa · 2^(low - 1074)`, where the mantissa has at most 53 bits, or is 2^53.
fn scale(mut mantissa: u64, mut low: usize) -> f64 {
    if mantissa == 1 << 53 {
        mantissa >>= 1;
        low += 1;
    }
    if mantissa < 1 << 52 {
        return f64::from_bits(mantissa);
    }
    let exponent = low as u64 + 1;
    if exponent >= 0x7ff {
        return f64::INFINITY;
    }
    f64::from_bits((exponent << 52) | (mantissa & ((1 << 52) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(values: &[f64]) -> f64 {
        values.iter().copied().collect::<ExactSum>().value()
    }

    #[test]
    fn single_values_come_back() {
        for value in [0.0, 1.0, -1.5, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::MIN, 0.1] {
            assert_eq!(sum(&[value]).to_bits(), (value + 0.0).to_bits());
        }
    }

    #[test]
    fn ties_round_to_even() {
        let ulp = f64::EPSILON;
        assert_eq!(sum(&[1.0, ulp / 2.0]), 1.0);
        assert_eq!(sum(&[1.0 + ulp, ulp / 2.0]), 1.0 + 2.0 * ulp);
        assert_eq!(sum(&[1.0, ulp / 2.0, 5e-324]), 1.0 + ulp);
    }

    #[test]
    fn infinities_and_nan_stay() {
        assert_eq!(sum(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[f64::NAN]).is_nan());
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
    }

    #[test]
    fn what_is_not_finite_is_not_packed() {
        for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let sum: ExactSum = [value].into_iter().collect();
            assert_eq!(sum.pack(&mut Vec::new()), Err(NotFinite));
        }
        assert!(ExactSum::unpack(&mut &[67, 2, 0, 0, 0, 0, 0, 0, 0, 0][..]).is_none());
    }

    fn finite() -> impl Strategy<Value = f64> {
        any::<f64>().prop_filter("finite", |value| value.is_finite())
    }

    proptest! {
        #[test]
        fn order_does_not_matter(mut values in prop::collection::vec(finite(), 0..50), at in 0usize..50) {
            let before = sum(&values);
            let split = at.min(values.len());
            values.rotate_left(split);
            prop_assert_eq!(before.to_bits(), sum(&values).to_bits());
        }

        #[test]
        fn merging_is_adding_and_subtracting_takes_it_back(
            left in prop::collection::vec(finite(), 0..20),
            right in prop::collection::vec(finite(), 0..20),
        ) {
            let mut one: ExactSum = left.iter().copied().collect();
            let before = one.value();
            let other: ExactSum = right.iter().copied().collect();
            one.merge(&other);
            let all: Vec<f64> = left.iter().chain(&right).copied().collect();
            prop_assert_eq!(one.value().to_bits(), sum(&all).to_bits());
            for &value in &right {
                one.subtract(value);
            }
            prop_assert_eq!(one.value().to_bits(), before.to_bits());
        }

        #[test]
        fn merging_many_times_carries(values in prop::collection::vec(finite(), 1..5)) {
            let one: ExactSum = values.iter().copied().collect();
            let mut doubled = one.clone();
            doubled.pending = CARRY_AFTER - 2;
            doubled.merge(&one);
            prop_assert!(doubled.pending < CARRY_AFTER / 2);
            for &value in &values {
                doubled.subtract(value);
            }
            prop_assert_eq!(doubled.value().to_bits(), one.value().to_bits());
        }

        #[test]
        fn packing_keeps_the_sum_and_is_of_the_sum_alone(
            values in prop::collection::vec(finite(), 0..20), more in finite(),
        ) {
            let one: ExactSum = values.iter().copied().collect();
            let mut other: ExactSum = values.iter().rev().chain([&more]).copied().collect();
            other.subtract(more);
            let (mut bytes, mut same) = (Vec::new(), Vec::new());
            prop_assert_eq!(one.pack(&mut bytes), Ok(()));
            prop_assert_eq!(other.pack(&mut same), Ok(()));
            prop_assert_eq!(&bytes, &same);
            bytes.push(7);
            let mut rest = &bytes[..];
            let back = ExactSum::unpack(&mut rest).expect("it was packed");
            prop_assert_eq!(rest, &[7]);
            prop_assert_eq!(back.value().to_bits(), one.value().to_bits());
            let mut twice = one.clone();
            twice.merge(&one);
            let mut again = back.clone();
            again.merge(&back);
            prop_assert_eq!(again.value().to_bits(), twice.value().to_bits());
            prop_assert!(ExactSum::unpack(&mut &same[..same.len() - 1]).is_none());
        }

        #[test]
        fn two_values_round_as_the_processor_rounds(left in finite(), right in finite()) {
            prop_assert_eq!(sum(&[left, right]), left + right);
        }
    }
}
