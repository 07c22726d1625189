//! Turns errors of the core into exceptions of `rankscope.errors`.

use pyo3::prelude::*;
use rankscope_core::error::Error;

/// The exception for an error of the core.
pub(super) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    let make = || {
        let place = error.place();
        py.import("rankscope.errors")?.getattr("from_core")?.call1((
            error.kind().name(),
            error.message(),
            error.hint_text(),
            error.code(),
            (&place.file, place.line, place.column, &place.value),
        ))
    };
    make().map_or_else(|raised| raised, PyErr::from_value)
}
