//! Numbers identifiers, integers or text, in first-seen order.

use std::borrow::Cow;
use std::hint::select_unpredictable;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::ids::interner::{IdHasher, Ids};
use crate::number::decimal::Decimal;
use crate::saved::require;
use crate::table::cells::{Cells, look_through};
use crate::table::columns::{IdColumn, check_text, slice};
use crate::threads::{self, FEW_ROWS};

/// Different identifiers. Integers are identifiers by their decimal text, which is written only
/// where somebody asks for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Vocabulary {
    /// That came as text.
    Texts(Ids),
    /// That came as integers.
    Integers(Integers),
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self::Texts(Ids::default())
    }
}

impl Vocabulary {
    /// How many identifiers there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Texts(ids) => ids.texts().len(),
            Self::Integers(integers) => integers.values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of an identifier.
    pub fn get(&self, number: usize) -> Cow<'_, [u8]> {
        match self {
            Self::Texts(ids) => Cow::Borrowed(ids.texts().get(number)),
            Self::Integers(_) => Cow::Owned(self.write(number, &mut Decimal::default()).to_vec()),
        }
    }

    /// The text of an identifier, which may need room to be written in.
    pub fn write<'a>(&'a self, number: usize, room: &'a mut Decimal) -> &'a [u8] {
        match self {
            Self::Texts(ids) => ids.texts().get(number),
            Self::Integers(integers) => room.write(integers.values[number]),
        }
    }

    /// The number of an identifier by its text.
    #[inline]
    pub fn find(&self, id: &[u8]) -> Option<usize> {
        match self {
            Self::Texts(ids) => ids.find(id),
            Self::Integers(integers) => integers.find(read_decimal(id)?),
        }
    }

    /// Numbers the rows of a column of identifiers.
    ///
    /// # Errors
    /// Where one is no identifier; the line is the 1-based row.
    pub fn number(column: &IdColumn<'_>, threads: usize) -> Result<(Vec<u32>, Self)> {
        Self::default().extend(column, threads)
    }

    /// Numbers the rows of a column: identifiers that are known as they are here, others after those,
    /// in a vocabulary of their own.
    ///
    /// # Errors
    /// Where one is no identifier; the line is the 1-based row.
    pub fn extend(&self, column: &IdColumn<'_>, threads: usize) -> Result<(Vec<u32>, Self)> {
        self.extend_checked(column, check_text, threads)
    }

    /// Numbers the rows of a column of whatever texts.
    pub fn number_values(column: &IdColumn<'_>) -> Result<(Vec<u32>, Self)> {
        Self::default().extend_checked(column, |_| Ok(()), 1)
    }

    /// Where nothing is known yet, the first rows are numbered before the others, for most identifiers
    /// are among them, and all threads look these up in one table.
    fn extend_checked(
        &self,
        column: &IdColumn<'_>,
        check: impl Fn(&[u8]) -> Result<()> + Sync,
        threads: usize,
    ) -> Result<(Vec<u32>, Self)> {
        let rows = column.len();
        let mut codes = vec![0; rows];
        if threads < 2 || rows < FEW_ROWS {
            let others = self.extend_rows(column, 0..rows, &mut codes, &check)?;
            return Ok((codes, others));
        }
        let first_rows = if self.is_empty() { rows / FIRST_SHARE } else { 0 };
        let (first_codes, codes_after) = codes.split_at_mut(first_rows);
        let mut first = self.extend_rows(column, 0..first_rows, first_codes, &check)?;
        let known = if self.is_empty() { &first } else { self };
        let others = known.extend_shared(column, first_rows, codes_after, check, threads)?;
        first.merge(&others);
        Ok((codes, first))
    }

    /// Each thread numbers a run of rows by itself; what it numbered anew is then numbered in order,
    /// by which all are numbered as they were first seen.
    fn extend_shared(
        &self,
        column: &IdColumn<'_>,
        first_row: usize,
        codes: &mut [u32],
        check: impl Fn(&[u8]) -> Result<()> + Sync,
        threads: usize,
    ) -> Result<Self> {
        let ranges = threads::cut_rows(codes.len(), threads);
        let parts = threads::split_rows(codes, &ranges);
        let parts: Vec<_> = ranges.iter().cloned().zip(parts).collect();
        let outcomes = threads::on_each(parts, |(range, codes)| {
            let rows = first_row + range.start..first_row + range.end;
            self.extend_rows(column, rows, codes, &check)
        });
        let mut outcomes = outcomes.into_iter();
        let mut others = outcomes.next().unwrap_or_else(|| Ok(Self::default()))?;
        let mut moves = vec![Vec::new()];
        for outcome in outcomes {
            moves.push(others.merge(&outcome?));
        }
        let parts = threads::split_rows(codes, &ranges).into_iter().zip(moves).collect();
        threads::on_each(parts, |(codes, moves): (&mut [u32], Vec<u32>)| {
            let new = codes.iter_mut().filter(|code| **code as usize >= self.len());
            if !moves.is_empty() {
                new.for_each(|code| {
                    *code = self.after(moves[*code as usize - self.len()] as usize);
                });
            }
        });
        Ok(others)
    }

    /// The number of an identifier that has this one in a vocabulary after this one.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 are different, or memory ends first
    fn after(&self, number: usize) -> u32 {
        (self.len() + number) as u32
    }

    /// Numbers some rows of a column.
    #[allow(clippy::cast_possible_truncation)] // as above
    fn extend_rows(
        &self,
        column: &IdColumn<'_>,
        rows: Range<usize>,
        codes: &mut [u32],
        check: impl Fn(&[u8]) -> Result<()>,
    ) -> Result<Self> {
        match *column {
            IdColumn::Ints(values) => {
                // Few are new where some are known.
                let mut others = if self.is_empty() {
                    Integers::for_values(values)
                } else {
                    Integers::default()
                };
                let first = rows.start;
                look_through(values, rows, |start, block| {
                    let codes = &mut codes[start - first..][..block.len()];
                    match self {
                        _ if self.is_empty() => others.guess(block, codes),
                        Self::Integers(known) => known.guess(block, codes),
                        Self::Texts(_) => codes.fill(0),
                    }
                    for (code, &value) in codes.iter_mut().zip(block) {
                        *code = match code.checked_sub(1) {
                            Some(guessed) => guessed,
                            None => match self.find_integer(value) {
                                Some(known) => known as u32,
                                None => self.after(others.number(value)),
                            },
                        };
                    }
                    None::<()>
                });
                Ok(Self::Integers(others))
            }
            IdColumn::Texts { offsets, bytes } => {
                let mut others = Ids::default();
                let mut last: Option<(&[u8], u32)> = None;
                let ends = offsets[rows.start..=rows.end].windows(2);
                for (row, (ends, code)) in rows.zip(ends.zip(codes)) {
                    let text = slice(bytes, ends[0], ends[1])?;
                    *code = match last {
                        Some((known, code)) if known == text => code,
                        _ => {
                            if let Some(known) = self.find(text) {
                                known as u32
                            } else {
                                let (new, number) = (others.texts().len(), others.number(text));
                                if number == new {
                                    check(text).map_err(|error| error.line(row as u64 + 1))?;
                                }
                                self.after(number)
                            }
                        }
                    };
                    last = Some((text, *code));
                }
                Ok(Self::Texts(others))
            }
        }
    }

    #[inline]
    fn find_integer(&self, value: i64) -> Option<usize> {
        match self {
            _ if self.is_empty() => None,
            Self::Integers(integers) => integers.find(value),
            Self::Texts(ids) => ids.find(Decimal::default().write(value)),
        }
    }
}

