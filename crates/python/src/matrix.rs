//! Reads matrices and batches of lists from Python without copying.

use std::time::Instant;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rankscope_core::error::{Error, Kind};
use rankscope_core::evaluate::matrix;
use rankscope_core::table::cells::Cells;
use rankscope_core::watch::Watch;

use super::cells::{Doubles, Numbers, View};
use super::column::{Column, Data};
use super::errors::to_python;
use super::plan::Plan;
use super::watch::BETWEEN_LOOKS;

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

    fn fill(&self, row: usize, grades: &mut Vec<f64>, scores: &mut Vec<f64>) {
        let start = row * self.shape[1];
        grades.resize(self.shape[1], 0.0);
        scores.resize(self.shape[1], 0.0);
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
    watched(py, |watch| matrix::mean(&plan.0, &pair, threads, watch))
}

/// Lists end to end, or the rows of a matrix, of which all threads may read.
struct Batch<'a> {
    grades: Doubles<'a>,
    scores: Doubles<'a>,
    /// Row i has the documents from `offsets[i]` up to `offsets[i + 1]`.
    offsets: &'a [usize],
    /// Whether there is a document, where not all are.
    mask: Option<View<'a, u8>>,
    longest: usize,
}

impl matrix::Matrices for Batch<'_> {
    fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    fn columns(&self) -> usize {
        self.longest
    }

    fn fill(&self, row: usize, grades: &mut Vec<f64>, scores: &mut Vec<f64>) {
        let (start, end) = (self.offsets[row], self.offsets[row + 1]);
        grades.resize(end - start, 0.0);
        scores.resize(end - start, 0.0);
        self.grades.read(start, grades);
        self.scores.read(start, scores);
        let Some(mask) = self.mask else { return };
        let mut kept = 0;
        for at in 0..end - start {
            (grades[kept], scores[kept]) = (grades[at], scores[at]);
            kept += usize::from(mask.get(start + at) != 0);
        }
        grades.truncate(kept);
        scores.truncate(kept);
    }
}

/// The value of a measure for each row, NaN where it is undefined, and the rows whose value is NaN
/// because of what they hold.
///
/// Row i has the numbers from `offsets[i]` up to `offsets[i + 1]`, of which those count where `mask`
/// is not 0.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // they are two arrays, what divides them, and how to count
pub(super) fn values_of_rows(
    py: Python<'_>, // the lock is held: nobody who respects it writes to the arrays
    plan: &Plan,
    grades: Numbers,
    scores: Numbers,
    offsets: PyBuffer<i64>,
    mask: Option<PyBuffer<u8>>,
    threads: usize,
) -> PyResult<(Column, Column)> {
    let (grades, scores) = (grades.view()?, scores.view()?);
    let offsets = offsets.to_vec(py)?;
    let offsets: Option<Vec<usize>> =
        offsets.iter().map(|&offset| usize::try_from(offset).ok()).collect();
    let mask = mask.as_ref().map(View::of).transpose()?;
    let length = grades.len();
    let fits = |offsets: &Vec<usize>| {
        offsets.is_sorted() && offsets.first() == Some(&0) && offsets.last() == Some(&length)
    };
    let is_whole = scores.len() == length && mask.is_none_or(|mask| mask.len() == length);
    let Some(offsets) = offsets.filter(fits).filter(|_| is_whole) else {
        return Err(PyValueError::new_err("expected offsets and arrays of one length"));
    };
    let longest = offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let batch = Batch { grades, scores, offsets: &offsets, mask, longest };
    let (values, refused) = watched(py, |watch| matrix::values(&plan.0, &batch, threads, watch))?;
    let refused = refused.into_iter().filter_map(|row| i64::try_from(row).ok()).collect();
    Ok((Column(Data::Values(values)), Column(Data::Places(refused))))
}

/// Does work that a signal stops.
fn watched<T>(
    py: Python<'_>,
    work: impl FnOnce(Watch<'_>) -> rankscope_core::error::Result<T>,
) -> PyResult<T> {
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
    let done = work(&mut watch);
    done.map_err(|error| raised.unwrap_or_else(|| to_python(py, &error)))
}
