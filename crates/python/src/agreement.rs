//! The Python function that compares two rankings of the same queries.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rankscope_core::agreement::choices::{Choices, Ties};
use rankscope_core::agreement::compare::compare;
use rankscope_core::rank::lists::Lists;

use super::column::{Column, Data};
use super::rankings::Rankings;
use super::run::Run;
use super::texts::text;
use super::watch::Watch;

/// A run, or rankings.
#[derive(FromPyObject)]
pub(super) enum Given<'py> {
    Run(PyRef<'py, Run>),
    Rankings(PyRef<'py, Rankings>),
}

impl Given<'_> {
    pub(super) fn lists(&self) -> &dyn Lists {
        match self {
            Self::Run(run) => &run.run,
            Self::Rankings(rankings) => &*rankings.made,
        }
    }
}

/// The queries in both, how many each has, in how many both lists have the same documents, the common
/// documents of each, and the values, column after column.
type Compared = (Vec<String>, (usize, usize), usize, Column, Column);

/// The agreement of the lists of each query: extrapolated, lowest and highest rank-biased overlap, tau,
/// its top-weighted form, and the overlap and the Jaccard index at each depth.
#[pyfunction]
pub(super) fn compare_rankings(
    py: Python<'_>,
    one: Given<'_>,
    other: Given<'_>,
    persistence: f64,
    ties: &str,
    depths: Vec<usize>,
    threads: usize,
) -> PyResult<Compared> {
    let ties = match ties {
        "a" => Ties::Expected,
        "b" => Ties::Corrected,
        "w" => Ties::Equal,
        _ => return Err(PyValueError::new_err("ties is a, b or w")),
    };
    let count = depths.len();
    let choices = Choices { persistence, ties, depths };
    let (one, other) = (one.lists(), other.lists());
    let found = Watch::new(None).run(py, |watch| compare(one, other, &choices, threads, watch))?;
    let queries = found.iter().map(|each| text(&one.query(each.query))).collect();
    let mut values = Vec::with_capacity(found.len() * (5 + 2 * count));
    for place in 0..3 {
        values.extend(found.iter().map(|each| each.overlap[place]));
    }
    values.extend(found.iter().map(|each| each.tau));
    values.extend(found.iter().map(|each| each.tau_ap));
    for place in 0..count {
        values.extend(found.iter().map(|each| each.at_depths[place].0));
    }
    for place in 0..count {
        values.extend(found.iter().map(|each| each.at_depths[place].1));
    }
    let common = found.iter().map(|each| u32::try_from(each.common).unwrap_or(u32::MAX));
    let common = Column(Data::Counts(common.collect()));
    let filled = |lists: &dyn Lists| (0..lists.len()).filter(|&q| !lists.is_blank(q)).count();
    let same = found.iter().filter(|each| each.is_same).count();
    let filled = (filled(one), filled(other));
    Ok((queries, filled, same, common, Column(Data::Values(values))))
}
