//! Rankings: the ragged columns that every later question is asked of.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicUsize};

use crate::axis::{Axis, Names};
use crate::error::{Error, Kind, Result, show};
use crate::evaluate::{Evaluation, Plan, Scorer};
use crate::ids::Ids;
use crate::join::Joiner;
use crate::judgments::{Duplicates, Judgments};
use crate::notes::{Note, Notes};
use crate::rank::{self, Ranked, Ties};
use crate::run::{Run, no_rows};
use crate::source::Watch;
use crate::stream::{FEW_ROWS, earlier, finish_run, on_threads};
use crate::table::{self, Grouped, IdColumn, Numbered, check_finite, check_lengths};
use crate::trec::List;

/// A table whose rows hold a score and a grade each, in any order.
#[derive(Debug)]
pub struct Table<'a> {
    /// The query of each row.
    pub queries: IdColumn<'a>,
    /// The document of each row, where rows have identifiers.
    pub docs: Option<IdColumn<'a>>,
    /// The grade of each row, NaN where unjudged.
    pub relevance: Vec<f64>,
    /// The score of each row.
    pub scores: Vec<f64>,
    /// The rank of each row, where scores have to agree with ranks; smaller ones come first.
    pub ranks: Option<Vec<f64>>,
}

impl Columns {
    /// Refuses or drops documents that occur again in a query; says how many it dropped.
    fn resolve(&mut self, grouped: &Grouped, duplicates: Duplicates) -> Result<u64> {
        let Some(docs) = &self.docs else { return Ok(0) };
        let mut seen_at = vec![usize::MAX; docs.ids.texts().len()];
        let mut again = Vec::new();
        for (query, range) in self.offsets.windows(2).enumerate() {
            for place in range[0]..range[1] {
                let seen = &mut seen_at[docs.codes[place] as usize];
                if *seen == usize::MAX || *seen < range[0] {
                    *seen = place;
                    continue;
                }
                if duplicates == Duplicates::Error {
                    let doc = docs.ids.texts().get(docs.codes[place] as usize);
                    let row = grouped.row(place) as u64 + 1;
                    return Err(occurs_again(doc, &self.names.get(query), row));
                }
                if duplicates == Duplicates::Max {
                    self.scores[*seen] = self.scores[*seen].max(self.scores[place]);
                    self.relevance[*seen] = self.relevance[*seen].max(self.relevance[place]);
                }
                again.push(place);
            }
        }
        self.drop_rows(&again);
        Ok(again.len() as u64)
    }

    /// Refuses ranks that contradict the scores: a larger score at a larger rank.
    fn check_ranks(&self, grouped: &Grouped, ranks: &[f64]) -> Result<()> {
        let mut order = Vec::new();
        for (query, range) in self.offsets.windows(2).enumerate() {
            let rank = |place: usize| ranks[grouped.row(place)];
            order.clear();
            order.extend(range[0]..range[1]);
            order.sort_by(|&a, &b| rank(a).total_cmp(&rank(b)));
            let contradicts = |pair: &&[usize]| {
                rank(pair[0]) < rank(pair[1]) && self.scores[pair[0]] < self.scores[pair[1]]
            };
            if let Some(pair) = order.windows(2).find(contradicts) {
                let message = format!(
                    "expected ranks and scores that agree, found rank {} with a larger score than \
                     rank {} in query `{}`",
                    rank(pair[1]),
                    rank(pair[0]),
                    show(&self.names.get(query))
                );
                return Err(Error::new(Kind::Format, "rank_score_disagree", message)
                    .hint("name only one of the two columns")
                    .line(grouped.row(pair[1]) as u64 + 1));
            }
        }
        Ok(())
    }

    /// Drops rows, given in ascending order.
    fn drop_rows(&mut self, rows: &[usize]) {
        if rows.is_empty() {
            return;
        }
        drop_from(&mut self.relevance, rows);
        drop_from(&mut self.scores, rows);
        if let Some(docs) = &mut self.docs {
            drop_from(&mut docs.codes, rows);
        }
        for offset in &mut self.offsets {
            *offset -= rows.partition_point(|row| row < offset);
        }
    }
}

fn drop_from<T: Copy>(column: &mut Vec<T>, rows: &[usize]) {
    let mut next = rows.iter().copied().peekable();
    let mut at = 0;
    column.retain(|_| {
        at += 1;
        next.next_if_eq(&(at - 1)).is_none()
    });
}

