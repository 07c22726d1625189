//! Evaluates parts of the queries apart, such as the partitions of a cluster, and merges the answers.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rankscope_core::evaluate::summary;
use rankscope_core::qrels::judgments::Judgments;
use rankscope_core::rank::rankings::Rankings;

use super::cells::Numbers;
use super::choices;
use super::errors::to_python;
use super::evaluation::{Evaluation, QueryCounts};
use super::id_cells::Ids;
use super::plan::Plan;
use super::run_columns::RunColumns;
use super::saved::{Reduced, reduce, restore};
use super::texts::{NoteRows, names};

/// Aggregates, counts and notes of some queries, without their values.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Summary(summary::Summary);

#[pymethods]
impl Summary {
    /// The summary of all queries of several parts, of which there is at least one.
    #[staticmethod]
    fn merge(py: Python<'_>, parts: Vec<PyBackedBytes>) -> PyResult<Self> {
        let mut merged: Option<summary::Summary> = None;
        for part in &parts {
            let part = summary::Summary::restore(part);
            let part = part.map_err(|error| to_python(py, &error))?;
            match &mut merged {
                Some(merged) => merged.merge(&part).map_err(|error| to_python(py, &error))?,
                None => merged = Some(part),
            }
        }
        merged.map(Self).ok_or_else(|| PyValueError::new_err("expected a part"))
    }

    /// The bytes that `merge` takes.
    fn pack<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.save())
    }

    fn means(&self) -> Vec<f64> {
        self.0.means().into_iter().map(|(mean, _)| mean).collect()
    }

    fn denominators(&self) -> Vec<u64> {
        self.0.means().into_iter().map(|(_, count)| count).collect()
    }

    /// As of an evaluation.
    fn counts(&self) -> QueryCounts {
        QueryCounts::new(&self.0.counts, self.0.flat, self.0.candidates.size())
    }

    /// Retrieved and unjudged documents by cutoff.
    fn at_cutoffs(&self) -> Vec<(u64, u64)> {
        self.0.counts.at_cutoffs.clone()
    }

    fn notes(&self) -> NoteRows {
        self.0.notes.iter().collect()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduce(py, "restore_summary", &self.0.save())
    }

    /// Itself, for it can't be changed.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}

/// A summary from the bytes that `__reduce__` gave.
#[pyfunction]
pub(super) fn restore_summary(py: Python<'_>, saved: &[u8]) -> PyResult<Summary> {
    restore(py, saved, summary::Summary::restore).map(Summary)
}

/// The summary of an evaluation, packed; see `Summary`.
#[pyfunction]
pub(super) fn summarize<'py>(py: Python<'py>, evaluation: &Evaluation) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &evaluation.made.summarize(&evaluation.averaging).save())
}

/// The summary of each group of queries, packed, without counts and notes; `groups` says which group
/// each query is in.
#[pyfunction]
pub(super) fn summarize_groups<'py>(
    py: Python<'py>,
    evaluation: &Evaluation,
    groups: Vec<u32>,
    count: usize,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let mut members = vec![Vec::new(); count];
    for (query, &group) in groups.iter().enumerate() {
        members[group as usize].push(query);
    }
    let of = |queries: &Vec<usize>| {
        let queries = queries.iter().copied();
        let made = evaluation.made.summarize_values(&evaluation.averaging, queries);
        Ok(PyBytes::new(py, &made.save()))
    };
    members.iter().map(of).collect()
}

/// An evaluation, what its queries are called, and the notes on the judgments.
type Answer = (Evaluation, Vec<String>, NoteRows);

/// Evaluates a part of a run against its part of the judgments; either may be empty.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // how columns are read
pub(super) fn evaluate_part(
    py: Python<'_>,
    judged: (Ids, Ids, Numbers),
    run: RunColumns,
    plan: &Plan,
    ties: &str,
    duplicates: &str,
    score_type: &str,
    threads: usize,
) -> PyResult<Answer> {
    let plan_of = &plan.0;
    let chosen = (choices::field(ties)?, choices::field(duplicates)?, choices::field(score_type)?);
    let (queries, docs, grades) = (judged.0.view(py)?, judged.1.view(py)?, judged.2.view()?);
    let of_judged = choices::field(duplicates)?;
    let judgments = py.detach(|| {
        if queries.column().is_empty() {
            return Ok(Judgments::none());
        }
        let (queries, docs) = (queries.column(), docs.column());
        Judgments::from_columns(queries, docs, &grades, of_judged, threads)
    });
    let judgments = Arc::new(judgments.map_err(|error| to_python(py, &error.file("qrels")))?);
    let run = run.view(py)?;
    let made = py.detach(|| {
        Rankings::from_part(&judgments, &run.run(), chosen, threads)?
            .evaluate_part(plan_of, threads)
    });
    let made = made.map_err(|error| to_python(py, &error.file("run")))?;
    let notes = judgments.notes().iter().collect();
    Ok((Evaluation::new(made, plan), names(judgments.axis()), notes))
}
