//! Judgments: for each query, its documents and their grades, ready to be looked up.

use unicode_normalization::UnicodeNormalization;

use crate::blocks::{Block, Blocks};
use crate::error::{Error, Kind, Result, show};
use crate::ids::{self, Arena, IdHasher, Ids, Slots};
use crate::notes::{Lines, Note, Notes};
use crate::source::{Event, Input, Watch};
use crate::split::Tape;
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
    queries: Ids,
    /// Judged documents of query q are `entries[offsets[q]..offsets[q + 1]]`.
    offsets: Vec<usize>,
    entries: Vec<Entry>,
    texts: Arena,
    /// All grades of each query, largest first, by the same offsets.
    ideal: Vec<f64>,
    /// Each query's table of documents, one after another.
    slots: Vec<u64>,
    slot_offsets: Vec<usize>,
    /// Each query's set of hash classes that have a judged document, one after another: most
    /// documents of a list are told unjudged by one bit, without touching the larger table.
    classes: Vec<u64>,
    class_offsets: Vec<usize>,
    hasher: IdHasher,
    grades: Vec<f64>,
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

    /// The identifiers of the queries, in first-seen order.
    #[must_use]
    pub fn queries(&self) -> &Arena {
        self.queries.texts()
    }

    /// The number of a query, if it is judged.
    #[inline]
    #[must_use]
    pub fn find_query(&self, query: &[u8]) -> Option<usize> {
        self.queries.find(query)
    }

    /// The judged documents of one query, ready for many look-ups.
    #[inline]
    #[must_use]
    pub fn of_query(&self, query: usize) -> JudgedQuery<'_> {
        JudgedQuery {
            entries: &self.entries[self.offsets[query]..self.offsets[query + 1]],
            slots: &self.slots[self.slot_offsets[query]..self.slot_offsets[query + 1]],
            classes: &self.classes[self.class_offsets[query]..self.class_offsets[query + 1]],
            texts: &self.texts,
        }
    }

    /// All grades of a query, largest first.
    #[inline]
    #[must_use]
    pub fn ideal(&self, query: usize) -> &[f64] {
        &self.ideal[self.offsets[query]..self.offsets[query + 1]]
    }

    /// Where the judgments of each query begin, and the last ends, in [`Judgments::all_ideals`].
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The grades of all queries, each query's largest first.
    #[must_use]
    pub fn all_ideals(&self) -> &[f64] {
        &self.ideal
    }

    /// The different grades, ascending.
    #[must_use]
    pub fn grades(&self) -> &[f64] {
        &self.grades
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
        let hasher = IdHasher::default();
        let mut made = Judgments {
            queries,
            offsets: vec![0],
            entries: Vec::with_capacity(grouped.rows.len()),
            texts,
            ideal: Vec::with_capacity(grouped.rows.len()),
            slots: Vec::with_capacity(2 * grouped.rows.len()),
            slot_offsets: vec![0],
            classes: Vec::with_capacity(count),
            class_offsets: vec![0],
            hasher,
            grades: Vec::new(),
            notes: Notes::default(),
        };
        for query in 0..count {
            made.add_query(query, grouped.of_query(query), duplicates, &mut notes)?;
        }
        made.note_equal_ids(&mut notes);
        made.grades.sort_unstable_by(f64::total_cmp);
        made.grades.dedup();
        made.notes = notes;
        Ok(made)
    }
}

impl Judgments {
    #[allow(clippy::cast_possible_truncation)] // entries are counted in 32 bits by the builder
    fn add_query(
        &mut self,
        query: usize,
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
                let query = self.queries.texts().get(query);
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
        self.ideal.extend(self.entries[first..].iter().map(|entry| entry.grade));
        let ideal = &mut self.ideal[first..];
        ideal.sort_unstable_by(|a, b| b.total_cmp(a));
        for &grade in &*ideal {
            if self.grades.last() != Some(&grade) {
                self.grades.push(grade);
            }
        }
        if self.grades.len() > 1 << 16 {
            self.grades.sort_unstable_by(f64::total_cmp);
            self.grades.dedup();
        }
        Ok(())
    }

    /// Notes identifiers that a person would take for one: equal but for case or Unicode form.
    fn note_equal_ids(&self, notes: &mut Notes) {
        let mut folded = Slots::default();
        let mut room = Vec::new();
        let mut note = |texts: &mut dyn Iterator<Item = &[u8]>, count: usize| {
            folded.reset(count);
            for (index, text) in texts.enumerate() {
                fold(text, &mut room);
                let hash = self.hasher.hash(&room);
                if ids::insert(folded.as_mut_slice(), hash, index, |_| true).is_some() {
                    notes.add(Note::EqualAfterNormalisation, (0, 0));
                }
            }
        };
        note(&mut self.queries.texts().iter(), self.queries.texts().len());
        for query in 0..self.queries.texts().len() {
            let entries = self.of_query(query).entries;
            let mut docs = entries.iter().map(|entry| self.texts.get(entry.text as usize));
            note(&mut docs, entries.len());
        }
    }
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
