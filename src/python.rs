//! What Python sees of the core, as the module `rankscope._core`.

#![allow(missing_docs)] // `_core.pyi` documents what Python sees
#![allow(clippy::needless_pass_by_value)] // Python hands arguments over

mod audits;
mod cells;
mod choices;
mod column;
mod evaluation;
mod interpreter;
mod matrix;
mod objects;
mod pipe;
mod rankings;
mod reserve;
mod table;
mod table_stream;

mod vectors;
mod watch;
mod windows;

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use self::audits::{audit_ties, bound, bound_difference, find_regrets};
use self::cells::Numbers;
use self::choices::choose;
use self::column::Column;
use self::evaluation::{Evaluation, interval_of_mean, t_quantile};
use self::matrix::mean_of_rows;
use self::objects::{Number, each_row, entries, read_id, read_number, read_query, with_list};
use self::rankings::Rankings;
use self::table_stream::TableStream;
use self::watch::Watch;
use self::windows::{add_sums, find_shown, merge_sums, round_sums, sum_groups, unpack_pieces};
use crate::axis::Axis;
use crate::error::{Error, show};
use crate::evaluate::{self, Measure, Scorer};
use crate::ids::Ids;
use crate::judgments;
use crate::kernels::Gains;
use crate::memory::{self, Vec, guard, vec};
use crate::notes::{Note, Notes};
use crate::source::{self, Encoding, Input, Origin};
use crate::trec::{List, Row};
use crate::vocabulary::Vocabulary;
use crate::{kernels, numbered, run, stream};

#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        Column, Evaluation, Judgments, Plan, Rankings, Run, TableStream, add_sums, audit_ties,
        bound, bound_difference, evaluate_dict, evaluate_path, evaluate_run, find_regrets,
        find_shown, fsum, interval_of_mean, log2, mean_of_rows, merge_sums, round_sums, sum_groups,
        t_quantile, unpack_pieces,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::interpreter::refuse_another()?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let kernels = crate::kernels::TABLE.map(|(name, _)| name);
        module.add("KERNELS", pyo3::types::PyTuple::new(module.py(), kernels)?)
    }
}

