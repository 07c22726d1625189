//! Columns of rankings.

use super::body::{Fault, RANKINGS, Reader, Writer};
use super::texts::{Texts, count, join, place, take};
use crate::logged::pack::Documents;
use crate::memory::{Vec, vec};

/// Rankings as columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Rankings {
    /// The numbers under which they were stored.
    pub seqs: Vec<i64>,
    /// When they were shown, in microseconds since 1970.
    pub times: Vec<i64>,
    /// The numbers of their contexts.
    pub contexts: Vec<i64>,
    /// What labels name.
    pub ranking_ids: Texts,
    /// What they are known by when they are sent again; empty where that is what labels name.
    pub event_ids: Texts,
    /// What repeats.
    pub query_keys: Texts,
    /// Who saw them.
    pub user_ids: Texts,
    /// Where the documents of each begin, and where the last end.
    pub offsets: Vec<i64>,
    /// The ids of documents.
    pub doc_ids: Texts,
    /// Their ranks.
    pub ranks: Vec<i64>,
    /// Their scores, NaN where there is none.
    pub scores: Vec<f64>,
    /// Their grades, NaN where there is none.
    pub relevance: Vec<f64>,
}

/// A ranking without its documents.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The number under which it was stored.
    pub seq: i64,
    /// When it was shown.
    pub time: i64,
    /// The number of its context.
    pub context: i64,
    /// What labels name.
    pub ranking_id: &'a [u8],
    /// What it is known by.
    pub event_id: &'a [u8],
    /// What repeats.
    pub query_key: &'a [u8],
    /// Who saw it.
    pub user_id: &'a [u8],
}

impl Default for Rankings {
    fn default() -> Self {
        Self {
            seqs: Vec::new(),
            times: Vec::new(),
            contexts: Vec::new(),
            ranking_ids: Texts::default(),
            event_ids: Texts::default(),
            query_keys: Texts::default(),
            user_ids: Texts::default(),
            offsets: vec![0],
            doc_ids: Texts::default(),
            ranks: Vec::new(),
            scores: Vec::new(),
            relevance: Vec::new(),
        }
    }
}

impl Rankings {
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

    /// Adds a ranking, whose documents are [added](Self::push_documents) for all rankings at once.
    pub fn push(&mut self, row: &Row<'_>) {
        self.seqs.push(row.seq);
        self.times.push(row.time);
        self.contexts.push(row.context);
        self.ranking_ids.push(row.ranking_id);
        self.event_ids.push(if row.event_id == row.ranking_id { b"" } else { row.event_id });
        self.query_keys.push(row.query_key);
        self.user_ids.push(row.user_id);
    }

    /// Adds the documents of the rankings that were added.
    pub fn push_documents(&mut self, documents: Documents) {
        if self.ranks.is_empty() && self.offsets.len() == 1 {
            self.offsets = documents.offsets;
            self.doc_ids = Texts { offsets: documents.id_offsets, bytes: documents.ids };
            self.ranks = documents.ranks;
            self.scores = documents.scores;
            self.relevance = documents.relevance;
            return;
        }
        let before = count(self.ranks.len());
        self.offsets.extend(documents.offsets[1..].iter().map(|end| end + before));
        let ids = Texts { offsets: documents.id_offsets, bytes: documents.ids };
        self.doc_ids.extend(&ids, 0..ids.len());
        self.ranks.extend_from_slice(&documents.ranks);
        self.scores.extend_from_slice(&documents.scores);
        self.relevance.extend_from_slice(&documents.relevance);
    }

    /// What a ranking is known by when it is sent again.
    #[must_use]
    pub fn event_id(&self, row: usize) -> &[u8] {
        let own = self.event_ids.get(row);
        if own.is_empty() { self.ranking_ids.get(row) } else { own }
    }

