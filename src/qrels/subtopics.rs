//! The subtopics of queries: which judged documents are relevant to which aspect of a query.

use std::ops::Range;

use crate::error::Result;
use crate::saved::{Reader, Writer, require};

/// What judgments have beside documents and grades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Second {
    /// The subtopic that each is of; a document can have several.
    #[default]
    Subtopic,
    /// The stratum of which the document was sampled for judging, of which each has one.
    Stratum,
}

/// The subtopics of all queries, beside the judged documents of an axis; or their strata.
#[derive(Clone, Debug, Default)]
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
    #[must_use]
    pub fn stratum(&self, doc: usize) -> (usize, f64) {
        let row = self.offsets[doc];
        (self.numbers[row] as usize, self.grades[row])
    }

    /// How many documents are judged.
    #[must_use]
    pub fn documents(&self) -> usize {
        self.order.len()
    }
}

impl Subtopics {
    /// What they are.
    #[must_use]
    pub fn second(&self) -> Second {
        self.second
    }

    /// How many judgments there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Those of one query, whose judged documents are these of the axis.
    #[must_use]
    pub fn of_query(&self, query: usize, docs: Range<usize>) -> OfQuery<'_> {
        OfQuery {
            count: self.counts[query] as usize,
            order: &self.order[docs.clone()],
            offsets: &self.offsets[docs.start..=docs.end],
            numbers: &self.numbers,
            grades: &self.grades,
        }
    }

    /// Saves them, or that there are none.
    pub fn write_to(subtopics: Option<&Self>, out: &mut Writer) {
        out.flag(subtopics.is_some());
        if let Some(Self { second, counts, offsets, numbers, grades, order }) = subtopics {
            out.flag(*second == Second::Stratum);
            out.codes(counts);
            out.codes(numbers);
            out.doubles(grades);
            out.offsets(offsets);
            out.codes(order);
        }
    }

    /// Reads what was saved beside the judged documents of an axis, by its offsets.
    ///
    /// # Errors
    /// Where it is damaged.
    pub fn read_from(saved: &mut Reader<'_>, axis: &[usize]) -> Result<Option<Self>> {
        if !saved.flag()? {
            return Ok(None);
        }
        let second = if saved.flag()? { Second::Stratum } else { Second::Subtopic };
        let counts = saved.codes(usize::MAX)?;
        require(counts.len() + 1 == axis.len())?;
        let numbers = saved.codes(usize::MAX)?;
        let grades = saved.doubles()?;
        require(numbers.len() == grades.len() && grades.iter().all(|grade| grade.is_finite()))?;
        let offsets = saved.offsets(numbers.len())?;
        let order = saved.codes(usize::MAX)?;
        require(axis.last() == Some(&order.len()) && offsets.len() == order.len() + 1)?;
        for (query, ends) in axis.windows(2).enumerate() {
            let rows = offsets[ends[0]]..offsets[ends[1]];
            require(numbers[rows].iter().all(|&number| number < counts[query]))?;
            let docs = ends[1] - ends[0];
            require(order[ends[0]..ends[1]].iter().all(|&place| (place as usize) < docs))?;
        }
        // A document has one stratum, which is looked up without asking.
        let is_single = |ends: &[usize]| ends[1] == ends[0] + 1;
        require(second == Second::Subtopic || offsets.windows(2).all(is_single))?;
        Ok(Some(Self { second, counts, offsets, numbers, grades, order }))
    }
}
