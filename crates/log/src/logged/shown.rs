//! Reads the documents of a ranking from plain JSON: a list of objects or ids, or a list a field.

use super::events::{Own, integer_id};
use super::json::{Cursor, Text, Value};
use super::names::{Names, Role};
use crate::blocks::list::{Limits, List};

/// So many names the objects of a plain list have together.
const MOST_NAMES: usize = 64;
/// Integers beyond this are not all doubles.
const LARGEST_EXACT: u64 = 1 << 53;

/// The documents of one ranking as they are read.
#[derive(Debug, Default)]
pub(super) struct Shown<'a> {
    /// The documents.
    pub list: List,
    /// The labels that were logged with them.
    pub own: Vec<Own<'a>>,
    /// Whether ids are integers.
    pub has_integers: bool,
    /// The names of all objects, each with its role.
    pub names: Vec<(&'a [u8], Role)>,
}

impl<'a> Shown<'a> {
    /// Removes everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.own.clear();
        self.has_integers = false;
        self.names.clear();
    }

    /// Reads a list of objects or of ids, which is next.
    pub fn read_list(
        &mut self,
        cursor: &mut Cursor<'a>,
        names: &Names,
        limits: &Limits,
    ) -> Option<()> {
        let mut are_objects = None;
        cursor.elements(|cursor| {
            let is_object = cursor.peek()? == b'{';
            if self.list.len() == limits.items || *are_objects.get_or_insert(is_object) != is_object
            {
                return None;
            }
            if is_object {
                self.read_object(cursor, names, limits)
            } else {
                self.add_id(&cursor.value(0)?)
            }
        })?;
        let ranked = self.list.ranks.len();
        (ranked == 0 || ranked == self.list.len()).then_some(())
    }

    fn read_object(
        &mut self,
        cursor: &mut Cursor<'a>,
        names: &Names,
        limits: &Limits,
    ) -> Option<()> {
        let count = self.list.len();
        let (mut place, mut score, mut grade) = (0, f64::NAN, f64::NAN);
        let mut labels = Vec::default();
        cursor.members(|cursor, name| {
            let role = self.find(names, place, name)?;
            place += 1;
            if role == Role::Unknown {
                return cursor.skip(limits.depth);
            }
            let value = cursor.value(1)?;
            match role {
                Role::DocId => self.add_id(&value)?,
                Role::Rank => self.list.ranks.push(read_rank(&value)?),
                Role::Score => score = read_number_or_null(&value)?,
                Role::Relevance => grade = read_number_or_null(&value)?,
                Role::Labels => labels = read_labels_or_null(value, limits)?,
                _ => return None,
            }
            Some(())
        })?;
        if self.list.len() == count {
            return None;
        }
        self.list.scores.push(score);
        self.list.relevance.push(grade);
        self.add_labels(count, labels);
        Some(())
    }

    /// The role of a name, which is at some place of its object; none where another name has it, too.
    fn find(&mut self, names: &Names, place: usize, name: &'a [u8]) -> Option<Role> {
        // Most objects have the same names in the same order.
        let usual = self.names.get(place).filter(|known| known.0 == name);
        if let Some(&(_, role)) = usual.or_else(|| self.names.iter().find(|known| known.0 == name))
        {
            return Some(role);
        }
        let role = names.find(name).unwrap_or(Role::Unknown);
        let is_other = role != Role::Unknown && self.names.iter().any(|known| known.1 == role);
        if is_other || self.names.len() == MOST_NAMES {
            return None;
        }
        self.names.push((name, role));
        Some(role)
    }

    /// Reads lists, one value a document each: ids, ranks, scores, grades, and labels.
    pub fn read_columns(
        &mut self,
        mut take: impl FnMut(Role) -> Option<Value<'a>>,
        limits: &Limits,
    ) -> Option<()> {
        read_each(take(Role::DocId)?, |value| self.add_id(&value))?;
        let count = self.list.len();
        if count > limits.items {
            return None;
        }
        if let Some(ranks) = take(Role::Rank) {
            read_each(ranks, |value| {
                self.list.ranks.push(read_rank(&value)?);
                Some(())
            })?;
            if self.list.ranks.len() != count {
                return None;
            }
        }
        for (role, numbers) in
            [(Role::Score, &mut self.list.scores), (Role::Relevance, &mut self.list.relevance)]
        {
            if let Some(given) = take(role) {
                read_each(given, |value| {
                    numbers.push(read_number_or_null(&value)?);
                    Some(())
                })?;
                if numbers.len() != count {
                    return None;
                }
            }
        }
        if let Some(labels) = take(Role::Labels) {
            let mut place = 0;
            read_each(labels, |value| {
                (place < count).then_some(())?;
                let labels = read_labels_or_null(value, limits)?;
                self.add_labels(place, labels);
                place += 1;
                Some(())
            })?;
            if place != count {
                return None;
            }
        }
        Some(())
    }

    fn add_id(&mut self, value: &Value<'_>) -> Option<()> {
        match value {
            Value::Text(text) => self.list.ids.extend_from_slice(text),
            Value::Integer(integer) => {
                self.has_integers = true;
                self.list.ids.extend_from_slice(&integer_id(*integer));
            }
            _ => return None,
        }
        self.list.end_id();
        Some(())
    }

    fn add_labels(&mut self, place: usize, names: Vec<Text<'a>>) {
        if !names.is_empty() {
            let doc_id = self.list.id(place).to_vec();
            self.own.push(Own { doc_id, names });
        }
    }
}

