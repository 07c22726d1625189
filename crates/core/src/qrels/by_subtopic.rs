//! Reads judgments by subtopic, or by the stratum of which each document was sampled for judging.
//!
//! Beside the subtopics, each document has its highest grade of any of them, which is all that measures
//! see that know no subtopics.

use crate::error::{Error, Kind, Result, show};
use crate::ids::interner::Ids;
use crate::ids::vocabulary::{Vocabulary, extend_both};
use crate::notes::{Lines, Note, Notes};
use crate::policy::Duplicates;
use crate::qrels::duplicates::resolve;
use crate::qrels::judgments::{self, Judgments};
use crate::qrels::subtopics::{Second, Subtopics};
use crate::table::cells::{Cells, look_through};
use crate::table::columns::{IdColumn, check_all_finite, check_lengths};
use crate::text::blocks::{Block, Blocks};
use crate::text::source::Input;
use crate::text::split::Tape;
use crate::text::trec;
use crate::watch::{Event, Watch};

/// Collects judgments by subtopic in any order.
#[derive(Debug, Default)]
pub struct Builder {
    queries: Ids,
    subtopics: Ids,
    docs: Ids,
    rows: Vec<Row>,
}

/// One judgment, by the numbers of its identifiers.
#[derive(Clone, Copy, Debug)]
struct Row {
    query: u32,
    subtopic: u32,
    doc: u32,
    grade: f64,
    line: u64,
}

fn code(number: usize) -> Result<u32> {
    u32::try_from(number)
        .map_err(|_| Error::new(Kind::Limit, "memory", "expected fewer than 2^32 judgments"))
}

impl Builder {
    /// Names a query, so that it is known even if nothing of it is judged.
    pub fn add_query(&mut self, query: &[u8]) {
        self.queries.number(query);
    }

    /// Adds a judgment that was found at a line.
    pub fn add(
        &mut self,
        (query, subtopic, doc): (&[u8], &[u8], &[u8]),
        grade: f64,
        line: u64,
    ) -> Result<()> {
        self.rows.push(Row {
            query: code(self.queries.number(query))?,
            subtopic: code(self.subtopics.number(subtopic))?,
            doc: code(self.docs.number(doc))?,
            grade,
            line,
        });
        Ok(())
    }

    /// Makes the tables.
    ///
    /// # Errors
    /// Where there are no judgments, or a document is judged twice and differently for one subtopic.
    pub fn finish(self, second: Second, duplicates: Duplicates, notes: Notes) -> Result<Judgments> {
        let Self { queries, subtopics, docs, rows } = self;
        let names = [queries, subtopics, docs].map(Vocabulary::Texts);
        finish(&names, rows, (second, duplicates), notes)
    }
}

/// Reads qrels whose second field is the subtopic, or those of five fields whose fourth one is the
/// stratum; `watch` learns how far the reading is.
pub fn read(
    input: &Input,
    (second, duplicates): (Second, Duplicates),
    watch: Watch<'_>,
) -> Result<Judgments> {
    let name = input.name();
    let mut blocks = Blocks::new(input.open(watch)?, watch)?;
    let (mut builder, mut notes, mut lines) =
        (Builder::default(), Notes::default(), Lines::default());
    let (mut block, mut tape, mut before) = (Block::default(), Tape::default(), 0);
    if blocks.had_bom {
        notes.add(Note::Bom, (0, 1));
    }
    while blocks.next(&mut block, watch).map_err(|error| error.after_lines(before))? {
        let number = block.number;
        let add = |query: &[u8], subtopic: &[u8], doc: &[u8], grade: f64, line: u64| {
            builder.add((query, subtopic, doc), grade, before + line)
        };
        let read = match second {
            Second::Subtopic => trec::read_qrels(block.text(), number, &mut tape, &mut notes, add),
            Second::Stratum => {
                trec::read_sampled_qrels(block.text(), number, &mut tape, &mut notes, add)
            }
        };
        let count = read.map_err(|error| error.after_lines(before).file(&name))?;
        lines.set(number, count);
        before += count;
        watch(Event::Read(blocks.consumed()))?;
    }
    notes.resolve(&lines);
    builder.finish(second, duplicates, notes).map_err(|error| error.file(&name))
}

