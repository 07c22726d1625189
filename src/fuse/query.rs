//! The lists of one query in all runs, with documents as numbers.

use std::cmp::Ordering;

use super::choices::Choices;
use crate::error::{Error, Result};
use crate::ids::interner::Ids;
use crate::memory::{self, Vec};
use crate::number::sorter::Sorter;
use crate::policy::Ties;
use crate::rank::lists::Lists;

/// A run to fuse, and what messages call it.
pub struct Given<'a> {
    /// Its lists.
    pub lists: &'a dyn Lists,
    /// Its name.
    pub name: &'a str,
}

/// A document of a list, by its number among those of all lists, and its score.
pub(super) type Entry = (u32, f64);

/// The lists of a query.
#[derive(Default)]
pub(super) struct Query {
    /// The documents of all lists, in first-seen order.
    pub docs: Ids,
    /// By run, its documents in rank order; none where it does not have the query.
    pub lists: Vec<Vec<Entry>>,
    sorter: Sorter,
}

impl Query {
    /// Reads a query's lists; `places` are its number in each run. Runs without weight are left out.
    ///
    /// # Errors
    /// Where a document occurs twice in a list.
    pub(super) fn read(
        &mut self,
        runs: &[Given<'_>],
        places: &[Option<usize>],
        choices: &Choices,
    ) -> Result<()> {
        self.docs.clear();
        self.lists.resize(runs.len(), Vec::new());
        let of_runs = runs.iter().zip(&choices.weights).zip(places);
        for (((run, &weight), place), list) in of_runs.zip(&mut self.lists) {
            list.clear();
            let Some(place) = place.filter(|_| weight > 0.0) else { continue };
            let docs = &mut self.docs;
            run.lists
                .visit(place, &mut |doc, score| list.push((number(docs, doc), score)))
                .map_err(|error: Error| error.file(run.name))?;
            rank(list, docs, choices.ties, &mut self.sorter);
        }
        Ok(())
    }

    /// The numbers of all documents by fused score, the best ones first.
    pub(super) fn order(&mut self, scores: &[f64], choices: &Choices) -> &[u32] {
        let (docs, ties) = (&self.docs, choices.ties);
        let order = self.sorter.sort(scores.len(), |doc| scores[doc]);
        if ties != Ties::Input {
            let alike = order
                .chunk_by_mut(|&one, &other| scores[one as usize] == scores[other as usize])
                .filter(|alike| alike.len() > 1);
            alike.for_each(|alike| memory::sort_by(alike, |&a, &b| order_tied(docs, ties, a, b)));
        }
        &order[..order.len().min(choices.depth)]
    }
}

#[allow(clippy::cast_possible_truncation)] // documents of a query are counted in 32 bits
fn number(docs: &mut Ids, doc: &[u8]) -> u32 {
    docs.number(doc) as u32
}

/// Puts a list in rank order.
fn rank(list: &mut Vec<Entry>, docs: &Ids, ties: Ties, sorter: &mut Sorter) {
    if !list.is_sorted_by(|above, below| above.1 >= below.1) {
        let order = sorter.sort(list.len(), |row| list[row].1);
        *list = order.iter().map(|&row| list[row as usize]).collect();
    }
    if ties != Ties::Input {
        let alike = list.chunk_by_mut(|one, other| one.1 == other.1);
        alike.filter(|alike| alike.len() > 1).for_each(|alike| {
            memory::sort_by(alike, |one, other| order_tied(docs, ties, one.0, other.0));
        });
    }
}

fn order_tied(docs: &Ids, ties: Ties, one: u32, other: u32) -> Ordering {
    let text = |doc: u32| docs.texts().get(doc as usize);
    let order = text(one).cmp(text(other));
    if ties == Ties::DocIdAscending { order } else { order.reverse() }
}
