//! Judgments: the documents of each query and their grades, indexed for lookup.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::ids::folded::Folded;
use crate::ids::interner::{Arena, Ids};
use crate::ids::vocabulary::Vocabulary;
use crate::notes::{Lines, Note, Notes};
use crate::policy::Duplicates;
use crate::qrels::axis::{Axis, Names};
use crate::qrels::by_text::{BuilderRow, ByText, Entry, JudgedQuery, Tables};
use crate::qrels::numbered::{self, Numbered, no_judgments};
use crate::qrels::subtopics::Subtopics;
use crate::saved::{self, What, require, require_offsets};
use crate::table::cells::{Cells, look_through};
use crate::table::columns::{IdColumn, check_all_finite, check_lengths, check_texts, slice};
use crate::text::blocks::{Block, Blocks};
use crate::text::fields::is_same;
use crate::text::source::Input;
use crate::text::split::Tape;
use crate::text::trec;
use crate::watch::{Event, Watch};

/// The judgments of many queries; immutable. They are kept in the form that they came in, and in the
/// other one from when it is first asked for.
#[derive(Debug)]
pub struct Judgments {
    axis: Arc<Axis>,
    by_text: OnceLock<ByText>,
    by_number: OnceLock<Numbered>,
    notes: Notes,
}

/// What is saved of judgments.
#[derive(Serialize, Deserialize)]
struct Saved<'a> {
    names: Cow<'a, Names>,
    notes: Cow<'a, Notes>,
    numbered: Cow<'a, Numbered>,
    offsets: Cow<'a, [usize]>,
    subtopics: Cow<'a, Option<Subtopics>>,
}

/// What the second column of qrels holds, which is a subtopic where there are several of them.
#[derive(Debug, Default)]
struct SecondColumn {
    first: Vec<u8>,
    differs: bool,
}

impl SecondColumn {
    #[inline]
    fn see(&mut self, field: &[u8]) {
        if !is_same(&self.first, field) {
            self.differs |= !self.first.is_empty();
            self.first = field.to_vec();
        }
    }

    /// Refuses judgments that have a document several times, each time with another subtopic.
    fn check(&self, made: Judgments) -> Result<Judgments> {
        let again = made.notes.iter().find(|(code, ..)| code.starts_with("duplicate"));
        match again.filter(|_| self.differs) {
            Some((.., line)) => Err(of_subtopics().line(line)),
            None => Ok(made),
        }
    }

    fn explain(&self, error: Error) -> Error {
        if self.differs && error.code() == "duplicate_conflict" {
            return of_subtopics().line(error.place().line.unwrap_or(0));
        }
        error
    }
}

/// The error for judgments of subtopics that are taken for others.
fn of_subtopics() -> Error {
    Error::new(
        Kind::Duplicate,
        "subtopics_found",
        "expected one line for each query and document, found several with different numbers in \
         the second column, as in judgments of subtopics",
    )
    .hint(
        "say subtopics=True or --subtopics; measures that know no subtopics then take the highest \
         grade of each document",
    )
}

/// So many unjudged documents of a list are compared with the judged ones.
pub const MOST_SUSPECTS: usize = 100;

impl Judgments {
    /// Reads qrels; `watch` learns how far the reading is, and may stop it.
    pub fn read(input: &Input, duplicates: Duplicates, watch: Watch<'_>) -> Result<Self> {
        let name = input.name();
        let mut blocks = Blocks::new(input.open(watch)?, watch)?;
        let mut builder = Builder::default();
        let mut notes = Notes::default();
        let mut lines = Lines::default();
        let mut block = Block::default();
        let mut tape = Tape::default();
        let mut before = 0;
        let mut topics = SecondColumn::default();
        if blocks.had_bom {
            notes.add(Note::Bom, (0, 1));
        }
        while blocks.next(&mut block, watch).map_err(|error| error.after_lines(before))? {
            let number = block.number;
            let add = |query: &[u8], subtopic: &[u8], doc: &[u8], grade: f64, line: u64| {
                topics.see(subtopic);
                builder.add(query, doc, grade, before + line)
            };
            let count = trec::read_qrels(block.text(), number, &mut tape, &mut notes, add)
                .map_err(|error| error.after_lines(before).file(&name))?;
            lines.set(number, count);
            before += count;
            watch(Event::Read(blocks.consumed()))?;
        }
        notes.resolve(&lines);
        let made = builder.finish(duplicates, notes).and_then(|made| topics.check(made));
        made.map_err(|error| topics.explain(error).file(&name))
    }

