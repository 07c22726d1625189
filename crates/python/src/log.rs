//! The Python classes `RankingBlock` and `LabelBlock`, and the functions of their ids.

use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyString, PyTuple};
use rankscope_log::blocks::body::Fault;
use rankscope_log::blocks::join::join;
use rankscope_log::blocks::keys::{key, other_key};
use rankscope_log::blocks::labels::Labels;
use rankscope_log::blocks::rankings::Rankings;
use rankscope_log::blocks::texts::Texts;

use super::column::{Column, Data, Raw};

type TextColumns = (Column, Column);

/// Rankings, encoded in one piece.
#[pyclass(frozen, module = "rankscope._core")]
pub struct RankingBlock(pub(super) Arc<Rankings>);

/// Labels, likewise.
#[pyclass(frozen, module = "rankscope._core")]
pub struct LabelBlock(pub(super) Arc<Labels>);

fn refuse(fault: Fault) -> PyErr {
    match fault {
        Fault::Damaged => PyValueError::new_err("damaged"),
        Fault::Version(version) => PyValueError::new_err(format!("version {version}")),
    }
}

fn too_large() -> PyErr {
    PyValueError::new_err("a column of a block has more than 1 GiB")
}

fn unsorted() -> PyErr {
    PyValueError::new_err("expected rankings and labels in the order in which blocks sort them")
}

fn rows_of(py: Python<'_>, rows: &PyBuffer<i64>, count: usize) -> PyResult<Vec<usize>> {
    let inside = |row: i64| usize::try_from(row).ok().filter(|&row| row < count);
    let rows: Option<_> = rows.to_vec(py)?.into_iter().map(inside).collect();
    rows.ok_or_else(|| PyIndexError::new_err("a row is not in the block"))
}

/// The keys of ids: the higher half of each, and the lower.
fn keys_of<'a>(project: i64, ids: impl ExactSizeIterator<Item = &'a [u8]>) -> [Vec<i64>; 2] {
    let mut halves = [Vec::with_capacity(ids.len()), Vec::with_capacity(ids.len())];
    for id in ids {
        let (high, low) = key(project, id);
        halves[0].push(high);
        halves[1].push(low);
    }
    halves
}

impl RankingBlock {
    /// The ids of events, with those that are the same as those of rankings.
    fn real_event_ids(&self) -> TextColumns {
        let (own, block) = (&self.0.event_ids, &self.0);
        if own.bytes.is_empty() {
            return self.ranking_ids();
        }
        if own.offsets.windows(2).all(|ends| ends[0] < ends[1]) {
            return Column::of_texts(&self.0, |block| &block.event_ids);
        }
        let mut ids = Texts::default();
        (0..block.len()).for_each(|row| ids.push(block.event_id(row)));
        (Column(Data::Places(ids.offsets)), Column(Data::Bytes(ids.bytes)))
    }
}

#[pymethods]
impl RankingBlock {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Rankings as they were encoded.
    #[staticmethod]
    fn decode(py: Python<'_>, body: PyBackedBytes) -> PyResult<Self> {
        let block = py.detach(|| Rankings::decode(&body)).map_err(refuse)?;
        Ok(Self(Arc::new(block)))
    }

    /// The rankings of some blocks, sorted.
    #[staticmethod]
    fn join(py: Python<'_>, blocks: Vec<Py<Self>>) -> Self {
        let parts: Vec<&Arc<Rankings>> = blocks.iter().map(|block| &block.get().0).collect();
        Self(py.detach(|| match parts[..] {
            [part] if part.is_sorted() => Arc::clone(part),
            _ => {
                let views: Vec<&Rankings> = parts.iter().map(|part| &***part).collect();
                Arc::new(Rankings::join(&views).sort())
            }
        }))
    }

