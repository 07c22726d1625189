//! Reads objects of JSON as events, those that are plain.
//!
//! An object is plain where it certainly can be stored, and all that is to be said about it is known
//! here. The others are left to the reader in Python, `rankscope/monitor/events/reader.py`, which says
//! what is wrong with them; of a plain one it says the same as this reader.

use crate::memory::{Vec, copy};

use super::digest::write_number;
use super::events::{
    Batch, Context, Head, KINDS, Object, Remarks, Span, find_environment, integer_id, make_label,
};
use super::json::{Cursor, Value};
use super::list::{Limits, is_text, notes};
use super::names::{Names, ROLES, Role};
use super::shown::{Shown, read_labels, read_number};
use super::times;

/// Reads objects of JSON.
#[derive(Debug)]
pub struct Decoder {
    /// The limits on one event.
    pub limits: Limits,
    /// The fields of rankings whose documents are one list.
    pub rankings: Names,
    /// The fields of rankings whose documents are several lists.
    pub columns: Names,
    /// The fields of documents.
    pub items: Names,
    /// The fields of labels.
    pub labels: Names,
    /// The names that tell that the documents of a ranking are one list.
    pub lists: Names,
    /// The fields of rankings that are attributes, though they are not in a field of attributes.
    pub moved: Vec<Vec<u8>>,
}

/// The field in which labels of User Behavior Insights have their document.
const UBI_FIELD: &[u8] = b"event_attributes";
/// The name of the document there.
const UBI_ID: &[u8] = b"object_id";

/// What stands for a value that is not plain.
struct NotPlain;

/// The fields of an object, by their roles.
#[derive(Default)]
struct Fields<'a> {
    values: [Option<Value<'a>>; ROLES.len()],
}

impl<'a> Fields<'a> {
    /// Sorts fields by their roles; none where two have one role.
    fn of(given: Vec<(&'a [u8], Value<'a>)>, names: &Names, remarks: &mut Remarks) -> Option<Self> {
        let mut fields = Self::default();
        for (name, value) in given {
            match names.find(name) {
                None => remarks.add_unknown(name),
                Some(role) => {
                    // A field that is null takes the place of its role, too.
                    let field = &mut fields.values[role as usize];
                    field.is_none().then(|| *field = Some(value))?;
                }
            }
        }
        Some(fields)
    }

    /// Takes the value of a role, none where it is missing or null.
    fn take(&mut self, role: Role) -> Option<Value<'a>> {
        self.values[role as usize].take().filter(|value| !matches!(value, Value::Null))
    }

    /// Takes an id, none where it is missing.
    fn take_id(&mut self, role: Role, limits: &Limits) -> Result<Option<Vec<u8>>, NotPlain> {
        let Some(value) = self.take(role) else { return Ok(None) };
        let id = read_text(value, limits.id_bytes).filter(|id| !id.is_empty());
        id.map(Some).ok_or(NotPlain)
    }

    /// Takes a text, which is empty where it is missing.
    fn take_text(&mut self, role: Role, most: usize) -> Option<Vec<u8>> {
        self.take(role).map_or_else(|| Some(Vec::default()), |value| read_text(value, most))
    }

    fn take_time(&mut self, span: Span) -> Option<i64> {
        let time = match self.take(Role::Time)? {
            Value::Text(text) => times::read_text(&text),
            Value::Integer(integer) => times::read_integer(integer),
            Value::Number(number) => times::read_number(number),
            _ => None,
        };
        span.check(time?)
    }

    /// Takes the attributes, of which some are fields of their own.
    fn take_attributes(
        &mut self,
        moved: Vec<(&[u8], Value<'a>)>,
        limits: &Limits,
    ) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut attributes: Vec<(Vec<u8>, Vec<u8>)> = Vec::default();
        let mut missing: Vec<&[u8]> = Vec::default();
        for (name, value) in moved {
            limits.is_name(name).then_some(())?;
            if matches!(value, Value::Null) {
                missing.push(name);
            } else {
                attributes.push((copy(name), read_attribute(value, limits)?));
            }
        }
        for role in [Role::Attributes, Role::Features, Role::Tags] {
            let Some(given) = self.take(role) else { continue };
            let Value::Object(mut cursor) = given else { return None };
            cursor.members(|cursor, name| {
                let value = cursor.value(0)?;
                if !limits.is_name(name) {
                    return None;
                }
                // Null says that the attribute is missing.
                if !matches!(value, Value::Null) {
                    attributes.push((copy(name), read_attribute(value, limits)?));
                }
                Some(())
            })?;
        }
        attributes.sort_unstable();
        attributes.dedup();
        let is_clear = attributes.windows(2).all(|pair| pair[0].0 != pair[1].0)
            && !attributes.iter().any(|(name, _)| missing.contains(&&**name));
        (is_clear && attributes.len() <= limits.attributes).then_some(attributes)
    }
}

impl Decoder {
    /// Reads rankings, a text of JSON each.
    #[must_use]
    pub fn read_rankings(&self, texts: &[&[u8]], span: Span) -> Batch {
        let mut batch = Batch::default();
        for text in texts {
            let object = self.read_ranking(text, span, &mut batch);
            batch.objects.push(object);
        }
        batch
    }

    /// Reads labels, a text of JSON each.
    #[must_use]
    pub fn read_labels(&self, texts: &[&[u8]], span: Span) -> Batch {
        let mut batch = Batch::default();
        for text in texts {
            let object = self.read_label(text, span, &mut batch);
            batch.objects.push(object);
        }
        batch
    }

