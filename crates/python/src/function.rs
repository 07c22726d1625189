//! Measures that are written in Python.

use pyo3::prelude::*;
use rankscope_core::error::{Error, Kind, Result};
use rankscope_core::kernels::{Batched, Kernel, Lists, Needs, Params, Query};

use super::column::{Column, Data};

/// A measure that calls a Python function with the lists of many queries.
pub(super) struct Function {
    name: String,
    call: Py<PyAny>,
    k: usize,
    negative_gain: bool,
    unjudged: f64,
    min_max: bool,
}

impl Function {
    pub(super) fn new(name: &str, call: Py<PyAny>, params: &Params) -> Self {
        Self {
            name: name.to_owned(),
            call,
            k: params.k.unwrap_or(usize::MAX),
            negative_gain: params.negative_gain,
            unjudged: params.unjudged_gain,
            min_max: params.min_max,
        }
    }

    fn fail(&self, raised: &PyErr) -> Error {
        Error::new(Kind::Measure, "function_failed", format!("{}: {raised}", self.name))
            .hint("fix the function of the measure")
    }
}

impl Kernel for Function {
    /// Lists are evaluated in batches.
    fn value(&self, _query: &Query<'_>) -> f64 {
        f64::NAN
    }

    fn batched(&self) -> Option<&dyn Batched> {
        Some(self)
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Batches
    }

    fn check(&self, _grades: &[f64]) -> Result<()> {
        if !self.min_max {
            return Ok(());
        }
        let message =
            format!("expected negative=\"gain\" or another, found \"minmax\" with {}", self.name);
        Err(Error::new(Kind::Policy, "minmax_unavailable", message)
            .hint("it changes how nDCG is computed, which no other measure has"))
    }
}

impl Batched for Function {
    fn add(&self, query: &Query<'_>, lists: &mut Lists) {
        let negative_gain = self.negative_gain;
        let gain = |grade: f64| if grade < 0.0 && !negative_gain { 0.0 } else { grade };
        lists.add(query, self.k, self.unjudged, gain);
    }

    fn values(&self, lists: Lists) -> Result<Vec<f64>> {
        let count = lists.ends.len();
        let Lists { ends, gains, ideal_ends, ideal } = lists;
        Python::attach(|py| -> PyResult<Vec<f64>> {
            let columns = [
                Data::Places(ends),
                Data::Values(gains),
                Data::Places(ideal_ends),
                Data::Values(ideal),
            ];
            let [ends, gains, ideal_ends, ideal] = columns.map(Column);
            self.call.call1(py, (ends, gains, ideal_ends, ideal))?.extract(py)
        })
        .map_err(|raised| self.fail(&raised))
        .and_then(|values| {
            if values.len() == count {
                return Ok(values);
            }
            let found = values.len();
            let message = format!("{}: expected {count} values, found {found}", self.name);
            Err(Error::new(Kind::Measure, "function_failed", message)
                .hint("return one value for each list"))
        })
    }
}
