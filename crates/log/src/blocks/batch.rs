//! Events as they come in: columns of rankings and labels that have no numbers yet.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::contexts::Contexts;
use super::labels::{self, Labels};
use super::list::List;
use super::rankings::{self, Rankings};
use super::texts::{count, join};

/// Events, and of which objects they are. The contexts of rankings are places in those of the batch;
/// events have no numbers, and labels do not know when their rankings were shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The rankings.
    pub rankings: Rankings,
    /// The labels.
    pub labels: Labels,
    /// Of each event, whether it is a label.
    #[serde(with = "serde_bytes")]
    pub kinds: Vec<u8>,
    /// How many events each object has: none where it was not taken.
    pub counts: Vec<i64>,
    /// What rankings have in common.
    pub contexts: Contexts,
}

/// An event: its row among the rankings or the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A ranking.
    Ranking(usize),
    /// A label.
    Label(usize),
}

impl Batch {
    /// The bytes in which it goes to another process of the same release.
    ///
    /// # Panics
    /// Never, for its lengths are known.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("its lengths are known")
    }

    /// Reads what another process has written; none where it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (batch, rest) = postcard::take_from_bytes(bytes).ok()?;
        rest.is_empty().then_some(batch)
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The events, in order.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        let mut rows = [0, 0];
        self.kinds.iter().map(move |&kind| {
            let row = &mut rows[usize::from(kind)];
            *row += 1;
            if kind == 0 { Event::Ranking(*row - 1) } else { Event::Label(*row - 1) }
        })
    }

    /// Adds a ranking with its documents.
    pub fn push_ranking(&mut self, row: &rankings::Row<'_>, list: &List) {
        self.rankings.push(row, list);
        self.kinds.push(0);
    }

    /// Adds a label.
    pub fn push_label(&mut self, row: &labels::Row<'_>) {
        self.labels.push(row);
        self.kinds.push(1);
    }

    /// Ends an object, all events since the last of which are its own.
    pub fn end_object(&mut self, events: usize) {
        self.counts.push(count(events));
    }

    /// The events of some batches, one batch after another.
    pub fn join(parts: &[&Self]) -> Self {
        let mut contexts = Contexts::default();
        let mut codes = Vec::with_capacity(parts.iter().map(|part| part.rankings.len()).sum());
        for part in parts {
            let places = part.contexts.iter().map(|context| count(contexts.add(context)));
            let places: Vec<i64> = places.collect();
            codes.extend(part.rankings.contexts.iter().map(|&code| places[at(code)]));
        }
        let rankings: Vec<&Rankings> = parts.iter().map(|part| &part.rankings).collect();
        let labels: Vec<&Labels> = parts.iter().map(|part| &part.labels).collect();
        let parts = parts.iter().copied();
        Self {
            rankings: Rankings { contexts: codes, ..Rankings::join(&rankings) },
            labels: Labels::join(&labels),
            kinds: join(parts.clone().map(|part| &part.kinds)),
            counts: join(parts.map(|part| &part.counts)),
            contexts,
        }
    }

    /// Some events, in the order of these; all of them are of one object.
    pub fn take(&self, events: &[usize]) -> Self {
        let rows: Vec<Event> = self.events().collect();
        let (mut rankings, mut labels) = (Vec::new(), Vec::new());
        for &event in events {
            match rows[event] {
                Event::Ranking(row) => rankings.push(row),
                Event::Label(row) => labels.push(row),
            }
        }
        let mut rankings = self.rankings.take(&rankings);
        let mut contexts = Contexts::default();
        for code in &mut rankings.contexts {
            *code = count(contexts.add(&self.contexts[at(*code)]));
        }
        Self {
            rankings,
            labels: self.labels.take(&labels),
            kinds: events.iter().map(|&event| self.kinds[event]).collect(),
            counts: std::iter::once(count(events.len())).collect(),
            contexts,
        }
    }

    /// Puts the objects of others at some places, which ascend, between those of this batch; none where
    /// they are not as many.
    pub fn merge(&self, others: &Self, places: &[usize]) -> Option<Self> {
        if places.len() != others.counts.len() {
            return None;
        }
        let objects = self.counts.len() + others.counts.len();
        let mut parts = [(0, 0), (0, self.len())]; // of each, the next object and the next event
        let (mut events, mut counts) = (Vec::new(), Vec::with_capacity(objects));
        let mut rest = places.iter().copied().peekable();
        for place in 0..objects {
            let is_other = rest.next_if_eq(&place).is_some();
            let theirs = if is_other { &others.counts } else { &self.counts };
            let (object, event) = &mut parts[usize::from(is_other)];
            let size = *theirs.get(*object)?;
            let end = *event + at(size);
            events.extend(*event..end);
            counts.push(size);
            (*object, *event) = (*object + 1, end);
        }
        let mut merged = Self::join(&[self, others]).take(&events);
        merged.counts = counts;
        Some(merged)
    }

    /// The places of some events, and of which the objects are.
    pub fn objects(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut end = 0;
        self.counts.iter().map(move |&size| {
            let start = end;
            end += at(size);
            start..end
        })
    }

    /// How many rankings each context has.
    pub fn count_contexts(&self) -> Vec<i64> {
        let mut counts = vec![0; self.contexts.len()];
        self.rankings.contexts.iter().for_each(|&code| counts[at(code)] += 1);
        counts
    }
}

/// An offset or a code, as a place.
pub(crate) fn at(code: i64) -> usize {
    usize::try_from(code).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches of labels whose ids are numbers, one object for each number of events.
    fn labels(ids: &mut std::ops::RangeFrom<u8>, counts: &[usize]) -> Batch {
        let mut batch = Batch::default();
        for &count in counts {
            for id in ids.by_ref().take(count) {
                let (doc_id, names) = (&b"d"[..], &b"[]"[..]);
                let (seq, shown, time, kind, value) = (0, 0, 0, 0, f64::NAN);
                let (ranking_id, event_id) = (&b"r"[..], &[id][..]);
                let row = labels::Row {
                    seq,
                    shown,
                    time,
                    kind,
                    ranking_id,
                    event_id,
                    doc_id,
                    names,
                    value,
                };
                batch.push_label(&row);
            }
            batch.end_object(count);
        }
        batch
    }

    #[test]
    fn objects_are_put_between_others_and_a_batch_is_read_as_it_was_written() {
        let mut ids = 0..;
        let (one, other) = (labels(&mut ids, &[1, 2]), labels(&mut ids, &[0, 1]));
        let merged = one.merge(&other, &[1, 3]).unwrap();
        assert_eq!(merged.counts, [1, 0, 2, 1]);
        let same = Batch::from_bytes(&merged.to_bytes()).unwrap();
        assert_eq!(same.to_bytes(), merged.to_bytes());
        for batch in [&merged, &same] {
            assert_eq!(batch.labels.event_ids.bytes, [0, 1, 2, 3]);
        }
        let first = other.merge(&one, &[0, 1]).unwrap();
        assert_eq!(
            (&first.counts[..], &first.labels.event_ids.bytes[..]),
            (&[1, 2, 0, 1][..], &[0, 1, 2, 3][..])
        );
        assert!(one.merge(&other, &[1]).is_none());
        for size in 0..merged.to_bytes().len() {
            assert!(Batch::from_bytes(&merged.to_bytes()[..size]).is_none());
        }
    }
}
