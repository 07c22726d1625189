//! The query axis: the queries of an evaluation in order, and the grades of each.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::ids::vocabulary::Vocabulary;
use crate::number::levels::Grade;
use crate::qrels::grades::Grades;
use crate::qrels::subtopics::{self, Subtopics};
use crate::saved::{require, require_offsets};
use crate::threads;

/// Queries and all judged grades of each.
#[derive(Debug, Serialize, Deserialize)]
pub struct Axis {
    names: Names,
    /// Where the grades of each query begin, and the last ones end.
    offsets: Vec<usize>,
    /// The grades of each query, largest first.
    ideal: Grades,
    /// The same as doubles, once somebody asked.
    #[serde(skip)]
    doubles: OnceLock<Vec<f64>>,
    grades: Vec<f64>,
    /// The subtopics of the judged documents, where the judgments have any.
    subtopics: Option<Subtopics>,
}

/// What queries are called.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Names {
    /// By identifiers.
    Known(Vocabulary),
    /// By numbers from 0, as the rows of a matrix are.
    Numbers(usize),
}

impl Names {
    /// How many queries there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Known(ids) => ids.len(),
            Self::Numbers(count) => *count,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a query is called.
    pub fn get(&self, query: usize) -> Cow<'_, [u8]> {
        match self {
            Self::Known(ids) => ids.get(query),
            Self::Numbers(_) => Cow::Owned(query.to_string().into_bytes()),
        }
    }
}

/// Different grades.
#[derive(Default)]
struct Different {
    grades: Vec<f64>,
}

/// Different grades beyond this many are brought together before there are more.
const MANY_GRADES: usize = 1 << 16;

impl Different {
    /// Adds the grades of a query, which are in descending order.
    fn add<T: Grade>(&mut self, mut grades: &[T]) {
        while let Some(grade) = grades.first().map(|grade| grade.value()) {
            if self.grades.last() != Some(&grade) {
                self.grades.push(grade);
            }
            grades = &grades[grades.partition_point(|other| other.value() >= grade)..];
        }
        if self.grades.len() > MANY_GRADES {
            self.close();
        }
    }

    /// Puts them in ascending order, each once.
    fn close(&mut self) {
        self.grades.sort_unstable_by(f64::total_cmp);
        self.grades.dedup();
    }
}

