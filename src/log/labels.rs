//! Columns of labels.

use super::body::{Fault, LABELS, Reader, Writer};
use super::texts::{Texts, count, join, take};
use crate::ids::interner::Ids;
use crate::memory::Vec;

/// Labels as columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// The numbers under which they were stored.
    pub seqs: Vec<i64>,
    /// When their rankings were shown, in microseconds since 1970.
    pub shown: Vec<i64>,
    /// When they happened, likewise.
    pub times: Vec<i64>,
    /// What they do.
    pub kinds: Vec<u8>,
    /// Their rankings.
    pub ranking_ids: Texts,
    /// What they are known by when they are sent again.
    pub event_ids: Texts,
    /// Their documents.
    pub doc_ids: Texts,
    /// What happened, as lists of JSON.
    pub names: Texts,
    /// Their grades, NaN where there is none.
    pub values: Vec<f64>,
}

/// A label.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The number under which it was stored.
    pub seq: i64,
    /// When its ranking was shown.
    pub shown: i64,
    /// When it happened.
    pub time: i64,
    /// What it does.
    pub kind: u8,
    /// Its ranking.
    pub ranking_id: &'a [u8],
    /// What it is known by.
    pub event_id: &'a [u8],
    /// Its document.
    pub doc_id: &'a [u8],
    /// What happened.
    pub names: &'a [u8],
    /// Its grade, or NaN.
    pub value: f64,
}

impl Labels {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seqs.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seqs.is_empty()
    }

    /// Adds a label.
    pub fn push(&mut self, row: &Row<'_>) {
        self.seqs.push(row.seq);
        self.shown.push(row.shown);
        self.times.push(row.time);
        self.kinds.push(row.kind);
        self.ranking_ids.push(row.ranking_id);
        self.event_ids.push(row.event_id);
        self.doc_ids.push(row.doc_id);
        self.names.push(row.names);
        self.values.push(row.value);
    }

    /// The labels of some rows, in the order of these.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        Self {
            seqs: take(&self.seqs, rows),
            shown: take(&self.shown, rows),
            times: take(&self.times, rows),
            kinds: take(&self.kinds, rows),
            ranking_ids: self.ranking_ids.take(rows),
            event_ids: self.event_ids.take(rows),
            doc_ids: self.doc_ids.take(rows),
            names: self.names.take(rows),
            values: take(&self.values, rows),
        }
    }

    /// The labels of some blocks, one block after another.
    #[must_use]
    pub fn join(parts: &[&Self]) -> Self {
        let parts = parts.iter().copied();
        Self {
            seqs: join(parts.clone().map(|part| &part.seqs)),
            shown: join(parts.clone().map(|part| &part.shown)),
            times: join(parts.clone().map(|part| &part.times)),
            kinds: join(parts.clone().map(|part| &part.kinds)),
            ranking_ids: Texts::join(parts.clone().map(|part| &part.ranking_ids)),
            event_ids: Texts::join(parts.clone().map(|part| &part.event_ids)),
            doc_ids: Texts::join(parts.clone().map(|part| &part.doc_ids)),
            names: Texts::join(parts.clone().map(|part| &part.names)),
            values: join(parts.map(|part| &part.values)),
        }
    }

    fn key(&self, row: usize) -> (i64, &[u8], i64, &[u8]) {
        (self.shown[row], self.ranking_ids.get(row), self.times[row], self.event_ids.get(row))
    }

    /// Whether they are in the order of their rankings, and of their times and ids at one ranking.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        (1..self.len()).all(|row| self.key(row - 1) <= self.key(row))
    }

    /// Sorts them by their rankings, times and ids; those that have all in common stay in their order.
    #[must_use]
    pub fn sort(self) -> Self {
        if self.is_sorted() {
            return self;
        }
        let mut rows: Vec<usize> = (0..self.len()).collect();
        rows.sort_unstable_by(|&one, &other| {
            self.key(one).cmp(&self.key(other)).then(one.cmp(&other))
        });
        self.take(&rows)
    }

    /// Every different list of names once, in the order in which they are first seen, and the place of
    /// each label's list among them.
    #[must_use]
    pub fn codes(&self) -> (Texts, Vec<i64>) {
        let (mut ids, mut different) = (Ids::default(), Texts::default());
        let mut codes = Vec::with_capacity(self.len());
        for row in 0..self.len() {
            let names = self.names.get(row);
            let code = ids.number(names);
            if code == different.len() {
                different.push(names);
            }
            codes.push(count(code));
        }
        (different, codes)
    }

    /// Writes them; none where they have more than a block may have.
    #[must_use]
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut writer = Writer::new(LABELS, self.len());
        let kinds: Vec<i64> = self.kinds.iter().map(|&kind| kind.into()).collect();
        for integers in [&self.seqs, &self.shown, &self.times, &kinds] {
            writer.integers(integers)?;
        }
        for texts in [&self.ranking_ids, &self.event_ids, &self.doc_ids] {
            writer.texts(texts)?;
        }
        let (names, codes) = self.codes();
        writer.count(names.len());
        writer.texts(&names)?;
        writer.integers(&codes)?;
        writer.numbers(&self.values)?;
        Some(writer.finish())
    }

    /// Reads what was written.
    ///
    /// # Errors
    /// It is damaged, or a later version wrote it.
    pub fn decode(body: &[u8]) -> Result<Self, Fault> {
        let (mut reader, rows) = Reader::open(body, LABELS)?;
        Self::read(&mut reader, rows).filter(|_| reader.is_done()).ok_or(Fault::Damaged)
    }

    fn read(reader: &mut Reader<'_>, rows: usize) -> Option<Self> {
        let [seqs, shown, times, kinds] = [
            reader.integers(rows)?,
            reader.integers(rows)?,
            reader.integers(rows)?,
            reader.integers(rows)?,
        ];
        let [ranking_ids, event_ids, doc_ids] =
            [reader.texts(rows)?, reader.texts(rows)?, reader.texts(rows)?];
        let different = reader.count()?;
        let different = reader.texts(different)?;
        let codes = reader.integers(rows)?;
        let codes = codes
            .iter()
            .map(|&code| usize::try_from(code).ok().filter(|&code| code < different.len()));
        let codes: Vec<usize> = codes.collect::<Option<_>>()?;
        Some(Self {
            kinds: kinds.iter().map(|&kind| u8::try_from(kind).ok()).collect::<Option<_>>()?,
            names: reader.repeat(&different, &codes)?,
            values: reader.numbers(rows)?,
            seqs,
            shown,
            times,
            ranking_ids,
            event_ids,
            doc_ids,
        })
    }
}