impl Vocabulary {
    /// Adds identifiers after those that are there; nothing if one of them is there already, of which
    /// it says no.
    pub fn append_new(&mut self, others: &Self) -> bool {
        let mut room = Decimal::default();
        if (0..others.len()).any(|number| self.find(others.write(number, &mut room)).is_some()) {
            return false;
        }
        if self.is_empty() {
            *self = others.clone();
            return true;
        }
        if let (Self::Integers(own), Self::Integers(others)) = (&mut *self, others) {
            for &value in &others.values {
                own.number(value);
            }
            return true;
        }
        self.number_all(others);
        true
    }

    /// Numbers identifiers of the same kind, new ones after those that are there.
    #[allow(clippy::cast_possible_truncation)] // as above
    fn merge(&mut self, others: &Self) -> Vec<u32> {
        match (&mut *self, others) {
            (Self::Integers(own), Self::Integers(others)) => {
                others.values.iter().map(|&value| own.number(value) as u32).collect()
            }
            _ => self.number_all(others),
        }
    }

    /// Numbers identifiers, new ones after those that are there, all of which become texts.
    pub fn number_all(&mut self, others: &Self) -> Vec<u32> {
        let mut room = Decimal::default();
        let mut ids = match std::mem::take(self) {
            Self::Texts(ids) => ids,
            Self::Integers(integers) => {
                let mut ids = Ids::default();
                for &value in &integers.values {
                    ids.number(room.write(value));
                }
                ids
            }
        };
        #[allow(clippy::cast_possible_truncation)] // as above
        let codes = (0..others.len())
            .map(|number| ids.number(others.write(number, &mut room)) as u32)
            .collect();
        *self = Self::Texts(ids);
        codes
    }
}

