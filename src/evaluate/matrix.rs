//! The mean of a measure over the rows of two matrices; only the ranks down to the cutoff are sorted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Result;
use crate::evaluate::plan::Plan;
use crate::kernels::{Gains, Kernel, Query};
use crate::memory::{Vec, vec};
use crate::number::aggregate::Part;
use crate::number::levels::{Levels, sort_grades};
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

/// How many rows a thread takes at once.
const AT_ONCE: usize = 64;

/// The mean of the first measure of a plan; nothing where a row holds what is no number, what the
/// policy refuses, or gains that overflow, about all of which others have more to say.
///
/// # Errors
/// Where it is stopped.
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
///
/// # Errors
/// Where it is stopped.
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
    kernel: &'a dyn Kernel,
    k: usize,
    ties: Ties,
    /// The smallest grade that is not refused.
    least: f64,
    takes_unjudged: bool,
    /// How many of the best judged grades the value depends on; none where it depends on the retrieved
    /// ones in the same way.
    depth: Option<usize>,
    has_gains: bool,
    grades: Vec<f64>,
    scores: Vec<f64>,
    selection: Selection,
    packed: Vec<f64>,
    ranks: Vec<u32>,
    /// The grades in the order of their scores, and these scores.
    found: Vec<f64>,
    in_order: Vec<f64>,
    best: Vec<f64>,
    sorter: Sorter,
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
            kernel,
            k,
            ties: policy.ties,
            least: if policy.negative == Negative::Error { 0.0 } else { f64::MIN },
            takes_unjudged,
            depth: kernel.gains().map_or(Some(usize::MAX), Gains::best_depth),
            has_gains: kernel.gains().is_some(),
            grades: Vec::with_capacity(columns),
            scores: Vec::with_capacity(columns),
            selection: Selection::default(),
            packed: Vec::with_capacity(columns),
            ranks: (1..=k as u32).collect(),
            found: Vec::with_capacity(columns),
            in_order: Vec::with_capacity(columns),
            best: Vec::with_capacity(columns),
            sorter: Sorter::default(),
            ranked: Ranked::default(),
        }
    }

    /// The value of a row, NaN where it is undefined; nothing where the row has none.
    fn value(&mut self) -> Option<f64> {
        let levels = Levels::count(&self.grades);
        let are_grades = levels.is_some() || self.are_grades();
        if !(are_grades && are_finite(&self.scores) && self.have_gains()) {
            return None;
        }
        let value = self.value_of_first(levels).unwrap_or_else(|| self.value_of_all(levels));
        (!value.is_infinite()).then_some(value)
    }

    fn are_grades(&self) -> bool {
        let least = self.grades.iter().copied().fold(f64::INFINITY, smaller);
        if least < self.least {
            return false;
        }
        let is_unjudged = |grade: f64| self.takes_unjudged && grade.is_nan();
        are_finite(&self.grades)
            || self.grades.iter().all(|&grade| grade.is_finite() || is_unjudged(grade))
    }

    /// Whether a table of gains has one for each grade.
    fn have_gains(&mut self) -> bool {
        if !self.kernel.gains().is_some_and(Gains::are_of_table) {
            return true;
        }
        self.best.clear();
        self.best.extend(self.grades.iter().filter(|grade| !grade.is_nan()));
        self.kernel.check(&self.best).is_ok()
    }

    /// The value by the first ranks alone; nothing where there are more of them than a few, unjudged
    /// documents, or scores at them that are nearly equal, but not quite.
    fn value_of_first(&mut self, levels: Option<Levels>) -> Option<f64> {
        let columns = self.scores.len();
        let k = self.k.min(columns);
        let are_judged = levels.is_some() || are_finite(&self.grades);
        if k == 0 || k >= FEW_RANKS || !are_judged || self.depth.is_none() {
            return None;
        }
        // The last bits of a score say in which column it is, and are larger for the first of equal
        // scores. They are never 0, so that 0.0 and what is just below it are distinct.
        let column_bits = (columns + 1).next_power_of_two() as u64 - 1;
        let packed = self.scores.iter().zip(0..).map(|(&score, column)| {
            let bits = (score + 0.0).to_bits();
            let place = if bits >> 63 == 0 { column_bits - column } else { column + 1 };
            f64::from_bits(bits & !column_bits | place)
        });
        self.packed.clear();
        self.packed.extend(packed);
        let largest = self.selection.select(&self.packed, columns.min(k + 1));
        let score_bits = |packed: f64| packed.to_bits() & !column_bits;
        let is_tied = largest.windows(2).any(|pair| score_bits(pair[0]) == score_bits(pair[1]));
        if is_tied && !(self.has_gains && matches!(self.ties, Ties::Average | Ties::Input)) {
            return None;
        }
        #[allow(clippy::cast_possible_truncation)] // a column
        let column = |&packed: &f64| {
            let place = packed.to_bits() & column_bits;
            (if packed.to_bits() >> 63 == 0 { column_bits - place } else { place - 1 }) as usize
        };
        let order = largest.iter().rev().map(column);
        self.found.clear();
        self.found.extend(order.clone().take(k).map(|column| self.grades[column]));
        if is_tied {
            self.in_order.clear();
            self.in_order.extend(order.map(|column| self.scores[column]));
            let are_ties = self.in_order.windows(2).all(|pair| {
                pair[0] == pair[1] || score_bits(pair[0] + 0.0) != score_bits(pair[1] + 0.0)
            });
            if !(are_ties && self.complete_last_tie(k, column_bits)) {
                return None;
            }
        }
        Some(self.value_of_found(k, is_tied, levels))
    }

    /// Appends what shares its score with the last of the first ranks, where ties are averaged over;
    /// false where a score is nearly the same, but not quite.
    fn complete_last_tie(&mut self, k: usize, column_bits: u64) -> bool {
        let last = self.in_order[k - 1];
        let continues = self.in_order.get(k).is_some_and(|&next| next == last);
        self.in_order.truncate(k);
        if !continues {
            return true;
        }
        // All of them are taken anew, in the order of the columns.
        let before = self.in_order.partition_point(|&score| score > last);
        let last_bits = (last + 0.0).to_bits() & !column_bits;
        self.found.resize(k + self.scores.len(), 0.0);
        let (mut end, mut alike) = (before, 0);
        for (&score, &grade) in self.scores.iter().zip(&self.grades) {
            self.found[end] = grade;
            end += usize::from(score == last);
            alike += usize::from((score + 0.0).to_bits() & !column_bits == last_bits);
        }
        self.found.truncate(end);
        self.in_order.resize(end, last);
        alike == end - before
    }

    /// The value by all ranks.
    fn value_of_all(&mut self, levels: Option<Levels>) -> f64 {
        let Self { grades, scores, .. } = self;
        let order = self.sorter.sort(scores.len(), |at| scores[at]);
        if matches!(self.ties, Ties::Best | Ties::Worst) {
            let grade =
                |at: u32| if grades[at as usize].is_nan() { 0.0 } else { grades[at as usize] };
            for tied in order.chunk_by_mut(|&a, &b| scores[a as usize] == scores[b as usize]) {
                tied.sort_unstable_by(|&a, &b| grade(b).total_cmp(&grade(a)));
                if self.ties == Ties::Worst {
                    tied.reverse();
                }
            }
        }
        self.found.clear();
        self.found.extend(order.iter().map(|&at| grades[at as usize]));
        self.in_order.clear();
        self.in_order.extend(order.iter().map(|&at| scores[at as usize]));
        let are_judged = levels.is_some() || are_finite(grades);
        if self.has_gains && self.depth.is_some() && are_judged {
            let pairs = self.in_order.windows(2);
            // Counting takes no branch per pair.
            let is_tied = pairs.filter(|pair| pair[0] == pair[1]).count() > 0;
            return self.value_of_found(self.k.min(self.found.len()), is_tied, levels);
        }
        self.ranked.take_in_order(&self.found, &self.in_order, self.ties);
        self.best.clear();
        self.best.extend(grades.iter().filter(|grade| !grade.is_nan()));
        sort_grades(&mut self.best);
        let Ranked { ranks, grades, ties, .. } = &self.ranked;
        let retrieved = self.scores.len();
        self.kernel.value(&Query {
            ranks,
            grades,
            ties,
            retrieved,
            ideal: &self.best,
            subtopics: None,
            items: None,
        })
    }

    /// Writes the best grades, as many as the value depends on.
    fn write_ideal(&mut self, levels: Option<Levels>) {
        let columns = self.grades.len();
        let depth = self.depth.unwrap_or(columns).min(columns);
        self.best.clear();
        if let Some(levels) = levels {
            self.best.resize(depth, 0.0);
            levels.write(&mut self.best, f64::from);
        } else if (1..FEW_RANKS).contains(&depth) {
            self.best.extend(self.selection.select(&self.grades, depth).iter().rev());
        } else {
            self.best.extend_from_slice(&self.grades);
            sort_grades(&mut self.best);
        }
    }

    /// The value of the first `k` of the grades that were found, all of which are judged.
    fn value_of_found(&mut self, k: usize, is_tied: bool, levels: Option<Levels>) -> f64 {
        self.write_ideal(levels);
        let (retrieved, ideal) = (self.scores.len(), &self.best[..]);
        if is_tied && self.ties == Ties::Average {
            // Where grades are their own gains, the mean gain of a tie is its mean grade. Sums of small
            // whole numbers are exact, so it is the same to the bit.
            if levels.is_none() || !self.kernel.gains().is_some_and(Gains::are_grades) {
                self.ranked.take_in_order(&self.found, &self.in_order, self.ties);
                let Ranked { ranks, grades, ties, .. } = &self.ranked;
                return self.kernel.value(&Query {
                    ranks,
                    grades,
                    ties,
                    retrieved,
                    ideal,
                    subtopics: None,
                    items: None,
                });
            }
            average_tied(&mut self.found, &self.in_order);
        }
        let (ranks, grades) = (&self.ranks[..k], &self.found[..k]);
        self.kernel.value(&Query {
            ranks,
            grades,
            ties: &[],
            retrieved,
            ideal,
            subtopics: None,
            items: None,
        })
    }
}

