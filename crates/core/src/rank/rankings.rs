//! Ranked lists with their grades, in columns, which evaluation and explanation read.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result, earlier};
use crate::ids::folded::Folded;
use crate::ids::interner::{IdHasher, Ids};
use crate::ids::vocabulary::Vocabulary;
use crate::notes::{Note, Notes};
use crate::number::sorter::Sorter;
use crate::policy::{Duplicates, ScoreType, Ties};
use crate::qrels::attributes::Attributes;
use crate::qrels::axis::Axis;
use crate::qrels::grades::Grades;
use crate::qrels::judgments::{Judgments, MOST_SUSPECTS};
use crate::rank::integers::moves_grades_of_list;
use crate::rank::join::Joiner;
use crate::rank::join_columns::{RunColumns, join};
use crate::rank::order::{Docs, Rows, rank_rows};
use crate::rank::ranked;
use crate::rank::ranks::are_regular;
use crate::rank::rows::{Columns, Table, check_grade, check_values};
use crate::rank::run::{Run, no_rows};
use crate::saved::{self, What, require, require_codes, require_offsets};
use crate::text::list::List;

/// A run joined with its judgments, each list in rank order; immutable.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rankings {
    axis: Arc<Axis>,
    ties: Ties,
    /// Retrieved documents of query q are rows `offsets[q]..offsets[q + 1]`.
    offsets: Vec<usize>,
    relevance: Grades,
    /// The same as doubles, once somebody asked.
    #[serde(skip)]
    doubles: OnceLock<Vec<f64>>,
    scores: Vec<f64>,
    /// The different documents; none where rows have no identifiers.
    docs: Docs,
    codes: Vec<u32>,
    /// Of each row with a grade, which of the judged documents of its query it is; empty without
    /// subtopics.
    judged: Vec<u32>,
    is_present: Vec<bool>,
    /// The queries of the run that are not judged.
    run_only: Vocabulary,
    is_grouped: bool,
    attributes: Attributes,
    notes: Notes,
    flat: u64,
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
        let mut docs = Ids::default();
        let mut made = Self {
            ties,
            offsets: vec![0],
            relevance: Grades::default(),
            doubles: OnceLock::new(),
            scores: Vec::with_capacity(run.rows()),
            docs: Docs::default(),
            codes: Vec::with_capacity(run.rows()),
            judged: Vec::new(),
            is_present: of_run.iter().map(Option::is_some).collect(),
            run_only: Vocabulary::Texts(run_only),
            is_grouped: true,
            attributes: Attributes::default(),
            notes: run.notes().clone(),
            flat: 0,
            axis: Arc::clone(judgments.axis()),
        };
        let mut relevance = Vec::with_capacity(run.rows());
        let mut joiner = Joiner::default();
        let mut list = List::default();
        let (mut dropped, mut alike) = (0, 0);
        let mut first_error = None;
        for (query, number) in of_run.into_iter().enumerate() {
            if let Some(number) = number {
                run.fill(number, &mut list);
                let outcome = joiner.join(judgments, Some(query), &mut list, duplicates);
                first_error = earlier(first_error, outcome.err());
                dropped += joiner.dropped;
                alike += joiner.alike;
                made.add(&list, &joiner, (&mut relevance, &mut docs))?;
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
        made.relevance = Grades::Doubles(relevance);
        made.docs = Docs::new(None, Vocabulary::Texts(docs), false);
        made.notes.add_many(Note::DuplicatesResolved, dropped, (0, 0));
        made.notes.add_many(Note::EqualAfterNormalisation, alike, (0, 0));
        made.find_judged(judgments);
        Ok(made)
    }

    /// Joins and ranks a run of columns.
    ///
    /// # Errors
    /// Where the columns do not fit, a document occurs twice in a query, or the run has no query that
    /// is judged; lines are 1-based rows.
    pub fn from_pairs(
        judgments: &Arc<Judgments>,
        run: &RunColumns<'_>,
        choices: (Ties, Duplicates, ScoreType),
        threads: usize,
    ) -> Result<Self> {
        run.check_lengths()?;
        if run.scores.is_empty() {
            return Err(no_rows());
        }
        Self::from_part(judgments, run, choices, threads)
    }

    /// Joins and ranks a part of a run, which may be empty.
    ///
    /// # Errors
    /// Where the columns do not fit, or a document occurs twice in a query; lines are 1-based rows.
    pub fn from_part(
        judgments: &Arc<Judgments>,
        run: &RunColumns<'_>,
        (ties, duplicates, score_type): (Ties, Duplicates, ScoreType),
        threads: usize,
    ) -> Result<Self> {
        let joined = join(judgments, run, (duplicates, score_type), threads)?;
        let mut made = Self {
            axis: Arc::clone(judgments.axis()),
            ties,
            offsets: joined.offsets,
            relevance: Grades::Doubles(joined.relevance),
            doubles: OnceLock::new(),
            scores: joined.scores,
            docs: joined.docs,
            codes: joined.codes,
            judged: Vec::new(),
            is_present: joined.is_present,
            run_only: joined.run_only,
            is_grouped: true,
            attributes: Attributes::default(),
            notes: joined.notes,
            flat: 0,
        };
        if !run.docs.are_integers() {
            made.find_alike(judgments);
        }
        made.rank(threads);
        made.find_judged(judgments);
        made.note_gaps(run.are_ranks);
        Ok(made)
    }

    /// Brings the rows of each query together, and ranks them. What only asks for the values of measures
    /// needs no numbers of documents.
    pub fn from_table(
        table: &Table<'_>,
        (ties, duplicates): (Ties, Duplicates),
        numbers_docs: bool,
        threads: usize,
    ) -> Result<Self> {
        let columns = Columns::collect(table, duplicates, numbers_docs, threads)?;
        Self::rank_columns(columns, ties, threads)
    }

    /// Ranks rows that have both scores and grades.
    ///
    /// # Errors
    /// Where a score or grade is no number, or ties go by identifiers and there are none; lines are
    /// 1-based rows.
    pub fn from_columns(mut columns: Columns, ties: Ties, threads: usize) -> Result<Self> {
        check_values(&columns.relevance, &columns.scores)?;
        let Columns { relevance, ideal, notes, .. } = &mut columns;
        match ideal {
            None => {
                (0..relevance.len()).for_each(|row| notes.add_grade(relevance.get(row), (0, 0)));
            }
            Some((_, grades)) => {
                for &grade in &*grades {
                    check_grade(grade)?;
                    notes.add_grade(grade, (0, 0));
                }
            }
        }
        Self::rank_columns(columns, ties, threads)
    }

    fn rank_columns(columns: Columns, ties: Ties, threads: usize) -> Result<Self> {
        let Columns {
            names,
            offsets,
            relevance,
            scores,
            are_ranks,
            docs,
            ideal,
            is_grouped,
            attributes,
            notes,
        } = columns;
        if docs.is_none() && matches!(ties, Ties::DocId | Ties::DocIdAscending) {
            return Err(Error::new(
                Kind::Policy,
                "ties_need_ids",
                "expected document ids, by which these ties are ordered, found none",
            )
            .hint(
                "name the column of ids, or set ties to \"average\" or \"input\", as in \
                 policy=\"ties=input\"",
            ));
        }
        let axis = Arc::new(match ideal {
            Some((offsets, grades)) => {
                Axis::new(names, offsets, grades, threads).knowing(&relevance)
            }
            None => Axis::of_rows(names, &offsets, &relevance, threads),
        });
        let (codes, docs) = docs.unwrap_or_default();
        let are_integers = matches!(docs, Vocabulary::Integers(_));
        let mut made = Self {
            is_present: vec![true; axis.len()],
            axis,
            ties,
            offsets,
            relevance,
            doubles: OnceLock::new(),
            scores,
            docs: Docs::new(None, docs, are_integers),
            codes,
            judged: Vec::new(),
            run_only: Vocabulary::default(),
            is_grouped,
            attributes,
            notes,
            flat: 0,
        };
        made.rank(threads);
        made.note_gaps(are_ranks);
        Ok(made)
    }

    /// The bytes from which [`Rankings::restore`] makes them again, with their name.
    pub fn save(&self, name: &str) -> Vec<u8> {
        saved::save(What::Rankings, &(name, self))
    }

    /// Reads rankings that were saved, and their name.
    pub fn restore(bytes: &[u8]) -> Result<(String, Self)> {
        let (name, made): (String, Self) = saved::restore(What::Rankings, bytes)?;
        made.validate()?;
        Ok((name, made))
    }

    /// Refuses what was never saved.
    fn validate(&self) -> Result<()> {
        let Self { axis, offsets, relevance, scores, codes, judged, is_present, .. } = self;
        axis.validate()?;
        require(scores.iter().all(|score| !score.is_nan()))?;
        relevance.validate()?;
        require(relevance.len() == scores.len())?;
        let is_known = |grade: f64| grade.is_nan() || axis.knows(grade);
        require((0..relevance.len()).all(|row| is_known(relevance.get(row))))?;
        require_offsets(offsets, scores.len())?;
        require(offsets.len() == axis.len() + 1 && is_present.len() == axis.len())?;
        require(codes.is_empty() || codes.len() == scores.len())?;
        require_codes(codes, self.docs.len())?;
        let needed = if axis.subtopics().is_some() { scores.len() } else { 0 };
        require(judged.len() == needed)?;
        for query in 0..if judged.is_empty() { 0 } else { axis.len() } {
            let docs = axis.offsets()[query + 1] - axis.offsets()[query];
            require_codes(&judged[offsets[query]..offsets[query + 1]], docs.max(1))?;
        }
        self.attributes.validate(axis.len())
    }

    /// Finds out which judged documents the rows are, where there are subtopics.
    fn find_judged(&mut self, judgments: &Judgments) {
        if self.axis.subtopics().is_none() {
            return;
        }
        let hasher = IdHasher::default();
        self.judged = vec![0; self.scores.len()];
        for query in 0..self.axis.len() {
            let judged = judgments.of_query(query);
            for row in self.offsets[query]..self.offsets[query + 1] {
                if !self.relevance.get(row).is_nan() {
                    let doc = self.docs.get(self.codes[row]);
                    let found = judged.find_document(&doc, hasher.hash(&doc));
                    self.judged[row] = found.map_or(0, |(judged, _)| judged);
                }
            }
        }
    }

    /// Of the rows of a query that have a grade, which of its judged documents each is, where there
    /// are subtopics.
    pub fn judged(&self, query: usize) -> impl Iterator<Item = u32> {
        let rows = self.offsets[query]..self.offsets[query + 1];
        let named = self.judged.get(rows.clone()).unwrap_or_default().iter().zip(rows);
        named.filter(|&(_, row)| !self.relevance.get(row).is_nan()).map(|(&judged, _)| judged)
    }

    /// Notes documents that are judged in another spelling, of rows in the order in which they came.
    fn find_alike(&mut self, judgments: &Judgments) {
        let mut folded = Folded::default();
        for query in 0..self.axis.len() {
            let rows = self.offsets[query]..self.offsets[query + 1];
            let unjudged = rows.filter(|&row| self.relevance.get(row).is_nan());
            let docs: Vec<_> =
                unjudged.take(MOST_SUSPECTS).map(|row| self.docs.get(self.codes[row])).collect();
            let alike = judgments.count_alike(query, docs.iter().map(|doc| &**doc), &mut folded);
            self.notes.add_many(Note::EqualAfterNormalisation, alike, (0, 0));
        }
    }

    /// Puts the rows of each query in rank order.
    fn rank(&mut self, threads: usize) {
        let Self { offsets, scores, codes, docs, ties, .. } = self;
        let tied = match &mut self.relevance {
            Grades::Levels(relevance) => {
                rank_rows(Rows { offsets, relevance, scores, codes }, docs, *ties, threads)
            }
            Grades::Doubles(relevance) => {
                rank_rows(Rows { offsets, relevance, scores, codes }, docs, *ties, threads)
            }
        };
        self.flat = tied.flat;
        self.notes.add_many(Note::IntegerIds, tied.as_text, (0, 0));
    }

    /// Notes queries whose ranks are not 1, 2, 3, …
    fn note_gaps(&mut self, are_ranks: bool) {
        if are_ranks {
            let ranks = |ends: &&[usize]| self.scores[ends[0]..ends[1]].iter().map(|score| -score);
            let irregular =
                self.offsets.windows(2).filter(|ends| !are_regular(ranks(ends))).count();
            self.notes.add_many(Note::RankGap, irregular as u64, (0, 0));
        }
    }

    fn add(
        &mut self,
        list: &List<'_>,
        joiner: &Joiner,
        (relevance, docs): (&mut Vec<f64>, &mut Ids),
    ) -> Result<()> {
        let mut sorter = Sorter::default();
        let hits = &joiner.hits;
        let is_tied = ranked::sort(&mut sorter, &list.rows, list.is_sorted, hits, self.ties);
        self.flat += u64::from(list.is_flat());
        if is_tied && list.are_integers && moves_grades_of_list(&list.rows, hits, self.ties) {
            self.notes.add(Note::IntegerIds, (0, 0));
        }
        for row in sorter.order {
            let found = joiner.hits.binary_search_by_key(&row, |hit| hit.row);
            relevance.push(found.map_or(f64::NAN, |index| joiner.hits[index].grade));
            let row = &list.rows[row as usize];
            self.scores.push(row.score);
            let code = u32::try_from(docs.number(row.doc)).map_err(|_| {
                Error::new(Kind::Limit, "memory", "expected fewer than 2^32 different documents")
            })?;
            self.codes.push(code);
        }
        Ok(())
    }

    /// What decides between equal scores.
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// The grades and scores of a query's list in rank order, which may need room; both are empty where
    /// it is not in the run.
    pub fn list<'a>(&'a self, query: usize, room: &'a mut Vec<f64>) -> (&'a [f64], &'a [f64]) {
        let rows = self.offsets[query]..self.offsets[query + 1];
        (self.relevance.slice(rows.clone(), room), &self.scores[rows])
    }

    /// How many queries are judged.
    pub fn len(&self) -> usize {
        self.is_present.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.is_present.is_empty()
    }

    /// The queries of the run that are not judged.
    pub fn run_only(&self) -> &Vocabulary {
        &self.run_only
    }

    /// What was suspicious but legal.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// How many queries have two or more documents that all have one score.
    pub fn flat(&self) -> u64 {
        self.flat
    }

    /// Whether a query is in the run.
    pub fn is_present(&self, query: usize) -> bool {
        self.is_present[query]
    }

    /// The queries, and the grades of each.
    pub fn axis(&self) -> &Axis {
        &self.axis
    }

    /// Where each query's rows begin, and the last one's end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The grade of each row, NaN where unjudged.
    pub fn relevance(&self) -> &[f64] {
        self.relevance.doubles(&self.doubles)
    }

    /// The score of each row.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The identifier of each row's document, as an index into [`Rankings::docs`].
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The different documents.
    pub fn docs(&self) -> &Docs {
        &self.docs
    }

    /// Whether the rows of each query were together when they came.
    pub fn is_grouped(&self) -> bool {
        self.is_grouped
    }

    /// What is known of each query besides.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }
}
