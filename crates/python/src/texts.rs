//! Identifiers and notes as Python strings.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use rankscope_core::qrels::axis::Axis;

/// Rows of notes: a code, how often it was noted, and the first line.
pub(super) type NoteRows = Vec<(&'static str, u64, u64)>;

/// An identifier as text, for people and for Python; bytes that are not UTF-8 are replaced.
pub(super) fn text(id: &[u8]) -> String {
    String::from_utf8_lossy(id).into_owned()
}

/// What the queries of an axis are called.
pub(super) fn names(axis: &Axis) -> Vec<String> {
    axis.names().map(|name| text(&name)).collect()
}

/// The places of texts, in the order of their code points; equal texts in the order given.
#[pyfunction]
pub(super) fn order_texts(texts: Vec<PyBackedStr>) -> Vec<u64> {
    let mut order: Vec<(&str, u64)> = texts.iter().map(|text| &**text).zip(0..).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, place)| place).collect()
}