/// The integer that a text is the decimal text of.
pub(crate) fn read_decimal(text: &[u8]) -> Option<i64> {
    let value: i64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (Decimal::default().write(value) == text).then_some(value)
}

/// Integers numbered in the order in which they were first seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<i64>")]
pub struct Integers {
    values: Vec<i64>,
    #[serde(skip_serializing)]
    places: Places,
    #[serde(skip_serializing)]
    hasher: IdHasher,
}

impl TryFrom<Vec<i64>> for Integers {
    type Error = Error;

    /// Integers that were saved, of which none is there twice.
    fn try_from(values: Vec<i64>) -> Result<Self> {
        let mut integers = Self::for_values(&values);
        for (number, &value) in values.iter().enumerate() {
            require(integers.number(value) == number)?;
        }
        Ok(integers)
    }
}

/// Where the numbers of integers are; each plus one, so that 0 is an empty place.
#[derive(Clone, Debug)]
enum Places {
    /// By how far an integer is from the least one, where all lie close together.
    Direct { least: i64, numbers: Vec<u32> },
    /// By hash, in an open-addressing table.
    Hashed(Vec<Slot>),
}

impl Default for Places {
    fn default() -> Self {
        Self::Hashed(Vec::new())
    }
}

/// An integer and its number plus one.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    value: i64,
    next: u32,
}

/// The share of the rows that are numbered before the others.
const FIRST_SHARE: usize = 16;

/// Integers may be this many times as far apart as they are many and still be found directly.
const SPREAD: usize = 4;

impl Integers {
    /// No integers, but room for these.
    #[allow(clippy::cast_possible_truncation)] // small enough where it is used
    pub fn for_values(values: &dyn Cells<i64>) -> Self {
        let count = values.len();
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        let range = |least: i64, most: i64| most.wrapping_sub(least).cast_unsigned();
        let is_wide = |least, most| range(least, most) >= (SPREAD * count) as u64;
        let found = look_through(values, 0..count, |_, block| {
            least = block.iter().copied().fold(least, i64::min);
            most = block.iter().copied().fold(most, i64::max);
            is_wide(least, most).then_some(())
        });
        let (is_close, range) = (found.is_none() && least <= most, range(least, most));
        let places = if is_close {
            Places::Direct { least, numbers: vec![0; range as usize + 1] }
        } else {
            Places::default()
        };
        Self { places, ..Self::default() }
    }

    /// The number of an integer, if it was seen.
    #[inline]
    pub fn find(&self, value: i64) -> Option<usize> {
        let next = match &self.places {
            Places::Direct { least, numbers } => *numbers.get(distance(value, *least))?,
            Places::Hashed(slots) if slots.is_empty() => 0,
            Places::Hashed(slots) => slots[slot_of(slots, &self.hasher, value)].next,
        };
        (next as usize).checked_sub(1)
    }

    /// Looks for integers in the first places where each may lie, without waiting for one before the
    /// next; gives the number plus one of each that is there, and 0 of the others.
    fn guess(&self, values: &[i64], nexts: &mut [u32]) {
        match &self.places {
            Places::Direct { least, numbers } => {
                for (next, &value) in nexts.iter_mut().zip(values) {
                    *next = numbers.get(distance(value, *least)).copied().unwrap_or(0);
                }
            }
            Places::Hashed(slots) if slots.is_empty() => nexts.fill(0),
            Places::Hashed(slots) => {
                for (next, &value) in nexts.iter_mut().zip(values) {
                    let at = first_slot(slots, &self.hasher, value);
                    let is_here =
                        |slot: &Slot| select_unpredictable(slot.value == value, slot.next, 0);
                    // It lies in one of them at most.
                    *next = is_here(&slots[at]) | is_here(&slots[(at + 1) & (slots.len() - 1)]);
                }
            }
        }
    }

    /// The number of an integer, new if it was not seen before.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // as above
    pub fn number(&mut self, value: i64) -> usize {
        let count = self.values.len();
        let next = match &mut self.places {
            Places::Direct { least, numbers } => {
                let at = distance(value, *least);
                if at >= numbers.len() {
                    self.hash_all(2 * count);
                    return self.number(value);
                }
                &mut numbers[at]
            }
            Places::Hashed(slots) => {
                if 2 * (count + 1) > slots.len() {
                    self.hash_all(4 * count);
                    return self.number(value);
                }
                let at = slot_of(slots, &self.hasher, value);
                slots[at].value = value;
                &mut slots[at].next
            }
        };
        if *next == 0 {
            self.values.push(value);
            *next = count as u32 + 1;
        }
        *next as usize - 1
    }

