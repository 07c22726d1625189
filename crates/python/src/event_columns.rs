//! Python functions that read rankings and labels from columns.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rankscope_log::logged::columns::{Attributes, Columns, Texts, Times};
use rankscope_log::logged::events::Span;
use rankscope_log::logged::label_columns::{LabelColumns, Said};

use super::events::{EventDecoder, Found, give};

/// Offsets of texts, the texts end to end, and whether each is there.
type TextBuffers = (PyBuffer<i64>, PyBuffer<u8>, PyBuffer<u8>);

/// Times in microseconds or in milliseconds, the latter with a fraction, or as texts.
#[derive(FromPyObject)]
enum TimeBuffers {
    #[pyo3(transparent)]
    Texts(TextBuffers),
    #[pyo3(transparent)]
    Integers((bool, PyBuffer<i64>)),
    #[pyo3(transparent)]
    Numbers(PyBuffer<f64>),
}

/// Labels, one a row; or the bounds of lists of them, which rows have one, and all labels.
#[derive(FromPyObject)]
enum LabelBuffers {
    #[pyo3(transparent)]
    Lists((PyBuffer<i64>, PyBuffer<u8>, TextBuffers)),
    #[pyo3(transparent)]
    Texts(TextBuffers),
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

/// The columns of labels: which are plain, times, rankings, documents, ids of events, kinds, labels,
/// grades, and columns that are not known.
#[derive(FromPyObject)]
pub struct Labels(
    PyBuffer<u8>,
    TimeBuffers,
    TextBuffers,
    TextBuffers,
    Option<TextBuffers>,
    Option<TextBuffers>,
    Option<LabelBuffers>,
    Option<PyBuffer<f64>>,
    Vec<(String, PyBuffer<u8>)>,
);

/// Texts in memory that nobody else can change.
struct Held(Vec<i64>, Vec<u8>, Vec<u8>);

impl Held {
    fn of(py: Python<'_>, buffers: &TextBuffers) -> PyResult<Self> {
        Ok(Self(buffers.0.to_vec(py)?, buffers.1.to_vec(py)?, buffers.2.to_vec(py)?))
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
    let Heads(bounds, plain, times, ids, rest, attributes, unknown) = heads;
    let Documents(doc_ids, has_integers, ranks, scores, relevance, by_score) = documents;
    let held = |buffers: &TextBuffers| Held::of(py, buffers);
    let (bounds, plain) = (bounds.to_vec(py)?, plain.to_vec(py)?);
    let (ids, doc_ids) = (held(&ids)?, held(&doc_ids)?);
    let rest: Vec<Option<Held>> = rest
        .iter()
        .map(|buffers| buffers.as_ref().map(held).transpose())
        .collect::<PyResult<_>>()?;
    let attributes: Vec<HeldAttributes> = attributes
        .iter()
        .map(|buffers| HeldAttributes::of(py, buffers))
        .collect::<PyResult<_>>()?;
    let unknown = hold_unknown(py, &unknown)?;
    let ranks = ranks.map(|ranks| ranks.to_vec(py)).transpose()?;
    let scores = scores.map(|scores| scores.to_vec(py)).transpose()?;
    let relevance = relevance.map(|grades| grades.to_vec(py)).transpose()?;
    let times = HeldTimes::of(py, &times)?;
    let text = |place: usize| rest[place].as_ref().map(Held::texts).transpose();
    let columns = Columns {
        bounds: &bounds,
        plain: &plain,
        times: times.view()?,
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
    let decoded = py.detach(|| columns.read(limits, Span { from, to }));
    give(py, decoded)
}

/// Reads labels from columns, whose times are in a span.
#[pyfunction]
pub fn decode_label_columns<'py>(
    py: Python<'py>,
    decoder: &EventDecoder,
    labels: Labels,
    span: (i64, i64),
) -> PyResult<Found<'py>> {
    let Labels(plain, times, ranking_ids, doc_ids, event_ids, kinds, said, values, unknown) =
        labels;
    let held = |buffers: &TextBuffers| Held::of(py, buffers);
    let plain = plain.to_vec(py)?;
    let times = HeldTimes::of(py, &times)?;
    let (ranking_ids, doc_ids) = (held(&ranking_ids)?, held(&doc_ids)?);
    let event_ids = event_ids.as_ref().map(held).transpose()?;
    let kinds = kinds.as_ref().map(held).transpose()?;
    let said = said.map(|said| HeldLabels::of(py, &said)).transpose()?;
    let values = values.map(|values| values.to_vec(py)).transpose()?;
    let unknown = hold_unknown(py, &unknown)?;
    let columns = LabelColumns {
        plain: &plain,
        times: times.view()?,
        ranking_ids: ranking_ids.texts()?,
        doc_ids: doc_ids.texts()?,
        event_ids: event_ids.as_ref().map(Held::texts).transpose()?,
        kinds: kinds.as_ref().map(Held::texts).transpose()?,
        said: said.as_ref().map(HeldLabels::view).transpose()?,
        values: values.as_deref(),
        unknown: unknown.iter().map(|(name, has)| (name.as_bytes(), &**has)).collect(),
    };
    let (limits, (from, to)) = (&decoder.0.limits, span);
    let decoded = py.detach(|| columns.read(limits, Span { from, to }));
    give(py, decoded)
}

fn hold_unknown(
    py: Python<'_>,
    unknown: &[(String, PyBuffer<u8>)],
) -> PyResult<Vec<(String, Vec<u8>)>> {
    unknown.iter().map(|(name, has)| Ok((name.clone(), has.to_vec(py)?))).collect()
}

enum HeldTimes {
    Texts(Held),
    Micros(Vec<i64>),
    Millis(Vec<i64>),
    Numbers(Vec<f64>),
}

impl HeldTimes {
    fn of(py: Python<'_>, buffers: &TimeBuffers) -> PyResult<Self> {
        Ok(match buffers {
            TimeBuffers::Texts(buffers) => Self::Texts(Held::of(py, buffers)?),
            TimeBuffers::Integers((true, buffer)) => Self::Micros(buffer.to_vec(py)?),
            TimeBuffers::Integers((false, buffer)) => Self::Millis(buffer.to_vec(py)?),
            TimeBuffers::Numbers(buffer) => Self::Numbers(buffer.to_vec(py)?),
        })
    }

    fn view(&self) -> PyResult<Times<'_>> {
        Ok(match self {
            Self::Texts(texts) => Times::Texts(texts.texts()?),
            Self::Micros(times) => Times::Micros(times),
            Self::Millis(times) => Times::Millis(times),
            Self::Numbers(times) => Times::Numbers(times),
        })
    }
}

enum HeldLabels {
    Lists(Vec<i64>, Vec<u8>, Held),
    Texts(Held),
}

impl HeldLabels {
    fn of(py: Python<'_>, buffers: &LabelBuffers) -> PyResult<Self> {
        Ok(match buffers {
            LabelBuffers::Texts(labels) => Self::Texts(Held::of(py, labels)?),
            LabelBuffers::Lists((bounds, has, labels)) => {
                Self::Lists(bounds.to_vec(py)?, has.to_vec(py)?, Held::of(py, labels)?)
            }
        })
    }

    fn view(&self) -> PyResult<Said<'_>> {
        Ok(match self {
            Self::Texts(labels) => Said::Texts(labels.texts()?),
            Self::Lists(bounds, has, labels) => Said::Lists(bounds, has, labels.texts()?),
        })
    }
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
                Self::Maps(offsets.to_vec(py)?, Held::of(py, names)?, Held::of(py, values)?)
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
