//! Judged documents of each query by their texts, ready for many look-ups.

use crate::error::Result;
use crate::ids::interner::{self, Arena, IdHasher, Slots};
use crate::notes::Notes;
use crate::number::decimal::Decimal;
use crate::policy::Duplicates;
use crate::qrels::duplicates::{judged_twice, resolve};
use crate::qrels::numbered::Numbered;
use crate::text::fields::is_same;

/// Judged documents of each query, to be found by their text.
#[derive(Debug)]
pub(super) struct ByText {
    /// By the offsets of the axis.
    pub(super) entries: Vec<Entry>,
    pub(super) texts: Arena,
    /// Each query's table of documents, one after another.
    pub(super) slots: Vec<u64>,
    pub(super) slot_offsets: Vec<usize>,
    /// Each query's set of hash classes that have a judged document, one after another: most
    /// documents of a list are told unjudged by one bit, without touching the larger table.
    pub(super) classes: Vec<u64>,
    pub(super) class_offsets: Vec<usize>,
    /// Whether all texts are ASCII without letters of both cases.
    pub(super) is_of_one_case: bool,
    /// A document without any of these kinds of letters isn't an unjudged one in another spelling.
    pub(super) suspect: u8,
}

/// Kinds of letters.
const UPPER: u8 = 1;
const LOWER: u8 = 2;
const OTHER: u8 = 4;
/// So many texts are searched for a letter.
const SEARCHED: usize = 1000;

/// Which kind of letter a byte is.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0u8;
    loop {
        kinds[byte as usize] = match byte {
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' => LOWER,
            128.. => OTHER,
            _ => 0,
        };
        if byte == u8::MAX {
            break kinds;
        }
        byte += 1;
    }
};

/// Which kinds of letters a text has.
fn letters(text: &[u8]) -> u8 {
    text.iter().fold(0, |kinds, &byte| kinds | KINDS[byte as usize])
}

impl ByText {
    /// Whether an unjudged document may be a judged one in another spelling.
    pub(super) fn is_suspect(&self, doc: &[u8]) -> bool {
        letters(doc) & self.suspect != 0
    }
}

/// A judged document: where its identifier is in the arena, and its grade.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) text: u32,
    pub(super) grade: f64,
}

/// The judged documents of one query.
#[derive(Clone, Copy, Debug)]
pub struct JudgedQuery<'a> {
    pub(super) entries: &'a [Entry],
    pub(super) slots: &'a [u64],
    pub(super) classes: &'a [u64],
    pub(super) texts: &'a Arena,
}

/// How many classes there are for a judged document.
const CLASSES: usize = 16;

/// The word of a set of classes in which the class of a hash is, and its bit; other bits of the hash
/// than those that place it in a table.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the low bits are what is wanted
fn class_of(hash: u64, words: usize) -> (usize, u64) {
    ((hash >> 38) as usize & (words - 1), 1 << (hash >> 32 & 63))
}

impl JudgedQuery<'_> {
    /// Whether a document with this [`IdHasher`] hash may be judged: one bit rules out most others.
    #[inline]
    pub fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = class_of(hash, self.classes.len());
        self.classes[word] & bit != 0
    }

    /// Which of the judged documents a document with its [`IdHasher`] hash is, and its grade, if it is
    /// judged; ask [`JudgedQuery::may_have`] first.
    #[allow(clippy::cast_possible_truncation)] // judgments are counted in 32 bits
    pub fn find_document(&self, doc: &[u8], hash: u64) -> Option<(u32, f64)> {
        let is_same =
            |index: usize| is_same(self.texts.get(self.entries[index].text as usize), doc);
        let found = interner::find(self.slots, hash, is_same);
        found.map(|index| (index as u32, self.entries[index].grade))
    }
}

/// A judgment that was found at a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuilderRow {
    pub(super) query: u32,
    pub(super) text: u32,
    pub(super) grade: f64,
    pub(super) line: u64,
}

/// The tables of judgments while they are made.
pub(super) struct Tables {
    pub(super) texts: Arena,
    pub(super) entries: Vec<Entry>,
    pub(super) slots: Vec<u64>,
    pub(super) slot_offsets: Vec<usize>,
    pub(super) classes: Vec<u64>,
    pub(super) class_offsets: Vec<usize>,
    pub(super) hasher: IdHasher,
}

