//! Rows with scores and grades, grouped by query.

use std::ops::Range;

use crate::error::Result;
use crate::ids::interner::{Arena, Ids};
use crate::ids::vocabulary::{Vocabulary, extend_both};
use crate::notes::{Note, Notes};
use crate::number::decimal::Decimal;
use crate::number::levels::Level;
use crate::policy::Duplicates;
use crate::qrels::attributes::Attributes;
use crate::qrels::axis::Names;
use crate::qrels::duplicates::occurs_again;
use crate::qrels::grades::Grades;
use crate::rank::join::Joiner;
use crate::rank::ranks::note_ranks;
use crate::rank::run::no_rows;
use crate::table::cells::Cells;
use crate::table::columns::{
    IdColumn, check_all_finite, check_finite, check_lengths, check_texts, outside_of_text, slice,
};
use crate::table::group::{Grouped, group};
use crate::text::list::{List, Row};
use crate::threads;

/// A table whose rows hold a score and a grade each, in any order.
#[derive(Debug)]
pub struct Table<'a> {
    /// The query of each row, or each query once.
    pub queries: IdColumn<'a>,
    /// Which of the queries each row has, where each is there once.
    pub places: Option<&'a dyn Cells<i32>>,
    /// The document of each row, where rows have identifiers.
    pub docs: Option<IdColumn<'a>>,
    /// The grade of each row, NaN where unjudged.
    pub relevance: &'a dyn Cells<f64>,
    /// The score of each row, or its rank below zero.
    pub scores: &'a dyn Cells<f64>,
    /// Whether scores are ranks below zero.
    pub are_ranks: bool,
    /// The rank of each row beside its score.
    pub ranks: Option<&'a dyn Cells<f64>>,
    /// Names and columns of what is the same in all rows of a query.
    pub attributes: Vec<(&'a str, IdColumn<'a>)>,
}

impl Table<'_> {
    /// The number of the query of each row, and what the queries are called.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // places outside are refused
    fn number_queries(&self, threads: usize) -> Result<(Vec<u32>, Vocabulary)> {
        let Some(cells) = self.places else { return Vocabulary::number(&self.queries, threads) };
        let mut places = vec![0; cells.len()];
        cells.read(0, &mut places);
        let (mut names, mut room) = (Ids::default(), Decimal::default());
        let mut known = vec![None; self.queries.len()];
        let codes = places.into_iter().zip(1..).map(|(place, line)| {
            let known = known.get_mut(place as usize).ok_or_else(outside_of_text)?;
            if known.is_none() {
                let query = self.queries.get(place as usize, &mut room);
                *known = Some(names.number(query.map_err(|error| error.line(line))?) as u32);
            }
            Ok(known.unwrap_or_default())
        });
        Ok((codes.collect::<Result<_>>()?, Vocabulary::Texts(names)))
    }
}

/// Rows of queries that hold both scores and grades.
#[derive(Debug)]
pub struct Columns {
    /// What the queries are called.
    pub names: Names,
    /// Rows of query q are `offsets[q]..offsets[q + 1]`.
    pub offsets: Vec<usize>,
    /// The grade of each row.
    pub relevance: Grades,
    /// The score of each row.
    pub scores: Vec<f64>,
    /// Whether scores are ranks below zero.
    pub are_ranks: bool,
    /// The document of each row, and what the documents are called, where rows have identifiers.
    pub docs: Option<(Vec<u32>, Vocabulary)>,
    /// All judged grades of each query, by offsets of their own; those of the rows where left out.
    pub ideal: Option<(Vec<usize>, Vec<f64>)>,
    /// Whether the rows of each query were together.
    pub is_grouped: bool,
    /// What is known of each query besides.
    pub attributes: Attributes,
    /// What was suspicious but legal.
    pub notes: Notes,
}

