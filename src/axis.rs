//! The query axis: the queries of an evaluation, in their order, and the grades of each.

use std::borrow::Cow;

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

/// Different grades beyond this many are brought together before there are more.
const MANY_GRADES: usize = 1 << 16;

impl Axis {
    /// An axis of these queries; `grades` are all judged grades of each, in any order.
    #[must_use]
    pub fn new(names: Names, offsets: Vec<usize>, grades: Vec<f64>) -> Self {
        let mut ideal = grades;
        let mut different = Vec::new();
        for range in offsets.windows(2) {
            let of_query = &mut ideal[range[0]..range[1]];
            of_query.sort_unstable_by(|a, b| b.total_cmp(a));
            for &grade in &*of_query {
                if different.last() != Some(&grade) {
                    different.push(grade);
                }
            }
            if different.len() > MANY_GRADES {
                different.sort_unstable_by(f64::total_cmp);
                different.dedup();
            }
        }
        different.sort_unstable_by(f64::total_cmp);
        different.dedup();
        Self { names, offsets, ideal, grades: different }
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