    /// The same judgments, beside which there are subtopics.
    pub fn with_subtopics(mut self, subtopics: Subtopics) -> Self {
        // They were just made, so nobody else has them.
        if let Some(axis) = Arc::get_mut(&mut self.axis) {
            axis.set_subtopics(Some(subtopics));
        }
        self
    }

    /// The judged queries, in first-seen order, and the grades of each.
    pub fn axis(&self) -> &Arc<Axis> {
        &self.axis
    }

    /// The number of a query, if it is judged.
    #[inline]
    pub fn find_query(&self, query: &[u8]) -> Option<usize> {
        self.axis.find(query)
    }

    /// The judged documents of one query, ready for many look-ups.
    #[inline]
    pub fn of_query(&self, query: usize) -> JudgedQuery<'_> {
        let offsets = self.axis.offsets();
        let made = self.by_text();
        JudgedQuery {
            entries: &made.entries[offsets[query]..offsets[query + 1]],
            slots: &made.slots[made.slot_offsets[query]..made.slot_offsets[query + 1]],
            classes: &made.classes[made.class_offsets[query]..made.class_offsets[query + 1]],
            texts: &made.texts,
        }
    }

    fn by_text(&self) -> &ByText {
        self.by_text.get_or_init(|| {
            let mut tables = Tables::with_room(self.axis.len(), self.axis.judged());
            if let Some(numbered) = self.by_number.get() {
                tables.add_numbered(numbered, self.axis.offsets());
            }
            tables.finish()
        })
    }

    /// The same judgments by the numbers of documents.
    pub fn by_number(&self) -> &Numbered {
        self.by_number.get_or_init(|| self.by_text.get().map_or_else(Numbered::default, number))
    }

    /// The bytes from which [`Judgments::restore`] makes them again.
    pub fn save(&self) -> Vec<u8> {
        let numbered = match (self.by_number.get(), self.by_text.get()) {
            (Some(numbered), _) => Cow::Borrowed(numbered),
            (None, Some(by_text)) => Cow::Owned(number(by_text)),
            (None, None) => Cow::default(),
        };
        let saved = Saved {
            names: Cow::Borrowed(self.axis.names_of()),
            notes: Cow::Borrowed(&self.notes),
            numbered,
            offsets: Cow::Borrowed(self.axis.offsets()),
            subtopics: Cow::Owned(self.axis.subtopics().cloned()),
        };
        saved::save(What::Judgments, &saved)
    }

    /// Reads judgments that were saved.
    pub fn restore(bytes: &[u8], threads: usize) -> Result<Self> {
        let saved: Saved<'_> = saved::restore(What::Judgments, bytes)?;
        let (names, numbered) = (saved.names.into_owned(), saved.numbered.into_owned());
        let (offsets, subtopics) = (saved.offsets.into_owned(), saved.subtopics.into_owned());
        numbered.validate()?;
        require_offsets(&offsets, numbered.codes.len())?;
        require(offsets.len() - 1 == names.len())?;
        for ends in offsets.windows(2) {
            let mut of_query = numbered.codes[ends[0]..ends[1]].to_vec();
            of_query.sort_unstable();
            require(of_query.is_sorted_by(|one, other| one < other))?;
        }
        subtopics.iter().try_for_each(|subtopics| subtopics.validate(&offsets))?;
        let mut axis = Axis::new(names, offsets, numbered.grades.clone(), threads);
        axis.set_subtopics(subtopics);
        Ok(Self {
            axis: Arc::new(axis),
            by_text: OnceLock::new(),
            by_number: OnceLock::from(numbered),
            notes: saved.notes.into_owned(),
        })
    }

    /// The judged documents of one query and their grades, in no order.
    pub fn documents(&self, query: usize) -> Vec<(Cow<'_, [u8]>, f64)> {
        let range = self.axis.offsets()[query]..self.axis.offsets()[query + 1];
        if let Some(ByText { entries, texts, .. }) = self.by_text.get() {
            let text = |entry: &Entry| Cow::Borrowed(texts.get(entry.text as usize));
            return entries[range].iter().map(|entry| (text(entry), entry.grade)).collect();
        }
        let Numbered { docs, codes, grades } = self.by_number();
        let texts = codes[range.clone()].iter().map(|&code| docs.get(code as usize));
        texts.zip(grades[range].iter().copied()).collect()
    }

    /// What was suspicious but legal.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }
}

