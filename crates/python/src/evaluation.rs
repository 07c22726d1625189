//! The Python class `Evaluation`: values, means and intervals.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rankscope_core::evaluate::averaging::Averaging;
use rankscope_core::evaluate::evaluation::{self, Counts};
use rankscope_core::number::aggregate::Part;
use rankscope_core::number::distributions;
use rankscope_core::policy::Aggregate;
use rankscope_core::resample::bootstrap::Draws;
use rankscope_core::resample::bounded::{self, Unit};
use rankscope_core::resample::interval::{self, Estimate, Method, Settings, estimate};
use rankscope_core::resample::student;

use super::choices::choose;
use super::column::{Column, Data};
use super::errors::to_python;
use super::plan::Plan;
use super::saved::{Reduced, reduce, restore};
use super::texts::{NoteRows, text};
use super::watch::Watch;

/// The numbers of queries in an evaluation, or in a part of it.
#[pyclass(frozen, get_all, module = "rankscope._core")]
pub struct QueryCounts {
    queries: u64,
    evaluated: u64,
    empty: u64,
    missing: u64,
    run_only: u64,
    tied: u64,
    /// Queries whose documents all have the same score.
    flat: u64,
    /// The size of lists that look like samples of candidates, else 0.
    candidates: u64,
    /// Queries with a list.
    listed: u64,
    /// Those of them without a judged document.
    unmatched: u64,
}

impl QueryCounts {
    pub(super) const fn new(counts: &Counts, flat: u64, candidates: u64) -> Self {
        Self {
            queries: counts.queries,
            evaluated: counts.evaluated,
            empty: counts.empty,
            missing: counts.missing,
            run_only: counts.run_only,
            tied: counts.tied,
            flat,
            candidates,
            listed: counts.listed,
            unmatched: counts.unmatched,
        }
    }
}

/// The values of all measures.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Evaluation {
    pub(super) made: evaluation::Evaluation,
    pub(super) averaging: Averaging,
}

impl Evaluation {
    pub(super) fn new(made: evaluation::Evaluation, plan: &Plan) -> Self {
        Self { made, averaging: plan.0.averaging() }
    }
}

#[pymethods]
impl Evaluation {
    fn values(&self, measure: usize) -> PyResult<Column> {
        let values = self.made.values.get(measure).cloned();
        values
            .map(|values| Column(Data::Values(values)))
            .ok_or_else(|| PyKeyError::new_err(measure))
    }

    fn means(&self) -> Vec<f64> {
        self.made.means.clone()
    }

    fn denominators(&self) -> Vec<u64> {
        self.made.denominators.clone()
    }

    fn counts(&self) -> QueryCounts {
        let made = &self.made;
        QueryCounts::new(&made.counts, made.flat, made.candidates.size())
    }

    /// The first query none of whose documents is judged, and the first of them.
    fn unmatched(&self) -> Option<(u32, Vec<String>)> {
        let (query, docs) = self.made.unmatched.as_ref()?;
        Some((*query, docs.iter().map(|doc| text(doc)).collect()))
    }

    /// Retrieved and unjudged documents by cutoff.
    fn at_cutoffs(&self) -> Vec<(u64, u64)> {
        self.made.counts.at_cutoffs.clone()
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduce(py, "restore_evaluation", &self.made.save(&self.averaging))
    }

    /// Itself, for it can't be changed.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// The same values, with other weights of the queries.
    fn reweigh(&self, py: Python<'_>, weights: Vec<f64>) -> PyResult<Self> {
        let weighted = self.averaging.with_weights(weights);
        let averaging = weighted.map_err(|error| to_python(py, &error))?;
        let mut made = self.made.clone();
        made.aggregate(&averaging);
        Ok(Self { made, averaging })
    }

    /// The aggregate of each measure over the queries of each group, with its denominator; `groups`
    /// says which group each query is in.
    fn over(&self, groups: Vec<u32>, count: usize) -> Vec<Vec<(f64, u64)>> {
        let members = members(0..groups.len(), &groups, count);
        let over = |column| {
            let mean = |queries: &Vec<usize>| {
                self.made.mean_over(&self.averaging, column, queries.iter().copied())
            };
            members.iter().map(mean).collect()
        };
        (0..self.averaging.measures.len()).map(over).collect()
    }

