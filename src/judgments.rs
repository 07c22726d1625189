//! Judgments: for each query, its documents and their grades, ready to be looked up.

use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

use crate::axis::{Axis, Names};
use crate::blocks::{Block, Blocks};
use crate::error::{Error, Kind, Result, show};
use crate::ids::{self, Arena, IdHasher, Ids, Slots};
use crate::notes::{Lines, Note, Notes};
use crate::source::{Event, Input, Watch};
use crate::split::Tape;
use crate::table::{Decimal, IdColumn, check_finite, check_lengths};
use crate::trec;

/// What to do with one document given twice in a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Refuse it.
    #[default]
    Error,
    /// Keep the first.
    First,
    /// Keep the one with the larger grade, or score.
    Max,
}

/// The judgments of many queries; immutable.
#[derive(Debug)]
pub struct Judgments {
    axis: Arc<Axis>,
    /// Judged documents of each query, by the offsets of the axis.
    entries: Vec<Entry>,
    texts: Arena,
    /// Each query's table of documents, one after another.
    slots: Vec<u64>,
    slot_offsets: Vec<usize>,
    /// Each query's set of hash classes that have a judged document, one after another: most
    /// documents of a list are told unjudged by one bit, without touching the larger table.
    classes: Vec<u64>,
    class_offsets: Vec<usize>,
    notes: Notes,
}

/// A judged document: where its identifier is in the arena, and its grade.
#[derive(Clone, Copy, Debug)]
struct Entry {
    text: u32,
    grade: f64,
}

impl Judgments {
    /// Reads qrels; `watch` is told how far it is, and may stop it.
    ///
    /// # Errors
    /// Where the input cannot be read or is not qrels.
    pub fn read(input: &Input, duplicates: Duplicates, watch: Watch<'_>) -> Result<Self> {
        let name = input.name();
        let mut blocks = Blocks::new(input.open(watch)?, watch)?;
        let mut builder = Builder::default();
        let mut notes = Notes::default();
        let mut lines = Lines::default();
        let mut block = Block::default();
        let mut tape = Tape::default();
        let mut before = 0;
        if blocks.had_bom {
            notes.add(Note::Bom, (0, 1));
        }
        while blocks.next(&mut block, watch).map_err(|error| error.after_lines(before))? {
            let number = block.number;
            let add = |query: &[u8], doc: &[u8], grade: f64, line: u64| {
                builder.add(query, doc, grade, before + line)
            };
            let count = trec::read_qrels(block.text(), number, &mut tape, &mut notes, add)
                .map_err(|error| error.after_lines(before).file(&name))?;
            lines.set(number, count);
            before += count;
            watch(Event::Read(blocks.consumed()))?;
        }
        notes.resolve(&lines);
        builder.finish(duplicates, notes).map_err(|error| error.file(&name))
    }

    /// The judged queries, in first-seen order, and the grades of each.
    #[must_use]
    pub fn axis(&self) -> &Arc<Axis> {
        &self.axis
    }

    /// The number of a query, if it is judged.
    #[inline]
    #[must_use]
    pub fn find_query(&self, query: &[u8]) -> Option<usize> {
        self.axis.find(query)
    }

    /// The judged documents of one query, ready for many look-ups.
    #[inline]
    #[must_use]
    pub fn of_query(&self, query: usize) -> JudgedQuery<'_> {
        let offsets = self.axis.offsets();
        JudgedQuery {
            entries: &self.entries[offsets[query]..offsets[query + 1]],
            slots: &self.slots[self.slot_offsets[query]..self.slot_offsets[query + 1]],
            classes: &self.classes[self.class_offsets[query]..self.class_offsets[query + 1]],
            texts: &self.texts,
        }
    }

    /// What was suspicious but legal.
    #[must_use]
    pub fn notes(&self) -> &Notes {
        &self.notes
    }
}

/// The judged documents of one query.
#[derive(Clone, Copy, Debug)]
pub struct JudgedQuery<'a> {
    entries: &'a [Entry],
    slots: &'a [u64],
    classes: &'a [u64],
    texts: &'a Arena,
}

/// How many classes there are for a judged document.
const CLASSES: usize = 16;

/// The word of a set of classes in which the class of a hash is, and its bit; other bits of the hash
/// than those that place it in a table.
#[allow(clippy::cast_possible_truncation)] // the low bits are what is wanted
fn class_of(hash: u64, words: usize) -> (usize, u64) {
    ((hash >> 38) as usize & (words - 1), 1 << (hash >> 32 & 63))
}

