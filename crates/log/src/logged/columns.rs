//! Reads rankings from columns as events, those that are plain.
//!
//! As with JSON, what is not plain is left to the reader in Python.

use std::cmp::Ordering;

use super::events::{Decoded, Head, Remarks, Span, find_environment};
use super::json::Text;
use super::times;
use crate::blocks::list::{Limits, List, is_text, notes};

/// A column of texts, some of which may be missing.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    offsets: &'a [i64],
    text: &'a str,
    /// Whether each is there; empty where all are.
    has: &'a [u8],
}

impl<'a> Texts<'a> {
    /// Texts by their offsets; none where they are not UTF-8.
    pub fn new(offsets: &'a [i64], bytes: &'a [u8], has: &'a [u8]) -> Option<Self> {
        Some(Self { offsets, text: std::str::from_utf8(bytes).ok()?, has })
    }

    /// Whether there is a text in a row.
    pub(super) fn has(&self, row: usize) -> bool {
        self.has.is_empty() || self.has.get(row).is_some_and(|&has| has != 0)
    }

    /// The text of a row; none where its offsets are wrong.
    pub(super) fn get(&self, row: usize) -> Option<&'a [u8]> {
        let end = usize::try_from(*self.offsets.get(row + 1)?).ok()?;
        let start = usize::try_from(self.offsets[row]).ok()?;
        Some(self.text.get(start..end)?.as_bytes())
    }

    /// The id of a row; none where it is missing or can't be stored.
    pub(super) fn get_id(&self, row: usize, limits: &Limits) -> Option<&'a [u8]> {
        self.get(row).filter(|id| limits.is_id(id))
    }
}

/// Notes the columns that are not known and have something in a row.
pub(super) fn note_unknown(
    unknown: &[(&[u8], &[u8])],
    row: usize,
    remarks: &mut Remarks,
) -> Option<()> {
    for (name, has) in unknown {
        if *has.get(row)? != 0 {
            remarks.add_unknown(name);
        }
    }
    Some(())
}

