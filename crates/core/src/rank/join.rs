//! Matches the retrieved documents of one query to its judgments, and rejects duplicate documents.

use crate::error::{Error, Kind, Result, show};
use crate::ids::folded::Folded;
use crate::ids::interner::{IdHasher, Slots, insert};
use crate::policy::Duplicates;
use crate::qrels::judgments::Judgments;
use crate::rank::ranked::Hit;
use crate::text::fields::is_same;
use crate::text::list::{self, List, Row};

/// Working memory for one list at a time.
#[derive(Debug, Default)]
pub struct Joiner {
    hasher: IdHasher,
    repeats: Repeats,
    seen: Slots,
    /// The judged documents of the last list, in the order of its rows.
    pub hits: Vec<Hit>,
    /// How many rows of the last list were dropped as duplicates.
    pub dropped: u64,
    /// How many documents of the last list are judged in another spelling.
    pub alike: u64,
    folded: Folded,
}

impl Joiner {
    /// Joins a list. Where duplicates are resolved, the list loses the rows that are not kept.
    ///
    /// # Errors
    /// Where a document occurs twice and that is refused; lines are those of the rows.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn join(
        &mut self,
        judgments: &Judgments,
        query: Option<usize>,
        list: &mut List<'_>,
        duplicates: Duplicates,
    ) -> Result<()> {
        self.hits.clear();
        (self.dropped, self.alike) = (0, 0);
        if list::is_too_long(list.rows.len()) {
            return Err(list::too_many_rows());
        }
        self.repeats.see(&list.rows, &self.hasher);
        if let Some(query) = query {
            let judged = judgments.of_query(query);
            for (index, &hash) in self.repeats.hashes.iter().enumerate() {
                if judged.may_have(hash)
                    && let Some((judged, grade)) = judged.find_document(list.rows[index].doc, hash)
                {
                    self.hits.push(Hit { row: index as u32, judged, grade });
                }
            }
        }
        match self.repeats.find(&list.rows) {
            None => {
                if let Some(query) = query {
                    self.find_alike(judgments, query, &list.rows);
                }
                Ok(())
            }
            Some((earlier, later)) if duplicates == Duplicates::Error => {
                Err(retrieved_twice(list.query, &list.rows[earlier], &list.rows[later]))
            }
            Some(_) => self.join_resolved(judgments, query, list, duplicates),
        }
    }

    /// Refuses a list with a document that occurs twice.
    pub fn check_distinct(&mut self, list: &List<'_>) -> Result<()> {
        self.repeats.see(&list.rows, &self.hasher);
        match self.repeats.find(&list.rows) {
            None => Ok(()),
            Some((earlier, later)) => {
                Err(retrieved_twice(list.query, &list.rows[earlier], &list.rows[later]))
            }
        }
    }

    /// Joins a list whose documents are known to differ.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn join_distinct(&mut self, judgments: &Judgments, query: usize, rows: &[Row<'_>]) {
        let judged = judgments.of_query(query);
        self.dropped = 0;
        self.hits.clear();
        for (index, row) in rows.iter().enumerate() {
            let hash = self.hasher.hash(row.doc);
            if judged.may_have(hash)
                && let Some((judged, grade)) = judged.find_document(row.doc, hash)
            {
                self.hits.push(Hit { row: index as u32, judged, grade });
            }
        }
        self.find_alike(judgments, query, rows);
    }

    fn find_alike(&mut self, judgments: &Judgments, query: usize, rows: &[Row<'_>]) {
        let Self { hits, folded, .. } = self;
        let mut judged = hits.iter().map(|hit| hit.row).peekable();
        let unjudged = (0..).zip(rows).filter(|&(at, _)| judged.next_if_eq(&at).is_none());
        self.alike = judgments.count_alike(query, unjudged.map(|(_, row)| row.doc), folded);
    }

    fn join_resolved(
        &mut self,
        judgments: &Judgments,
        query: Option<usize>,
        list: &mut List<'_>,
        duplicates: Duplicates,
    ) -> Result<()> {
        self.seen.reset(list.rows.len());
        let mut kept: Vec<Row<'_>> = Vec::with_capacity(list.rows.len());
        for &row in &list.rows {
            let hash = self.hasher.hash(row.doc);
            let slots = self.seen.as_mut_slice();
            match insert(slots, hash, kept.len(), |other| kept[other].doc == row.doc) {
                None => kept.push(row),
                Some(earlier) if duplicates == Duplicates::Max => {
                    kept[earlier].score = kept[earlier].score.max(row.score);
                }
                Some(_) => {}
            }
        }
        let dropped = (list.rows.len() - kept.len()) as u64;
        list.rows.clear();
        list.rows.extend(kept);
        list.is_sorted = list.rows.is_sorted_by(|above, below| above.score >= below.score);
        self.join(judgments, query, list, duplicates)?;
        self.dropped = dropped;
        Ok(())
    }
}

