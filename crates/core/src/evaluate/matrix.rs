//! The mean of a measure over the rows of two matrices; only the ranks down to the cutoff are sorted.

#![allow(clippy::inline_always)] // what is inlined is compiled once for each kind of vectors

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use fearless_simd::{Level, Simd, dispatch};

use crate::error::Result;
use crate::evaluate::plan::Plan;
use crate::kernels::{Gains, Kernel, Query};
use crate::number::aggregate::Part;
use crate::number::levels::Levels;
use crate::number::sorter::Sorter;
use crate::policy::{Aggregate, Negative, Policy, Ties};
use crate::rank::ranked::Ranked;
use crate::threads::{FEW_ROWS, on_threads};
use crate::watch::{Event, Watch};

/// Lists of documents, a row each.
pub trait Matrices: Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;
    /// How many documents a row has at most.
    fn columns(&self) -> usize;
    /// Makes these the grades and the scores of a row, in one order.
    fn fill(&self, row: usize, grades: &mut Vec<f64>, scores: &mut Vec<f64>);
}

/// Added to this, a whole number below 2^52 is in the last bits.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// How many rows a thread takes at once.
const AT_ONCE: usize = 64;

/// The mean of the first measure of a plan; nothing where a row holds what is no number, what the
/// policy refuses, or gains that overflow, about all of which others have more to say.
pub fn mean(
    plan: &Plan,
    matrices: &dyn Matrices,
    threads: usize,
    watch: Watch<'_>,
) -> Result<Option<f64>> {
    let chosen = Choices { takes_unjudged: false, stops: true };
    let values = each_row(plan, matrices, chosen, threads, watch)?;
    let Some(values) = values.filter(|values| values.iter().all(Option::is_some)) else {
        return Ok(None);
    };
    let weight = |row: usize| plan.weights.as_ref().map_or(1.0, |weights| weights[row]);
    let parts = values.into_iter().enumerate().map(|(row, value)| {
        let value = value.filter(|value| !value.is_nan()).unwrap_or(0.0);
        Part { value, weight: weight(row), ratio: (value, 1.0) }
    });
    let parts: Vec<Part> = parts.collect();
    Ok(Some(Aggregate::Mean.of(&parts)))
}

/// The value of the first measure of a plan for each row, NaN where it is undefined, and the rows,
/// ascending, whose value is NaN because they hold what has none: an infinite grade, a score that is
/// no number, what the policy or the measure refuses, or gains that overflow. A grade that is NaN is
/// that of an unjudged document.
pub fn values(
    plan: &Plan,
    matrices: &dyn Matrices,
    threads: usize,
    watch: Watch<'_>,
) -> Result<(Vec<f64>, Vec<usize>)> {
    let chosen = Choices { takes_unjudged: true, stops: false };
    let found = each_row(plan, matrices, chosen, threads, watch)?.unwrap_or_default();
    let refused = found.iter().enumerate().filter(|(_, value)| value.is_none());
    let refused = refused.map(|(row, _)| row).collect();
    Ok((found.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect(), refused))
}

/// What [`mean`] and [`values`] differ in.
#[derive(Clone, Copy)]
struct Choices {
    /// Whether a grade that is NaN is that of an unjudged document; else its row has no value.
    takes_unjudged: bool,
    /// Whether nothing after a row without a value matters.
    stops: bool,
}

/// The value of each row that has one, as far as they were computed; nothing without a measure.
fn each_row(
    plan: &Plan,
    matrices: &dyn Matrices,
    chosen: Choices,
    threads: usize,
    watch: Watch<'_>,
) -> Result<Option<Vec<Option<f64>>>> {
    let Some(measure) = plan.measures.first() else { return Ok(None) };
    let k = plan.cutoffs.first().copied().unwrap_or(usize::MAX).min(matrices.columns());
    let mut values = vec![None; matrices.rows()];
    let queue = Mutex::new(values.chunks_mut(AT_ONCE).zip((0..).step_by(AT_ONCE)));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let is_over = AtomicBool::new(false);
    let work = |watch: Watch<'_>| {
        let kernel = measure.kernel.as_ref();
        let mut rows = Rows::new(kernel, k, matrices.columns(), plan.policy, chosen.takes_unjudged);
        while !is_over.load(Ordering::Relaxed) {
            let Some((values, start)) = next() else { break };
            if let Err(stopped) = watch(Event::Work) {
                is_over.store(true, Ordering::Relaxed);
                return Err(stopped);
            }
            for (value, row) in values.iter_mut().zip(start..) {
                matrices.fill(row, &mut rows.grades, &mut rows.scores);
                *value = rows.value();
                if value.is_none() && chosen.stops {
                    is_over.store(true, Ordering::Relaxed);
                }
            }
        }
        Ok(())
    };
    let threads = if matrices.rows() * matrices.columns() < FEW_ROWS { 1 } else { threads };
    on_threads(threads, watch, work).into_iter().collect::<Result<()>>()?;
    Ok(Some(values))
}

