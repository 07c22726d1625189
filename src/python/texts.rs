//! Identifiers and notes as Python strings.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::memory::{Vec, guard, text};
use crate::qrels::axis::Axis;

/// Rows of notes: a code, how often it was noted, and the first line.
pub(super) type NoteRows = Vec<(&'static str, u64, u64)>;

/// What the queries of an axis are called.
pub(super) fn names(axis: &Axis) -> Vec<String> {
    axis.names().map(|name| text(&name)).collect()
}

/// The places of texts, in the order of their code points; equal texts in the order given.
#[pyfunction]
pub(super) fn order_texts(texts: Vec<PyBackedStr>) -> PyResult<Vec<u64>> {
    guard(|| {
        let mut order: Vec<(&str, u64)> = texts.iter().map(|text| &**text).zip(0..).collect();
        order.sort_unstable();
        Ok(order.into_iter().map(|(_, place)| place).collect())
    })
}
