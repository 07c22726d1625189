//! How much memory rows may take, which Python is asked for when it first matters.

use std::path::PathBuf;

use pyo3::prelude::*;
use rankscope_core::error::{Error, Kind};
use rankscope_core::table::queue::{self, Spill};

/// How many bytes of rows need no look, and a function that returns the folder for files and the bytes of
/// memory.
#[derive(FromPyObject)]
pub(super) struct Room(usize, Py<PyAny>);

impl Room {
    /// The room that the function tells.
    pub(super) fn look_up(self) -> queue::Room<'static> {
        let Self(unasked, find) = self;
        let find = move || {
            let found = Python::attach(|py| find.call0(py)?.extract(py));
            let (folder, memory): (PathBuf, u64) = found.map_err(|error: PyErr| {
                Error::new(Kind::File, "spill_file", error.to_string())
                    .hint("name another folder: spill_folder, --spill-folder or TMPDIR")
            })?;
            Ok(Spill { folder, memory })
        };
        queue::Room::new(unasked, Box::new(find))
    }
}
