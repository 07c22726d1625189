//! Lines of values as `trec_eval` prints them, for Python.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rankscope_core::evaluate::lines::{Form, Printed, add_in_order, add_logarithms, write_lines};

use super::choices::choose;
use super::judgments::Judgments;

const FORMS: [(&str, Form); 3] =
    [("value", Form::Value), ("count", Form::Count), ("text", Form::Text)];

/// Values by query, to print and to add in an order of the queries.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Lines {
    measures: Vec<Measure>,
    /// Queries in the order in which they are printed.
    order: Vec<u32>,
}

struct Measure {
    name: String,
    form: Form,
    columns: Vec<Vec<f64>>,
}

#[derive(FromPyObject)]
struct Row(String, String, Vec<PyBuffer<f64>>);

#[pymethods]
impl Lines {
    #[new]
    fn new(py: Python<'_>, measures: Vec<Row>, order: Vec<u32>) -> PyResult<Self> {
        let measures = measures.into_iter().map(|Row(name, form, columns)| {
            let columns = columns.iter().map(|column| column.to_vec(py));
            let columns = columns.collect::<PyResult<Vec<_>>>()?;
            Ok(Measure { name, form: choose(&form, &FORMS)?, columns })
        });
        Ok(Self { measures: measures.collect::<PyResult<_>>()?, order })
    }

    /// The lines of some of the queries, from one place in the order to another.
    fn write<'py>(
        &self,
        py: Python<'py>,
        judgments: &Judgments,
        start: usize,
        end: usize,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let printed = self.measures.iter().map(|measure| Printed {
            name: &measure.name,
            form: measure.form,
            columns: measure.columns.iter().map(|column| &column[..]).collect(),
        });
        let printed: Vec<Printed<'_>> = printed.collect();
        let queries = &self.order[start..end.min(self.order.len())];
        let axis = judgments.0.axis();
        let name = |query: usize| axis.name(query);
        let parts = py.detach(|| write_lines(&printed, queries, name, threads));
        PyBytes::new_with(py, parts.iter().map(Vec::len).sum(), |mut out| {
            for part in &parts {
                let (place, rest) = out.split_at_mut(part.len());
                place.copy_from_slice(part);
                out = rest;
            }
            Ok(())
        })
    }

    /// By measure, the sum of its values in this order, and that of their logarithms.
    fn sums(&self) -> Vec<(f64, f64)> {
        let sums = self.measures.iter().map(|measure| {
            let values = &measure.columns[0];
            (add_in_order(values, &self.order), add_logarithms(values, &self.order))
        });
        sums.collect()
    }
}
