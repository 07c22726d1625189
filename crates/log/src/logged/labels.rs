//! Finds the shown document that each label is about.

use std::ops::Range;

use rankscope_core::table::cells::Cells;

/// Texts end to end: where each begins, and where the last ends.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    offsets: &'a [usize],
    bytes: &'a [u8],
}

impl<'a> Texts<'a> {
    /// Texts by their offsets; none where those are not ascending, or end beyond the bytes.
    pub fn new(offsets: &'a [usize], bytes: &'a [u8]) -> Option<Self> {
        let is_whole = offsets.is_sorted() && *offsets.last()? <= bytes.len();
        is_whole.then_some(Self { offsets, bytes })
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text at a position.
    pub fn get(&self, place: usize) -> &'a [u8] {
        &self.bytes[self.offsets[place]..self.offsets[place + 1]]
    }
}

/// From so many labels times documents on, documents are sorted before labels are looked up.
const MANY_PAIRS: usize = 1 << 14;

/// The IDs of the documents of one ranking.
///
/// ```
/// use rankscope_log::logged::labels::Shown;
/// let mut shown = Shown::default();
/// shown.read(&[0i64, 1, 2, 4], b"abbc", 0..3, 1).unwrap();
/// assert_eq!([shown.find(b"b"), shown.find(b"bc"), shown.find(b"c")], [Some(1), Some(2), None]);
/// ```
#[derive(Debug, Default)]
pub struct Shown {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
    /// The last bytes of each ID, which differ from those of most others.
    ends: Vec<u64>,
    /// The rows by ID, where there are many labels to look up.
    order: Vec<usize>,
}

impl Shown {
    /// Reads the IDs of some rows, of which so many will be looked up; none where they are not
    /// inside the column.
    pub fn read<C: Cells<i64> + ?Sized, B: Cells<u8> + ?Sized>(
        &mut self,
        offsets: &C,
        bytes: &B,
        rows: Range<usize>,
        lookups: usize,
    ) -> Option<()> {
        self.offsets.resize(rows.len() + 1, 0);
        offsets.read(rows.start, &mut self.offsets);
        let first = usize::try_from(self.offsets[0]).ok()?;
        let end = usize::try_from(self.offsets[rows.len()]).ok()?;
        if !self.offsets.is_sorted() || end > bytes.len() {
            return None;
        }
        self.bytes.resize(end - first, 0);
        bytes.read(first, &mut self.bytes);
        self.ends.clear();
        for pair in self.offsets.windows(2) {
            let id = slice(&self.bytes, self.offsets[0], pair[0], pair[1]);
            self.ends.push(last_bytes(id));
        }
        self.order.clear();
        if rows.len().saturating_mul(lookups) > MANY_PAIRS {
            self.order.extend(0..rows.len());
            let (bytes, offsets) = (&self.bytes, &self.offsets);
            let id = |row: usize| slice(bytes, offsets[0], offsets[row], offsets[row + 1]);
            self.order.sort_by(|&a, &b| id(a).cmp(id(b)));
        }
        Some(())
    }

    /// The first row with an ID.
    pub fn find(&self, id: &[u8]) -> Option<usize> {
        let get = |row: usize| {
            slice(&self.bytes, self.offsets[0], self.offsets[row], self.offsets[row + 1])
        };
        if !self.order.is_empty() {
            let at = self.order.partition_point(|&row| get(row) < id);
            return self.order.get(at).copied().filter(|&row| get(row) == id);
        }
        let end = last_bytes(id);
        let mut rows = self.ends.iter().enumerate().filter(|&(_, &other)| other == end);
        rows.find(|&(row, _)| get(row) == id).map(|(row, _)| row)
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // they ascend from the base
fn slice(bytes: &[u8], base: i64, start: i64, end: i64) -> &[u8] {
    &bytes[(start - base) as usize..(end - base) as usize]
}

/// The last eight bytes of a text, or all of a shorter one with its length.
fn last_bytes(text: &[u8]) -> u64 {
    text.last_chunk::<8>().map_or_else(
        || text.iter().fold(text.len() as u64, |all, &byte| all << 8 | u64::from(byte)),
        |chunk| u64::from_le_bytes(*chunk),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_whether_they_are_sorted_or_not() {
        // 128 documents in another order than that of their IDs, and 128 labels: 2^14 pairs.
        let ids: Vec<String> = (0..128).map(|at| format!("d{:03}", at * 37 % 101)).collect();
        let bytes = ids.concat();
        let offsets: Vec<i64> = (0..=128).map(|at| at * 4).collect();
        for lookups in [127, 128, 129] {
            let mut shown = Shown::default();
            shown.read(&offsets, &bytes.as_bytes(), 0..128, lookups).unwrap();
            assert_eq!(shown.order.is_empty(), lookups <= 128);
            for id in ids.iter().map(String::as_str).chain(["d101", "d0"]) {
                let first = ids.iter().position(|other| other == id);
                assert_eq!(shown.find(id.as_bytes()), first);
            }
        }
    }
}
