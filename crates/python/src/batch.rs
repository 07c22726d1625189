//! Python classes of events on their way into a store.

use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyList, PyString, PyTuple, PyType};
use rankscope_log::blocks::batch::{Batch, Event};
use rankscope_log::blocks::contexts::Context;
use rankscope_log::blocks::digest::Digest;
use rankscope_log::blocks::labels::{self, Labels};
use rankscope_log::blocks::list::List;
use rankscope_log::logged::events::{
    ENVIRONMENTS, Head, Label, find_environment, find_kind, push_label, push_ranking,
};
use rankscope_log::logged::identity::identify;
use rankscope_log::logged::json::Text;
use rankscope_log::logged::known::{Entry, Known};
use rankscope_log::logged::settle::{self, Keys};

use super::column::{Column, Data};
use super::log::{LabelBlock, RankingBlock};

/// Events of some objects.
#[pyclass(frozen, module = "rankscope._core")]
pub struct EventBatch(pub(super) Arc<Batch>);

/// Makes a batch of events that were read in Python.
#[pyclass(frozen, module = "rankscope._core")]
#[derive(Default)]
pub struct BatchBuilder(Mutex<(Batch, usize)>);

/// The keys of the ids of a batch in a project.
#[pyclass(frozen, module = "rankscope._core")]
pub struct BatchIds {
    batch: Arc<Batch>,
    keys: Arc<Keys>,
}

/// What became of the events of a batch.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Settled {
    batch: Arc<Batch>,
    keys: Arc<Keys>,
    answer: settle::Settled,
}

type Pairs = Vec<(PyBackedStr, PyBackedStr)>;
/// A row of the table of ids, with its checksum.
type Row = (i64, i64, i64, i64, i64, u8, i64);
/// A row of the table of labels that wait, without the number of its project.
type Waiting =
    (i64, PyBackedStr, PyBackedStr, PyBackedStr, i64, u8, PyBackedStr, Option<f64>, Digest);

fn text<'py>(py: Python<'py>, utf8: &[u8]) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, utf8)
}

fn attributes_of<'py>(py: Python<'py>, context: &Context) -> PyResult<Bound<'py, PyTuple>> {
    let pair =
        |(name, value): &(Vec<u8>, Vec<u8>)| (text(py, name)?, text(py, value)?).into_pyobject(py);
    PyTuple::new(py, context.attributes.iter().map(pair).collect::<PyResult<Vec<_>>>()?)
}

fn context_of<'py>(py: Python<'py>, context: &Context) -> PyResult<Bound<'py, PyTuple>> {
    (
        text(py, &context.model)?,
        text(py, &context.version)?,
        ENVIRONMENTS[context.environment],
        attributes_of(py, context)?,
    )
        .into_pyobject(py)
}

#[pymethods]
impl EventBatch {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Whether it says the same, to the last bit.
    fn __eq__(&self, other: &Self) -> bool {
        self.0.to_bytes() == other.0.to_bytes()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        let (py, batch) = (slf.py(), &slf.get().0);
        let bytes = PyBytes::new(py, &py.detach(|| batch.to_bytes()));
        (slf.get_type(), (bytes,))
    }

    /// A batch that another process has sent.
    #[new]
    fn new(py: Python<'_>, bytes: PyBackedBytes) -> PyResult<Self> {
        let batch = py.detach(|| Batch::from_bytes(&bytes));
        let batch = batch.ok_or_else(|| PyValueError::new_err("expected a batch of events"))?;
        Ok(Self(Arc::new(batch)))
    }

    /// The number of objects.
    #[getter]
    fn objects(&self) -> usize {
        self.0.counts.len()
    }

    /// The ids of its rankings.
    fn ranking_ids(&self, py: Python<'_>) -> (Column, Column) {
        let ids = py.detach(|| self.0.rankings.ranking_ids.clone());
        (Column(Data::Places(ids.offsets)), Column(Data::Bytes(ids.bytes)))
    }

    /// The events of some batches, one batch after another.
    #[staticmethod]
    fn join(py: Python<'_>, parts: Vec<Py<Self>>) -> Self {
        if let [part] = &parts[..] {
            return Self(Arc::clone(&part.get().0));
        }
        let views: Vec<&Batch> = parts.iter().map(|part| &*part.get().0).collect();
        Self(Arc::new(py.detach(|| Batch::join(&views))))
    }

