//! Python functions that grade, evaluate and sum chunks of logged rankings.

use std::sync::{Mutex, PoisonError};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rankscope_core::error::{Error, Kind};
use rankscope_core::explain::regrets;
use rankscope_core::number::sum::ExactSum;
use rankscope_core::table::cells::Cells;
use rankscope_core::watch::Event;
use rankscope_log::logged::clusters::{self, CellClusters, Moments};
use rankscope_log::logged::costs::Costs;
use rankscope_log::logged::grading::{Grader, Grades, Items, Labels, Rule};
use rankscope_log::logged::labels::Texts;
use rankscope_log::logged::values::{Choices, Evaluator, Values};

use super::cells::View;
use super::column::{Column, Data};
use super::errors::to_python;
use super::plan::Plan;
use super::watch::Watch;

/// Offsets of texts, and the texts end to end.
#[derive(FromPyObject)]
pub struct TextBuffers(pub(super) PyBuffer<i64>, pub(super) PyBuffer<u8>);

/// Offsets of rankings, IDs of documents, ranks, scores and grades.
#[derive(FromPyObject)]
pub struct ItemBuffers(PyBuffer<i64>, TextBuffers, PyBuffer<i64>, PyBuffer<f64>, PyBuffer<f64>);

/// Positions of rankings, documents, times, kinds, lists of names by code, codes and values.
#[derive(FromPyObject)]
pub struct LabelBuffers(
    PyBuffer<i64>,
    TextBuffers,
    PyBuffer<i64>,
    PyBuffer<i8>,
    Vec<Vec<usize>>,
    PyBuffer<i64>,
    PyBuffer<f64>,
);

/// Weights of classes, whether they are added, whether each counts once, the grade of what is
/// unlabelled, and the window.
#[derive(FromPyObject)]
pub struct RuleRow(Vec<f64>, bool, bool, f64, Option<(i64, i64)>);

/// A plan, the largest grade and the depth of logged ranks.
#[derive(FromPyObject)]
pub struct ChoiceRow<'py>(PyRef<'py, Plan>, f64, usize);

/// Rankings between two looks at signals.
const BETWEEN: usize = 256;

type GradeColumns = [Column; 8];
type ValueColumns = (Vec<Column>, [Column; 4]);

/// The grades of documents by their labels, and the values of their rankings if there is a plan.
#[pyfunction]
pub fn grade_items(
    py: Python<'_>,
    times: PyBuffer<i64>,
    items: ItemBuffers,
    labels: LabelBuffers,
    rule: RuleRow,
    choices: Option<ChoiceRow<'_>>,
) -> PyResult<(Vec<Column>, Option<ValueColumns>)> {
    let times = times.to_vec(py)?;
    let opened = OpenItems::new(py, &items)?;
    let told = OpenLabels::new(py, labels)?;
    let RuleRow(weights, adds, counts_once, unlabelled, window) = rule;
    let rule = Rule { weights, adds, counts_once, unlabelled, window };
    let (items, labels) = (opened.items(), told.labels().ok_or_else(misfit)?);
    let plan = choices.as_ref().map(|row| (&*row.0.0, row.1, row.2));
    let found = Watch::new(None).run(py, |watch| {
        let mut grader = Grader::new(&rule, &times, &items, &labels).ok_or_else(damaged)?;
        let mut evaluator = plan.map(|(plan, max_grade, depth)| {
            Evaluator::new(Choices { plan, max_grade, depth }, &items)
        });
        for ranking in 0..times.len() {
            if ranking % BETWEEN == 0 {
                watch(Event::Work)?;
            }
            grader.grade(ranking).ok_or_else(damaged)?;
            if let Some(evaluator) = &mut evaluator {
                let start = items.offsets[ranking];
                evaluator.evaluate(ranking, &grader.grades.relevance[start..])?;
            }
        }
        Ok((grader.grades, evaluator.map(Evaluator::finish).transpose()?))
    });
    let (grades, values) = found?;
    Ok((columns_of_grades(grades).into_iter().collect(), values.map(columns_of_values)))
}

/// The values of rankings by the grades of their documents.
#[pyfunction]
pub fn evaluate_items(
    py: Python<'_>,
    items: ItemBuffers,
    choices: ChoiceRow<'_>,
) -> PyResult<ValueColumns> {
    let opened = OpenItems::new(py, &items)?;
    let items = opened.items();
    if !items.fit() {
        return Err(misfit());
    }
    let (plan, max_grade, depth) = (&*choices.0.0, choices.1, choices.2);
    let found = Watch::new(None).run(py, |watch| {
        let mut evaluator = Evaluator::new(Choices { plan, max_grade, depth }, &items);
        let mut relevance = Vec::new();
        for (ranking, ends) in items.offsets.windows(2).enumerate() {
            if ranking % BETWEEN == 0 {
                watch(Event::Work)?;
            }
            relevance.resize(ends[1] - ends[0], 0.0);
            items.relevance.read(ends[0], &mut relevance);
            evaluator.evaluate(ranking, &relevance)?;
        }
        evaluator.finish()
    });
    found.map(columns_of_values)
}

