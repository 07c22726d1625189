//! Finds the labels of some rankings among many.

use std::sync::Arc;

use super::batch::{Batch, Event};
use super::labels::Labels;
use super::texts::{Texts, count};
use crate::ids::interner::IdHasher;
use crate::memory::{Vec, fill};

/// Below the hash in a number is the place of a text.
const PLACE: u64 = u32::MAX as u64;

/// Labels that are found by their rankings.
#[derive(Debug)]
pub struct LabelIndex {
    /// Events that are all labels, so that their rows are their places.
    batch: Arc<Batch>,
    /// Half of the hash of each label's ranking, and the row of the label, sorted.
    rows: Vec<u64>,
    hash: fn(&[u8]) -> u64,
}

impl LabelIndex {
    /// The labels of a batch.
    #[must_use]
    pub fn of(batch: &Arc<Batch>) -> Self {
        Self::hashed(batch, |id| IdHasher::default().hash(id))
    }

    fn hashed(batch: &Arc<Batch>, hash: fn(&[u8]) -> u64) -> Self {
        let batch = if batch.rankings.is_empty() {
            Arc::clone(batch)
        } else {
            let labels = batch.events().zip(0..);
            let labels: Vec<usize> = labels
                .filter(|(event, _)| matches!(event, Event::Label(_)))
                .map(|(_, place)| place)
                .collect();
            Arc::new(batch.take(&labels))
        };
        let ids = &batch.labels.ranking_ids;
        let rows = sort((0..ids.len()).map(|row| ids.get(row)), hash);
        Self { batch, rows, hash }
    }

    /// How many labels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        let Batch { labels, kinds, .. } = &*self.batch;
        size_of_val(&self.rows[..]) + size_of_val(&kinds[..]) + labels.size()
    }

    /// The rows of the labels of some rankings from one time to before another. `sorted` has the places
    /// of their ids.
    fn find(&self, ids: &[&[u8]], sorted: &[u64], since: i64, until: i64) -> Vec<usize> {
        let labels = &self.batch.labels;
        let mut rows = Vec::new();
        let (mut asked, mut rest) = (sorted, &self.rows[..]);
        while let (Some(&one), Some(&row)) = (asked.first(), rest.first()) {
            let (sought, found) = (half(one), half(row));
            if sought != found {
                // Few of one may be among many of the other.
                asked = &asked[gallop(asked, found)..];
                rest = &rest[gallop(rest, sought)..];
                continue;
            }
            let count = asked.iter().take_while(|&&one| half(one) == sought).count();
            let (alike, others) = asked.split_at(count);
            for row in rest.iter().copied().take_while(|&row| half(row) == sought).map(place) {
                let id = labels.ranking_ids.get(row);
                if (since..until).contains(&labels.times[row])
                    && alike.iter().any(|&one| ids[place(one)] == id)
                {
                    rows.push(row);
                }
            }
            asked = others;
        }
        rows.sort_unstable();
        rows
    }

    /// The different rankings of the labels, in the order in which they are first seen.
    #[must_use]
    pub fn unique_ids(&self) -> Texts {
        let ids = &self.batch.labels.ranking_ids;
        let mut firsts: Vec<usize> = Vec::new();
        for alike in self.rows.chunk_by(|&one, &other| half(one) == half(other)) {
            let start = firsts.len();
            for row in alike.iter().copied().map(place) {
                if !firsts[start..].iter().any(|&first| ids.get(first) == ids.get(row)) {
                    firsts.push(row);
                }
            }
        }
        firsts.sort_unstable();
        ids.take(&firsts)
    }
}

/// The labels of some rankings from one time to before another, those of one index after those of
/// another, as one object.
#[must_use]
pub fn choose(indexes: &[&LabelIndex], ids: &[&[u8]], since: i64, until: i64) -> Batch {
    let Some(first) = indexes.first() else { return Batch::default() };
    let sorted = sort(ids.iter().copied(), first.hash);
    let mut parts = Vec::new();
    for index in indexes {
        let rows = index.find(ids, &sorted, since, until);
        if !rows.is_empty() {
            parts.push(index.batch.labels.take(&rows));
        }
    }
    let labels = Labels::join(&parts.iter().collect::<Vec<_>>());
    let (kinds, mut counts) = (fill(1, labels.len()), Vec::new());
    counts.push(count(labels.len()));
    Batch { labels, kinds, counts, ..Batch::default() }
}