    /// The objects of this batch with others at some places, which ascend.
    fn merge(&self, py: Python<'_>, others: &Self, places: Vec<usize>) -> PyResult<Self> {
        let merged = py.detach(|| self.0.merge(&others.0, &places));
        let merged =
            merged.ok_or_else(|| PyIndexError::new_err("expected a place for each object"))?;
        Ok(Self(Arc::new(merged)))
    }

    /// The events from one place to before another, as one object.
    fn cut(&self, py: Python<'_>, start: usize, end: usize) -> Self {
        let end = end.min(self.0.len());
        let events: Vec<usize> = (start..end).collect();
        Self(Arc::new(py.detach(|| self.0.take(&events))))
    }

    /// What became of each object by what became of its events: 0 is accepted, 1 a duplicate, 2 a
    /// conflict, and 3 is for an object without events.
    fn tell<'py>(&self, py: Python<'py>, statuses: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        if statuses.len() != self.0.len() {
            return Err(PyValueError::new_err("expected a status for each event"));
        }
        let tell = |range: std::ops::Range<usize>| {
            let theirs = &statuses[range];
            if theirs.contains(&settle::CONFLICT) {
                settle::CONFLICT
            } else {
                theirs.iter().copied().min().unwrap_or(3)
            }
        };
        Ok(PyBytes::new(py, &self.0.objects().map(tell).collect::<Vec<u8>>()))
    }

    /// The id of an event.
    fn event_id<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyString>> {
        match self.0.events().nth(at) {
            Some(Event::Ranking(row)) => text(py, self.0.rankings.event_id(row)),
            Some(Event::Label(row)) => text(py, self.0.labels.event_ids.get(row)),
            None => Err(PyIndexError::new_err("there is no such event")),
        }
    }

    /// The 16 bytes that identify what an event says.
    fn digest<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyBytes>> {
        let event = self.0.events().nth(at);
        let event = event.ok_or_else(|| PyIndexError::new_err("there is no such event"))?;
        Ok(PyBytes::new(py, &identify(&self.0, event)))
    }

    /// The rankings and documents of the first labels.
    fn first_labels<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyList>> {
        let labels = &self.0.labels;
        let pairs = (0..labels.len().min(most)).map(|row| {
            (text(py, labels.ranking_ids.get(row))?, text(py, labels.doc_ids.get(row))?)
                .into_pyobject(py)
        });
        PyList::new(py, pairs.collect::<PyResult<Vec<_>>>()?)
    }

    /// The different lists of labels, as JSON, and how many labels have each.
    fn count_labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (names, codes) = py.detach(|| self.0.labels.codes());
        let mut counts = vec![0usize; names.len()];
        for code in codes {
            counts[usize::try_from(code).unwrap_or(usize::MAX)] += 1;
        }
        let pairs = counts
            .iter()
            .enumerate()
            .map(|(row, count)| (text(py, names.get(row))?, count).into_pyobject(py));
        PyList::new(py, pairs.collect::<PyResult<Vec<_>>>()?)
    }

    /// The attributes of rankings of production, and how many rankings have them.
    fn count_attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let pairs = PyList::empty(py);
        for (context, count) in self.0.contexts.iter().zip(self.0.count_contexts()) {
            if count > 0 && context.environment == 0 {
                pairs.append((attributes_of(py, context)?, count))?;
            }
        }
        Ok(pairs)
    }

    /// The keys of its ids in a project.
    fn hash_ids(&self, py: Python<'_>, project: i64) -> BatchIds {
        let keys = Arc::new(py.detach(|| Keys::of(&self.0, project)));
        BatchIds { batch: Arc::clone(&self.0), keys }
    }
}

/// The rows of ids that are known.
fn known_of(rows: &[Row]) -> PyResult<Known> {
    let mut known = Known::default();
    for &(high, low, seq, digest, time, role, checksum) in rows {
        known
            .add((high, low), Entry { seq, digest, time, role }, checksum)
            .ok_or_else(|| PyValueError::new_err("damaged"))?;
    }
    Ok(known)
}

