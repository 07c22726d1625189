//! Columns of a table, and the checks on their cells.

use crate::error::{Error, Kind, Result};
use crate::memory::Vec;
use crate::number::decimal::{Decimal, NotANumber};
use crate::table::cells::Cells;
use crate::text::fields::{check_id, name_number_mistake};

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
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Ints(values) => values.len(),
            Self::Texts { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they are integers.
    #[must_use]
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
///
/// # Errors
/// Where they differ.
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
///
/// # Errors
/// Where it is not.
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
///
/// # Errors
/// Where that is outside of the bytes.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // out of range is refused
pub fn slice(bytes: &[u8], start: i64, end: i64) -> Result<&[u8]> {
    bytes.get(start as usize..end as usize).ok_or_else(|| {
        let message = "expected offsets within the text";
        Error::new(Kind::Format, "column_damaged", message)
    })
}

/// Refuses a text that is no identifier.
///
/// # Errors
/// Where it is none.
pub fn check_text(text: &[u8]) -> Result<()> {
    check_id(text)?;
    if std::str::from_utf8(text).is_err() {
        return Err(Error::new(Kind::Format, "encoding", "expected UTF-8").value(text));
    }
    Ok(())
}