/// Judged documents by their numbers.
fn number(ByText { entries, texts, .. }: &ByText) -> Numbered {
    let mut docs = Ids::default();
    let number = |entry: &Entry| docs.number(texts.get(entry.text as usize));
    #[allow(clippy::cast_possible_truncation)] // judgments are counted in 32 bits
    let codes = entries.iter().map(number).map(|code| code as u32).collect();
    let grades = entries.iter().map(|entry| entry.grade).collect();
    Numbered { docs: Vocabulary::Texts(docs), codes, grades }
}

/// Collects judgments in any order.
#[derive(Debug, Default)]
pub struct Builder {
    queries: Ids,
    texts: Arena,
    rows: Vec<BuilderRow>,
    last_query: usize,
}
impl Builder {
    /// Names a query, so that it is known even if nothing of it is judged.
    pub fn add_query(&mut self, query: &[u8]) {
        self.last_query = self.queries.number(query);
    }

    /// Adds a judgment that was found at a line.
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
    pub fn finish(self, duplicates: Duplicates, notes: Notes) -> Result<Judgments> {
        let Self { queries, texts, rows, .. } = self;
        assemble(Vocabulary::Texts(queries), texts, rows, duplicates, notes)
    }
}

/// Judgments of rows whose queries have numbers, and whose documents are texts.
fn assemble(
    queries: Vocabulary,
    texts: Arena,
    rows: Vec<BuilderRow>,
    duplicates: Duplicates,
    mut notes: Notes,
) -> Result<Judgments> {
    if rows.is_empty() {
        return Err(no_judgments());
    }
    let count = queries.len();
    let grouped = group_by_query(rows, count);
    let mut tables = Tables { texts, ..Tables::with_room(count, grouped.rows.len()) };
    let mut offsets = vec![0];
    for query in 0..count {
        let name = queries.get(query);
        tables.add_query(&name, grouped.of_query(query), duplicates, &mut notes)?;
        offsets.push(tables.entries.len());
    }
    let grades = tables.entries.iter().map(|entry| entry.grade).collect();
    let axis = Arc::new(Axis::new(Names::Known(queries), offsets, grades, 1));
    let by_text = OnceLock::from(tables.finish());
    let mut made = Judgments { axis, by_text, by_number: OnceLock::new(), notes };
    made.note_equal_ids();
    Ok(made)
}

impl Judgments {
    /// Judgments from columns of queries, documents and grades.
    pub fn from_columns(
        queries: IdColumn<'_>,
        docs: IdColumn<'_>,
        grades: &dyn Cells<f64>,
        duplicates: Duplicates,
        threads: usize,
    ) -> Result<Self> {
        if let IdColumn::Texts { offsets, bytes } = docs {
            return Self::from_texts(queries, (offsets, bytes), grades, duplicates, threads);
        }
        let (axis, numbered, notes) =
            numbered::from_columns(queries, docs, grades, duplicates, threads)?;
        Ok(Self::of_numbers(axis, numbered, notes))
    }

    /// Documents that are texts are kept by them.
    #[allow(clippy::cast_possible_truncation)] // judgments are counted in 32 bits
    fn from_texts(
        queries: IdColumn<'_>,
        (offsets, bytes): (&[i64], &[u8]),
        grades: &dyn Cells<f64>,
        duplicates: Duplicates,
        threads: usize,
    ) -> Result<Self> {
        check_lengths(&[queries.len(), offsets.len().saturating_sub(1), grades.len()])?;
        let (codes, names) = Vocabulary::number(&queries, threads)?;
        check_texts(offsets, bytes, threads)?;
        let (mut texts, mut rows) = (Arena::default(), Vec::with_capacity(codes.len()));
        let mut notes = Notes::default();
        let refused = look_through(grades, 0..grades.len(), |start, block| {
            if let Err(refused) = check_all_finite(start, block.iter().copied(), "rel", "grade") {
                return Some(refused);
            }
            for (row, &grade) in (start..).zip(block) {
                let line = row as u64 + 1;
                notes.add_grade(grade, (0, line));
                texts.push(slice(bytes, offsets[row], offsets[row + 1]).unwrap_or_default());
                rows.push(BuilderRow {
                    query: codes[row],
                    text: row as u32,
                    grade: grade + 0.0,
                    line,
                });
            }
            None
        });
        refused.map_or_else(|| assemble(names, texts, rows, duplicates, notes), Err)
    }

