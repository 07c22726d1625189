//! What the fields of a line may hold, and the errors for what they may not.

use crate::error::{Error, Kind, Result, show};
use crate::number::decimal::NotANumber;

/// The longest identifier, in bytes.
pub(crate) const MAX_ID: usize = 4096;

/// Whether two identifiers are the same. Most have fewer than 16 bytes, for which calling the C
/// library costs more than comparing them.
#[inline]
pub fn is_same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    match left.len() {
        8..=16 => both_ends::<8>(left, right),
        4..8 => both_ends::<4>(left, right),
        _ => left == right,
    }
}

/// Compares the first and the last `N` bytes, which overlap where there are fewer than twice `N`.
#[inline]
fn both_ends<const N: usize>(left: &[u8], right: &[u8]) -> bool {
    left.first_chunk::<N>() == right.first_chunk::<N>()
        && left.last_chunk::<N>() == right.last_chunk::<N>()
}

/// The error for a NUL byte, wherever it stands.
pub fn nul_byte() -> Error {
    Error::new(Kind::Format, "nul_byte", "expected text, found a NUL byte")
        .hint("the input is damaged or not text")
}

/// The error for a carriage return that no newline follows.
pub fn lone_cr() -> Error {
    let message = "expected lines ended by LF or CRLF, found a lone CR";
    Error::new(Kind::Format, "line_ending", message).hint("convert the line ends: tr '\\r' '\\n'")
}

/// The 1-based column of a field, which is a part of the text.
pub(super) fn column(text: &[u8], field: &[u8]) -> usize {
    let at = field.as_ptr().addr() - text.as_ptr().addr();
    at - memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1) + 1
}

/// Refuses an identifier over the limit.
#[inline]
pub(super) fn check_length(id: &[u8]) -> Result<()> {
    if id.len() <= MAX_ID {
        return Ok(());
    }
    Err(id_too_long(id))
}

/// The error for an identifier over the limit.
#[cold]
fn id_too_long(id: &[u8]) -> Error {
    Error::new(
        Kind::Limit,
        "id_length",
        format!("expected ids of at most {MAX_ID} bytes, found one of {}", id.len()),
    )
    .hint("a shorter name or a hash of it will do")
    .value(id)
}

/// The error for an identifier that no format could hold, if it is one.
pub fn check_id(id: &[u8]) -> Result<()> {
    if id.is_empty() {
        return Err(Error::new(Kind::Format, "missing_id", "expected an id, found empty text")
            .hint("give it a name, or leave it out"));
    }
    if memchr::memchr(0, id).is_some() {
        return Err(nul_byte().value(id));
    }
    check_length(id)
}

/// The error for a field that is not a number; `code` and `what` name the field.
pub fn name_number_mistake(code: &str, what: &str, mistake: NotANumber, field: &[u8]) -> Error {
    let is_score = code == "score";
    let shown = show(field);
    let (code, message, hint) = match mistake {
        NotANumber::Nan => (
            if is_score { "score_nan" } else { "rel_not_number" },
            format!("expected a finite {what}, found `{shown}`"),
            "NaN has no place in an order: drop the document or give it a score",
        ),
        NotANumber::Infinite | NotANumber::Overflow => (
            if is_score { "score_overflow" } else { "rel_out_of_range" },
            format!("expected a finite {what}, found `{shown}`"),
            "only numbers that double precision can hold are accepted",
        ),
        NotANumber::DecimalComma => (
            if is_score { "score_not_number" } else { "rel_not_number" },
            format!("expected a {what}, found `{shown}`"),
            "write the decimal point as `.`, not `,`",
        ),
        NotANumber::Text => (
            if is_score { "score_not_number" } else { "rel_not_number" },
            format!("expected a {what}, found `{shown}`"),
            "a document id with a blank in it shifts the columns",
        ),
    };
    Error::new(Kind::Format, code, message).hint(hint).value(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_4096_bytes_at_most() {
        for length in [4095, 4096, 4097] {
            assert_eq!(check_length(&[b'x'; 4097][..length]).is_ok(), length <= 4096);
        }
    }
}