fn to_python(py: Python<'_>, error: &Error) -> PyErr {
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

#[derive(FromPyObject)]
enum Source {
    #[pyo3(transparent)]
    Bytes(PyBackedBytes),
    #[pyo3(transparent)]
    Path(Option<PathBuf>),
}

fn input(py: Python<'_>, source: Source, encoding: &str) -> PyResult<Input> {
    let origin = match source {
        Source::Bytes(bytes) => Origin::Bytes(bytes[..].into()),
        Source::Path(Some(path)) => pipe::origin(py, path)?,
        Source::Path(None) => Origin::Stdin,
    };
    let encoding = choose(encoding, &[("utf-8", Encoding::Utf8), ("latin-1", Encoding::Latin1)])?;
    Ok(Input { origin, encoding })
}

type NoteRows = Vec<(&'static str, u64, u64)>;

/// The judgments of many queries.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Judgments(Arc<judgments::Judgments>);

#[pymethods]
impl Judgments {
    #[staticmethod]
    fn from_path(
        py: Python<'_>,
        source: Source,
        encoding: &str,
        duplicates: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        guard(|| {
            let input = input(py, source, encoding)?;
            let duplicates = choices::duplicates(duplicates)?;
            let read = Watch::new(progress)
                .run(py, |watch| judgments::Judgments::read(&input, duplicates, watch))?;
            Ok(Self(Arc::new(read)))
        })
    }

    /// From a mapping of query to a mapping of document to grade.
    #[staticmethod]
    fn from_dict(qrels: &Bound<'_, PyAny>, duplicates: &str) -> PyResult<Self> {
        guard(|| {
            let py = qrels.py();
            let mut notes = Notes::default();
            let mut builder = judgments::Builder::default();
            let mut queries = Ids::default();
            let mut line = 0;
            for (query, docs) in entries(qrels, "qrels", "a mapping of query to its documents")? {
                py.check_signals()?;
                let query = read_query(&query, "qrels", &mut queries, &mut notes)?;
                let place = format!("qrels[{:?}]", show(&query));
                builder.add_query(&query);
                for (doc, grade) in entries(&docs, &place, "a mapping of document to grade")? {
                    line += 1;
                    let doc = read_id(&doc, &place, &mut notes)?;
                    let place = || format!("{place}[{:?}]", show(&doc));
                    let grade = read_number(&grade, Number::Grade, place)?;
                    note_negative(grade, line, &mut notes);
                    builder
                        .add(&query, &doc, grade, line)
                        .map_err(|error| to_python(py, &error))?;
                }
            }
            Self::finish(py, builder, duplicates, notes)
        })
    }

    /// From rows of query, document and grade.
    #[staticmethod]
    fn from_rows(rows: &Bound<'_, PyAny>, duplicates: &str) -> PyResult<Self> {
        guard(|| {
            let py = rows.py();
            let mut notes = Notes::default();
            let mut builder = judgments::Builder::default();
            each_row(
                rows,
                "qrels",
                &mut notes,
                Number::Grade,
                |query, doc, grade, line, notes| {
                    note_negative(grade, line, notes);
                    builder.add(query, doc, grade, line).map_err(|error| to_python(py, &error))
                },
            )?;
            Self::finish(py, builder, duplicates, notes)
        })
    }

    /// From columns of queries, documents and grades.
    #[staticmethod]
    fn from_columns(
        py: Python<'_>,
        queries: table::Ids,
        docs: table::Ids,
        grades: Numbers,
        duplicates: &str,
    ) -> PyResult<Self> {
        guard(|| {
            let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
            let (queries, docs, grades) = (queries.view(py)?, docs.view(py)?, grades.view()?);
            let duplicates = choices::duplicates(duplicates)?;
            let made = py.detach(|| {
                numbered::from_columns(
                    queries.column(),
                    docs.column(),
                    &grades,
                    duplicates,
                    threads,
                )
            });
            made.map(|made| Self(Arc::new(made)))
                .map_err(|error| to_python(py, &error.file("qrels")))
        })
    }

    /// The identifiers of the queries, in first-seen order.
    fn query_ids(&self) -> PyResult<Vec<String>> {
        guard(|| Ok(names(self.0.axis())))
    }

    fn find(&self, query: &str) -> Option<usize> {
        self.0.find_query(query.as_bytes())
    }

    /// The judged documents of a query by its number, and their grades, in no order.
    fn documents(&self, query: usize) -> PyResult<Vec<(String, f64)>> {
        guard(|| {
            let documents = self.0.documents(query);
            Ok(documents.iter().map(|(doc, grade)| (text(doc), *grade)).collect())
        })
    }

    /// The different grades, ascending.
    fn grades(&self) -> PyResult<Vec<f64>> {
        guard(|| Ok(memory::copy(self.0.axis().grades())))
    }

    fn notes(&self) -> NoteRows {
        self.0.notes().iter().collect()
    }
}

impl Judgments {
    fn finish(
        py: Python<'_>,
        builder: judgments::Builder,
        duplicates: &str,
        notes: Notes,
    ) -> PyResult<Self> {
        let made = builder.finish(choices::duplicates(duplicates)?, notes);
        Ok(Self(Arc::new(made.map_err(|error| to_python(py, &error.file("qrels")))?)))
    }
}

fn note_negative(grade: f64, line: u64, notes: &mut Notes) {
    if grade < 0.0 {
        notes.add(Note::NegativeGrades, (0, line));
    }
}

fn names(axis: &Axis) -> Vec<String> {
    axis.names().map(|name| text(&name)).collect()
}

/// An identifier as Python's text.
fn text(id: &[u8]) -> String {
    memory::check();
    String::from_utf8_lossy(id).into_owned()
}

/// What to evaluate, and how.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Plan(Arc<evaluate::Plan>);

#[derive(FromPyObject)]
struct MeasureRow<'py>(String, String, Bound<'py, PyDict>, bool, (String, Option<f64>));

#[pymethods]
impl Plan {
    #[new]
    fn new(
        measures: Vec<MeasureRow<'_>>,
        policy: &Bound<'_, PyDict>,
        duplicates: &str,
        score_type: &str,
        cutoffs: Vec<Option<usize>>,
        weights: Option<Vec<f64>>,
    ) -> PyResult<Self> {
        guard(|| {
            let py = policy.py();
            let policy = choices::read_policy(policy)?;
            let measures = measures.into_iter().map(
                |MeasureRow(name, kernel, params, judged_only, aggregate)| {
                    let params = choices::read_params(&params, &policy)?;
                    let kernel =
                        kernels::make(&kernel, &params).map_err(|error| to_python(py, &error))?;
                    let aggregate = choices::aggregate(&aggregate.0, aggregate.1)?;
                    Ok(Measure { name, kernel: kernel.into(), judged_only, aggregate })
                },
            );
            Ok(Self(Arc::new(evaluate::Plan {
                measures: measures.collect::<PyResult<_>>()?,
                cutoffs: cutoffs.into_iter().map(|k| k.unwrap_or(usize::MAX)).collect(),
                policy,
                duplicates: choices::duplicates(duplicates)?,
                score_type: choices::score_type(score_type)?,
                weights,
            })))
        })
    }

    /// The gain of each grade, NaN being unjudged, where a measure is made of gains.
    fn gains(&self, measure: usize, grades: Vec<f64>) -> PyResult<Option<Vec<f64>>> {
        guard(|| {
            let of = self.gains_of(measure);
            Ok(of.map(|of| grades.into_iter().map(|grade| of.of_document(grade)).collect()))
        })
    }

    /// What each gain is worth at its rank, where a measure is made of gains.
    fn discounted(
        &self,
        measure: usize,
        gains: Vec<f64>,
        ranks: Vec<NonZero<usize>>,
    ) -> PyResult<Option<Vec<f64>>> {
        guard(|| {
            let pairs = gains.into_iter().zip(ranks);
            let of = self.gains_of(measure);
            Ok(of.map(|of| pairs.map(|(gain, rank)| of.discount(gain, rank.get())).collect()))
        })
    }
}

impl Plan {
    fn gains_of(&self, measure: usize) -> Option<&Gains> {
        self.0.measures.get(measure)?.kernel.gains()
    }
}

/// A run held in memory.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Run {
    run: run::Run,
    /// What messages call it.
    name: String,
}

