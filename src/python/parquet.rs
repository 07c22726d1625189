//! Checks the metadata of Parquet files that Python opened.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::choices;
use super::errors::to_python;
use super::plan::Plan;
use super::run_columns::{RunParts, SpilledColumns};
use super::spilled::SpilledTable;
use super::table_stream::{TableStream, ended};
use super::vectors::bytes_of;
use crate::error::{self, Error};
use crate::memory::{self, Vec, guard};
use crate::parquet::footer::Footer;
use crate::parquet::pages;
use crate::parquet::rows::RowReader;
use crate::parquet::source::Source;
use crate::parquet::values::Role;
use crate::table::frame::Frame;
use crate::threads;

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

/// Frames that are evaluated at once, at most: one thread reads no more.
const MOST_FRAMES: usize = 4;

/// Reads the rows of a file, and gives them to an evaluation, while it reads the next ones.
#[pyclass(frozen, module = "rankscope._core")]
pub(super) struct ParquetRows(Mutex<Reading>);

struct Reading {
    reader: RowReader,
    read: Py<PyAny>,
    at_once: usize,
    in_any_order: bool,
    next: Option<error::Result<Vec<Frame>>>,
    /// The lowest and the highest grade.
    scale: Option<(f64, f64)>,
}

impl Reading {
    /// Lets `work` have the next frames, if there are any.
    fn give<T: Send>(
        &mut self,
        py: Python<'_>,
        (most_frames, threads): (usize, usize),
        work: impl FnOnce(&[Frame]) -> error::Result<T> + Send,
    ) -> PyResult<Option<T>> {
        let Self { reader, read, at_once, in_any_order, next, scale } = self;
        let mut file = PythonFile { read, raised: None };
        let mut further = || {
            let mut frames = Vec::new();
            for _ in 0..threads.saturating_sub(1).clamp(1, most_frames) {
                let frame = reader.read(&mut file, *at_once, !*in_any_order)?;
                if frame[0].is_empty() {
                    break;
                }
                frames.push(frame);
            }
            Ok(frames)
        };
        let given = py.detach(|| {
            let frames = next.take().unwrap_or_else(&mut further)?;
            if frames.is_empty() {
                return Ok(None);
            }
            let used = || {
                frames.iter().for_each(|frame| widen(scale, frame[2].doubles()));
                work(&frames)
            };
            let (done, further) = threads::both(threads, used, further);
            *next = Some(further);
            done.map(Some)
        });
        match file.raised {
            Some(raised) => Err(raised),
            None => given.map_err(|error| to_python(py, &error)),
        }
    }
}

fn widen(scale: &mut Option<(f64, f64)>, grades: &[f64]) {
    let known = grades.iter().copied().filter(|grade| !grade.is_nan());
    let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), grade| {
        (grade.min(low), grade.max(high))
    });
    if low <= high {
        *scale = Some(scale.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
    }
}

#[pymethods]
impl ParquetRows {
    /// Opens columns by name, each with what it holds; the first one has the queries. `most` limits the
    /// bytes of all values. Rows are in any order where they are spilled, and else whole queries are read.
    #[staticmethod]
    fn open(
        footer: &ParquetFooter,
        read: Py<PyAny>,
        columns: Vec<(String, String)>,
        most: u64,
        at_once: usize,
        in_any_order: bool,
    ) -> Option<Self> {
        let roles = columns.into_iter().map(|(name, kind)| {
            let role = match &kind[..] {
                "numbered" => Role::Numbered,
                "grades" => Role::Grades,
                "scores" => Role::Scores,
                _ => Role::Ids,
            };
            (name, role)
        });
        let reader = RowReader::open(&footer.0, &roles.collect::<Vec<_>>(), most)?;
        let (next, scale) = (None, None);
        Some(Self(Mutex::new(Reading { reader, read, at_once, in_any_order, next, scale })))
    }

    /// Evaluates the next queries; says whether they are new, nothing if there are none.
    #[allow(clippy::too_many_arguments)] // how a table is read
    fn evaluate(
        &self,
        py: Python<'_>,
        stream: &TableStream,
        plan: &Plan,
        ties: &str,
        duplicates: &str,
        is_grouped: bool,
        threads: usize,
    ) -> PyResult<Option<bool>> {
        guard(|| {
            let chosen = (choices::field(ties)?, choices::field(duplicates)?);
            let mut stream = stream.0.lock().map_err(|_| ended())?;
            let stream = stream.as_mut().ok_or_else(ended)?;
            let push = |frames: &[Frame]| stream.push_frames(&plan.0, frames, chosen, is_grouped);
            self.lock().give(py, (MOST_FRAMES, threads), push)
        })
    }

    /// Adds the next rows to those that are evaluated later; says whether there were any.
    fn spill(&self, py: Python<'_>, spilled: &SpilledTable, threads: usize) -> PyResult<bool> {
        guard(|| {
            spilled.with(|spilled| {
                let mut reading = self.lock();
                let push = |frames: &[Frame]| spilled.push_frame(&frames[0]);
                let pushed = reading.give(py, (1, threads), push)?;
                if pushed.is_none() {
                    spilled.name_queries(reading.reader.take_known());
                }
                Ok(pushed.is_some())
            })?
        })
    }

    /// Evaluates the next queries of a run; says whether they are new, nothing if there are none.
    fn evaluate_run(
        &self,
        py: Python<'_>,
        parts: &RunParts,
        plan: &Plan,
        threads: usize,
    ) -> PyResult<Option<bool>> {
        guard(|| {
            let mut parts = parts.0.lock().map_err(|_| ended())?;
            let parts = parts.as_mut().ok_or_else(ended)?;
            let push = |frames: &[Frame]| parts.push_frame(&plan.0, &frames[0], threads);
            self.lock().give(py, (1, threads), push)
        })
    }

    /// Adds the next rows to those of a run that are evaluated later; says whether there were any.
    fn spill_run(
        &self,
        py: Python<'_>,
        spilled: &SpilledColumns,
        threads: usize,
    ) -> PyResult<bool> {
        guard(|| {
            let pushed = spilled.with(|spilled| {
                let push = |frames: &[Frame]| spilled.push_frame(&frames[0]);
                self.lock().give(py, (1, threads), push)
            })?;
            pushed.map(|pushed| pushed.is_some())
        })
    }

    /// The lowest and the highest grade so far, if there was any.
    #[getter]
    fn scale(&self) -> Option<(f64, f64)> {
        self.lock().scale
    }

    /// How many rows were read.
    #[getter]
    fn rows(&self) -> u64 {
        self.lock().reader.rows()
    }
}

impl ParquetRows {
    fn lock(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
