//! The query axis: the queries of an evaluation, in their order, and the grades of each.

use std::borrow::Cow;
use std::ops::Range;

use crate::levels::sort_grades;
use crate::shares;
use crate::vocabulary::Vocabulary;

/// Queries and all judged grades of each.
#[derive(Debug)]
pub struct Axis {
    names: Names,
    /// Where the grades of each query begin, and the last ones end.
    offsets: Vec<usize>,
    /// The grades of each query, largest first.
    ideal: Vec<f64>,
    grades: Vec<f64>,
}

/// What queries are called.
#[derive(Debug)]
pub enum Names {
    /// By identifiers.
    Known(Vocabulary),
    /// By numbers from 0, as the rows of a matrix are.
    Numbers(usize),
}

impl Names {
    /// How many queries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Known(ids) => ids.len(),
            Self::Numbers(count) => *count,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a query is called.
    #[must_use]
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
    /// Adds the sorted grades of a query.
    fn add(&mut self, grades: &[f64]) {
        for same in grades.chunk_by(|one, other| one == other) {
            if self.grades.last() != same.first() {
                self.grades.push(same[0]);
            }
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

impl Axis {
    /// An axis of these queries; `grades` are all judged grades of each, in any order.
    #[must_use]
    pub fn new(names: Names, offsets: Vec<usize>, grades: Vec<f64>, threads: usize) -> Self {
        Self::fill(names, offsets, grades, threads, |_, _| {})
    }

    /// An axis of these queries, of which the judged ones of rows are all that is judged.
    #[must_use]
    pub fn of_rows(names: Names, offsets: &[usize], grades: &[f64], threads: usize) -> Self {
        let judged = |query: usize| {
            let of_query = &grades[offsets[query]..offsets[query + 1]];
            of_query.iter().copied().filter(|grade| !grade.is_nan())
        };
        let counts = shares::on_each(shares::cut(offsets, threads), |queries| {
            queries.map(|query| judged(query).count()).collect::<Vec<_>>()
        });
        let mut end = 0;
        let ends = counts.into_iter().flatten().map(|count| {
            end += count;
            end
        });
        let judged_offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let room = vec![0.0; judged_offsets.last().copied().unwrap_or(0)];
        Self::fill(names, judged_offsets, room, threads, |query, room| {
            room.iter_mut().zip(judged(query)).for_each(|(room, grade)| *room = grade);
        })
    }

    /// An axis whose grades `put` puts where those of each query belong.
    fn fill(
        names: Names,
        offsets: Vec<usize>,
        mut ideal: Vec<f64>,
        threads: usize,
        put: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Self {
        let ranges = shares::cut(&offsets, threads);
        let parts = shares::split(&mut ideal, &ranges, &offsets);
        let parts = ranges.into_iter().zip(parts).collect();
        let different = shares::on_each(parts, |(range, grades): (Range<usize>, &mut [f64])| {
            let start = offsets[range.start];
            let mut different = Different::default();
            for query in range {
                let of_query = &mut grades[offsets[query] - start..offsets[query + 1] - start];
                put(query, of_query);
                sort_grades(of_query);
                different.add(of_query);
            }
            different.grades
        });
        let mut different = Different { grades: different.concat() };
        different.close();
        Self { names, offsets, ideal, grades: different.grades }
    }

    /// How many queries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a query is called.
    #[must_use]
    pub fn name(&self, query: usize) -> Cow<'_, [u8]> {
        self.names.get(query)
    }

    /// What the queries are called, in order.
    pub fn names(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        (0..self.len()).map(|query| self.name(query))
    }

    /// The identifiers of the queries; none where they are numbered.
    #[must_use]
    pub fn ids(&self) -> Option<&Vocabulary> {
        match &self.names {
            Names::Known(ids) => Some(ids),
            Names::Numbers(_) => None,
        }
    }

    /// The number of a query by its name.
    #[inline]
    #[must_use]
    pub fn find(&self, query: &[u8]) -> Option<usize> {
        match &self.names {
            Names::Known(ids) => ids.find(query),
            Names::Numbers(count) => {
                let number: usize = std::str::from_utf8(query).ok()?.parse().ok()?;
                (number < *count && number.to_string().as_bytes() == query).then_some(number)
            }
        }
    }

    /// All grades of a query, largest first.
    #[inline]
    #[must_use]
    pub fn ideal(&self, query: usize) -> &[f64] {
        &self.ideal[self.offsets[query]..self.offsets[query + 1]]
    }

    /// Where the grades of each query begin, and the last ones end, in [`Axis::all_ideals`].
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The grades of all queries, each query's largest first.
    #[must_use]
    pub fn all_ideals(&self) -> &[f64] {
        &self.ideal
    }

    /// The different grades, ascending.
    #[must_use]
    pub fn grades(&self) -> &[f64] {
        &self.grades
    }
}