/// Calls a function for each value of a list.
fn read_each<'a>(list: Value<'a>, mut read: impl FnMut(Value<'a>) -> Option<()>) -> Option<()> {
    let Value::List(mut cursor) = list else { return None };
    cursor.elements(|cursor| read(cursor.value(1)?))
}

#[allow(clippy::cast_possible_truncation)] // ranks that are not small are refused later
fn read_rank(value: &Value<'_>) -> Option<i64> {
    match *value {
        Value::Integer(rank) => Some(rank),
        Value::Number(rank) if rank.fract() == 0.0 && rank.abs() < 1e15 => Some(rank as i64),
        _ => None,
    }
}

/// Reads a number that is a double; null is NaN.
fn read_number_or_null(value: &Value<'_>) -> Option<f64> {
    if matches!(value, Value::Null) { Some(f64::NAN) } else { read_number(value) }
}

/// Reads a number that is a double.
#[allow(clippy::cast_precision_loss)] // of none that is read
pub(super) fn read_number(value: &Value<'_>) -> Option<f64> {
    match *value {
        Value::Integer(integer) if integer.unsigned_abs() <= LARGEST_EXACT => Some(integer as f64),
        Value::Number(number) => Some(number),
        _ => None,
    }
}

fn read_labels_or_null<'a>(value: Value<'a>, limits: &Limits) -> Option<Vec<Text<'a>>> {
    if matches!(value, Value::Null) { Some(Vec::default()) } else { read_labels(value, limits) }
}

/// Reads a label, or a list of them.
pub(super) fn read_labels<'a>(value: Value<'a>, limits: &Limits) -> Option<Vec<Text<'a>>> {
    let mut labels = Vec::default();
    let mut add = |value| {
        let Value::Text(text) = value else { return None };
        if labels.len() == limits.labels || !limits.is_name(&text) {
            return None;
        }
        labels.push(text);
        Some(())
    };
    match value {
        Value::Text(_) => add(value)?,
        list => read_each(list, add)?,
    }
    Some(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_objects_of_a_plain_list_have_64_names_together_at_most() {
        for count in [63, 64, 65] {
            let texts: Vec<_> = (0..count).map(|name: u8| name.to_string()).collect();
            let (mut shown, names) = (Shown::default(), Names::new([]).unwrap());
            let mut places = (0..).zip(&texts);
            let found = places.all(|(at, name)| shown.find(&names, at, name.as_bytes()).is_some());
            assert_eq!(found, count <= 64);
        }
    }

    #[test]
    #[allow(clippy::cast_precision_loss)] // as there
    fn integers_are_numbers_up_to_2_to_the_53rd() {
        let largest = 1 << 53;
        for integer in [largest - 1, largest, largest + 1] {
            for signed in [integer, -integer] {
                let expected = (integer <= largest).then_some(signed as f64);
                assert_eq!(read_number(&Value::Integer(signed)), expected);
            }
        }
    }
}
