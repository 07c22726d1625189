//! Evaluates logged rankings by the grades that are known of their documents.

use rankscope_core::error::Result;
use rankscope_core::evaluate::evaluation::overflow;
use rankscope_core::evaluate::plan::Plan;
use rankscope_core::kernels::views::{View, Views};
use rankscope_core::kernels::{Query, Reads};

use crate::logged::grading::Items;

/// The values of rankings, and what they were computed from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// By measure, then by ranking; NaN where undefined.
    pub values: Vec<Vec<f64>>,
    /// How many documents have a grade above 0.
    pub relevant: Vec<i64>,
    /// Whether neighboring documents have one score.
    pub is_tied: Vec<u8>,
    /// Whether the logged ranks are not 1, 2, 3, …
    pub has_gaps: Vec<u8>,
    /// Whether a grade is larger than allowed.
    pub is_refused: Vec<u8>,
}

/// How rankings are evaluated.
#[derive(Clone, Copy)]
pub struct Choices<'a> {
    /// The measures.
    pub plan: &'a Plan,
    /// The largest grade, without its sign; a ranking with a larger one has no values.
    pub max_grade: f64,
    /// Documents down to this rank keep their logged rank; the others follow in order.
    pub depth: usize,
}

/// Evaluates one ranking after another, with memory of its own.
pub struct Evaluator<'a> {
    choices: Choices<'a>,
    items: &'a Items<'a>,
    /// By measure, whether documents of grade 0 are left out.
    ignores_zeros: Vec<bool>,
    /// How each measure sees lists.
    ways: Vec<View>,
    /// Two lists: all judged documents, and those whose grade isn't 0.
    lists: [List; 2],
    is_used: [bool; 2],
    ranks: Vec<i64>,
    scores: Vec<f64>,
    placed: Vec<f64>,
    views: Views,
    different: Different,
    /// What was found so far.
    pub found: Values,
}

/// The place of each document, from 1: its logged rank down to a depth; the others follow in order.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // ranks are 1 or more
pub fn find_places(ranks: &[i64], depth: usize) -> impl Iterator<Item = usize> {
    let last = i64::try_from(depth).unwrap_or(i64::MAX);
    let above = ranks.iter().filter(|&&rank| rank <= last).count();
    ranks.iter().zip(1..).map(move |(&rank, place)| {
        if rank <= last {
            rank.max(1) as usize
        } else {
            (depth + place).saturating_sub(above).max(1)
        }
    })
}

/// The judged documents of a list.
#[derive(Default)]
struct List {
    ranks: Vec<u32>,
    grades: Vec<f64>,
    ideal: Vec<f64>,
}

const ALL: usize = 0;
const NOT_ZERO: usize = 1;

impl<'a> Evaluator<'a> {
    /// An evaluator that has seen nothing.
    pub fn new(choices: Choices<'a>, items: &'a Items<'a>) -> Self {
        let plan = choices.plan;
        let ignores_zeros: Vec<bool> = plan
            .measures
            .iter()
            .map(|measure| !plan.condenses(measure) && measure.kernel.reads() >= Reads::NotZero)
            .collect();
        let is_used = [
            ignores_zeros.iter().any(|ignores| !ignores),
            ignores_zeros.iter().any(|&ignores| ignores),
        ];
        let view = |measure| View { condenses: plan.condenses(measure), positive: false };
        let ways = plan.measures.iter().map(view).collect();
        let found = Values { values: vec![Vec::new(); plan.measures.len()], ..Values::default() };
        Self {
            choices,
            items,
            ignores_zeros,
            ways,
            lists: Default::default(),
            is_used,
            ranks: Vec::new(),
            scores: Vec::new(),
            placed: Vec::new(),
            views: Views::default(),
            different: Different::default(),
            found,
        }
    }

