//! Unpacks the documents of rankings from the bytes in which a store keeps them.
//!
//! What a piece is made of is said where it is made, in `rankscope/monitor/store/packing.py`.

use crate::memory::Vec;
use flate2::Crc;

pub(super) const VERSION: u8 = 1;
const SHAPE: usize = 8;
const HEAD: usize = SHAPE + 4;
pub(super) const HAS_RANKS: u8 = 1;
pub(super) const HAS_SCORES: u8 = 2;
pub(super) const SCORES_ARE_SHORT: u8 = 4;
pub(super) const HAS_GRADES: u8 = 8;
pub(super) const GRADES_ARE_SHORT: u8 = 16;

/// The documents of many rankings, one ranking after another.
#[derive(Debug, PartialEq)]
pub struct Documents {
    /// Where those of each ranking begin, and where the last end.
    pub offsets: Vec<i64>,
    /// Where the id of each begins in `ids`, and where the last ends.
    pub id_offsets: Vec<i64>,
    /// Their ids, end to end.
    pub ids: Vec<u8>,
    /// Their ranks.
    pub ranks: Vec<i64>,
    /// Their scores, NaN where there is none.
    pub scores: Vec<f64>,
    /// Their grades, NaN where there is none.
    pub relevance: Vec<f64>,
}

impl Documents {
    /// Takes the documents out of pieces; none where a piece is damaged, or of another version.
    ///
    /// ```
    /// use rankscope::logged::pack::Documents;
    /// let checksum = {
    ///     let mut crc = flate2::Crc::new();
    ///     crc.update(&[1, 0, 1, 0, 2, 0, 0, 0]);
    ///     crc.update(b"ab");
    ///     crc.sum().to_le_bytes()
    /// };
    /// let piece = [&[1, 0, 1, 0, 2, 0, 0, 0], &checksum[..], b"ab"].concat();
    /// let found = Documents::unpack(&[&piece]).unwrap();
    /// assert_eq!(found.id_offsets, [0, 1, 2]);
    /// assert_eq!(found.ranks, [1, 2]);
    /// assert!(Documents::unpack(&[&piece[1..]]).is_none());
    /// ```
    #[must_use]
    pub fn unpack(pieces: &[&[u8]]) -> Option<Self> {
        let rows: usize = pieces.iter().map(|piece| count_of(piece)).sum::<Option<_>>()?;
        let mut found = Self {
            offsets: Vec::with_capacity(pieces.len() + 1),
            id_offsets: Vec::with_capacity(rows + 1),
            ids: Vec::with_capacity(pieces.iter().map(|piece| piece.len()).sum()),
            ranks: Vec::with_capacity(rows),
            scores: Vec::with_capacity(rows),
            relevance: Vec::with_capacity(rows),
        };
        found.offsets.push(0);
        found.id_offsets.push(0);
        for piece in pieces {
            found.add(piece)?;
        }
        Some(found)
    }

    fn add(&mut self, piece: &[u8]) -> Option<()> {
        let mut crc = Crc::new();
        crc.update(&piece[..SHAPE]);
        crc.update(&piece[HEAD..]);
        let shape = &piece[..SHAPE];
        if piece[SHAPE..HEAD] != crc.sum().to_le_bytes() || shape[0] != VERSION {
            return None;
        }
        let flags = shape[1];
        let alike = usize::from(u16::from_le_bytes([shape[2], shape[3]]));
        let count = count_of(piece)?;
        let mut rest = &piece[HEAD..];
        if flags & HAS_RANKS != 0 {
            let (ranks, _) = take(&mut rest, count, 4)?.as_chunks::<4>();
            self.ranks.extend(ranks.iter().map(|&rank| i64::from(u32::from_le_bytes(rank))));
        } else {
            self.ranks.extend((1i64..).take(count));
        }
        let numbers = [
            (HAS_SCORES, SCORES_ARE_SHORT, &mut self.scores),
            (HAS_GRADES, GRADES_ARE_SHORT, &mut self.relevance),
        ];
        for (has, is_short, column) in numbers {
            if flags & has == 0 {
                column.extend(std::iter::repeat_n(f64::NAN, count));
            } else if flags & is_short == 0 {
                let (long, _) = take(&mut rest, count, 8)?.as_chunks::<8>();
                column.extend(long.iter().map(|&number| f64::from_le_bytes(number)));
            } else {
                let (short, _) = take(&mut rest, count, 4)?.as_chunks::<4>();
                column.extend(short.iter().map(|&number| f64::from(f32::from_le_bytes(number))));
            }
        }
        let mut end = self.ids.len();
        let mut add = |size: usize| {
            end += size;
            end.cast_signed() as i64
        };
        if alike == 0 {
            let (sizes, _) = take(&mut rest, count, 2)?.as_chunks::<2>();
            self.id_offsets.extend(sizes.iter().map(|&size| add(u16::from_le_bytes(size).into())));
        } else {
            self.id_offsets.extend((0..count).map(|_| add(alike)));
        }
        self.ids.extend_from_slice(rest);
        self.offsets.push(self.ranks.len().cast_signed() as i64);
        (self.ids.len() == end).then_some(())
    }
}

/// The number of documents in a piece, none where it has no room for them.
fn count_of(piece: &[u8]) -> Option<usize> {
    let said = piece.get(4..SHAPE)?.try_into().ok()?;
    let count = u32::from_le_bytes(said) as usize;
    // A document has an id, or at least the length of one; but for that, memory would be taken as
    // damaged bytes say.
    (piece.len() >= HEAD && count <= piece.len() - HEAD).then_some(count)
}

/// The next numbers, of some width, which are then not there any more.
fn take<'a>(rest: &mut &'a [u8], count: usize, width: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count.checked_mul(width)?)?;
    *rest = left;
    Some(taken)
}