    /// Puts all integers into a table of at least so many slots.
    fn hash_all(&mut self, slots: usize) {
        let mut slots = vec![Slot::default(); (slots + 2).next_power_of_two().max(64)];
        for (next, &value) in (1..).zip(&self.values) {
            let at = slot_of(&slots, &self.hasher, value);
            slots[at] = Slot { value, next };
        }
        self.places = Places::Hashed(slots);
    }
}

/// How far an integer is from the least one; very far if it is less.
#[inline]
#[allow(clippy::cast_possible_truncation)] // addresses have 64 bits
fn distance(value: i64, least: i64) -> usize {
    value.wrapping_sub(least).cast_unsigned() as usize
}

/// The slot where a value is looked for first.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the low bits are what is wanted
fn first_slot(slots: &[Slot], hasher: &IdHasher, value: i64) -> usize {
    hasher.hash_integer(value) as usize & (slots.len() - 1)
}

/// The slot of a value, or the empty one where it belongs.
#[inline]
fn slot_of(slots: &[Slot], hasher: &IdHasher, value: i64) -> usize {
    let mask = slots.len() - 1;
    let mut at = first_slot(slots, hasher, value);
    while slots[at].next != 0 && slots[at].value != value {
        at = (at + 1) & mask;
    }
    at
}

/// The numbers of a column's rows, and the identifiers that its vocabulary did not have.
pub type Extended = (Vec<u32>, Vocabulary);

/// Numbers two columns by their vocabularies, at once where they are long.
///
/// # Errors
/// Where one holds what is no identifier; the line is the 1-based row.
pub fn extend_both(
    pairs: [(&Vocabulary, &IdColumn<'_>); 2],
    threads: usize,
) -> Result<[Extended; 2]> {
    let [one, other] = pairs;
    let at_once = if one.1.len() < FEW_ROWS { 1 } else { threads };
    let each = threads.div_ceil(2);
    let (one, other) =
        threads::both(at_once, || one.0.extend(one.1, each), || other.0.extend(other.1, each));
    Ok([one?, other?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The texts of some integers as a column holds them.
    fn as_text(values: &[i64]) -> (Vec<i64>, String) {
        let texts: Vec<String> = values.iter().map(i64::to_string).collect();
        let mut offsets = vec![0];
        for text in &texts {
            offsets.push(offsets.last().unwrap() + i64::try_from(text.len()).unwrap());
        }
        (offsets, texts.concat())
    }

    proptest! {
        #[test]
        fn integers_and_their_texts_are_the_same_ids(
            judged in prop::collection::vec(-5i64..5, 0..50),
            values in prop::collection::vec(-9i64..9, 0..200),
        ) {
            let (judged_offsets, judged_bytes) = as_text(&judged);
            let (offsets, bytes) = as_text(&values);
            let judged = [
                IdColumn::Ints(&judged),
                IdColumn::Texts { offsets: &judged_offsets, bytes: judged_bytes.as_bytes() },
            ];
            let columns = [
                IdColumn::Ints(&values),
                IdColumn::Texts { offsets: &offsets, bytes: bytes.as_bytes() },
            ];
            let mut all = Vec::new();
            for judged in judged {
                let (_, base) = Vocabulary::number(&judged, 1).unwrap();
                for column in columns {
                    let (codes, others) = base.extend(&column, 1).unwrap();
                    let name = |code: usize| match code.checked_sub(base.len()) {
                        None => base.get(code).into_owned(),
                        Some(code) => others.get(code).into_owned(),
                    };
                    for (value, &code) in values.iter().zip(&codes) {
                        prop_assert_eq!(name(code as usize), value.to_string().into_bytes());
                    }
                    all.push(codes);
                }
            }
            prop_assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }

    proptest! {
        #[test]
        fn integers_are_numbered_wherever_they_lie(
            known in prop::collection::vec(-20i64..20, 0..30),
            values in prop::collection::vec(prop_oneof![-40i64..40, any::<i64>()], 0..80),
        ) {
            let mut numbered = Integers::for_values(&known);
            let mut seen: Vec<i64> = Vec::new();
            for &value in known.iter().chain(&values) {
                let expected = seen.iter().position(|&other| other == value).unwrap_or_else(|| {
                    assert_eq!(numbered.find(value), None);
                    seen.push(value);
                    seen.len() - 1
                });
                prop_assert_eq!(numbered.number(value), expected);
            }
            for (number, &value) in seen.iter().enumerate() {
                prop_assert_eq!(numbered.find(value), Some(number));
            }
        }
    }

    #[test]
    fn only_the_decimal_text_of_an_integer_finds_it() {
        let (_, base) = Vocabulary::number(&IdColumn::Ints(&[7]), 1).unwrap();
        assert_eq!(base.find(b"7"), Some(0));
        for other in ["07", "+7", "7.0", " 7", ""] {
            assert_eq!(base.find(other.as_bytes()), None);
        }
    }
}