    /// Evaluates a ranking by the grades of its documents, NaN where there is none.
    pub fn evaluate(&mut self, ranking: usize, relevance: &[f64]) -> Result<()> {
        let start = self.items.offsets[ranking];
        self.ranks.resize(relevance.len(), 0);
        self.items.ranks.read(start, &mut self.ranks);
        self.scores.resize(relevance.len(), 0.0);
        self.items.scores.read(start, &mut self.scores);
        // NaN, which is no score, equals nothing.
        let tied = self.scores.windows(2).filter(|pair| pair[0] == pair[1]).count() > 0;
        let gaps =
            self.ranks.iter().zip(1i64..).filter(|&(&rank, place)| rank != place).count() > 0;
        let largest = self.choices.max_grade;
        let is_refused = relevance.iter().filter(|grade| grade.abs() > largest).count() > 0;
        let relevant = relevance.iter().filter(|&&grade| grade > 0.0).count();
        self.found.is_tied.push(u8::from(tied));
        self.found.has_gaps.push(u8::from(gaps));
        self.found.is_refused.push(u8::from(is_refused));
        self.found.relevant.push(if is_refused { 0 } else { relevant.cast_signed() as i64 });
        if is_refused {
            self.found.values.iter_mut().for_each(|column| column.push(f64::NAN));
            return Ok(());
        }
        let retrieved = if gaps {
            self.place(relevance);
            let placed = std::mem::take(&mut self.placed);
            self.list(&placed);
            self.placed = placed;
            self.placed.len()
        } else {
            self.list(relevance);
            relevance.len()
        };
        self.append_values(ranking, retrieved)
    }

    /// Puts each grade at its rank down to the depth, and the others after it in order.
    fn place(&mut self, relevance: &[f64]) {
        self.placed.clear();
        let places = find_places(&self.ranks, self.choices.depth);
        for (place, &grade) in places.zip(relevance) {
            if self.placed.len() < place {
                self.placed.resize(place, f64::NAN);
            }
            self.placed[place - 1] = grade;
        }
    }

    /// Lists the judged documents in rank order, and their grades, largest first.
    fn list(&mut self, relevance: &[f64]) {
        let Self { lists, is_used, different, .. } = self;
        for list in lists.iter_mut() {
            list.ranks.clear();
            list.grades.clear();
        }
        for (&grade, rank) in relevance.iter().zip(1u32..) {
            if grade == 0.0 || grade.is_nan() {
                continue;
            }
            lists[NOT_ZERO].ranks.push(rank);
            lists[NOT_ZERO].grades.push(grade);
            different.add(grade);
        }
        if !different.has_zero {
            different.has_zero = relevance.contains(&0.0);
        }
        if is_used[ALL] {
            for (&grade, rank) in relevance.iter().zip(1u32..).filter(|(grade, _)| !grade.is_nan())
            {
                lists[ALL].ranks.push(rank);
                lists[ALL].grades.push(grade);
            }
        }
        for (list, _) in lists.iter_mut().zip(is_used).filter(|(_, is_used)| **is_used) {
            let List { grades, ideal, .. } = list;
            ideal.clear();
            ideal.extend_from_slice(grades);
            ideal.sort_unstable_by(|a, b| b.total_cmp(a));
        }
    }

    fn append_values(&mut self, ranking: usize, retrieved: usize) -> Result<()> {
        let Self { choices, lists, views, ignores_zeros, ways, found, .. } = self;
        let query = |list: usize| {
            let List { ranks, grades, ideal } = &lists[list];
            Query { ranks, grades, ties: &[], retrieved, ideal, subtopics: None, items: None }
        };
        let (all, not_zero) = (query(ALL), query(NOT_ZERO));
        let seen = choices.plan.see(&all, ways, views);
        let sights = ignores_zeros.iter().zip(&*ways);
        let measures = choices.plan.measures.iter().zip(sights);
        for ((measure, (&ignores_zeros, &way)), column) in measures.zip(&mut found.values) {
            let query = if ignores_zeros { &not_zero } else { seen.by(way) };
            let value = measure.kernel.value(query);
            if value.is_infinite() {
                return Err(overflow(&measure.name, ranking.to_string().as_bytes()));
            }
            column.push(value);
        }
        Ok(())
    }

    /// What was found.
    pub fn finish(self) -> Result<Values> {
        self.choices.plan.check_grades(&self.different.finish())?;
        Ok(self.found)
    }
}

/// The different grades of documents.
#[derive(Default)]
struct Different {
    grades: Vec<f64>,
    /// How many grades may be kept before equal ones are dropped.
    room: usize,
    has_zero: bool,
}

/// So many grades are kept at least before equal ones are dropped.
const ROOM: usize = 1 << 12;

impl Different {
    fn add(&mut self, grade: f64) {
        if self.grades.last() == Some(&grade) {
            return;
        }
        if self.grades.len() >= self.room.max(ROOM) {
            self.close();
            self.room = 2 * self.grades.len();
        }
        self.grades.push(grade);
    }

    fn close(&mut self) {
        self.grades.sort_unstable_by(f64::total_cmp);
        self.grades.dedup();
    }

    /// The grades, ascending, each once.
    fn finish(mut self) -> Vec<f64> {
        if self.has_zero {
            self.grades.push(0.0);
        }
        self.close();
        self.grades
    }
}
