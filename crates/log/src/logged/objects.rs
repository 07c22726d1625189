//! Reads objects of JSON as events, those that are plain.
//!
//! An object is plain where it certainly can be stored, and all that is to be said about it is known
//! here. The others are left to the reader in Python, `rankscope/monitor/events/reader.py`, which says
//! what is wrong with them; of a plain one it says the same as this reader.

use super::events::{
    Decoded, Head, Label, Remarks, Span, find_environment, find_kind, integer_id, is_retraction,
};
use super::json::{Cursor, Text, Value};
use super::names::{Names, ROLES, Role};
use super::shown::{Shown, read_labels, read_number};
use super::times;
use crate::blocks::digest::write_number;
use crate::blocks::list::{Limits, is_text, notes};

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
    fn take_id(&mut self, role: Role, limits: &Limits) -> Result<Option<Text<'a>>, NotPlain> {
        let Some(value) = self.take(role) else { return Ok(None) };
        let id = read_text(value, limits.id_bytes).filter(|id| !id.is_empty());
        id.map(Some).ok_or(NotPlain)
    }

    /// Takes a text, which is empty where it is missing.
    fn take_text(&mut self, role: Role, most: usize) -> Option<Text<'a>> {
        self.take(role).map_or_else(|| Some(Text::Plain(b"")), |value| read_text(value, most))
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
        moved: Vec<(&'a [u8], Value<'a>)>,
        limits: &Limits,
    ) -> Option<Vec<(&'a [u8], Text<'a>)>> {
        let mut attributes: Vec<(&[u8], Text<'_>)> = Vec::default();
        let mut missing: Vec<&[u8]> = Vec::default();
        for (name, value) in moved {
            limits.is_name(name).then_some(())?;
            if matches!(value, Value::Null) {
                missing.push(name);
            } else {
                attributes.push((name, read_attribute(value, limits)?));
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
                    attributes.push((name, read_attribute(value, limits)?));
                }
                Some(())
            })?;
        }
        attributes.sort_unstable_by(|one, other| (one.0, &*one.1).cmp(&(other.0, &*other.1)));
        attributes.dedup_by(|one, other| one.0 == other.0 && *one.1 == *other.1);
        let is_clear = attributes.windows(2).all(|pair| pair[0].0 != pair[1].0)
            && !attributes.iter().any(|(name, _)| missing.contains(name));
        (is_clear && attributes.len() <= limits.attributes).then_some(attributes)
    }
}

impl Decoder {
    /// Reads rankings, a text of JSON each.
    pub fn read_rankings(&self, texts: &[&[u8]], span: Span) -> Decoded {
        let (mut decoded, mut shown) = (Decoded::default(), Shown::default());
        for (at, text) in (0..).zip(texts) {
            if self.read_ranking(text, span, &mut shown, &mut decoded).is_none() {
                decoded.left.push(at);
            }
        }
        decoded
    }

    /// Reads labels, a text of JSON each.
    pub fn read_labels(&self, texts: &[&[u8]], span: Span) -> Decoded {
        let mut decoded = Decoded::default();
        for (at, text) in (0..).zip(texts) {
            if self.read_label(text, span, &mut decoded).is_none() {
                decoded.left.push(at);
            }
        }
        decoded
    }

    fn read_ranking<'a>(
        &self,
        text: &'a [u8],
        span: Span,
        shown: &mut Shown<'a>,
        decoded: &mut Decoded,
    ) -> Option<()> {
        shown.clear();
        let limits = &self.limits;
        let mut cursor = Cursor::new(text)?;
        let (mut given, mut moved) = (Vec::default(), Vec::default());
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
        let event_id = fields.take_id(Role::EventId, limits).ok()?;
        let environment = fields.take_text(Role::Environment, limits.id_bytes)?;
        let head = Head {
            event_id: event_id.as_deref(),
            ranking_id: &fields.take_id(Role::RankingId, limits).ok()??,
            time: fields.take_time(span)?,
            query_key: &fields.take_text(Role::QueryKey, limits.value_bytes)?,
            user_id: &fields.take_text(Role::UserId, limits.id_bytes)?,
            model: &fields.take_text(Role::Model, limits.id_bytes)?,
            version: &fields.take_text(Role::Version, limits.id_bytes)?,
            environment: find_environment(&environment)?,
            attributes: &fields.take_attributes(moved, limits)?,
        };
        decoded.add_ranking(&head, &mut shown.list, &shown.own, remarks, limits)
    }

    fn read_label(&self, text: &[u8], span: Span, decoded: &mut Decoded) -> Option<()> {
        let limits = &self.limits;
        let mut cursor = Cursor::new(text)?;
        let (mut given, mut inside) = (Vec::default(), None);
        cursor.members(|cursor, name| {
            let value = cursor.value(limits.depth)?;
            if name == UBI_FIELD {
                inside = find_object_id(&value, limits.depth).ok()?;
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
            Some(Value::Text(kind)) => find_kind(&kind)?,
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
        if said != usize::from(!is_retraction(kind)) {
            return None;
        }
        let event_id = fields.take_id(Role::EventId, limits).ok()?;
        let label = Label {
            event_id: event_id.as_deref(),
            ranking_id: &ranking_id,
            doc_id: &doc_id,
            time,
            kind,
            names: &labels.unwrap_or_default(),
            value: value.unwrap_or(f64::NAN),
        };
        decoded.add_label(&label, remarks);
        Some(())
    }
}

/// Finds the document of an event of User Behavior Insights, none where there is none.
fn find_object_id<'a>(
    event_attributes: &Value<'a>,
    depth: usize,
) -> Result<Option<Value<'a>>, NotPlain> {
    let object = find_member(event_attributes, b"object", depth)?;
    object.map_or(Ok(None), |object| find_member(&object, UBI_ID, depth))
}

/// Finds a member of a value, none where the value is no object or does not have it.
fn find_member<'a>(
    value: &Value<'a>,
    wanted: &[u8],
    depth: usize,
) -> Result<Option<Value<'a>>, NotPlain> {
    let Value::Object(cursor) = value else { return Ok(None) };
    let mut found = None;
    cursor
        .clone()
        .members(|cursor, name| {
            let value = cursor.value(depth)?;
            if name == wanted {
                found = Some(value);
            }
            Some(())
        })
        .ok_or(NotPlain)?;
    Ok(found)
}

/// Reads a text, or an integer in its place.
fn read_text(value: Value<'_>, most: usize) -> Option<Text<'_>> {
    let text = match value {
        Value::Text(text) => text,
        Value::Integer(integer) => Text::Unescaped(integer_id(integer)),
        _ => return None,
    };
    is_text(&text, most).then_some(text)
}

fn read_attribute<'a>(value: Value<'a>, limits: &Limits) -> Option<Text<'a>> {
    match value {
        Value::Truth(is_true) => Some(Text::Plain(if is_true { b"true" } else { b"false" })),
        Value::Number(number) => {
            let mut text = Vec::default();
            write_number(number, &mut text);
            Some(Text::Unescaped(text))
        }
        value => read_text(value, limits.value_bytes),
    }
}
