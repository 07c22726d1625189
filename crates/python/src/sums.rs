//! Python functions for exact sums, which are stored as bytes.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rankscope_core::number::sum::{ExactSum, NotFinite};
use rankscope_core::table::cells::Cells;

use super::cells::Numbers;

/// The sum of numbers, rounded once, as `math.fsum`.
#[pyfunction]
pub fn fsum(values: Vec<f64>) -> f64 {
    values.into_iter().collect::<ExactSum>().value()
}

/// log2 of a positive integer, correctly rounded.
#[pyfunction]
pub fn log2(integer: usize) -> PyResult<f64> {
    if integer == 0 {
        return Err(PyValueError::new_err("log2 of 0"));
    }
    Ok(rankscope_core::number::log2::log2(integer))
}

/// The sums of columns by group, those of a group end to end. NaN is left out, and so are rows whose
/// group is -1.
#[pyfunction]
pub fn sum_groups(
    py: Python<'_>,
    groups: PyBuffer<i64>,
    columns: Vec<Numbers>,
    count: usize,
) -> PyResult<Vec<Bound<'_, PyBytes>>> {
    let groups = groups.to_vec(py)?;
    let views = columns.iter().map(Numbers::view).collect::<PyResult<Vec<_>>>()?;
    if views.iter().any(|view| view.len() != groups.len()) {
        return Err(PyValueError::new_err("expected a group for each value"));
    }
    if groups.iter().any(|&group| usize::try_from(group).is_ok_and(|group| group >= count)) {
        return Err(PyValueError::new_err("expected groups below their count"));
    }
    let packed = py.detach(|| {
        let mut packed = vec![Vec::new(); count];
        let mut sums = vec![ExactSum::default(); count];
        let mut values = vec![0.0; groups.len()];
        for view in &views {
            view.read(0, &mut values);
            sums.fill(ExactSum::default());
            for (&group, &value) in groups.iter().zip(&values) {
                if let (Ok(group), false) = (usize::try_from(group), value.is_nan()) {
                    sums[group].add(value);
                }
            }
            for (sum, out) in sums.iter().zip(&mut packed) {
                sum.pack(out)?;
            }
        }
        Ok(packed)
    });
    let packed = packed.map_err(|_: NotFinite| not_finite())?;
    Ok(packed.iter().map(|sums| PyBytes::new(py, sums)).collect())
}

/// The sums of all of several cells, each packed as `sum_groups` packs them.
#[pyfunction]
pub fn add_sums(py: Python<'_>, packed: Vec<PyBackedBytes>) -> PyResult<Bound<'_, PyBytes>> {
    let added = py.detach(|| {
        let mut total: Vec<ExactSum> = Vec::new();
        for (at, one) in packed.iter().enumerate() {
            let sums = unpack(one)?;
            if at == 0 {
                total = sums;
                continue;
            }
            if sums.len() != total.len() {
                return Err(PyValueError::new_err("expected as many sums in all"));
            }
            for (sum, other) in total.iter_mut().zip(&sums) {
                sum.merge(other);
            }
        }
        let mut out = Vec::new();
        for sum in &total {
            sum.pack(&mut out).map_err(|_| not_finite())?;
        }
        Ok(out)
    });
    Ok(PyBytes::new(py, &added?))
}

/// The sums at some places, end to end; an empty sum in the place of none.
#[pyfunction]
pub fn choose_sums<'py>(
    py: Python<'py>,
    packed: &[u8],
    places: Vec<Option<usize>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (sums, nothing) = (unpack(packed)?, ExactSum::default());
    let mut chosen = Vec::new();
    for place in places {
        let sum = place.map_or(Some(&nothing), |place| sums.get(place));
        let sum = sum.ok_or_else(|| PyValueError::new_err("expected places of sums"))?;
        sum.pack(&mut chosen).map_err(|_| not_finite())?;
    }
    Ok(PyBytes::new(py, &chosen))
}

/// Sums, each rounded once.
#[pyfunction]
pub fn round_sums(packed: &[u8]) -> PyResult<Vec<f64>> {
    Ok(unpack(packed)?.iter().map(ExactSum::value).collect())
}

fn unpack(mut packed: &[u8]) -> PyResult<Vec<ExactSum>> {
    let mut sums = Vec::new();
    while !packed.is_empty() {
        let sum = ExactSum::unpack(&mut packed);
        sums.push(sum.ok_or_else(|| PyValueError::new_err("expected packed sums"))?);
    }
    Ok(sums)
}

fn not_finite() -> PyErr {
    PyValueError::new_err("expected finite values")
}