/// Makes the grades of equal scores, which follow one another, their mean. Grades are small and whole.
/// No branch depends on a score, for those would be guessed wrong too often.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // grades and columns are small
fn average_tied(grades: &mut [f64], scores: &[f64]) {
    let (mut total, mut count, mut before) = (0_i64, 0_i64, f64::NAN);
    for (grade, &score) in grades.iter_mut().zip(scores) {
        let continued = -i64::from(score == before);
        total = (total & continued) + *grade as i64;
        count = (count & continued) + 1;
        before = score;
        *grade = total as f64 / count as f64;
    }
    // The last of a tie has the mean of all of it.
    let (mut mean, mut after) = (0.0_f64, f64::NAN);
    for (grade, &score) in grades.iter_mut().zip(scores).rev() {
        let continued = u64::from(score == after).wrapping_neg();
        mean = f64::from_bits(mean.to_bits() & continued | grade.to_bits() & !continued);
        *grade = mean;
        after = score;
    }
}

/// Up to this many ranks are selected; more are sorted.
const FEW_RANKS: usize = 64;

/// Selects the largest of a row's values. The loops have no branches that depend on the values, for
/// those would be guessed wrong too often.
#[derive(Default)]
struct Selection {
    /// The largest of every so many values.
    bounds: Vec<f64>,
    /// The values that may be among the largest.
    candidates: Vec<f64>,
    /// The largest values, smallest first.
    largest: Vec<f64>,
}

