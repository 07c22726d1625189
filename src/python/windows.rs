//! What windows of production are made of: labels found, and exact sums by group, as bytes.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::cells::Numbers;
use super::column::{Column, Data};
use super::vectors::{bytes_of, copy_of};
use crate::cells::Cells;
use crate::memory::{Vec, guard, vec};
use crate::pieces::Documents;
use crate::shown::{self, Texts};
use crate::sum::ExactSum;

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
            shown::find(&rankings, told, &offsets, shown)
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

/// The sums of columns by group, those of a group end to end. NaN is left out, and so are rows whose
/// group is -1.
#[pyfunction]
pub fn sum_groups(
    py: Python<'_>,
    groups: PyBuffer<i64>,
    columns: Vec<Numbers>,
    count: usize,
) -> PyResult<Vec<Bound<'_, PyBytes>>> {
    guard(|| {
        let groups = copy_of(py, &groups)?;
        let views = columns.iter().map(Numbers::view).collect::<PyResult<Vec<_>>>()?;
        if views.iter().any(|view| view.len() != groups.len()) {
            return Err(PyValueError::new_err("expected a group for each value"));
        }
        if groups.iter().any(|&group| usize::try_from(group).is_ok_and(|group| group >= count)) {
            return Err(PyValueError::new_err("expected groups below their count"));
        }
        let packed = py.detach(|| {
            let mut packed = vec![Vec::new(); count];
            let mut sums = vec![ExactSum::default(); count];
            let mut values = vec![0.0; groups.len()];
            for view in &views {
                view.read(0, &mut values);
                sums.fill(ExactSum::default());
                for (&group, &value) in groups.iter().zip(&values) {
                    if let (Ok(group), false) = (usize::try_from(group), value.is_nan()) {
                        sums[group].add(value);
                    }
                }
                for (sum, out) in sums.iter().zip(&mut packed) {
                    sum.pack(out)?;
                }
            }
            Ok(packed)
        });
        let packed = packed.map_err(|_: crate::sum::NotFinite| not_finite())?;
        packed.iter().map(|sums| bytes_of(py, sums)).collect()
    })
}

/// The sums of both, or what is left of the first without the second.
#[pyfunction]
pub fn merge_sums<'py>(
    py: Python<'py>,
    left: &[u8],
    right: &[u8],
    takes_away: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    guard(|| {
        let (left, right) = (unpack(left)?, unpack(right)?);
        if left.len() != right.len() {
            return Err(PyValueError::new_err("expected as many sums in both"));
        }
        let mut packed = Vec::new();
        for (mut sum, other) in left.into_iter().zip(&right) {
            if takes_away {
                sum.unmerge(other);
            } else {
                sum.merge(other);
            }
            sum.pack(&mut packed).map_err(|_| not_finite())?;
        }
        bytes_of(py, &packed)
    })
}

/// The sums of all of several cells, each packed as `merge_sums` packs them.
#[pyfunction]
pub fn add_sums(py: Python<'_>, packed: Vec<PyBackedBytes>) -> PyResult<Bound<'_, PyBytes>> {
    let added = py.detach(|| {
        let mut total: Vec<ExactSum> = Vec::new();
        for (at, one) in packed.iter().enumerate() {
            let sums = unpack(one)?;
            if at == 0 {
                total = sums;
                continue;
            }
            if sums.len() != total.len() {
                return Err(PyValueError::new_err("expected as many sums in all"));
            }
            for (sum, other) in total.iter_mut().zip(&sums) {
                sum.merge(other);
            }
        }
        let mut out = Vec::new();
        for sum in &total {
            sum.pack(&mut out).map_err(|_| not_finite())?;
        }
        Ok(out)
    });
    Ok(PyBytes::new(py, &added?))
}

/// Sums, each rounded once.
#[pyfunction]
pub fn round_sums(packed: &[u8]) -> PyResult<Vec<f64>> {
    guard(|| Ok(unpack(packed)?.iter().map(ExactSum::value).collect()))
}

fn unpack(mut packed: &[u8]) -> PyResult<Vec<ExactSum>> {
    let mut sums = Vec::new();
    while !packed.is_empty() {
        let sum = ExactSum::unpack(&mut packed);
        sums.push(sum.ok_or_else(|| PyValueError::new_err("expected packed sums"))?);
    }
    Ok(sums)
}

fn not_finite() -> PyErr {
    PyValueError::new_err("expected finite values")
}
