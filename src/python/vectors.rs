//! Converts vectors from and to Python, raising `MemoryError` where memory runs out.

#![allow(unsafe_code)] // PyO3 panics where Python has no memory; the C API says so

use std::ffi::c_int;

use pyo3::buffer::{Element, PyBuffer};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyList, PySequence};

use crate::memory::{self, Vec, guard};

impl<'py, T> FromPyObject<'_, 'py> for Vec<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        guard(|| {
            let values = object.cast::<PySequence>()?;
            let mut made = Self::with_capacity(values.len()?);
            for value in values.try_iter()? {
                made.push(value?.extract().map_err(Into::into)?);
            }
            Ok(made)
        })
    }
}

/// The elements of a buffer, copied.
pub(super) fn copy_of<T: Element + Default>(
    py: Python<'_>,
    buffer: &PyBuffer<T>,
) -> PyResult<Vec<T>> {
    let mut copied = memory::fill(T::default(), buffer.item_count());
    buffer.copy_to_slice(py, &mut copied)?;
    Ok(copied)
}

/// Bytes, copied.
pub(super) fn bytes_of<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |made| {
        made.copy_from_slice(bytes);
        Ok(())
    })
}

/// What Python can be handed in a vector.
pub(super) trait Item {
    /// Makes an object of it.
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;
}

/// Takes a new reference that the C API made, or what it raised.
///
/// # Safety
/// It is a new reference, or null with an exception set.
unsafe fn owned(py: Python<'_>, made: *mut ffi::PyObject) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: as the caller says.
    unsafe { Bound::from_owned_ptr_or_err(py, made) }
}

impl Item for Bound<'_, PyBytes> {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(self.unbind().into_bound(py).into_any())
    }
}

impl Item for f64 {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        // SAFETY: the interpreter is held.
        unsafe { owned(py, ffi::PyFloat_FromDouble(self)) }
    }
}

impl Item for u64 {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        // SAFETY: the interpreter is held.
        unsafe { owned(py, ffi::PyLong_FromUnsignedLongLong(self)) }
    }
}

impl Item for i64 {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        // SAFETY: the interpreter is held.
        unsafe { owned(py, ffi::PyLong_FromLongLong(self)) }
    }
}

impl Item for u32 {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        u64::from(self).object(py)
    }
}

impl Item for &str {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        // SAFETY: the interpreter is held, and no text has more bytes than an isize counts.
        unsafe {
            let length = self.len().cast_signed();
            owned(py, ffi::PyUnicode_FromStringAndSize(self.as_ptr().cast(), length))
        }
    }
}

impl Item for String {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.as_str().object(py)
    }
}

impl<T: Item> Item for Option<T> {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.map_or_else(|| Ok(py.None().into_bound(py)), |value| value.object(py))
    }
}

/// A tuple of objects.
fn tuple<'py, const N: usize>(
    py: Python<'py>,
    items: [Bound<'py, PyAny>; N],
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the tuple is new, and each place of it is filled once with a reference of its own.
    unsafe {
        let made = owned(py, ffi::PyTuple_New(N.cast_signed()))?;
        for (at, item) in items.into_iter().enumerate() {
            filled(py, ffi::PyTuple_SetItem(made.as_ptr(), at.cast_signed(), item.into_ptr()))?;
        }
        Ok(made)
    }
}

fn filled(py: Python<'_>, status: c_int) -> PyResult<()> {
    if status == 0 { Ok(()) } else { Err(PyErr::fetch(py)) }
}

impl<A: Item, B: Item> Item for (A, B) {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        tuple(py, [self.0.object(py)?, self.1.object(py)?])
    }
}

impl<A: Item, B: Item, C: Item> Item for (A, B, C) {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        tuple(py, [self.0.object(py)?, self.1.object(py)?, self.2.object(py)?])
    }
}

impl<A: Item, B: Item, C: Item, D: Item> Item for (A, B, C, D) {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        tuple(py, [self.0.object(py)?, self.1.object(py)?, self.2.object(py)?, self.3.object(py)?])
    }
}

impl<T: Item> Item for Vec<T> {
    fn object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        // SAFETY: the list is new, and each place of it is filled once with a reference of its own.
        unsafe {
            let made = owned(py, ffi::PyList_New(self.len().cast_signed()))?;
            for (at, item) in self.into_iter().enumerate() {
                let item = item.object(py)?.into_ptr();
                filled(py, ffi::PyList_SetItem(made.as_ptr(), at.cast_signed(), item))?;
            }
            Ok(made)
        }
    }
}

impl<'py, T: Item> IntoPyObject<'py> for Vec<T> {
    type Target = PyList;
    type Output = Bound<'py, PyList>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        Ok(self.object(py)?.cast_into()?)
    }
}