/// Puts the grades of each query, after `put` has put them where they belong, in descending order;
/// gives the different ones, ascending.
fn sort_each<T: Grade>(
    offsets: &[usize],
    grades: &mut [T],
    threads: usize,
    put: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<f64> {
    let ranges = threads::cut(offsets, threads);
    let parts = threads::split(grades, &ranges, offsets);
    let parts = ranges.into_iter().zip(parts).collect();
    let different = threads::on_each(parts, |(range, grades): (Range<usize>, &mut [T])| {
        let start = offsets[range.start];
        let mut different = Different::default();
        for query in range {
            let of_query = &mut grades[offsets[query] - start..offsets[query + 1] - start];
            put(query, of_query);
            T::sort(of_query);
            different.add(of_query);
        }
        different.grades
    });
    let mut different = Different { grades: different.concat() };
    different.close();
    different.grades
}

impl Axis {
    /// An axis of these queries; `grades` are all judged grades of each, in any order.
    pub fn new(names: Names, offsets: Vec<usize>, mut grades: Vec<f64>, threads: usize) -> Self {
        let different = sort_each(&offsets, &mut grades, threads, |_, _| {});
        Self::of_sorted(names, offsets, Grades::Doubles(grades), different)
    }

    /// An axis of these queries, of which the judged ones of rows are all that is judged.
    pub fn of_rows(names: Names, offsets: &[usize], rows: &Grades, threads: usize) -> Self {
        match rows {
            Grades::Levels(rows) => Self::of_judged(names, offsets, rows, threads, Grades::Levels),
            Grades::Doubles(rows) => {
                Self::of_judged(names, offsets, rows, threads, Grades::Doubles)
            }
        }
    }

    fn of_judged<T: Grade>(
        names: Names,
        offsets: &[usize],
        rows: &[T],
        threads: usize,
        keep: impl Fn(Vec<T>) -> Grades,
    ) -> Self {
        let judged = |query: usize| {
            let of_query = &rows[offsets[query]..offsets[query + 1]];
            of_query.iter().copied().filter(|grade| !grade.value().is_nan())
        };
        let counts = threads::on_each(threads::cut(offsets, threads), |queries| {
            queries.map(|query| judged(query).count()).collect::<Vec<_>>()
        });
        let mut end = 0;
        let ends = counts.into_iter().flatten().map(|count| {
            end += count;
            end
        });
        let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let mut grades = vec![T::default(); offsets.last().copied().unwrap_or(0)];
        let different = sort_each(&offsets, &mut grades, threads, |query, room| {
            room.iter_mut().zip(judged(query)).for_each(|(room, grade)| *room = grade);
        });
        Self::of_sorted(names, offsets, keep(grades), different)
    }

    /// The same, with the grades of rows among those that are known: an ideal that is given beside a
    /// list may lack some of its grades.
    pub fn knowing(self, rows: &Grades) -> Self {
        let mut different = Different { grades: self.grades };
        let grades = (0..rows.len()).map(|row| rows.get(row)).filter(|grade| !grade.is_nan());
        grades.for_each(|grade| different.add(&[grade]));
        different.close();
        Self { grades: different.grades, ..self }
    }

    /// Refuses an axis that was never saved.
    pub(crate) fn validate(&self) -> Result<()> {
        self.ideal.validate()?;
        require_offsets(&self.offsets, self.ideal.len())?;
        require(self.offsets.len() - 1 == self.names.len())?;
        require(self.grades.is_sorted_by(|one, other| one < other))?;
        for ends in self.offsets.windows(2) {
            let of_query = (ends[0]..ends[1]).map(|at| self.ideal.get(at));
            require(of_query.clone().all(|grade| self.knows(grade)))?;
            require(of_query.is_sorted_by(|one, other| one >= other))?;
        }
        self.subtopics.iter().try_for_each(|subtopics| subtopics.validate(&self.offsets))
    }

    /// Whether a grade is among the different ones.
    pub fn knows(&self, grade: f64) -> bool {
        let at = self.grades.partition_point(|&known| known < grade);
        self.grades.get(at) == Some(&grade)
    }

    fn of_sorted(names: Names, offsets: Vec<usize>, ideal: Grades, grades: Vec<f64>) -> Self {
        Self { names, offsets, ideal, doubles: OnceLock::new(), grades, subtopics: None }
    }

    /// Adds subtopics, by the judged documents of each query.
    pub fn set_subtopics(&mut self, subtopics: Option<Subtopics>) {
        self.subtopics = subtopics;
    }

    /// The subtopics of the judged documents, where the judgments have any.
    pub fn subtopics(&self) -> Option<&Subtopics> {
        self.subtopics.as_ref()
    }

    /// The subtopics of the judged documents of a query.
    pub fn subtopics_of(&self, query: usize) -> Option<subtopics::OfQuery<'_>> {
        let docs = self.offsets[query]..self.offsets[query + 1];
        self.subtopics.as_ref().map(|subtopics| subtopics.of_query(query, docs))
    }

    /// How many queries there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a query is called.
    pub fn name(&self, query: usize) -> Cow<'_, [u8]> {
        self.names.get(query)
    }

    /// What the queries are called.
    pub fn names_of(&self) -> &Names {
        &self.names
    }

    /// What the queries are called, in order.
    pub fn names(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        (0..self.len()).map(|query| self.name(query))
    }

    /// The identifiers of the queries; none where they are numbered.
    pub fn ids(&self) -> Option<&Vocabulary> {
        match &self.names {
            Names::Known(ids) => Some(ids),
            Names::Numbers(_) => None,
        }
    }

    /// The number of a query by its name.
    #[inline]
    pub fn find(&self, query: &[u8]) -> Option<usize> {
        match &self.names {
            Names::Known(ids) => ids.find(query),
            Names::Numbers(count) => {
                let number: usize = std::str::from_utf8(query).ok()?.parse().ok()?;
                (number < *count && number.to_string().as_bytes() == query).then_some(number)
            }
        }
    }

    /// All grades of a query, largest first, which may need room.
    #[inline]
    pub fn ideal<'a>(&'a self, query: usize, room: &'a mut Vec<f64>) -> &'a [f64] {
        self.ideal.slice(self.offsets[query]..self.offsets[query + 1], room)
    }

    /// The largest grade of a query, if it has one.
    pub fn best(&self, query: usize) -> Option<f64> {
        let start = self.offsets[query];
        (start < self.offsets[query + 1]).then(|| self.ideal.get(start))
    }

    /// How many grades all queries have together.
    pub fn judged(&self) -> usize {
        self.ideal.len()
    }

    /// Where the grades of each query begin, and the last ones end, in [`Axis::all_ideals`].
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The grades of all queries, each query's largest first.
    pub fn all_ideals(&self) -> &[f64] {
        self.ideal.doubles(&self.doubles)
    }

    /// The different grades, ascending.
    pub fn grades(&self) -> &[f64] {
        &self.grades
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_grades_are_each_kept_once_however_many_there_are() {
        let many: u32 = 1 << 16;
        for count in [many - 2, many - 1, many, many + 1] {
            let mut different = Different::default();
            // The first ones come again after all others.
            for grade in (0..count).rev().chain([7, 5]) {
                different.add(&[f64::from(grade)]);
            }
            let expected = if count + 2 > many { count } else { count + 2 };
            assert_eq!(different.grades.len(), expected as usize);
            different.close();
            assert!(different.grades.iter().copied().eq((0..count).map(f64::from)));
        }
    }
}
