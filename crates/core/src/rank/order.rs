//! Sorts the rows of each query into rank order.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Add;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::ids::vocabulary::{Vocabulary, read_decimal};
use crate::number::decimal::Decimal;
use crate::number::levels::Grade;
use crate::number::sorter::Sorter;
use crate::policy::Ties;
use crate::qrels::judgments::Judgments;
use crate::rank::integers::{is_by_doc, moves_grades};
use crate::threads::{self, FEW_ROWS};

/// The different documents of rankings: those of the judgments first, then others.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vocabulary")]
pub struct Docs {
    judged: Option<Arc<Judgments>>,
    others: Vocabulary,
    /// Whether those of the rows came as integers.
    are_integers: bool,
}

/// All of them are saved as one vocabulary, with the same codes.
impl Serialize for Docs {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.judged.as_ref().map(|judged| &judged.by_number().docs) {
            None => self.others.serialize(to),
            Some(judged) if self.others.is_empty() => judged.serialize(to),
            Some(judged) => {
                let mut all = judged.clone();
                all.append_new(&self.others);
                all.serialize(to)
            }
        }
    }
}

impl From<Vocabulary> for Docs {
    fn from(docs: Vocabulary) -> Self {
        Self::new(None, docs, false)
    }
}

impl Docs {
    /// Documents of judgments, and others; whether those of the rows came as integers.
    pub fn new(judged: Option<Arc<Judgments>>, others: Vocabulary, are_integers: bool) -> Self {
        Self { judged, others, are_integers }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.judged.as_ref().map_or(0, |judged| judged.by_number().docs.len()) + self.others.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a document is called.
    pub fn get(&self, code: u32) -> Cow<'_, [u8]> {
        let (vocabulary, number) = self.place(code);
        vocabulary.get(number)
    }

    /// The integer that a document is called, if it is one.
    fn integer(&self, code: u32) -> Option<i64> {
        let (vocabulary, number) = self.place(code);
        read_decimal(vocabulary.write(number, &mut Decimal::default()))
    }

    fn place(&self, code: u32) -> (&Vocabulary, usize) {
        let code = code as usize;
        match &self.judged {
            None => (&self.others, code),
            Some(judged) => {
                let docs = &judged.by_number().docs;
                match code.checked_sub(docs.len()) {
                    None => (docs, code),
                    Some(other) => (&self.others, other),
                }
            }
        }
    }

    /// Orders two documents by the bytes of their identifiers.
    fn compare(&self, one: u32, other: u32) -> Ordering {
        let (mut room, mut other_room) = (Decimal::default(), Decimal::default());
        let (one, other) = (self.place(one), self.place(other));
        one.0.write(one.1, &mut room).cmp(other.0.write(other.1, &mut other_room))
    }
}

/// Rows of adjacent queries.
pub struct Rows<'a, T> {
    /// Rows of query q are `offsets[q]..offsets[q + 1]`, less the first offset.
    pub offsets: &'a [usize],
    /// The grade of each row, NaN where unjudged.
    pub relevance: &'a mut [T],
    /// The score of each row.
    pub scores: &'a mut [f64],
    /// The document of each row; none where rows have no identifiers.
    pub codes: &'a mut [u32],
}

/// How many queries have ties of some kinds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tied {
    /// Two and more documents that all have one score.
    pub flat: u64,
    /// Grades at other ranks than if integer identifiers were ordered as numbers.
    pub as_text: u64,
}

impl Add for Tied {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { flat: self.flat + other.flat, as_text: self.as_text + other.as_text }
    }
}

/// Puts the rows of each query in rank order; says how many have ties of some kinds.
pub fn rank_rows<T: Grade>(rows: Rows<'_, T>, docs: &Docs, ties: Ties, threads: usize) -> Tied {
    let queries = rows.offsets.len() - 1;
    if threads < 2 || queries < 2 || rows.scores.len() < FEW_ROWS {
        return Ranker::new(docs, ties).rank(rows);
    }
    let half = rows.offsets[0] + rows.scores.len() * (threads / 2) / threads;
    let query = rows.offsets.partition_point(|&offset| offset < half).clamp(1, queries - 1);
    let (left, right) = rows.split_at(query);
    let (here, beside) = (threads / 2, threads - threads / 2);
    let (one, other) = threads::both(
        threads,
        || rank_rows(left, docs, ties, here),
        || rank_rows(right, docs, ties, beside),
    );
    one + other
}

