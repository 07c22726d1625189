//! Reads labels from columns as events, those that are plain.
//!
//! As with JSON, what is not plain is left to the reader in Python.

use super::columns::{Texts, Times, note_unknown};
use super::events::{Decoded, Label, Remarks, Span, find_kind, is_retraction};
use super::json::Text;
use crate::blocks::list::Limits;

/// What happened: a label a row, or a list of them.
#[derive(Clone, Copy, Debug)]
pub enum Said<'a> {
    /// One label.
    Texts(Texts<'a>),
    /// Where the labels of each row begin and the last end, which rows have a list, and the labels.
    Lists(&'a [i64], &'a [u8], Texts<'a>),
}

impl<'a> Said<'a> {
    /// Whether there is something in a row, if only an empty list.
    fn has(&self, row: usize) -> bool {
        match *self {
            Self::Texts(labels) => labels.has(row),
            Self::Lists(_, has, _) => has.is_empty() || has.get(row).is_some_and(|&has| has != 0),
        }
    }

    /// The labels of a row; none where they are not plain.
    fn get(self, row: usize, limits: &Limits) -> Option<Vec<Text<'a>>> {
        let (rows, labels) = match self {
            Self::Texts(labels) => (row..row + 1, labels),
            Self::Lists(offsets, _, labels) => {
                let end = usize::try_from(*offsets.get(row + 1)?).ok()?;
                (usize::try_from(offsets[row]).ok()?..end, labels)
            }
        };
        if rows.len() > limits.labels {
            return None;
        }
        let read = |at: usize| {
            labels.has(at).then_some(())?;
            labels.get(at).filter(|label| limits.is_name(label)).map(Text::Plain)
        };
        rows.map(read).collect()
    }
}

/// The columns of labels, which have a row each.
#[derive(Debug)]
pub struct LabelColumns<'a> {
    /// Whether each may be plain.
    pub plain: &'a [u8],
    /// When they happened.
    pub times: Times<'a>,
    /// The rankings.
    pub ranking_ids: Texts<'a>,
    /// The documents.
    pub doc_ids: Texts<'a>,
    /// Ids of events, where there are any.
    pub event_ids: Option<Texts<'a>>,
    /// What they do, likewise.
    pub kinds: Option<Texts<'a>>,
    /// What happened, likewise.
    pub said: Option<Said<'a>>,
    /// Grades, NaN where there is none, likewise.
    pub values: Option<&'a [f64]>,
    /// Columns that are not known, and in which rows they have something.
    pub unknown: Vec<(&'a [u8], &'a [u8])>,
}

impl LabelColumns<'_> {
    /// Reads the labels.
    pub fn read(&self, limits: &Limits, span: Span) -> Decoded {
        let mut decoded = Decoded::default();
        for (row, at) in (0..self.plain.len()).zip(0..) {
            if self.read_row(row, limits, span, &mut decoded).is_none() {
                decoded.left.push(at);
            }
        }
        decoded
    }

    fn read_row(
        &self,
        row: usize,
        limits: &Limits,
        span: Span,
        decoded: &mut Decoded,
    ) -> Option<()> {
        (self.plain[row] != 0).then_some(())?;
        let mut remarks = Remarks::default();
        note_unknown(&self.unknown, row, &mut remarks)?;
        let ranking_id = self.ranking_ids.get_id(row, limits)?;
        let doc_id = self.doc_ids.get_id(row, limits)?;
        let time = span.check(self.times.get(row)?)?;
        let kind = match self.kinds.filter(|kinds| kinds.has(row)) {
            None => 0,
            Some(kinds) => find_kind(kinds.get(row)?)?,
        };
        let labels = match self.said.filter(|said| said.has(row)) {
            None => None,
            Some(said) => Some(said.get(row, limits)?),
        };
        let value = match self.values {
            None => None,
            Some(values) => Some(*values.get(row)?).filter(|value| !value.is_nan()),
        };
        let said = usize::from(labels.is_some()) + usize::from(value.is_some());
        if said != usize::from(!is_retraction(kind)) {
            return None;
        }
        let event_id = match self.event_ids.filter(|ids| ids.has(row)) {
            None => None,
            Some(ids) => Some(ids.get_id(row, limits)?),
        };
        let label = Label {
            event_id,
            ranking_id,
            doc_id,
            time,
            kind,
            names: &labels.unwrap_or_default(),
            value: value.unwrap_or(f64::NAN),
        };
        decoded.add_label(&label, remarks);
        Some(())
    }
}