    /// The aggregate of each measure over the queries of each group, with its interval. Queries are
    /// resampled in the order of `order`. `clusters` says which of them depend on one another, and
    /// each measure has its lowest and highest value, and its seed.
    #[allow(clippy::too_many_arguments)] // the settings of an interval
    fn intervals(
        &self,
        py: Python<'_>,
        order: Vec<usize>,
        groups: Vec<u32>,
        count: usize,
        clusters: Option<Vec<i64>>,
        of_measures: Vec<((f64, f64), u64)>,
        level: f64,
        method: &str,
        resamples: usize,
        threads: usize,
    ) -> PyResult<Vec<Vec<Row>>> {
        let method = read_method(method)?;
        let members = members(order, &groups, count);
        Watch::new(None).run(py, |watch| {
            let mut all = Vec::new();
            let measures = self.averaging.measures.iter().zip(&of_measures);
            for (column, ((_, aggregate), &(range, seed))) in measures.enumerate() {
                let draws = Draws { resamples, seed };
                let settings = Settings { level, method, draws, range, threads };
                let mut of_groups = Vec::with_capacity(count);
                for queries in &members {
                    let queries = || queries.iter().copied();
                    let parts = self.made.parts(&self.averaging, column, queries());
                    let codes: Option<Vec<i64>> = clusters.as_ref().map(|clusters| {
                        let entering = self.made.entering(&self.averaging, column, queries());
                        entering.map(|query| clusters[query]).collect()
                    });
                    let codes = codes.as_deref();
                    let made = estimate(*aggregate, &parts, codes, settings, watch)?;
                    of_groups.push(row(&made));
                }
                all.push(of_groups);
            }
            Ok(all)
        })
    }
}

/// An evaluation from the bytes that `__reduce__` gave.
#[pyfunction]
pub(super) fn restore_evaluation(py: Python<'_>, saved: &[u8]) -> PyResult<Evaluation> {
    let (made, averaging) = restore(py, saved, evaluation::Evaluation::restore)?;
    Ok(Evaluation { made, averaging })
}

/// A value and the ends of its interval; the method, or the reason why there is no interval; the number
/// of values and of independent units, and the effective sample size.
type Row = ((f64, f64, f64), (&'static str, &'static str), (u64, u64, f64));

