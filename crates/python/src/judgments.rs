//! The Python class `Judgments`.

use std::num::NonZero;
use std::sync::Arc;

use pyo3::prelude::*;
use rankscope_core::error::show;
use rankscope_core::ids::interner::Ids;
use rankscope_core::notes::Notes;
use rankscope_core::qrels::subtopics::{Second, Subtopics};
use rankscope_core::qrels::{by_subtopic, judgments};

use super::cells::Numbers;
use super::errors::to_python;
use super::input::{Source, input};
use super::objects::{
    Documents, Number, documents, each_row, each_subtopic_row, entries, read_id, read_number,
    read_query,
};
use super::saved::{Reduced, reduce, restore};
use super::texts::{NoteRows, names, text};
use super::watch::Watch;
use super::{choices, id_cells};

/// The judgments of many queries.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Judgments(pub(super) Arc<judgments::Judgments>);

#[pymethods]
impl Judgments {
    #[staticmethod]
    fn from_path(
        py: Python<'_>,
        source: Source,
        encoding: &str,
        duplicates: &str,
        progress: Option<Py<PyAny>>,
        second: &str,
    ) -> PyResult<Self> {
        let input = input(py, source, encoding)?;
        let duplicates = choices::field(duplicates)?;
        let second = if second.is_empty() { None } else { Some(read_second(second)?) };
        let read = Watch::new(progress).run(py, |watch| match second {
            Some(second) => by_subtopic::read(&input, (second, duplicates), watch),
            None => judgments::Judgments::read(&input, duplicates, watch),
        })?;
        Ok(Self(Arc::new(read)))
    }

    /// From a mapping of query to its documents, see `documents`.
    #[staticmethod]
    fn from_dict(qrels: &Bound<'_, PyAny>, duplicates: &str) -> PyResult<Self> {
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
            let mut add = |doc: &[u8], grade, line| {
                builder.add(&query, doc, grade, line).map_err(|error| to_python(py, &error))
            };
            match documents(&docs, Number::Grade, &place)? {
                Documents::Numbered(entries) => {
                    for (doc, grade) in entries {
                        line += 1;
                        let doc = read_id(&doc, &place, &mut notes)?;
                        let place = || format!("{place}[{:?}]", show(&doc));
                        let grade = read_number(&grade, Number::Grade, place)?;
                        notes.add_grade(grade, (0, line));
                        add(&doc, grade, line)?;
                    }
                }
                Documents::Listed(listed) => {
                    for doc in listed {
                        line += 1;
                        add(&read_id(&doc, &place, &mut notes)?, 1.0, line)?;
                    }
                }
            }
        }
        Self::finish(py, builder, duplicates, notes)
    }

    /// From rows of query, document and grade.
    #[staticmethod]
    fn from_rows(rows: &Bound<'_, PyAny>, duplicates: &str) -> PyResult<Self> {
        let py = rows.py();
        let mut notes = Notes::default();
        let mut builder = judgments::Builder::default();
        each_row(rows, "qrels", &mut notes, Number::Grade, |query, doc, grade, line, notes| {
            notes.add_grade(grade, (0, line));
            builder.add(query, doc, grade, line).map_err(|error| to_python(py, &error))
        })?;
        Self::finish(py, builder, duplicates, notes)
    }

    /// From rows of query, subtopic, document and grade.
    #[staticmethod]
    fn from_subtopic_rows(
        rows: &Bound<'_, PyAny>,
        second: &str,
        duplicates: &str,
    ) -> PyResult<Self> {
        let py = rows.py();
        let mut notes = Notes::default();
        let mut builder = by_subtopic::Builder::default();
        each_subtopic_row(rows, "qrels", &mut notes, |ids, grade, line, notes| {
            notes.add_grade(grade, (0, line));
            builder.add(ids, grade, line).map_err(|error| to_python(py, &error))
        })?;
        let second = read_second(second)?;
        let made = builder.finish(second, choices::field(duplicates)?, notes);
        Ok(Self(Arc::new(made.map_err(|error| to_python(py, &error.file("qrels")))?)))
    }

    /// From columns of queries, subtopics, documents and grades.
    #[staticmethod]
    fn from_subtopic_columns(
        py: Python<'_>,
        queries: id_cells::Ids,
        topics: id_cells::Ids,
        docs: id_cells::Ids,
        grades: Numbers,
        second: &str,
        duplicates: &str,
    ) -> PyResult<Self> {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let (queries, topics, docs) = (queries.view(py)?, topics.view(py)?, docs.view(py)?);
        let grades = grades.view()?;
        let choices = (read_second(second)?, choices::field(duplicates)?);
        let made = py.detach(|| {
            let columns = [queries.column(), topics.column(), docs.column()];
            by_subtopic::from_columns(columns, &grades, choices, threads)
        });
        made.map(|made| Self(Arc::new(made))).map_err(|error| to_python(py, &error.file("qrels")))
    }

    /// How many judgments of subtopics there are; none where they have no subtopics.
    fn subtopics(&self) -> Option<usize> {
        let subtopics = self.0.axis().subtopics();
        subtopics.filter(|made| made.second() == Second::Subtopic).map(Subtopics::len)
    }

    /// From columns of queries, documents and grades.
    #[staticmethod]
    fn from_columns(
        py: Python<'_>,
        queries: id_cells::Ids,
        docs: id_cells::Ids,
        grades: Numbers,
        duplicates: &str,
    ) -> PyResult<Self> {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let (queries, docs, grades) = (queries.view(py)?, docs.view(py)?, grades.view()?);
        let duplicates = choices::field(duplicates)?;
        let made = py.detach(|| {
            judgments::Judgments::from_columns(
                queries.column(),
                docs.column(),
                &grades,
                duplicates,
                threads,
            )
        });
        made.map(|made| Self(Arc::new(made))).map_err(|error| to_python(py, &error.file("qrels")))
    }

    /// The identifiers of the queries, in first-seen order.
    fn query_ids(&self) -> Vec<String> {
        names(self.0.axis())
    }

    fn find(&self, query: &str) -> Option<usize> {
        self.0.find_query(query.as_bytes())
    }

    /// The judged documents of a query by its number, and their grades, in no order.
    fn documents(&self, query: usize) -> Vec<(String, f64)> {
        let documents = self.0.documents(query);
        documents.iter().map(|(doc, grade)| (text(doc), *grade)).collect()
    }

    /// The different grades, ascending.
    fn grades(&self) -> Vec<f64> {
        self.0.axis().grades().to_vec()
    }

    fn notes(&self) -> NoteRows {
        self.0.notes().iter().collect()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduce(py, "restore_judgments", &self.0.save())
    }

    /// Itself, for it can't be changed.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }
}

/// Judgments from the bytes that `__reduce__` gave.
#[pyfunction]
pub fn restore_judgments(py: Python<'_>, saved: &[u8]) -> PyResult<Judgments> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    restore(py, saved, |bytes| {
        judgments::Judgments::restore(bytes, threads).map(|made| Judgments(Arc::new(made)))
    })
}

impl Judgments {
    fn finish(
        py: Python<'_>,
        builder: judgments::Builder,
        duplicates: &str,
        notes: Notes,
    ) -> PyResult<Self> {
        let made = builder.finish(choices::field(duplicates)?, notes);
        Ok(Self(Arc::new(made.map_err(|error| to_python(py, &error.file("qrels")))?)))
    }
}

/// What judgments have beside documents and grades.
fn read_second(name: &str) -> PyResult<Second> {
    choices::choose(name, &[("subtopic", Second::Subtopic), ("stratum", Second::Stratum)])
}