    /// The rankings of some rows, in the order of these.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        let items = rows.iter().map(|&row| place(&self.offsets, row).len()).sum();
        let mut taken = Self {
            seqs: take(&self.seqs, rows),
            times: take(&self.times, rows),
            contexts: take(&self.contexts, rows),
            ranking_ids: self.ranking_ids.take(rows),
            event_ids: self.event_ids.take(rows),
            query_keys: self.query_keys.take(rows),
            user_ids: self.user_ids.take(rows),
            offsets: Vec::with_capacity(rows.len() + 1),
            doc_ids: Texts::default(),
            ranks: Vec::with_capacity(items),
            scores: Vec::with_capacity(items),
            relevance: Vec::with_capacity(items),
        };
        taken.offsets.push(0);
        for &row in rows {
            let items = place(&self.offsets, row);
            taken.doc_ids.extend(&self.doc_ids, items.clone());
            taken.ranks.extend_from_slice(&self.ranks[items.clone()]);
            taken.scores.extend_from_slice(&self.scores[items.clone()]);
            taken.relevance.extend_from_slice(&self.relevance[items]);
            taken.offsets.push(count(taken.ranks.len()));
        }
        taken
    }

    /// The rankings of some blocks, one block after another.
    #[must_use]
    pub fn join(parts: &[&Self]) -> Self {
        let parts = parts.iter().copied();
        let mut offsets = Vec::with_capacity(parts.clone().map(Self::len).sum::<usize>() + 1);
        offsets.push(0);
        let mut before = 0;
        for part in parts.clone() {
            offsets.extend(part.offsets[1..].iter().map(|end| end + before));
            before += count(part.ranks.len());
        }
        Self {
            seqs: join(parts.clone().map(|part| &part.seqs)),
            times: join(parts.clone().map(|part| &part.times)),
            contexts: join(parts.clone().map(|part| &part.contexts)),
            ranking_ids: Texts::join(parts.clone().map(|part| &part.ranking_ids)),
            event_ids: Texts::join(parts.clone().map(|part| &part.event_ids)),
            query_keys: Texts::join(parts.clone().map(|part| &part.query_keys)),
            user_ids: Texts::join(parts.clone().map(|part| &part.user_ids)),
            offsets,
            doc_ids: Texts::join(parts.clone().map(|part| &part.doc_ids)),
            ranks: join(parts.clone().map(|part| &part.ranks)),
            scores: join(parts.clone().map(|part| &part.scores)),
            relevance: join(parts.map(|part| &part.relevance)),
        }
    }

    fn key(&self, row: usize) -> (i64, &[u8]) {
        (self.times[row], self.ranking_ids.get(row))
    }

    /// Whether they are in the order of their times, and of their ids at one time.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        (1..self.len()).all(|row| self.key(row - 1) <= self.key(row))
    }

    /// Sorts them by their times and ids; those that have both in common stay in their order.
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

    /// Writes them; none where they have more than a block may have.
    #[must_use]
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut writer = Writer::new(RANKINGS, self.len());
        for integers in [&self.seqs, &self.times, &self.contexts] {
            writer.integers(integers)?;
        }
        for texts in [&self.ranking_ids, &self.event_ids, &self.query_keys, &self.user_ids] {
            writer.texts(texts)?;
        }
        writer.sizes(&self.offsets)?;
        writer.texts(&self.doc_ids)?;
        writer.ranks(&self.ranks, &self.offsets)?;
        writer.numbers(&self.scores)?;
        writer.numbers(&self.relevance)?;
        Some(writer.finish())
    }

    /// Reads what was written.
    ///
    /// # Errors
    /// It is damaged, or a later version wrote it.
    pub fn decode(body: &[u8]) -> Result<Self, Fault> {
        let (mut reader, rows) = Reader::open(body, RANKINGS)?;
        Self::read(&mut reader, rows).filter(|_| reader.is_done()).ok_or(Fault::Damaged)
    }

    fn read(reader: &mut Reader<'_>, rows: usize) -> Option<Self> {
        let [seqs, times, contexts] =
            [reader.integers(rows)?, reader.integers(rows)?, reader.integers(rows)?];
        let [ranking_ids, event_ids, query_keys, user_ids] =
            [reader.texts(rows)?, reader.texts(rows)?, reader.texts(rows)?, reader.texts(rows)?];
        let offsets = reader.sizes(rows)?;
        let items = usize::try_from(*offsets.last()?).ok()?;
        Some(Self {
            doc_ids: reader.texts(items)?,
            ranks: reader.ranks(&offsets)?,
            scores: reader.numbers(items)?,
            relevance: reader.numbers(items)?,
            seqs,
            times,
            contexts,
            ranking_ids,
            event_ids,
            query_keys,
            user_ids,
            offsets,
        })
    }
}
