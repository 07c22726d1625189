//! Reads columns of numbers from Python without copying.

#![allow(unsafe_code)] // they are copied out of memory that Python owns

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

    /// Converts elements from one on.
    fn convert<O>(self, start: usize, out: &mut [O], to: impl Fn(T) -> O) {
        let from = self.at(start, out.len());
        for (at, out) in out.iter_mut().enumerate() {
            // SAFETY: as above, a volatile read being a single one.
            *out = to(unsafe { from.add(at).read_volatile() });
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

impl Cells<i64> for View<'_, i64> {
    fn len(&self) -> usize {
        self.length
    }

    fn read(&self, start: usize, out: &mut [i64]) {
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

impl Cells<f64> for Doubles<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F64(view) => view.length,
            Self::F32(view) => view.length,
            Self::I64(view) => view.length,
            Self::I32(view) => view.length,
        }
    }

    #[allow(clippy::cast_precision_loss)] // larger integers become NaN
    fn read(&self, start: usize, out: &mut [f64]) {
        let exact = |value: i64| {
            if value.unsigned_abs() <= LARGEST_EXACT { value as f64 } else { f64::NAN }
        };
        match self {
            Self::F64(view) => view.copy(start, out),
            Self::F32(view) => view.convert(start, out, f64::from),
            Self::I64(view) => view.convert(start, out, exact),
            Self::I32(view) => view.convert(start, out, f64::from),
        }
    }
}