#[pymethods]
impl BatchIds {
    /// The higher halves of the keys.
    fn highs(&self, py: Python<'_>) -> Vec<i64> {
        py.detach(|| self.keys.highs())
    }

    /// The higher halves of further keys that are to be asked for, after what is known by the first.
    fn more_highs(&self, py: Python<'_>, known: Vec<Row>) -> PyResult<Vec<i64>> {
        let known = known_of(&known)?;
        Ok(py.detach(|| self.keys.more_highs(&self.batch, &known)))
    }

    /// Tells which events are new, and gives them numbers from the first on.
    fn settle(&self, py: Python<'_>, known: Vec<Row>, first: i64) -> PyResult<Settled> {
        let known = known_of(&known)?;
        let answer = py.detach(|| settle::Settled::of(&self.batch, &self.keys, known, first));
        Ok(Settled { batch: Arc::clone(&self.batch), keys: Arc::clone(&self.keys), answer })
    }
}

#[pymethods]
impl Settled {
    /// What became of each event: 0 is accepted, 1 a duplicate, and 2 a conflict.
    fn statuses<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.answer.statuses)
    }

    /// The number under which each is stored; with a conflict, that of what was there.
    fn seqs(&self) -> Column {
        Column(Data::Places(self.answer.seqs.clone()))
    }

    /// The rows of ids that are new, by their keys, with their checksums.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let ids = py.detach(|| self.answer.ids(&self.batch));
        let rows = ids.iter().map(|&((high, low), entry)| {
            let Entry { seq, digest, time, role } = entry;
            (high, low, seq, digest, time, role, entry.checksum((high, low))).into_pyobject(py)
        });
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }

    /// The contexts of the batch, those of no new ranking as none.
    fn contexts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let uses = self.answer.uses(&self.batch);
        let contexts = self.batch.contexts.iter().zip(uses);
        let contexts =
            contexts.map(|(context, is_used)| is_used.then(|| context_of(py, context)).transpose());
        PyList::new(py, contexts.collect::<PyResult<Vec<_>>>()?)
    }

    /// The ids of the new rankings.
    fn ranking_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.answer.ranking_ids(&self.batch).map(|id| text(py, id));
        PyList::new(py, ids.collect::<PyResult<Vec<_>>>()?)
    }

    /// The new rankings by the starts of hours and environments, with the numbers of their contexts.
    fn rankings<'py>(&self, py: Python<'py>, contexts: Vec<i64>) -> PyResult<Bound<'py, PyList>> {
        if contexts.len() != self.batch.contexts.len() {
            return Err(PyValueError::new_err("expected a number for each context"));
        }
        let groups = py.detach(|| self.answer.rankings(&self.batch, &contexts));
        let blocks = groups.into_iter().map(|group| {
            let block = Bound::new(py, RankingBlock(Arc::new(group.columns)))?;
            (group.start, group.environment, block).into_pyobject(py)
        });
        PyList::new(py, blocks.collect::<PyResult<Vec<_>>>()?)
    }

    /// The new labels by the starts of hours and environments, together with those that have waited for
    /// the new rankings; and the rows of those that wait for theirs.
    fn labels<'py>(
        &self,
        py: Python<'py>,
        waited: Vec<Waiting>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let mut theirs = Labels::default();
        for (seq, event_id, ranking_id, doc_id, time, kind, names, value, _) in &waited {
            theirs.push(&labels::Row {
                seq: *seq,
                shown: 0,
                time: *time,
                kind: *kind,
                ranking_id: ranking_id.as_bytes(),
                event_id: event_id.as_bytes(),
                doc_id: doc_id.as_bytes(),
                names: names.as_bytes(),
                value: value.unwrap_or(f64::NAN),
            });
        }
        let digests: Vec<Digest> = waited.iter().map(|row| row.8).collect();
        let told = py.detach(|| self.answer.labels(&self.batch, &self.keys, &theirs, &digests));
        let blocks = told.groups.into_iter().map(|group| {
            let block = Bound::new(py, LabelBlock(Arc::new(group.columns)))?;
            (group.start, group.environment, block).into_pyobject(py)
        });
        let blocks = PyList::new(py, blocks.collect::<PyResult<Vec<_>>>()?)?;
        let waiting = &told.waiting;
        let rows = told.digests.iter().enumerate().map(|(row, digest)| {
            (
                waiting.seqs[row],
                text(py, waiting.event_ids.get(row))?,
                text(py, waiting.ranking_ids.get(row))?,
                text(py, waiting.doc_ids.get(row))?,
                waiting.times[row],
                waiting.kinds[row],
                text(py, waiting.names.get(row))?,
                Some(waiting.values[row]).filter(|value| !value.is_nan()),
                PyBytes::new(py, digest),
            )
                .into_pyobject(py)
        });
        Ok((blocks, PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?))
    }
}

