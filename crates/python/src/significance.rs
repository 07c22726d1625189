//! Python functions for significance tests: counts of sign flips, and the tails of distributions.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rankscope_core::number::distributions;
use rankscope_core::resample::flips::{self, Family};
use rankscope_core::resample::invert::{self, Draws};

use super::watch::Watch;

/// The units of a family, its values by system and unit, its number of systems, and its pairs.
type GivenFamily = (PyBuffer<i64>, PyBuffer<f64>, usize, Vec<(usize, usize)>);

/// Statistics, differing units, flips as large and of how many, the same for the largest statistic,
/// all flips, and whether these are all that there are.
type Counted = (Vec<f64>, Vec<u64>, Vec<(u64, u64)>, Vec<u64>, u64, bool);

/// How many sign flips of units, of which there are so many, have sums as large as those observed.
#[pyfunction]
pub(super) fn count_flips(
    py: Python<'_>,
    families: Vec<GivenFamily>,
    count: usize,
    flips: usize,
    seed: u64,
    threads: usize,
    check: Option<Py<PyAny>>,
) -> PyResult<Counted> {
    let mut read = Vec::with_capacity(families.len());
    for (units, values, systems, pairs) in families {
        read.push(read_family(py, &units, &values, systems, pairs, count)?);
    }
    let found = Watch::checking(check)
        .run(py, |watch| flips::count_flips(&read, count, flips, seed, threads, watch))?;
    let larger = (found.statistics, found.differing, found.larger);
    Ok((larger.0, larger.1, larger.2, found.largest, found.flips, found.is_all))
}

fn read_family(
    py: Python<'_>,
    units: &PyBuffer<i64>,
    values: &PyBuffer<f64>,
    systems: usize,
    pairs: Vec<(usize, usize)>,
    count: usize,
) -> PyResult<Family> {
    let mut places = Vec::with_capacity(units.item_count());
    for unit in units.to_vec(py)? {
        let place = usize::try_from(unit).ok().filter(|&place| place < count);
        places.push(place.ok_or_else(refuse)?);
    }
    Family::new(places, values.to_vec(py)?, systems, pairs).ok_or_else(refuse)
}

/// The ends of an interval, and the p-values of minus the margin and of the margin.
type Inverted = (f64, f64, f64, f64);

/// For all pairs of all families, given with the sizes of their units: which mean differences the test of
/// sign flips doesn't reject at a level, and its p-values at a margin.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the choices of a test
pub(super) fn invert_flips(
    py: Python<'_>,
    families: Vec<(GivenFamily, PyBuffer<f64>)>,
    count: usize,
    level: f64,
    margin: f64,
    flips: usize,
    seed: u64,
    threads: usize,
    check: Option<Py<PyAny>>,
) -> PyResult<Vec<Inverted>> {
    let mut read = Vec::with_capacity(families.len());
    for ((units, values, systems, pairs), sizes) in families {
        let sizes = sizes.to_vec(py)?;
        if sizes.len() != units.item_count() {
            return Err(refuse());
        }
        read.push((read_family(py, &units, &values, systems, pairs, count)?, sizes));
    }
    let draws = Draws { units: count, flips, seed, threads };
    Watch::checking(check).run(py, |watch| {
        let mut found = Vec::new();
        for (family, sizes) in &read {
            invert::invert_pairs(family, sizes, draws, watch, |inverted| {
                let (lower, upper) = inverted.interval(level);
                let [below, above] = [-margin, margin].map(|mean| inverted.p_value(mean));
                found.push((lower, upper, below, above));
            })?;
        }
        Ok(found)
    })
}

fn refuse() -> PyErr {
    PyValueError::new_err("values and pairs do not fit")
}

/// The probability that Student's t is at least this far from 0.
#[pyfunction]
pub(super) fn student_tails(statistic: f64, degrees: f64) -> f64 {
    distributions::student_tails(statistic, degrees)
}

/// The probability that a noncentral t is at most so large.
#[pyfunction]
pub(super) fn noncentral_t_lower(statistic: f64, degrees: f64, shift: f64) -> f64 {
    distributions::noncentral_t_lower(statistic, degrees, shift)
}

/// The probability that a standard normal number is at least this far from 0.
#[pyfunction]
pub(super) fn normal_tails(statistic: f64) -> f64 {
    distributions::normal_tails(statistic)
}
