//! How Python pickles the classes of the core: as a function of the module and the bytes that it reads.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rankscope_core::error::Result;

use super::errors::to_python;

/// A function of the module, and the bytes from which it makes an object anew.
pub(super) type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

/// What `__reduce__` gives.
pub(super) fn reduce<'py>(py: Python<'py>, restore: &str, bytes: &[u8]) -> PyResult<Reduced<'py>> {
    Ok((py.import("rankscope._core")?.getattr(restore)?, (PyBytes::new(py, bytes),)))
}

/// Reads an object.
pub(super) fn restore<T: Send>(
    py: Python<'_>,
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<T> + Send + Sync,
) -> PyResult<T> {
    py.detach(|| read(bytes)).map_err(|error| to_python(py, &error))
}