impl Selection {
    /// The `k` largest of at least `k` values, smallest first.
    fn select(&mut self, values: &[f64], k: usize) -> &[f64] {
        let Self { bounds, candidates, largest } = self;
        bounds.clear();
        bounds.extend_from_slice(&values[..k]);
        for chunk in values[k..].chunks(k) {
            for (bound, &value) in bounds.iter_mut().zip(chunk) {
                *bound = larger(*bound, value);
            }
        }
        // As many values as are wanted are at least this.
        let bound = bounds.iter().copied().fold(f64::INFINITY, smaller);
        candidates.resize(values.len(), 0.0);
        let mut count = 0;
        for &value in values {
            candidates[count] = value;
            count += usize::from(value >= bound);
        }
        let candidates = &candidates[..count];
        match k {
            0..=4 => insert_all::<4>(candidates, k, largest),
            5..=8 => insert_all::<8>(candidates, k, largest),
            9..=12 => insert_all::<12>(candidates, k, largest),
            13..=16 => insert_all::<16>(candidates, k, largest),
            17..=32 => insert_all::<32>(candidates, k, largest),
            _ => insert_all::<FEW_RANKS>(candidates, k, largest),
        }
        largest
    }
}

/// Puts the `k` largest of some values into `largest`, smallest first. `N` is at least `k`, and known
/// beforehand, so that several numbers are taken at once.
fn insert_all<const N: usize>(values: &[f64], k: usize, largest: &mut Vec<f64>) {
    // Places after the first k hold what no value drives out.
    let mut ascending = [f64::INFINITY; N];
    ascending[..k].fill(f64::NEG_INFINITY);
    for &value in values {
        for at in 0..N - 1 {
            ascending[at] = larger(ascending[at], smaller(ascending[at + 1], value));
        }
        ascending[N - 1] = larger(ascending[N - 1], value);
    }
    largest.clear();
    largest.extend_from_slice(&ascending[..k]);
}

/// Whether all values are numbers: 0 times anything else is none.
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

fn larger(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

fn smaller(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss)] // lists are short
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn selecting_is_sorting_and_taking_the_first(
            values in prop::collection::vec(-3i8..3, 1..60),
            k in 1usize..60,
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let k = k.min(values.len());
            let mut expected = values.clone();
            expected.sort_by(f64::total_cmp);
            let mut selection = Selection::default();
            prop_assert_eq!(selection.select(&values, k), &expected[values.len() - k..]);
        }

        #[test]
        fn tied_grades_become_their_mean(
            ties in prop::collection::vec(prop::collection::vec(0u8..16, 1..9), 0..20),
        ) {
            let (mut grades, mut scores, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for (score, tie) in (0_i8..).map(|place| f64::from(-place)).zip(&ties) {
                let total: f64 = tie.iter().copied().map(f64::from).sum();
                grades.extend(tie.iter().copied().map(f64::from));
                scores.resize(grades.len(), score);
                expected.resize(grades.len(), total / (scores.len() - expected.len()) as f64);
            }
            average_tied(&mut grades, &scores);
            prop_assert_eq!(grades, expected);
        }
    }
}
