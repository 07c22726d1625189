//! Columns of numbers that Python reads without copying.

#![allow(unsafe_code)] // the buffer protocol is made of pointers

use std::ffi::c_int;
use std::sync::Arc;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use rankscope_log::blocks::texts::Texts;

/// The memory of a column, as the buffer protocol wants it.
pub(super) struct Raw {
    start: *const u8,
    bytes: usize,
    typecode: &'static str,
}

impl Raw {
    pub(super) fn of<T>(values: &[T], typecode: &'static str) -> Self {
        Self { start: values.as_ptr().cast(), bytes: size_of_val(values), typecode }
    }
}

/// Numbers that Python reads in place.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Column(pub(super) Data);

pub(super) enum Data {
    Values(Vec<f64>),
    Counts(Vec<u32>),
    Places(Vec<i64>),
    Bytes(Vec<u8>),
    /// Those of an object that others have, too, and which lives as long as the column.
    Shared(Box<dyn Fn() -> Raw + Send + Sync>),
}

impl Column {
    /// Numbers of an object that others have, too.
    pub(super) fn of<T: Send + Sync + 'static>(owner: &Arc<T>, find: fn(&T) -> Raw) -> Self {
        let owner = Arc::clone(owner);
        Self(Data::Shared(Box::new(move || find(&owner))))
    }

    /// The offsets and the bytes of texts of such an object.
    pub(super) fn of_texts<T: Send + Sync + 'static>(
        owner: &Arc<T>,
        find: fn(&T) -> &Texts,
    ) -> (Self, Self) {
        let (one, other) = (Arc::clone(owner), Arc::clone(owner));
        (
            Self(Data::Shared(Box::new(move || Raw::of(&find(&one).offsets, "q")))),
            Self(Data::Shared(Box::new(move || Raw::of(&find(&other).bytes, "B")))),
        )
    }

    fn raw(&self) -> Raw {
        match &self.0 {
            Data::Values(values) => Raw::of(values, "d"),
            Data::Counts(counts) => Raw::of(counts, "I"),
            Data::Places(places) => Raw::of(places, "q"),
            Data::Bytes(bytes) => Raw::of(bytes, "B"),
            Data::Shared(find) => find(),
        }
    }
}

#[pymethods]
impl Column {
    /// The code of its numbers, as in the module `array`.
    #[getter]
    fn typecode(&self) -> &'static str {
        self.raw().typecode
    }

    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let raw = slf.get().raw();
        let length = isize::try_from(raw.bytes).map_err(PyBufferError::new_err)?;
        // SAFETY: the view keeps `slf`, and so the memory, which is never written, alive.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                slf.as_ptr(),
                raw.start.cast_mut().cast(),
                length,
                1,
                flags,
            )
        };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
