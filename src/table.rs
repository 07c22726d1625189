//! Tables: columns of rows in any order, brought together by query.

use std::sync::OnceLock;

use crate::cells::{BLOCK, Cells, look_through};
use crate::error::{Error, Kind, Result};
use crate::memory::{Vec, vec};
use crate::number::NotANumber;
use crate::shares;
use crate::trec::{check_id, name_number_mistake};

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
    /// Where each row goes; none where rows are so already.
    places: Option<Vec<u32>>,
    /// Which row went to each place, once somebody asked.
    rows: OnceLock<Vec<u32>>,
    /// Rows of group g go to places `offsets[g]..offsets[g + 1]`.
    pub offsets: Vec<usize>,
}

/// So many rows a group are worth counting all groups once more.
const ROWS_TO_COUNT: usize = 4;

/// Brings the rows of each of `groups` groups together.
#[must_use]
#[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
pub fn group(codes: Vec<u32>, groups: usize, threads: usize) -> Grouped {
    let is_sorted = codes.is_sorted();
    // Each thread counts all groups, which few rows are not worth.
    let threads = threads.min(1 + codes.len() / groups.max(1) / ROWS_TO_COUNT);
    let ranges = shares::cut_rows(codes.len(), threads);
    let counted = shares::on_each(ranges.clone(), |range| {
        let mut counts = vec![0u32; groups];
        for &code in &codes[range] {
            counts[code as usize] += 1;
        }
        counts
    });
    // The rows of a group that one thread has come after those that the threads before it have.
    let mut next = counted;
    let mut offsets = Vec::with_capacity(groups + 1);
    let mut end = 0;
    offsets.push(0);
    for group in 0..groups {
        for counts in &mut next {
            let start = end;
            end += counts[group] as usize;
            counts[group] = start as u32;
        }
        offsets.push(end);
    }
    if is_sorted {
        return Grouped { places: None, rows: OnceLock::new(), offsets };
    }
    let mut places = codes;
    let parts = shares::split_rows(&mut places, &ranges).into_iter().zip(next).collect();
    shares::on_each(parts, |(codes, mut next): (&mut [u32], Vec<u32>)| {
        for code in codes {
            let next = &mut next[*code as usize];
            *code = *next;
            *next += 1;
        }
    });
    Grouped { places: Some(places), rows: OnceLock::new(), offsets }
}

impl Grouped {
    /// Whether the rows of each group were together, in the order of the groups.
    #[must_use]
    pub fn is_grouped(&self) -> bool {
        self.places.is_none()
    }

    /// A column in the order of the groups; `read` makes what is kept of a block of rows, of which it
    /// is given the first.
    ///
    /// # Errors
    /// Where `read` refuses a block.
    pub fn arrange<T: Copy + Default, U: Copy + Default, E>(
        &self,
        column: &dyn Cells<T>,
        mut read: impl FnMut(usize, &[T], &mut [U]) -> std::result::Result<(), E>,
    ) -> std::result::Result<Vec<U>, E> {
        let mut arranged = vec![U::default(); column.len()];
        let mut room = [U::default(); BLOCK];
        let refused = look_through(column, 0..column.len(), |start, block| {
            let Some(places) = &self.places else {
                return read(start, block, &mut arranged[start..start + block.len()]).err();
            };
            let made = &mut room[..block.len()];
            if let Err(refused) = read(start, block, made) {
                return Some(refused);
            }
            for (&place, &value) in places[start..].iter().zip(&*made) {
                arranged[place as usize] = value;
            }
            None
        });
        refused.map_or(Ok(arranged), Err)
    }

    /// A column in the order of the groups, as it is.
    #[must_use]
    pub fn arrange_all<T: Copy + Default>(&self, column: &dyn Cells<T>) -> Vec<T> {
        let copied = self.arrange(column, |_, block, out| {
            out.copy_from_slice(block);
            Ok::<_, std::convert::Infallible>(())
        });
        match copied {
            Ok(arranged) => arranged,
        }
    }

    /// The row of the table that stands at a place.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn row(&self, place: usize) -> usize {
        let Some(places) = &self.places else { return place };
        let rows = self.rows.get_or_init(|| {
            let mut rows = vec![0; places.len()];
            for (row, &place) in (0..).zip(places) {
                rows[place as usize] = row;
            }
            rows
        });
        rows[place] as usize
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_hold_their_rows_in_order(
            codes in prop::collection::vec(0u32..6, 0..100),
            threads in 1usize..4,
        ) {
            let rows: Vec<usize> = (0..codes.len()).collect();
            let grouped = group(codes.clone().into(), 6, threads);
            let arranged = grouped.arrange_all(&rows);
            for group in 0..6 {
                let range = grouped.offsets[group]..grouped.offsets[group + 1];
                let expected: Vec<usize> =
                    rows.iter().copied().filter(|&row| codes[row] as usize == group).collect();
                prop_assert_eq!(&arranged[range.clone()], &expected[..]);
                let found: Vec<usize> = range.map(|place| grouped.row(place)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
