//! The Python class `LabelIndex`.

use std::sync::Arc;

use pyo3::prelude::*;

use super::batch::EventBatch;
use super::chunks::{TextBuffers, misfit, read_texts};
use super::column::{Column, Data};
use crate::log::index;
use crate::logged::labels::Texts;
use crate::memory::{Vec, guard};

/// Labels that are found by their rankings.
#[pyclass(frozen, module = "rankscope._core")]
pub struct LabelIndex(index::LabelIndex);

#[pymethods]
impl LabelIndex {
    #[new]
    fn new(py: Python<'_>, batch: &EventBatch) -> PyResult<Self> {
        guard(|| Ok(Self(py.detach(|| index::LabelIndex::of(&batch.0)))))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// About the bytes that it takes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.size()
    }

    /// The different rankings of the labels: the offsets of their ids, and these end to end.
    fn unique_ids(&self, py: Python<'_>) -> PyResult<(Column, Column)> {
        guard(|| {
            let ids = py.detach(|| self.0.unique_ids());
            Ok((Column(Data::Places(ids.offsets)), Column(Data::Bytes(ids.bytes))))
        })
    }
}

/// The labels of some rankings from one time to before another, index by index, as one object.
#[pyfunction]
pub fn choose_labels(
    py: Python<'_>,
    indexes: Vec<Py<LabelIndex>>,
    ids: TextBuffers,
    since: i64,
    until: i64,
) -> PyResult<EventBatch> {
    guard(|| {
        let (offsets, bytes) = read_texts(py, &ids)?;
        let ids = Texts::new(&offsets, &bytes).ok_or_else(misfit)?;
        let ids: Vec<&[u8]> = (0..ids.len()).map(|row| ids.get(row)).collect();
        let indexes: Vec<&index::LabelIndex> = indexes.iter().map(|one| &one.get().0).collect();
        let chosen = py.detach(|| index::choose(&indexes, &ids, since, until));
        Ok(EventBatch(Arc::new(chosen)))
    })
}