/// How many numbers at the beginning, which are sorted, are less than the half of a hash.
fn gallop(sorted: &[u64], sought: u64) -> usize {
    let mut end = 1;
    while end < sorted.len() && sorted[end] < sought {
        end *= 2;
    }
    let start = end / 2;
    start + sorted[start..sorted.len().min(end)].partition_point(|&one| one < sought)
}

/// Half of the hash of each text, above its place, sorted.
fn sort<'a>(texts: impl ExactSizeIterator<Item = &'a [u8]>, hash: fn(&[u8]) -> u64) -> Vec<u64> {
    // So many texts don't fit into memory.
    let mut sorted: Vec<u64> = texts.zip(0..).map(|(id, row)| half(hash(id)) | row).collect();
    sorted.sort_unstable();
    sorted
}

/// The half of the hash.
fn half(one: u64) -> u64 {
    one & !PLACE
}

#[allow(clippy::cast_possible_truncation)] // it was a place in memory
fn place(one: u64) -> usize {
    (one & PLACE) as usize
}

#[cfg(test)]
mod tests {
    use super::super::contexts::{Context, Contexts};
    use super::super::{labels, rankings};
    use super::*;
    use crate::log::list::List;
    use proptest::prelude::*;

    fn batch(events: &[(bool, String, i64)]) -> Batch {
        let mut batch = Batch::default();
        for ((is_label, id, time), number) in events.iter().zip(0u8..) {
            let (ranking_id, event_id, time) = (id.as_bytes(), &[number][..], *time);
            if *is_label {
                let row = labels::Row {
                    seq: 0,
                    shown: 0,
                    time,
                    kind: 0,
                    ranking_id,
                    event_id,
                    doc_id: b"d",
                    names: b"[]",
                    value: 0.5,
                };
                batch.push_label(&row);
            } else {
                let (query_key, user_id) = (&b""[..], &b""[..]);
                let row = rankings::Row {
                    seq: 0,
                    time,
                    context: 0,
                    ranking_id,
                    event_id,
                    query_key,
                    user_id,
                };
                batch.push_ranking(&row, &List::default());
            }
        }
        batch.contexts.add(&Context::default());
        batch
    }

    proptest! {
        #[test]
        fn labels_are_found_by_their_rankings_and_times(
            events in prop::collection::vec((any::<bool>(), "[ab]{0,2}", 0..6i64), 0..12),
            ids in prop::collection::vec("[ab]{0,2}", 0..6),
            [since, until] in [0..7i64, 0..7i64],
            is_alike in any::<bool>(),
        ) {
            let whole = Arc::new(batch(&events));
            // Texts of one length have one hash.
            let short = |id: &[u8]| (id.len() as u64) << 32;
            let index = if is_alike { LabelIndex::hashed(&whole, short) } else { LabelIndex::of(&whole) };
            let labels = events.iter().zip(0..).filter(|((is_label, ..), _)| *is_label);
            let chosen = labels.clone().filter(|((_, id, time), _)| {
                ids.contains(id) && since <= *time && *time < until
            });
            let mut expected = whole.take(&chosen.map(|(_, place)| place).collect::<Vec<_>>());
            expected.contexts = Contexts::default();
            let asked: Vec<&[u8]> = ids.iter().map(String::as_bytes).collect();
            let twice = choose(&[&index, &index], &asked, since, until);
            expected = Batch::join(&[&expected, &expected]);
            expected.counts = std::iter::once(count(expected.labels.len())).collect();
            prop_assert_eq!(twice, expected);
            prop_assert_eq!(index.len(), labels.clone().count());
            let mut different = std::vec![];
            for ((_, id, _), _) in labels {
                if !different.contains(&id.as_bytes()) {
                    different.push(id.as_bytes());
                }
            }
            let found = index.unique_ids();
            prop_assert_eq!((0..found.len()).map(|row| found.get(row)).collect::<std::vec::Vec<_>>(), different);
        }
    }
}