impl JudgedQuery<'_> {
    /// The grade of a document with its [`IdHasher`] hash, if it is judged.
    #[inline]
    #[must_use]
    pub fn find_document(&self, doc: &[u8], hash: u64) -> Option<f64> {
        let (word, bit) = class_of(hash, self.classes.len());
        if self.classes[word] & bit == 0 {
            return None;
        }
        let is_same =
            |index: usize| ids::is_same(self.texts.get(self.entries[index].text as usize), doc);
        ids::find(self.slots, hash, is_same).map(|index| self.entries[index].grade)
    }
}

/// Collects judgments in any order.
#[derive(Debug, Default)]
pub struct Builder {
    queries: Ids,
    texts: Arena,
    rows: Vec<BuilderRow>,
    last_query: usize,
}

#[derive(Clone, Copy, Debug)]
struct BuilderRow {
    query: u32,
    text: u32,
    grade: f64,
    line: u64,
}

impl Builder {
    /// Names a query, so that it is known even if nothing of it is judged.
    pub fn add_query(&mut self, query: &[u8]) {
        self.last_query = self.queries.number(query);
    }

    /// Adds a judgment that was found at a line.
    ///
    /// # Errors
    /// Where there are more than 2^32 judgments.
    pub fn add(&mut self, query: &[u8], doc: &[u8], grade: f64, line: u64) -> Result<()> {
        let is_last = self.queries.texts().len() > self.last_query
            && self.queries.texts().get(self.last_query) == query;
        if !is_last {
            self.add_query(query);
        }
        let (Ok(text), Ok(query)) =
            (u32::try_from(self.rows.len()), u32::try_from(self.last_query))
        else {
            return Err(Error::new(Kind::Limit, "memory", "expected fewer than 2^32 judgments"));
        };
        self.texts.push(doc);
        self.rows.push(BuilderRow { query, text, grade, line });
        Ok(())
    }

    /// Makes the tables.
    ///
    /// # Errors
    /// Where there are no judgments, or one document is judged twice and differently.
    pub fn finish(self, duplicates: Duplicates, mut notes: Notes) -> Result<Judgments> {
        let Self { queries, texts, rows, .. } = self;
        if rows.is_empty() {
            return Err(Error::new(Kind::Empty, "empty_input", "expected judgments, found none")
                .hint("is the file empty, or the download cut off?"));
        }
        let count = queries.texts().len();
        let grouped = group_by_query(rows, count);
        let mut tables = Tables {
            texts,
            entries: Vec::with_capacity(grouped.rows.len()),
            offsets: vec![0],
            slots: Vec::with_capacity(2 * grouped.rows.len()),
            slot_offsets: vec![0],
            classes: Vec::with_capacity(count),
            class_offsets: vec![0],
            hasher: IdHasher::default(),
        };
        for query in 0..count {
            let name = queries.texts().get(query);
            tables.add_query(name, grouped.of_query(query), duplicates, &mut notes)?;
        }
        let Tables { texts, entries, offsets, slots, slot_offsets, classes, class_offsets, .. } =
            tables;
        let grades = entries.iter().map(|entry| entry.grade).collect();
        let axis = Arc::new(Axis::new(Names::Ids(queries), offsets, grades));
        let mut made =
            Judgments { axis, entries, texts, slots, slot_offsets, classes, class_offsets, notes };
        made.note_equal_ids();
        Ok(made)
    }
}

/// The tables of judgments while they are made.
struct Tables {
    texts: Arena,
    entries: Vec<Entry>,
    offsets: Vec<usize>,
    slots: Vec<u64>,
    slot_offsets: Vec<usize>,
    classes: Vec<u64>,
    class_offsets: Vec<usize>,
    hasher: IdHasher,
}

impl Tables {
    #[allow(clippy::cast_possible_truncation)] // entries are counted in 32 bits by the builder
    fn add_query(
        &mut self,
        query: &[u8],
        rows: &[BuilderRow],
        duplicates: Duplicates,
        notes: &mut Notes,
    ) -> Result<()> {
        let first = self.entries.len();
        let slots_from = self.slots.len();
        self.slots.resize(slots_from + Slots::size_for(rows.len()), 0);
        let classes_from = self.classes.len();
        let words = (CLASSES * rows.len()).div_ceil(64).next_power_of_two();
        self.classes.resize(classes_from + words, 0);
        for row in rows {
            let doc = self.texts.get(row.text as usize);
            let hash = self.hasher.hash(doc);
            let (word, bit) = class_of(hash, words);
            self.classes[classes_from + word] |= bit;
            let (entries, texts) = (&self.entries, &self.texts);
            let is_same = |index: usize| texts.get(entries[first + index].text as usize) == doc;
            let new = entries.len() - first;
            let Some(seen) = ids::insert(&mut self.slots[slots_from..], hash, new, is_same) else {
                self.entries.push(Entry { text: row.text, grade: row.grade });
                continue;
            };
            let grade = self.entries[first + seen].grade;
            if grade == row.grade {
                notes.add(Note::DuplicateIdentical, (0, row.line));
                continue;
            }
            if duplicates == Duplicates::Error {
                let earlier = rows.iter().find(|&other| self.texts.get(other.text as usize) == doc);
                return Err(judged_twice(
                    query,
                    doc,
                    (earlier.map_or(0, |row| row.line), grade),
                    row,
                ));
            }
            notes.add(Note::DuplicatesResolved, (0, row.line));
            if duplicates == Duplicates::Max {
                self.entries[first + seen].grade = grade.max(row.grade);
            }
        }
        self.offsets.push(self.entries.len());
        self.slot_offsets.push(self.slots.len());
        self.class_offsets.push(self.classes.len());
        Ok(())
    }
}

