//! Lists that are held until they are fused, or until it is their turn after that.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;
use crate::ids::interner::Arena;
use crate::memory::Vec;
use crate::rank::lists::Lists;
use crate::text::list::{List, Row};

/// The lists of some queries.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    queries: Arena,
    docs: Arena,
    scores: Vec<f64>,
    /// Where the list of each query ends.
    ends: Vec<usize>,
}

impl Chunk {
    /// A copy of one list.
    ///
    /// # Errors
    /// Where it has a document twice.
    pub(super) fn of_list(lists: &dyn Lists, place: usize) -> Result<Self> {
        let mut chunk = Self::default();
        lists.visit(place, &mut |doc, score| chunk.push(doc, score))?;
        chunk.end(&lists.query(place));
        Ok(chunk)
    }

    /// Adds a document to the last list.
    pub(super) fn push(&mut self, doc: &[u8], score: f64) {
        self.docs.push(doc);
        self.scores.push(score);
    }

    /// Ends the last list, which is that of a query.
    pub(super) fn end(&mut self, query: &[u8]) {
        self.queries.push(query);
        self.ends.push(self.scores.len());
    }

    /// How many documents all its lists have.
    pub(super) fn documents(&self) -> usize {
        self.scores.len()
    }

    /// One of the lists, as rows that were read.
    pub(super) fn list(&self, query: usize) -> List<'_> {
        let mut list = List { query: self.queries.get(query), ..List::default() };
        self.each_row(query, |doc, score| list.rows.push(Row { doc, score, line: 0 }));
        list
    }

    /// About how many bytes of memory it takes.
    pub(super) fn size(&self) -> usize {
        let row = size_of::<usize>() + size_of::<f64>();
        size_of::<Self>() + self.queries.size() + self.docs.size() + row * self.scores.len()
    }

    /// Gives the documents of a list to `each`, with their scores.
    fn each_row<'a>(&'a self, query: usize, mut each: impl FnMut(&'a [u8], f64)) {
        for row in self.rows(query) {
            each(self.docs.get(row), self.scores[row]);
        }
    }

    fn rows(&self, query: usize) -> Range<usize> {
        let start = if query == 0 { 0 } else { self.ends[query - 1] };
        start..self.ends[query]
    }
}

impl Lists for Chunk {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn query(&self, query: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.queries.get(query))
    }

    fn is_blank(&self, query: usize) -> bool {
        self.rows(query).is_empty()
    }

    fn visit(&self, query: usize, take: &mut dyn FnMut(&[u8], f64)) -> Result<()> {
        self.each_row(query, take);
        Ok(())
    }
}

/// Some adjacent lists among others.
pub(super) struct Window<'a> {
    pub lists: &'a dyn Lists,
    pub range: Range<usize>,
}

impl Lists for Window<'_> {
    fn len(&self) -> usize {
        self.range.len()
    }

    fn query(&self, query: usize) -> Cow<'_, [u8]> {
        self.lists.query(self.range.start + query)
    }

    fn is_blank(&self, query: usize) -> bool {
        self.lists.is_blank(self.range.start + query)
    }

    fn visit(&self, query: usize, take: &mut dyn FnMut(&[u8], f64)) -> Result<()> {
        self.lists.visit(self.range.start + query, take)
    }
}
