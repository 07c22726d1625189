//! The Python function that fuses runs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rankscope_core::fuse::choices::{Choices, Method, Scale};
use rankscope_core::fuse::{self, fuse};

use super::agreement::Given;
use super::choices;
use super::run::Run;
use super::watch::Watch;

/// All choices of a fusion: the method with its parameter where it needs one, such as the constant of
/// reciprocal ranks; the scale; weights by run; ties; and the depth.
#[derive(FromPyObject)]
pub(super) struct Settings((String, f64), String, Vec<f64>, String, Option<usize>);

impl Settings {
    fn read(self) -> PyResult<Choices> {
        let Self((method, parameter), scale, weights, ties, depth) = self;
        Ok(Choices {
            method: read_method(&method, parameter)?,
            scale: choices::choose(&scale, &SCALES)?,
            weights,
            ties: choices::field(&ties)?,
            depth: depth.unwrap_or(usize::MAX),
        })
    }
}

/// Fuses runs in memory.
#[pyfunction]
pub(super) fn fuse_runs(
    py: Python<'_>,
    runs: Vec<(Given<'_>, String)>,
    settings: Settings,
    threads: usize,
) -> PyResult<Run> {
    let choices = settings.read()?;
    let runs: Vec<fuse::Given<'_>> =
        runs.iter().map(|(run, name)| fuse::Given { lists: run.lists(), name }).collect();
    let run = Watch::new(None).run(py, |watch| fuse(&runs, &choices, threads, watch))?;
    Ok(Run { run, name: "fused".to_owned() })
}

const SCALES: [(&str, Scale); 7] = [
    ("none", Scale::Scores),
    ("min_max", Scale::MinMax),
    ("max", Scale::Max),
    ("sum", Scale::Sum),
    ("zmuv", Scale::Zmuv),
    ("rank", Scale::Rank),
    ("borda", Scale::Borda),
];

fn read_method(name: &str, parameter: f64) -> PyResult<Method> {
    Ok(match name {
        "combsum" => Method::Sum,
        "combmnz" => Method::Mnz,
        "combanz" => Method::Anz,
        "combmed" => Method::Median,
        "combmax" => Method::Max,
        "combmin" => Method::Min,
        "rrf" => Method::ReciprocalRank(parameter),
        "isr" => Method::InverseSquare,
        "log_isr" => Method::LogInverseSquare(parameter),
        "rbc" => Method::RankBiased(parameter),
        "borda" => Method::Borda,
        "condorcet" => Method::Condorcet,
        _ => return Err(PyValueError::new_err(name.to_owned())),
    })
}
