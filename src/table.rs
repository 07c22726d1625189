//! Tables: columns of rows in any order, brought together by query.

use crate::error::{Error, Kind, Result, show};
use crate::ids::Ids;
use crate::trec::check_id;

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
#[derive(Debug)]
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
        let Some(text) = bytes.get(ends[0] as usize..ends[1] as usize) else {
            return Err(Error::new(
                Kind::Format,
                "column_damaged",
                "expected offsets within the text",
            ));
        };
        let code = match last {
            Some((known, code)) if known == text => code,
            _ => {
                check_id(text).map_err(|error| error.line(row as u64 + 1))?;
                if std::str::from_utf8(text).is_err() {
                    return Err(Error::new(Kind::Format, "encoding", "expected UTF-8")
                        .line(row as u64 + 1)
                        .value(show(text).as_bytes()));
                }
                ids.number(text) as u32
            }
        };
        last = Some((text, code));
        codes.push(code);
    }
    Ok(Numbered { ids, codes })
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