impl<T> Rows<'_, T> {
    fn split_at(self, query: usize) -> (Self, Self) {
        let at = self.offsets[query] - self.offsets[0];
        let (relevance, right_relevance) = self.relevance.split_at_mut(at);
        let (scores, right_scores) = self.scores.split_at_mut(at);
        let (codes, right_codes) = self.codes.split_at_mut(at.min(self.codes.len()));
        let left = Self { offsets: &self.offsets[..=query], relevance, scores, codes };
        let right = Self {
            offsets: &self.offsets[query..],
            relevance: right_relevance,
            scores: right_scores,
            codes: right_codes,
        };
        (left, right)
    }
}

/// Ranks one query after another, with memory of its own.
struct Ranker<'a, T> {
    docs: &'a Docs,
    ties: Ties,
    sorter: Sorter,
    grades: Vec<T>,
    numbers: Vec<f64>,
    ids: Vec<u32>,
    integers: Vec<(i64, f64)>,
}

impl<'a, T: Grade> Ranker<'a, T> {
    fn new(docs: &'a Docs, ties: Ties) -> Self {
        Self {
            docs,
            ties,
            sorter: Sorter::default(),
            grades: Vec::new(),
            numbers: Vec::new(),
            ids: Vec::new(),
            integers: Vec::new(),
        }
    }

    fn rank(&mut self, rows: Rows<'_, T>) -> Tied {
        let Rows { offsets, relevance, scores, codes } = rows;
        let mut tied = Tied::default();
        for range in offsets.windows(2) {
            let range = range[0] - offsets[0]..range[1] - offsets[0];
            let codes = codes.get_mut(range.clone()).unwrap_or_default();
            let (relevance, scores) = (&mut relevance[range.clone()], &mut scores[range]);
            tied = tied + self.rank_query(relevance, scores, codes);
        }
        tied
    }

    /// Ranks the rows of one query.
    #[allow(clippy::cast_possible_truncation)] // rows of a query are counted in 32 bits
    fn rank_query(&mut self, relevance: &mut [T], scores: &mut [f64], codes: &mut [u32]) -> Tied {
        let mut tied = Tied::default();
        let is_strict = scores.is_sorted_by(|above, below| above > below);
        if is_strict {
            return tied;
        }
        let keeps_input = matches!(self.ties, Ties::Input | Ties::Average);
        let is_sorted = scores.is_sorted_by(|above, below| above >= below);
        tied.flat = u64::from(is_sorted && scores.first() == scores.last());
        if is_sorted && keeps_input {
            return tied;
        }
        let order = self.sorter.sort(scores.len(), |row| scores[row]);
        if !keeps_input {
            let (docs, ties) = (self.docs, self.ties);
            let score = |row: u32| scores[row as usize];
            let alike = order.chunk_by_mut(|&a, &b| score(a) == score(b));
            alike.filter(|alike| alike.len() > 1).for_each(|alike| {
                alike.sort_by(|&a, &b| order_tied(ties, (a, b), relevance, codes, docs));
            });
            if docs.are_integers && is_by_doc(ties) && !codes.is_empty() {
                let integers = &mut self.integers;
                let alike = order.chunk_by(|&a, &b| score(a) == score(b));
                tied.as_text = u64::from(alike.filter(|alike| alike.len() > 1).any(|alike| {
                    integers.clear();
                    integers.extend(alike.iter().filter_map(|&row| {
                        let row = row as usize;
                        Some((docs.integer(codes[row])?, relevance[row].value()))
                    }));
                    integers.len() == alike.len() && moves_grades(integers, ties)
                }));
            }
        }
        reorder(relevance, order, &mut self.grades);
        reorder(scores, order, &mut self.numbers);
        if !codes.is_empty() {
            reorder(codes, order, &mut self.ids);
        }
        tied
    }
}

fn order_tied<T: Grade>(
    ties: Ties,
    (one, other): (u32, u32),
    relevance: &[T],
    codes: &[u32],
    docs: &Docs,
) -> Ordering {
    let (one, other) = (one as usize, other as usize);
    let grade = |row: usize| {
        let grade = relevance[row].value();
        if grade.is_nan() { 0.0 } else { grade }
    };
    let by_doc = || match codes {
        [] => Ordering::Equal,
        codes => docs.compare(codes[one], codes[other]),
    };
    match ties {
        Ties::Input | Ties::Average => Ordering::Equal,
        Ties::DocId => by_doc().reverse(),
        Ties::DocIdAscending => by_doc(),
        Ties::Best => grade(other).total_cmp(&grade(one)).then_with(|| by_doc().reverse()),
        Ties::Worst => grade(one).total_cmp(&grade(other)).then_with(|| by_doc().reverse()),
    }
}

fn reorder<T: Copy>(column: &mut [T], order: &[u32], room: &mut Vec<T>) {
    room.clear();
    room.extend(order.iter().map(|&row| column[row as usize]));
    column.copy_from_slice(room);
}