/// Judgments from columns of queries, subtopics, documents and grades.
///
/// # Errors
/// Where the columns differ in length or hold what is no identifier or grade, or as
/// [`Builder::finish`]; lines are 1-based rows.
pub fn from_columns(
    [queries, subtopics, docs]: [IdColumn<'_>; 3],
    grades: &dyn Cells<f64>,
    choices: (Second, Duplicates),
    threads: usize,
) -> Result<Judgments> {
    check_lengths(&[queries.len(), subtopics.len(), docs.len(), grades.len()])?;
    let mut notes = Notes::default();
    let none = Vocabulary::default();
    let [queries, docs] = extend_both([(&none, &queries), (&none, &docs)], threads)?;
    let subtopics = none.extend(&subtopics, threads)?;
    let mut rows = Vec::with_capacity(grades.len());
    let mistake = look_through(grades, 0..grades.len(), |start, block| {
        let checked = check_all_finite(start, block.iter().copied(), "rel", "grade");
        if let Err(error) = checked {
            return Some(error);
        }
        for (row, &grade) in (start..).zip(block) {
            let line = row as u64 + 1;
            notes.add_grade(grade, (0, line));
            let (query, subtopic, doc) = (queries.0[row], subtopics.0[row], docs.0[row]);
            rows.push(Row { query, subtopic, doc, grade: grade + 0.0, line });
        }
        None
    });
    match mistake {
        Some(error) => Err(error),
        None => finish(&[queries.1, subtopics.1, docs.1], rows, choices, notes),
    }
}

fn finish(
    names: &[Vocabulary; 3],
    mut rows: Vec<Row>,
    (second, duplicates): (Second, Duplicates),
    mut notes: Notes,
) -> Result<Judgments> {
    let [queries, subtopics, docs] = names;
    rows.sort_by(|one, other| {
        let key = |row: &Row| (row.query, row.doc, row.subtopic);
        key(one).cmp(&key(other))
    });
    let mut plain = judgments::Builder::default();
    (0..queries.len()).for_each(|query| plain.add_query(&queries.get(query)));
    let counts = vec![0; queries.len()];
    let mut made = Subtopics { second, counts, ..Subtopics::default() };
    made.offsets.push(0);
    for of_query in rows.chunk_by(|one, other| one.query == other.query) {
        let query = of_query[0].query as usize;
        let mut known: Vec<u32> = of_query.iter().map(|row| row.subtopic).collect();
        known.sort_unstable();
        known.dedup();
        known.sort_by(|&one, &other| {
            subtopics.get(one as usize).cmp(&subtopics.get(other as usize))
        });
        made.counts[query] = code(known.len())?;
        let mut judged: Vec<u32> = Vec::new();
        for of_doc in of_query.chunk_by(|one, other| one.doc == other.doc) {
            let first = made.numbers.len();
            for twice in of_doc.chunk_by(|one, other| one.subtopic == other.subtopic) {
                let grade = join(names, twice, duplicates, &mut notes)?;
                let number = known.iter().position(|&known| known == twice[0].subtopic);
                made.numbers.push(code(number.unwrap_or(0))?);
                made.grades.push(grade);
            }
            if second == Second::Stratum && made.numbers.len() > first + 1 {
                return Err(of_two_strata(names, of_doc));
            }
            sort_subtopics(&mut made.numbers[first..], &mut made.grades[first..]);
            made.offsets.push(made.numbers.len());
            let grade = made.grades[first..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let Row { doc, line, .. } = of_doc[0];
            plain.add(&queries.get(query), &docs.get(doc as usize), grade, line)?;
            judged.push(doc);
        }
        let mut descending: Vec<usize> = (0..judged.len()).collect();
        descending.sort_by(|&one, &other| {
            docs.get(judged[other] as usize).cmp(&docs.get(judged[one] as usize))
        });
        let start = made.order.len();
        made.order.resize(start + judged.len(), 0);
        for (place, doc) in (0..).zip(descending) {
            made.order[start + doc] = place;
        }
    }
    Ok(plain.finish(Duplicates::Error, notes)?.with_subtopics(made))
}

/// The error for a document that is in two strata.
fn of_two_strata([queries, strata, docs]: &[Vocabulary; 3], rows: &[Row]) -> Error {
    let last = &rows[rows.len() - 1];
    let doc = docs.get(last.doc as usize);
    let [one, other] = [&rows[0], last].map(|row| strata.get(row.subtopic as usize));
    let message = format!(
        "expected one stratum for document `{}` of query `{}`, found `{}` and `{}`",
        show(&doc),
        show(&queries.get(last.query as usize)),
        show(&one),
        show(&other),
    );
    Error::new(Kind::Duplicate, "duplicate_conflict", message)
        .hint("keep the row of the stratum from which the document was sampled")
        .line(last.line)
        .value(&doc)
}

/// Puts the judgments of one document in the order of subtopics.
fn sort_subtopics(numbers: &mut [u32], grades: &mut [f64]) {
    let mut pairs: Vec<(u32, f64)> = numbers.iter().copied().zip(grades.iter().copied()).collect();
    pairs.sort_unstable_by_key(|pair| pair.0);
    for (at, (number, grade)) in pairs.into_iter().enumerate() {
        (numbers[at], grades[at]) = (number, grade);
    }
}

/// The grade of judgments of one document for one subtopic.
fn join(
    [queries, subtopics, docs]: &[Vocabulary; 3],
    rows: &[Row],
    duplicates: Duplicates,
    notes: &mut Notes,
) -> Result<f64> {
    let mut grade = rows[0].grade;
    for row in &rows[1..] {
        grade = resolve(duplicates, (grade, row.grade), row.line, notes).map_err(|()| {
            let doc = docs.get(row.doc as usize);
            let message = format!(
                "expected one grade for document `{}` of query `{}` and subtopic `{}`, found {} in \
                 line {} and {} in line {}",
                show(&doc),
                show(&queries.get(row.query as usize)),
                show(&subtopics.get(row.subtopic as usize)),
                grade,
                rows[0].line,
                row.grade,
                row.line,
            );
            Error::new(Kind::Duplicate, "duplicate_conflict", message)
                .hint("keep one of them, or say duplicates=\"first\" or \"max\"")
                .line(row.line)
                .value(&doc)
        })?;
    }
    Ok(grade)
}