    /// The bytes in which a store keeps them.
    fn encode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let body = py.detach(|| self.0.encode()).ok_or_else(too_large)?;
        Ok(PyBytes::new(py, &body))
    }

    /// The rankings of some rows, in the order of these.
    fn take(&self, py: Python<'_>, rows: PyBuffer<i64>) -> PyResult<Self> {
        let rows = rows_of(py, &rows, self.0.len())?;
        Ok(Self(Arc::new(py.detach(|| self.0.take(&rows)))))
    }

    /// All columns.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (event_offsets, event_ids) = py.detach(|| self.real_event_ids());
        let (ranking_offsets, ranking_ids) = self.ranking_ids();
        let query_keys = Column::of_texts(&self.0, |block| &block.query_keys);
        let doc_ids = Column::of_texts(&self.0, |block| &block.doc_ids);
        let user_ids = self.user_ids();
        let columns = [
            self.seqs(),
            self.times(),
            self.contexts(),
            ranking_offsets,
            ranking_ids,
            event_offsets,
            event_ids,
            query_keys.0,
            query_keys.1,
            user_ids.0,
            user_ids.1,
            Column::of(&self.0, |block| Raw::of(&block.offsets, "q")),
            doc_ids.0,
            doc_ids.1,
            Column::of(&self.0, |block| Raw::of(&block.ranks, "q")),
            Column::of(&self.0, |block| Raw::of(&block.scores, "d")),
            Column::of(&self.0, |block| Raw::of(&block.relevance, "d")),
        ];
        PyTuple::new(py, columns)
    }

    /// The smallest and the largest number, and the first and the last time; not of none.
    fn extent(&self) -> Option<[i64; 4]> {
        extent(&self.0.seqs, &self.0.times)
    }

    /// The number of rankings of each context, and their first and last times.
    fn spans(&self, py: Python<'_>) -> Vec<(i64, i64, i64, i64)> {
        py.detach(|| self.0.spans())
    }

    fn seqs(&self) -> Column {
        Column::of(&self.0, |block| Raw::of(&block.seqs, "q"))
    }

    fn times(&self) -> Column {
        Column::of(&self.0, |block| Raw::of(&block.times, "q"))
    }

    fn contexts(&self) -> Column {
        Column::of(&self.0, |block| Raw::of(&block.contexts, "q"))
    }

    fn ranking_ids(&self) -> TextColumns {
        Column::of_texts(&self.0, |block| &block.ranking_ids)
    }

    fn event_ids(&self, py: Python<'_>) -> TextColumns {
        py.detach(|| self.real_event_ids())
    }

    fn user_ids(&self) -> TextColumns {
        Column::of_texts(&self.0, |block| &block.user_ids)
    }

    /// The halves of the keys of rankings, and of events.
    fn keys(&self, py: Python<'_>, project: i64) -> (Column, Column, Column, Column) {
        let block = &*self.0;
        let [high, low, event_high, event_low] = py.detach(|| {
            let rows = 0..block.len();
            let [high, low] = keys_of(project, rows.map(|row| block.ranking_ids.get(row)));
            let (mut event_high, mut event_low) = (high.clone(), low.clone());
            for row in 0..block.len() {
                let own = block.event_ids.get(row);
                if !own.is_empty() {
                    (event_high[row], event_low[row]) = key(project, own);
                }
            }
            [high, low, event_high, event_low].map(|half| Column(Data::Places(half)))
        });
        (high, low, event_high, event_low)
    }
}

#[pymethods]
impl LabelBlock {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Labels as they were encoded.
    #[staticmethod]
    fn decode(py: Python<'_>, body: PyBackedBytes) -> PyResult<Self> {
        let block = py.detach(|| Labels::decode(&body)).map_err(refuse)?;
        Ok(Self(Arc::new(block)))
    }

    /// The labels of some blocks, sorted.
    #[staticmethod]
    fn join(py: Python<'_>, blocks: Vec<Py<Self>>) -> Self {
        let parts: Vec<&Arc<Labels>> = blocks.iter().map(|block| &block.get().0).collect();
        Self(py.detach(|| match parts[..] {
            [part] if part.is_sorted() => Arc::clone(part),
            _ => {
                let views: Vec<&Labels> = parts.iter().map(|part| &***part).collect();
                Arc::new(Labels::join(&views).sort())
            }
        }))
    }

