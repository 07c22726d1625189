//! Texts end to end.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Texts end to end, and where each of them begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Texts {
    /// Where each begins, and where the last ends; the first is 0.
    pub offsets: Vec<i64>,
    /// The texts, in UTF-8.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

impl Default for Texts {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl Texts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the text of a row is.
    #[inline]
    pub fn place(&self, row: usize) -> Range<usize> {
        place(&self.offsets, row)
    }

    /// The text of a row.
    #[inline]
    pub fn get(&self, row: usize) -> &[u8] {
        &self.bytes[self.place(row)]
    }

    /// Adds a text.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.offsets.push(count(self.bytes.len()));
    }

    /// Adds the texts of some rows of others.
    pub fn extend(&mut self, others: &Self, rows: Range<usize>) {
        let ends = &others.offsets[rows.start..=rows.end];
        let start = ends[0];
        let before = count(self.bytes.len());
        self.offsets.extend(ends[1..].iter().map(|end| end - start + before));
        let bytes = place(&[start, ends[ends.len() - 1]], 0);
        self.bytes.extend_from_slice(&others.bytes[bytes]);
    }

    /// The texts of some rows, in the order of these.
    pub fn take(&self, rows: &[usize]) -> Self {
        let mut taken = Self::default();
        taken.bytes.reserve(rows.iter().map(|&row| self.place(row).len()).sum());
        taken.offsets.reserve(rows.len());
        for &row in rows {
            taken.push(self.get(row));
        }
        taken
    }

    /// The texts of some columns, one column after another.
    pub fn join<'a>(parts: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let mut joined = Self::default();
        joined.bytes.reserve_exact(parts.clone().map(|part| part.bytes.len()).sum());
        joined.offsets.reserve_exact(parts.clone().map(Self::len).sum());
        for part in parts {
            joined.extend(part, 0..part.len());
        }
        joined
    }
}

/// What lies between two offsets.
#[inline]
pub fn place(offsets: &[i64], row: usize) -> Range<usize> {
    let at = |offset: i64| usize::try_from(offset).unwrap_or(usize::MAX);
    at(offsets[row])..at(offsets[row + 1])
}

/// A number of what is in memory, as an offset.
#[inline]
pub(super) fn count(size: usize) -> i64 {
    size.cast_signed() as i64
}

/// The values of some rows, in the order of these.
pub(super) fn take<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().map(|&row| values[row]).collect()
}

/// The values of some columns, one column after another.
pub(super) fn join<'a, T: Copy + 'a>(parts: impl Iterator<Item = &'a Vec<T>> + Clone) -> Vec<T> {
    let mut joined = Vec::with_capacity(parts.clone().map(Vec::len).sum());
    for part in parts {
        joined.extend_from_slice(part);
    }
    joined
}