/// The documents that have a gain under the first measure of a plan: the positions of their rankings,
/// their rows, their grades, and what they cost as a share of the ideal.
#[pyfunction]
pub fn measure_costs(
    py: Python<'_>,
    items: ItemBuffers,
    choices: ChoiceRow<'_>,
) -> PyResult<[Column; 4]> {
    let opened = OpenItems::new(py, &items)?;
    let items = opened.items();
    if !items.fit() {
        return Err(misfit());
    }
    let gains = regrets::find_gains(&choices.0.0).map_err(|error| to_python(py, &error))?;
    let Costs { rankings, documents, grades, regrets } =
        py.detach(|| Costs::measure(&items, gains, choices.2));
    Ok([
        Column(Data::Places(rankings)),
        Column(Data::Places(documents)),
        Column(Data::Values(grades)),
        Column(Data::Values(regrets)),
    ])
}

/// Columns of documents in Python's memory.
struct OpenItems<'a> {
    offsets: Vec<usize>,
    id_offsets: View<'a, i64>,
    ids: View<'a, u8>,
    ranks: View<'a, i64>,
    scores: View<'a, f64>,
    relevance: View<'a, f64>,
}

impl<'a> OpenItems<'a> {
    fn new(py: Python<'_>, items: &'a ItemBuffers) -> PyResult<Self> {
        let ItemBuffers(offsets, TextBuffers(id_offsets, ids), ranks, scores, relevance) = items;
        Ok(Self {
            offsets: places(py, offsets)?,
            id_offsets: View::of(id_offsets)?,
            ids: View::of(ids)?,
            ranks: View::of(ranks)?,
            scores: View::of(scores)?,
            relevance: View::of(relevance)?,
        })
    }

    fn items(&self) -> Items<'_> {
        Items {
            offsets: &self.offsets,
            id_offsets: &self.id_offsets,
            ids: &self.ids,
            ranks: &self.ranks,
            scores: &self.scores,
            relevance: &self.relevance,
        }
    }
}

/// The documents of labels, copied.
/// Columns of labels, copied.
struct OpenLabels {
    rankings: Vec<usize>,
    doc_offsets: Vec<usize>,
    docs: Vec<u8>,
    times: Vec<i64>,
    kinds: Vec<u8>,
    names: Vec<Vec<usize>>,
    codes: Vec<usize>,
    values: Vec<f64>,
}

impl OpenLabels {
    fn new(py: Python<'_>, labels: LabelBuffers) -> PyResult<Self> {
        let LabelBuffers(
            rankings,
            TextBuffers(doc_offsets, docs),
            times,
            kinds,
            names,
            codes,
            values,
        ) = labels;
        Ok(Self {
            rankings: places(py, &rankings)?,
            doc_offsets: places(py, &doc_offsets)?,
            docs: docs.to_vec(py)?,
            times: times.to_vec(py)?,
            kinds: kinds.to_vec(py)?.into_iter().map(i8::cast_unsigned).collect(),
            names,
            codes: places(py, &codes)?,
            values: values.to_vec(py)?,
        })
    }

    fn labels(&self) -> Option<Labels<'_>> {
        Some(Labels {
            rankings: &self.rankings,
            docs: Texts::new(&self.doc_offsets, &self.docs)?,
            times: &self.times,
            kinds: &self.kinds,
            codes: &self.codes,
            values: &self.values,
            names: &self.names,
        })
    }
}

fn columns_of_grades(grades: Grades) -> GradeColumns {
    let Grades { relevance, is_mature, is_labelled, pending, ages, aged, late, unshown } = grades;
    [
        Column(Data::Values(relevance)),
        Column(Data::Bytes(is_mature)),
        Column(Data::Bytes(is_labelled)),
        Column(Data::Places(pending)),
        Column(Data::Places(ages)),
        Column(Data::Places(aged)),
        Column(Data::Places(late)),
        Column(Data::Places(unshown)),
    ]
}

fn columns_of_values(found: Values) -> ValueColumns {
    let Values { values, relevant, is_tied, has_gaps, is_refused } = found;
    let values = values.into_iter().map(|column| Column(Data::Values(column))).collect();
    let others = [
        Column(Data::Places(relevant)),
        Column(Data::Bytes(is_tied)),
        Column(Data::Bytes(has_gaps)),
        Column(Data::Bytes(is_refused)),
    ];
    (values, others)
}

