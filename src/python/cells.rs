//! Reads columns of numbers from Python without copying.

#![allow(unsafe_code)] // they are copied out of memory that Python owns

use std::fmt::Debug;
use std::marker::PhantomData;

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

use crate::table::cells::Cells;

/// The memory of a buffer, which lives as long as the view; others may write to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a, T> {
    start: *const T,
    length: usize,
    buffer: PhantomData<&'a ()>,
}

// SAFETY: values are only read, each once, and the buffer is held as long as the view lives.
unsafe impl<T> Sync for View<'_, T> {}

impl<'a, T: Element> View<'a, T> {
    /// All elements of a buffer, those of the last axis next to each other.
    pub(super) fn of(buffer: &'a PyBuffer<T>) -> PyResult<Self> {
        if !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("expected elements one after another"));
        }
        let (start, length) = (buffer.buf_ptr().cast_const().cast(), buffer.item_count());
        Ok(Self { start, length, buffer: PhantomData })
    }

    /// Where so many elements from one on are.
    fn at(self, start: usize, count: usize) -> *const T {
        assert!(start <= self.length && count <= self.length - start, "reads inside the buffer");
        // SAFETY: it lies inside the buffer, as was asserted.
        unsafe { self.start.add(start) }
    }

    /// Copies elements from one on.
    fn copy(self, start: usize, out: &mut [T]) {
        let from = self.at(start, out.len());
        // SAFETY: they lie inside the buffer. Somebody may write to it meanwhile: each byte is read
        // once, and any bytes are numbers.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) }
    }

    /// Converts elements from one on. They are copied first, so that several are converted at once.
    fn convert(self, start: usize, out: &mut [f64], to: impl Fn(&[T], &mut [f64]))
    where
        T: Default,
    {
        let mut copied = [T::default(); AT_ONCE];
        for (place, out) in (start..).step_by(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
            let copied = &mut copied[..out.len()];
            self.copy(place, copied);
            to(copied, out);
        }
    }
}

impl View<'_, u8> {
    /// How many elements there are.
    pub(super) fn len(self) -> usize {
        self.length
    }

    /// One element.
    pub(super) fn get(self, at: usize) -> u8 {
        let from = self.at(at, 1);
        // SAFETY: as above, a volatile read being a single one.
        unsafe { from.read_volatile() }
    }
}

impl<T: Element + Debug> Cells<T> for View<'_, T> {
    fn len(&self) -> usize {
        self.length
    }

    fn read(&self, start: usize, out: &mut [T]) {
        self.copy(start, out);
    }
}

/// Numbers of one of the usual types.
#[derive(FromPyObject)]
pub(super) enum Numbers {
    #[pyo3(transparent)]
    F64(PyBuffer<f64>),
    #[pyo3(transparent)]
    F32(PyBuffer<f32>),
    #[pyo3(transparent)]
    I64(PyBuffer<i64>),
    #[pyo3(transparent)]
    I32(PyBuffer<i32>),
}

impl Numbers {
    pub(super) fn shape(&self) -> &[usize] {
        match self {
            Self::F64(buffer) => buffer.shape(),
            Self::F32(buffer) => buffer.shape(),
            Self::I64(buffer) => buffer.shape(),
            Self::I32(buffer) => buffer.shape(),
        }
    }

    pub(super) fn view(&self) -> PyResult<Doubles<'_>> {
        Ok(match self {
            Self::F64(buffer) => Doubles::F64(View::of(buffer)?),
            Self::F32(buffer) => Doubles::F32(View::of(buffer)?),
            Self::I64(buffer) => Doubles::I64(View::of(buffer)?),
            Self::I32(buffer) => Doubles::I32(View::of(buffer)?),
        })
    }
}

/// Numbers of whatever type, read as doubles.
#[derive(Clone, Copy, Debug)]
pub(super) enum Doubles<'a> {
    F64(View<'a, f64>),
    F32(View<'a, f32>),
    I64(View<'a, i64>),
    I32(View<'a, i32>),
}

/// Integers beyond this are not all doubles.
const LARGEST_EXACT: u64 = 1 << 53;
/// 2^52: the doubles from here on are whole, and differ by their last bits.
const WHOLE: f64 = 4_503_599_627_370_496.0;
/// So many elements are converted at once.
const AT_ONCE: usize = 64;

/// Converts numbers all of which are doubles.
fn widen<T: Copy + Into<f64>>(values: &[T], out: &mut [f64]) {
    for (out, &value) in out.iter_mut().zip(values) {
        *out = value.into();
    }
}

/// Converts integers; those that are no doubles become NaN.
#[allow(clippy::cast_precision_loss)] // as above
fn to_doubles(values: &[i64], out: &mut [f64]) {
    // There are instructions that convert several such integers at once.
    let are_small = values.iter().fold(0, |all, value| all | value.cast_unsigned()) >> 52 == 0;
    for (out, &value) in out.iter_mut().zip(values) {
        *out = if are_small {
            f64::from_bits(value.cast_unsigned() | WHOLE.to_bits()) - WHOLE
        } else if value.unsigned_abs() <= LARGEST_EXACT {
            value as f64
        } else {
            f64::NAN
        };
    }
}

impl Cells<f64> for Doubles<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F64(view) => view.length,
            Self::F32(view) => view.length,
            Self::I64(view) => view.length,
            Self::I32(view) => view.length,
        }
    }

    fn read(&self, start: usize, out: &mut [f64]) {
        match self {
            Self::F64(view) => view.copy(start, out),
            Self::F32(view) => view.convert(start, out, widen),
            Self::I64(view) => view.convert(start, out, to_doubles),
            Self::I32(view) => view.convert(start, out, widen),
        }
    }
}
