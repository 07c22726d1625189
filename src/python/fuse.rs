//! The Python functions that fuse runs: in memory, while they are read, and in rows of any order.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};

use super::agreement::Given;
use super::choices;
use super::errors::to_python;
use super::input::{Source, input};
use super::room::Room;
use super::run::Run;
use super::run_columns::RunColumns;
use super::watch::Watch;
use crate::error::{Error, Kind, Result};
use crate::fuse::choices::{Choices, Method, Scale};
use crate::fuse::grouped::{fuse_to_lines, fuse_to_run};
use crate::fuse::output::{Fusion, Summary};
use crate::fuse::scattered;
use crate::fuse::sources::{self, Held, Part, Text};
use crate::fuse::{self, fuse};
use crate::memory::{Vec, guard, vec};
use crate::policy::{Duplicates, ScoreType};
use crate::rank::lists::Lists;
use crate::rank::run::{self, each_list};
use crate::table::queue;
use crate::watch;

/// All choices of a fusion: the method with its parameter where it needs one, such as the constant of
/// reciprocal ranks; the scale; weights by run; ties; and the depth.
#[derive(FromPyObject)]
pub(super) struct Settings((String, f64), String, Vec<f64>, String, Option<usize>);

impl Settings {
    fn read(self) -> PyResult<Choices> {
        let Self((method, parameter), scale, weights, ties, depth) = self;
        Ok(Choices {
            method: read_method(&method, parameter)?,
            scale: choices::choose(&scale, &SCALES)?,
            weights,
            ties: choices::field(&ties)?,
            depth: depth.unwrap_or(usize::MAX),
        })
    }
}

/// Fuses runs in memory.
#[pyfunction]
pub(super) fn fuse_runs(
    py: Python<'_>,
    runs: Vec<(Given<'_>, String)>,
    settings: Settings,
    threads: usize,
) -> PyResult<Run> {
    guard(|| {
        let choices = settings.read()?;
        let runs: Vec<fuse::Given<'_>> =
            runs.iter().map(|(run, name)| fuse::Given { lists: run.lists(), name }).collect();
        let run = Watch::new(None).run(py, |watch| fuse(&runs, &choices, threads, watch))?;
        Ok(Run { run, name: "fused".to_owned() })
    })
}

/// How many queries and documents were written, how many queries each run has, and how many bytes were
/// written to temporary files.
type Written = (usize, u64, Vec<u64>, u64);

fn tell(summary: Summary) -> Written {
    let of_runs = summary.of_runs.iter().map(|&queries| queries as u64).collect();
    (summary.queries, summary.documents, of_runs, summary.written)
}

/// A run to read: a source of text with its encoding, one in memory, or an iterator of columns, each with
/// all rows of its queries; `None` among them gives up.
#[derive(FromPyObject)]
pub(super) enum Read<'py> {
    Text(Source, String),
    #[pyo3(transparent)]
    Lists(Given<'py>),
    #[pyo3(transparent)]
    Batches(Py<PyIterator>),
}

/// Runs to read side by side: each with its name, the type of scores, and about how many bytes of memory
/// to read at a time.
#[derive(FromPyObject)]
pub(super) struct Reading<'py>(Vec<(Read<'py>, String)>, String, usize);

/// A run that is ready to be read.
enum Opener<'a> {
    Text(crate::text::source::Input),
    Lists(&'a dyn Lists),
    Batches(Py<PyIterator>),
}

impl Reading<'_> {
    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(_, name)| &name[..]).collect()
    }

    fn openers(&self, py: Python<'_>) -> PyResult<Vec<Opener<'_>>> {
        let mut openers = vec![];
        for (run, _) in &self.0 {
            openers.push(match run {
                Read::Text(source, encoding) => {
                    Opener::Text(input(py, source.share(py), encoding)?)
                }
                Read::Lists(given) => Opener::Lists(given.lists()),
                Read::Batches(iterator) => Opener::Batches(iterator.clone_ref(py)),
            });
        }
        Ok(openers)
    }
}

/// Opens runs; nothing if one can't be read, for whoever reads run after run finds out which mistake
/// comes first.
fn open<'a>(
    openers: Vec<Opener<'a>>,
    score_type: ScoreType,
    (memory, threads): (usize, usize),
    raised: &Raised,
    watch: watch::Watch<'_>,
) -> Result<Option<Vec<Box<dyn sources::Source + 'a>>>> {
    let room = (memory / openers.len().max(1), threads);
    let mut opened: Vec<Box<dyn sources::Source + 'a>> = vec![];
    for opener in openers {
        opened.push(match opener {
            Opener::Text(input) => match Text::open(&input, score_type, room, watch) {
                Ok(text) => Box::new(text),
                Err(error) if error.kind() == Kind::Interrupted => return Err(error),
                Err(_) => return Ok(None),
            },
            Opener::Lists(lists) => Box::new(Held::new(lists)),
            Opener::Batches(iterator) => {
                Box::new(Batches { iterator, score_type, raised: raised.clone() })
            }
        });
    }
    Ok(Some(opened))
}

