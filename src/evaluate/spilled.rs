//! Evaluates a table that is large, perhaps larger than memory: its rows in any order are partitioned by
//! query, and one partition after another is evaluated in memory.
//!
//! Values, their order, notes and errors are those of [`Rankings::from_table`] and
//! [`Rankings::evaluate`] on the whole table: queries go back to the order in which they were first
//! seen, and of several mistakes the one is named that comes first there.

use crate::error::{Error, Kind, Result, show};
use crate::evaluate::evaluation::Evaluation;
use crate::evaluate::plan::Plan;
use crate::evaluate::spilled_rows::SpilledRows;
use crate::ids::columns::hash_ids;
use crate::ids::vocabulary::Vocabulary;
use crate::memory::{self, Vec, vec};
use crate::policy::{Duplicates, Ties};
use crate::qrels::attributes::{Attributes, pick};
use crate::rank::rankings::Rankings;
use crate::rank::rows::{Columns, Table};
use crate::rank::run::no_rows;
use crate::table::columns::{IdColumn, check_lengths};
use crate::table::frame::{Column, Frame};
use crate::table::queue::{Next, Spill};
use crate::table::spill::Partition;

/// What evaluating a row takes in memory besides its values: without documents, and with them.
const ROW: u64 = 64;
pub(super) const ROW_WITH_DOC: u64 = 256;

/// What the columns of a table are, beside their values.
#[derive(Debug)]
struct Shape {
    has_docs: bool,
    are_ranks: bool,
    has_ranks: bool,
    attributes: Vec<String>,
}

/// How rows are evaluated.
#[derive(Clone, Copy)]
pub struct Choices<'a> {
    /// The measures and the policy.
    pub plan: &'a Plan,
    /// What decides between equal scores.
    pub ties: Ties,
    /// What to do with a document that occurs twice in a query.
    pub duplicates: Duplicates,
    /// How many threads to use.
    pub threads: usize,
}

/// Where a mistake comes among those that the whole table would be checked for, one kind after
/// another: the kind, a column, and a row.
type Place = (u8, usize, u64);

/// A mistake, and where it comes; without an error where that depends on the grades of all
/// partitions.
type Mistake = (Place, Option<Error>);

/// A table that is larger than memory.
#[derive(Debug)]
pub struct SpilledTable {
    rows: SpilledRows,
    shape: Option<Shape>,
    names: Vocabulary,
    attributes: Attributes,
    /// The first row of each query.
    firsts: Vec<u64>,
    made: Option<Evaluation>,
    grades: Vec<f64>,
    mistake: Option<Mistake>,
}

impl SpilledTable {
    /// A table without rows.
    #[must_use]
    pub fn new(spill: Spill) -> Self {
        Self {
            rows: SpilledRows::new(spill),
            shape: None,
            names: Vocabulary::default(),
            attributes: Attributes::default(),
            firsts: Vec::new(),
            made: None,
            grades: Vec::new(),
            mistake: None,
        }
    }

    /// Adds rows.
    ///
    /// # Errors
    /// Where the columns differ in length, or a file can't be written.
    pub fn push(&mut self, table: &Table<'_>) -> Result<()> {
        let (frame, shape) = read(table, self.rows.rows())?;
        self.rows.push(&frame)?;
        self.shape.get_or_insert(shape);
        Ok(())
    }

    /// The rows, those that were written to files among them.
    #[must_use]
    pub fn rows(&self) -> &SpilledRows {
        &self.rows
    }

    /// Evaluates further partitions, or splits one; false if none is left.
    ///
    /// # Errors
    /// Where a query is too large, or a file can't be read. Other mistakes come with
    /// [`SpilledTable::finish`], for the first one may be in another partition.
    pub fn evaluate_next(&mut self, choices: Choices<'_>) -> Result<bool> {
        let Some(shape) = &self.shape else { return Ok(false) };
        let needed = |partition: &Partition| shape.needed(partition);
        let next = self.rows.on_next(needed, choices.threads, |frame, threads| {
            Parts { frame, shape }.evaluate(Choices { threads, ..choices })
        });
        match next? {
            Next::Whole(evaluated) => evaluated.into_iter().for_each(|part| self.append(part)),
            Next::Split => {}
            Next::End => return Ok(false),
        }
        Ok(true)
    }

    fn append(&mut self, (grades, evaluated): Evaluated) {
        self.grades.extend(grades);
        self.grades.sort_unstable_by(f64::total_cmp);
        self.grades.dedup();
        let (rankings, evaluation, firsts) = match evaluated {
            Ok(evaluated) => evaluated,
            Err(mistake) => return self.keep(mistake),
        };
        if self.mistake.is_some() {
            return;
        }
        self.firsts.extend(firsts);
        if let Some(names) = rankings.axis().ids() {
            self.names.append_new(names);
        }
        self.attributes.append(rankings.attributes());
        match &mut self.made {
            Some(made) => made.append(evaluation),
            None => self.made = Some(evaluation),
        }
    }

