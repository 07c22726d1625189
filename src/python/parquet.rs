//! Checks the metadata of Parquet files that Python opened.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::errors::to_python;
use super::vectors::bytes_of;
use crate::error::{self, Error};
use crate::memory::{self, Vec, guard};
use crate::parquet::footer::Footer;
use crate::parquet::pages;
use crate::parquet::source::Source;

/// A function of Python that reads bytes from an offset.
struct PythonFile<'a> {
    read: &'a Py<PyAny>,
    raised: Option<PyErr>,
}

impl Source for PythonFile<'_> {
    fn read(&mut self, offset: u64, count: usize) -> error::Result<Vec<u8>> {
        let found = Python::attach(|py| {
            let found = self.read.call1(py, (offset, count))?;
            Ok(memory::copy(found.bind(py).cast::<PyBytes>()?.as_bytes()))
        });
        found.map_err(|raised: PyErr| {
            self.raised = Some(raised);
            Error::new(error::Kind::Interrupted, "interrupted", "the file can't be read")
        })
    }
}

/// Reads a file without the interpreter, and raises what its function raised.
fn read_with<T: Send>(
    py: Python<'_>,
    read: &Py<PyAny>,
    work: impl Fn(&mut PythonFile<'_>) -> error::Result<T> + Send + Sync,
) -> PyResult<T> {
    guard(|| {
        let mut file = PythonFile { read, raised: None };
        let outcome = py.detach(|| work(&mut file));
        outcome.map_err(|error| file.raised.take().unwrap_or_else(|| to_python(py, &error)))
    })
}

/// The checked metadata of a Parquet file.
#[pyclass(frozen, module = "rankscope._core")]
pub(super) struct ParquetFooter(Footer);

#[pymethods]
impl ParquetFooter {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "Python passes objects")]
    fn new(py: Python<'_>, read: Py<PyAny>, size: u64) -> PyResult<Self> {
        read_with(py, &read, |file| Footer::read(file, size)).map(Self)
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows
    }

    #[getter]
    fn row_groups(&self) -> usize {
        self.0.groups.len()
    }

    #[getter]
    fn columns(&self) -> usize {
        self.0.schema.leaves.len()
    }

    #[getter]
    fn unpacked(&self) -> u64 {
        self.0.unpacked
    }

    #[getter]
    fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &self.0.copy)
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python passes objects")]
    fn estimate(&self, names: Vec<String>) -> (u64, u64) {
        let leaves: Vec<usize> = self.0.parts_of(&names).collect();
        self.0.estimate(&leaves)
    }

    /// Checks the pages of columns, and returns the paths of those that may grow, and how much.
    #[expect(clippy::needless_pass_by_value, reason = "Python passes objects")]
    fn check_pages(
        &self,
        py: Python<'_>,
        read: Py<PyAny>,
        names: Vec<String>,
    ) -> PyResult<Vec<(String, u64, u64)>> {
        let leaves: Vec<usize> = self.0.parts_of(&names).collect();
        let growths = read_with(py, &read, |file| pages::check(&self.0, &leaves, file))?;
        let grown =
            leaves.iter().zip(&growths).filter(|(_, growth)| growth.most + growth.longest > 0);
        let schema = &self.0.schema;
        let named = grown.map(|(&leaf, growth)| {
            let path = schema.path(&schema.leaves[leaf]).join(".");
            (path, growth.most, growth.longest)
        });
        Ok(named.collect())
    }
}
