//! Columns of rankings.

use serde::{Deserialize, Serialize};

use super::body::{Fault, RANKINGS, Reader, Writer};
use super::list::List;
use super::texts::{Texts, count, join, place, take};

/// Rankings as columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    pub fn len(&self) -> usize {
        self.seqs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.seqs.is_empty()
    }

    /// Adds a ranking with its documents, which are settled.
    pub fn push(&mut self, row: &Row<'_>, list: &List) {
        self.seqs.push(row.seq);
        self.times.push(row.time);
        self.contexts.push(row.context);
        self.ranking_ids.push(row.ranking_id);
        self.event_ids.push(if row.event_id == row.ranking_id { b"" } else { row.event_id });
        self.query_keys.push(row.query_key);
        self.user_ids.push(row.user_id);
        let before = count(self.doc_ids.bytes.len());
        self.doc_ids.bytes.extend_from_slice(&list.ids);
        self.doc_ids.offsets.extend(list.ends.iter().map(|&end| before + count(end)));
        if list.ranks.is_empty() {
            self.ranks.extend((1..).take(list.len()));
        } else {
            self.ranks.extend_from_slice(&list.ranks);
        }
        for (numbers, column) in
            [(&list.scores, &mut self.scores), (&list.relevance, &mut self.relevance)]
        {
            if numbers.is_empty() {
                column.extend(std::iter::repeat_n(f64::NAN, list.len()));
            } else {
                column.extend_from_slice(numbers);
            }
        }
        self.offsets.push(count(self.ranks.len()));
    }

    /// What a ranking is known by when it is sent again.
    pub fn event_id(&self, row: usize) -> &[u8] {
        let own = self.event_ids.get(row);
        if own.is_empty() { self.ranking_ids.get(row) } else { own }
    }

    /// The rankings of some rows, in the order of these.
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

    pub(crate) fn key(&self, row: usize) -> (i64, &[u8]) {
        (self.times[row], self.ranking_ids.get(row))
    }

    /// Whether they are in the order of their times, and of their ids at one time.
    pub fn is_sorted(&self) -> bool {
        (1..self.len()).all(|row| self.key(row - 1) <= self.key(row))
    }

    /// Sorts them by their times and ids; those that have both in common stay in their order.
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

    /// The number of rankings of each context, and their first and last times.
    pub fn spans(&self) -> Vec<(i64, i64, i64, i64)> {
        spans(self.contexts.iter().copied().zip(self.times.iter().copied()))
    }

    /// Writes them; none where they have more than a block may have.
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

