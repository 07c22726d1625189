//! The Python class `Rankings`.

use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use rankscope_core::evaluate::samples;
use rankscope_core::notes::Notes;
use rankscope_core::qrels::attributes::{Attribute, Attributes};
use rankscope_core::qrels::axis::Names;
use rankscope_core::qrels::grades::Grades;
use rankscope_core::rank::rankings;
use rankscope_core::rank::rows::Columns;

use super::choices;
use super::column::{Column, Data, Raw};
use super::errors::to_python;
use super::evaluation::Evaluation;
use super::judgments::Judgments;
use super::plan::Plan;
use super::run::Run;
use super::run_columns::RunColumns;
use super::saved::{Reduced, reduce, restore};
use super::table::TableColumns;
use super::texts::{names, text};

/// A run joined with its judgments, in rank order.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Rankings {
    pub(super) made: Arc<rankings::Rankings>,
    /// What messages call the run.
    name: String,
}

#[pymethods]
impl Rankings {
    #[new]
    fn new(
        py: Python<'_>,
        judgments: &Judgments,
        run: &Run,
        ties: &str,
        duplicates: &str,
    ) -> PyResult<Self> {
        let (ties, duplicates) = (choices::field(ties)?, choices::field(duplicates)?);
        let made = py.detach(|| rankings::Rankings::new(&judgments.0, &run.run, ties, duplicates));
        let name = run.name.clone();
        made.map_err(|error| to_python(py, &error.file(&name)))
            .map(|made| Self { made: Arc::new(made), name })
    }

    /// From columns of queries, documents and scores.
    #[staticmethod]
    fn from_pairs(
        py: Python<'_>,
        judgments: &Judgments,
        columns: RunColumns,
        ties: &str,
        duplicates: &str,
        score_type: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let view = columns.view(py)?;
        let chosen =
            (choices::field(ties)?, choices::field(duplicates)?, choices::field(score_type)?);
        let made = py
            .detach(|| rankings::Rankings::from_pairs(&judgments.0, &view.run(), chosen, threads));
        Self::finish(py, made, "run")
    }

    /// From rows in any order that hold both scores and grades.
    #[staticmethod]
    fn from_table(
        py: Python<'_>,
        columns: TableColumns,
        ties: &str,
        duplicates: &str,
        numbers_docs: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let table = columns.view(py)?;
        let choices = (choices::field(ties)?, choices::field(duplicates)?);
        let made = py.detach(|| {
            rankings::Rankings::from_table(&table.table(), choices, numbers_docs, threads)
        });
        Self::finish(py, made, "table")
    }

    /// From rows that are together by query already.
    #[staticmethod]
    fn from_groups(
        py: Python<'_>,
        offsets: PyBuffer<i64>,
        relevance: PyBuffer<f64>,
        scores: PyBuffer<f64>,
        ideal: Option<(PyBuffer<i64>, PyBuffer<f64>)>,
        ties: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let (relevance, scores) = (relevance.to_vec(py)?, scores.to_vec(py)?);
        let ideal = match ideal {
            None => None,
            Some((offsets, grades)) => Some((read_offsets(py, &offsets)?, grades.to_vec(py)?)),
        };
        let ties = choices::field(ties)?;
        let offsets = read_offsets(py, &offsets)?;
        let columns = Columns {
            names: Names::Numbers(offsets.len() - 1),
            offsets,
            relevance: Grades::Doubles(relevance),
            scores,
            are_ranks: false,
            docs: None,
            ideal,
            is_grouped: true,
            attributes: Attributes::default(),
            notes: Notes::default(),
        };
        let made = py.detach(|| rankings::Rankings::from_columns(columns, ties, threads));
        Self::finish(py, made, "arrays")
    }

    /// What the queries are called, in order.
    fn query_ids(&self) -> Vec<String> {
        names(self.made.axis())
    }

    fn find(&self, query: &str) -> Option<usize> {
        self.made.axis().find(query.as_bytes())
    }

    /// The different grades, ascending.
    fn grades(&self) -> Vec<f64> {
        self.made.axis().grades().to_vec()
    }

