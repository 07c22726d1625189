//! Matches the retrieved documents of one query to its judgments, and refuses documents given twice.

use crate::error::{Error, Kind, Result, show};
use crate::ids::{IdHasher, Slots, insert, is_same};
use crate::judgments::{Duplicates, Judgments};
use crate::rank::Hit;
use crate::trec::{self, List, Row};

/// Working memory for one list at a time.
#[derive(Debug, Default)]
pub struct Joiner {
    hasher: IdHasher,
    seen: Slots,
    /// The judged documents of the last list, in the order of its rows.
    pub hits: Vec<Hit>,
    /// How many rows of the last list were dropped as duplicates.
    pub dropped: u64,
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
        self.dropped = 0;
        if trec::is_too_long(list.rows.len()) {
            return Err(trec::too_many_rows());
        }
        self.seen.reset(list.rows.len());
        let judged = query.map(|query| judgments.of_query(query));
        let slots = self.seen.as_mut_slice();
        for (index, row) in list.rows.iter().enumerate() {
            let hash = self.hasher.hash(row.doc);
            let same = insert(slots, hash, index, |other| is_same(list.rows[other].doc, row.doc));
            if let Some(earlier) = same {
                if duplicates == Duplicates::Error {
                    return Err(retrieved_twice(list.query, &list.rows[earlier], row));
                }
                return self.join_resolved(judgments, query, list, duplicates);
            }
            if let Some(grade) = judged.and_then(|judged| judged.find_document(row.doc, hash)) {
                self.hits.push(Hit { row: index as u32, grade });
            }
        }
        Ok(())
    }

    /// Refuses a list with a document that occurs twice.
    ///
    /// # Errors
    /// Where there is one.
    pub fn check_distinct(&mut self, list: &List<'_>) -> Result<()> {
        self.seen.reset(list.rows.len());
        let slots = self.seen.as_mut_slice();
        for (index, row) in list.rows.iter().enumerate() {
            let hash = self.hasher.hash(row.doc);
            if let Some(earlier) =
                insert(slots, hash, index, |other| list.rows[other].doc == row.doc)
            {
                return Err(retrieved_twice(list.query, &list.rows[earlier], row));
            }
        }
        Ok(())
    }

    /// Joins a list whose documents are known to differ.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn join_distinct(&mut self, judgments: &Judgments, query: usize, rows: &[Row<'_>]) {
        let judged = judgments.of_query(query);
        self.dropped = 0;
        self.hits.clear();
        for (index, row) in rows.iter().enumerate() {
            if let Some(grade) = judged.find_document(row.doc, self.hasher.hash(row.doc)) {
                self.hits.push(Hit { row: index as u32, grade });
            }
        }
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
