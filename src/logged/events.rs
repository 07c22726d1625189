//! Events as a store keeps them: identified, packed, and with what many rankings share kept once.

use crate::memory::{Vec, copy};
use std::ops::Range;

use super::digest::{self, Digest, write_integer, write_text};
use super::list::{Limits, List, notes, number_bytes};

/// Where rankings are made, the usual place first.
pub const ENVIRONMENTS: [&str; 3] = ["production", "validation", "training"];
/// What labels do, the usual first.
pub const KINDS: [&str; 3] = ["label", "correction", "retraction"];
/// The microseconds of the years 1000 to 8999.
const YEARS: Range<i64> = -30_610_224_000_000_000..221_845_392_000_000_000;
/// So many contexts are searched for one that is already there.
const RECENT: usize = 64;

/// A ranking as it is stored.
#[derive(Debug, Default)]
pub struct Ranking {
    /// What it is known by when it is sent again.
    pub event_id: Vec<u8>,
    /// What labels name.
    pub ranking_id: Vec<u8>,
    /// When it was shown, in microseconds since 1970.
    pub time: i64,
    /// What repeats.
    pub query_key: Vec<u8>,
    /// Who saw it.
    pub user_id: Vec<u8>,
    /// The place of its context in those of the batch.
    pub context: usize,
    /// Identifies what it says.
    pub digest: Digest,
    /// Its documents.
    pub packed: Vec<u8>,
}

/// A label as it is stored.
#[derive(Debug)]
pub struct Label {
    /// What it is known by when it is sent again.
    pub event_id: Vec<u8>,
    /// The ranking.
    pub ranking_id: Vec<u8>,
    /// The document.
    pub doc_id: Vec<u8>,
    /// When it happened, in microseconds since 1970.
    pub time: i64,
    /// What it does, by its place in [`KINDS`].
    pub kind: usize,
    /// What happened, as a list of JSON.
    pub names: Vec<u8>,
    /// Its grade.
    pub value: Option<f64>,
    /// Identifies what it says.
    pub digest: Digest,
}

/// What many rankings have in common.
#[derive(Debug, Default, PartialEq)]
pub struct Context {
    /// The model that ranked.
    pub model: Vec<u8>,
    /// Its version.
    pub version: Vec<u8>,
    /// Where it ranked, by its place in [`ENVIRONMENTS`].
    pub environment: usize,
    /// Names and values, by name.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// What is to be said about an event that was accepted.
#[derive(Debug, Default, PartialEq)]
pub struct Remarks {
    /// Bits of [`notes`].
    pub notes: u8,
    /// Fields that are not known.
    pub unknown: Vec<Vec<u8>>,
}

impl Remarks {
    /// Adds a field that is not known, unless it is there.
    pub fn add_unknown(&mut self, name: &[u8]) {
        if !self.unknown.iter().any(|known| **known == *name) {
            self.unknown.push(copy(name));
        }
    }
}

/// What an object was read as: a ranking, labels, or a ranking with labels.
#[derive(Debug)]
pub struct Object {
    /// Its ranking.
    pub ranking: Option<Ranking>,
    /// Its labels.
    pub labels: Vec<Label>,
    /// The place of its remarks in those of the batch.
    pub remarks: usize,
}

/// The objects of a batch.
#[derive(Debug, Default)]
pub struct Batch {
    /// What each was read as; none where that takes a closer look.
    pub objects: Vec<Option<Object>>,
    /// What rankings have in common.
    pub contexts: Vec<Context>,
    /// What is to be said.
    pub remarks: Vec<Remarks>,
}

/// The fields of a ranking but for its documents.
#[derive(Debug, Default)]
pub struct Head {
    /// Its id as an event; none where it has none of its own.
    pub event_id: Option<Vec<u8>>,
    /// What labels name.
    pub ranking_id: Vec<u8>,
    /// When it was shown.
    pub time: i64,
    /// What repeats.
    pub query_key: Vec<u8>,
    /// Who saw it.
    pub user_id: Vec<u8>,
    /// The rest.
    pub context: Context,
}

/// Labels that were logged with a document.
#[derive(Debug)]
pub struct Own {
    /// The document.
    pub doc_id: Vec<u8>,
    /// What happened, one at least.
    pub names: Vec<Vec<u8>>,
}

/// The times that events may have.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The earliest.
    pub from: i64,
    /// The latest.
    pub to: i64,
}

impl Span {
    /// Returns a time if an event may have it.
    #[must_use]
    pub fn check(self, time: i64) -> Option<i64> {
        (YEARS.contains(&time) && (self.from..=self.to).contains(&time)).then_some(time)
    }
}

impl Batch {
    /// Returns a ranking as an object; none where it can't certainly be stored.
    pub fn make_ranking(
        &mut self,
        head: Head,
        list: &mut List,
        own: &[Own],
        mut remarks: Remarks,
        limits: &Limits,
    ) -> Option<Object> {
        remarks.notes |= list.settle(limits)?;
        if head.event_id.is_none() {
            remarks.notes |= notes::MADE_ID;
        }
        let digest = identify_ranking(&head, list);
        let packed = list.pack()?;
        let event_id = head.event_id.unwrap_or_else(|| head.ranking_id.clone());
        let labels = own.iter().map(|own| {
            let id = digest::make_id([&b"logged"[..], &event_id, &own.doc_id]);
            let (doc_id, ranking_id) = (own.doc_id.clone(), head.ranking_id.clone());
            make_label(Some(id), ranking_id, doc_id, head.time, 0, &own.names, None)
        });
        let labels = labels.collect();
        let ranking = Ranking {
            event_id,
            ranking_id: head.ranking_id,
            time: head.time,
            query_key: head.query_key,
            user_id: head.user_id,
            context: intern(&mut self.contexts, head.context),
            digest,
            packed,
        };
        let remarks = intern(&mut self.remarks, remarks);
        Some(Object { ranking: Some(ranking), labels, remarks })
    }

