//! The Python class `Items`.

use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rankscope_core::items;
use rankscope_core::items::features::Features;

use super::errors::to_python;
use super::id_cells::Ids;
use super::judgments::Judgments;

/// What is known of items besides judgments.
#[pyclass(frozen, module = "rankscope._core")]
pub struct Items(pub(super) Arc<items::Items>);

/// The items that are described, how many numbers or where the categories of each end, and all of them.
#[derive(FromPyObject)]
enum Described {
    #[pyo3(transparent)]
    Vectors((Ids, usize, PyBuffer<f64>)),
    #[pyo3(transparent)]
    Categories((Ids, PyBuffer<i64>, PyBuffer<i64>)),
}

#[pymethods]
impl Items {
    #[new]
    #[pyo3(signature = (catalogue=None, history=None, described=None))]
    fn new(
        py: Python<'_>,
        catalogue: Option<Ids>,
        history: Option<&Judgments>,
        described: Option<Described>,
    ) -> PyResult<Self> {
        let catalogue = catalogue.as_ref().map(|ids| ids.view(py)).transpose()?;
        let described = described.as_ref().map(|found| found.read(py)).transpose()?;
        let (ids, features) = described.unzip();
        let history = history.map(|judgments| Arc::clone(&judgments.0));
        let made = py.detach(|| {
            let catalogue = catalogue.as_ref().map(|view| view.column());
            let ids = ids.as_ref().map(|view| view.column());
            items::Items::new(catalogue.as_ref(), history, ids.as_ref().zip(features))
        });
        made.map(|made| Self(Arc::new(made))).map_err(|error| to_python(py, &error))
    }

    /// How many items the catalogue has.
    fn offered(&self) -> usize {
        self.0.offered()
    }

    /// Whether items are described by categories, if they are described.
    fn has_categories(&self) -> Option<bool> {
        self.0.features().map(Features::are_categories)
    }
}

impl Described {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as the caller counted them
    fn read<'py>(&'py self, py: Python<'py>) -> PyResult<(super::table::IdView<'py>, Features)> {
        let (ids, features) = match self {
            Self::Vectors((ids, size, values)) => {
                (ids, Features::of_vectors(*size, values.to_vec(py)?))
            }
            Self::Categories((ids, offsets, codes)) => {
                let offsets: Vec<usize> =
                    offsets.to_vec(py)?.into_iter().map(|offset| offset as usize).collect();
                let codes: Vec<u32> =
                    codes.to_vec(py)?.into_iter().map(|code| code as u32).collect();
                (ids, Features::of_categories(offsets, codes))
            }
        };
        let view = ids.view(py)?;
        let rows = view.column().len();
        let fits = match &features {
            Features::Vectors { size, values, .. } => rows.checked_mul(*size) == Some(values.len()),
            Features::Categories { offsets, codes, .. } => {
                offsets.len() == rows + 1
                    && offsets.is_sorted()
                    && offsets.last() == Some(&codes.len())
            }
        };
        if fits { Ok((view, features)) } else { Err(PyValueError::new_err("lengths of columns")) }
    }
}
