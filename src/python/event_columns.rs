//! A Python function that reads rankings from columns.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::events::{EventDecoder, Found, give};
use super::vectors::copy_of;
use crate::logged::columns::{Attributes, Columns, Texts, Times};
use crate::logged::events::Span;
use crate::memory::{Vec, guard};

/// Offsets of texts, the texts end to end, and whether each is there.
type TextBuffers = (PyBuffer<i64>, PyBuffer<u8>, PyBuffer<u8>);

/// Times in microseconds or in milliseconds, or as texts.
#[derive(FromPyObject)]
enum TimeBuffers {
    #[pyo3(transparent)]
    Texts(TextBuffers),
    #[pyo3(transparent)]
    Numbers((bool, PyBuffer<i64>)),
}

/// The values of an attribute with its name, or names and values of rows.
#[derive(FromPyObject)]
enum AttributeBuffers {
    #[pyo3(transparent)]
    Maps((PyBuffer<i64>, TextBuffers, TextBuffers)),
    #[pyo3(transparent)]
    Column((String, TextBuffers)),
}

/// The columns of rankings: bounds, which are plain, times, ids, the rest of the heads, attributes, and
/// columns that are not known.
#[derive(FromPyObject)]
pub struct Heads(
    PyBuffer<i64>,
    PyBuffer<u8>,
    TimeBuffers,
    TextBuffers,
    [Option<TextBuffers>; 6],
    Vec<AttributeBuffers>,
    Vec<(String, PyBuffer<u8>)>,
);

/// The columns of documents: ids and whether these are integers, ranks, scores, grades, and whether their
/// order is that of their scores.
#[derive(FromPyObject)]
pub struct Documents(
    TextBuffers,
    bool,
    Option<PyBuffer<i64>>,
    Option<PyBuffer<f64>>,
    Option<PyBuffer<f64>>,
    bool,
);

/// Texts in memory that nobody else can change.
struct Held(Vec<i64>, Vec<u8>, Vec<u8>);

impl Held {
    fn of(py: Python<'_>, buffers: &TextBuffers) -> PyResult<Self> {
        Ok(Self(copy_of(py, &buffers.0)?, copy_of(py, &buffers.1)?, copy_of(py, &buffers.2)?))
    }

    fn texts(&self) -> PyResult<Texts<'_>> {
        let refuse = || PyValueError::new_err("texts are not UTF-8");
        Texts::new(&self.0, &self.1, &self.2).ok_or_else(refuse)
    }
}

/// Reads rankings from columns, whose times are in a span.
#[pyfunction]
pub fn decode_columns<'py>(
    py: Python<'py>,
    decoder: &EventDecoder,
    heads: Heads,
    documents: Documents,
    span: (i64, i64),
) -> PyResult<Found<'py>> {
    guard(|| {
        let Heads(bounds, plain, times, ids, rest, attributes, unknown) = heads;
        let Documents(doc_ids, has_integers, ranks, scores, relevance, by_score) = documents;
        let held = |buffers: &TextBuffers| Held::of(py, buffers);
        let (bounds, plain) = (copy_of(py, &bounds)?, copy_of(py, &plain)?);
        let (ids, doc_ids) = (held(&ids)?, held(&doc_ids)?);
        let rest: Vec<Option<Held>> = rest
            .iter()
            .map(|buffers| buffers.as_ref().map(held).transpose())
            .collect::<PyResult<_>>()?;
        let attributes: Vec<HeldAttributes> = attributes
            .iter()
            .map(|buffers| HeldAttributes::of(py, buffers))
            .collect::<PyResult<_>>()?;
        let unknown: Vec<(String, Vec<u8>)> = unknown
            .iter()
            .map(|(name, has)| Ok((name.clone(), copy_of(py, has)?)))
            .collect::<PyResult<_>>()?;
        let ranks = ranks.map(|ranks| copy_of(py, &ranks)).transpose()?;
        let scores = scores.map(|scores| copy_of(py, &scores)).transpose()?;
        let relevance = relevance.map(|grades| copy_of(py, &grades)).transpose()?;
        let (numbers, texts) = match &times {
            TimeBuffers::Texts(buffers) => (None, Some(held(buffers)?)),
            TimeBuffers::Numbers((_, buffer)) => (Some(copy_of(py, buffer)?), None),
        };
        let times = match (&times, &numbers, &texts) {
            (_, _, Some(texts)) => Times::Texts(texts.texts()?),
            (TimeBuffers::Numbers((true, _)), Some(micros), _) => Times::Micros(micros),
            (_, Some(millis), _) => Times::Millis(millis),
            _ => return Err(PyValueError::new_err("there are no times")),
        };
        let text = |place: usize| rest[place].as_ref().map(Held::texts).transpose();
        let columns = Columns {
            bounds: &bounds,
            plain: &plain,
            times,
            ranking_ids: ids.texts()?,
            heads: [text(0)?, text(1)?, text(2)?, text(3)?, text(4)?, text(5)?],
            attributes: attributes.iter().map(HeldAttributes::view).collect::<PyResult<_>>()?,
            unknown: unknown.iter().map(|(name, has)| (name.as_bytes(), &**has)).collect(),
            doc_ids: doc_ids.texts()?,
            has_integers,
            ranks: ranks.as_deref(),
            scores: scores.as_deref(),
            relevance: relevance.as_deref(),
            by_score,
        };
        let (limits, (from, to)) = (&decoder.0.limits, span);
        let batch = py.detach(|| columns.read(limits, Span { from, to }));
        give(py, &batch)
    })
}

enum HeldAttributes {
    Column(String, Held),
    Maps(Vec<i64>, Held, Held),
}

impl HeldAttributes {
    fn of(py: Python<'_>, buffers: &AttributeBuffers) -> PyResult<Self> {
        Ok(match buffers {
            AttributeBuffers::Column((name, values)) => {
                Self::Column(name.clone(), Held::of(py, values)?)
            }
            AttributeBuffers::Maps((offsets, names, values)) => {
                Self::Maps(copy_of(py, offsets)?, Held::of(py, names)?, Held::of(py, values)?)
            }
        })
    }

    fn view(&self) -> PyResult<Attributes<'_>> {
        Ok(match self {
            Self::Column(name, values) => Attributes::Column(name.as_bytes(), values.texts()?),
            Self::Maps(offsets, names, values) => {
                Attributes::Maps(offsets, names.texts()?, values.texts()?)
            }
        })
    }
}
