//! Python functions for bounds, ties and regrets.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rankscope_core::error::Result;
use rankscope_core::explain::bounds::{self, Bounds};
use rankscope_core::explain::{regrets, ties};

use super::column::{Column, Data};
use super::errors::to_python;
use super::plan::Plan;
use super::rankings::Rankings;

fn numbers(values: impl Iterator<Item = f64>) -> Column {
    Column(Data::Values(values.collect()))
}

fn counts(values: impl Iterator<Item = u32>) -> Column {
    Column(Data::Counts(values.collect()))
}

/// Expected value, lower and upper end, variance and tied documents of each query.
#[pyfunction]
pub fn audit_ties(
    py: Python<'_>,
    rankings: &Rankings,
    plan: &Plan,
    scores: Option<PyBuffer<f64>>,
    threads: usize,
) -> PyResult<(Column, Column, Column, Column, Column)> {
    let scores = scores.map(|scores| scores.to_vec(py)).transpose()?;
    let made = py
        .detach(|| ties::audit(&rankings.made, &plan.0, scores.as_deref(), threads))
        .map_err(|error| to_python(py, &error))?;
    let each = || made.iter();
    Ok((
        numbers(each().map(|spread| spread.expected)),
        numbers(each().map(|spread| spread.lower)),
        numbers(each().map(|spread| spread.upper)),
        numbers(each().map(|spread| spread.variance)),
        counts(each().map(|spread| spread.tied)),
    ))
}

/// Lower and upper bound, unjudged documents, whether the query could be left out, and whether the
/// bounds are exact.
#[derive(IntoPyObject)]
pub struct BoundColumns<'py>(Column, Column, Column, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn columns(py: Python<'_>, made: Result<Vec<Bounds>>) -> PyResult<BoundColumns<'_>> {
    let made = made.map_err(|error| to_python(py, &error))?;
    let each = || made.iter();
    let is_optional: Vec<u8> = each().map(|bounds| u8::from(bounds.is_optional)).collect();
    let is_exact: Vec<u8> = each().map(|bounds| u8::from(bounds.is_exact)).collect();
    Ok(BoundColumns(
        numbers(each().map(|bounds| bounds.lower)),
        numbers(each().map(|bounds| bounds.upper)),
        counts(each().map(|bounds| bounds.unjudged)),
        PyBytes::new(py, &is_optional),
        PyBytes::new(py, &is_exact),
    ))
}

/// The bounds of the value of each query.
#[pyfunction]
pub fn bound<'py>(
    py: Python<'py>,
    rankings: &Rankings,
    plan: &Plan,
    scale: Vec<f64>,
    threads: usize,
) -> PyResult<BoundColumns<'py>> {
    columns(py, py.detach(|| bounds::bounds(&rankings.made, &plan.0, &scale, threads)))
}

/// The bounds of the difference of each query.
#[pyfunction]
pub fn bound_difference<'py>(
    py: Python<'py>,
    one: &Rankings,
    other: &Rankings,
    plan: &Plan,
    scale: Vec<f64>,
    threads: usize,
) -> PyResult<BoundColumns<'py>> {
    let pair = (&*one.made, &*other.made);
    columns(py, py.detach(|| bounds::bounds_of_difference(pair, &plan.0, &scale, threads)))
}

/// Of each document with a gain: its query, rank, grade and regret; of each query what they are divided
/// by.
#[derive(IntoPyObject)]
pub struct RegretColumns(Column, Column, Column, Column, Column);

/// What documents regret.
#[pyfunction]
pub fn find_regrets(py: Python<'_>, rankings: &Rankings, plan: &Plan) -> PyResult<RegretColumns> {
    let made = py
        .detach(|| regrets::regrets(&rankings.made, &plan.0))
        .map_err(|error| to_python(py, &error))?;
    let each = || made.rows.iter();
    Ok(RegretColumns(
        counts(each().map(|row| row.query)),
        counts(each().map(|row| row.rank)),
        numbers(each().map(|row| row.grade)),
        numbers(each().map(|row| row.regret)),
        numbers(made.units.iter().copied()),
    ))
}
