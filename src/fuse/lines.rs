//! Writes fused lists as lines of a run.

use super::choices::Choices;
use super::pieces::{Pieces, Turn};
use super::queries::{Asked, fuse_all};
use crate::error::Error;
use crate::memory::Vec;
use crate::table::queue::Room;
use crate::text::written::RunLines;
use crate::watch::Watch;

/// What is fused, and how.
#[derive(Clone, Copy)]
pub struct Fusion<'a> {
    /// The names of the runs, for messages.
    pub names: &'a [&'a str],
    /// The method and its settings.
    pub choices: &'a Choices,
    /// The last column of the fused run.
    pub tag: &'a str,
    /// How many threads to use.
    pub threads: usize,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many queries the fused run has.
    pub queries: usize,
    /// How many documents all its lists have.
    pub documents: u64,
    /// By run, how many queries it has.
    pub of_runs: Vec<usize>,
    /// How many bytes were written to temporary files.
    pub written: u64,
}

/// The lines of adjacent queries.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    /// Where the lines of each query end.
    ends: Vec<usize>,
    documents: u64,
}

/// So many queries are fused before their lines are written.
const AT_ONCE: usize = 1 << 10;

/// Fuses queries, and writes their lines when it is their turn; gives the number of documents.
///
/// # Errors
/// As [`fuse_all`], or where lines can't be written.
pub(super) fn write_fused(
    asked: &[Asked<'_>],
    turns: &[Turn],
    fusion: Fusion<'_>,
    (pieces, room): (&mut Pieces<'_>, &mut Room<'_>),
    watch: Watch<'_>,
) -> Result<u64, (usize, Error)> {
    let mut documents = 0;
    for (start, some) in (0..).step_by(AT_ONCE).zip(asked.chunks(AT_ONCE)) {
        let how = (fusion.names, fusion.choices);
        let made = fuse_all(some, how, fusion.threads, watch, |lines: &mut Lines, fused| {
            let mut writer = RunLines::new(fusion.tag);
            for ((doc, score), rank) in fused.rows().zip(1..) {
                writer.append(&mut lines.text, fused.query, doc, rank, score);
                lines.documents += 1;
            }
            lines.ends.push(lines.text.len());
        });
        let made = made.map_err(|(number, error)| (start + number, error))?;
        let mut turns = turns[start..].iter();
        let mut add = |lines: &Lines| {
            let mut from = 0;
            for (&end, &turn) in lines.ends.iter().zip(&mut turns) {
                pieces.add(turn, &lines.text[from..end])?;
                from = end;
            }
            documents += lines.documents;
            if let Some(room) = room.spill(pieces.held())? { pieces.spill(room) } else { Ok(()) }
        };
        made.iter().try_for_each(&mut add).map_err(|error| (start, error))?;
    }
    Ok(documents)
}
