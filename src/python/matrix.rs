//! Reads matrices from Python without copying.

use std::time::Instant;

use pyo3::prelude::*;

use super::cells::{Doubles, Numbers};
use super::errors::to_python;
use super::plan::Plan;
use super::watch::BETWEEN_LOOKS;
use crate::error::{Error, Kind};
use crate::evaluate::matrix;
use crate::memory::guard;
use crate::table::cells::Cells;

/// Two matrices of one shape, of which all threads may read.
struct Pair<'a> {
    grades: Doubles<'a>,
    scores: Doubles<'a>,
    shape: [usize; 2],
    is_reversed: bool,
}

impl matrix::Matrices for Pair<'_> {
    fn rows(&self) -> usize {
        self.shape[0]
    }

    fn columns(&self) -> usize {
        self.shape[1]
    }

    fn fill(&self, row: usize, grades: &mut [f64], scores: &mut [f64]) {
        let start = row * self.shape[1];
        self.grades.read(start, grades);
        self.scores.read(start, scores);
        if self.is_reversed {
            grades.reverse();
            scores.reverse();
        }
    }
}

/// The mean of a measure over the rows of two matrices; nothing where they are not of one shape, or
/// hold what is to be refused. With `is_reversed`, the last column counts as the first.
#[pyfunction]
pub(super) fn mean_of_rows(
    py: Python<'_>, // the lock is held: nobody who respects it writes to the matrices
    plan: &Plan,
    grades: Numbers,
    scores: Numbers,
    is_reversed: bool,
    threads: usize,
) -> PyResult<Option<f64>> {
    guard(|| {
        let Ok(shape @ [(1..), (1..)]) = <[usize; 2]>::try_from(grades.shape()) else {
            return Ok(None);
        };
        let (Ok(of_grades), Ok(of_scores)) = (grades.view(), scores.view()) else {
            return Ok(None);
        };
        if scores.shape() != shape {
            return Ok(None);
        }
        let pair = Pair { grades: of_grades, scores: of_scores, shape, is_reversed };
        let mut raised = None;
        let mut last = Instant::now();
        let mut watch = |_| {
            if last.elapsed() < BETWEEN_LOOKS {
                return Ok(());
            }
            last = Instant::now();
            py.check_signals().map_err(|signal| {
                raised = Some(signal);
                Error::new(Kind::Interrupted, "interrupted", "stopped by the caller")
            })
        };
        let mean = matrix::mean(&plan.0, &pair, threads, &mut watch);
        mean.map_err(|error| raised.unwrap_or_else(|| to_python(py, &error)))
    })
}
