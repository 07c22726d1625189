//! Decimal text to the nearest double: a short exact path for what scores look like, a library
//! for the rest. Only plain decimal notation is a number here: no hexadecimal, no underscores, no
//! `inf`, no `nan`.

use crate::number::ends::{Decimals, POWERS_OF_TEN};

/// Why a field is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotANumber {
    /// It reads `nan`.
    Nan,
    /// It reads `inf` or `infinity`.
    Infinite,
    /// A number too large for a double.
    Overflow,
    /// A comma where the decimal point belongs.
    DecimalComma,
    /// Anything else.
    Text,
}

/// Integers up to here are doubles.
const EXACT: u64 = 1 << 53;

/// Reads a decimal number, rounded to the nearest double.
#[inline]
pub fn parse(text: &[u8]) -> Result<f64, NotANumber> {
    if let Some(value) = parse_at_once(text) {
        return Ok(value);
    }
    parse_short(text).map_or_else(|| parse_any(text), Ok)
}

/// As [`parse_short`], for 8 to 16 characters, which are taken as two words.
#[inline]
fn parse_at_once(text: &[u8]) -> Option<f64> {
    let (first, last) = (text.first_chunk::<8>()?, text.last_chunk::<8>()?);
    let missing = 16_usize.checked_sub(text.len())?;
    // Those that are not among the last eight move to where they are in a text of 16.
    #[allow(clippy::cast_possible_truncation)] // at most 64
    let head = u64::from_le_bytes(*first).checked_shl(8 * missing as u32).unwrap_or(0);
    let mut ends = Decimals::<1>::default();
    ends.set_words(0, [head, u64::from_le_bytes(*last)], text.len(), text[0] == b'-')?;
    ends.parse().map(|[value]| value)
}

/// `digits[.digits]` of at most 18 digits whose value and power of ten are exact doubles, so that
/// one division rounds correctly (Clinger, 1990).
#[inline]
#[allow(clippy::cast_precision_loss)] // at most 2^53
fn parse_short(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, text),
    };
    if digits.len() > 19 {
        return None;
    }
    let mut mantissa = 0_u64;
    let mut point = digits.len();
    for (index, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = mantissa * 10 + u64::from(digit);
        } else if byte == b'.' && point == digits.len() {
            point = index;
        } else {
            return None;
        }
    }
    let fraction = digits.len() - point;
    if mantissa > EXACT || digits.len() <= usize::from(fraction > 0) {
        return None;
    }
    let value = mantissa as f64 / POWERS_OF_TEN[fraction.saturating_sub(1)];
    Some(if negative { -value } else { value })
}

fn parse_any(text: &[u8]) -> Result<f64, NotANumber> {
    if !is_decimal(text) {
        return Err(name_mistake(text));
    }
    let value = fast_float2::parse::<f64, _>(text).map_err(|_| NotANumber::Text)?;
    if value.is_finite() { Ok(value) } else { Err(NotANumber::Overflow) }
}

fn without_sign(text: &[u8]) -> &[u8] {
    match text.split_first() {
        Some((b'+' | b'-', rest)) => rest,
        _ => text,
    }
}

fn skip_digits(text: &[u8]) -> (usize, &[u8]) {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count, &text[count..])
}

/// `[+-] digits [. digits] [e [+-] digits]`, with a digit before or after the point.
fn is_decimal(text: &[u8]) -> bool {
    let (whole, mut rest) = skip_digits(without_sign(text));
    let mut fraction = 0;
    if let Some((b'.', after)) = rest.split_first() {
        (fraction, rest) = skip_digits(after);
    }
    if whole + fraction == 0 {
        return false;
    }
    match rest.split_first() {
        None => true,
        Some((b'e' | b'E', exponent)) => {
            let (digits, rest) = skip_digits(without_sign(exponent));
            digits > 0 && rest.is_empty()
        }
        Some(_) => false,
    }
}

