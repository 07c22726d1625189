//! Columns of identifiers as Python hands them over.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::table::IdColumn;

/// Integers, or texts end to end with their offsets.
#[derive(FromPyObject)]
pub(super) enum IdBuffers {
    #[pyo3(transparent)]
    Texts((PyBuffer<i64>, PyBuffer<u8>)),
    #[pyo3(transparent)]
    Ints(PyBuffer<i64>),
}

/// The same, in memory that nobody else can change.
pub(super) enum OwnedIds {
    Texts(Vec<i64>, Vec<u8>),
    Ints(Vec<i64>),
}

impl IdBuffers {
    pub(super) fn copy(&self, py: Python<'_>) -> PyResult<OwnedIds> {
        Ok(match self {
            Self::Texts((offsets, bytes)) => {
                OwnedIds::Texts(offsets.to_vec(py)?, bytes.to_vec(py)?)
            }
            Self::Ints(values) => OwnedIds::Ints(values.to_vec(py)?),
        })
    }
}

impl OwnedIds {
    pub(super) fn column(&self) -> IdColumn<'_> {
        match self {
            Self::Texts(offsets, bytes) => IdColumn::Texts { offsets, bytes },
            Self::Ints(values) => IdColumn::Ints(values),
        }
    }
}
