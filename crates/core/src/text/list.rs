//! The lists of a run: adjacent rows of one query, and what their rank column says.

use crate::error::{Error, Kind};
use crate::notes::{BlockLine, Note, Notes};

/// The most documents of one query.
pub(super) const MAX_GROUP: usize = 10_000_000;

/// One retrieved document.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its identifier.
    pub doc: &'a [u8],
    /// What the ranker gave it.
    pub score: f64,
    /// The 1-based line it stands in.
    pub line: u64,
}

/// Adjacent lines of one query, in the order of the file.
#[derive(Debug, Default)]
pub struct List<'a> {
    /// The query's identifier.
    pub query: &'a [u8],
    /// Its documents.
    pub rows: Vec<Row<'a>>,
    /// Whether no score is above the one before it.
    pub is_sorted: bool,
    /// What the rank column says.
    pub ranks: Ranks,
    /// Whether identifiers came as integers.
    pub are_integers: bool,
}

impl<'a> List<'a> {
    /// Begins with the rows of another query.
    pub fn begin(&mut self, query: &'a [u8]) {
        self.query = query;
        self.rows.clear();
        self.is_sorted = true;
        self.ranks = Ranks::default();
    }

    /// The score of the last row; that of a list without rows is infinite.
    #[inline]
    pub fn last_score(&self) -> f64 {
        self.rows.last().map_or(f64::INFINITY, |last| last.score)
    }

    /// Appends a row and its rank, if that is one.
    #[inline]
    pub fn push(&mut self, row: Row<'a>, rank: Option<u64>) {
        let last_score = self.last_score();
        self.ranks.see(rank, row.score, last_score);
        self.is_sorted &= row.score <= last_score;
        self.rows.push(row);
    }

    /// Whether all of several documents have one score.
    pub fn is_flat(&self) -> bool {
        match (self.rows.first(), self.rows.last()) {
            (Some(first), Some(last)) => {
                self.is_sorted && self.rows.len() > 1 && first.score == last.score
            }
            _ => false,
        }
    }
}

/// Whether a list has more documents than the limit.
#[inline]
pub fn is_too_long(rows: usize) -> bool {
    rows > MAX_GROUP
}

/// The error for more documents of one query than the limit.
pub fn too_many_rows() -> Error {
    Error::new(
        Kind::Limit,
        "max_group",
        format!("expected at most {MAX_GROUP} documents of one query, found more"),
    )
    .hint("is the query's identifier in the first column?")
}

/// Follows the rank column of one query. Ranks order nothing; they are only held against scores.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ranks {
    count: u64,
    last: u64,
    sum: u64,
    largest: u64,
    disagree: bool,
    irregular: bool,
}

impl Ranks {
    /// Takes in one more rank, if it is one, and the score beside it and the one before that.
    #[inline]
    pub fn see(&mut self, rank: Option<u64>, score: f64, last_score: f64) {
        self.count += 1;
        let Some(rank) = rank else {
            self.irregular = true;
            return;
        };
        if self.count > 1 {
            self.disagree |= (rank > self.last && score > last_score)
                || (rank < self.last && score < last_score);
        }
        self.irregular |= rank == 0;
        self.last = rank;
        self.sum += rank;
        self.largest = self.largest.max(rank);
    }

    /// Whether ranks are the ones that follow the last.
    #[inline]
    pub fn are_next(&self, ranks: &[u32]) -> bool {
        let mut are_next = true;
        for (rank, next) in ranks.iter().zip(self.last + 1..) {
            are_next &= u64::from(*rank) == next;
        }
        are_next
    }

    /// Takes in so many more ranks, which follow the last, beside scores that do not rise.
    #[inline]
    pub fn see_next(&mut self, count: u64) {
        self.count += count;
        self.sum += count * self.last + count * (count + 1) / 2;
        self.last += count;
        self.largest = self.largest.max(self.last);
    }

    /// How many rows there were.
    #[must_use]
    pub fn count(&self) -> usize {
        usize::try_from(self.count).unwrap_or(usize::MAX)
    }

    /// Takes in what another stretch of the same query says.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.largest = self.largest.max(other.largest);
        self.disagree |= other.disagree;
        self.irregular |= other.irregular;
    }

    /// Notes what is odd about the ranks of a query that is first seen at `place`.
    pub fn note(&self, notes: &mut Notes, place: BlockLine) {
        let count = self.count;
        if self.disagree {
            notes.add(Note::RankScoreDisagree, place);
        }
        if self.irregular || self.largest != count || self.sum != count * (count + 1) / 2 {
            notes.add(Note::RankIrregular, place);
        }
    }
}

/// The rank that a field is, if it is a number of at most nine digits.
#[inline]
pub(super) fn parse_rank(field: &[u8]) -> Option<u64> {
    if field.len() > 9 {
        return None;
    }
    let mut rank = 0;
    let mut most = 0;
    for &byte in field {
        let digit = byte.wrapping_sub(b'0');
        most = digit.max(most);
        rank = rank * 10 + u64::from(digit);
    }
    (most < 10).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_ten_million_documents_at_most() {
        let are_too_long = [9_999_999, 10_000_000, 10_000_001].map(is_too_long);
        assert_eq!(are_too_long, [false, false, true]);
    }
}
