//! The source that Python passes: bytes, a path, a pipe, or standard input.

#![allow(unsafe_code)] // the descriptor of a pipe comes from Python as a number

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use rankscope_core::text::source::{Encoding, Input, Origin};

use super::choices::choose;

/// What Python passes as a source.
#[derive(FromPyObject)]
pub(super) enum Source {
    #[pyo3(transparent)]
    Bytes(PyBackedBytes),
    #[pyo3(transparent)]
    Path(Option<PathBuf>),
}

/// The input that Python asks for.
pub(super) fn input(py: Python<'_>, source: Source, encoding: &str) -> PyResult<Input> {
    let origin = match source {
        Source::Bytes(bytes) => Origin::Bytes(bytes[..].into()),
        Source::Path(Some(path)) => open_pipe(py, path)?,
        Source::Path(None) => Origin::Stdin,
    };
    let encoding = choose(encoding, &[("utf-8", Encoding::Utf8), ("latin-1", Encoding::Latin1)])?;
    Ok(Input { origin, encoding })
}

/// What to read of a path. A pipe is opened here, by Python's own `open`, which heeds signals while
/// it waits for a writer.
fn open_pipe(py: Python<'_>, path: PathBuf) -> PyResult<Origin> {
    if !std::fs::metadata(&path).is_ok_and(|facts| facts.file_type().is_fifo()) {
        return Ok(Origin::Path(path));
    }
    let os = py.import("os")?;
    let opened = os.call_method1("open", (&path, os.getattr("O_RDONLY")?));
    match opened.and_then(|descriptor| descriptor.extract::<RawFd>()) {
        // SAFETY: the descriptor was opened above, and nobody else has it.
        Ok(descriptor) => {
            let file = File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
            Ok(Origin::Opened(path, Arc::new(file)))
        }
        // Opening it again will say why.
        Err(raised) if raised.is_instance_of::<PyOSError>(py) => Ok(Origin::Path(path)),
        Err(raised) => Err(raised),
    }
}
