//! Python functions that read events from JSON.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use rankscope_log::blocks::list::{Limits, notes};
use rankscope_log::logged::events::{Decoded, Span};
use rankscope_log::logged::json;
use rankscope_log::logged::names::Names;
use rankscope_log::logged::objects::Decoder;

use super::batch::EventBatch;

/// Names of fields, each with the role it has.
type Pairs = Vec<(String, String)>;

/// The objects that are plain, the places of the others, and what is to be said: codes of notes, fields
/// that are not known, and the number of objects.
pub(super) type Found<'py> = (EventBatch, Vec<i64>, Bound<'py, PyList>);

/// Reads plain objects of JSON as events.
#[pyclass(frozen, module = "rankscope._core")]
pub struct EventDecoder(pub(super) Decoder);

#[pymethods]
impl EventDecoder {
    #[new]
    fn new(names: [Pairs; 5], limits: [usize; 8], moved: Vec<String>) -> PyResult<Self> {
        let refuse = || PyValueError::new_err("a role is not known");
        let known = names.map(|pairs| {
            Names::new(pairs.iter().map(|(name, role)| (&**name, &**role))).ok_or_else(refuse)
        });
        let [rankings, columns, items, labels, lists] = known;
        let [items_, id_bytes, attributes, name_bytes, value_bytes, label_count, rank, depth] =
            limits;
        let limits = Limits {
            items: items_,
            id_bytes,
            attributes,
            name_bytes,
            value_bytes,
            labels: label_count,
            rank: i64::try_from(rank)?,
            depth,
        };
        let decoder = Decoder {
            limits,
            rankings: rankings?,
            columns: columns?,
            items: items?,
            labels: labels?,
            lists: lists?,
            moved: moved.iter().map(|name| name.as_bytes().to_vec()).collect(),
        };
        Ok(Self(decoder))
    }

    /// Reads rankings, a text of JSON each, whose times are in a span.
    fn read_rankings<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedBytes>,
        span: (i64, i64),
    ) -> PyResult<Found<'py>> {
        read(py, &texts, span, |texts, span| self.0.read_rankings(texts, span))
    }

    /// Reads labels, likewise.
    fn read_labels<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedBytes>,
        span: (i64, i64),
    ) -> PyResult<Found<'py>> {
        read(py, &texts, span, |texts, span| self.0.read_labels(texts, span))
    }
}

fn read<'py>(
    py: Python<'py>,
    texts: &[PyBackedBytes],
    (from, to): (i64, i64),
    read: impl Fn(&[&[u8]], Span) -> Decoded + Sync,
) -> PyResult<Found<'py>> {
    let decoded = py.detach(|| {
        let views: Vec<&[u8]> = texts.iter().map(|text| &**text).collect();
        read(&views, Span { from, to })
    });
    give(py, decoded)
}

/// Cuts a list of JSON into the texts of its values; none where it is no list, or has too many.
#[pyfunction]
pub fn split_json(
    py: Python<'_>,
    text: PyBackedBytes,
    most: usize,
) -> PyResult<Option<Bound<'_, PyList>>> {
    let texts = py.detach(|| json::split(&text));
    texts
        .filter(|texts| texts.len() <= most)
        .map(|texts| PyList::new(py, texts.iter().map(|text| PyBytes::new(py, text))))
        .transpose()
}

/// What was decoded, and what is to be said about it.
pub(super) fn give(py: Python<'_>, decoded: Decoded) -> PyResult<Found<'_>> {
    let said = PyList::empty(py);
    for (remarks, count) in &decoded.remarks {
        let names = remarks.unknown.iter().map(|name| PyString::from_bytes(py, name));
        let codes: Vec<_> = notes::codes(remarks.notes).collect();
        let names = names.collect::<PyResult<Vec<_>>>()?;
        said.append((PyTuple::new(py, codes)?, PyTuple::new(py, names)?, count))?;
    }
    Ok((EventBatch(Arc::new(decoded.batch)), decoded.left, said))
}