/// The number of rankings of each context, and their first and last times, from contexts and times.
pub fn spans(rows: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64, i64, i64)> {
    let mut rows: Vec<(i64, i64)> = rows.collect();
    rows.sort_unstable();
    let span = |some: &[(i64, i64)]| {
        let ((context, first), (_, last)) = (some[0], some[some.len() - 1]);
        (context, count(some.len()), first, last)
    };
    rows.chunk_by(|one, other| one.0 == other.0).map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::super::body::mend;
    use super::super::cases::{bits, floats, integers};
    use super::*;
    use proptest::prelude::*;

    type Item = (String, i64, f64, f64);
    type Plain = ([i64; 3], [String; 4], Vec<Item>);

    /// Rankings with all kinds of columns: ranks 1, 2, 3, … or any, numbers of any width or none.
    fn plain() -> impl Strategy<Value = Vec<Plain>> {
        let text = || "[a-cé😀]{0,3}";
        (any::<bool>(), floats(), floats()).prop_flat_map(move |(is_ranked, scores, relevance)| {
            let items = prop::collection::vec((text(), integers(), scores, relevance), 0..4);
            let items = items.prop_map(move |mut items| {
                for (rank, item) in (1..).zip(&mut items) {
                    item.1 = if is_ranked { rank } else { item.1 };
                }
                items
            });
            let numbers = [integers(), integers(), integers()];
            prop::collection::vec((numbers, [text(), text(), text(), text()], items), 0..6)
        })
    }

    fn columns(rows: &[Plain]) -> Rankings {
        let mut made = Rankings::default();
        for ([seq, time, context], texts, items) in rows {
            let [ranking_id, event_id, query_key, user_id] = texts.each_ref().map(String::as_bytes);
            let (seq, time, context) = (*seq, *time, *context);
            let mut list = List::default();
            for item in items {
                list.ids.extend_from_slice(item.0.as_bytes());
                list.end_id();
            }
            list.ranks.extend(items.iter().map(|item| item.1));
            list.scores.extend(items.iter().map(|item| item.2));
            list.relevance.extend(items.iter().map(|item| item.3));
            made.push(&Row { seq, time, context, ranking_id, event_id, query_key, user_id }, &list);
        }
        made
    }

    /// All that rankings say, row by row: an event without an id of its own has that of its ranking.
    fn said(rows: &[Plain]) -> Vec<String> {
        let of_row = |(numbers, texts, items): &Plain| {
            let [ranking_id, event_id, rest @ ..] = texts.each_ref();
            let event_id = if event_id.is_empty() { ranking_id } else { event_id };
            let items: Vec<_> =
                items.iter().map(|item| (&item.0, item.1, bits(item.2), bits(item.3))).collect();
            format!("{numbers:?} {ranking_id:?} {event_id:?} {rest:?} {items:?}")
        };
        rows.iter().map(of_row).collect()
    }

    fn rows(block: &Rankings) -> Vec<Plain> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let row = |row: usize| {
            let texts = [
                block.ranking_ids.get(row),
                block.event_id(row),
                block.query_keys.get(row),
                block.user_ids.get(row),
            ];
            let item = |at: usize| {
                let id = text(block.doc_ids.get(at));
                (id, block.ranks[at], block.scores[at], block.relevance[at])
            };
            let items = place(&block.offsets, row).map(item).collect();
            ([block.seqs[row], block.times[row], block.contexts[row]], texts.map(text), items)
        };
        (0..block.len()).map(row).collect()
    }

    proptest! {
        #[test]
        fn rankings_are_read_as_they_were_written(plain in plain()) {
            let body = columns(&plain).encode().unwrap();
            let read = Rankings::decode(&body).unwrap();
            prop_assert_eq!(said(&rows(&read)), said(&plain));
        }

        #[test]
        fn rows_are_taken_in_any_order(plain in plain(), order in prop::collection::vec(any::<prop::sample::Index>(), 0..9)) {
            let order: Vec<usize> = match plain.len() {
                0 => vec![],
                count => order.iter().map(|index| index.index(count)).collect(),
            };
            let expected: Vec<Plain> = order.iter().map(|&row| plain[row].clone()).collect();
            prop_assert_eq!(said(&rows(&columns(&plain).take(&order))), said(&expected));
        }

        #[test]
        fn blocks_are_joined_one_after_another(parts in prop::collection::vec(plain(), 0..4)) {
            let blocks: Vec<Rankings> = parts.iter().map(|part| columns(part)).collect();
            let views: Vec<&Rankings> = blocks.iter().collect();
            prop_assert_eq!(said(&rows(&Rankings::join(&views))), said(&parts.concat()));
        }

        #[test]
        fn damage_that_fits_the_checksum_is_no_panic(
            plain in plain(),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let mut body = columns(&plain).encode().unwrap();
            let at = at.index(body.len());
            body[at] = byte;
            mend(&mut body);
            if let Ok(block) = Rankings::decode(&body) {
                prop_assert!(block.sort().encode().is_some());
            }
        }

        #[test]
        fn rankings_are_sorted_by_their_times_and_ids(mut plain in plain(), times in prop::collection::vec(0..2i64, 6)) {
            for (row, time) in plain.iter_mut().zip(times) {
                row.0[1] = time;
            }
            let sorted = columns(&plain).sort();
            prop_assert!(sorted.is_sorted());
            plain.sort_by(|one, other| (one.0[1], &one.1[0]).cmp(&(other.0[1], &other.1[0])));
            prop_assert_eq!(said(&rows(&sorted)), said(&plain));
        }
    }

    fn sample() -> Rankings {
        let item = |rank: i64| (format!("é{rank}"), 2 * rank, 0.1, f64::NAN);
        let row = |seq: i64| {
            ([seq, 5, 7], ["r", "", "q", "u"].map(String::from), (0..seq).map(item).collect())
        };
        columns(&[1, 2, 3].map(row))
    }

    #[test]
    fn a_body_that_differs_in_a_byte_or_ends_early_is_damaged() {
        let body = sample().encode().unwrap();
        assert!(Rankings::decode(&body).is_ok());
        for at in 0..body.len() {
            let mut other = body.clone();
            for bit in 0..8 {
                other[at] = body[at] ^ 1 << bit;
                assert_eq!(Rankings::decode(&other), Err(Fault::Damaged));
            }
            assert_eq!(Rankings::decode(&body[..at]), Err(Fault::Damaged));
        }
    }

    #[test]
    fn a_body_has_no_byte_too_few_or_too_many_even_if_its_checksum_fits() {
        let body = sample().encode().unwrap();
        for size in 6..=body.len() + 1 {
            let mut other = body.clone();
            other.resize(size, 0);
            mend(&mut other);
            assert_eq!(Rankings::decode(&other).is_ok(), size == body.len());
        }
    }

    #[test]
    fn a_ranking_takes_at_most_60_bytes_beside_its_texts() {
        let texts = ["3f2b8c1e-70aa-4f0d-9c55-1d2e3f4a5b6c", "", "a query", "user-17"];
        let items = (1..=50).map(|rank| (format!("{:x}", rank * rank * 7919), rank, 0.0, f64::NAN));
        let items: Vec<Item> = items.collect();
        let size = texts.iter().map(|text| text.len()).sum::<usize>();
        let size = size + items.iter().map(|item| item.0.len() + 1).sum::<usize>();
        let numbers = [i64::MAX >> 2, 1_790_000_000_000_000, 12];
        let body = columns(&[(numbers, texts.map(String::from), items)]).encode().unwrap();
        assert!(body.len() <= size + 60, "{} bytes for {size} of texts", body.len());
    }
}