impl Columns {
    /// Brings the rows of each query together. Documents are numbered where `numbers_docs`, and where they
    /// are integers or may occur again; else each row has one of its own, which is all that the values
    /// of measures need to know.
    ///
    /// # Errors
    /// Where the columns do not fit, a value is no number, a document occurs twice, or an attribute
    /// differs within a query; lines are 1-based rows.
    pub fn collect(
        table: &Table<'_>,
        duplicates: Duplicates,
        numbers_docs: bool,
        threads: usize,
    ) -> Result<Self> {
        let docs_length = table.docs.map_or(table.scores.len(), |docs| docs.len());
        let queries_length = table.places.map_or(table.queries.len(), Cells::len);
        let lengths = [queries_length, docs_length, table.relevance.len(), table.scores.len()];
        let others = table.attributes.iter().map(|(_, column)| column.len());
        let ranks = table.ranks.iter().map(|ranks| ranks.len());
        check_lengths(&lengths.into_iter().chain(ranks).chain(others).collect::<Vec<_>>())?;
        if table.scores.is_empty() {
            return Err(no_rows());
        }
        let none = Vocabulary::default();
        let texts = match table.docs {
            Some(IdColumn::Texts { offsets, bytes })
                if !numbers_docs && duplicates == Duplicates::Error =>
            {
                Some((offsets, bytes))
            }
            _ => None,
        };
        let (queries, docs) = match (table.docs, texts) {
            (Some(_), Some((offsets, bytes))) => {
                let queries = table.number_queries(threads)?;
                check_texts(offsets, bytes, threads)?;
                (queries, None)
            }
            (Some(docs), None) if table.places.is_some() => {
                (table.number_queries(threads)?, Some(none.extend(&docs, threads)?))
            }
            (Some(docs), None) => {
                let pairs = [(&none, &table.queries), (&none, &docs)];
                let [queries, docs] = extend_both(pairs, threads)?;
                (queries, Some(docs))
            }
            (None, _) => (table.number_queries(threads)?, None),
        };
        let (codes, names) = queries;
        let names = Names::Known(names);
        let mut attributes = Attributes::default();
        for (name, column) in &table.attributes {
            attributes.add(name, column, &codes, &names)?;
        }
        let grouped = group(codes, names.len(), threads);
        let (grades, scores) = threads::both(
            threads,
            || read_grades(table.relevance, &grouped),
            || read_scores(table.scores, &grouped),
        );
        let ((relevance, noted), scores) = match (grades, scores) {
            (Err(grade), Err(score)) => {
                let is_later = grade.place().line > score.place().line;
                return Err(if is_later { score } else { grade });
            }
            (grades, scores) => (grades?, scores?),
        };
        let docs = match texts {
            Some((offsets, bytes)) => {
                let docs = Vocabulary::Texts(Ids::listed(Arena::copied(offsets, bytes)));
                Some((grouped.all_rows(), docs))
            }
            None => docs.map(|(codes, docs)| (grouped.arrange_all(&codes), docs)),
        };
        let mut made = Self {
            names,
            relevance,
            scores,
            are_ranks: table.are_ranks,
            docs,
            ideal: None,
            is_grouped: grouped.is_grouped(),
            attributes,
            notes: Notes::default(),
            offsets: grouped.offsets.clone(),
        };
        if let Some(ranks) = table.ranks {
            note_ranks(ranks, &made.scores, &grouped, &mut made.notes);
        }
        let dropped = match texts {
            Some(texts) => made.check_distinct(texts, threads).map(|()| 0)?,
            None => made.resolve(&grouped, duplicates)?,
        };
        made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
        made.notes.merge(&noted);
        Ok(made)
    }

    /// Refuses documents that occur again in a query, where each row has one of its own.
    fn check_distinct(&self, (offsets, bytes): (&[i64], &[u8]), threads: usize) -> Result<()> {
        let Some((rows, _)) = &self.docs else { return Ok(()) };
        let find = |queries: Range<usize>| {
            let (mut joiner, mut list) = (Joiner::default(), List::default());
            queries.into_iter().find_map(|query| {
                list.begin(&[]);
                list.rows.extend(rows[self.offsets[query]..self.offsets[query + 1]].iter().map(
                    |&row| {
                        let ends = &offsets[row as usize..][..2];
                        let doc = slice(bytes, ends[0], ends[1]).unwrap_or_default();
                        Row { doc, score: 0.0, line: u64::from(row) + 1 }
                    },
                ));
                let error = joiner.check_distinct(&list).err()?;
                let line = error.place().line.unwrap_or_default();
                let again = list.rows.iter().find(|row| row.line == line)?;
                Some(occurs_again(again.doc, &self.names.get(query), line))
            })
        };
        let found = threads::on_each(threads::cut(&self.offsets, threads), find);
        found.into_iter().flatten().next().map_or(Ok(()), Err)
    }