/// Counts, numbers of values, and packed sums.
type CellColumns<'py> = (Column, Column, Vec<Bound<'py, PyBytes>>);

/// For each division of groups into cells, the counts of each cell, how many values each sum of it has,
/// and the exact sums, those of a cell end to end. The first count is that of rows; NaN values are left
/// out. A division gives the cell of each group, and how many cells there are.
#[pyfunction]
pub fn sum_cells(
    py: Python<'_>,
    groups: PyBuffer<i64>,
    count: usize,
    marks: Vec<PyBuffer<u8>>,
    amounts: Vec<PyBuffer<i64>>,
    values: Vec<PyBuffer<f64>>,
    divisions: Vec<(PyBuffer<i64>, usize)>,
) -> PyResult<Vec<CellColumns<'_>>> {
    let groups = places(py, &groups)?;
    let marks = marks.iter().map(View::of).collect::<PyResult<Vec<_>>>()?;
    let amounts = amounts.iter().map(View::of).collect::<PyResult<Vec<_>>>()?;
    let values = values.iter().map(View::of).collect::<PyResult<Vec<_>>>()?;
    let divisions = divisions
        .iter()
        .map(|(cells, count)| Ok(Division { cells: places(py, cells)?, count: *count }))
        .collect::<PyResult<Vec<_>>>()?;
    let lengths = marks.iter().map(Cells::len);
    let lengths =
        lengths.chain(amounts.iter().map(Cells::len)).chain(values.iter().map(Cells::len));
    if lengths.into_iter().any(|length| length != groups.len())
        || groups.iter().any(|&group| group >= count)
        || !divisions.iter().all(|division| division.fits(count))
    {
        return Err(misfit());
    }
    let found = py.detach(|| sum_columns(&groups, count, &marks, &amounts, &values, &divisions));
    let mut summed = Vec::new();
    for Summed { counts, defined, packed } in found.ok_or_else(not_finite)? {
        let packed = packed.iter().map(|sums| PyBytes::new(py, sums)).collect();
        summed.push((Column(Data::Places(counts)), Column(Data::Places(defined)), packed));
    }
    Ok(summed)
}

/// The cell of each group.
struct Division {
    cells: Vec<usize>,
    count: usize,
}

impl Division {
    fn fits(&self, groups: usize) -> bool {
        self.cells.len() == groups && self.cells.iter().all(|&cell| cell < self.count)
    }

    /// Adds up so many numbers of each group.
    fn add(&self, numbers: &[i64], width: usize) -> Vec<i64> {
        let mut added = vec![0; self.count * width];
        for (&cell, row) in self.cells.iter().zip(numbers.chunks_exact(width.max(1))) {
            for (into, number) in added[cell * width..].iter_mut().zip(row) {
                *into += number;
            }
        }
        added
    }
}

struct Summed {
    counts: Vec<i64>,
    defined: Vec<i64>,
    packed: Vec<Vec<u8>>,
}

