//! Identifiers and notes as Python strings.

use crate::memory::{self, Vec};
use crate::qrels::axis::Axis;

/// Rows of notes: a code, how often it was noted, and the first line.
pub(super) type NoteRows = Vec<(&'static str, u64, u64)>;

/// What the queries of an axis are called.
pub(super) fn names(axis: &Axis) -> Vec<String> {
    axis.names().map(|name| text(&name)).collect()
}

/// An identifier as Python's text.
pub(super) fn text(id: &[u8]) -> String {
    memory::check();
    String::from_utf8_lossy(id).into_owned()
}
