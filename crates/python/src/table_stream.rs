//! The Python class `TableStream`, which takes a table batch by batch.

use std::sync::Mutex;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rankscope_core::evaluate::table_stream;
use rankscope_core::ids::vocabulary::Vocabulary;
use rankscope_core::qrels::attributes::Attributes;
use rankscope_core::qrels::axis::Names;

use super::choices;
use super::errors::to_python;
use super::evaluation::Evaluation;
use super::plan::Plan;
use super::table::TableColumns;
use super::texts::text;

/// Evaluates a table batch by batch.
#[pyclass(frozen, module = "rankscope._core")]
pub struct TableStream(pub(super) Mutex<Option<table_stream::TableStream>>);

/// An evaluation, the queries, and of each attribute its values and which of them each query has.
type Finished = (Evaluation, Vec<String>, AttributeRows);

/// Of each attribute its name, its values and which of them each query has.
type AttributeRows = Vec<(String, Vec<String>, Vec<u32>)>;

#[pymethods]
impl TableStream {
    #[new]
    fn new() -> Self {
        Self(Mutex::new(Some(table_stream::TableStream::default())))
    }

    /// Evaluates all rows of some more queries; says whether none of the queries came before, and,
    /// where that is asked, whether the rows of each are together.
    #[allow(clippy::too_many_arguments)] // how a table is read
    fn push(
        &self,
        py: Python<'_>,
        plan: &Plan,
        columns: TableColumns,
        ties: &str,
        duplicates: &str,
        is_grouped: bool,
        threads: usize,
    ) -> PyResult<bool> {
        let chosen = (choices::field(ties)?, choices::field(duplicates)?);
        let table = columns.view(py)?;
        let mut stream = self.0.lock().map_err(|_| ended())?;
        let stream = stream.as_mut().ok_or_else(ended)?;
        py.detach(|| stream.push(&plan.0, &table.table(), chosen, is_grouped, threads))
            .map_err(|error| to_python(py, &error.file("table")))
    }

    /// The evaluation of all queries, in this order of their numbers, if there is one.
    fn finish(&self, plan: &Plan, order: Option<Vec<u32>>) -> PyResult<Option<Finished>> {
        let stream = self.0.lock().map_err(|_| ended())?.take().ok_or_else(ended)?;
        let finished = stream.finish(&plan.0, order.as_deref());
        let Some((made, names, attributes)) = finished else { return Ok(None) };
        let (queries, attributes) = name_all(names, attributes);
        Ok(Some((Evaluation::new(made, plan), queries, attributes)))
    }
}

/// The queries and the attributes of each, as texts.
fn name_all(names: Vocabulary, attributes: Attributes) -> (Vec<String>, AttributeRows) {
    let names = Names::Known(names);
    let queries = (0..names.len()).map(|query| text(&names.get(query))).collect();
    let attributes = attributes.into_iter().map(|attribute| {
        let values = &attribute.values;
        let texts = (0..values.len()).map(|value| text(&values.get(value))).collect();
        (attribute.name, texts, attribute.codes)
    });
    (queries, attributes.collect())
}

pub(super) fn ended() -> PyErr {
    PyRuntimeError::new_err("the stream has ended")
}
