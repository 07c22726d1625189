//! Judgments read from columns, with documents as numbers.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::ids::finder::{Finder, MOST_ENTRIES};
use crate::ids::vocabulary::{Vocabulary, extend_both};
use crate::notes::Notes;
use crate::policy::Duplicates;
use crate::qrels::axis::{Axis, Names};
use crate::qrels::duplicates::{judged_twice, resolve};
use crate::saved::{require, require_codes};
use crate::table::cells::Cells;
use crate::table::columns::{IdColumn, check_all_finite, check_lengths};
use crate::table::group::{Grouped, group};
use crate::threads;

/// The judged documents of each query, by the offsets of the axis.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Numbered {
    /// The different documents.
    pub docs: Vocabulary,
    /// Which of them each is.
    pub codes: Vec<u32>,
    /// The grade of each.
    pub grades: Vec<f64>,
}

impl Numbered {
    /// Refuses what was never saved.
    pub(crate) fn validate(&self) -> Result<()> {
        let Self { docs, codes, grades } = self;
        require(grades.len() == codes.len() && grades.iter().all(|grade| grade.is_finite()))?;
        require_codes(codes, docs.len())
    }
}

/// The queries, judgments and notes of columns of queries, documents and grades.
///
/// # Errors
/// Where the columns differ in length or hold what is no identifier or grade, or one document is
/// judged twice and differently; the line is the 1-based row.
pub fn from_columns(
    queries: IdColumn<'_>,
    docs: IdColumn<'_>,
    grades: &dyn Cells<f64>,
    duplicates: Duplicates,
    threads: usize,
) -> Result<(Axis, Numbered, Notes)> {
    check_lengths(&[queries.len(), docs.len(), grades.len()])?;
    if grades.is_empty() {
        return Err(no_judgments());
    }
    let mut notes = Notes::default();
    let none = Vocabulary::default();
    let [queries, docs] = extend_both([(&none, &queries), (&none, &docs)], threads)?;
    let (codes, names) = queries;
    let grouped = group(codes, names.len(), threads);
    let (codes_by_row, docs) = docs;
    let arrange_grades = || -> Result<Vec<f64>> {
        grouped.arrange(grades, |start, block, out| {
            out.copy_from_slice(block);
            check_all_finite(start, block.iter().copied(), "rel", "grade")?;
            for (line, &grade) in (start as u64 + 1..).zip(block) {
                notes.add_grade(grade, (0, line));
            }
            Ok(())
        })
    };
    let arrange_codes = || grouped.arrange_all(&codes_by_row);
    let (grades, codes) = threads::both(threads, arrange_grades, arrange_codes);
    let mut made = Numbered { docs, codes, grades: grades? };
    let ranges = threads::cut(&grouped.offsets, threads.min(1 + MOST_ENTRIES / made.docs.len()));
    let of_codes = threads::split(&mut made.codes, &ranges, &grouped.offsets);
    let of_grades = threads::split(&mut made.grades, &ranges, &grouped.offsets);
    let lengths: Vec<usize> = of_codes.iter().map(|codes| <[u32]>::len(codes)).collect();
    let parts: Vec<_> = ranges.into_iter().zip(of_codes.into_iter().zip(of_grades)).collect();
    let source = Source { grouped: &grouped, docs: made.docs.len() };
    let outcomes =
        threads::on_each(parts, |(range, columns)| source.resolve(range, columns, duplicates));
    let (mut offsets, mut used) = (vec![0], Vec::new());
    for outcome in outcomes {
        let part = outcome.map_err(|twice| {
            let Twice { query, doc, earlier, later } = twice;
            let rows = grouped.offsets[query]..grouped.offsets[query + 1];
            let mut rows = rows.map(|place| grouped.row(place));
            let line = rows.find(|&row| codes_by_row[row] == doc).map_or(0, |row| row as u64 + 1);
            judged_twice(&names.get(query), &made.docs.get(doc as usize), (line, earlier), later)
        })?;
        let start = offsets.last().copied().unwrap_or(0);
        let mut end = start;
        offsets.extend(part.sizes.into_iter().map(|size| {
            end += size;
            end
        }));
        used.push(end - start);
        notes.merge(&part.notes);
    }
    threads::close_gaps(&mut made.codes, &lengths, &used);
    threads::close_gaps(&mut made.grades, &lengths, &used);
    let axis = Axis::new(Names::Known(names), offsets, made.grades.clone(), threads);
    Ok((axis, made, notes))
}

/// What all threads know.
struct Source<'a> {
    grouped: &'a Grouped,
    docs: usize,
}

/// How many judgments each query of a thread keeps, and what was suspicious.
struct Part {
    sizes: Vec<usize>,
    notes: Notes,
}

/// A document judged twice, with both grades and the line of the later one.
struct Twice {
    query: usize,
    doc: u32,
    earlier: f64,
    later: (u64, f64),
}

impl Source<'_> {
    /// Keeps the judgments of some queries, each document once; columns hold those of all rows.
    fn resolve(
        &self,
        queries: Range<usize>,
        (codes, grades): (&mut [u32], &mut [f64]),
        duplicates: Duplicates,
    ) -> std::result::Result<Part, Twice> {
        let mut finder = Finder::new(self.docs);
        let mut made = Part { sizes: Vec::with_capacity(queries.len()), notes: Notes::default() };
        let start = self.grouped.offsets[queries.start];
        let mut at = 0;
        for query in queries {
            let places = self.grouped.offsets[query]..self.grouped.offsets[query + 1];
            finder.begin(&[], 0, places.len());
            let first = at;
            for place in places {
                let (code, grade) = (codes[place - start], grades[place - start] + 0.0);
                let Some(seen) = finder.find_retrieved(code, &codes[first..at], first) else {
                    codes[at] = code;
                    grades[at] = grade;
                    finder.see(code, at);
                    at += 1;
                    continue;
                };
                let earlier = grades[seen];
                let line = self.grouped.row(place) as u64 + 1;
                let kept = resolve(duplicates, (earlier, grade), line, &mut made.notes);
                grades[seen] =
                    kept.map_err(|()| Twice { query, doc: code, earlier, later: (line, grade) })?;
            }
            made.sizes.push(at - first);
        }
        Ok(made)
    }
}

/// The error for judgments that are none.
pub fn no_judgments() -> Error {
    Error::new(Kind::Empty, "empty_input", "expected judgments, found none")
        .hint("is the file empty, or the download cut off?")
}