/// Finds documents that occur twice. 128 bits a document tell almost all of them apart, in
/// memory that stays close to the processor; the few that share a bit are compared.
#[derive(Debug, Default)]
struct Repeats {
    bits: Vec<u64>,
    /// The hash of each row.
    hashes: Vec<u64>,
    suspects: Vec<u32>,
}

impl Repeats {
    /// Hashes the documents of a list, and notes those that may have stood in a row before.
    fn see(&mut self, rows: &[Row<'_>], hasher: &IdHasher) {
        let Self { bits, hashes, suspects } = self;
        hashes.clear();
        hashes.extend(rows.iter().map(|row| hasher.hash(row.doc)));
        bits.clear();
        bits.resize(2 * rows.len().next_power_of_two(), 0);
        suspects.clear();
        let bits = &mut bits[..];
        for (row, &hash) in (0..).zip(&hashes[..]) {
            #[allow(clippy::cast_possible_truncation)] // the low bits are what is wanted
            let word = (hash >> 6) as usize & (bits.len() - 1);
            let bit = 1 << (hash & 63);
            if bits[word] & bit != 0 {
                suspects.push(row);
            }
            bits[word] |= bit;
        }
    }

    /// The first row whose document stood in a row before, and that row.
    fn find(&self, rows: &[Row<'_>]) -> Option<(usize, usize)> {
        if self.suspects.len() > MANY_SUSPECTS {
            return self.find_among_many(rows);
        }
        self.suspects.iter().find_map(|&suspect| {
            let later = suspect as usize;
            let hash = self.hashes[later];
            let mut alike = places_of(&self.hashes[..later], hash);
            let earlier = alike.find(|&row| is_same(rows[row].doc, rows[later].doc))?;
            Some((earlier, later))
        })
    }

    /// The same, without comparing each suspect with every row.
    fn find_among_many(&self, rows: &[Row<'_>]) -> Option<(usize, usize)> {
        let mut by_hash: Vec<(u64, u32)> = self.hashes.iter().copied().zip(0..).collect();
        by_hash.sort_unstable();
        let twice = by_hash.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1);
        let pairs = twice.filter_map(|alike| {
            (1..alike.len()).find_map(|at| {
                let later = alike[at].1 as usize;
                let before = alike[..at].iter().map(|&(_, row)| row as usize);
                let mut same = before.filter(|&row| is_same(rows[row].doc, rows[later].doc));
                same.next().map(|earlier| (earlier, later))
            })
        });
        pairs.min_by_key(|&(_, later)| later)
    }
}

/// Where a hash stands among others. Many are compared at once, as nearly all of them differ.
fn places_of(hashes: &[u64], hash: u64) -> impl Iterator<Item = usize> {
    let chunks = hashes.chunks(32).enumerate();
    #[allow(clippy::needless_bitwise_bool)] // without branches, it fits into vectors
    let alike = chunks.filter(move |(_, chunk)| {
        chunk.iter().fold(false, |is_there, &other| is_there | (other == hash))
    });
    alike.flat_map(move |(number, chunk)| {
        let places = chunk.iter().enumerate().filter(move |&(_, &other)| other == hash);
        places.map(move |(at, _)| 32 * number + at)
    })
}

/// More suspects than this are found by sorting.
const MANY_SUSPECTS: usize = 64;

fn retrieved_twice(query: &[u8], earlier: &Row<'_>, later: &Row<'_>) -> Error {
    let below = later.line.saturating_sub(earlier.line);
    let lines = if below == 1 { "line" } else { "lines" };
    Error::new(
        Kind::Duplicate,
        "duplicate_doc",
        format!(
            "expected each document once, found `{}` of query `{}` again, {below} {lines} below the \
             first",
            show(later.doc),
            show(query)
        ),
    )
    .hint("keep one of them, or say duplicates=\"first\" or \"max\"")
    .line(later.line)
    .value(later.doc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_document_is_found_among_few_and_many_suspects() {
        // 100 documents, and some of them again from the last one on.
        let names: Vec<String> = (0..100).map(|at| format!("d{at}")).collect();
        for count in [63, 64, 65] {
            let docs = names.iter().chain(names.iter().rev().take(count));
            let rows: Vec<Row<'_>> =
                docs.map(|doc| Row { doc: doc.as_bytes(), score: 1.0, line: 1 }).collect();
            let hasher = IdHasher::default();
            let hashes = rows.iter().map(|row| hasher.hash(row.doc)).collect();
            let suspects = (100..).take(count).collect();
            let repeats = Repeats { bits: Vec::new(), hashes, suspects };
            assert_eq!(repeats.find(&rows), Some((99, 100)));
            assert_eq!(repeats.find_among_many(&rows), Some((99, 100)));
        }
    }
}
