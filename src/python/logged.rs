//! The Python function that unpacks logged rankings.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::column::{Column, Data};
use crate::logged::pack::Documents;
use crate::memory::{Vec, guard};

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
