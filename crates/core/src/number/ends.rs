//! Decimal text to numbers, for several texts at once, which are taken as words of eight characters.
//! Without branches and the same for all of them, the steps fit into vectors.

// What is inlined is compiled for the vectors at hand; columns side by side have one index.
#![allow(clippy::inline_always, clippy::needless_range_loop)]

/// 10^0 … 10^22, all exact.
pub(super) static POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Every byte of a word the same.
const fn repeat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Which of 16 characters are the last so many, in the two words that hold them.
static LAST: [[u64; 2]; 17] = {
    let mut masks = [[0; 2]; 17];
    let mut count = 1;
    while count <= 16 {
        let mask = u128::MAX << (8 * (16 - count));
        #[allow(clippy::cast_possible_truncation)] // a half each
        let halves = [mask as u64, (mask >> 64) as u64];
        masks[count] = halves;
        count += 1;
    }
    masks
};

const ZEROS: u64 = repeat(b'0');

/// Numbers at the ends of texts of 16 characters: `digits[.digits]` of at most 15 digits, perhaps after
/// a minus, all of them with the point at the same place from the end.
#[derive(Debug)]
pub struct Decimals<const N: usize> {
    /// The digits as their values, the first in the lowest byte, and zeros before the number.
    heads: [u64; N],
    tails: [u64; N],
    /// How many characters there are without a minus.
    lengths: [usize; N],
    /// The highest bit, where there is a minus.
    signs: [u64; N],
}

impl<const N: usize> Default for Decimals<N> {
    #[inline(always)]
    fn default() -> Self {
        Self { heads: [0; N], tails: [0; N], lengths: [0; N], signs: [0; N] }
    }
}

impl<const N: usize> Decimals<N> {
    /// Sets one of them to the last `length` characters of a text; nothing where there are more.
    #[inline(always)]
    pub fn set(&mut self, at: usize, text: &[u8; 16], length: usize) -> Option<()> {
        let is_negative = *text.get(16_usize.wrapping_sub(length))? == b'-';
        let [head, tail] = text.as_chunks::<8>().0 else { return None };
        let words = [u64::from_le_bytes(*head), u64::from_le_bytes(*tail)];
        self.set_words(at, words, length, is_negative)
    }

    /// Sets one of them to the last `length` characters of two words.
    #[inline(always)]
    pub(super) fn set_words(
        &mut self,
        at: usize,
        [head, tail]: [u64; 2],
        length: usize,
        is_negative: bool,
    ) -> Option<()> {
        let length = length - usize::from(is_negative);
        let [in_head, in_tail] = LAST.get(length)?;
        self.heads[at] = (head ^ ZEROS) & in_head;
        self.tails[at] = (tail ^ ZEROS) & in_tail;
        self.lengths[at] = length;
        self.signs[at] = u64::from(is_negative) << 63;
        Some(())
    }

    /// The numbers, each rounded to the nearest double; nothing where one of them has another form.
    #[inline(always)]
    pub fn parse(&self) -> Option<[f64; N]> {
        // All are taken as if they had the point where the first one has it; the others are
        // divided by a power of ten that is exact, so that this rounds correctly (Clinger, 1990).
        let (in_head, in_tail) =
            (bits_before_point(self.heads[0]), bits_before_point(self.tails[0]));
        let none = Point { mask: 0, before: 0, after: u64::MAX };
        let (head_point, tail_point, scale, decimals) = if in_tail < 64 {
            (none, Point::after(in_tail), 1e7, (56 - in_tail) / 8)
        } else if in_head < 64 {
            (Point::after(in_head), none, 1e8, (56 - in_head) / 8 + 8)
        } else {
            (none, none, 1e8, 0)
        };
        let least = 1 + usize::from(in_tail.min(in_head) < 64);
        let power = POWERS_OF_TEN[decimals as usize];
        let (mut wrong, mut is_odd) = (0, false);
        let mut values = [0.0; N];
        for at in 0..N {
            let (head, tail) = (self.heads[at], self.tails[at]);
            wrong |= head_point.differs(head) | tail_point.differs(tail);
            let (head, tail) = (head_point.leave_out(head), tail_point.leave_out(tail));
            wrong |= (beyond_digits(head) | beyond_digits(tail)) & repeat(0x80);
            is_odd |= self.lengths[at].wrapping_sub(least) > 14;
            // Exact: the sum has 15 digits at most.
            let value = (double(head) * scale + double(tail)) / power;
            values[at] = f64::from_bits(value.to_bits() | self.signs[at]);
        }
        (wrong == 0 && !is_odd).then_some(values)
    }
}

/// Whole numbers at the ends of texts of eight characters, all of which are digits.
#[derive(Debug)]
pub struct Digits<const N: usize> {
    digits: [u64; N],
}

impl<const N: usize> Default for Digits<N> {
    #[inline(always)]
    fn default() -> Self {
        Self { digits: [0; N] }
    }
}

impl<const N: usize> Digits<N> {
    /// Sets one of them to the last `length` characters of a text; nothing where there are more.
    #[inline(always)]
    pub fn set(&mut self, at: usize, text: [u8; 8], length: usize) -> Option<()> {
        let [in_head, in_tail] = LAST.get(length)?;
        self.digits[at] = (u64::from_le_bytes(text) ^ ZEROS) & in_tail;
        (*in_head == 0).then_some(())
    }

