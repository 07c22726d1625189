//! The lists of one query in all runs, with documents as numbers.

use std::cmp::Ordering;

use super::choices::Choices;
use crate::error::{Error, Kind, Result};
use crate::ids::interner::{Arena, Ids};
use crate::number::sorter::Sorter;
use crate::policy::Ties;
use crate::rank::lists::Lists;

/// A list: where it is, and its number there.
pub(super) type Place<'a> = (&'a dyn Lists, usize);

/// A document of a list, by its number among those of all lists, and its score.
pub(super) type Entry = (u32, f64);

/// The lists of a query.
#[derive(Default)]
pub(super) struct Query {
    /// The documents of all lists, in first-seen order.
    pub docs: Ids,
    /// By run, its documents in rank order; none where it does not have the query.
    pub lists: Vec<Vec<Entry>>,
    /// By document, one more than the number of the last list that has it.
    seen: Vec<usize>,
    sorter: Sorter,
}

impl Query {
    /// Reads a query's lists, by run. Runs without weight are left out.
    ///
    /// # Errors
    /// Where a document occurs twice in a list.
    pub(super) fn read(
        &mut self,
        places: &[Option<Place<'_>>],
        names: &[&str],
        choices: &Choices,
    ) -> Result<()> {
        let Self { docs, lists, seen, sorter } = self;
        docs.clear();
        seen.clear();
        lists.resize(places.len(), Vec::new());
        for (run, (list, &place)) in lists.iter_mut().zip(places).enumerate() {
            list.clear();
            let Some((given, place)) = place.filter(|_| choices.weights[run] > 0.0) else {
                continue;
            };
            let mut is_twice = false;
            let take = &mut |doc: &[u8], score: f64| {
                let doc = number(docs, doc);
                match seen.get_mut(doc as usize) {
                    Some(last) => is_twice |= std::mem::replace(last, run + 1) == run + 1,
                    None => seen.push(run + 1),
                }
                list.push((doc, score));
            };
            given.visit(place, take).map_err(|error: Error| error.file(names[run]))?;
            if is_twice {
                return Err(retrieved_twice().file(names[run]));
            }
            rank(list, docs, choices.ties, sorter);
        }
        Ok(())
    }

    /// All documents, and their numbers by fused score, the best ones first.
    pub(super) fn order(&mut self, scores: &[f64], choices: &Choices) -> (&Arena, &[u32]) {
        let (docs, ties) = (&self.docs, choices.ties);
        let order = self.sorter.sort(scores.len(), |doc| scores[doc]);
        if ties != Ties::Input {
            let alike = order
                .chunk_by_mut(|&one, &other| scores[one as usize] == scores[other as usize])
                .filter(|alike| alike.len() > 1);
            alike.for_each(|alike| alike.sort_by(|&a, &b| order_tied(docs, ties, a, b)));
        }
        (docs.texts(), &order[..order.len().min(choices.depth)])
    }
}

/// The error for a list that did not say which document it has twice.
fn retrieved_twice() -> Error {
    Error::new(Kind::Duplicate, "duplicate_doc", "expected each document once, found one twice")
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
            alike.sort_by(|one, other| order_tied(docs, ties, one.0, other.0));
        });
    }
}

fn order_tied(docs: &Ids, ties: Ties, one: u32, other: u32) -> Ordering {
    let text = |doc: u32| docs.texts().get(doc as usize);
    let order = text(one).cmp(text(other));
    if ties == Ties::DocIdAscending { order } else { order.reverse() }
}
