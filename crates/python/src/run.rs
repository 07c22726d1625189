//! The Python class `Run`, and functions that evaluate a run from a file, from memory or from a mapping.

#![allow(unsafe_code)] // dicts are read where they lie, as long as nothing changes them

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rankscope_core::error::Error;
use rankscope_core::evaluate::scorer::Scorer;
use rankscope_core::evaluate::{held, stream};
use rankscope_core::ids::interner::Ids;
use rankscope_core::ids::vocabulary::Vocabulary;
use rankscope_core::notes::{Note, Notes};
use rankscope_core::policy::ScoreType;
use rankscope_core::rank::run;
use rankscope_core::text::list::{List, Row};
use rankscope_core::text::source::Input;
use rankscope_core::watch;

use super::choices;
use super::column::{Column, Data};
use super::errors::to_python;
use super::evaluation::Evaluation;
use super::input::{Source, input};
use super::judgments::Judgments;
use super::objects::{Number, each_row, entries, read_query, with_list};
use super::plan::Plan;
use super::run_columns::{RunColumns, RunParts};
use super::texts::NoteRows;
use super::watch::Watch;

/// Texts as their offsets and their bytes.
type TextBuffers = (Column, Column);
type Columns = (TextBuffers, Column, TextBuffers, Column);
/// The queries, documents and scores of rows, and how many lines are before each.
type Rows = (TextBuffers, TextBuffers, Column, Column);

/// Texts end to end, for columns of Arrow.
struct TextColumn {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
}

impl Default for TextColumn {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl TextColumn {
    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.offsets.push(self.bytes.len().cast_signed() as i64);
    }

    fn finish(self) -> TextBuffers {
        (Column(Data::Places(self.offsets)), Column(Data::Bytes(self.bytes)))
    }
}

/// A run held in memory.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Run {
    pub(super) run: run::Run,
    /// What messages call it.
    pub(super) name: String,
}

#[pymethods]
impl Run {
    #[staticmethod]
    fn from_path(
        py: Python<'_>,
        source: Source,
        encoding: &str,
        score_type: &str,
        duplicates: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let input = input(py, source, encoding)?;
        let (score_type, duplicates) = (choices::field(score_type)?, choices::field(duplicates)?);
        let work = |watch: watch::Watch<'_>| run::Run::read(&input, score_type, duplicates, watch);
        let run = Watch::new(progress).run(py, work)?;
        Ok(Self { run, name: input.name() })
    }

    /// From a mapping of query to its documents, see `documents`.
    #[staticmethod]
    fn from_dict(lists: &Bound<'_, PyAny>, score_type: &str) -> PyResult<Self> {
        let score_type = choices::field(score_type)?;
        let mut notes = Notes::default();
        let mut run = run::Run::default();
        let mut queries = Ids::default();
        for (query, docs) in entries(lists, "run", "a mapping of query to its documents")? {
            lists.py().check_signals()?;
            let query = read_query(&query, "run", &mut queries, &mut notes)?;
            let add = |list: &mut List<'_>, _| run.add(list, 0);
            // SAFETY: a run only copies a list.
            unsafe { with_list(&query, &docs, score_type, &mut notes, add) }?;
        }
        Self::finish(lists.py(), run, notes)
    }

    /// The same run without the documents that have the identifier of their query.
    fn without_same(&self, py: Python<'_>) -> PyResult<Self> {
        let made = py.detach(|| self.run.without_same());
        let run = made.map_err(|error| to_python(py, &error.file(&self.name)))?;
        Ok(Self { run, name: self.name.clone() })
    }

    /// From columns of queries, documents and scores, which may be ranks below zero, and how many lines
    /// are before each row, if that isn't the number of the row.
    #[staticmethod]
    #[pyo3(signature = (columns, score_type, lines=None))]
    fn from_columns(
        py: Python<'_>,
        columns: RunColumns,
        score_type: &str,
        lines: Option<PyBuffer<i64>>,
    ) -> PyResult<Self> {
        let view = columns.view(py)?;
        let score_type = choices::field(score_type)?;
        let lines = lines.map(|lines| lines.to_vec(py)).transpose()?;
        let made = py.detach(|| run::Run::from_columns(&view.run(), score_type, lines.as_deref()));
        let name = "run".to_owned();
        let made = made.map(|run| Self { run, name });
        made.map_err(|error| to_python(py, &error.file("run")))
    }