    /// Refuses or drops documents that occur again in a query; says how many it dropped.
    fn resolve(&mut self, grouped: &Grouped, duplicates: Duplicates) -> Result<u64> {
        let Some((codes, docs)) = &self.docs else { return Ok(0) };
        let mut seen_at = vec![usize::MAX; docs.len()];
        let mut again = Vec::new();
        for (query, range) in self.offsets.windows(2).enumerate() {
            for place in range[0]..range[1] {
                let seen = &mut seen_at[codes[place] as usize];
                if *seen == usize::MAX || *seen < range[0] {
                    *seen = place;
                    continue;
                }
                if duplicates == Duplicates::Error {
                    let doc = docs.get(codes[place] as usize);
                    let row = grouped.row(place) as u64 + 1;
                    return Err(occurs_again(&doc, &self.names.get(query), row));
                }
                if duplicates == Duplicates::Max {
                    self.scores[*seen] = self.scores[*seen].max(self.scores[place]);
                    self.relevance.keep_larger(*seen, place);
                }
                again.push(place);
            }
        }
        self.drop_rows(&again);
        Ok(again.len() as u64)
    }

    /// Drops rows, given in ascending order.
    fn drop_rows(&mut self, rows: &[usize]) {
        if rows.is_empty() {
            return;
        }
        match &mut self.relevance {
            Grades::Levels(levels) => drop_from(levels, rows),
            Grades::Doubles(grades) => drop_from(grades, rows),
        }
        drop_from(&mut self.scores, rows);
        if let Some((codes, _)) = &mut self.docs {
            drop_from(codes, rows);
        }
        for offset in &mut self.offsets {
            *offset -= rows.partition_point(|row| row < offset);
        }
    }
}

/// Grades in the order of the groups, in a byte each where all of them are levels, and notes on them.
fn read_grades(grades: &dyn Cells<f64>, grouped: &Grouped) -> Result<(Grades, Notes)> {
    let levels =
        grouped.arrange(grades, |_, block, levels| Level::read_all(block, levels).ok_or(()));
    let mut noted = Notes::default();
    if let Ok(levels) = levels {
        let missing = levels.iter().filter(|level| level.is_unjudged()).count();
        noted.add_many(Note::MissingGrades, missing as u64, (0, 0));
        return Ok((Grades::Levels(levels), noted));
    }
    let grades = grouped.arrange(grades, |start, block, out| {
        out.copy_from_slice(block);
        let known = block.iter().map(|&grade| if grade.is_nan() { 0.0 } else { grade });
        check_all_finite(start, known, "rel", "grade")?;
        for &grade in block {
            noted.add_grade(grade, (0, 0));
        }
        Ok(())
    });
    grades.map(|grades| (Grades::Doubles(grades), noted))
}

/// Scores in the order of the groups.
fn read_scores(scores: &dyn Cells<f64>, grouped: &Grouped) -> Result<Vec<f64>> {
    grouped.arrange(scores, |start, block, out| {
        out.copy_from_slice(block);
        check_all_finite(start, block.iter().copied(), "score", "score")
    })
}

fn drop_from<T: Copy>(column: &mut Vec<T>, rows: &[usize]) {
    let mut next = rows.iter().copied().peekable();
    let mut at = 0;
    column.retain(|_| {
        at += 1;
        next.next_if_eq(&(at - 1)).is_none()
    });
}

/// Refuses scores and grades that are no numbers; a NaN grade is an unjudged document.
///
/// # Errors
/// Where one is none; the line is the 1-based row.
pub fn check_values(relevance: &Grades, scores: &[f64]) -> Result<()> {
    for (row, &score) in scores.iter().enumerate() {
        let grade = relevance.get(row);
        let grade = if grade.is_nan() { Ok(()) } else { check_grade(grade) };
        grade
            .and_then(|()| check_finite(score, "score", "score"))
            .map_err(|error| error.line(row as u64 + 1))?;
    }
    Ok(())
}

/// Refuses a grade that is no number.
pub fn check_grade(grade: f64) -> Result<()> {
    check_finite(grade, "rel", "grade")
}
