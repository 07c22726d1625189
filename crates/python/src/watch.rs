//! Checks for signals and reports progress while the core works.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use rankscope_core::error::{Error, Kind};
use rankscope_core::watch::{self, Event};

use super::errors::to_python;

/// Looks up at times while the core works: for signals, and to report progress.
pub(super) struct Watch {
    last: Option<Instant>,
    progress: Option<Py<PyAny>>,
    check: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

impl Watch {
    pub(super) fn new(progress: Option<Py<PyAny>>) -> Self {
        // Whoever wants to see progress sees the first step, however short the work is.
        let last = progress.is_none().then(Instant::now);
        Self { last, progress, check: None, raised: None }
    }

    /// Calls a function at each look, which stops the work by raising, as where a deadline is over.
    pub(super) fn checking(check: Option<Py<PyAny>>) -> Self {
        Self { last: None, progress: None, check, raised: None }
    }

    fn look(&mut self, event: Event) -> Result<(), Error> {
        let is_soon = self.last.is_some_and(|last| last.elapsed() < BETWEEN_LOOKS);
        if is_soon && event != Event::Signal {
            return Ok(());
        }
        self.last = Some(Instant::now());
        let outcome = Python::attach(|py| {
            py.check_signals()?;
            if let Some(check) = &self.check {
                check.call0(py)?;
            }
            match (event, &self.progress) {
                (Event::Read(done), Some(progress)) => progress.call1(py, (done,)).map(drop),
                _ => Ok(()),
            }
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
        work: impl FnOnce(watch::Watch<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let outcome = py.detach(|| work(&mut |event| self.look(event)));
        outcome.map_err(|error| self.raised.take().unwrap_or_else(|| to_python(py, &error)))
    }
}
