//! Resolves or rejects documents that occur twice in a query.

use crate::error::{Error, Kind, show};
use crate::notes::{Note, Notes};
use crate::policy::Duplicates;

/// The grade that stands of one given before and one given again; an error where that is refused.
pub(crate) fn resolve(
    duplicates: Duplicates,
    (earlier, later): (f64, f64),
    line: u64,
    notes: &mut Notes,
) -> std::result::Result<f64, ()> {
    if earlier == later {
        notes.add(Note::DuplicateIdentical, (0, line));
        return Ok(earlier);
    }
    if duplicates == Duplicates::Error {
        return Err(());
    }
    notes.add(Note::DuplicatesResolved, (0, line));
    Ok(if duplicates == Duplicates::Max { earlier.max(later) } else { earlier })
}

/// The error for a document that is judged twice, and differently.
pub(crate) fn judged_twice(
    query: &[u8],
    doc: &[u8],
    (line, grade): (u64, f64),
    (later_line, later_grade): (u64, f64),
) -> Error {
    Error::new(
        Kind::Duplicate,
        "duplicate_conflict",
        format!(
            "expected one grade for document `{}` of query `{}`, found {grade} in line {line} and \
             {later_grade} in line {later_line}",
            show(doc),
            show(query),
        ),
    )
    .hint("keep one of them, or say duplicates=\"first\" or \"max\"")
    .line(later_line)
    .value(doc)
}

/// The error for a document that occurs again in a query.
pub fn occurs_again(doc: &[u8], query: &[u8], row: u64) -> Error {
    let message = format!(
        "expected each document once, found `{}` of query `{}` again",
        show(doc),
        show(query)
    );
    Error::new(Kind::Duplicate, "duplicate_doc", message)
        .hint("keep one of them, or say duplicates=\"first\" or \"max\"")
        .line(row)
        .value(doc)
}
