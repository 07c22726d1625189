//! The Python class `Plan`.

use std::num::NonZero;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankscope_core::evaluate::plan::{self, Measure};
use rankscope_core::kernels::{self, Gains};

use super::choices;
use super::errors::to_python;
use super::function::Function;
use super::items::Items;
use super::judgments::Judgments;

/// What to evaluate, and how.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Plan(pub(super) Arc<plan::Plan>);

#[derive(FromPyObject)]
struct MeasureRow<'py>(String, String, Bound<'py, PyDict>, bool, (String, Option<f64>));

#[pymethods]
impl Plan {
    #[new]
    #[pyo3(signature = (measures, policy, duplicates, score_type, cutoffs, weights, depth=None, items=None, judged=None))]
    #[allow(clippy::too_many_arguments)] // all that a plan has
    fn new(
        measures: Vec<MeasureRow<'_>>,
        policy: &Bound<'_, PyDict>,
        duplicates: &str,
        score_type: &str,
        cutoffs: Vec<Option<usize>>,
        weights: Option<Vec<f64>>,
        depth: Option<usize>,
        items: Option<&Items>,
        judged: Option<&Judgments>,
    ) -> PyResult<Self> {
        let py = policy.py();
        let policy = choices::read_policy(policy)?;
        let measures =
            measures.into_iter().map(|MeasureRow(name, kernel, params, judged_only, aggregate)| {
                let function = params.get_item("function")?;
                let params = choices::read_params(&params, &policy)?;
                let kernel = match function {
                    Some(function) => Box::new(Function::new(&name, function.unbind(), &params)),
                    None => {
                        kernels::make(&kernel, &params).map_err(|error| to_python(py, &error))?
                    }
                };
                let aggregate = choices::aggregate(&aggregate.0, aggregate.1)?;
                Ok(Measure { name, kernel: kernel.into(), judged_only, aggregate })
            });
        Ok(Self(Arc::new(plan::Plan {
            measures: measures.collect::<PyResult<_>>()?,
            cutoffs: cutoffs.into_iter().map(|k| k.unwrap_or(usize::MAX)).collect(),
            policy,
            duplicates: choices::field(duplicates)?,
            score_type: choices::field(score_type)?,
            weights,
            depth: depth.unwrap_or(usize::MAX),
            items: items.map(|items| Arc::clone(&items.0)),
            judged: judged.map(|judgments| Arc::clone(&judgments.0)),
        })))
    }

    /// The gain of each grade, NaN being unjudged, where a measure is made of gains.
    fn gains(&self, measure: usize, grades: Vec<f64>) -> Option<Vec<f64>> {
        let of = self.gains_of(measure);
        of.map(|of| grades.into_iter().map(|grade| of.of_document(grade)).collect())
    }

    /// What each gain is worth at its rank, where a measure is made of gains.
    fn discounted(
        &self,
        measure: usize,
        gains: Vec<f64>,
        ranks: Vec<NonZero<usize>>,
    ) -> Option<Vec<f64>> {
        let pairs = gains.into_iter().zip(ranks);
        let of = self.gains_of(measure);
        of.map(|of| pairs.map(|(gain, rank)| of.discount(gain, rank.get())).collect())
    }
}

impl Plan {
    fn gains_of(&self, measure: usize) -> Option<&Gains> {
        self.0.measures.get(measure)?.kernel.gains()
    }
}