/// One row at a time, with memory for it.
struct Rows<'a> {
    /// The vectors that the processor at hand has.
    level: Level,
    kernel: &'a dyn Kernel,
    k: usize,
    ties: Ties,
    /// The smallest grade that is not refused.
    least: f64,
    takes_unjudged: bool,
    /// How many of the best judged grades the value depends on; none where it depends on the retrieved
    /// ones in the same way.
    depth: Option<usize>,
    grades: Vec<f64>,
    scores: Vec<f64>,
    ranks: Vec<u32>,
    /// The grades in the order of their scores.
    found: Vec<f64>,
    best: Vec<f64>,
    sorter: Sorter,
    means: Means,
    ranked: Ranked,
}

impl<'a> Rows<'a> {
    #[allow(clippy::cast_possible_truncation)] // columns are counted in 32 bits
    fn new(
        kernel: &'a dyn Kernel,
        k: usize,
        columns: usize,
        policy: Policy,
        takes_unjudged: bool,
    ) -> Self {
        Self {
            level: Level::new(),
            kernel,
            k,
            ties: policy.ties,
            least: if policy.negative == Negative::Error { 0.0 } else { f64::MIN },
            takes_unjudged,
            depth: kernel.gains().map_or(Some(usize::MAX), Gains::best_depth),
            grades: Vec::with_capacity(columns),
            scores: Vec::with_capacity(columns),
            ranks: (1..=k as u32).collect(),
            found: Vec::with_capacity(columns),
            best: Vec::with_capacity(columns),
            sorter: Sorter::default(),
            means: Means::default(),
            ranked: Ranked::default(),
        }
    }

    /// The value of a row, NaN where it is undefined; nothing where the row has none.
    fn value(&mut self) -> Option<f64> {
        dispatch!(self.level, simd => self.value_with(simd))
    }

    #[inline(always)]
    fn value_with<S: Simd>(&mut self, simd: S) -> Option<f64> {
        let levels = Levels::count(&self.grades);
        let are_judged = levels.is_some() || are_finite(&self.grades);
        let are_grades = levels.is_some() || self.are_grades(are_judged);
        if !(are_grades && are_finite(&self.scores) && self.have_gains()) {
            return None;
        }
        let retrieved = self.scores.len();
        let is_of_first = self.depth.is_some() && are_judged;
        let k = if is_of_first { self.k.min(retrieved) } else { retrieved };
        self.sorter.sort_first(simd, &self.scores, k);
        self.order_tied();
        self.found.resize(self.sorter.order.len(), 0.0);
        for (grade, &row) in self.found.iter_mut().zip(&self.sorter.order) {
            *grade = self.grades[row as usize];
        }
        self.write_ideal(simd, levels, are_judged);
        let mut are_averaged = self.ties == Ties::Average && !self.sorter.scores.is_empty();
        if are_averaged
            && is_of_first
            && let Some(least) = self.kernel.gains().and_then(Gains::least_grade)
        {
            // Where grades are their own gains, so is the mean of a tie.
            if levels.is_some() {
                self.means.average(&mut self.found, &self.sorter.scores);
            } else {
                average_gains(&mut self.found, &self.sorter.scores, least);
            }
            are_averaged = false;
        }
        let (ranks, grades, ties) = if is_of_first && !are_averaged {
            (&self.ranks[..k], &self.found[..k], &[][..])
        } else {
            self.sorter.find_scores(&|row| self.scores[row]);
            self.ranked.take_in_order(&self.found, &self.sorter.scores, self.ties);
            (&self.ranked.ranks[..], &self.ranked.grades[..], &self.ranked.ties[..])
        };
        let value = self.kernel.value(&Query {
            ranks,
            grades,
            ties,
            retrieved,
            ideal: &self.best,
            subtopics: None,
            items: None,
        });
        (!value.is_infinite()).then_some(value)
    }

    #[inline(always)]
    fn are_grades(&self, are_judged: bool) -> bool {
        let least = self.grades.iter().copied().fold(f64::INFINITY, smaller);
        if least < self.least {
            return false;
        }
        let is_unjudged = |grade: f64| self.takes_unjudged && grade.is_nan();
        are_judged || self.grades.iter().all(|&grade| grade.is_finite() || is_unjudged(grade))
    }

