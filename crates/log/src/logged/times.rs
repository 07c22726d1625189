//! Reads the times of events as microseconds since 1970 in UTC.

/// The longest text of a time.
const LONGEST: usize = 64;
/// The first millisecond that is too far from 1970, on either side.
const FAR: i64 = 1_000_000_000_000_000;
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400;

/// Reads RFC 3339, such as `2026-11-21T18:00:00.5Z`; none where it is no time, or a leap second.
///
/// ```
/// use rankscope_log::logged::times::read_text;
/// assert_eq!(read_text(b"1970-01-01T01:00:00.000001+01:00"), Some(1));
/// assert_eq!(read_text(b"1970-01-01T00:00:60Z"), None);
/// ```
pub fn read_text(text: &[u8]) -> Option<i64> {
    let (head, rest) = text.split_first_chunk::<19>().filter(|_| text.len() <= LONGEST)?;
    let number = |range: std::ops::Range<usize>| {
        head[range].iter().try_fold(0, |sum, byte| {
            byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'))
        })
    };
    let are_apart = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if !are_apart.iter().all(|&(at, byte)| head[at] == byte)
        || !matches!(head[10], b'T' | b't' | b' ')
    {
        return None;
    }
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if year == 0 || day == 0 || day > days_of(year, month)? {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (micros, zone) = read_fraction(rest)?;
    let seconds = count_days(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
    Some((seconds - read_zone(zone)?) * SECOND + micros)
}

/// The microseconds of a fraction, of which further digits are cut off, and what follows it.
fn read_fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some((b'.', rest)) = text.split_first() else { return Some((0, text)) };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at(count);
    let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(6);
    let micros = padded.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    (count > 0).then_some((micros, rest))
}

/// The seconds by which a zone is ahead of UTC.
fn read_zone(text: &[u8]) -> Option<i64> {
    if matches!(text, b"Z" | b"z") {
        return Some(0);
    }
    let &[sign @ (b'+' | b'-'), h1, h0, b':', m1, m0] = text else { return None };
    if ![h1, h0, m1, m0].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let two = |ten: u8, one: u8| i64::from(ten - b'0') * 10 + i64::from(one - b'0');
    let (hours, minutes) = (two(h1, h0), two(m1, m0));
    let ahead = hours * 3600 + minutes * 60;
    (hours < 24 && minutes < 60).then_some(if sign == b'-' { -ahead } else { ahead })
}

/// The days of a month; none where there is no such month.
fn days_of(year: i64, month: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => Some(if is_leap { 29 } else { 28 }),
        4 | 6 | 9 | 11 => Some(30),
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        _ => None,
    }
}

/// The days from 1970 to a date, in years that begin in March, so that a leap day ends one.
fn count_days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_of_years = year * 365 + year / 4 - year / 100 + year / 400;
    days_of_years + (153 * month + 2) / 5 + day - 719_469
}

/// Reads milliseconds since 1970; none where they are too far from it.
pub fn read_integer(milliseconds: i64) -> Option<i64> {
    (-FAR < milliseconds && milliseconds < FAR).then(|| milliseconds * 1000)
}

/// Reads milliseconds since 1970 with a fraction, to the nearest microsecond, ties to even.
///
/// ```
/// use rankscope_log::logged::times::read_number;
/// assert_eq!(read_number(1.5), Some(1500));
/// assert_eq!(read_number(1e15), None);
/// ```
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // they are below 10^18
pub fn read_number(milliseconds: f64) -> Option<i64> {
    (milliseconds.abs() < FAR as f64).then(|| (milliseconds * 1000.0).round_ties_even() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn days_follow_each_other(days in -300_000_i64..2_900_000) {
            // Howard Hinnant's algorithm turns days into dates.
            let shifted = days + 719_468;
            let era = shifted.div_euclid(146_097);
            let of_era = shifted.rem_euclid(146_097);
            let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
            let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
            let from_march = (5 * of_year + 2) / 153;
            let day = of_year - (153 * from_march + 2) / 5 + 1;
            let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
            let year = year_of_era + era * 400 + i64::from(month <= 2);
            prop_assert_eq!(count_days(year, month, day), days);
            let text = format!("{year:04}-{month:02}-{day:02}T00:00:00Z");
            prop_assert_eq!(read_text(text.as_bytes()), Some(days * DAY * SECOND));
        }
    }

    #[test]
    fn a_text_of_a_time_has_64_bytes_at_most() {
        for digits in [43, 44, 45] {
            let text = format!("1970-01-01T00:00:00.{:0digits$}Z", 0);
            assert_eq!(read_text(text.as_bytes()).is_some(), text.len() <= 64);
        }
    }

    #[test]
    #[allow(clippy::cast_precision_loss)] // they are exact
    fn milliseconds_are_below_a_quadrillion() {
        let far = 1_000_000_000_000_000;
        for milliseconds in [far - 1, far, far + 1] {
            for signed in [milliseconds, -milliseconds] {
                let expected = (milliseconds < far).then_some(signed * 1000);
                assert_eq!(read_integer(signed), expected);
                assert_eq!(read_number(signed as f64).is_some(), milliseconds < far);
            }
        }
    }
}
