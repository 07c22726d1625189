//! Judgments by the numbers of documents, as columns give them.

use std::thread;

use crate::axis::{Axis, Names};
use crate::error::{Error, Kind, Result};
use crate::judgments::{Duplicates, Judgments, judged_twice, resolve};
use crate::notes::{Note, Notes};
use crate::stream::FEW_ROWS;
use crate::table::{IdColumn, check_finite, check_lengths, group};
use crate::vocabulary::Vocabulary;

/// The judged documents of each query, by the offsets of the axis.
#[derive(Debug, Default)]
pub struct Numbered {
    /// The different documents.
    pub docs: Vocabulary,
    /// Which of them each is.
    pub codes: Vec<u32>,
    /// The grade of each.
    pub grades: Vec<f64>,
}

/// Judgments from columns of queries, documents and grades.
///
/// # Errors
/// Where the columns differ in length or hold what is no identifier or grade, or one document is
/// judged twice and differently; the line is the 1-based row.
pub fn from_columns(
    queries: IdColumn<'_>,
    docs: IdColumn<'_>,
    grades: &[f64],
    duplicates: Duplicates,
) -> Result<Judgments> {
    check_lengths(&[queries.len(), docs.len(), grades.len()])?;
    if grades.is_empty() {
        return Err(no_judgments());
    }
    let mut notes = Notes::default();
    for (line, &grade) in (1..).zip(grades) {
        check_finite(grade, "rel", "grade").map_err(|error| error.line(line))?;
        if grade < 0.0 {
            notes.add(Note::NegativeGrades, (0, line));
        }
    }
    for column in [queries, docs] {
        notes.add_many(Note::IntegerIds, column.integers(), (0, 0));
    }
    let none = Vocabulary::default();
    let [queries, docs] = extend_both([(&none, &queries), (&none, &docs)])?;
    let (codes, names) = queries;
    let grouped = group(&codes, names.len());
    let (codes, docs) = docs;
    let mut made = Numbered {
        docs,
        codes: Vec::with_capacity(grades.len()),
        grades: Vec::with_capacity(grades.len()),
    };
    let mut offsets = Vec::with_capacity(names.len() + 1);
    offsets.push(0);
    // By document, where its judgment of this query stands; those of other queries stand before it.
    let mut places = vec![usize::MAX; made.docs.len()];
    for (query, range) in grouped.offsets.windows(2).enumerate() {
        let first = made.codes.len();
        for place in range[0]..range[1] {
            let row = grouped.row(place);
            let (code, grade, line) = (codes[row], grades[row] + 0.0, row as u64 + 1);
            let seen = &mut places[code as usize];
            if *seen == usize::MAX || *seen < first {
                *seen = made.codes.len();
                made.codes.push(code);
                made.grades.push(grade);
                continue;
            }
            let earlier = made.grades[*seen];
            let kept = resolve(duplicates, (earlier, grade), line, &mut notes).map_err(|()| {
                let is_same = |&other: &usize| codes[grouped.row(other)] == code;
                let first = (range[0]..place).find(is_same).map_or(0, |at| grouped.row(at) + 1);
                let doc = made.docs.get(code as usize);
                judged_twice(&names.get(query), &doc, (first as u64, earlier), (line, grade))
            })?;
            made.grades[*seen] = kept;
        }
        offsets.push(made.codes.len());
    }
    let axis = Axis::new(Names::Known(names), offsets, made.grades.clone());
    Ok(Judgments::of_numbers(axis, made, notes))
}

/// The numbers of a column's rows, and the identifiers that its vocabulary did not have.
pub type Extended = (Vec<u32>, Vocabulary);

/// Numbers two columns by their vocabularies, at once where they are long.
///
/// # Errors
/// Where one holds what is no identifier; the line is the 1-based row.
pub fn extend_both(pairs: [(&Vocabulary, &IdColumn<'_>); 2]) -> Result<[Extended; 2]> {
    let [one, other] = pairs;
    let (one, other) = if one.1.len() < FEW_ROWS {
        (one.0.extend(one.1), other.0.extend(other.1))
    } else {
        thread::scope(|scope| {
            let beside = scope.spawn(|| other.0.extend(other.1));
            let one = one.0.extend(one.1);
            match beside.join() {
                Ok(other) => (one, other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    };
    Ok([one?, other?])
}

/// The error for judgments that are none.
#[must_use]
pub fn no_judgments() -> Error {
    Error::new(Kind::Empty, "empty_input", "expected judgments, found none")
        .hint("is the file empty, or the download cut off?")
}