    /// Whether a table of gains has one for each grade.
    #[inline(always)]
    fn have_gains(&mut self) -> bool {
        if !self.kernel.gains().is_some_and(Gains::are_of_table) {
            return true;
        }
        self.best.clear();
        self.best.extend(self.grades.iter().filter(|grade| !grade.is_nan()));
        self.kernel.check(&self.best).is_ok()
    }

    /// Puts tied documents in the order of their grades, where the policy says so.
    #[inline(always)]
    fn order_tied(&mut self) {
        let Self { grades, scores, sorter, .. } = self;
        if sorter.scores.is_empty() || !matches!(self.ties, Ties::Best | Ties::Worst) {
            return;
        }
        let grade = |at: u32| if grades[at as usize].is_nan() { 0.0 } else { grades[at as usize] };
        for tied in sorter.order.chunk_by_mut(|&a, &b| scores[a as usize] == scores[b as usize]) {
            tied.sort_unstable_by(|&a, &b| grade(b).total_cmp(&grade(a)));
            if self.ties == Ties::Worst {
                tied.reverse();
            }
        }
    }

    /// Writes the best grades, as many as the value depends on.
    #[inline(always)]
    fn write_ideal<S: Simd>(&mut self, simd: S, levels: Option<Levels>, are_judged: bool) {
        let Self { grades, best, sorter, .. } = self;
        let depth = self.depth.unwrap_or(usize::MAX).min(grades.len());
        if let Some(levels) = levels {
            best.resize(depth, 0.0);
            levels.write(best, f64::from);
            return;
        }
        best.clear();
        if are_judged {
            best.extend_from_slice(grades);
        } else {
            best.extend(grades.iter().filter(|grade| !grade.is_nan()));
        }
        sorter.network.descend_first(simd, best, depth);
        best.truncate(depth);
    }
}

/// Makes the grades of equal scores, which follow one another, the mean of their gains. Grades below the
/// least one gain nothing, others themselves.
#[inline(always)]
fn average_gains(grades: &mut [f64], scores: &[f64], least: f64) {
    for grade in &mut *grades {
        *grade = larger(*grade, least);
    }
    let mut end = 0;
    while let Some(start) = scores[end..].windows(2).position(|pair| pair[0] == pair[1]) {
        let start = end + start;
        let is_tied = |&&score: &&f64| score == scores[start];
        end = start + scores[start..].iter().take_while(is_tied).count();
        let tied = &mut grades[start..end];
        // Where all gain the same, so do they on average, without rounding.
        if tied.iter().any(|&gain| gain != tied[0]) {
            let (total, count) =
                tied.iter().fold((0.0, 0.0), |(total, count), gain| (total + gain, count + 1.0));
            tied.fill(total / count);
        }
    }
}

/// Averages small whole grades over ties. No branch depends on a score, for those would be guessed wrong
/// too often.
#[derive(Default)]
struct Means {
    /// Which tie each document is of; one alone is a tie, too.
    ties: Vec<u32>,
    /// The sums down to the last document of each tie: of grades in the high half, of documents in the low.
    sums: Vec<u64>,
    quotients: Vec<f64>,
}

/// So many documents are averaged at once, or those of a longer tie.
const MOST_AT_ONCE: usize = 1024;

impl Means {
    /// Makes the grades of equal scores, which follow one another, their mean.
    #[inline(always)]
    fn average(&mut self, mut grades: &mut [f64], mut scores: &[f64]) {
        while !scores.is_empty() {
            let mut end = scores.len().min(MOST_AT_ONCE);
            while end > 0 && end < scores.len() && scores[end - 1] == scores[end] {
                end -= 1;
            }
            if end == 0 {
                end = scores.iter().take_while(|&&score| score == scores[0]).count();
            }
            let (first, later) = grades.split_at_mut(end);
            self.average_at_once(first, &scores[..end]);
            (grades, scores) = (later, &scores[end..]);
        }
    }

    #[inline(always)]
    fn average_at_once(&mut self, grades: &mut [f64], scores: &[f64]) {
        let count = grades.len();
        let ties = with_length(&mut self.ties, count);
        let sums = with_length(&mut self.sums, count + 1);
        let means = with_length(&mut self.quotients, count);
        ties[0] = 1;
        for (tie, pair) in ties[1..].iter_mut().zip(scores.windows(2)) {
            *tie = u32::from(pair[0] != pair[1]);
        }
        let (mut tie, mut sum) = (0, 0);
        for (of_document, &grade) in ties.iter_mut().zip(&*grades) {
            tie += *of_document;
            sum += (grade + WHOLE).to_bits() << 32 | 1;
            *of_document = tie - 1;
            sums[tie as usize] = sum;
        }
        for (mean, pair) in means[..tie as usize].iter_mut().zip(sums.windows(2)) {
            let sum = pair[1] - pair[0];
            let number = |half: u64| f64::from_bits(half | WHOLE.to_bits()) - WHOLE;
            *mean = number(sum >> 32) / number(sum & u64::from(u32::MAX));
        }
        for (grade, &tie) in grades.iter_mut().zip(&*ties) {
            *grade = means[tie as usize];
        }
    }
}