fn sum_columns(
    groups: &[usize],
    count: usize,
    marks: &[View<'_, u8>],
    amounts: &[View<'_, i64>],
    values: &[View<'_, f64>],
    divisions: &[Division],
) -> Option<Vec<Summed>> {
    let width = 1 + marks.len() + amounts.len();
    let mut counts = vec![0i64; count * width];
    let mut defined = vec![0i64; count * values.len()];
    let mut packed: Vec<Vec<Vec<u8>>> =
        divisions.iter().map(|division| vec![Vec::new(); division.count]).collect();
    for &group in groups {
        counts[group * width] += 1;
    }
    let mut bytes = vec![0u8; groups.len()];
    for (view, at) in marks.iter().zip(1..) {
        view.read(0, &mut bytes);
        for (&group, &byte) in groups.iter().zip(&bytes) {
            counts[group * width + at] += i64::from(byte != 0);
        }
    }
    let mut integers = vec![0i64; groups.len()];
    for (view, at) in amounts.iter().zip(1 + marks.len()..) {
        view.read(0, &mut integers);
        for (&group, &amount) in groups.iter().zip(&integers) {
            counts[group * width + at] += amount;
        }
    }
    let mut numbers = vec![0.0f64; groups.len()];
    let mut sums = vec![ExactSum::default(); count];
    let mut merged = Vec::new();
    for (at, view) in values.iter().enumerate() {
        view.read(0, &mut numbers);
        sums.fill(ExactSum::default());
        for (&group, &value) in groups.iter().zip(&numbers) {
            defined[group * values.len() + at] += i64::from(!value.is_nan());
            // 0 adds nothing.
            if !value.is_nan() && value != 0.0 {
                sums[group].add(value);
            }
        }
        for (Division { cells, count }, packed) in divisions.iter().zip(&mut packed) {
            merged.clear();
            merged.resize(*count, ExactSum::default());
            for (&cell, sum) in cells.iter().zip(&sums) {
                merged[cell].merge(sum);
            }
            for (sum, out) in merged.iter().zip(packed) {
                sum.pack(out).ok()?;
            }
        }
    }
    let summed = divisions.iter().zip(packed).map(|(division, packed)| Summed {
        counts: division.add(&counts, width),
        defined: division.add(&defined, values.len()),
        packed,
    });
    Some(summed.collect())
}

/// The clusters of cells, whose values are added up ranking by ranking.
#[pyclass(frozen, module = "rankscope._core")]
pub struct ClusterSums {
    cells: Mutex<Vec<Option<CellClusters>>>,
    measures: usize,
}

#[pymethods]
impl ClusterSums {
    #[new]
    fn new(measures: usize) -> Self {
        Self { cells: Mutex::new(Vec::new()), measures }
    }

    /// Adds rankings: the number of the cell of each, what they are called in columns of which the
    /// first text that is not empty names the cluster, and their values by measure.
    fn take(
        &self,
        py: Python<'_>,
        cells: PyBuffer<i64>,
        names: Vec<TextBuffers>,
        values: Vec<PyBuffer<f64>>,
    ) -> PyResult<()> {
        let cells = places(py, &cells)?;
        let names = names.iter().map(|one| read_texts(py, one)).collect::<PyResult<Vec<_>>>()?;
        let texts: Option<Vec<Texts<'_>>> =
            names.iter().map(|(offsets, bytes)| Texts::new(offsets, bytes)).collect();
        let texts = texts.ok_or_else(misfit)?;
        let values = values.iter().map(|column| column.to_vec(py)).collect::<PyResult<Vec<_>>>()?;
        let is_whole = texts.iter().all(|column| column.len() == cells.len())
            && values.iter().all(|column| column.len() == cells.len());
        if values.len() != self.measures || !is_whole {
            return Err(misfit());
        }
        py.detach(|| {
            let mut held = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
            let most = cells.iter().copied().max().map_or(0, |cell| cell + 1);
            while held.len() < most {
                held.push(None);
            }
            let mut name = Vec::new();
            for (ranking, &cell) in cells.iter().enumerate() {
                name_cluster(&texts, ranking, &mut name);
                let cell = held[cell].get_or_insert_with(|| CellClusters::new(self.measures));
                for (total, column) in cell.totals(&name).iter_mut().zip(&values) {
                    clusters::add(total, column[ranking]);
                }
            }
        });
        Ok(())
    }

    /// Returns the sums of a cell for each measure, and forgets its clusters.
    fn close(&self, py: Python<'_>, cell: usize) -> Vec<(f64, f64, f64, f64)> {
        let moments: Vec<Moments> = py.detach(|| {
            let mut held = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = held.get_mut(cell).and_then(Option::take);
            taken.unwrap_or_else(|| CellClusters::new(self.measures)).moments()
        });
        moments.into_iter().map(|[one, two, three, four]| (one, two, three, four)).collect()
    }
}

/// Writes the name of a ranking's cluster: the number of the first column with a text, and the text.
fn name_cluster(texts: &[Texts<'_>], ranking: usize, name: &mut Vec<u8>) {
    name.clear();
    let named = texts.iter().zip(0u8..).find(|(column, _)| !column.get(ranking).is_empty());
    if let Some((column, kind)) = named {
        name.push(kind);
        name.extend_from_slice(column.get(ranking));
    }
}

pub(super) fn read_texts(py: Python<'_>, texts: &TextBuffers) -> PyResult<(Vec<usize>, Vec<u8>)> {
    Ok((places(py, &texts.0)?, texts.1.to_vec(py)?))
}

pub(super) fn places(py: Python<'_>, values: &PyBuffer<i64>) -> PyResult<Vec<usize>> {
    let values = values.to_vec(py)?;
    let places: Result<_, _> = values.into_iter().map(usize::try_from).collect();
    places.map_err(PyValueError::new_err)
}

pub(super) fn misfit() -> PyErr {
    PyValueError::new_err("expected columns of rankings, documents and labels that fit each other")
}

fn damaged() -> Error {
    Error::new(
        Kind::Format,
        "column_damaged",
        "expected columns of rankings, documents and labels that fit each other",
    )
}

fn not_finite() -> PyErr {
    PyValueError::new_err("expected finite values")
}
