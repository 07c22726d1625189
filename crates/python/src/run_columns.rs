//! The Python classes `RunParts` and `SpilledColumns`, which take a run of columns batch by batch.

use std::sync::Mutex;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rankscope_core::error::Error;
use rankscope_core::evaluate::run_parts;
use rankscope_core::notes::Notes;
use rankscope_core::rank::join_columns;

use super::cells::{Doubles, Numbers};
use super::errors::to_python;
use super::evaluation::Evaluation;
use super::id_cells::Ids;
use super::judgments::Judgments;
use super::pieces::RunCells;
use super::plan::Plan;
use super::table::IdView;

/// The columns of a run: queries, documents, scores and whether they are ranks below zero, ranks.
#[derive(FromPyObject)]
pub(super) struct RunColumns(Ids, Ids, Numbers, bool, Option<Numbers>);

/// The same to be read.
pub(super) struct RunView<'a> {
    queries: IdView<'a>,
    docs: IdView<'a>,
    scores: Doubles<'a>,
    are_ranks: bool,
    ranks: Option<Doubles<'a>>,
}

impl RunColumns {
    pub(super) fn view(&self, py: Python<'_>) -> PyResult<RunView<'_>> {
        let Self(queries, docs, scores, are_ranks, ranks) = self;
        let (queries, docs) = (queries.view(py)?, docs.view(py)?);
        let ranks = ranks.as_ref().map(Numbers::view).transpose()?;
        Ok(RunView { queries, docs, scores: scores.view()?, are_ranks: *are_ranks, ranks })
    }

    fn cells(&self) -> PyResult<RunCells<'_>> {
        let Self(queries, docs, scores, are_ranks, ranks) = self;
        let (queries, docs) = (queries.cells()?, docs.cells()?);
        let ranks = ranks.as_ref().map(Numbers::view).transpose()?;
        Ok(RunCells { queries, docs, scores: scores.view()?, are_ranks: *are_ranks, ranks })
    }
}

impl RunView<'_> {
    pub(super) fn run(&self) -> join_columns::RunColumns<'_> {
        join_columns::RunColumns {
            queries: self.queries.column(),
            docs: self.docs.column(),
            scores: &self.scores,
            are_ranks: self.are_ranks,
            ranks: self.ranks.as_ref().map(|ranks| ranks as _),
        }
    }
}

/// Evaluates a run batch by batch, each with all rows of its queries.
#[pyclass(frozen, module = "rankscope._core")]
pub struct RunParts(pub(super) Mutex<Option<run_parts::RunParts>>);

#[pymethods]
impl RunParts {
    #[new]
    fn new(judgments: &Judgments) -> Self {
        Self(Mutex::new(Some(run_parts::RunParts::new(&judgments.0))))
    }

    /// Evaluates all rows of some more queries, which have these numbers, or follow those before; says
    /// whether none of the queries came before.
    fn push(
        &self,
        py: Python<'_>,
        plan: &Plan,
        columns: RunColumns,
        threads: usize,
        numbers: Option<PyBuffer<i64>>,
    ) -> PyResult<bool> {
        let numbers = numbers.map(|numbers| numbers.to_vec(py)).transpose()?;
        let mut parts = self.0.lock().map_err(|_| ended())?;
        let parts = parts.as_mut().ok_or_else(ended)?;
        let cells = columns.cells()?;
        if numbers.is_none() && parts.rows() == 0 && cells.are_many_texts() {
            let mut made = parts.begin_anew();
            if py.detach(|| cells.push_to(&mut made, &plan.0, threads)) {
                *parts = made;
                return Ok(true);
            }
        }
        let view = columns.view(py)?;
        py.detach(|| parts.push(&plan.0, &view.run(), threads, numbers.as_deref()))
            .map_err(|error| refuse(py, &error))
    }

    fn finish(&self, py: Python<'_>, plan: &Plan) -> PyResult<Evaluation> {
        self.evaluate(py, plan, &Notes::default())
    }
}

impl RunParts {
    /// The evaluation of all rows, with what was seen while they were read.
    pub(super) fn evaluate(
        &self,
        py: Python<'_>,
        plan: &Plan,
        notes: &Notes,
    ) -> PyResult<Evaluation> {
        let mut parts = self.0.lock().map_err(|_| ended())?.take().ok_or_else(ended)?;
        parts.note(notes);
        let made = py.detach(|| parts.finish(&plan.0)).map_err(|error| refuse(py, &error))?;
        Ok(Evaluation::new(made, plan))
    }
}

fn refuse(py: Python<'_>, error: &Error) -> PyErr {
    to_python(py, error)
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the run was evaluated")
}
