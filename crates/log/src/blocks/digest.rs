//! Texts and digests that identify what an event says, as stores have them.

use std::fmt::Arguments;
use std::io::Write as _;

use blake2b_simd::Params;

/// 16 bytes of `BLAKE2b`.
pub type Digest = [u8; 16];

/// The digest of a text.
pub fn of(text: &[u8]) -> Digest {
    first(Params::new().hash_length(16).hash(text).as_bytes())
}

/// A number for a text that is the same in every process: 8 bytes of `BLAKE2b`, the first the highest.
pub fn number(text: &[u8]) -> i64 {
    i64::from_be_bytes(first(Params::new().hash_length(8).hash(text).as_bytes()))
}

/// The bytes of a hash, of which there are so many.
pub(super) fn first<const N: usize>(hash: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(hash);
    bytes
}

/// An id made of parts, which NUL separates, in hexadecimal.
pub fn make_id<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = Vec::with_capacity(128);
    for (place, part) in parts.into_iter().enumerate() {
        if place > 0 {
            text.push(0);
        }
        text.extend_from_slice(part);
    }
    let mut id = [0; 32];
    for (digits, byte) in id.as_chunks_mut().0.iter_mut().zip(of(&text)) {
        *digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
    id
}

/// Writes UTF-8 as a text of JSON in ASCII.
///
/// ```
/// use rankscope_log::blocks::digest::write_text;
/// let mut text = Default::default();
/// write_text("é\n\"😀".as_bytes(), &mut text);
/// assert_eq!(&text[..], br#""\u00e9\n\"\ud83d\ude00""#);
/// ```
pub fn write_text(utf8: &[u8], text: &mut Vec<u8>) {
    text.push(b'"');
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    // Without an end before the last byte, the compiler looks at several bytes at once.
    if utf8.iter().fold(true, |are_plain, byte| are_plain & is_plain(byte)) {
        text.extend_from_slice(utf8);
        text.push(b'"');
        return;
    }
    for piece in utf8.utf8_chunks() {
        for character in piece.valid().chars() {
            match character {
                '"' | '\\' => text.extend_from_slice(&[b'\\', character as u8]),
                ' '..='~' => text.push(character as u8),
                '\n' => text.extend_from_slice(b"\\n"),
                '\r' => text.extend_from_slice(b"\\r"),
                '\t' => text.extend_from_slice(b"\\t"),
                '\x08' => text.extend_from_slice(b"\\b"),
                '\x0c' => text.extend_from_slice(b"\\f"),
                _ => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        write(text, format_args!("\\u{unit:04x}"));
                    }
                }
            }
        }
    }
    text.push(b'"');
}

/// Writes an integer.
pub fn write_integer(integer: i64, text: &mut Vec<u8>) {
    text.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
}

/// Writes a finite number as Python does: the fewest digits that tell it from others.
///
/// ```
/// use rankscope_log::blocks::digest::write_number;
/// let numbers = [1.0, -0.5, 1e16, 1.5e-5, 123_456.789, 1e-4, -0.0];
/// let mut text = Default::default();
/// for number in numbers {
///     write_number(number, &mut text);
///     text.push(b' ');
/// }
/// assert_eq!(&text[..], b"1.0 -0.5 1e+16 1.5e-05 123456.789 0.0001 -0.0 ");
/// ```
pub fn write_number(number: f64, text: &mut Vec<u8>) {
    if number == 0.0 || (1e-4..1e16).contains(&number.abs()) {
        write(text, format_args!("{number:?}"));
        return;
    }
    let start = text.len();
    write(text, format_args!("{number:e}"));
    // Python writes a sign and two digits of the exponent at least.
    let exponent =
        text[start..].iter().position(|&byte| byte == b'e').map_or(0, |at| start + at + 1);
    let is_below = text[exponent] == b'-';
    let digits: Vec<u8> = text[exponent + usize::from(is_below)..].to_vec();
    text.truncate(exponent);
    text.push(if is_below { b'-' } else { b'+' });
    if digits.len() < 2 {
        text.push(b'0');
    }
    text.extend_from_slice(&digits);
}

fn write(text: &mut Vec<u8>, shown: Arguments<'_>) {
    text.write_fmt(shown).unwrap_or_else(|_| unreachable!("memory takes what is written"));
}
