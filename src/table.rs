//! Tables: columns of rows in any order, brought together by query.

use crate::error::{Error, Kind, Result};
use crate::ids::Ids;
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

/// A column of identifiers, each as the number of a text.
#[derive(Debug, Default)]
pub struct Numbered {
    /// The different identifiers, in first-seen order.
    pub ids: Ids,
    /// By row.
    pub codes: Vec<u32>,
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
            Self::Texts { offsets, bytes } => text_of(bytes, offsets[row], offsets[row + 1])
                .map_err(|error| error.line(row as u64 + 1)),
        }
    }

    /// Numbers the identifiers.
    ///
    /// # Errors
    /// Where one is no identifier; the line is the 1-based row.
    pub fn number(&self) -> Result<Numbered> {
        match *self {
            Self::Ints(values) => Ok(number_integers(values)),
            Self::Texts { offsets, bytes } => number_texts(offsets, bytes),
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

#[allow(clippy::cast_possible_truncation)] // there are fewer different ones than 2^32, or memory ends first
fn number_integers(values: &[i64]) -> Numbered {
    let mut table = IntTable::default();
    let mut codes = Vec::with_capacity(values.len());
    let mut last = None;
    for &value in values {
        let code = match last {
            Some((known, code)) if known == value => code,
            _ => table.number(value),
        };
        last = Some((value, code));
        codes.push(code);
    }
    let mut ids = Ids::default();
    for value in table.values {
        ids.number(value.to_string().as_bytes());
    }
    Numbered { ids, codes }
}

/// An open-addressing table from integers to their numbers in first-seen order.
#[derive(Default)]
struct IntTable {
    slots: Vec<u32>,
    values: Vec<i64>,
}

impl IntTable {
    #[allow(clippy::cast_possible_truncation)] // as above
    fn number(&mut self, value: i64) -> u32 {
        if 2 * (self.values.len() + 1) > self.slots.len() {
            self.grow();
        }
        let at = self.find(value);
        if self.slots[at] == 0 {
            self.values.push(value);
            self.slots[at] = self.values.len() as u32;
        }
        self.slots[at] - 1
    }

    /// The slot of a value, or the empty one where it belongs.
    #[allow(clippy::cast_possible_truncation)] // the high bits are what is wanted
    fn find(&self, value: i64) -> usize {
        let mask = self.slots.len() - 1;
        let mixed = value.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (mixed >> 32) as usize & mask;
        while self.slots[at] != 0 && self.values[self.slots[at] as usize - 1] != value {
            at = (at + 1) & mask;
        }
        at
    }

    #[allow(clippy::cast_possible_truncation)] // as above
    fn grow(&mut self) {
        let size = (4 * self.values.len()).next_power_of_two().max(64);
        self.slots = vec![0; size];
        for number in 0..self.values.len() {
            let at = self.find(self.values[number]);
            self.slots[at] = number as u32 + 1;
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked offsets
fn number_texts(offsets: &[i64], bytes: &[u8]) -> Result<Numbered> {
    let mut ids = Ids::default();
    let mut codes = Vec::with_capacity(offsets.len().saturating_sub(1));
    let mut last = None;
    for (row, ends) in offsets.windows(2).enumerate() {
        let text = text_of(bytes, ends[0], ends[1]).map_err(|error| error.line(row as u64 + 1))?;
        let code = match last {
            Some((known, code)) if known == text => code,
            _ => ids.number(text) as u32,
        };
        last = Some((text, code));
        codes.push(code);
    }
    Ok(Numbered { ids, codes })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // out of range is refused
fn text_of(bytes: &[u8], start: i64, end: i64) -> Result<&[u8]> {
    let Some(text) = bytes.get(start as usize..end as usize) else {
        let message = "expected offsets within the text";
        return Err(Error::new(Kind::Format, "column_damaged", message));
    };
    check_id(text)?;
    if std::str::from_utf8(text).is_err() {
        return Err(Error::new(Kind::Format, "encoding", "expected UTF-8").value(text));
    }
    Ok(text)
}

/// Room for the decimal text of an integer.
#[derive(Debug, Default)]
pub struct Decimal([u8; 20]);

impl Decimal {
    #[allow(clippy::cast_possible_truncation)] // digits
    fn write(&mut self, value: i64) -> &[u8] {
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
        fn integers_and_their_texts_are_the_same_ids(values in prop::collection::vec(-5i64..5, 0..200)) {
            let texts: Vec<String> = values.iter().map(i64::to_string).collect();
            let mut offsets = vec![0];
            for text in &texts {
                offsets.push(offsets.last().unwrap() + i64::try_from(text.len()).unwrap());
            }
            let bytes = texts.concat();
            let ints = IdColumn::Ints(&values).number().unwrap();
            let of_texts = IdColumn::Texts { offsets: &offsets, bytes: bytes.as_bytes() }.number().unwrap();
            prop_assert_eq!(&ints.codes, &of_texts.codes);
            let names = |numbered: &Numbered| -> Vec<Vec<u8>> {
                numbered.ids.texts().iter().map(<[u8]>::to_vec).collect()
            };
            prop_assert_eq!(names(&ints), names(&of_texts));
            for (value, &code) in texts.iter().zip(&ints.codes) {
                prop_assert_eq!(ints.ids.texts().get(code as usize), value.as_bytes());
            }
        }

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