    fn evaluate(&self, py: Python<'_>, plan: &Plan, threads: usize) -> PyResult<Evaluation> {
        py.detach(|| self.made.evaluate(&plan.0, threads))
            .map(|made| Evaluation::new(made, plan))
            .map_err(|error| to_python(py, &error.file(&self.name)))
    }

    /// The values of the first measure of a plan at ascending cutoffs, query by query.
    fn values_at(
        &self,
        py: Python<'_>,
        plan: &Plan,
        cutoffs: PyBuffer<i64>,
    ) -> PyResult<Option<Column>> {
        let cutoffs = read_offsets(py, &cutoffs)?;
        let values = py.detach(|| self.made.values_at(&plan.0, &cutoffs));
        values
            .map(|values| values.map(|values| Column(Data::Values(values))))
            .map_err(|error| to_python(py, &error.file(&self.name)))
    }

    fn column(&self, name: &str) -> PyResult<Column> {
        let of: fn(&rankings::Rankings) -> Raw = match name {
            "offsets" => |made| Raw::of(made.offsets(), "q"),
            "relevance" => |made| Raw::of(made.relevance(), "d"),
            "scores" => |made| Raw::of(made.scores(), "d"),
            "doc_codes" => |made| Raw::of(made.codes(), "I"),
            "ideal_offsets" => |made| Raw::of(made.axis().offsets(), "q"),
            "ideal" => |made| Raw::of(made.axis().all_ideals(), "d"),
            other => return Err(PyKeyError::new_err(other.to_owned())),
        };
        Ok(Column::of(&self.made, of))
    }

    /// What the documents of a query are called, in rank order.
    fn doc_ids(&self, query: usize) -> Vec<String> {
        let rows = self.made.offsets()[query]..self.made.offsets()[query + 1];
        let codes = self.made.codes().get(rows).unwrap_or_default();
        codes.iter().map(|&code| text(&self.made.docs().get(code))).collect()
    }

    /// The different values of an attribute, and which of them each query has.
    fn attribute(&self, name: &str) -> Option<(Vec<String>, Vec<u32>)> {
        let found = self.made.attributes().get(name);
        found.map(|Attribute { values, codes, .. }| {
            ((0..values.len()).map(|value| text(&values.get(value))).collect(), codes.clone())
        })
    }

    /// The names of the attributes.
    fn attributes(&self) -> Vec<String> {
        self.made.attributes().names().map(str::to_owned).collect()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduce(py, "restore_rankings", &self.made.save(&self.name))
    }

    /// Itself, for it can't be changed.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}

/// Evaluates several rankings of the same queries, any of which is shown with the same probability.
#[pyfunction]
pub(super) fn evaluate_samples(
    py: Python<'_>,
    samples: Vec<PyRef<'_, Rankings>>,
    plan: &Plan,
    threads: usize,
) -> PyResult<Evaluation> {
    let made: Vec<Arc<rankings::Rankings>> =
        samples.iter().map(|sample| Arc::clone(&sample.made)).collect();
    let name = samples.first().map_or("", |sample| &sample.name);
    py.detach(|| {
        let samples: Vec<&rankings::Rankings> = made.iter().map(|sample| &**sample).collect();
        samples::evaluate_samples(&samples, &plan.0, threads)
    })
    .map(|made| Evaluation::new(made, plan))
    .map_err(|error| to_python(py, &error.file(name)))
}

/// Rankings from the bytes that `__reduce__` gave.
#[pyfunction]
pub fn restore_rankings(py: Python<'_>, saved: &[u8]) -> PyResult<Rankings> {
    restore(py, saved, |bytes| {
        let (name, made) = rankings::Rankings::restore(bytes)?;
        Ok(Rankings { made: Arc::new(made), name })
    })
}

impl Rankings {
    fn finish(
        py: Python<'_>,
        made: rankscope_core::error::Result<rankings::Rankings>,
        name: &str,
    ) -> PyResult<Self> {
        let name = name.to_owned();
        made.map(|made| Self { made: Arc::new(made), name: name.clone() })
            .map_err(|error| to_python(py, &error.file(&name)))
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // they begin with 0 and ascend
fn read_offsets(py: Python<'_>, offsets: &PyBuffer<i64>) -> PyResult<Vec<usize>> {
    Ok(offsets.to_vec(py)?.into_iter().map(|offset| offset as usize).collect())
}
