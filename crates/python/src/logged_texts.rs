//! The Python classes `TextCodes` and `IdSet`, and `hash_texts`: the texts of logged rankings, numbered or
//! remembered.

use std::sync::{Mutex, PoisonError};

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use rankscope_core::ids::interner::Ids;
use rankscope_core::table::cells::Cells;
use rankscope_log::blocks::digest;
use rankscope_log::logged::id_set;

use super::cells::View;
use super::chunks::{TextBuffers, misfit, places};
use super::column::{Column, Data};

/// Numbers texts in the order in which they are first seen.
#[pyclass(frozen, module = "rankscope._core")]
pub struct TextCodes(Mutex<Ids>);

#[pymethods]
impl TextCodes {
    #[new]
    fn new() -> Self {
        Self(Mutex::new(Ids::default()))
    }

    /// The numbers of some texts of columns; of each row, the first text that isn't empty counts, with
    /// the prefix of its column. -1 is no text.
    fn number(
        &self,
        py: Python<'_>,
        columns: Vec<(Vec<u8>, TextBuffers)>,
        rows: PyBuffer<i64>,
    ) -> PyResult<Column> {
        self.look_up(py, &columns, &rows)
    }

    /// The texts by number: their offsets, and the texts end to end.
    fn texts(&self, py: Python<'_>) -> (Column, Column) {
        py.detach(|| {
            let ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let texts = ids.texts();
            let (mut offsets, mut bytes) = (vec![0i64], Vec::new());
            for text in texts.iter() {
                bytes.extend_from_slice(text);
                offsets.push(bytes.len().cast_signed() as i64);
            }
            (Column(Data::Places(offsets)), Column(Data::Bytes(bytes)))
        })
    }
}

impl TextCodes {
    fn look_up(
        &self,
        py: Python<'_>,
        columns: &[(Vec<u8>, TextBuffers)],
        rows: &PyBuffer<i64>,
    ) -> PyResult<Column> {
        number_each(py, columns, rows, || {
            let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            move |name| name.map_or(-1, |name| ids.number(name).cast_signed() as i64)
        })
    }
}

/// Numbers that are always the same for the same text: of each row, the first text of some columns that
/// isn't empty counts, with the prefix of its column. A row without a text has the number of none.
#[pyfunction]
pub fn hash_texts(
    py: Python<'_>,
    columns: Vec<(Vec<u8>, TextBuffers)>,
    rows: PyBuffer<i64>,
) -> PyResult<Column> {
    number_each(py, &columns, &rows, || {
        |name: Option<&[u8]>| digest::number(name.unwrap_or_default())
    })
}

/// Calls a function with the text of each row, and returns the numbers that it gives. The function is made
/// while other threads may use Python, so that it can wait for them.
fn number_each<W: FnMut(Option<&[u8]>) -> i64>(
    py: Python<'_>,
    columns: &[(Vec<u8>, TextBuffers)],
    rows: &PyBuffer<i64>,
    begin: impl FnOnce() -> W + Send,
) -> PyResult<Column> {
    let rows = places(py, rows)?;
    let mut opened = Vec::with_capacity(columns.len());
    for (prefix, TextBuffers(offsets, bytes)) in columns {
        opened.push((prefix, View::of(offsets)?, View::of(bytes)?));
    }
    let most = rows.iter().copied().max().unwrap_or(0);
    if !rows.is_empty() && opened.iter().any(|(_, offsets, _)| Cells::len(offsets) < most + 2) {
        return Err(misfit());
    }
    let numbers: Option<Vec<i64>> = py.detach(|| {
        let mut work = begin();
        let mut name = Vec::new();
        let mut numbers = Vec::with_capacity(rows.len());
        for &row in &rows {
            let mut is_named = false;
            for (prefix, offsets, bytes) in &opened {
                let mut ends = [0; 2];
                offsets.read(row, &mut ends);
                let [start, end] = ends.map(usize::try_from);
                let (start, end) = (start.ok()?, end.ok()?);
                if start > end || end > Cells::len(bytes) {
                    return None;
                }
                if start < end {
                    name.clear();
                    name.extend_from_slice(prefix);
                    name.resize(prefix.len() + end - start, 0);
                    bytes.read(start, &mut name[prefix.len()..]);
                    is_named = true;
                    break;
                }
            }
            numbers.push(work(is_named.then_some(&name[..])));
        }
        Some(numbers)
    });
    Ok(Column(Data::Places(numbers.ok_or_else(misfit)?)))
}

/// A set of IDs.
#[pyclass(frozen, module = "rankscope._core")]
pub struct IdSet(Mutex<id_set::IdSet>);

/// IDs that are hashed before they are looked up, so that the processor waits for several at once.
const AT_ONCE: usize = 64;

#[pymethods]
impl IdSet {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Adds some texts of a column.
    fn add(&self, py: Python<'_>, column: TextBuffers, rows: PyBuffer<i64>) -> PyResult<()> {
        self.each(py, &column, &rows, |set, keys| keys.iter().for_each(|&key| set.add(key)))
    }

    /// Which of some texts of a column are in the set.
    fn find(&self, py: Python<'_>, column: TextBuffers, rows: PyBuffer<i64>) -> PyResult<Column> {
        let found = Mutex::new(Vec::new());
        self.each(py, &column, &rows, |set, keys| {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.extend(keys.iter().map(|&key| u8::from(set.has(key))));
        })?;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Column(Data::Bytes(found)))
    }
}

impl IdSet {
    /// Calls a function with the hashes of some texts of a column, several at a time.
    fn each(
        &self,
        py: Python<'_>,
        column: &TextBuffers,
        rows: &PyBuffer<i64>,
        work: impl Fn(&mut id_set::IdSet, &[u128]) + Sync,
    ) -> PyResult<()> {
        let rows = places(py, rows)?;
        let TextBuffers(offsets, bytes) = column;
        let (offsets, bytes) = (View::of(offsets)?, View::of(bytes)?);
        let most = rows.iter().copied().max().unwrap_or(0);
        if !rows.is_empty() && Cells::len(&offsets) < most + 2 {
            return Err(misfit());
        }
        let done = py.detach(|| {
            let mut set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (mut text, mut keys) = (Vec::new(), Vec::new());
            for some in rows.chunks(AT_ONCE) {
                keys.clear();
                for &row in some {
                    let mut ends = [0; 2];
                    offsets.read(row, &mut ends);
                    let [start, end] = ends.map(usize::try_from);
                    let (start, end) = (start.ok()?, end.ok()?);
                    if start > end || end > Cells::len(&bytes) {
                        return None;
                    }
                    text.resize(end - start, 0);
                    bytes.read(start, &mut text);
                    keys.push(set.key(&text));
                }
                work(&mut set, &keys);
            }
            Some(())
        });
        done.ok_or_else(misfit)
    }
}
