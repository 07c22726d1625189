//! Python functions that unpack logged rankings, and match labels to their documents.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::column::{Column, Data};
use super::vectors::copy_of;
use crate::logged::labels::{self, Texts};
use crate::logged::pack::Documents;
use crate::memory::{Vec, guard};

/// Offsets of texts, and the texts end to end.
type Ids = (PyBuffer<i64>, PyBuffer<u8>);

/// The row of each label's document in the list of its ranking; -1 where it is not there.
#[pyfunction]
pub fn find_shown(
    py: Python<'_>,
    rankings: PyBuffer<i64>,
    told: Ids,
    offsets: PyBuffer<i64>,
    shown: Ids,
) -> PyResult<Column> {
    guard(|| {
        let (rankings, offsets) = (places(py, &rankings)?, places(py, &offsets)?);
        let (told_at, told) = (places(py, &told.0)?, copy_of(py, &told.1)?);
        let (shown_at, shown) = (places(py, &shown.0)?, copy_of(py, &shown.1)?);
        let found = py.detach(|| {
            let (told, shown) = (Texts::new(&told_at, &told)?, Texts::new(&shown_at, &shown)?);
            labels::find(&rankings, told, &offsets, shown)
        });
        let refuse = || PyValueError::new_err("labels and documents do not fit");
        found.map(|rows| Column(Data::Places(rows))).ok_or_else(refuse)
    })
}

/// The documents of pieces: offsets of rankings, offsets of ids, ids, ranks, scores and grades; none
/// where a piece is damaged.
#[pyfunction]
pub fn unpack_pieces(py: Python<'_>, pieces: Vec<PyBackedBytes>) -> PyResult<Option<[Column; 6]>> {
    guard(|| {
        let found = py.detach(|| {
            let views: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
            Documents::unpack(&views)
        });
        Ok(found.map(|found| {
            [
                Column(Data::Places(found.offsets)),
                Column(Data::Places(found.id_offsets)),
                Column(Data::Bytes(found.ids)),
                Column(Data::Places(found.ranks)),
                Column(Data::Values(found.scores)),
                Column(Data::Values(found.relevance)),
            ]
        }))
    })
}

fn places(py: Python<'_>, values: &PyBuffer<i64>) -> PyResult<Vec<usize>> {
    let values = copy_of(py, values)?;
    let places: Result<_, _> = values.into_iter().map(usize::try_from).collect();
    places.map_err(PyValueError::new_err)
}