    /// No judgments, which a part of the queries may have.
    pub fn none() -> Self {
        let names = Names::Known(Vocabulary::default());
        let axis = Axis::new(names, vec![0], Vec::new(), 1);
        Self::of_numbers(axis, Numbered::default(), Notes::default())
    }

    /// Judgments of an axis by the numbers of documents, by the offsets of the axis.
    fn of_numbers(axis: Axis, numbered: Numbered, notes: Notes) -> Self {
        let is_text = matches!(numbered.docs, Vocabulary::Texts(_));
        let are_alike = is_text && numbered.docs.count_alike() > 0;
        let mut made = Self {
            axis: Arc::new(axis),
            by_text: OnceLock::new(),
            by_number: OnceLock::from(numbered),
            notes,
        };
        if are_alike || made.axis.ids().is_some_and(|ids| ids.count_alike() > 0) {
            made.note_equal_ids();
        }
        made
    }

    /// How many documents of a query are judged in another spelling: equal but for case or Unicode form.
    /// Only the first ones are looked at, which a ranker thinks are the best.
    pub fn count_alike<'a>(
        &self,
        query: usize,
        unjudged: impl Iterator<Item = &'a [u8]>,
        folded: &mut Folded,
    ) -> u64 {
        let by_text = self.by_text();
        let suspects: Vec<&[u8]> =
            unjudged.take(MOST_SUSPECTS).filter(|doc| by_text.is_suspect(doc)).collect();
        if suspects.is_empty() {
            return 0;
        }
        let JudgedQuery { entries, texts, .. } = self.of_query(query);
        let judged: Vec<&[u8]> =
            entries.iter().map(|entry| texts.get(entry.text as usize)).collect();
        // Few have the same end, and most lists have none.
        let suspects = with_ends(&suspects, &judged);
        let judged = with_ends(&judged, &suspects);
        let (few, many) = (judged.len(), suspects.len());
        count_common(folded, (judged.into_iter(), few), (suspects.into_iter(), many))
    }

    /// Notes identifiers that a person would take for one: equal but for case or Unicode form.
    fn note_equal_ids(&mut self) {
        let mut folded = Folded::default();
        let mut equal = 0;
        if let Some(queries) = self.axis.ids() {
            equal += queries.count_alike();
        }
        let queries = if self.by_text().is_of_one_case { 0 } else { self.axis.len() };
        for query in 0..queries {
            let JudgedQuery { entries, texts, .. } = self.of_query(query);
            let docs = entries.iter().map(|entry| texts.get(entry.text as usize));
            equal += folded.count_alike(docs, entries.len());
        }
        self.notes.add_many(Note::EqualAfterNormalisation, equal, (0, 0));
    }
}

/// Those of some texts whose end, but for case, others have.
fn with_ends<'a>(texts: &[&'a [u8]], others: &[&[u8]]) -> Vec<&'a [u8]> {
    const END: usize = 8;
    let end = |text: &&[u8]| {
        let last = &text[text.len().saturating_sub(END)..];
        // In another Unicode form, bytes are others.
        let is_known = text.is_ascii();
        last.iter().fold(0, |end, byte| end << 8 | u64::from((byte | 32) * u8::from(is_known)))
    };
    let ends: Vec<u64> = others.iter().map(end).collect();
    texts.iter().copied().filter(|text| ends.contains(&end(text))).collect()
}

/// How many of some texts a person would take for one of some others; both with their numbers.
pub fn count_common<'a>(
    folded: &mut Folded,
    (some, few): (impl Iterator<Item = &'a [u8]> + Clone, usize),
    (others, many): (impl Iterator<Item = &'a [u8]> + Clone, usize),
) -> u64 {
    if few == 0 || many == 0 {
        return 0;
    }
    let apart = folded.count_alike(some.clone(), few) + folded.count_alike(others.clone(), many);
    folded.count_alike(some.chain(others), few + many) - apart
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
        rows.sort_by_key(|one| one.query);
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
