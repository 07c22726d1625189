//! Looks up while the core works.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::to_python;
use crate::error::{Error, Kind};

/// Looks up at times while the core works: for signals, and to report progress.
pub(super) struct Watch {
    last: Instant,
    progress: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

impl Watch {
    pub(super) fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { last: Instant::now(), progress, raised: None }
    }

    fn look(&mut self, done: u64) -> Result<(), Error> {
        if self.last.elapsed() < BETWEEN_LOOKS {
            return Ok(());
        }
        self.last = Instant::now();
        let outcome = Python::attach(|py| {
            py.check_signals()?;
            self.progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (done,)).map(drop))
        });
        outcome.map_err(|raised| {
            self.raised = Some(raised);
            Error::new(Kind::Interrupted, "interrupted", "stopped by the caller")
        })
    }

    /// Runs work without the interpreter, and raises what stopped it.
    pub(super) fn run<T: Send>(
        mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn FnMut(u64) -> Result<(), Error>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let outcome = py.detach(|| work(&mut |done| self.look(done)));
        outcome.map_err(|error| self.raised.take().unwrap_or_else(|| to_python(py, &error)))
    }
}