    /// The bytes in which a store keeps them.
    fn encode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let body = py.detach(|| self.0.encode()).ok_or_else(too_large)?;
        Ok(PyBytes::new(py, &body))
    }

    /// The labels of some rows, in the order of these.
    fn take(&self, py: Python<'_>, rows: PyBuffer<i64>) -> PyResult<Self> {
        let rows = rows_of(py, &rows, self.0.len())?;
        Ok(Self(Arc::new(py.detach(|| self.0.take(&rows)))))
    }

    /// All columns.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (names, codes) = py.detach(|| self.0.codes());
        let names = (0..names.len()).map(|row| PyString::from_bytes(py, names.get(row)));
        let names = PyTuple::new(py, names.collect::<PyResult<Vec<_>>>()?)?;
        let (ranking_offsets, ranking_ids) = self.ranking_ids();
        let (event_offsets, event_ids) = self.event_ids();
        let doc_ids = Column::of_texts(&self.0, |block| &block.doc_ids);
        let before = [
            self.seqs(),
            self.shown(),
            self.times(),
            Column::of(&self.0, |block| Raw::of(&block.kinds, "b")),
            ranking_offsets,
            ranking_ids,
            event_offsets,
            event_ids,
            doc_ids.0,
            doc_ids.1,
        ];
        let after =
            [Column(Data::Places(codes)), Column::of(&self.0, |block| Raw::of(&block.values, "d"))];
        let mut columns = Vec::new();
        for column in before {
            columns.push(Bound::new(py, column)?.into_any());
        }
        columns.push(names.into_any());
        for column in after {
            columns.push(Bound::new(py, column)?.into_any());
        }
        PyTuple::new(py, columns)
    }

    /// As that of rankings, with the times of these.
    fn extent(&self) -> Option<[i64; 4]> {
        extent(&self.0.seqs, &self.0.shown)
    }

    fn seqs(&self) -> Column {
        Column::of(&self.0, |block| Raw::of(&block.seqs, "q"))
    }

    fn shown(&self) -> Column {
        Column::of(&self.0, |block| Raw::of(&block.shown, "q"))
    }

    fn times(&self) -> Column {
        Column::of(&self.0, |block| Raw::of(&block.times, "q"))
    }

    fn ranking_ids(&self) -> TextColumns {
        Column::of_texts(&self.0, |block| &block.ranking_ids)
    }

    fn event_ids(&self) -> TextColumns {
        Column::of_texts(&self.0, |block| &block.event_ids)
    }

    /// The halves of the keys of events.
    fn keys(&self, py: Python<'_>, project: i64) -> (Column, Column) {
        let block = &*self.0;
        let [high, low] = py.detach(|| {
            let rows = 0..block.len();
            keys_of(project, rows.map(|row| block.event_ids.get(row)))
                .map(|half| Column(Data::Places(half)))
        });
        (high, low)
    }
}

fn extent(seqs: &[i64], times: &[i64]) -> Option<[i64; 4]> {
    let ends = |numbers: &[i64]| Some([*numbers.iter().min()?, *numbers.iter().max()?]);
    let ([least, most], [first, last]) = (ends(seqs)?, ends(times)?);
    Some([least, most, first, last])
}

/// The rows of labels whose ranking is there, and before them the rows of their rankings.
#[pyfunction]
pub fn join_labels(
    py: Python<'_>,
    rankings: PyRef<'_, RankingBlock>,
    labels: PyRef<'_, LabelBlock>,
) -> PyResult<(Column, Column)> {
    let (rankings, labels) = (&*rankings.0, &*labels.0);
    let found =
        py.detach(|| (rankings.is_sorted() && labels.is_sorted()).then(|| join(rankings, labels)));
    let (positions, rows) = found.ok_or_else(unsorted)?;
    Ok((Column(Data::Places(positions)), Column(Data::Places(rows))))
}

/// The keys of ids in a project, as two halves each.
#[pyfunction]
pub fn hash_ids(py: Python<'_>, project: i64, ids: Vec<PyBackedStr>) -> Vec<(i64, i64)> {
    hash_each(py, project, &ids, key)
}

/// Other keys of ids, likewise.
#[pyfunction]
pub fn hash_other_ids(py: Python<'_>, project: i64, ids: Vec<PyBackedStr>) -> Vec<(i64, i64)> {
    hash_each(py, project, &ids, other_key)
}

fn hash_each(
    py: Python<'_>,
    project: i64,
    ids: &[PyBackedStr],
    hash: fn(i64, &[u8]) -> (i64, i64),
) -> Vec<(i64, i64)> {
    py.detach(|| ids.iter().map(|id| hash(project, id.as_bytes())).collect())
}