    /// Returns a label as an object.
    pub fn add_label(&mut self, label: Label, remarks: Remarks) -> Object {
        let remarks = intern(&mut self.remarks, remarks);
        Object { ranking: None, labels: [label].into(), remarks }
    }
}

/// Makes a label; without an id it has one that is made of what it says.
#[must_use]
pub fn make_label(
    event_id: Option<Vec<u8>>,
    ranking_id: Vec<u8>,
    doc_id: Vec<u8>,
    time: i64,
    kind: usize,
    names: &[Vec<u8>],
    value: Option<f64>,
) -> Label {
    let written = write_names(names);
    let mut head = Vec::default();
    head.extend_from_slice(b"[\"label\",");
    for id in [&ranking_id, &doc_id] {
        write_text(id, &mut head);
        head.push(b',');
    }
    write_integer(time, &mut head);
    head.push(b',');
    head.extend_from_slice(&written);
    head.push(b',');
    write_text(KINDS[kind].as_bytes(), &mut head);
    head.push(b']');
    let digest = digest::of([&head[..], &number_bytes(value.unwrap_or(f64::NAN))]);
    let event_id = event_id.unwrap_or_else(|| {
        let (mut when, mut grade) = (Vec::default(), Vec::default());
        write_integer(time, &mut when);
        match value {
            Some(value) => digest::write_number(value, &mut grade),
            None => grade.extend_from_slice(b"None"),
        }
        let before = [&b"label"[..], &ranking_id, &doc_id, &when, KINDS[kind].as_bytes()];
        let parts = before.into_iter().chain(names.iter().map(|name| &name[..]));
        digest::make_id(parts.chain([&b"="[..], &grade]))
    });
    Label { event_id, ranking_id, doc_id, time, kind, names: written, value, digest }
}

/// Writes labels as a list of JSON.
fn write_names(names: &[Vec<u8>]) -> Vec<u8> {
    let mut text = Vec::default();
    text.push(b'[');
    for (place, name) in names.iter().enumerate() {
        if place > 0 {
            text.push(b',');
        }
        write_text(name, &mut text);
    }
    text.push(b']');
    text
}

fn identify_ranking(head: &Head, list: &List) -> Digest {
    let context = &head.context;
    let mut text = Vec::default();
    text.extend_from_slice(b"[\"ranking\",");
    write_text(&head.ranking_id, &mut text);
    text.push(b',');
    write_integer(head.time, &mut text);
    let environment = ENVIRONMENTS[context.environment].as_bytes();
    for part in [&head.query_key, &head.user_id, &context.model, &context.version, environment] {
        text.push(b',');
        write_text(part, &mut text);
    }
    text.extend_from_slice(b",[");
    for (place, (name, value)) in context.attributes.iter().enumerate() {
        text.extend_from_slice(if place > 0 { b",[" } else { b"[" });
        write_text(name, &mut text);
        text.push(b',');
        write_text(value, &mut text);
        text.push(b']');
    }
    text.extend_from_slice(b"],");
    write_integer(list.len().cast_signed() as i64, &mut text);
    text.push(b',');
    write_integer(list.scores.len().cast_signed() as i64, &mut text);
    text.push(b']');
    let [ids, ranks, numbers] = list.identify();
    digest::of([&text[..], &ids, &ranks, &numbers])
}

/// The place of something, which is added where it is not among the last ones.
fn intern<T: PartialEq>(known: &mut Vec<T>, new: T) -> usize {
    let skipped = known.len().saturating_sub(RECENT);
    if let Some(place) = known[skipped..].iter().rposition(|one| *one == new) {
        return skipped + place;
    }
    known.push(new);
    known.len() - 1
}

/// An integer as an id.
#[must_use]
pub fn integer_id(integer: i64) -> Vec<u8> {
    let mut text = Vec::default();
    write_integer(integer, &mut text);
    text
}

/// The place of a word among some, whatever its case.
#[must_use]
pub fn find_environment(word: &[u8]) -> Option<usize> {
    if word.is_empty() {
        return Some(0);
    }
    ENVIRONMENTS.iter().position(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_of_the_years_1000_to_8999() {
        let span = Span { from: i64::MIN, to: i64::MAX };
        let [first, end] = [b"1000-01-01T00:00:00Z", b"9000-01-01T00:00:00Z"]
            .map(|text| super::super::times::read_text(text).unwrap());
        for time in [first - 1, first, first + 1, end - 2, end - 1, end] {
            assert_eq!(span.check(time), (first..end).contains(&time).then_some(time));
        }
    }

    #[test]
    fn something_is_known_among_the_last_64() {
        for count in [63, 64, 65] {
            let mut known: Vec<u32> = (0..count).collect();
            let expected = if count <= 64 { 0 } else { 65 };
            assert_eq!(intern(&mut known, 0), expected);
        }
    }
}