/// Fuses runs while reading them side by side, and passes lines with a tag to a function; nothing if
/// they have to be read in another way, because rows of a query are not together, lists exceed the room,
/// or there is a mistake. What was written is void then.
#[pyfunction]
pub(super) fn fuse_to_file(
    py: Python<'_>,
    runs: Reading<'_>,
    settings: Settings,
    room: Room,
    threads: usize,
    output: (String, Py<PyAny>),
) -> PyResult<Option<Written>> {
    guard(|| {
        let choices = settings.read()?;
        let score_type: ScoreType = choices::field(&runs.1)?;
        let (names, openers) = (runs.names(), runs.openers(py)?);
        let rooms = (room.share(py).look_up(), room.look_up());
        let ((tag, write), raised) = (output, Raised::default());
        let work = |watch: watch::Watch<'_>| {
            let limits = (runs.2, threads);
            let Some(mut opened) = open(openers, score_type, limits, &raised, watch)? else {
                return Ok(None);
            };
            let fusion = Fusion { names: &names, choices: &choices, threads };
            let sink = &mut |text: &[u8]| raised.write(&write, text);
            fuse_to_lines(&mut opened, fusion, (&tag, sink), rooms, watch)
        };
        let made = raised.or(Watch::new(None).run(py, work))?;
        Ok(made.map(tell))
    })
}

/// Fuses runs into one in memory while reading them, as [`fuse_to_file`] does; gives it with the number of
/// queries that each run has.
#[pyfunction]
pub(super) fn fuse_to_memory(
    py: Python<'_>,
    runs: Reading<'_>,
    settings: Settings,
    threads: usize,
) -> PyResult<Option<(Run, Vec<u64>)>> {
    guard(|| {
        let choices = settings.read()?;
        let score_type: ScoreType = choices::field(&runs.1)?;
        let (names, openers) = (runs.names(), runs.openers(py)?);
        let raised = Raised::default();
        let work = |watch: watch::Watch<'_>| {
            let limits = (runs.2, threads);
            let Some(mut opened) = open(openers, score_type, limits, &raised, watch)? else {
                return Ok(None);
            };
            let fusion = Fusion { names: &names, choices: &choices, threads };
            fuse_to_run(&mut opened, fusion, queue::Room::unlimited(), watch)
        };
        let made = raised.or(Watch::new(None).run(py, work))?;
        Ok(made.map(|(run, summary)| (Run { run, name: "fused".to_owned() }, tell(summary).2)))
    })
}

/// What Python raised while it was called.
#[derive(Clone, Default)]
struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn keep(&self, raised: PyErr) -> Error {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
        Error::new(Kind::Interrupted, "interrupted", "stopped by the caller")
    }

    /// The error of Python, if there is one.
    fn or<T>(&self, outcome: PyResult<T>) -> PyResult<T> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(raised) => Err(raised),
            None => outcome,
        }
    }

    fn write(&self, write: &Py<PyAny>, text: &[u8]) -> Result<()> {
        Python::attach(|py| write.call1(py, (PyBytes::new(py, text),)).map(drop))
            .map_err(|raised| self.keep(raised))
    }
}

/// A run in columns that Python reads.
struct Batches {
    iterator: Py<PyIterator>,
    score_type: ScoreType,
    raised: Raised,
}

