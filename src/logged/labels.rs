//! Finds the shown document that each label is about.

use crate::memory::Vec;

/// Texts end to end: where each begins, and where the last ends.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    offsets: &'a [usize],
    bytes: &'a [u8],
}

impl<'a> Texts<'a> {
    /// Texts by their offsets; none where those are not ascending, or end beyond the bytes.
    #[must_use]
    pub fn new(offsets: &'a [usize], bytes: &'a [u8]) -> Option<Self> {
        let is_whole = offsets.is_sorted() && *offsets.last()? <= bytes.len();
        is_whole.then_some(Self { offsets, bytes })
    }

    fn len(self) -> usize {
        self.offsets.len() - 1
    }

    fn get(self, place: usize) -> &'a [u8] {
        &self.bytes[self.offsets[place]..self.offsets[place + 1]]
    }
}

/// The row of each label's document in the list of its ranking, whose rows are
/// `offsets[ranking]..offsets[ranking + 1]`; -1 where it is not there.
///
/// None where a label is of no ranking, or rows are not those of the documents.
///
/// ```
/// use rankscope::logged::labels::{Texts, find};
/// let shown = Texts::new(&[0, 1, 2, 3], b"abb").unwrap();
/// let told = Texts::new(&[0, 1, 2], b"ba").unwrap();
/// assert_eq!(find(&[1, 1], told, &[0, 2, 3], shown), Some(vec![2, -1].into()));
/// ```
#[must_use]
pub fn find(
    rankings: &[usize],
    told: Texts<'_>,
    offsets: &[usize],
    shown: Texts<'_>,
) -> Option<Vec<i64>> {
    let is_whole = offsets.is_sorted() && *offsets.last()? <= shown.len();
    if !is_whole || rankings.len() != told.len() {
        return None;
    }
    let row = |(label, &ranking): (usize, &usize)| {
        let (&start, &end) = (offsets.get(ranking)?, offsets.get(ranking + 1)?);
        let doc = told.get(label);
        let found = (start..end).find(|&row| shown.get(row) == doc);
        Some(found.map_or(-1, usize::cast_signed) as i64)
    };
    rankings.iter().enumerate().map(row).collect()
}