fn name_mistake(text: &[u8]) -> NotANumber {
    let word = without_sign(text);
    if word.eq_ignore_ascii_case(b"nan") {
        return NotANumber::Nan;
    }
    if word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity") {
        return NotANumber::Infinite;
    }
    let with_point: Vec<u8> =
        text.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
    if text.contains(&b',') && is_decimal(&with_point) {
        return NotANumber::DecimalComma;
    }
    NotANumber::Text
}

/// Room for the decimal text of an integer.
#[derive(Debug, Default)]
pub struct Decimal([u8; 20]);

impl Decimal {
    /// The decimal text of an integer.
    #[allow(clippy::cast_possible_truncation)] // digits
    pub fn write(&mut self, value: i64) -> &[u8] {
        let mut rest = value.unsigned_abs();
        let mut at = self.0.len();
        loop {
            at -= 1;
            self.0[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            at -= 1;
            self.0[at] = b'-';
        }
        &self.0[at..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mistakes_are_told_apart() {
        for (text, mistake) in [
            ("nan", NotANumber::Nan),
            ("-NaN", NotANumber::Nan),
            ("inf", NotANumber::Infinite),
            ("-Infinity", NotANumber::Infinite),
            ("1e999", NotANumber::Overflow),
            ("2,5", NotANumber::DecimalComma),
            ("1,234.5", NotANumber::Text),
            ("", NotANumber::Text),
            (".", NotANumber::Text),
            ("-", NotANumber::Text),
            ("1_0", NotANumber::Text),
            ("0x1p3", NotANumber::Text),
            ("1e", NotANumber::Text),
            ("1.2.3", NotANumber::Text),
            ("١", NotANumber::Text),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(mistake), "{text}");
        }
    }

    #[test]
    fn unusual_spellings_are_numbers() {
        for (text, value) in
            [("+1", 1.0_f64), ("01", 1.0), ("-0", -0.0), ("1.", 1.0), (".5", 0.5), ("1E-2", 0.01)]
        {
            assert_eq!(parse(text.as_bytes()).map(f64::to_bits), Ok(value.to_bits()), "{text}");
        }
        assert_eq!(parse(b"1e-320"), Ok(1e-320));
        assert_eq!(parse(&[b'9'; 40]), Ok(1e40));
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_standard_library(text in "-?[0-9]{1,19}(\\.[0-9]{0,19})?(e-?[0-9]{1,2})?") {
            prop_assert_eq!(parse(text.as_bytes()), Ok(text.parse::<f64>().unwrap()));
        }

        #[test]
        fn short_forms_agree_too(text in "-?[0-9]{0,9}\\.[0-9]{0,9}") {
            match text.parse::<f64>() {
                Ok(value) => prop_assert_eq!(parse(text.as_bytes()), Ok(value)),
                Err(_) => prop_assert!(parse(text.as_bytes()).is_err()),
            }
        }

        #[test]
        fn taking_eight_at_once_changes_nothing(text in "[-+.0-9x/:]{1,2}[.0-9]{5,14}[.0-9x/:]") {
            if let Some(value) = parse_at_once(text.as_bytes()) {
                prop_assert_eq!(Some(value), parse_short(text.as_bytes()));
            }
        }

        #[test]
        fn any_bytes_are_a_number_or_a_mistake(text in prop::collection::vec(any::<u8>(), 0..30)) {
            let _ = parse(&text);
        }
    }

    #[test]
    fn numbers_around_the_largest_exact_integer_are_rounded_to_the_nearest() {
        let largest = 1_u64 << 53;
        for digits in [largest - 1, largest, largest + 1].map(|integer| integer.to_string()) {
            for point in 0..=digits.len() {
                let text = format!("{}.{}", &digits[..point], &digits[point..]);
                assert_eq!(parse(text.as_bytes()), Ok(text.parse().unwrap()), "{text}");
            }
        }
    }
}