impl sources::Source for Batches {
    fn next(&mut self, _: usize, _: watch::Watch<'_>) -> Result<Vec<Part<'_>>> {
        Python::attach(|py| {
            let next = || -> PyResult<Option<Option<RunColumns>>> {
                let Some(found) = self.iterator.bind(py).clone().next() else { return Ok(None) };
                Ok(Some(found?.extract()?))
            };
            let columns = match next().map_err(|raised| self.raised.keep(raised))? {
                None => return Ok(vec![]),
                Some(None) => {
                    return Err(Error::new(Kind::Format, "interrupted", "a mistake was found"));
                }
                Some(Some(columns)) => columns,
            };
            let view = columns.view(py).map_err(|raised| self.raised.keep(raised))?;
            let run = run::Run::from_columns(&view.run(), self.score_type)?;
            Ok(vec![Box::new(run) as Part<'_>])
        })
    }
}

/// Fuses runs whose rows come in any order, which go to files where they exceed memory.
#[pyclass(frozen, module = "rankscope._core")]
pub struct ScatteredRuns(Mutex<Option<scattered::ScatteredRuns<'static>>>);

#[pymethods]
impl ScatteredRuns {
    #[new]
    fn new(runs: usize, room: Room) -> Self {
        Self(Mutex::new(Some(scattered::ScatteredRuns::new(runs, room.look_up()))))
    }

    /// Adds a run in TREC format.
    fn push_path(
        &self,
        py: Python<'_>,
        source: Source,
        encoding: &str,
        score_type: &str,
    ) -> PyResult<()> {
        guard(|| {
            let input = input(py, source, encoding)?;
            let score_type = choices::field(score_type)?;
            self.with(|runs| {
                Watch::new(None).run(py, |watch| {
                    runs.begin();
                    each_list(&input, score_type, Duplicates::Error, watch, |list, before| {
                        runs.add(list, before)
                    })?;
                    runs.end().map_err(|error| error.file(&input.name()))
                })
            })?
        })
    }

    /// Adds a run in memory, which messages call by its name.
    fn push_lists(&self, py: Python<'_>, run: Given<'_>, name: &str) -> PyResult<()> {
        guard(|| {
            let lists = run.lists();
            self.with(|runs| py.detach(|| runs.add_lists(lists)))?
                .map_err(|error| to_python(py, &error.file(name)))
        })
    }

    /// Begins with a run in columns.
    fn begin(&self) -> PyResult<()> {
        guard(|| self.with(scattered::ScatteredRuns::begin))
    }

    /// Adds rows of it, after so many others; says how many.
    fn push(
        &self,
        py: Python<'_>,
        columns: RunColumns,
        rows_before: u64,
        score_type: &str,
    ) -> PyResult<u64> {
        guard(|| {
            let view = columns.view(py)?;
            let score_type = choices::field(score_type)?;
            let add = |runs: &mut scattered::ScatteredRuns<'static>| {
                let rows = run::Run::from_columns(&view.run(), score_type);
                let rows = rows.map_err(|error| error.after_lines(rows_before))?;
                rows.each_stretch(|list| runs.add(list, rows_before))?;
                Ok(rows.rows() as u64)
            };
            self.with(|runs| py.detach(|| add(runs)))?.map_err(|error| to_python(py, &error))
        })
    }

    /// Ends the run, whose columns messages call by this name.
    fn end(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        guard(|| self.with(|runs| runs.end())?.map_err(|error| to_python(py, &error.file(name))))
    }

    /// The bytes written to files so far.
    fn written(&self) -> PyResult<u64> {
        self.with(|runs| runs.written())
    }

    /// Fuses all runs, and passes the lines to `write`.
    #[allow(clippy::too_many_arguments)] // how to fuse, and where to
    fn fuse(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        settings: Settings,
        tag: &str,
        threads: usize,
        write: Py<PyAny>,
    ) -> PyResult<Written> {
        guard(|| {
            let choices = settings.read()?;
            let runs = self.0.lock().map_err(|_| ended())?.take().ok_or_else(ended)?;
            let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
            let fusion = Fusion { names: &names, choices: &choices, threads };
            let raised = Raised::default();
            let work = |watch: watch::Watch<'_>| {
                let sink = &mut |text: &[u8]| raised.write(&write, text);
                runs.fuse(fusion, (tag, sink), watch)
            };
            raised.or(Watch::new(None).run(py, work)).map(tell)
        })
    }
}

impl ScatteredRuns {
    fn with<T>(
        &self,
        act: impl FnOnce(&mut scattered::ScatteredRuns<'static>) -> T,
    ) -> PyResult<T> {
        let mut runs = self.0.lock().map_err(|_| ended())?;
        runs.as_mut().map(act).ok_or_else(ended)
    }
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the runs were fused")
}

const SCALES: [(&str, Scale); 7] = [
    ("none", Scale::Scores),
    ("min_max", Scale::MinMax),
    ("max", Scale::Max),
    ("sum", Scale::Sum),
    ("zmuv", Scale::Zmuv),
    ("rank", Scale::Rank),
    ("borda", Scale::Borda),
];

fn read_method(name: &str, parameter: f64) -> PyResult<Method> {
    Ok(match name {
        "combsum" => Method::Sum,
        "combmnz" => Method::Mnz,
        "combanz" => Method::Anz,
        "combmed" => Method::Median,
        "combmax" => Method::Max,
        "combmin" => Method::Min,
        "rrf" => Method::ReciprocalRank(parameter),
        "isr" => Method::InverseSquare,
        "log_isr" => Method::LogInverseSquare(parameter),
        "rbc" => Method::RankBiased(parameter),
        "borda" => Method::Borda,
        "condorcet" => Method::Condorcet,
        _ => return Err(PyValueError::new_err(name.to_owned())),
    })
}