/// When rankings were shown.
#[derive(Clone, Copy, Debug)]
pub enum Times<'a> {
    /// Microseconds since 1970.
    Micros(&'a [i64]),
    /// Milliseconds since 1970.
    Millis(&'a [i64]),
    /// Milliseconds since 1970 with a fraction.
    Numbers(&'a [f64]),
    /// RFC 3339.
    Texts(Texts<'a>),
}

impl Times<'_> {
    pub(super) fn get(&self, row: usize) -> Option<i64> {
        match self {
            Self::Micros(times) => times.get(row).copied(),
            Self::Millis(times) => times::read_integer(*times.get(row)?),
            Self::Numbers(times) => times::read_number(*times.get(row)?),
            Self::Texts(texts) => times::read_text(texts.get(row)?),
        }
    }
}

/// Attributes by their names in all rows, or those of each row with its own names.
#[derive(Clone, Copy, Debug)]
pub enum Attributes<'a> {
    /// The values of one attribute.
    Column(&'a [u8], Texts<'a>),
    /// By the offsets of rows, names and values.
    Maps(&'a [i64], Texts<'a>, Texts<'a>),
}

/// The columns of rankings, which have a row each in all but those of documents.
#[derive(Debug)]
pub struct Columns<'a> {
    /// Where the documents of each ranking begin, and where the last end.
    pub bounds: &'a [i64],
    /// Whether each may be plain.
    pub plain: &'a [u8],
    /// When they were shown.
    pub times: Times<'a>,
    /// Their ids.
    pub ranking_ids: Texts<'a>,
    /// Ids of events, texts of queries, users, models, versions and environments, where there are any.
    pub heads: [Option<Texts<'a>>; 6],
    /// Their attributes.
    pub attributes: Vec<Attributes<'a>>,
    /// Columns that are not known, and in which rows they have something.
    pub unknown: Vec<(&'a [u8], &'a [u8])>,
    /// The ids of documents.
    pub doc_ids: Texts<'a>,
    /// Whether these are integers.
    pub has_integers: bool,
    /// Their ranks.
    pub ranks: Option<&'a [i64]>,
    /// Their scores, NaN where there is none.
    pub scores: Option<&'a [f64]>,
    /// Their grades, likewise.
    pub relevance: Option<&'a [f64]>,
    /// Whether documents without ranks are in the order of their scores, not of their rows.
    pub by_score: bool,
}

impl<'a> Columns<'a> {
    /// Reads the rankings.
    pub fn read(&self, limits: &Limits, span: Span) -> Decoded {
        let (mut decoded, mut list) = (Decoded::default(), List::default());
        for (row, at) in (0..self.plain.len()).zip(0..) {
            if self.read_row(row, &mut list, limits, span, &mut decoded).is_none() {
                decoded.left.push(at);
            }
        }
        decoded
    }

    fn read_row(
        &self,
        row: usize,
        list: &mut List,
        limits: &Limits,
        span: Span,
        decoded: &mut Decoded,
    ) -> Option<()> {
        (self.plain[row] != 0).then_some(())?;
        let mut remarks = Remarks::default();
        note_unknown(&self.unknown, row, &mut remarks)?;
        self.read_list(row, list, limits)?;
        if self.has_integers && !list.is_empty() {
            remarks.notes |= notes::INTEGER_IDS;
        }
        let text = |texts: Option<Texts<'a>>, most| {
            let Some(texts) = texts.filter(|texts| texts.has(row)) else {
                return Some(&b""[..]);
            };
            texts.get(row).filter(|text| is_text(text, most))
        };
        let ranking_id = self.ranking_ids.get_id(row, limits)?;
        let [events, queries, users, models, versions, environments] = &self.heads;
        let event_id = match events.filter(|texts| texts.has(row)) {
            None => None,
            Some(texts) => Some(texts.get_id(row, limits)?),
        };
        let head = Head {
            event_id,
            ranking_id,
            time: span.check(self.times.get(row)?)?,
            query_key: text(*queries, limits.value_bytes)?,
            user_id: text(*users, limits.id_bytes)?,
            model: text(*models, limits.id_bytes)?,
            version: text(*versions, limits.id_bytes)?,
            environment: find_environment(text(*environments, limits.id_bytes)?)?,
            attributes: &self.read_attributes(row, limits)?,
        };
        decoded.add_ranking(&head, list, &[], remarks, limits)
    }

    fn read_attributes(&self, row: usize, limits: &Limits) -> Option<Vec<(&'a [u8], Text<'a>)>> {
        let mut attributes: Vec<(&[u8], Text<'_>)> = Vec::default();
        let mut add = |name: &'a [u8], values: Texts<'a>, row: usize| {
            limits.is_name(name).then_some(())?;
            if values.has(row) {
                let value = values.get(row).filter(|value| is_text(value, limits.value_bytes))?;
                attributes.push((name, Text::Plain(value)));
            }
            Some(())
        };
        for one in &self.attributes {
            match *one {
                Attributes::Column(name, values) => add(name, values, row)?,
                Attributes::Maps(offsets, names, values) => {
                    let end = usize::try_from(*offsets.get(row + 1)?).ok()?;
                    for entry in usize::try_from(offsets[row]).ok()?..end {
                        add(names.get(entry)?, values, entry)?;
                    }
                }
            }
        }
        attributes.sort_unstable_by(|one, other| one.0.cmp(other.0));
        let is_clear = attributes.windows(2).all(|pair| pair[0].0 != pair[1].0);
        (is_clear && attributes.len() <= limits.attributes).then_some(attributes)
    }

    fn read_list(&self, row: usize, list: &mut List, limits: &Limits) -> Option<()> {
        list.clear();
        let end = usize::try_from(*self.bounds.get(row + 1)?).ok()?;
        let rows = usize::try_from(self.bounds[row]).ok()?..end;
        if rows.len() > limits.items {
            return None;
        }
        let mut order: Vec<usize> = rows.clone().collect();
        if self.ranks.is_none() && self.by_score {
            let scores = self.scores?.get(rows.clone())?;
            if scores.iter().any(|score| score.is_nan()) {
                return None;
            }
            let key = |row: usize| (scores[row - rows.start], self.doc_ids.get(row));
            // The highest score first, and equal ones by their ids, descending.
            order.sort_unstable_by(|&one, &other| {
                let (one, other) = (key(one), key(other));
                let by_score = other.0.partial_cmp(&one.0).unwrap_or(Ordering::Equal);
                by_score.then_with(|| other.1.cmp(&one.1))
            });
        }
        for row in order {
            list.ids.extend_from_slice(self.doc_ids.get(row)?);
            list.end_id();
            for (values, column) in
                [(self.scores, &mut list.scores), (self.relevance, &mut list.relevance)]
            {
                if let Some(values) = values {
                    column.push(*values.get(row)?);
                }
            }
        }
        if let Some(ranks) = self.ranks {
            list.ranks.extend_from_slice(ranks.get(rows)?);
        }
        Some(())
    }
}