/// The first so many numbers, which are there then.
#[inline(always)]
fn with_length<T: Copy + Default>(numbers: &mut Vec<T>, length: usize) -> &mut [T] {
    if numbers.len() < length {
        numbers.resize(length, T::default());
    }
    &mut numbers[..length]
}

/// Whether all values are numbers: 0 times anything else is none.
#[inline(always)]
fn are_finite(values: &[f64]) -> bool {
    let mut sums = [0.0; 8];
    let chunks = values.chunks_exact(sums.len());
    let rest = chunks.remainder();
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value * 0.0;
        }
    }
    sums.iter().chain(rest).all(|value| value.is_finite())
}

#[inline(always)]
fn larger(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

#[inline(always)]
fn smaller(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss)] // lists are short
mod tests {
    use super::*;
    use crate::kernels::{Params, make};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_value_of_a_row_is_that_of_all_its_ranks(
            documents in prop::collection::vec((0u8..5, -4i8..4, -1.0..1.0), 1..150),
            (of_grades, of_scores) in (0u8..4, 0u8..3),
            (k, ties, name) in (1usize..160, 0usize..4, prop::sample::select(&["ndcg", "dcg", "ap"][..])),
        ) {
            let grade = |&(whole, _, real): &(u8, i8, f64)| match of_grades {
                0 => f64::from(whole),
                1 => f64::from(whole) / 3.0,
                2 => f64::from(whole) - 1.5,
                _ => real,
            };
            let score = |&(_, whole, real): &(u8, i8, f64)| match of_scores {
                0 => f64::from(whole),
                1 => (real * 30.0).round() / 10.0,
                _ => real,
            };
            let ties = [Ties::Average, Ties::Input, Ties::Best, Ties::Worst][ties];
            let kernel = make(name, &Params { k: Some(k), ..Params::default() }).unwrap();
            let policy = Policy { ties, negative: Negative::Gain, ..Policy::default() };
            let mut rows = Rows::new(kernel.as_ref(), k.min(documents.len()), documents.len(), policy, false);
            rows.grades.extend(documents.iter().map(grade));
            rows.scores.extend(documents.iter().map(score));
            let found = rows.value();

            let mut order: Vec<(f64, f64)> = rows.grades.iter().copied().zip(rows.scores.iter().copied()).collect();
            let by_grade = |a: &(f64, f64), b: &(f64, f64)| match ties {
                Ties::Best => b.0.total_cmp(&a.0),
                Ties::Worst => a.0.total_cmp(&b.0),
                _ => std::cmp::Ordering::Equal,
            };
            order.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap().then_with(|| by_grade(a, b)));
            let (grades, scores): (Vec<f64>, Vec<f64>) = order.iter().copied().unzip();
            let mut ranked = Ranked::default();
            ranked.take_in_order(&grades, &scores, ties);
            let mut ideal = rows.grades.clone();
            ideal.sort_by(|a, b| b.total_cmp(a));
            let expected = kernel.value(&Query {
                ranks: &ranked.ranks,
                grades: &ranked.grades,
                ties: &ranked.ties,
                retrieved: grades.len(),
                ideal: &ideal,
                subtopics: None,
                items: None,
            });
            prop_assert_eq!(found.map(f64::to_bits), Some(expected.to_bits()));
        }

        #[test]
        fn tied_grades_become_their_mean(
            ties in prop::collection::vec(prop::collection::vec(0u8..16, 1..9), 0..20),
            long in 0..3 * MOST_AT_ONCE,
            place in 0usize..20,
        ) {
            let mut ties = ties;
            ties.insert(place.min(ties.len()), (0..16).cycle().take(long).collect());
            let (mut grades, mut scores, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for (score, tie) in (0_i8..).map(|place| f64::from(-place)).zip(&ties) {
                let total: f64 = tie.iter().copied().map(f64::from).sum();
                grades.extend(tie.iter().copied().map(f64::from));
                scores.resize(grades.len(), score);
                expected.resize(grades.len(), total / (scores.len() - expected.len()) as f64);
            }
            let mut gains = grades.clone();
            average_gains(&mut gains, &scores, 0.0);
            prop_assert_eq!(&gains, &expected);
            Means::default().average(&mut grades, &scores);
            prop_assert_eq!(grades, expected);
        }
    }
}