fn unknown(what: &str) -> PyErr {
    PyValueError::new_err(format!("{what} is not known"))
}

#[pymethods]
impl BatchBuilder {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds a ranking.
    #[allow(clippy::too_many_arguments)] // as many as a ranking has
    fn add_ranking(
        &self,
        event_id: PyBackedStr,
        ranking_id: PyBackedStr,
        time: i64,
        query_key: PyBackedStr,
        user_id: PyBackedStr,
        model: PyBackedStr,
        version: PyBackedStr,
        environment: PyBackedStr,
        attributes: Pairs,
        doc_ids: Vec<PyBackedStr>,
        ranks: Vec<i64>,
        scores: Vec<Option<f64>>,
        relevance: Vec<Option<f64>>,
    ) -> PyResult<()> {
        let count = doc_ids.len();
        let fits = |size: usize| size == 0 || size == count;
        if ranks.len() != count || !fits(scores.len()) || !fits(relevance.len()) {
            return Err(PyValueError::new_err("expected columns of one length"));
        }
        let numbers = |column: Vec<Option<f64>>| {
            column.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect()
        };
        let mut list = List { ranks, ..List::default() };
        list.scores = numbers(scores);
        list.relevance = numbers(relevance);
        for doc_id in &doc_ids {
            list.ids.extend_from_slice(doc_id.as_bytes());
            list.end_id();
        }
        let pairs: Vec<_> = attributes
            .iter()
            .map(|(name, value)| (name.as_bytes(), Text::Plain(value.as_bytes())))
            .collect();
        let head = Head {
            event_id: Some(event_id.as_bytes()),
            ranking_id: ranking_id.as_bytes(),
            time,
            query_key: query_key.as_bytes(),
            user_id: user_id.as_bytes(),
            model: model.as_bytes(),
            version: version.as_bytes(),
            environment: find_environment(environment.as_bytes())
                .ok_or_else(|| unknown("the environment"))?,
            attributes: &pairs,
        };
        push_ranking(&mut self.lock().0, &head, &list);
        Ok(())
    }

    /// Adds a label.
    #[allow(clippy::too_many_arguments)] // as many as a label has
    fn add_label(
        &self,
        event_id: PyBackedStr,
        ranking_id: PyBackedStr,
        doc_id: PyBackedStr,
        time: i64,
        labels: Vec<PyBackedStr>,
        value: Option<f64>,
        kind: PyBackedStr,
    ) -> PyResult<()> {
        let names: Vec<_> = labels.iter().map(|name| Text::Plain(name.as_bytes())).collect();
        let label = Label {
            event_id: Some(event_id.as_bytes()),
            ranking_id: ranking_id.as_bytes(),
            doc_id: doc_id.as_bytes(),
            time,
            kind: find_kind(kind.as_bytes()).ok_or_else(|| unknown("the kind of a label"))?,
            names: &names,
            value: value.unwrap_or(f64::NAN),
        };
        push_label(&mut self.lock().0, &label);
        Ok(())
    }

    /// Ends an object; all events since the last one are its own.
    fn end_object(&self) {
        let mut built = self.lock();
        let events = built.0.len() - built.1;
        built.0.end_object(events);
        built.1 = built.0.len();
    }

    /// The batch; the builder is empty again.
    fn finish(&self) -> EventBatch {
        EventBatch(Arc::new(std::mem::take(&mut *self.lock()).0))
    }
}

impl BatchBuilder {
    fn lock(&self) -> std::sync::MutexGuard<'_, (Batch, usize)> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
