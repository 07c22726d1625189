//! Where lists come from: runs as they were read, and rankings that were joined with judgments.

use std::borrow::Cow;

use crate::error::Result;
use crate::rank::join::Joiner;
use crate::rank::rankings::Rankings;
use crate::rank::run::Run;
use crate::text::list::List;

/// The lists of some queries.
pub trait Lists: Sync {
    /// How many queries there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a query is called.
    fn query(&self, query: usize) -> Cow<'_, [u8]>;

    /// Whether a query has no documents.
    fn is_blank(&self, query: usize) -> bool;

    /// Hands over the documents of a query with their scores, in any order.
    ///
    /// # Errors
    /// Where a document occurs twice.
    fn visit(&self, query: usize, take: &mut dyn FnMut(&[u8], f64)) -> Result<()>;
}

impl Lists for Run {
    fn len(&self) -> usize {
        self.queries().len()
    }

    fn query(&self, query: usize) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.queries().get(query))
    }

    fn is_blank(&self, query: usize) -> bool {
        self.is_blank(query)
    }

    fn visit(&self, query: usize, take: &mut dyn FnMut(&[u8], f64)) -> Result<()> {
        let mut list = List::default();
        self.fill(query, &mut list);
        Joiner::default().check_distinct(&list)?;
        for row in &list.rows {
            take(row.doc, row.score);
        }
        Ok(())
    }
}

impl Lists for Rankings {
    fn len(&self) -> usize {
        self.len()
    }

    fn query(&self, query: usize) -> Cow<'_, [u8]> {
        self.axis().name(query)
    }

    fn is_blank(&self, query: usize) -> bool {
        self.offsets()[query] == self.offsets()[query + 1]
    }

    fn visit(&self, query: usize, take: &mut dyn FnMut(&[u8], f64)) -> Result<()> {
        for row in self.offsets()[query]..self.offsets()[query + 1] {
            take(&self.docs().get(self.codes()[row]), self.scores()[row]);
        }
        Ok(())
    }
}
