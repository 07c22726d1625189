//! Reads the columns of a table from Python.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use rankscope_core::ids::columns;
use rankscope_core::rank::rows::Table;
use rankscope_core::table::columns::{IdColumn, outside_of_text};

use super::cells::{Doubles, Numbers, View};
use super::column::{Column, Data};
use super::errors::to_python;
use super::id_cells::{Copied, IdCells, Ids};

/// Identifiers to be read: texts in memory that nobody else can change.
pub(super) enum IdView<'a> {
    Texts(Copied),
    Ints(View<'a, i64>),
}

impl Ids {
    pub(super) fn view(&self, py: Python<'_>) -> PyResult<IdView<'_>> {
        let cells = self.cells()?;
        if let IdCells::Ints(values) = cells {
            return Ok(IdView::Ints(values));
        }
        let mut copied = Copied::default();
        cells.copy(0..cells.len(), &mut copied).ok_or_else(|| to_python(py, &outside_of_text()))?;
        Ok(IdView::Texts(copied))
    }
}

impl IdView<'_> {
    pub(super) fn column(&self) -> IdColumn<'_> {
        match self {
            Self::Texts(copied) => copied.column(),
            Self::Ints(values) => IdColumn::Ints(values),
        }
    }
}

/// The queries of rows: of each row, or each once, and which of them each row has.
#[derive(FromPyObject)]
enum Queries {
    #[pyo3(transparent)]
    Each(Ids),
    #[pyo3(transparent)]
    Once((PyBuffer<i32>, Ids)),
}

/// The columns of a table: queries, documents, grades, scores and whether they are ranks below zero,
/// ranks, attributes.
#[derive(FromPyObject)]
pub(super) struct TableColumns(
    Queries,
    Option<Ids>,
    Numbers,
    Numbers,
    bool,
    Option<Numbers>,
    Vec<(String, Ids)>,
);

/// The same to be read.
pub(super) struct TableView<'a> {
    places: Option<View<'a, i32>>,
    queries: IdView<'a>,
    docs: Option<IdView<'a>>,
    relevance: Doubles<'a>,
    scores: Doubles<'a>,
    are_ranks: bool,
    ranks: Option<Doubles<'a>>,
    attributes: Vec<(&'a str, IdView<'a>)>,
}

impl TableColumns {
    pub(super) fn view(&self, py: Python<'_>) -> PyResult<TableView<'_>> {
        let Self(queries, docs, relevance, scores, are_ranks, ranks, attributes) = self;
        let attributes = attributes.iter().map(|(name, ids)| Ok((name.as_str(), ids.view(py)?)));
        let (places, queries) = match queries {
            Queries::Each(ids) => (None, ids),
            Queries::Once((places, ids)) => (Some(View::of(places)?), ids),
        };
        Ok(TableView {
            places,
            queries: queries.view(py)?,
            docs: docs.as_ref().map(|docs| docs.view(py)).transpose()?,
            relevance: relevance.view()?,
            scores: scores.view()?,
            are_ranks: *are_ranks,
            ranks: ranks.as_ref().map(Numbers::view).transpose()?,
            attributes: attributes.collect::<PyResult<_>>()?,
        })
    }
}

impl TableView<'_> {
    pub(super) fn table(&self) -> Table<'_> {
        let attributes = self.attributes.iter().map(|(name, ids)| (*name, ids.column()));
        Table {
            queries: self.queries.column(),
            places: self.places.as_ref().map(|places| places as _),
            docs: self.docs.as_ref().map(IdView::column),
            relevance: &self.relevance,
            scores: &self.scores,
            are_ranks: self.are_ranks,
            ranks: self.ranks.as_ref().map(|ranks| ranks as _),
            attributes: attributes.collect(),
        }
    }
}

/// The hashes of identifiers, which differ from process to process.
#[pyfunction]
pub fn hash_column(py: Python<'_>, ids: Ids) -> PyResult<Column> {
    let view = ids.view(py)?;
    Ok(Column(Data::Places(py.detach(|| columns::hash_column(&view.column())))))
}
