//! The Python classes `RunParts` and `SpilledColumns`, which take a run of columns batch by batch.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::cells::{Doubles, Numbers};
use super::errors::to_python;
use super::evaluation::Evaluation;
use super::id_cells::Ids;
use super::judgments::Judgments;
use super::pieces::RunCells;
use super::plan::Plan;
use super::table::IdView;
use crate::error::Error;
use crate::evaluate::{run_parts, spilled_columns};
use crate::memory::guard;
use crate::rank::join_columns;
use crate::table::queue::Spill;

/// The columns of a run: queries, documents, scores and whether they are ranks below zero.
#[derive(FromPyObject)]
pub(super) struct RunColumns(Ids, Ids, Numbers, bool);

/// The same to be read.
pub(super) struct RunView<'a> {
    queries: IdView<'a>,
    docs: IdView<'a>,
    scores: Doubles<'a>,
    are_ranks: bool,
}

impl RunColumns {
    pub(super) fn view(&self, py: Python<'_>) -> PyResult<RunView<'_>> {
        let Self(queries, docs, scores, are_ranks) = self;
        let (queries, docs) = (queries.view(py)?, docs.view(py)?);
        Ok(RunView { queries, docs, scores: scores.view()?, are_ranks: *are_ranks })
    }

    fn cells(&self) -> PyResult<RunCells<'_>> {
        let Self(queries, docs, scores, are_ranks) = self;
        let (queries, docs) = (queries.cells()?, docs.cells()?);
        Ok(RunCells { queries, docs, scores: scores.view()?, are_ranks: *are_ranks })
    }
}

impl RunView<'_> {
    pub(super) fn run(&self) -> join_columns::RunColumns<'_> {
        join_columns::RunColumns {
            queries: self.queries.column(),
            docs: self.docs.column(),
            scores: &self.scores,
            are_ranks: self.are_ranks,
        }
    }
}

/// Evaluates a run batch by batch, each with all rows of its queries.
#[pyclass(frozen, module = "rankscope._core")]
pub struct RunParts(pub(super) Mutex<Option<run_parts::RunParts>>);

#[pymethods]
impl RunParts {
    #[new]
    fn new(judgments: &Judgments) -> PyResult<Self> {
        guard(|| Ok(Self(Mutex::new(Some(run_parts::RunParts::new(&judgments.0))))))
    }

    /// Evaluates all rows of some more queries; says whether none of the queries came before.
    fn push(
        &self,
        py: Python<'_>,
        plan: &Plan,
        columns: RunColumns,
        threads: usize,
    ) -> PyResult<bool> {
        guard(|| {
            let mut parts = self.0.lock().map_err(|_| ended())?;
            let parts = parts.as_mut().ok_or_else(ended)?;
            let cells = columns.cells()?;
            if parts.rows() == 0 && cells.are_many_texts() {
                let mut made = parts.begin_anew();
                if py.detach(|| cells.push_to(&mut made, &plan.0, threads)) {
                    *parts = made;
                    return Ok(true);
                }
            }
            let view = columns.view(py)?;
            py.detach(|| parts.push(&plan.0, &view.run(), threads))
                .map_err(|error| refuse(py, &error))
        })
    }

    fn finish(&self, py: Python<'_>, plan: &Plan) -> PyResult<Evaluation> {
        guard(|| {
            let parts = self.0.lock().map_err(|_| ended())?.take().ok_or_else(ended)?;
            let made = py.detach(|| parts.finish(&plan.0)).map_err(|error| refuse(py, &error))?;
            Ok(Evaluation::new(made, plan))
        })
    }
}

/// Evaluates a run that is larger than memory.
#[pyclass(frozen, module = "rankscope._core")]
pub struct SpilledColumns(Mutex<Option<spilled_columns::SpilledColumns>>);

#[pymethods]
impl SpilledColumns {
    #[new]
    fn new(
        judgments: &Judgments,
        folder: PathBuf,
        memory: u64,
        expected: Option<u64>,
    ) -> PyResult<Self> {
        guard(|| {
            let spill = Spill { folder, memory, expected };
            let made = spilled_columns::SpilledColumns::new(&judgments.0, spill);
            Ok(Self(Mutex::new(Some(made))))
        })
    }

    /// Adds rows.
    fn push(&self, py: Python<'_>, columns: RunColumns) -> PyResult<()> {
        guard(|| {
            let view = columns.view(py)?;
            self.with(|spilled| py.detach(|| spilled.push(&view.run())))?
                .map_err(|error| refuse(py, &error))
        })
    }

    /// The bytes written to files so far.
    fn written(&self) -> PyResult<u64> {
        self.with(|spilled| spilled.rows().written())
    }

    /// The rows evaluated so far, and all rows.
    fn progress(&self) -> PyResult<(u64, u64)> {
        self.with(|spilled| spilled.rows().progress())
    }

    /// Evaluates another part of the rows; false if there is none.
    fn evaluate_next(&self, py: Python<'_>, plan: &Plan, threads: usize) -> PyResult<bool> {
        guard(|| {
            self.with(|spilled| py.detach(|| spilled.evaluate_next(&plan.0, threads)))?
                .map_err(|error| refuse(py, &error))
        })
    }

    /// Raises the first mistake in the rows, once all of them were evaluated.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.with(spilled_columns::SpilledColumns::check)?.map_err(|error| refuse(py, &error))
    }

    fn finish(&self, py: Python<'_>, plan: &Plan) -> PyResult<Evaluation> {
        guard(|| {
            let spilled = self.0.lock().map_err(|_| ended())?.take().ok_or_else(ended)?;
            let made = py.detach(|| spilled.finish(&plan.0)).map_err(|error| refuse(py, &error))?;
            Ok(Evaluation::new(made, plan))
        })
    }
}

impl SpilledColumns {
    pub(super) fn with<T>(
        &self,
        act: impl FnOnce(&mut spilled_columns::SpilledColumns) -> T,
    ) -> PyResult<T> {
        let mut spilled = self.0.lock().map_err(|_| ended())?;
        spilled.as_mut().map(act).ok_or_else(ended)
    }
}

fn refuse(py: Python<'_>, error: &Error) -> PyErr {
    to_python(py, error)
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the run was evaluated")
}
