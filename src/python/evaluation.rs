//! The Python class `Evaluation`: values, means and intervals.

use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::choices::choose;
use super::column::{Column, Data};
use super::errors::to_python;
use super::plan::Plan;
use super::texts::NoteRows;
use super::watch::Watch;
use crate::evaluate::{evaluation, plan};
use crate::memory::{Vec, guard, vec};
use crate::number::aggregate::Part;
use crate::policy::Aggregate;
use crate::resample::interval::{self, Level, Method, interval};

/// The values of all measures.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Evaluation {
    made: evaluation::Evaluation,
    plan: Arc<plan::Plan>,
}

impl Evaluation {
    pub(super) fn new(made: evaluation::Evaluation, plan: &Plan) -> Self {
        Self { made, plan: Arc::clone(&plan.0) }
    }
}

#[pymethods]
impl Evaluation {
    fn values(&self, measure: usize) -> PyResult<Column> {
        guard(|| {
            let values = self.made.values.get(measure).cloned();
            values
                .map(|values| Column(Data::Values(values)))
                .ok_or_else(|| PyKeyError::new_err(measure))
        })
    }

    fn means(&self) -> PyResult<Vec<f64>> {
        guard(|| Ok(self.made.means.clone()))
    }

    fn denominators(&self) -> PyResult<Vec<u64>> {
        guard(|| Ok(self.made.denominators.clone()))
    }

    /// queries, evaluated, empty, missing, `run_only`, tied, flat.
    fn counts(&self) -> [u64; 7] {
        let counts = &self.made.counts;
        [
            counts.queries,
            counts.evaluated,
            counts.empty,
            counts.missing,
            counts.run_only,
            counts.tied,
            self.made.flat,
        ]
    }

    /// Retrieved and unjudged documents by cutoff.
    fn at_cutoffs(&self) -> PyResult<Vec<(u64, u64)>> {
        guard(|| Ok(self.made.counts.at_cutoffs.clone()))
    }

    fn is_present<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let is_present = &self.made.is_present;
        PyBytes::new_with(py, is_present.len(), |bytes| {
            bytes.iter_mut().zip(is_present).for_each(|(byte, &is)| *byte = u8::from(is));
            Ok(())
        })
    }

    fn notes(&self) -> NoteRows {
        self.made.notes.iter().collect()
    }

    /// The same values, with other weights of the queries.
    fn reweigh(&self, py: Python<'_>, weights: Vec<f64>) -> PyResult<Self> {
        guard(|| {
            let plan = self.plan.with_weights(weights).map_err(|error| to_python(py, &error))?;
            let mut made = self.made.clone();
            made.aggregate(&plan);
            Ok(Self { made, plan: Arc::new(plan) })
        })
    }

    /// The aggregate of each measure over the queries of each group, with its denominator; `groups`
    /// says which group each query is in.
    fn over(&self, groups: Vec<u32>, count: usize) -> PyResult<Vec<Vec<(f64, u64)>>> {
        guard(|| {
            let members = members(&groups, count);
            let over = |column| {
                let mean = |queries: &Vec<usize>| {
                    self.made.mean_over(&self.plan, column, queries.iter().copied())
                };
                members.iter().map(mean).collect()
            };
            Ok((0..self.plan.measures.len()).map(over).collect())
        })
    }

    /// An interval around the aggregate of each measure over the queries of each group.
    #[allow(clippy::too_many_arguments)] // the choices of an interval
    fn intervals(
        &self,
        py: Python<'_>,
        groups: Vec<u32>,
        count: usize,
        level: f64,
        method: &str,
        resamples: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Vec<Vec<(f64, f64)>>> {
        guard(|| {
            let method = read_method(method, resamples, seed)?;
            let members = members(&groups, count);
            Watch::new(None).run(py, |watch| {
                let mut all = Vec::new();
                for (column, measure) in self.plan.measures.iter().enumerate() {
                    let mut of_groups = Vec::with_capacity(count);
                    for queries in &members {
                        let parts = self.made.parts(&self.plan, column, queries.iter().copied());
                        let aggregate = measure.aggregate;
                        of_groups.push(interval(
                            aggregate,
                            &parts,
                            Level(level),
                            method,
                            threads,
                            watch,
                        )?);
                    }
                    all.push(of_groups);
                }
                Ok(all)
            })
        })
    }
}

/// An interval around the mean of values that weigh differently.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the choices of an interval
pub(super) fn interval_of_mean(
    py: Python<'_>,
    values: Vec<f64>,
    weights: Vec<f64>,
    level: f64,
    method: &str,
    resamples: usize,
    seed: u64,
    threads: usize,
) -> PyResult<(f64, f64)> {
    guard(|| {
        let method = read_method(method, resamples, seed)?;
        let part = |(value, weight)| Part { value, weight, ratio: (value, 1.0) };
        let parts: Vec<Part> = values.into_iter().zip(weights).map(part).collect();
        Watch::new(None).run(py, |watch| {
            interval(Aggregate::Mean, &parts, Level(level), method, threads, watch)
        })
    })
}

/// How many standard errors wide half of Student's interval is.
#[pyfunction]

pub(super) fn t_quantile(level: f64, degrees: f64) -> f64 {
    interval::t_quantile(Level(level), degrees)
}

fn read_method(name: &str, resamples: usize, seed: u64) -> PyResult<Method> {
    choose(name, &[("t", Method::Student), ("bca", Method::Bootstrap { resamples, seed })])
}

/// The queries of each group.
fn members(groups: &[u32], count: usize) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); count];
    for (query, &group) in groups.iter().enumerate() {
        members[group as usize].push(query);
    }
    members
}
