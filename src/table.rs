//! Tables: columns of rows in any order, brought together by query.

use crate::error::{Error, Kind, Result};
use crate::number::NotANumber;
use crate::trec::{check_id, name_number_mistake};

/// A column of identifiers.
#[derive(Clone, Copy, Debug)]
pub enum IdColumn<'a> {
    /// Integers, which are identifiers by their decimal text.
    Ints(&'a [i64]),
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

    /// How many of them are integers.
    #[must_use]
    pub fn integers(&self) -> u64 {
        match self {
            Self::Ints(values) => values.len() as u64,
            Self::Texts { .. } => 0,
        }
    }

    /// The identifier of a row, which may need room to be written in.
    ///
    /// # Errors
    /// Where it is no identifier; the line is the 1-based row.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked offsets
    pub fn get<'b>(&'b self, row: usize, room: &'b mut Decimal) -> Result<&'b [u8]> {
        match *self {
            Self::Ints(values) => Ok(room.write(values[row])),
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

/// Room for the decimal text of an integer.
#[derive(Debug, Default)]
pub struct Decimal([u8; 20]);

impl Decimal {
    #[allow(clippy::cast_possible_truncation)] // digits
    /// The decimal text of an integer.
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

/// The rows of each group, one group after another, each in the order of the table.
#[derive(Debug)]
pub struct Grouped {
    /// Rows of group g are `rows[offsets[g]..offsets[g + 1]]`; none where they are so already.
    pub rows: Option<Vec<u32>>,
    /// One more than there are groups.
    pub offsets: Vec<usize>,
}

/// Brings the rows of each of `groups` groups together.
#[must_use]
#[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
pub fn group(codes: &[u32], groups: usize) -> Grouped {
    let mut offsets = vec![0; groups + 1];
    for &code in codes {
        offsets[code as usize + 1] += 1;
    }
    for group in 0..groups {
        offsets[group + 1] += offsets[group];
    }
    if codes.is_sorted() {
        return Grouped { rows: None, offsets };
    }
    let mut next = offsets.clone();
    let mut rows = vec![0; codes.len()];
    for (row, &code) in codes.iter().enumerate() {
        rows[next[code as usize]] = row as u32;
        next[code as usize] += 1;
    }
    Grouped { rows: Some(rows), offsets }
}

impl Grouped {
    /// A column in the order of the groups.
    #[must_use]
    pub fn gather<T: Copy>(&self, column: &[T]) -> Vec<T> {
        match &self.rows {
            None => column.to_vec(),
            Some(rows) => rows.iter().map(|&row| column[row as usize]).collect(),
        }
    }

    /// The row of the table that stands at a place.
    #[must_use]
    pub fn row(&self, place: usize) -> usize {
        self.rows.as_ref().map_or(place, |rows| rows[place] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_hold_their_rows_in_order(codes in prop::collection::vec(0u32..6, 0..100)) {
            let grouped = group(&codes, 6);
            let rows: Vec<usize> = (0..codes.len()).collect();
            let gathered = grouped.gather(&rows);
            for group in 0..6 {
                let range = grouped.offsets[group]..grouped.offsets[group + 1];
                let expected: Vec<usize> =
                    rows.iter().copied().filter(|&row| codes[row] as usize == group).collect();
                prop_assert_eq!(&gathered[range], expected.as_slice());
            }
        }
    }
}