impl Judgments {
    /// Notes identifiers that a person would take for one: equal but for case or Unicode form.
    fn note_equal_ids(&mut self) {
        let hasher = IdHasher::default();
        let mut folded = Slots::default();
        let mut room = Vec::new();
        let mut count_equal = |texts: &mut dyn Iterator<Item = &[u8]>, count: usize| {
            folded.reset(count);
            let is_again = |(index, text): (usize, &[u8])| {
                fold(text, &mut room);
                let hash = hasher.hash(&room);
                ids::insert(folded.as_mut_slice(), hash, index, |_| true).is_some()
            };
            texts.enumerate().map(is_again).filter(|&is_again| is_again).count() as u64
        };
        let mut equal = 0;
        if let Some(queries) = self.axis.ids() {
            equal += count_equal(&mut queries.iter(), queries.len());
        }
        for query in 0..self.axis.len() {
            let entries = self.of_query(query).entries;
            let mut docs = entries.iter().map(|entry| self.texts.get(entry.text as usize));
            equal += count_equal(&mut docs, entries.len());
        }
        self.notes.add_many(Note::EqualAfterNormalisation, equal, (0, 0));
    }
}

/// Judgments from columns of queries, documents and grades.
///
/// # Errors
/// Where the columns differ in length or hold what is no identifier or grade; the line is the 1-based
/// row.
pub fn from_columns(
    queries: IdColumn<'_>,
    docs: IdColumn<'_>,
    grades: &[f64],
    duplicates: Duplicates,
) -> Result<Judgments> {
    check_lengths(&[queries.len(), docs.len(), grades.len()])?;
    let mut notes = Notes::default();
    let mut builder = Builder::default();
    let (mut query_room, mut doc_room) = (Decimal::default(), Decimal::default());
    for (row, &grade) in grades.iter().enumerate() {
        let line = row as u64 + 1;
        check_finite(grade, "rel", "grade").map_err(|error| error.line(line))?;
        if grade < 0.0 {
            notes.add(Note::NegativeGrades, (0, line));
        }
        let query = queries.get(row, &mut query_room)?;
        builder.add(query, docs.get(row, &mut doc_room)?, grade + 0.0, line)?;
    }
    for column in [queries, docs] {
        notes.add_many(Note::IntegerIds, column.integers(), (0, 0));
    }
    builder.finish(duplicates, notes)
}

/// Puts an identifier into `room`, without the differences that a person overlooks.
fn fold(id: &[u8], room: &mut Vec<u8>) {
    room.clear();
    if id.is_ascii() {
        room.extend_from_slice(id);
        room.make_ascii_lowercase();
        return;
    }
    let text: String = String::from_utf8_lossy(id).nfc().flat_map(char::to_lowercase).collect();
    room.extend_from_slice(text.as_bytes());
}

fn judged_twice(query: &[u8], doc: &[u8], earlier: (u64, f64), later: &BuilderRow) -> Error {
    let (line, grade) = earlier;
    Error::new(
        Kind::Duplicate,
        "duplicate_conflict",
        format!(
            "expected one grade for document `{}` of query `{}`, found {grade} in line {line} and {} \
             in line {}",
            show(doc),
            show(query),
            later.grade,
            later.line
        ),
    )
    .hint("keep one of them, or say duplicates=\"first\" or \"max\"")
    .line(later.line)
    .value(doc)
}

struct Grouped {
    rows: Vec<BuilderRow>,
    offsets: Vec<usize>,
}

impl Grouped {
    fn of_query(&self, query: usize) -> &[BuilderRow] {
        &self.rows[self.offsets[query]..self.offsets[query + 1]]
    }
}

/// Brings the rows of each query together, in their order.
fn group_by_query(mut rows: Vec<BuilderRow>, count: usize) -> Grouped {
    if !rows.is_sorted_by_key(|row| row.query) {
        rows.sort_by_key(|row| row.query);
    }
    let mut offsets = vec![0; count + 1];
    for row in &rows {
        offsets[row.query as usize + 1] += 1;
    }
    for query in 0..count {
        offsets[query + 1] += offsets[query];
    }
    Grouped { rows, offsets }
}