    fn read_ranking(&self, text: &[u8], span: Span, batch: &mut Batch) -> Option<Object> {
        let limits = &self.limits;
        let mut cursor = Cursor::new(text)?;
        let (mut given, mut moved) = (Vec::default(), Vec::default());
        let mut shown = Shown::default();
        let mut has_list = false;
        cursor.members(|cursor, name| {
            if self.moved.iter().any(|known| **known == *name) {
                moved.push((name, cursor.value(0)?));
                return Some(());
            }
            if self.lists.find(name).is_none() {
                given.push((name, cursor.value(limits.depth)?));
                return Some(());
            }
            if has_list || self.rankings.find(name) != Some(Role::Items) {
                return None;
            }
            has_list = true;
            shown.read_list(cursor, &self.items, limits)
        })?;
        if !cursor.is_at_end() {
            return None;
        }
        let mut remarks = Remarks::default();
        let names = if has_list { &self.rankings } else { &self.columns };
        let mut fields = Fields::of(given, names, &mut remarks)?;
        if !has_list {
            shown.read_columns(|role| fields.take(role), limits)?;
        }
        for (name, role) in &shown.names {
            if *role == Role::Unknown {
                remarks.add_unknown(name);
            }
        }
        if shown.has_integers {
            remarks.notes |= notes::INTEGER_IDS;
        }
        let head = Head {
            event_id: fields.take_id(Role::EventId, limits).ok()?,
            ranking_id: fields.take_id(Role::RankingId, limits).ok()??,
            time: fields.take_time(span)?,
            query_key: fields.take_text(Role::QueryKey, limits.value_bytes)?,
            user_id: fields.take_text(Role::UserId, limits.id_bytes)?,
            context: Context {
                model: fields.take_text(Role::Model, limits.id_bytes)?,
                version: fields.take_text(Role::Version, limits.id_bytes)?,
                environment: find_environment(
                    &fields.take_text(Role::Environment, limits.id_bytes)?,
                )?,
                attributes: fields.take_attributes(moved, limits)?,
            },
        };
        batch.make_ranking(head, &mut shown.list, &shown.own, remarks, limits)
    }

    fn read_label(&self, text: &[u8], span: Span, batch: &mut Batch) -> Option<Object> {
        let limits = &self.limits;
        let mut cursor = Cursor::new(text)?;
        let (mut given, mut inside) = (Vec::default(), None);
        cursor.members(|cursor, name| {
            let value = cursor.value(limits.depth)?;
            if name == UBI_FIELD {
                inside = find_object_id(&value, limits.depth)?;
                if inside.is_some() {
                    return Some(());
                }
            }
            given.push((name, value));
            Some(())
        })?;
        if !cursor.is_at_end() {
            return None;
        }
        if let Some(document) = inside {
            given.retain(|(name, _)| *name != UBI_ID);
            given.push((UBI_ID, document));
        }
        let mut remarks = Remarks::default();
        let mut fields = Fields::of(given, &self.labels, &mut remarks)?;
        let ranking_id = fields.take_id(Role::RankingId, limits).ok()??;
        let doc_id = fields.take_id(Role::DocId, limits).ok()??;
        let time = fields.take_time(span)?;
        let kind = match fields.take(Role::Kind) {
            None => 0,
            Some(Value::Text(kind)) => KINDS.iter().position(|known| known.as_bytes() == &*kind)?,
            Some(_) => return None,
        };
        let labels = match fields.take(Role::Labels) {
            None => None,
            Some(given) => Some(read_labels(given, limits)?),
        };
        let value = match fields.take(Role::Value) {
            None => None,
            Some(given) => Some(read_number(&given)?),
        };
        let said = usize::from(labels.is_some()) + usize::from(value.is_some());
        if said != usize::from(KINDS[kind] != "retraction") {
            return None;
        }
        let event_id = fields.take_id(Role::EventId, limits).ok()?;
        if event_id.is_none() {
            remarks.notes |= notes::MADE_ID;
        }
        let names = labels.unwrap_or_default();
        let label = make_label(event_id, ranking_id, doc_id, time, kind, &names, value);
        Some(batch.add_label(label, remarks))
    }
}

/// Finds the document of an event of User Behavior Insights, the inner none where there is none.
fn find_object_id<'a>(event_attributes: &Value<'a>, depth: usize) -> Option<Option<Value<'a>>> {
    let object = find_member(event_attributes, b"object", depth)?;
    object.map_or(Some(None), |object| find_member(&object, UBI_ID, depth))
}

/// Finds a member of a value, the inner none where the value is no object or does not have it.
fn find_member<'a>(value: &Value<'a>, wanted: &[u8], depth: usize) -> Option<Option<Value<'a>>> {
    let Value::Object(cursor) = value else { return Some(None) };
    let mut found = None;
    cursor.clone().members(|cursor, name| {
        let value = cursor.value(depth)?;
        if name == wanted {
            found = Some(value);
        }
        Some(())
    })?;
    Some(found)
}

/// Reads a text, or an integer in its place.
fn read_text(value: Value<'_>, most: usize) -> Option<Vec<u8>> {
    let text = match value {
        Value::Text(text) => text.into_bytes(),
        Value::Integer(integer) => integer_id(integer),
        _ => return None,
    };
    is_text(&text, most).then_some(text)
}

fn read_attribute(value: Value<'_>, limits: &Limits) -> Option<Vec<u8>> {
    match value {
        Value::Truth(is_true) => Some(copy(if is_true { b"true" } else { &b"false"[..] })),
        Value::Number(number) => {
            let mut text = Vec::default();
            write_number(number, &mut text);
            Some(text)
        }
        value => read_text(value, limits.value_bytes),
    }
}
