//! Keeps to one interpreter of a process.

#![allow(unsafe_code)] // only the C API tells interpreters apart

use std::sync::atomic::{AtomicI64, Ordering};

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

static FIRST: AtomicI64 = AtomicI64::new(-1);

/// Refuses any interpreter but the first that asks: the classes of the module are shared by the
/// whole process, and would outlive a second one.
pub(super) fn refuse_another() -> PyResult<()> {
    // SAFETY: the caller is an interpreter that imports the module, so there is one, and it is held.
    let this = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match FIRST.compare_exchange(-1, this, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != this => Err(PyImportError::new_err(
            "rankscope runs in one interpreter of a process, and another has loaded it already",
        )),
        _ => Ok(()),
    }
}
