//! Fused lists that are held until all lists before them are there.

use crate::ids::interner::Arena;
use crate::rank::run::Run;
use crate::text::list::{List, Row};

/// The lists of adjacent queries.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    queries: Arena,
    docs: Arena,
    scores: Vec<f64>,
    /// Where the list of each query ends.
    ends: Vec<usize>,
}

impl Chunk {
    /// Adds the list of a query: its documents with their scores.
    pub(super) fn push<'a>(&mut self, query: &[u8], rows: impl Iterator<Item = (&'a [u8], f64)>) {
        for (doc, score) in rows {
            self.docs.push(doc);
            self.scores.push(score);
        }
        self.queries.push(query);
        self.ends.push(self.scores.len());
    }

    /// Adds all lists to a run.
    pub(super) fn add_to(&self, run: &mut Run) {
        let mut start = 0;
        for (query, &end) in self.ends.iter().enumerate() {
            let rows = (start..end).map(|row| Row {
                doc: self.docs.get(row),
                score: self.scores[row],
                line: 0,
            });
            let query = self.queries.get(query);
            run.add(&List { query, rows: rows.collect(), ..List::default() }, 0);
            start = end;
        }
    }
}