    /// Keeps a mistake if it comes before the one that is known.
    fn keep(&mut self, mistake: Mistake) {
        if self.mistake.as_ref().is_none_or(|first| mistake.0 < first.0) {
            self.mistake = Some(mistake);
        }
    }

    /// The evaluation of all, what the queries are called, and what is known of them besides.
    ///
    /// # Errors
    /// Where there was no row, or as [`Rankings::from_table`] and [`Rankings::evaluate`].
    #[allow(clippy::cast_possible_truncation)] // queries are counted in 32 bits
    pub fn finish(self, plan: &Plan) -> Result<(Evaluation, Vocabulary, Attributes)> {
        match self.mistake {
            Some((_, Some(error))) => return Err(error),
            Some((_, None)) => plan.check_grades(&self.grades)?,
            None => {}
        }
        let Some(mut made) = self.made else { return Err(no_rows()) };
        let mut order: Vec<u32> = (0..self.firsts.len() as u32).collect();
        order.sort_unstable_by_key(|&query| self.firsts[query as usize]);
        let names = pick(&self.names, &order);
        let mut attributes = self.attributes;
        attributes.reorder(&order);
        made.reorder(&order);
        made.aggregate(&plan.averaging());
        Ok((made, names, attributes))
    }
}

impl Shape {
    fn needed(&self, partition: &Partition) -> u64 {
        partition.needed(if self.has_docs { ROW_WITH_DOC } else { ROW })
    }
}

/// Queries, the numbers of rows, grades and scores come first; then documents, ranks and attributes,
/// if there are any.
fn read(table: &Table<'_>, rows_before: u64) -> Result<(Frame, Shape)> {
    let rows = table.scores.len();
    let mut lengths = vec![table.queries.len(), table.relevance.len(), rows];
    lengths.extend(table.docs.iter().map(IdColumn::len));
    lengths.extend(table.ranks.iter().map(|ranks| ranks.len()));
    lengths.extend(table.attributes.iter().map(|(_, column)| column.len()));
    check_lengths(&lengths)?;
    let mut frame = vec![
        Column::of_ids(&table.queries),
        Column::of_row_numbers(rows_before, rows),
        Column::of_doubles(table.relevance),
        Column::of_doubles(table.scores),
    ];
    frame.extend(table.docs.iter().map(Column::of_ids));
    frame.extend(table.ranks.iter().map(|&ranks| Column::of_doubles(ranks)));
    frame.extend(table.attributes.iter().map(|(_, column)| Column::of_ids(column)));
    let shape = Shape {
        has_docs: table.docs.is_some(),
        are_ranks: table.are_ranks,
        has_ranks: table.ranks.is_some(),
        attributes: table.attributes.iter().map(|(name, _)| (*name).to_owned()).collect(),
    };
    Ok((frame, shape))
}

/// The kinds of mistakes, in the order in which a whole table is checked for them.
const IDS: u8 = 0;
const ATTRIBUTES: u8 = 1;
const NUMBERS: u8 = 2;
const RANKS: u8 = 3;
const DUPLICATES: u8 = 4;
const WHOLE: u8 = 5;
const GRADES: u8 = 6;
const VALUES: u8 = 7;

/// What a partition came to: its grades, and its values with the first row of each query.
type Evaluated = (Vec<f64>, std::result::Result<(Rankings, Evaluation, Vec<u64>), Mistake>);

/// The rows of a partition.
struct Parts<'a> {
    frame: &'a Frame,
    shape: &'a Shape,
}