    /// How many queries there are.
    fn __len__(&self) -> usize {
        self.run.queries().len()
    }

    fn notes(&self) -> NoteRows {
        self.run.notes().iter().collect()
    }

    /// How many documents there are in all lists.
    fn rows(&self) -> usize {
        self.run.rows()
    }

    /// The queries as offsets and texts, the number of the query of each row, the documents of rows as
    /// offsets and texts, and their scores.
    fn columns(&self, py: Python<'_>) -> Columns {
        py.detach(|| self.to_columns())
    }

    /// Lines of queries from `first` up to `last`, in TREC format.
    fn lines<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        last: usize,
        tag: &str,
    ) -> Bound<'py, PyBytes> {
        let last = last.min(self.run.queries().len());
        let mut lines = Vec::new();
        py.detach(|| self.run.write_lines(first.min(last)..last, tag, &mut lines));
        PyBytes::new(py, &lines)
    }

    /// From rows of query, document and score.
    #[staticmethod]
    fn from_rows(rows: &Bound<'_, PyAny>, score_type: &str) -> PyResult<Self> {
        let score_type: ScoreType = choices::field(score_type)?;
        let mut notes = Notes::default();
        let mut run = run::Run::default();
        each_row(rows, "run", &mut notes, Number::Score, |query, doc, score, line, _| {
            run.add_row(query, &Row { doc, score: score_type.round(score), line });
            Ok(())
        })?;
        Self::finish(rows.py(), run, notes)
    }
}

impl Run {
    fn to_columns(&self) -> Columns {
        let run = &self.run;
        let (mut queries, mut docs) = (TextColumn::default(), TextColumn::default());
        let (mut codes, mut scores) = (Vec::new(), Vec::new());
        for query in 0..run.queries().len() {
            queries.push(run.queries().get(query));
            for row in run.rows_of(query) {
                let (doc, score) = run.row(row);
                docs.push(doc);
                scores.push(score);
                codes.push(query.cast_signed() as i64);
            }
        }
        let (codes, scores) = (Column(Data::Places(codes)), Column(Data::Values(scores)));
        (queries.finish(), codes, docs.finish(), scores)
    }

    fn finish(py: Python<'_>, run: run::Run, notes: Notes) -> PyResult<Self> {
        let name = "run".to_owned();
        let made = run.finish(notes).map(|run| Self { run, name });
        made.map_err(|error| to_python(py, &error.file("run")))
    }
}

/// The text of a run, which is evaluated while it is read, or read as far as memory allows.
#[pyclass(frozen, module = "rankscope._core")]
pub struct RunText {
    input: Input,
    plan: Py<Plan>,
    reader: Mutex<Option<run::RunReader>>,
}

#[pymethods]
impl RunText {
    #[new]
    fn new(py: Python<'_>, source: Source, encoding: &str, plan: Py<Plan>) -> PyResult<Self> {
        let input = input(py, source, encoding)?;
        Ok(Self { input, plan, reader: Mutex::new(None) })
    }

    /// What messages call it.
    #[getter]
    fn name(&self) -> String {
        self.input.name()
    }

    /// The evaluation; nothing if the text can't be read twice, or a query's rows are apart.
    fn evaluate(
        &self,
        py: Python<'_>,
        judgments: &Judgments,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<Evaluation>> {
        let plan = self.plan.get();
        let work = |watch: watch::Watch<'_>| {
            stream::evaluate(&plan.0, &judgments.0, &self.input, threads, watch)
        };
        let made = Watch::new(progress).run(py, work)?;
        Ok(made.map(|made| Evaluation::new(made, plan)))
    }