#[pymethods]
impl Run {
    #[staticmethod]
    fn from_path(
        py: Python<'_>,
        source: Source,
        encoding: &str,
        score_type: &str,
        duplicates: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        guard(|| {
            let input = input(py, source, encoding)?;
            let (score_type, duplicates) =
                (choices::score_type(score_type)?, choices::duplicates(duplicates)?);
            let work =
                |watch: source::Watch<'_>| run::Run::read(&input, score_type, duplicates, watch);
            let run = Watch::new(progress).run(py, work)?;
            Ok(Self { run, name: input.name() })
        })
    }

    /// From a mapping of query to a mapping of document to score.
    #[staticmethod]
    fn from_dict(lists: &Bound<'_, PyAny>, score_type: &str) -> PyResult<Self> {
        guard(|| {
            let score_type = choices::score_type(score_type)?;
            let mut notes = Notes::default();
            let mut run = run::Run::default();
            let mut queries = Ids::default();
            for (query, docs) in entries(lists, "run", "a mapping of query to its documents")? {
                lists.py().check_signals()?;
                let query = read_query(&query, "run", &mut queries, &mut notes)?;
                with_list(&query, &docs, score_type, &mut notes, |list, _| run.add(list, 0))?;
            }
            Self::finish(lists.py(), run, notes)
        })
    }

