//! The Python class `SpilledTable`, a table that is larger than memory.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::choices;
use super::errors::to_python;
use super::evaluation::Evaluation;
use super::plan::Plan;
use super::table::TableColumns;
use super::table_stream::{Finished, name_all};
use crate::error::Error;
use crate::evaluate::spilled::{self, Choices};
use crate::memory::guard;
use crate::table::queue::Spill;

/// Evaluates a table that is larger than memory.
#[pyclass(frozen, module = "rankscope._core")]
pub struct SpilledTable(Mutex<Option<spilled::SpilledTable>>);

#[pymethods]
impl SpilledTable {
    #[new]
    fn new(folder: PathBuf, memory: u64, expected: Option<u64>) -> Self {
        let spill = Spill { folder, memory, expected };
        Self(Mutex::new(Some(spilled::SpilledTable::new(spill))))
    }

    /// Adds rows.
    fn push(&self, py: Python<'_>, columns: TableColumns) -> PyResult<()> {
        guard(|| {
            let table = columns.view(py)?;
            self.with(|spilled| py.detach(|| spilled.push(&table.table())))?
                .map_err(|error| refuse(py, error))
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
    fn evaluate_next(
        &self,
        py: Python<'_>,
        plan: &Plan,
        ties: &str,
        duplicates: &str,
        threads: usize,
    ) -> PyResult<bool> {
        guard(|| {
            let (ties, duplicates) = (choices::field(ties)?, choices::field(duplicates)?);
            let chosen = Choices { plan: &plan.0, ties, duplicates, threads };
            self.with(|spilled| py.detach(|| spilled.evaluate_next(chosen)))?
                .map_err(|error| refuse(py, error))
        })
    }

    fn finish(&self, py: Python<'_>, plan: &Plan) -> PyResult<Finished> {
        guard(|| {
            let spilled = self.0.lock().map_err(|_| ended())?.take().ok_or_else(ended)?;
            let finished = py.detach(|| spilled.finish(&plan.0));
            let (made, names, attributes) = finished.map_err(|error| refuse(py, error))?;
            let (queries, attributes) = name_all(names, attributes);
            Ok((Evaluation::new(made, plan), queries, attributes))
        })
    }
}

impl SpilledTable {
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut spilled::SpilledTable) -> T) -> PyResult<T> {
        let mut spilled = self.0.lock().map_err(|_| ended())?;
        spilled.as_mut().map(act).ok_or_else(ended)
    }
}

fn refuse(py: Python<'_>, error: Error) -> PyErr {
    to_python(py, &error)
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the table was evaluated")
}
