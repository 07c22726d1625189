//! Notes on suspicious but valid input: how often each kind occurs, and where first.

use serde::{Deserialize, Serialize};

/// A kind of suspicious input. The order is that in which they are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Note {
    /// The text begins with a byte-order mark.
    Bom,
    /// Lines without fields.
    BlankLines,
    /// Lines that begin with `# `.
    Comments,
    /// Judgments below zero.
    NegativeGrades,
    /// Judgments above zero and below one.
    FractionalGrades,
    /// Rows with a score and no grade.
    MissingGrades,
    /// Judgments given twice with the same grade.
    DuplicateIdentical,
    /// Documents given twice, resolved as the caller asked.
    DuplicatesResolved,
    /// Identifiers of one query or file that differ only by case or Unicode form.
    EqualAfterNormalisation,
    /// Queries with grades at other ranks than if integer identifiers were ordered as numbers.
    IntegerIds,
    /// Queries whose ranks contradict their scores; scores win.
    RankScoreDisagree,
    /// Queries whose ranks are not 1, 2, 3, …
    RankIrregular,
    /// More than one run tag.
    MultipleTags,
    /// Queries whose ranks, by which they are ordered, are not 1, 2, 3, …
    RankGap,
    /// Recommended items that are not in the catalogue.
    ItemsOutsideCatalogue,
    /// Recommended items that no user had before.
    ItemsWithoutHistory,
    /// Recommended items that are not described.
    ItemsWithoutAttributes,
    /// Queries that only some of several rankings have.
    UnevenSamples,
}

const KINDS: usize = 18;

/// The codes of the notes, in order.
pub const CODES: [&str; KINDS] = [
    "bom",
    "blank_lines",
    "comments",
    "negative_rel",
    "fractional_rel",
    "missing_grades",
    "duplicate_identical",
    "duplicates_resolved",
    "ids_equal_after_normalisation",
    "int_ids",
    "rank_score_disagree",
    "rank_irregular",
    "multiple_tags",
    "rank_gap",
    "items_outside_catalogue",
    "items_without_history",
    "items_without_attributes",
    "uneven_samples",
];

/// A place in a stream of blocks: the block and the 1-based line in it.
pub type BlockLine = (u64, u64);

/// How often each kind was seen, and first where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    entries: [Option<(u64, BlockLine)>; KINDS],
    /// Whether identifiers came as integers. This is no note.
    #[serde(skip)]
    pub has_integers: bool,
}

impl Notes {
    /// Counts one more, seen at a place.
    pub fn add(&mut self, note: Note, place: BlockLine) {
        self.add_many(note, 1, place);
    }

    /// Counts some more, first seen at a place.
    pub fn add_many(&mut self, note: Note, count: u64, place: BlockLine) {
        if count > 0 {
            let entry = &mut self.entries[note as usize];
            *entry = combine(*entry, Some((count, place)));
        }
    }

    /// Notes a grade that is missing, below zero, or above it and below one.
    pub fn add_grade(&mut self, grade: f64, place: BlockLine) {
        if grade.is_nan() {
            self.add(Note::MissingGrades, place);
        } else if grade < 0.0 {
            self.add(Note::NegativeGrades, place);
        } else if grade > 0.0 && grade < 1.0 {
            self.add(Note::FractionalGrades, place);
        }
    }

    /// Adds what was seen elsewhere in the same stream.
    pub fn merge(&mut self, other: &Self) {
        self.has_integers |= other.has_integers;
        for (mine, theirs) in self.entries.iter_mut().zip(other.entries) {
            *mine = combine(*mine, theirs);
        }
    }

    /// Makes lines of blocks into lines of the stream.
    pub fn resolve(&mut self, lines: &Lines) {
        for (_, place) in self.entries.iter_mut().flatten() {
            *place = (0, lines.before(place.0) + place.1);
        }
    }

    /// Code, count and first line of each kind that was seen; line 0 means that it has none.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        CODES
            .into_iter()
            .zip(self.entries)
            .filter_map(|(code, entry)| entry.map(|(count, (_, line))| (code, count, line)))
    }
}

fn combine(
    left: Option<(u64, BlockLine)>,
    right: Option<(u64, BlockLine)>,
) -> Option<(u64, BlockLine)> {
    match (left, right) {
        (Some((a, first)), Some((b, second))) => Some((a + b, first.min(second))),
        (one, other) => one.or(other),
    }
}

/// How many lines each block of a stream has.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    counts: Vec<u64>,
}

impl Lines {
    /// Records the lines of a block.
    #[allow(clippy::cast_possible_truncation)] // blocks are counted from 0, in memory
    pub fn set(&mut self, block: u64, lines: u64) {
        let block = block as usize;
        if self.counts.len() <= block {
            self.counts.resize(block + 1, 0);
        }
        self.counts[block] = lines;
    }

    /// The lines in all blocks before one.
    pub fn before(&self, block: u64) -> u64 {
        self.counts.iter().zip(0..block).map(|(lines, _)| lines).sum()
    }
}