    /// From rows of query, document and score.
    #[staticmethod]
    fn from_rows(rows: &Bound<'_, PyAny>, score_type: &str) -> PyResult<Self> {
        guard(|| {
            let score_type = choices::score_type(score_type)?;
            let mut notes = Notes::default();
            let mut run = run::Run::default();
            each_row(rows, "run", &mut notes, Number::Score, |query, doc, score, line, _| {
                run.add_row(query, &Row { doc, score: score_type.round(score), line });
                Ok(())
            })?;
            Self::finish(rows.py(), run, notes)
        })
    }
}

impl Run {
    fn finish(py: Python<'_>, run: run::Run, notes: Notes) -> PyResult<Self> {
        let name = "run".to_owned();
        let made = run.finish(notes).map(|run| Self { run, name });
        made.map_err(|error| to_python(py, &error.file("run")))
    }
}

/// Evaluates a run while reading it.
#[pyfunction]
fn evaluate_path(
    py: Python<'_>,
    judgments: &Judgments,
    plan: &Plan,
    source: Source,
    encoding: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Evaluation> {
    guard(|| {
        let input = input(py, source, encoding)?;
        let work = |watch: source::Watch<'_>| {
            stream::evaluate(&plan.0, &judgments.0, &input, threads, watch)
        };
        Watch::new(progress).run(py, work).map(|made| Evaluation::new(made, plan))
    })
}

/// Evaluates a run held in memory.
#[pyfunction]
fn evaluate_run(
    py: Python<'_>,
    judgments: &Judgments,
    plan: &Plan,
    run: &Run,
    threads: usize,
) -> PyResult<Evaluation> {
    guard(|| {
        let work = |watch: source::Watch<'_>| {
            stream::evaluate_run(&plan.0, &judgments.0, &run.run, threads, watch)
                .map_err(|error| error.file(&run.name))
        };
        Watch::new(None).run(py, work).map(|made| Evaluation::new(made, plan))
    })
}

/// Evaluates a mapping of query to a mapping of document to score, list by list where they lie.
#[pyfunction]
fn evaluate_dict(
    judgments: &Judgments,
    plan: &Plan,
    lists: &Bound<'_, PyAny>,
) -> PyResult<Evaluation> {
    guard(|| {
        let py = lists.py();
        let asked = plan;
        let (judgments, plan) = (&judgments.0, &*plan.0);
        let refuse = |error: Error| to_python(py, &error.file("run"));
        plan.check(judgments.axis()).map_err(refuse)?;
        let mut scorer = Scorer::new(plan, judgments.axis());
        let mut notes = Notes::default();
        let mut queries = Ids::default();
        let mut run_only = Ids::default();
        for (query, docs) in entries(lists, "run", "a mapping of query to its documents")? {
            py.check_signals()?;
            let query = read_query(&query, "run", &mut queries, &mut notes)?;
            let judged = judgments.find_query(&query);
            if judged.is_none() {
                run_only.number(&query);
            }
            let score = |list: &mut List<'_>, is_distinct: bool| match judged {
                Some(judged) if is_distinct => {
                    scorer.score_distinct(judgments, judged, list);
                    Ok(())
                }
                _ if is_distinct => Ok(()),
                _ => scorer.score(judgments, judged, list),
            };
            with_list(&query, &docs, plan.score_type, &mut notes, score)?.map_err(refuse)?;
        }
        let dropped = scorer.dropped;
        let run_only = Vocabulary::Texts(run_only);
        let mut made =
            stream::finish_run(plan, judgments.axis(), vec![scorer], &run_only).map_err(refuse)?;
        made.notes.merge(&notes);
        made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
        Ok(Evaluation::new(made, asked))
    })
}

/// The sum of numbers, rounded once, as `math.fsum`.
#[pyfunction]
fn fsum(values: Vec<f64>) -> f64 {
    values.into_iter().collect::<crate::sum::ExactSum>().value()
}

/// log2 of a positive integer, correctly rounded.
#[pyfunction]
fn log2(integer: usize) -> PyResult<f64> {
    guard(|| {
        if integer == 0 {
            return Err(PyValueError::new_err("log2 of 0"));
        }
        Ok(crate::log2::log2(integer))
    })
}