    /// The numbers; nothing where one is none.
    #[inline(always)]
    pub fn parse(&self) -> Option<[u32; N]> {
        let (mut wrong, mut numbers) = (0, [0; N]);
        for at in 0..N {
            wrong |= beyond_digits(self.digits[at]);
            numbers[at] = join_digits(self.digits[at]);
        }
        (wrong & repeat(0x80) == 0).then_some(numbers)
    }
}

/// Where the point is in a word, if it is there.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// The byte that it is in, those before it, and those after it.
    mask: u64,
    before: u64,
    after: u64,
}

impl Point {
    #[inline(always)]
    fn after(bits: u32) -> Self {
        let before = (1 << bits) - 1;
        let mask = 0xff << bits;
        Self { mask, before, after: !(before | mask) }
    }

    /// Not zero where there is no point.
    #[inline(always)]
    fn differs(self, digits: u64) -> u64 {
        (digits ^ (repeat(b'.') ^ ZEROS)) & self.mask
    }

    /// The bytes but for the point; those before it move up, and a zero follows into their place.
    #[inline(always)]
    fn leave_out(self, digits: u64) -> u64 {
        ((digits & self.before) << 8) | (digits & self.after)
    }
}

/// How many bits are before the first point; 64 where there is none.
#[inline(always)]
fn bits_before_point(digits: u64) -> u32 {
    let off_point = digits ^ (repeat(b'.') ^ ZEROS);
    // The lowest mark is at the first point, whatever the bytes after it are.
    let points = off_point.wrapping_sub(repeat(1)) & !off_point & repeat(0x80);
    points.trailing_zeros() & !7
}

/// The high bit of every byte that is no digit is set, and perhaps those of others after it.
#[inline(always)]
fn beyond_digits(bytes: u64) -> u64 {
    bytes.wrapping_add(repeat(0x80 - 10)) | bytes
}

/// The same as a double; a signed integer becomes one in one instruction.
#[inline(always)]
fn double(digits: u64) -> f64 {
    f64::from(join_digits(digits).cast_signed())
}

/// The number that eight digits are, the first in the lowest byte.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // below 10^8, where all are digits
fn join_digits(digits: u64) -> u32 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let pair = |number: u32| ((pairs >> (16 * number)) as u32) & 0xff;
    pair(0) * 1_000_000 + pair(1) * 10_000 + pair(2) * 100 + pair(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The last 16 characters of a text that ends with a number.
    fn end(text: &str) -> [u8; 16] {
        let text = format!("d123.4 17 1234.56{text}");
        *text.as_bytes().last_chunk().unwrap()
    }

    fn parse<const N: usize>(texts: &[String; N]) -> Option<[u64; N]> {
        let mut decimals = Decimals::<N>::default();
        for (at, text) in texts.iter().enumerate() {
            decimals.set(at, &end(text), text.len())?;
        }
        decimals.parse().map(|values| values.map(f64::to_bits))
    }

    fn places(text: &str) -> usize {
        text.find('.').map_or(usize::MAX, |point| text.len() - point)
    }

    #[test]
    fn other_forms_are_left_to_others() {
        for text in [
            "",
            "-",
            ".",
            "-.",
            "+1",
            "1e5",
            "1.2.3",
            "--1",
            "1 2",
            "1,5",
            "nan",
            "1234567890123456",
        ] {
            assert_eq!(parse(&[text.to_owned()]), None, "{text}");
        }
        assert_eq!(parse(&["12345678901234567".to_owned()]), None);
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_the_standard_library(
            text in "-?[0-9]{1,15}|-?[0-9]{0,8}\\.[0-9]{0,7}|-?[0-9]{0,3}\\.[0-9]{0,11}",
        ) {
            let is_number = text.len() <= 16 && text.bytes().any(|byte| byte.is_ascii_digit());
            let expected = is_number.then(|| [text.parse::<f64>().unwrap().to_bits()]);
            prop_assert_eq!(parse(&[text]), expected);
        }

        #[test]
        fn several_at_once_are_the_same_as_one_by_one(
            texts in prop::array::uniform4("-?[0-9]{1,4}\\.[0-9]{2,3}|[0-9x/:]{1,3}\\.[0-9]{2}|[0-9]{2}"),
        ) {
            let one_by_one = texts.clone().map(|text| parse(&[text]));
            let has_one_form = texts.iter().all(|text| places(text) == places(&texts[0]));
            let expected = if has_one_form && one_by_one.iter().all(Option::is_some) {
                Some(one_by_one.map(|value| value.unwrap()[0]))
            } else {
                None
            };
            prop_assert_eq!(parse(&texts), expected);
        }

        #[test]
        fn whole_numbers_are_digits_alone(texts in prop::array::uniform3("[0-9]{1,8}|[-+0-9./:a]{1,9}")) {
            let mut digits = Digits::<3>::default();
            let set = texts.iter().enumerate().all(|(at, text)| {
                digits.set(at, *end(text).last_chunk().unwrap(), text.len()).is_some()
            });
            let are_digits = |text: &String| {
                text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_digit())
            };
            let expected = texts.iter().all(are_digits).then(|| texts.clone().map(|text| text.parse().unwrap()));
            prop_assert_eq!(if set { digits.parse() } else { None }, expected);
        }
    }
}
