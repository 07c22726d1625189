//! Columns of identifiers where Python has them, of which rows are copied: others may write to them.

use std::ops::Range;

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use rankscope_core::table::cells::Cells;
use rankscope_core::table::columns::{IdColumn, slice};

use super::cells::View;

/// Identifiers: integers, or texts in one or more pieces.
#[derive(FromPyObject)]
pub(super) enum Ids {
    #[pyo3(transparent)]
    Texts(Texts),
    #[pyo3(transparent)]
    Pieces(Vec<Texts>),
    #[pyo3(transparent)]
    Ints(PyBuffer<i64>),
}

/// Texts end to end, with their offsets.
#[derive(FromPyObject)]
pub(super) struct Texts(Offsets, PyBuffer<u8>);

#[derive(FromPyObject)]
enum Offsets {
    #[pyo3(transparent)]
    Wide(PyBuffer<i64>),
    #[pyo3(transparent)]
    Narrow(PyBuffer<i32>),
}

/// The same to be read.
pub(super) enum IdCells<'a> {
    Texts(Vec<TextCells<'a>>),
    Ints(View<'a, i64>),
}

pub(super) enum TextCells<'a> {
    Wide(View<'a, i64>, View<'a, u8>),
    Narrow(View<'a, i32>, View<'a, u8>),
}

/// Some rows of a column, copied: integers, or the offsets of texts and the texts.
#[derive(Default)]
pub(super) struct Copied {
    numbers: Vec<i64>,
    narrow: Vec<i32>,
    bytes: Vec<u8>,
    are_texts: bool,
}

impl Ids {
    pub(super) fn cells(&self) -> PyResult<IdCells<'_>> {
        Ok(match self {
            Self::Texts(texts) => IdCells::Texts(vec![texts.cells()?]),
            Self::Pieces(pieces) => {
                IdCells::Texts(pieces.iter().map(Texts::cells).collect::<PyResult<_>>()?)
            }
            Self::Ints(values) => IdCells::Ints(View::of(values)?),
        })
    }
}

impl Texts {
    fn cells(&self) -> PyResult<TextCells<'_>> {
        let Self(offsets, bytes) = self;
        let bytes = View::of(bytes)?;
        Ok(match offsets {
            Offsets::Wide(offsets) => TextCells::Wide(View::of(offsets)?, bytes),
            Offsets::Narrow(offsets) => TextCells::Narrow(View::of(offsets)?, bytes),
        })
    }
}

impl IdCells<'_> {
    pub(super) fn are_texts(&self) -> bool {
        matches!(self, Self::Texts(_))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Texts(pieces) => pieces.iter().map(TextCells::len).sum(),
            Self::Ints(values) => values.len(),
        }
    }

    /// Copies some rows; nothing where their offsets begin or end outside of the text.
    pub(super) fn copy(&self, rows: Range<usize>, copied: &mut Copied) -> Option<()> {
        copied.are_texts = self.are_texts();
        let pieces = match self {
            Self::Ints(values) => {
                copied.numbers.resize(rows.len(), 0);
                values.read(rows.start, &mut copied.numbers);
                return Some(());
            }
            Self::Texts(pieces) => pieces,
        };
        copied.numbers.clear();
        copied.numbers.push(0);
        copied.bytes.clear();
        let (mut skipped, mut left) = (rows.start, rows.len());
        for piece in pieces {
            let length = piece.len();
            let start = skipped.min(length);
            skipped -= start;
            let count = left.min(length - start);
            piece.copy(start..start + count, copied)?;
            left -= count;
        }
        Some(())
    }
}

impl TextCells<'_> {
    fn len(&self) -> usize {
        let offsets = match self {
            Self::Wide(offsets, _) => offsets.len(),
            Self::Narrow(offsets, _) => offsets.len(),
        };
        offsets.saturating_sub(1)
    }

    /// Adds some rows to those that are copied already.
    fn copy(&self, rows: Range<usize>, copied: &mut Copied) -> Option<()> {
        if rows.is_empty() {
            return Some(());
        }
        let Copied { numbers, narrow, bytes, .. } = copied;
        // The end of the rows before stands where the first offset of these does.
        let end = numbers.len() - 1;
        numbers.resize(end + rows.len() + 1, 0);
        let numbers = &mut numbers[end..];
        let text = match self {
            Self::Wide(offsets, text) => {
                offsets.read(rows.start, numbers);
                text
            }
            Self::Narrow(offsets, text) => {
                narrow.resize(numbers.len(), 0);
                offsets.read(rows.start, narrow);
                for (wide, &narrow) in numbers.iter_mut().zip(narrow.iter()) {
                    *wide = narrow.into();
                }
                text
            }
        };
        let (first, last) = (numbers[0], numbers[rows.len()]);
        let start = usize::try_from(first).ok()?;
        let length = usize::try_from(last.checked_sub(first)?).ok()?;
        if start.checked_add(length)? > text.len() {
            return None;
        }
        let before = bytes.len();
        let moved = (before.cast_signed() as i64).wrapping_sub(first);
        for offset in numbers.iter_mut() {
            *offset = offset.wrapping_add(moved);
        }
        bytes.resize(before + length, 0);
        text.copy_bytes(start, &mut bytes[before..]);
        Some(())
    }
}

impl Copied {
    pub(super) fn column(&self) -> IdColumn<'_> {
        if self.are_texts {
            IdColumn::Texts { offsets: &self.numbers, bytes: &self.bytes }
        } else {
            IdColumn::Ints(&self.numbers)
        }
    }

    pub(super) fn truncate(&mut self, rows: usize) {
        self.numbers.truncate(rows + usize::from(self.are_texts));
    }

    /// The row from which on all have the identifier of the last one.
    pub(super) fn last_start(&self) -> usize {
        let texts = |ends: &[i64]| slice(&self.bytes, ends[0], ends[1]).ok();
        let differ = |at: &usize| {
            if self.are_texts {
                texts(&self.numbers[at - 1..=*at]) != texts(&self.numbers[*at..at + 2])
            } else {
                self.numbers[at - 1] != self.numbers[*at]
            }
        };
        let count = self.numbers.len() - usize::from(self.are_texts);
        (1..count).rev().find(differ).unwrap_or(0)
    }
}