    /// Reads on until the rows take more than so many bytes; says whether there may be others.
    fn read(&self, py: Python<'_>, size: usize, progress: Option<Py<PyAny>>) -> PyResult<bool> {
        let plan = &self.plan.get().0;
        let work = |watch: watch::Watch<'_>| {
            let mut reader = self.lock();
            if reader.is_none() {
                let opened =
                    run::RunReader::open(&self.input, plan.score_type, plan.duplicates, watch)?;
                *reader = Some(opened);
            }
            reader.as_mut().map_or(Ok(false), |reader| reader.read(size, watch))
        };
        Watch::new(progress).run(py, work)
    }

    /// Takes the rows that were read.
    fn take_rows(&self, py: Python<'_>) -> PyResult<Rows> {
        py.detach(|| self.lock().as_mut().map(|reader| rows_of(&mut reader.run))).ok_or_else(ended)
    }

    /// The rows that were read, as a run.
    fn finish(&self, py: Python<'_>) -> PyResult<Run> {
        let reader = self.lock().take().ok_or_else(ended)?;
        let run = py.detach(|| reader.finish()).map_err(|error| to_python(py, &error))?;
        Ok(Run { run, name: self.input.name() })
    }

    /// Evaluates rows that were taken, all of which were given to `parts`.
    fn finish_parts(&self, py: Python<'_>, parts: &RunParts) -> PyResult<Evaluation> {
        let notes = self.lock().take().ok_or_else(ended)?.into_notes();
        parts.evaluate(py, self.plan.get(), &notes)
    }
}

impl RunText {
    fn lock(&self) -> MutexGuard<'_, Option<run::RunReader>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the run was not read, or taken")
}

fn rows_of(run: &mut run::Run) -> Rows {
    let (mut queries, mut docs) = (TextColumn::default(), TextColumn::default());
    let (mut scores, mut lines) = (Vec::new(), Vec::new());
    run.drain_rows(|query, row| {
        queries.push(query);
        docs.push(row.doc);
        scores.push(row.score);
        lines.push(row.line.cast_signed() - 1);
    });
    let (scores, lines) = (Column(Data::Values(scores)), Column(Data::Places(lines)));
    (queries.finish(), docs.finish(), scores, lines)
}

/// Evaluates a run held in memory.
#[pyfunction]
pub fn evaluate_run(
    py: Python<'_>,
    judgments: &Judgments,
    plan: &Plan,
    run: &Run,
    threads: usize,
) -> PyResult<Evaluation> {
    let work = |watch: watch::Watch<'_>| {
        held::evaluate_run(&plan.0, &judgments.0, &run.run, threads, watch)
            .map_err(|error| error.file(&run.name))
    };
    Watch::new(None).run(py, work).map(|made| Evaluation::new(made, plan))
}

/// Evaluates a mapping of query to its documents, list by list where they lie.
#[pyfunction]
pub fn evaluate_dict(
    judgments: &Judgments,
    plan: &Plan,
    lists: &Bound<'_, PyAny>,
) -> PyResult<Evaluation> {
    let py = lists.py();
    let asked = plan;
    let (judgments, plan) = (&judgments.0, &*plan.0);
    let refuse = |error: Error| to_python(py, &error.file("run"));
    plan.check_lists(judgments.axis()).map_err(refuse)?;
    let mut scorer = Scorer::new(plan, judgments.axis());
    let mut notes = Notes::default();
    let mut queries = Ids::default();
    let mut run_only = Ids::default();
    for (query, docs) in entries(lists, "run", "a mapping of query to its documents")? {
        py.check_signals()?;
        let query = read_query(&query, "run", &mut queries, &mut notes)?;
        let judged = judgments.find_query(&query);
        if judged.is_none() {
            run_only.number(&query);
        }
        let score = |list: &mut List<'_>, is_distinct: bool| match judged {
            Some(judged) if is_distinct => {
                scorer.score_distinct(judgments, judged, list);
                Ok(())
            }
            _ if is_distinct => Ok(()),
            _ => scorer.score(judgments, judged, list),
        };
        // SAFETY: a scorer runs Python code only where it is asked for what it holds. That is done
        // once all lists are read, so that a measure in Python may change them.
        unsafe { with_list(&query, &docs, plan.score_type, &mut notes, score) }?.map_err(refuse)?;
    }
    let scored = scorer.finish();
    let dropped = scored.dropped;
    let run_only = Vocabulary::Texts(run_only);
    let mut made =
        held::finish_run(plan, judgments.axis(), vec![scored], &run_only).map_err(refuse)?;
    made.notes.merge(&notes);
    made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
    Ok(Evaluation::new(made, asked))
}
