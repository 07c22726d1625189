//! Python functions that read events from JSON.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::logged::events::{Batch, Context, ENVIRONMENTS, Label, Object, Ranking, Span};
use crate::logged::json;
use crate::logged::list::{Limits, notes};
use crate::logged::names::Names;
use crate::logged::objects::Decoder;
use crate::memory::{Vec, copy, guard};

/// Names of fields, each with the role it has.
type Pairs = Vec<(String, String)>;

/// Of each object the place of its remarks and its events, or none; and by place the codes of notes and
/// the fields that are not known.
pub(super) type Found<'py> = (Bound<'py, PyList>, Bound<'py, PyList>);

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
            moved: moved.iter().map(|name| copy(name.as_bytes())).collect(),
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
    read: impl Fn(&[&[u8]], Span) -> Batch + Sync,
) -> PyResult<Found<'py>> {
    guard(|| {
        let batch = py.detach(|| {
            let views: Vec<&[u8]> = texts.iter().map(|text| &**text).collect();
            read(&views, Span { from, to })
        });
        give(py, &batch)
    })
}

/// Cuts a list of JSON into the texts of its values; none where it is no list, or has too many.
#[pyfunction]
pub fn split_json(
    py: Python<'_>,
    text: PyBackedBytes,
    most: usize,
) -> PyResult<Option<Bound<'_, PyList>>> {
    guard(|| {
        let texts = py.detach(|| json::split(&text));
        texts
            .filter(|texts| texts.len() <= most)
            .map(|texts| PyList::new(py, texts.iter().map(|text| PyBytes::new(py, text))))
            .transpose()
    })
}

/// Makes the events of a batch, those of each object as a tuple.
pub(super) fn give<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Found<'py>> {
    let contexts = batch.contexts.iter().map(|context| give_context(py, context));
    let contexts: Vec<Bound<'_, PyTuple>> = contexts.collect::<PyResult<_>>()?;
    let answers = PyList::empty(py);
    for object in &batch.objects {
        match object {
            None => answers.append(py.None())?,
            Some(object) => {
                answers.append((object.remarks, give_object(py, object, &contexts)?))?;
            }
        }
    }
    let said = PyList::empty(py);
    for remarks in &batch.remarks {
        let names = remarks.unknown.iter().map(|name| give_text(py, name));
        let codes: Vec<_> = notes::codes(remarks.notes).collect();
        let names = names.collect::<PyResult<Vec<_>>>()?;
        said.append((PyTuple::new(py, codes)?, PyTuple::new(py, names)?))?;
    }
    Ok((answers, said))
}

fn give_object<'py>(
    py: Python<'py>,
    object: &Object,
    contexts: &[Bound<'py, PyTuple>],
) -> PyResult<Bound<'py, PyTuple>> {
    let ranking = object.ranking.iter().map(|ranking| give_ranking(py, ranking, contexts));
    let labels = object.labels.iter().map(|label| give_label(py, label));
    PyTuple::new(py, ranking.chain(labels).collect::<PyResult<Vec<_>>>()?)
}

fn give_ranking<'py>(
    py: Python<'py>,
    ranking: &Ranking,
    contexts: &[Bound<'py, PyTuple>],
) -> PyResult<Bound<'py, PyTuple>> {
    let event_id = give_text(py, &ranking.event_id)?;
    let is_same = ranking.event_id[..] == ranking.ranking_id[..];
    let ranking_id = if is_same { event_id.clone() } else { give_text(py, &ranking.ranking_id)? };
    (
        event_id,
        ranking_id,
        PyBytes::new(py, &ranking.digest),
        ranking.time,
        give_text(py, &ranking.query_key)?,
        give_text(py, &ranking.user_id)?,
        &contexts[ranking.context],
        PyBytes::new(py, &ranking.packed),
    )
        .into_pyobject(py)
}

fn give_label<'py>(py: Python<'py>, label: &Label) -> PyResult<Bound<'py, PyTuple>> {
    (
        give_text(py, &label.event_id)?,
        give_text(py, &label.ranking_id)?,
        PyBytes::new(py, &label.digest),
        give_text(py, &label.doc_id)?,
        label.time,
        label.kind,
        give_text(py, &label.names)?,
        label.value,
    )
        .into_pyobject(py)
}

fn give_context<'py>(py: Python<'py>, context: &Context) -> PyResult<Bound<'py, PyTuple>> {
    let pairs = context
        .attributes
        .iter()
        .map(|(name, value)| (give_text(py, name)?, give_text(py, value)?).into_pyobject(py));
    (
        give_text(py, &context.model)?,
        give_text(py, &context.version)?,
        ENVIRONMENTS[context.environment],
        PyTuple::new(py, pairs.collect::<PyResult<Vec<_>>>()?)?,
    )
        .into_pyobject(py)
}

fn give_text<'py>(py: Python<'py>, utf8: &[u8]) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, utf8)
}
