//! Events as a store keeps them: identified, and with what many rankings share kept once.

use crate::blocks::batch::Batch;
use crate::blocks::{labels, rankings};
use std::ops::Range;

use super::json::Text;
use crate::blocks::digest::{self, write_integer, write_text};
use crate::blocks::list::{Limits, List, notes};

/// Where rankings are made, the usual place first.
pub const ENVIRONMENTS: [&str; 3] = ["production", "validation", "training"];
/// What labels do, the usual first.
pub const KINDS: [&str; 3] = ["label", "correction", "retraction"];
/// The microseconds of the years 1000 to 8999.
const YEARS: Range<i64> = -30_610_224_000_000_000..221_845_392_000_000_000;

/// So many remarks are searched for one that is already there.
const RECENT: usize = 64;

/// What is to be said about an event that was accepted.
#[derive(Clone, Debug, Default, PartialEq)]
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
            self.unknown.push(name.to_vec());
        }
    }
}

/// What was decoded.
#[derive(Debug, Default)]
pub struct Decoded {
    /// The objects that are plain.
    pub batch: Batch,
    /// The places of those that take a closer look.
    pub left: Vec<i64>,
    /// What is to be said, and about how many objects.
    pub remarks: Vec<(Remarks, usize)>,
}

/// A ranking but for its documents.
#[derive(Debug)]
pub struct Head<'a> {
    /// Its id as an event; none where it has none of its own.
    pub event_id: Option<&'a [u8]>,
    /// What labels name.
    pub ranking_id: &'a [u8],
    /// When it was shown, in microseconds since 1970.
    pub time: i64,
    /// What repeats.
    pub query_key: &'a [u8],
    /// Who saw it.
    pub user_id: &'a [u8],
    /// The model that ranked.
    pub model: &'a [u8],
    /// Its version.
    pub version: &'a [u8],
    /// Where it ranked, by its place in [`ENVIRONMENTS`].
    pub environment: usize,
    /// Names and values, by name.
    pub attributes: &'a [(&'a [u8], Text<'a>)],
}

/// A label.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    /// Its id as an event; none where it has none of its own.
    pub event_id: Option<&'a [u8]>,
    /// The ranking.
    pub ranking_id: &'a [u8],
    /// The document.
    pub doc_id: &'a [u8],
    /// When it happened, in microseconds since 1970.
    pub time: i64,
    /// What it does, by its place in [`KINDS`].
    pub kind: u8,
    /// What happened.
    pub names: &'a [Text<'a>],
    /// Its grade, NaN where there is none.
    pub value: f64,
}

/// Labels that were logged with a document.
#[derive(Debug)]
pub struct Own<'a> {
    /// The document.
    pub doc_id: Vec<u8>,
    /// What happened, one at least.
    pub names: Vec<Text<'a>>,
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
    pub fn check(self, time: i64) -> Option<i64> {
        (YEARS.contains(&time) && (self.from..=self.to).contains(&time)).then_some(time)
    }
}

impl Decoded {
    /// Adds an object that is a ranking, with the labels that were logged with it; none where it can't
    /// certainly be stored.
    pub fn add_ranking(
        &mut self,
        head: &Head<'_>,
        list: &mut List,
        own: &[Own<'_>],
        mut remarks: Remarks,
        limits: &Limits,
    ) -> Option<()> {
        remarks.notes |= list.settle(limits)?;
        if head.event_id.is_none() {
            remarks.notes |= notes::MADE_ID;
        }
        push_ranking(&mut self.batch, head, list);
        for own in own {
            let event_id = head.event_id.unwrap_or(head.ranking_id);
            let id = digest::make_id([&b"logged"[..], event_id, &own.doc_id]);
            let label = Label {
                event_id: Some(&id),
                ranking_id: head.ranking_id,
                doc_id: &own.doc_id,
                time: head.time,
                kind: 0,
                names: &own.names,
                value: f64::NAN,
            };
            push_label(&mut self.batch, &label);
        }
        self.end_object(1 + own.len(), remarks);
        Some(())
    }

    /// Adds an object that is a label.
    pub fn add_label(&mut self, label: &Label<'_>, mut remarks: Remarks) {
        if label.event_id.is_none() {
            remarks.notes |= notes::MADE_ID;
        }
        push_label(&mut self.batch, label);
        self.end_object(1, remarks);
    }

    fn end_object(&mut self, events: usize, remarks: Remarks) {
        self.batch.end_object(events);
        let skipped = self.remarks.len().saturating_sub(RECENT);
        match self.remarks[skipped..].iter_mut().rfind(|known| known.0 == remarks) {
            Some(known) => known.1 += 1,
            None => self.remarks.push((remarks, 1)),
        }
    }
}

/// Adds a ranking to a batch.
pub fn push_ranking(batch: &mut Batch, head: &Head<'_>, list: &List) {
    let attributes = head.attributes.iter().map(|(name, value)| (*name, &**value));
    let context = batch.contexts.add_parts(head.model, head.version, head.environment, attributes);
    let row = rankings::Row {
        seq: 0,
        time: head.time,
        context: context.cast_signed() as i64,
        ranking_id: head.ranking_id,
        event_id: head.event_id.unwrap_or(head.ranking_id),
        query_key: head.query_key,
        user_id: head.user_id,
    };
    batch.push_ranking(&row, list);
}

/// Adds a label to a batch. Without an id it has one that is made of what it says.
pub fn push_label(batch: &mut Batch, label: &Label<'_>) {
    let &Label { ranking_id, doc_id, time, kind, value, .. } = label;
    let names = write_names(label.names);
    let made;
    let event_id = if let Some(event_id) = label.event_id {
        event_id
    } else {
        let mut grade = Vec::default();
        if value.is_nan() {
            grade.extend_from_slice(b"None");
        } else {
            digest::write_number(value, &mut grade);
        }
        let mut when = itoa::Buffer::new();
        let word = KINDS[usize::from(kind)].as_bytes();
        let before = [&b"label"[..], ranking_id, doc_id, when.format(time).as_bytes(), word];
        let parts = before.into_iter().chain(label.names.iter().map(|name| &**name));
        made = digest::make_id(parts.chain([&b"="[..], &grade]));
        &made
    };
    let row = labels::Row {
        seq: 0,
        shown: 0,
        time,
        kind,
        ranking_id,
        event_id,
        doc_id,
        names: &names,
        value,
    };
    batch.push_label(&row);
}

/// Writes labels as a list of JSON.
fn write_names(names: &[Text<'_>]) -> Vec<u8> {
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

/// An integer as an id.
pub fn integer_id(integer: i64) -> Vec<u8> {
    let mut text = Vec::default();
    write_integer(integer, &mut text);
    text
}

/// What a label does, by its word.
pub fn find_kind(word: &[u8]) -> Option<u8> {
    (0..).zip(KINDS).find(|(_, known)| known.as_bytes() == word).map(|(kind, _)| kind)
}

/// Whether a label takes others away, and says nothing itself.
pub fn is_retraction(kind: u8) -> bool {
    KINDS[usize::from(kind)] == "retraction"
}

/// The place of a word among some, whatever its case.
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
    fn remarks_are_counted_together_among_the_last_64() {
        for count in [63, 64, 65] {
            let mut decoded = Decoded::default();
            for notes in (0..count).chain([0]) {
                decoded.end_object(0, Remarks { notes, ..Remarks::default() });
            }
            let expected = if count <= 64 { (2, count) } else { (1, 66) };
            assert_eq!(
                (decoded.remarks[0].1, decoded.remarks.len()),
                (expected.0, usize::from(expected.1))
            );
        }
    }
}
