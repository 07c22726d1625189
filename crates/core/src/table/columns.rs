//! Columns of a table, and the checks on their cells.

use std::ops::Range;

use crate::error::{Error, Kind, Result};
use crate::number::decimal::{Decimal, NotANumber};
use crate::table::cells::{Cells, look_through};
use crate::text::fields::{MAX_ID, check_id, name_number_mistake};
use crate::threads;

/// A column of identifiers.
#[derive(Clone, Copy, Debug)]
pub enum IdColumn<'a> {
    /// Integers, which are identifiers by their decimal text.
    Ints(&'a dyn Cells<i64>),
    /// Texts end to end, and where each begins and the last one ends.
    Texts {
        /// One more than there are texts.
        offsets: &'a [i64],
        /// All texts.
        bytes: &'a [u8],
    },
}

impl IdColumn<'_> {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Ints(values) => values.len(),
            Self::Texts { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they are integers.
    pub fn are_integers(&self) -> bool {
        matches!(self, Self::Ints(_))
    }

    /// The identifier of a row, which may need room to be written in.
    ///
    /// # Errors
    /// Where it is no identifier; the line is the 1-based row.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked offsets
    pub fn get<'b>(&'b self, row: usize, room: &'b mut Decimal) -> Result<&'b [u8]> {
        match *self {
            Self::Ints(values) => {
                let mut value = [0];
                values.read(row, &mut value);
                Ok(room.write(value[0]))
            }
            Self::Texts { offsets, bytes } => {
                let text = slice(bytes, offsets[row], offsets[row + 1])?;
                check_text(text).map_err(|error| error.line(row as u64 + 1))?;
                Ok(text)
            }
        }
    }
}

/// Refuses columns of different lengths.
pub fn check_lengths(lengths: &[usize]) -> Result<()> {
    if lengths.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(());
    }
    let shown: Vec<String> = lengths.iter().map(usize::to_string).collect();
    let message = format!("expected columns of one length, found {}", shown.join(", "));
    Err(Error::new(Kind::Format, "length_mismatch", message)
        .hint("every row needs a value in every column"))
}

/// Refuses a number that is not finite; `code` and `what` name the column.
pub fn check_finite(value: f64, code: &str, what: &str) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    let mistake = if value.is_nan() { NotANumber::Nan } else { NotANumber::Infinite };
    Err(name_number_mistake(code, what, mistake, value.to_string().as_bytes()))
}

/// Refuses the first of some values that is not finite; `code` and `what` name the column.
///
/// # Errors
/// Where there is one; the line is the 1-based row, `start` rows having come before.
pub fn check_all_finite(
    start: usize,
    values: impl Iterator<Item = f64> + Clone,
    code: &str,
    what: &str,
) -> Result<()> {
    if values.clone().fold(true, |all, value| all & value.is_finite()) {
        return Ok(());
    }
    let check = |(row, value): (usize, f64)| {
        check_finite(value, code, what).map_err(|error| error.line(row as u64 + 1))
    };
    (start..).zip(values).try_for_each(check)
}

/// A text by where it begins and ends.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // out of range is refused
pub fn slice(bytes: &[u8], start: i64, end: i64) -> Result<&[u8]> {
    bytes.get(start as usize..end as usize).ok_or_else(outside_of_text)
}

/// The error of a text that begins or ends outside of the bytes.
pub fn outside_of_text() -> Error {
    Error::new(Kind::Format, "column_damaged", "expected offsets within the text")
}

/// Refuses a text that is no identifier.
pub fn check_text(text: &[u8]) -> Result<()> {
    check_id(text)?;
    if std::str::from_utf8(text).is_err() {
        return Err(Error::new(Kind::Format, "encoding", "expected UTF-8").value(text));
    }
    Ok(())
}

/// The texts that integers are as identifiers: their offsets and bytes.
pub fn write_texts(values: &dyn Cells<i64>) -> (Vec<i64>, Vec<u8>) {
    let (mut offsets, mut bytes) = (Vec::with_capacity(values.len() + 1), Vec::new());
    let mut room = Decimal::default();
    offsets.push(0);
    look_through(values, 0..values.len(), |_, block| {
        for &value in block {
            bytes.extend_from_slice(room.write(value));
            offsets.push(bytes.len().cast_signed() as i64);
        }
        None::<()>
    });
    (offsets, bytes)
}

/// Refuses texts of which one is no identifier.
///
/// # Errors
/// Where one is none; the line is the 1-based row.
pub fn check_texts(offsets: &[i64], bytes: &[u8], threads: usize) -> Result<()> {
    let check = |rows: Range<usize>| -> Result<()> {
        if are_plain(&offsets[rows.start..=rows.end], bytes) {
            return Ok(());
        }
        rows.into_iter().try_for_each(|row| {
            let text = slice(bytes, offsets[row], offsets[row + 1])?;
            check_text(text).map_err(|error| error.line(row as u64 + 1))
        })
    };
    let ranges = threads::cut_rows(offsets.len().saturating_sub(1), threads);
    threads::on_each(ranges, check).into_iter().collect()
}

/// Whether texts are ASCII, and all of them identifiers: most columns are told so at once.
fn are_plain(offsets: &[i64], bytes: &[u8]) -> bool {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else { return true };
    let Ok(all) = slice(bytes, first, last) else { return false };
    let is_length = |ends: &[i64]| {
        let length = ends[1].wrapping_sub(ends[0]).cast_unsigned();
        length > 0 && length <= MAX_ID as u64
    };
    all.is_ascii()
        && memchr::memchr(0, all).is_none()
        && offsets.windows(2).fold(true, |are, ends| are & is_length(ends))
}