impl Parts<'_> {
    /// Evaluates them.
    ///
    /// # Errors
    /// Where there is a mistake that isn't one of the table.
    fn evaluate(&self, choices: Choices<'_>) -> Result<Evaluated> {
        let rankings = match self.view(|table| {
            let of_rows = (choices.ties, choices.duplicates);
            Rankings::from_table(table, of_rows, false, choices.threads)
        }) {
            Ok(rankings) => rankings,
            Err(error) => {
                let (place, error) = self.place(error, choices)?;
                return Ok((Vec::new(), Err((place, Some(error)))));
            }
        };
        let grades = memory::copy(rankings.axis().grades());
        if choices.plan.check_lists(rankings.axis()).is_err() {
            return Ok((grades, Err(((GRADES, 0, 0), None))));
        }
        let evaluated = match rankings.evaluate(choices.plan, choices.threads) {
            Ok(evaluation) => {
                let firsts = self.find_firsts(choices.threads)?;
                Ok((rankings, evaluation, firsts))
            }
            Err(error) => {
                let place = self.place_value(&rankings, &error, choices);
                Err((place, Some(error)))
            }
        };
        Ok((grades, evaluated))
    }

    /// Looks at the rows as a table.
    fn view<T>(&self, look: impl FnOnce(&Table<'_>) -> T) -> T {
        let Shape { has_docs, are_ranks, has_ranks, attributes } = self.shape;
        let mut ints: Vec<&[i64]> = vec![&[]; self.frame.len()];
        let mut columns = self.frame.iter().zip(ints.iter_mut());
        let mut ids = || columns.next().map(|(column, ints)| (column, column.ids(ints)));
        let queries = ids().map(|(_, ids)| ids);
        let (_, relevance, scores) = (ids(), ids(), ids());
        let docs = if *has_docs { ids().map(|(_, ids)| ids) } else { None };
        let ranks = if *has_ranks { ids().map(|(column, _)| column.doubles()) } else { None };
        let attributes = attributes.iter().map_while(|name| Some((name.as_str(), ids()?.1)));
        let attributes = attributes.collect();
        let (Some(queries), Some((relevance, _)), Some((scores, _))) = (queries, relevance, scores)
        else {
            unreachable!("a frame has all columns of its shape")
        };
        let (relevance, scores) = (relevance.doubles(), scores.doubles());
        look(&Table {
            queries,
            docs,
            relevance: &relevance,
            scores: &scores,
            are_ranks: *are_ranks,
            ranks: ranks.as_ref().map(|ranks| ranks as _),
            attributes,
        })
    }

    /// The number of a row in the whole table.
    fn number(&self, row: usize) -> u64 {
        self.frame[1].ints()[row].cast_unsigned()
    }

    /// The number of the first row of the query to which a row belongs.
    fn first_of(&self, row: usize) -> u64 {
        let mut hashes = Vec::new();
        hash_ids(&self.frame[0], &mut hashes);
        let first = hashes.iter().position(|&hash| hash == hashes[row]);
        self.number(first.unwrap_or(row))
    }

    /// The first row of each query, in the order of the queries.
    fn find_firsts(&self, threads: usize) -> Result<Vec<u64>> {
        let mut ints: &[i64] = &[];
        let (codes, _) = Vocabulary::number(&self.frame[0].ids(&mut ints), threads)?;
        let mut firsts = Vec::new();
        let mut next = 0;
        for (row, code) in codes.into_iter().enumerate() {
            if code == next {
                firsts.push(self.number(row));
                next += 1;
            }
        }
        Ok(firsts)
    }

    /// Where a mistake of a table comes, with its row in the whole table.
    ///
    /// # Errors
    /// Where it is no mistake of the table, as when memory runs out.
    fn place(&self, error: Error, choices: Choices<'_>) -> Result<(Place, Error)> {
        let line = error.place().line;
        #[allow(clippy::cast_possible_truncation)] // a row in memory
        let row = line.map_or(0, |line| line as usize - 1);
        let number = if line.is_some() { self.number(row) } else { 0 };
        let collect = |table: &Table<'_>| {
            Columns::collect(table, choices.duplicates, false, choices.threads)
                .is_err_and(|other| other.code() == error.code())
        };
        let place = match error.code() {
            "attribute_conflict" => {
                let is_first = |count: &usize| {
                    self.view(|table| {
                        let attributes = table.attributes[..=*count].iter().copied().collect();
                        collect(&Table { attributes, ..*table })
                    })
                };
                let count = self.shape.attributes.len();
                (ATTRIBUTES, (0..count).find(is_first).unwrap_or(0), number)
            }
            "score_nan" | "score_overflow" | "score_not_number" | "rel_not_number"
            | "rel_out_of_range" => (NUMBERS, 0, number),
            "rank_score_disagree" => (RANKS, 0, self.first_of(row)),
            "ties_need_ids" => (WHOLE, 0, 0),
            _ if error.kind() == Kind::Duplicate => (DUPLICATES, 0, self.first_of(row)),
            _ if error.kind() == Kind::Memory || line.is_none() => return Err(error),
            _ => {
                let is_query =
                    self.view(|table| collect(&Table { docs: None, attributes: vec![], ..*table }));
                (IDS, usize::from(!is_query), number)
            }
        };
        let error = if line.is_some() { error.line(number + 1) } else { error };
        Ok((place, error))
    }

    /// Where a value comes that the policy refuses: by measure, then by query.
    fn place_value(&self, rankings: &Rankings, error: &Error, choices: Choices<'_>) -> Place {
        let is_refused = |measure: &usize| {
            let measures = vec![choices.plan.measures[*measure].clone()];
            let plan = Plan { measures, ..choices.plan.clone() };
            rankings.evaluate(&plan, choices.threads).is_err()
        };
        let measure = (0..choices.plan.measures.len()).find(is_refused).unwrap_or(0);
        let shown = error.place().value.clone();
        let is_it = |name: &std::borrow::Cow<'_, [u8]>| Some(show(name)) == shown;
        let query = rankings.axis().names().position(|name| is_it(&name)).unwrap_or(0);
        let first = self.find_firsts(choices.threads).map_or(0, |firsts| firsts[query]);
        (VALUES, measure, first)
    }
}