impl Tables {
    pub(super) fn with_room(queries: usize, judgments: usize) -> Self {
        Self {
            texts: Arena::default(),
            entries: Vec::with_capacity(judgments),
            slots: Vec::with_capacity(2 * judgments),
            slot_offsets: vec![0],
            classes: Vec::with_capacity(queries),
            class_offsets: vec![0],
            hasher: IdHasher::default(),
        }
    }

    pub(super) fn finish(self) -> ByText {
        let Self { texts, entries, slots, slot_offsets, classes, class_offsets, .. } = self;
        let is_of_one_case = texts.is_of_one_case();
        let first = texts.iter().take(SEARCHED).map(letters).find(|&kinds| kinds != 0);
        let suspect = match first {
            Some(UPPER) if is_of_one_case => LOWER | OTHER,
            Some(LOWER) if is_of_one_case => UPPER | OTHER,
            _ => UPPER | LOWER | OTHER,
        };
        ByText {
            entries,
            texts,
            slots,
            slot_offsets,
            classes,
            class_offsets,
            is_of_one_case,
            suspect,
        }
    }

    /// Makes room for the documents of one more query.
    fn open_query(&mut self, rows: usize) -> Open {
        let open = Open {
            first: self.entries.len(),
            slots: self.slots.len(),
            classes: self.classes.len(),
            words: (CLASSES * rows).div_ceil(64).next_power_of_two(),
        };
        self.slots.resize(open.slots + Slots::size_for(rows), 0);
        self.classes.resize(open.classes + open.words, 0);
        open
    }

    /// Adds a document of the open query by the number of its text, or finds it.
    fn insert(&mut self, open: &Open, text: u32, grade: f64) -> Option<usize> {
        let doc = self.texts.get(text as usize);
        let hash = self.hasher.hash(doc);
        let (word, bit) = class_of(hash, open.words);
        self.classes[open.classes + word] |= bit;
        let (entries, texts) = (&self.entries, &self.texts);
        let is_same = |index: usize| texts.get(entries[open.first + index].text as usize) == doc;
        let new = entries.len() - open.first;
        let seen = interner::insert(&mut self.slots[open.slots..], hash, new, is_same);
        if seen.is_none() {
            self.entries.push(Entry { text, grade });
        }
        seen.map(|index| open.first + index)
    }

    fn close_query(&mut self) {
        self.slot_offsets.push(self.slots.len());
        self.class_offsets.push(self.classes.len());
    }

    /// Adds all documents of judgments that differ within each query.
    #[allow(clippy::cast_possible_truncation)] // judgments are counted in 32 bits
    pub(super) fn add_numbered(&mut self, numbered: &Numbered, offsets: &[usize]) {
        let mut room = Decimal::default();
        for range in offsets.windows(2) {
            let open = self.open_query(range[1] - range[0]);
            for place in range[0]..range[1] {
                let code = numbered.codes[place] as usize;
                self.texts.push(numbered.docs.write(code, &mut room));
                self.insert(&open, place as u32, numbered.grades[place]);
            }
            self.close_query();
        }
    }

    pub(super) fn add_query(
        &mut self,
        query: &[u8],
        rows: &[BuilderRow],
        duplicates: Duplicates,
        notes: &mut Notes,
    ) -> Result<()> {
        let open = self.open_query(rows.len());
        for row in rows {
            let Some(seen) = self.insert(&open, row.text, row.grade) else { continue };
            let grade = self.entries[seen].grade;
            let doc = self.texts.get(row.text as usize);
            let find_earlier =
                || rows.iter().find(|&other| self.texts.get(other.text as usize) == doc);
            let kept = resolve(duplicates, (grade, row.grade), row.line, notes).map_err(|()| {
                let line = find_earlier().map_or(0, |row| row.line);
                judged_twice(query, doc, (line, grade), (row.line, row.grade))
            })?;
            self.entries[seen].grade = kept;
        }
        self.close_query();
        Ok(())
    }
}

/// Where the tables of the query begin to which documents are added.
struct Open {
    first: usize,
    slots: usize,
    classes: usize,
    words: usize,
}
