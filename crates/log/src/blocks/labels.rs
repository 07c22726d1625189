//! Columns of labels.

use rankscope_core::ids::interner::Ids;
use serde::{Deserialize, Serialize};

use super::body::{Fault, LABELS, Reader, Writer};
use super::texts::{Texts, count, join, take};

/// Labels as columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Labels {
    /// The numbers under which they were stored.
    pub seqs: Vec<i64>,
    /// When their rankings were shown, in microseconds since 1970.
    pub shown: Vec<i64>,
    /// When they happened, likewise.
    pub times: Vec<i64>,
    /// What they do.
    #[serde(with = "serde_bytes")]
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
    pub fn len(&self) -> usize {
        self.seqs.len()
    }

    /// Whether there are none.
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

    /// About how many bytes they take.
    pub fn size(&self) -> usize {
        let Self { seqs, shown, times, kinds, ranking_ids, event_ids, doc_ids, names, values } =
            self;
        let texts = [ranking_ids, event_ids, doc_ids, names];
        [seqs, shown, times].map(|column| size_of_val(&column[..])).iter().sum::<usize>()
            + kinds.len()
            + texts
                .map(|texts| size_of_val(&texts.offsets[..]) + texts.bytes.len())
                .iter()
                .sum::<usize>()
            + size_of_val(&values[..])
    }

    pub(crate) fn key(&self, row: usize) -> (i64, &[u8], i64, &[u8]) {
        (self.shown[row], self.ranking_ids.get(row), self.times[row], self.event_ids.get(row))
    }

    /// Whether they are in the order of their rankings, and of their times and ids at one ranking.
    pub fn is_sorted(&self) -> bool {
        (1..self.len()).all(|row| self.key(row - 1) <= self.key(row))
    }

    /// Sorts them by their rankings, times and ids; those that have all in common stay in their order.
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

#[cfg(test)]
mod tests {
    use super::super::body::mend;
    use super::super::cases::{bits, floats, integers};
    use super::*;
    use proptest::prelude::*;

    type Plain = ([i64; 3], u8, [String; 4], f64);

    fn plain() -> impl Strategy<Value = Vec<Plain>> {
        let text = || "[a-cé😀]{0,3}";
        floats().prop_flat_map(move |values| {
            let numbers = [integers(), integers(), integers()];
            let texts = [text(), text(), text(), text()];
            prop::collection::vec((numbers, any::<u8>(), texts, values), 0..8)
        })
    }

    fn columns(rows: &[Plain]) -> Labels {
        let mut made = Labels::default();
        for (numbers, kind, texts, value) in rows {
            let [seq, shown, time] = *numbers;
            let [ranking_id, event_id, doc_id, names] = texts.each_ref().map(String::as_bytes);
            let (kind, value) = (*kind, *value);
            made.push(&Row { seq, shown, time, kind, ranking_id, event_id, doc_id, names, value });
        }
        made
    }

    fn said(rows: &[Plain]) -> Vec<String> {
        let of_row = |(numbers, kind, texts, value): &Plain| {
            format!("{numbers:?} {kind} {texts:?} {}", bits(*value))
        };
        rows.iter().map(of_row).collect()
    }

    fn rows(block: &Labels) -> Vec<Plain> {
        let row = |row: usize| {
            let texts = [&block.ranking_ids, &block.event_ids, &block.doc_ids, &block.names];
            let texts = texts.map(|texts| String::from_utf8(texts.get(row).to_vec()).unwrap());
            let numbers = [block.seqs[row], block.shown[row], block.times[row]];
            (numbers, block.kinds[row], texts, block.values[row])
        };
        (0..block.len()).map(row).collect()
    }

    proptest! {
        #[test]
        fn labels_are_read_as_they_were_written(plain in plain()) {
            let body = columns(&plain).encode().unwrap();
            prop_assert_eq!(said(&rows(&Labels::decode(&body).unwrap())), said(&plain));
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
            let blocks: Vec<Labels> = parts.iter().map(|part| columns(part)).collect();
            let views: Vec<&Labels> = blocks.iter().collect();
            prop_assert_eq!(said(&rows(&Labels::join(&views))), said(&parts.concat()));
        }

        #[test]
        fn labels_are_sorted_by_their_rankings_then_by_times_and_ids(mut plain in plain(), times in prop::collection::vec(0..4i64, 8)) {
            for (row, time) in plain.iter_mut().zip(times) {
                (row.0[1], row.0[2]) = (time / 2, time % 2);
                row.2[0].truncate(0);
                row.2[0].push_str(if time == 0 { "a" } else { "b" });
            }
            let sorted = columns(&plain).sort();
            prop_assert!(sorted.is_sorted());
            let key = |row: &Plain| (row.0[1], row.2[0].clone(), row.0[2], row.2[1].clone());
            plain.sort_by_key(key);
            prop_assert_eq!(said(&rows(&sorted)), said(&plain));
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
            if let Ok(block) = Labels::decode(&body) {
                prop_assert!(block.sort().encode().is_some());
            }
        }

        #[test]
        fn lists_of_names_are_numbered_as_they_are_first_seen(plain in plain()) {
            let (different, codes) = columns(&plain).codes();
            let mut seen: Vec<&[u8]> = vec![];
            for ((_, _, texts, _), &code) in plain.iter().zip(&codes) {
                let names = texts[3].as_bytes();
                if !seen.contains(&names) {
                    seen.push(names);
                }
                prop_assert_eq!(different.get(usize::try_from(code).unwrap()), names);
            }
            prop_assert_eq!((0..different.len()).map(|row| different.get(row)).collect::<Vec<_>>(), seen);
        }
    }

    fn sample() -> Labels {
        let row = |seq: i64| ([seq, 5, 7], 1, ["r", "é", "d", "[]"].map(String::from), 0.1);
        columns(&[1, 2, 3].map(row))
    }

    #[test]
    fn a_body_that_differs_in_a_byte_or_ends_early_is_damaged() {
        let body = sample().encode().unwrap();
        assert!(Labels::decode(&body).is_ok());
        for at in 0..body.len() {
            let mut other = body.clone();
            for bit in 0..8 {
                other[at] = body[at] ^ 1 << bit;
                assert_eq!(Labels::decode(&other), Err(Fault::Damaged));
            }
            assert_eq!(Labels::decode(&body[..at]), Err(Fault::Damaged));
        }
    }

    #[test]
    fn a_body_has_no_byte_too_few_or_too_many_even_if_its_checksum_fits() {
        let body = sample().encode().unwrap();
        for size in 6..=body.len() + 1 {
            let mut other = body.clone();
            other.resize(size, 0);
            mend(&mut other);
            assert_eq!(Labels::decode(&other).is_ok(), size == body.len());
        }
    }
}
