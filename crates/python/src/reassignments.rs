//! Python functions for tests that reassign units, such as users, to two sides.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rankscope_core::explain::slices::{self, Choices, Grid, Queries, Window};
use rankscope_core::resample::reassign;

use super::errors::to_python;
use super::watch::Watch;

/// Random reassignments of units.
#[pyclass(frozen, module = "rankscope._core")]
pub(super) struct Reassignments(reassign::Reassignments);

/// What stands out most: its strength, its grid, its slice and its statistic.
type Best = (f64, usize, usize, f64);

/// Where the entries of each column start, their units, and their effects.
type Effects = (PyBuffer<i64>, PyBuffer<i64>, PyBuffer<f64>);

#[pymethods]
impl Reassignments {
    #[new]
    fn new(
        py: Python<'_>,
        is_first: PyBuffer<u8>,
        is_second: PyBuffer<u8>,
        permutations: usize,
        seed: u64,
    ) -> PyResult<Self> {
        let [first, second] = [is_first.to_vec(py)?, is_second.to_vec(py)?]
            .map(|flags| flags.into_iter().map(|flag| flag != 0).collect::<Vec<bool>>());
        if first.len() != second.len() {
            return Err(refuse());
        }
        let draw = || reassign::Reassignments::draw(&first, &second, permutations, seed);
        py.detach(draw).map(Self).map_err(|error| to_python(py, &error))
    }

    /// The statistics of all columns as doubles, one row per reassignment.
    fn standardize<'py>(&self, py: Python<'py>, effects: Effects) -> PyResult<Bound<'py, PyBytes>> {
        let effects = self.read(py, &effects)?;
        let made = py.detach(|| reassign::standardize(&self.0, &effects));
        let made = made.map_err(|error| to_python(py, &error))?;
        bytes_of_doubles(py, &made)
    }

    /// The largest strength under each reassignment, as doubles, and what stands out most.
    #[pyo3(signature = (queries, grids, choices, threads, check))]
    fn find_strongest<'py>(
        &self,
        py: Python<'py>,
        queries: &SliceQueries,
        grids: Vec<(Vec<usize>, PyBuffer<i64>, f64)>,
        choices: (f64, f64, f64, u32),
        threads: usize,
        check: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<Best>)> {
        let mut read = Vec::with_capacity(grids.len());
        for (axes, cells, penalty) in grids {
            let grid = Grid { axes, cells: places(py, &cells)?, penalty };
            if !queries.made.has(&grid) || queries.units != self.0.units() {
                return Err(refuse());
            }
            read.push(grid);
        }
        let (direction, noise, prior, fewest) = choices;
        let choices = Choices { direction, noise, prior, fewest };
        let (largest, best) = Watch::checking(check).run(py, |watch| {
            slices::find_strongest(&queries.made, &self.0, &read, choices, threads, watch)
        })?;
        let best = best.map(|best| (best.strength, best.grid, best.cell, best.statistic));
        Ok((bytes_of_doubles(py, &largest)?, best))
    }
}

impl Reassignments {
    fn read(&self, py: Python<'_>, effects: &Effects) -> PyResult<reassign::Sparse> {
        let (starts, units) = (places(py, &effects.0)?, places(py, &effects.1)?);
        let made = reassign::Sparse::new(starts, units, effects.2.to_vec(py)?, self.0.units());
        made.ok_or_else(refuse)
    }
}

/// The queries of two windows.
#[pyclass(frozen, module = "rankscope._core")]
pub(super) struct SliceQueries {
    made: Queries,
    units: usize,
}

/// The units of queries, their residuals, and the codes of their attributes.
type Columns = (PyBuffer<i64>, PyBuffer<f64>, Vec<PyBuffer<i32>>);

#[pymethods]
impl SliceQueries {
    #[new]
    fn new(
        py: Python<'_>,
        before: Columns,
        after: Columns,
        sizes: Vec<usize>,
        units: usize,
    ) -> PyResult<Self> {
        let windows = [window(py, &before)?, window(py, &after)?];
        let made = Queries::new(windows, sizes, units).ok_or_else(refuse)?;
        Ok(Self { made, units })
    }
}

fn window(py: Python<'_>, columns: &Columns) -> PyResult<Window> {
    let mut codes = Vec::with_capacity(columns.2.len());
    for each in &columns.2 {
        codes.push(convert(py, each)?);
    }
    Ok(Window { units: convert(py, &columns.0)?, residuals: columns.1.to_vec(py)?, codes })
}

fn places(py: Python<'_>, values: &PyBuffer<i64>) -> PyResult<Vec<usize>> {
    convert(py, values)
}

fn convert<T: Element + Default, O: TryFrom<T>>(
    py: Python<'_>,
    values: &PyBuffer<T>,
) -> PyResult<Vec<O>> {
    let mut made = Vec::with_capacity(values.item_count());
    for value in values.to_vec(py)? {
        made.push(O::try_from(value).map_err(|_| refuse())?);
    }
    Ok(made)
}

fn bytes_of_doubles<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, size_of_val(values), |made| {
        for (made, value) in made.chunks_exact_mut(size_of::<f64>()).zip(values) {
            made.copy_from_slice(&value.to_ne_bytes());
        }
        Ok(())
    })
}

fn refuse() -> PyErr {
    PyValueError::new_err("units, columns and slices do not fit")
}