fn occurs_again(doc: &[u8], query: &[u8], row: u64) -> Error {
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

/// How many queries a thread takes at once.
const AT_ONCE: usize = 256;

/// A run joined with its judgments, each list in rank order; immutable.
#[derive(Debug)]
pub struct Rankings {
    axis: Arc<Axis>,
    ties: Ties,
    /// Retrieved documents of query q are rows `offsets[q]..offsets[q + 1]`.
    offsets: Vec<usize>,
    relevance: Vec<f64>,
    scores: Vec<f64>,
    /// The different documents; none where rows have no identifiers.
    docs: Ids,
    codes: Vec<u32>,
    is_present: Vec<bool>,
    run_only: Ids,
    notes: Notes,
    flat: u64,
}

/// Rows of queries that hold both scores and grades.
#[derive(Debug)]
pub struct Columns {
    /// What the queries are called.
    pub names: Names,
    /// Rows of query q are `offsets[q]..offsets[q + 1]`.
    pub offsets: Vec<usize>,
    /// The grade of each row, NaN where unjudged.
    pub relevance: Vec<f64>,
    /// The score of each row.
    pub scores: Vec<f64>,
    /// The document of each row, where rows have identifiers.
    pub docs: Option<Numbered>,
    /// All judged grades of each query, by offsets of their own; those of the rows where left out.
    pub ideal: Option<(Vec<usize>, Vec<f64>)>,
}

impl Rankings {
    /// Joins and ranks a run.
    ///
    /// # Errors
    /// Where a document occurs twice in a query, or the run has no query that is judged.
    pub fn new(
        judgments: &Judgments,
        run: &Run,
        ties: Ties,
        duplicates: Duplicates,
    ) -> Result<Self> {
        let queries = judgments.axis().len();
        let mut of_run = vec![None; queries];
        let mut run_only = Ids::default();
        for (number, query) in run.queries().iter().enumerate() {
            match judgments.find_query(query) {
                Some(judged) => of_run[judged] = Some(number),
                None => {
                    run_only.number(query);
                }
            }
        }
        let mut made = Self {
            ties,
            offsets: vec![0],
            relevance: Vec::with_capacity(run.rows()),
            scores: Vec::with_capacity(run.rows()),
            docs: Ids::default(),
            codes: Vec::with_capacity(run.rows()),
            is_present: of_run.iter().map(Option::is_some).collect(),
            run_only,
            notes: run.notes().clone(),
            flat: 0,
            axis: Arc::clone(judgments.axis()),
        };
        let mut joiner = Joiner::default();
        let mut list = List::default();
        let mut dropped = 0;
        let mut first_error = None;
        for (query, number) in of_run.into_iter().enumerate() {
            if let Some(number) = number {
                run.fill(number, &mut list);
                let outcome = joiner.join(judgments, Some(query), &mut list, duplicates);
                first_error = earlier(first_error, outcome.err());
                dropped += joiner.dropped;
                made.add(&list, &joiner)?;
            }
            made.offsets.push(made.scores.len());
        }
        for number in 0..run.queries().len() {
            if judgments.find_query(run.queries().get(number)).is_none() {
                run.fill(number, &mut list);
                let outcome = joiner.join(judgments, None, &mut list, duplicates);
                first_error = earlier(first_error, outcome.err());
                dropped += joiner.dropped;
            }
        }
        if let Some(error) = first_error {
            return Err(error);
        }
        made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
        Ok(made)
    }

    /// Brings the rows of each query together, and ranks them.
    ///
    /// # Errors
    /// Where the columns do not fit, a document occurs twice, or ties go by identifiers and there are
    /// none; lines are 1-based rows.
    pub fn from_table(table: &Table<'_>, ties: Ties, duplicates: Duplicates) -> Result<Self> {
        let docs_length = table.docs.map_or(table.scores.len(), |docs| docs.len());
        check_lengths(&[
            table.queries.len(),
            docs_length,
            table.relevance.len(),
            table.scores.len(),
        ])?;
        if table.scores.is_empty() {
            return Err(no_rows());
        }
        check_values(&table.relevance, &table.scores)?;
        if let Some(ranks) = &table.ranks {
            check_lengths(&[table.scores.len(), ranks.len()])?;
        }
        let queries = table.queries.number()?;
        let grouped = table::group(&queries.codes, queries.ids.texts().len());
        let docs = table.docs.map(|docs| docs.number()).transpose()?;
        let docs = docs.map(|docs| Numbered { codes: grouped.gather(&docs.codes), ids: docs.ids });
        let mut columns = Columns {
            names: Names::Ids(queries.ids),
            relevance: grouped.gather(&table.relevance),
            scores: grouped.gather(&table.scores),
            docs,
            ideal: None,
            offsets: grouped.offsets.clone(),
        };
        if let Some(ranks) = &table.ranks {
            columns.check_ranks(&grouped, ranks)?;
        }
        let dropped = columns.resolve(&grouped, duplicates)?;
        let mut made = Self::rank_columns(columns, ties)?;
        made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
        for column in [Some(table.queries), table.docs].into_iter().flatten() {
            made.notes.add_many(Note::IntegerIds, column.integers(), (0, 0));
        }
        let negative = table.relevance.iter().filter(|&&grade| grade < 0.0).count() as u64;
        made.notes.add_many(Note::NegativeGrades, negative, (0, 0));
        Ok(made)
    }

    /// Ranks rows that have both scores and grades.
    ///
    /// # Errors
    /// Where a score or grade is no number, or ties go by identifiers and there are none; lines are
    /// 1-based rows.
    pub fn from_columns(columns: Columns, ties: Ties) -> Result<Self> {
        check_values(&columns.relevance, &columns.scores)?;
        if let Some((_, grades)) = &columns.ideal {
            grades.iter().try_for_each(|&grade| check_grade(grade))?;
        }
        Self::rank_columns(columns, ties)
    }

    fn rank_columns(columns: Columns, ties: Ties) -> Result<Self> {
        let Columns { names, offsets, relevance, scores, docs, ideal } = columns;
        if docs.is_none() && matches!(ties, Ties::DocId | Ties::DocIdAscending) {
            return Err(Error::new(
                Kind::Policy,
                "ties_need_ids",
                "expected document ids, by which these ties are ordered, found none",
            )
            .hint("name the column of ids, or say ties=\"average\" or \"input\""));
        }
        let (ideal_offsets, grades) = ideal.unwrap_or_else(|| judged_rows(&offsets, &relevance));
        let axis = Arc::new(Axis::new(names, ideal_offsets, grades));
        let Numbered { ids: docs, codes } = docs.unwrap_or_default();
        let mut made = Self {
            is_present: vec![true; axis.len()],
            axis,
            ties,
            offsets,
            relevance,
            scores,
            docs,
            codes,
            run_only: Ids::default(),
            notes: Notes::default(),
            flat: 0,
        };
        let mut order = Vec::new();
        for query in 0..made.axis.len() {
            let rows = made.offsets[query]..made.offsets[query + 1];
            let scores = &made.scores[rows.clone()];
            let is_sorted = scores.is_sorted_by(|above, below| above >= below);
            let is_flat = is_sorted && scores.len() > 1 && scores.first() == scores.last();
            made.flat += u64::from(is_flat);
            if is_sorted && matches!(ties, Ties::Input | Ties::Average) {
                continue;
            }
            made.order_rows(rows.clone(), &mut order);
            made.permute(rows, &order);
        }
        Ok(made)
    }

    /// Puts into `order` the rows of a query in rank order, counted from its first.
    #[allow(clippy::cast_possible_truncation)] // rows of a query are counted in 32 bits
    fn order_rows(&self, rows: Range<usize>, order: &mut Vec<u32>) {
        let scores = &self.scores[rows.clone()];
        let grade = |row: u32| {
            let grade = self.relevance[rows.start + row as usize];
            if grade.is_nan() { 0.0 } else { grade }
        };
        let doc = |row: u32| match self.codes.get(rows.start + row as usize) {
            Some(&code) => self.docs.texts().get(code as usize),
            None => b"",
        };
        order.clear();
        order.extend(0..scores.len() as u32);
        order.sort_by(|&a, &b| {
            let by_score = scores[b as usize].partial_cmp(&scores[a as usize]);
            by_score.unwrap_or(Ordering::Equal).then_with(|| match self.ties {
                Ties::Input | Ties::Average => Ordering::Equal,
                Ties::DocId => doc(b).cmp(doc(a)),
                Ties::DocIdAscending => doc(a).cmp(doc(b)),
                Ties::Best => grade(b).total_cmp(&grade(a)).then_with(|| doc(b).cmp(doc(a))),
                Ties::Worst => grade(a).total_cmp(&grade(b)).then_with(|| doc(b).cmp(doc(a))),
            })
        });
    }

    fn permute(&mut self, rows: Range<usize>, order: &[u32]) {
        fn reorder<T: Copy>(column: &mut [T], order: &[u32]) {
            let ordered: Vec<T> = order.iter().map(|&row| column[row as usize]).collect();
            column.copy_from_slice(&ordered);
        }
        reorder(&mut self.relevance[rows.clone()], order);
        reorder(&mut self.scores[rows.clone()], order);
        if let Some(codes) = self.codes.get_mut(rows) {
            reorder(codes, order);
        }
    }

    fn add(&mut self, list: &List<'_>, joiner: &Joiner) -> Result<()> {
        let mut order = Vec::new();
        rank::sort(&mut order, &list.rows, list.is_sorted, &joiner.hits, self.ties);
        self.flat += u64::from(list.is_flat());
        for row in order {
            let found = joiner.hits.binary_search_by_key(&row, |hit| hit.row);
            self.relevance.push(found.map_or(f64::NAN, |index| joiner.hits[index].grade));
            let row = &list.rows[row as usize];
            self.scores.push(row.score);
            let code = u32::try_from(self.docs.number(row.doc)).map_err(|_| {
                Error::new(Kind::Limit, "memory", "expected fewer than 2^32 different documents")
            })?;
            self.codes.push(code);
        }
        Ok(())
    }

    /// The values of a plan whose ties are those of the rankings.
    ///
    /// # Errors
    /// Where the plan refuses the rankings.
    pub fn evaluate(&self, plan: &Plan, threads: usize) -> Result<Evaluation> {
        if plan.policy.ties != self.ties {
            return Err(Error::new(
                Kind::Policy,
                "ties_fixed",
                "expected the ties with which the rankings were made, found others",
            )
            .hint("ties are chosen when Rankings are made: pass ties= there"));
        }
        plan.check(&self.axis)?;
        let threads = if self.scores.len() < FEW_ROWS { 1 } else { threads };
        let next = AtomicUsize::new(0);
        let work = |_: Watch<'_>| {
            let mut scorer = Scorer::new(plan, &self.axis);
            let mut ranked = Ranked::default();
            loop {
                let start = next.fetch_add(AT_ONCE, atomic::Ordering::Relaxed);
                if start >= self.is_present.len() {
                    return scorer;
                }
                let end = self.is_present.len().min(start + AT_ONCE);
                for query in (start..end).filter(|&query| self.is_present[query]) {
                    let rows = self.offsets[query]..self.offsets[query + 1];
                    let (relevance, scores) = (&self.relevance[rows.clone()], &self.scores[rows]);
                    ranked.take_in_order(relevance, scores, self.ties);
                    scorer.score_ranked(query, &ranked, scores.len());
                }
            }
        };
        let scorers = on_threads(threads, &mut |_| Ok(()), work);
        let mut evaluation = finish_run(plan, &self.axis, scorers, self.run_only.texts())?;
        evaluation.notes.merge(&self.notes);
        evaluation.flat = self.flat;
        Ok(evaluation)
    }

    /// The queries, and the grades of each.
    #[must_use]
    pub fn axis(&self) -> &Axis {
        &self.axis
    }

    /// Where each query's rows begin, and the last one's end.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The grade of each row, NaN where unjudged.
    #[must_use]
    pub fn relevance(&self) -> &[f64] {
        &self.relevance
    }

    /// The score of each row.
    #[must_use]
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The identifier of each row's document, as an index into [`Rankings::docs`].
    #[must_use]
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The different documents.
    #[must_use]
    pub fn docs(&self) -> &crate::ids::Arena {
        self.docs.texts()
    }
}

/// Refuses scores and grades that are no numbers; a NaN grade is an unjudged document.
fn check_values(relevance: &[f64], scores: &[f64]) -> Result<()> {
    for (row, (&score, &grade)) in scores.iter().zip(relevance).enumerate() {
        let grade = if grade.is_nan() { Ok(()) } else { check_grade(grade) };
        grade
            .and_then(|()| check_finite(score, "score", "score"))
            .map_err(|error| error.line(row as u64 + 1))?;
    }
    Ok(())
}

fn check_grade(grade: f64) -> Result<()> {
    check_finite(grade, "rel", "grade")
}

/// The judged grades of the rows themselves.
fn judged_rows(offsets: &[usize], relevance: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let mut judged = Vec::with_capacity(relevance.len());
    let mut judged_offsets = vec![0];
    for range in offsets.windows(2) {
        let of_query = &relevance[range[0]..range[1]];
        judged.extend(of_query.iter().copied().filter(|grade| !grade.is_nan()));
        judged_offsets.push(judged.len());
    }
    (judged_offsets, judged)
}
