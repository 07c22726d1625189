//! The subtopics of queries: which judged documents are relevant to which aspect of a query.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::saved::{require, require_codes, require_offsets};

/// What judgments have beside documents and grades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Second {
    /// The subtopic that each is of; a document can have several.
    #[default]
    Subtopic,
    /// The stratum of which the document was sampled for judging, of which each has one.
    Stratum,
}

/// The subtopics of all queries, beside the judged documents of an axis; or their strata.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Subtopics {
    /// Which of these they are.
    pub(super) second: Second,
    /// How many subtopics each query has.
    pub(super) counts: Vec<u32>,
    /// Where the judgments of each judged document begin, and the last ones end.
    pub(super) offsets: Vec<usize>,
    /// The subtopic of each judgment, numbered within its query in the order of identifiers.
    pub(super) numbers: Vec<u32>,
    /// Its grade.
    pub(super) grades: Vec<f64>,
    /// By judged document, its place among those of the query, the largest identifier first.
    pub(super) order: Vec<u32>,
}

/// The subtopics of one query.
#[derive(Clone, Copy, Debug)]
pub struct OfQuery<'a> {
    /// How many there are.
    pub count: usize,
    /// By judged document, its place among those of the query, the largest identifier first.
    pub order: &'a [u32],
    offsets: &'a [usize],
    numbers: &'a [u32],
    grades: &'a [f64],
}

impl<'a> OfQuery<'a> {
    /// The subtopics to which a document has this grade or a higher one, in order.
    pub fn relevant(&self, doc: usize, rel: f64) -> impl Iterator<Item = usize> + use<'a> {
        let rows = self.offsets[doc]..self.offsets[doc + 1];
        let judged = self.numbers[rows.clone()].iter().zip(&self.grades[rows]);
        judged.filter(move |&(_, &grade)| grade >= rel).map(|(&subtopic, _)| subtopic as usize)
    }

    /// The stratum of a document, and its grade.
    pub fn stratum(&self, doc: usize) -> (usize, f64) {
        let row = self.offsets[doc];
        (self.numbers[row] as usize, self.grades[row])
    }

    /// How many documents are judged.
    pub fn documents(&self) -> usize {
        self.order.len()
    }
}

impl Subtopics {
    /// What they are.
    pub fn second(&self) -> Second {
        self.second
    }

    /// How many judgments there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Refuses what does not lie beside the judged documents of an axis with these offsets.
    pub(crate) fn validate(&self, axis: &[usize]) -> Result<()> {
        let Self { second, counts, offsets, numbers, grades, order } = self;
        require(counts.len() + 1 == axis.len())?;
        require(numbers.len() == grades.len() && grades.iter().all(|grade| grade.is_finite()))?;
        require_offsets(offsets, numbers.len())?;
        require(axis.last() == Some(&order.len()) && offsets.len() == order.len() + 1)?;
        for (ends, &count) in axis.windows(2).zip(counts) {
            require_codes(&numbers[offsets[ends[0]]..offsets[ends[1]]], count as usize)?;
            require_codes(&order[ends[0]..ends[1]], ends[1] - ends[0])?;
        }
        // A document has one stratum, which is looked up without asking.
        let is_single = |ends: &[usize]| ends[1] == ends[0] + 1;
        require(*second == Second::Subtopic || offsets.windows(2).all(is_single))
    }

    /// Those of one query, whose judged documents are these of the axis.
    pub fn of_query(&self, query: usize, docs: Range<usize>) -> OfQuery<'_> {
        OfQuery {
            count: self.counts[query] as usize,
            order: &self.order[docs.clone()],
            offsets: &self.offsets[docs.start..=docs.end],
            numbers: &self.numbers,
            grades: &self.grades,
        }
    }
}
