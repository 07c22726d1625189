//! What identifies an event: 16 bytes of a hash of what it says, without its id.

use crate::blocks::batch::{Batch, Event, at};
use crate::blocks::contexts::Context;
use crate::blocks::digest::{self, Digest, write_integer, write_text};
use crate::blocks::labels::Labels;
use crate::blocks::rankings::Rankings;
use crate::blocks::texts::place;

use super::events::{ENVIRONMENTS, KINDS};

/// The digest of an event of a batch.
pub fn identify(batch: &Batch, event: Event) -> Digest {
    match event {
        Event::Ranking(row) => {
            let rankings = &batch.rankings;
            identify_ranking(rankings, row, &batch.contexts[at(rankings.contexts[row])])
        }
        Event::Label(row) => identify_label(&batch.labels, row),
    }
}

fn identify_ranking(rankings: &Rankings, row: usize, context: &Context) -> Digest {
    let items = place(&rankings.offsets, row);
    let numbers = [&rankings.scores, &rankings.relevance].map(|column| {
        let numbers = &column[items.clone()];
        if numbers.iter().all(|number| number.is_nan()) { &[] } else { numbers }
    });
    let ids = items.clone().map(|item| rankings.doc_ids.get(item));
    let bytes: usize = ids.clone().map(<[u8]>::len).sum();
    let mut text = Vec::with_capacity(256 + bytes + 25 * items.len());
    text.extend_from_slice(b"[\"ranking\",");
    write_text(rankings.ranking_ids.get(row), &mut text);
    text.push(b',');
    write_integer(rankings.times[row], &mut text);
    let (query_key, user_id) = (rankings.query_keys.get(row), rankings.user_ids.get(row));
    let environment = ENVIRONMENTS[context.environment].as_bytes();
    for part in [query_key, user_id, &context.model, &context.version, environment] {
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
    write_integer(items.len().cast_signed() as i64, &mut text);
    text.push(b',');
    write_integer(numbers[0].len().cast_signed() as i64, &mut text);
    text.extend_from_slice(b"]\0");
    // No id contains NUL.
    for (place, id) in ids.enumerate() {
        text.extend_from_slice(if place == 0 { b"" } else { b"\0" });
        text.extend_from_slice(id);
    }
    text.push(0);
    rankings.ranks[items].iter().for_each(|rank| text.extend_from_slice(&rank.to_le_bytes()));
    text.push(0);
    for &number in numbers.into_iter().flatten() {
        text.extend_from_slice(&number_bytes(number));
    }
    digest::of(&text)
}

fn identify_label(labels: &Labels, row: usize) -> Digest {
    let (ranking_id, doc_id) = (labels.ranking_ids.get(row), labels.doc_ids.get(row));
    let names = labels.names.get(row);
    let mut text = Vec::with_capacity(64 + ranking_id.len() + doc_id.len() + names.len());
    text.extend_from_slice(b"[\"label\",");
    for id in [ranking_id, doc_id] {
        write_text(id, &mut text);
        text.push(b',');
    }
    write_integer(labels.times[row], &mut text);
    text.push(b',');
    text.extend_from_slice(names);
    text.push(b',');
    write_text(KINDS[usize::from(labels.kinds[row])].as_bytes(), &mut text);
    text.extend_from_slice(b"]\0");
    text.extend_from_slice(&number_bytes(labels.values[row]));
    digest::of(&text)
}

/// The bytes that identify a number; the two zeros are one, as they are equal.
fn number_bytes(number: f64) -> [u8; 8] {
    // Any NaN stands for no number.
    (if number.is_nan() { f64::NAN } else { number + 0.0 }).to_le_bytes()
}
