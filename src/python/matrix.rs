//! Matrices that Python holds, read where they lie.

#![allow(unsafe_code)] // rows are copied out of memory that Python owns

use std::time::Instant;

use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;

use super::watch::BETWEEN_LOOKS;
use super::{Plan, to_python};
use crate::error::{Error, Kind};
use crate::matrix;

/// A matrix of one of the usual types, rows one after another.
#[derive(FromPyObject)]
pub(super) enum Matrix {
    #[pyo3(transparent)]
    F64(PyBuffer<f64>),
    #[pyo3(transparent)]
    F32(PyBuffer<f32>),
    #[pyo3(transparent)]
    I64(PyBuffer<i64>),
    #[pyo3(transparent)]
    I32(PyBuffer<i32>),
}

impl Matrix {
    fn view(&self) -> View {
        match self {
            Self::F64(buffer) => View::F64(buffer.buf_ptr().cast()),
            Self::F32(buffer) => View::F32(buffer.buf_ptr().cast()),
            Self::I64(buffer) => View::I64(buffer.buf_ptr().cast()),
            Self::I32(buffer) => View::I32(buffer.buf_ptr().cast()),
        }
    }

    /// The shape, if it is a matrix whose rows stand one after another.
    fn shape(&self) -> Option<[usize; 2]> {
        fn of<T: Element>(buffer: &PyBuffer<T>) -> Option<[usize; 2]> {
            buffer.shape().try_into().ok().filter(|_| buffer.is_c_contiguous())
        }
        match self {
            Self::F64(buffer) => of(buffer),
            Self::F32(buffer) => of(buffer),
            Self::I64(buffer) => of(buffer),
            Self::I32(buffer) => of(buffer),
        }
    }
}

#[derive(Clone, Copy)]
enum View {
    F64(*const f64),
    F32(*const f32),
    I64(*const i64),
    I32(*const i32),
}

/// Two matrices of one shape, of which all threads may read.
struct Pair {
    grades: View,
    scores: View,
    shape: [usize; 2],
    is_reversed: bool,
}

// SAFETY: whoever makes a pair holds the buffers, and the interpreter's lock, as long as it lives.
unsafe impl Sync for Pair {}

/// Integers beyond this are not all doubles.
const LARGEST_EXACT: u64 = 1 << 53;

impl View {
    #[allow(clippy::cast_precision_loss)] // larger integers become NaN, which is refused
    fn fill(self, start: usize, out: &mut [f64]) {
        /// # Safety
        /// There are that many values after `values`.
        unsafe fn copy<T: Copy>(values: *const T, out: &mut [f64], to: impl Fn(T) -> f64) {
            for (at, out) in out.iter_mut().enumerate() {
                // SAFETY: as the caller says. Somebody without the lock may write meanwhile, which
                // is no concern of a single volatile read.
                *out = to(unsafe { values.add(at).read_volatile() });
            }
        }
        let exact = |value: i64| {
            if value.unsigned_abs() <= LARGEST_EXACT { value as f64 } else { f64::NAN }
        };
        // SAFETY: `start` and the length are those of a row inside the shape.
        unsafe {
            match self {
                Self::F64(values) => {
                    std::ptr::copy_nonoverlapping(values.add(start), out.as_mut_ptr(), out.len());
                }
                Self::F32(values) => copy(values.add(start), out, f64::from),
                Self::I64(values) => copy(values.add(start), out, exact),
                Self::I32(values) => copy(values.add(start), out, f64::from),
            }
        }
    }
}

impl matrix::Matrices for Pair {
    fn rows(&self) -> usize {
        self.shape[0]
    }

    fn columns(&self) -> usize {
        self.shape[1]
    }

    fn fill(&self, row: usize, grades: &mut [f64], scores: &mut [f64]) {
        let start = row * self.shape[1];
        self.grades.fill(start, grades);
        self.scores.fill(start, scores);
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
    grades: Matrix,
    scores: Matrix,
    is_reversed: bool,
    threads: usize,
) -> PyResult<Option<f64>> {
    let Some(shape) =
        grades.shape().filter(|shape| scores.shape() == Some(*shape) && !shape.contains(&0))
    else {
        return Ok(None);
    };
    let pair = Pair { grades: grades.view(), scores: scores.view(), shape, is_reversed };
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
}
