//! Rankings as Python sees them.

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use super::column::{Column, Data, Raw};
use super::table::IdBuffers;
use super::{Evaluation, Judgments, Plan, Run, choices, names, texts, to_python};
use crate::axis::Names;
use crate::ids::Ids;
use crate::rankings;

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
        let (ties, duplicates) = (choices::ties(ties)?, choices::duplicates(duplicates)?);
        let made = py.detach(|| rankings::Rankings::new(&judgments.0, &run.run, ties, duplicates));
        let name = run.name.clone();
        made.map_err(|error| to_python(py, &error.file(&name)))
            .map(|made| Self { made: Arc::new(made), name })
    }

    /// From rows in any order that hold both scores and grades.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // one a column
    fn from_table(
        py: Python<'_>,
        queries: IdBuffers,
        docs: Option<IdBuffers>,
        relevance: PyBuffer<f64>,
        scores: PyBuffer<f64>,
        ranks: Option<PyBuffer<f64>>,
        ties: &str,
        duplicates: &str,
    ) -> PyResult<Self> {
        let queries = queries.copy(py)?;
        let ranks = ranks.map(|ranks| ranks.to_vec(py)).transpose()?;
        let docs = docs.map(|docs| docs.copy(py)).transpose()?;
        let (relevance, scores) = (relevance.to_vec(py)?, scores.to_vec(py)?);
        let (ties, duplicates) = (choices::ties(ties)?, choices::duplicates(duplicates)?);
        let made = py.detach(|| {
            let docs = docs.as_ref().map(|docs| docs.column());
            rankings::Rankings::from_table(
                &rankings::Table { queries: queries.column(), docs, relevance, scores, ranks },
                ties,
                duplicates,
            )
        });
        Self::finish(py, made)
    }

    /// From rows that are together by query already.
    #[staticmethod]
    fn from_groups(
        py: Python<'_>,
        names: Option<Vec<String>>,
        offsets: Vec<usize>,
        relevance: PyBuffer<f64>,
        scores: PyBuffer<f64>,
        ideal: Option<(Vec<usize>, PyBuffer<f64>)>,
        ties: &str,
    ) -> PyResult<Self> {
        let names = match names {
            None => Names::Numbers(offsets.len() - 1),
            Some(names) => {
                let mut ids = Ids::default();
                for name in names {
                    ids.number(name.as_bytes());
                }
                Names::Ids(ids)
            }
        };
        let (relevance, scores) = (relevance.to_vec(py)?, scores.to_vec(py)?);
        let ideal = match ideal {
            None => None,
            Some((offsets, grades)) => Some((offsets, grades.to_vec(py)?)),
        };
        let ties = choices::ties(ties)?;
        let columns = rankings::Columns { names, offsets, relevance, scores, docs: None, ideal };
        let made = py.detach(|| rankings::Rankings::from_columns(columns, ties));
        Self::finish(py, made)
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
            .map(Evaluation)
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
        Ok(Column(Data::OfRankings(Arc::clone(&self.made), of)))
    }

    fn docs(&self) -> Vec<Cow<'_, str>> {
        texts(self.made.docs())
    }
}

impl Rankings {
    fn finish(py: Python<'_>, made: crate::error::Result<rankings::Rankings>) -> PyResult<Self> {
        let name = "table".to_owned();
        made.map(|made| Self { made: Arc::new(made), name: name.clone() })
            .map_err(|error| to_python(py, &error.file(&name)))
    }
}