/// The mean of values with its interval, as a row of `Evaluation.intervals`.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the settings of an interval
pub(super) fn estimate_mean(
    py: Python<'_>,
    values: PyBuffer<f64>,
    weights: Option<PyBuffer<f64>>,
    clusters: Option<PyBuffer<i64>>,
    value_range: (f64, f64),
    level: f64,
    method: &str,
    resamples: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Row> {
    let method = read_method(method)?;
    let (parts, clusters) = read_parts(py, &values, weights.as_ref(), clusters.as_ref())?;
    let (draws, range) = (Draws { resamples, seed }, value_range);
    let settings = Settings { level, method, draws, range, threads };
    Watch::new(None).run(py, |watch| {
        estimate(Aggregate::Mean, &parts, clusters.as_deref(), settings, watch)
            .map(|made| row(&made))
    })
}

/// A lower bound of a mean of values from 0 to 1 that holds for every distribution, by the sum and the
/// number of the values of each unit.
#[pyfunction]
pub(super) fn bound_below(
    py: Python<'_>,
    sums: PyBuffer<f64>,
    counts: PyBuffer<f64>,
    error: f64,
) -> PyResult<f64> {
    let (sums, counts) = (sums.to_vec(py)?, counts.to_vec(py)?);
    let unit = |(sum, count)| Unit { sum, count };
    let units: Vec<Unit> = sums.into_iter().zip(counts).map(unit).collect();
    Ok(py.detach(|| bounded::bound_below(&units, error)))
}

/// The p-values of the hypotheses that a mean is at most `limit`, and at least `limit`, for every
/// distribution within the range; none where values have no range, or are outside it.
#[pyfunction]
pub(super) fn bounded_tails(
    py: Python<'_>,
    values: PyBuffer<f64>,
    weights: Option<PyBuffer<f64>>,
    clusters: Option<PyBuffer<i64>>,
    value_range: (f64, f64),
    limit: f64,
) -> PyResult<Option<(f64, f64)>> {
    let (parts, clusters) = read_parts(py, &values, weights.as_ref(), clusters.as_ref())?;
    let clusters = clusters.as_deref();
    Ok(py.detach(|| interval::bounded_tails(&parts, clusters, value_range, limit)))
}

/// How many units have a lower bound of at least `limit` with a probability of `power`, if they vary
/// `times` as much as these around a mean of `truth`; none if there is no such number.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the choices of a plan
pub(super) fn bounded_units_needed(
    py: Python<'_>,
    values: PyBuffer<f64>,
    weights: Option<PyBuffer<f64>>,
    clusters: Option<PyBuffer<i64>>,
    value_range: (f64, f64),
    limit: f64,
    truth: f64,
    times: f64,
    level: f64,
    power: f64,
) -> PyResult<Option<usize>> {
    let (parts, clusters) = read_parts(py, &values, weights.as_ref(), clusters.as_ref())?;
    let (clusters, means, chances) = (clusters.as_deref(), (limit, truth), (level, power));
    Ok(py.detach(|| {
        interval::bounded_units_needed(&parts, clusters, value_range, means, times, chances)
    }))
}

/// Values with their weights, and the cluster of each.
fn read_parts(
    py: Python<'_>,
    values: &PyBuffer<f64>,
    weights: Option<&PyBuffer<f64>>,
    clusters: Option<&PyBuffer<i64>>,
) -> PyResult<(Vec<Part>, Option<Vec<i64>>)> {
    let values = values.to_vec(py)?;
    let weights = weights.map(|weights| weights.to_vec(py)).transpose()?;
    let weights = weights.unwrap_or_else(|| vec![1.0; values.len()]);
    let clusters = clusters.map(|clusters| clusters.to_vec(py)).transpose()?;
    let is_odd = clusters.as_ref().is_some_and(|clusters| clusters.len() != values.len());
    if is_odd || weights.len() != values.len() {
        return Err(PyValueError::new_err("expected a weight and a cluster for each value"));
    }
    let part = |(value, weight)| Part { value, weight, ratio: (value, 1.0) };
    Ok((values.into_iter().zip(weights).map(part).collect(), clusters))
}

/// The mean over units, its standard error and degrees of freedom, by the sum and the size of each unit.
#[pyfunction]
pub(super) fn average_units(
    py: Python<'_>,
    sums: PyBuffer<f64>,
    sizes: PyBuffer<f64>,
) -> PyResult<(f64, f64, f64)> {
    let (sums, sizes) = (sums.to_vec(py)?, sizes.to_vec(py)?);
    let found = student::average(&sums, &sizes);
    Ok((found.mean, found.error, found.degrees))
}

/// How many standard errors wide half of Student's interval is.
#[pyfunction]
pub(super) fn t_quantile(level: f64, degrees: f64) -> f64 {
    distributions::t_quantile(level, degrees)
}

/// The method of an interval; none to have it chosen.
fn read_method(name: &str) -> PyResult<Option<Method>> {
    if name == "auto" { Ok(None) } else { choose(name, &METHODS).map(Some) }
}

const METHODS: [(&str, Method); 4] = [
    ("dense", Method::Dense),
    ("bounded", Method::Bounded),
    ("t", Method::Student),
    ("percentile", Method::Percentile),
];

fn row(made: &Estimate) -> Row {
    let (lower, upper) = made.ends;
    let word = |used| METHODS.iter().find(|known| known.1 == used).map_or("", |known| known.0);
    let (method, reason) = match made.outcome {
        Ok(used) => (word(used), ""),
        Err(reason) => ("", reason.word()),
    };
    let sizes = (made.count as u64, made.units as u64, made.effective);
    ((made.value, lower, upper), (method, reason), sizes)
}

/// The queries of each group, in order.
fn members(
    order: impl IntoIterator<Item = usize>,
    groups: &[u32],
    count: usize,
) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); count];
    for query in order {
        members[groups[query] as usize].push(query);
    }
    members
}
