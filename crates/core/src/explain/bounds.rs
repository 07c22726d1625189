//! The lowest and highest value of a measure over all grades that unjudged documents could have.
//!
//! Swapping the grades of two unjudged documents leaves the ideal order as it is. So the value is
//! largest where their grades descend with what their ranks are worth, and smallest where they ascend:
//! only how many there are of each grade is left to choose. nDCG is a quotient of two sums, each of
//! which adds up over the levels of gain, so that the best numbers are found level by level, and the
//! best quotient by Dinkelbach's method (*On nonlinear fractional programming*, 1967).
//!
//! In the difference of two lists, a document has one grade in both. `labels` and `staircase` choose
//! which documents are relevant for the largest and the smallest difference of binary measures.

use crate::error::{Error, Kind, Result};
use crate::evaluate::plan::Plan;
use crate::evaluate::trial::{Listed, Trial};
use crate::explain::labels::{self, Labels};
use crate::explain::quotient::{IdealSums, Search};
use crate::explain::rows::Rows;
use crate::explain::staircase;
use crate::ids::interner::Ids;
use crate::kernels::{Apart, Denominator, Ideal, Unknown};
use crate::policy::{Empty, Missing, Ties, Unretrieved};
use crate::rank::rankings::Rankings;
use crate::threads;

/// What a value could be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The smallest value; NaN where there is none.
    pub lower: f64,
    /// The largest.
    pub upper: f64,
    /// How many documents are unjudged.
    pub unjudged: u32,
    /// Whether some grades leave the measure undefined, so that the query could be left out.
    pub is_optional: bool,
    /// Whether some grades reach both bounds.
    pub is_exact: bool,
}

impl Bounds {
    /// With the value that a policy gives where the measure is undefined.
    fn under(self, empty: Empty) -> Self {
        if !self.is_optional || empty == Empty::Skip {
            return self;
        }
        let filled = empty.value().unwrap_or(f64::NAN);
        let (lower, upper) = if filled.is_nan() {
            (filled, filled)
        } else {
            (self.lower.min(filled), self.upper.max(filled))
        };
        Self { lower, upper, is_optional: false, ..self }
    }
}

/// The bounds of the first measure of a plan for each query, on a scale of grades.
pub fn bounds(
    rankings: &Rankings,
    plan: &Plan,
    scale: &[f64],
    threads: usize,
) -> Result<Vec<Bounds>> {
    plan.check(rankings.axis())?;
    plan.measures[0].kernel.check(scale)?;
    if plan.measures[0].kernel.unknown() == Unknown::Anything {
        return Err(unavailable(&plan.measures[0].name));
    }
    let of_range = threads::on_each(threads::cut_slow(rankings.offsets(), threads), |queries| {
        let mut bench = Bench::new(plan, scale);
        let (mut room, mut ideal_room) = (Vec::new(), Vec::new());
        let of_query = |query: usize| {
            if is_left_out(rankings, query, plan) {
                return LEFT_OUT;
            }
            let (relevance, scores) = rankings.list(query, &mut room);
            let ideal = rankings.axis().ideal(query, &mut ideal_room);
            let list = bench.list(relevance, scores, rankings.ties());
            bench.bound(&[list], ideal).under(plan.policy.empty)
        };
        queries.map(of_query).collect::<Vec<_>>()
    });
    Ok(of_range.concat())
}

/// The bounds of the difference of two rankings of the same judgments, the second minus the first.
pub fn bounds_of_difference(
    (one, other): (&Rankings, &Rankings),
    plan: &Plan,
    scale: &[f64],
    threads: usize,
) -> Result<Vec<Bounds>> {
    plan.check(one.axis())?;
    let kernel = &plan.measures[0].kernel;
    kernel.check(scale)?;
    let is_discounted = matches!(kernel.unknown(), Unknown::Discounted { .. })
        && kernel.gains().is_some_and(|gains| gains.ideal != Ideal::Retrieved);
    let is_known = is_discounted || kernel.apart() != Apart::Anything;
    if !(is_known && plan.policy.unretrieved == Unretrieved::Count) {
        return Err(unavailable(&plan.measures[0].name));
    }
    let of_range = threads::on_each(threads::cut_slow(one.offsets(), threads), |queries| {
        let mut bench = Bench::new(plan, scale);
        let (mut room, mut other_room, mut ideal_room) = (Vec::new(), Vec::new(), Vec::new());
        let of_query = |query: usize| {
            if is_left_out(one, query, plan) || is_left_out(other, query, plan) {
                return LEFT_OUT;
            }
            let ideal = one.axis().ideal(query, &mut ideal_room);
            let mut lists = [(one, &mut room), (other, &mut other_room)].map(|(rankings, room)| {
                let (relevance, scores) = rankings.list(query, room);
                bench.list(relevance, scores, rankings.ties())
            });
            share_documents(&mut lists, [one, other], query);
            let found = bench.bound(&lists, ideal);
            // Where both are undefined, both have the same value.
            let is_number = plan.policy.empty.value().is_some_and(f64::is_finite);
            found.under(if is_number { Empty::Zero } else { plan.policy.empty })
        };
        queries.map(of_query).collect::<Vec<_>>()
    });
    Ok(of_range.concat())
}

const LEFT_OUT: Bounds =
    Bounds { lower: f64::NAN, upper: f64::NAN, unjudged: 0, is_optional: false, is_exact: true };

fn is_left_out(rankings: &Rankings, query: usize, plan: &Plan) -> bool {
    plan.policy.missing == Missing::Skip && !rankings.is_present(query)
}

fn unavailable(measure: &str) -> Error {
    Error::new(
        Kind::Measure,
        "bounds_unavailable",
        format!("expected a measure whose bounds are known, found {measure}"),
    )
    .hint(
        "bounds are known of nDCG, DCG, AP, P, R, RR, RBP and the like; of differences, of nDCG, DCG, \
         AP, P, R, RR, RBP and Success",
    )
}

/// Gives unjudged documents that both lists have one number.
fn share_documents(lists: &mut [Rows; 2], rankings: [&Rankings; 2], query: usize) {
    let mut numbers = Ids::default();
    for (list, rankings) in lists.iter_mut().zip(rankings) {
        let start = rankings.offsets()[query];
        for ((_, number), row) in list.unjudged.iter_mut().zip(&list.given) {
            *number = numbers.number(&rankings.docs().get(rankings.codes()[start + row]));
        }
    }
}

/// Evaluates completions of one query after another.
struct Bench<'a> {
    plan: &'a Plan,
    trial: Trial<'a>,
    /// The grades that unjudged documents may have, in ascending order of what they are worth.
    scale: Vec<f64>,
    relevance: Vec<f64>,
    given: Vec<f64>,
    ideal: Vec<f64>,
    /// The sums of the discounts of the first ranks.
    cumulated: Vec<f64>,
}

impl<'a> Bench<'a> {
    fn new(plan: &'a Plan, scale: &[f64]) -> Self {
        let mut scale = scale.to_vec();
        scale.sort_unstable_by(f64::total_cmp);
        scale.dedup();
        if let Some(gains) = plan.measures[0].kernel.gains() {
            scale.sort_by(|&a, &b| gains.of(a).total_cmp(&gains.of(b)));
            scale.dedup_by(|a, b| gains.of(*a) == gains.of(*b));
        }
        Self {
            plan,
            trial: Trial::new(plan),
            scale,
            relevance: Vec::new(),
            given: Vec::new(),
            ideal: Vec::new(),
            cumulated: vec![0.0],
        }
    }

    /// Takes a list as the measure sees it.
    fn list(&self, relevance: &[f64], scores: &[f64], ties: Ties) -> Rows {
        let condenses = self.plan.condenses(&self.plan.measures[0]);
        let is_seen = |&(grade, _): &(&f64, &f64)| !(condenses && *grade < 0.0);
        let rows = relevance.iter().zip(scores);
        let given = rows.clone().enumerate().filter(|(_, row)| is_seen(row) && row.0.is_nan());
        let given = given.map(|(row, _)| row).collect();
        let (relevance, scores): (Vec<f64>, Vec<f64>) = rows.filter(is_seen).unzip();
        let unjudged = relevance.iter().enumerate().filter(|(_, grade)| grade.is_nan());
        let unjudged = unjudged.enumerate().map(|(number, (row, _))| (row, number)).collect();
        let mut rows = Rows { relevance, scores, ties, weights: Vec::new(), unjudged, given };
        if let Some(gains) = self.plan.measures[0].kernel.gains() {
            let weights = (1..=rows.scores.len()).map(|rank| gains.weight(rank));
            rows.weights = rows.average(&weights.collect::<Vec<f64>>());
        }
        rows
    }

    /// The bounds of the value of one list, or of the difference of two.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn bound(&mut self, lists: &[Rows], judged: &[f64]) -> Bounds {
        let numbers = lists.iter().flat_map(|list| list.unjudged.iter().map(|row| row.1 + 1));
        let unjudged = numbers.max().unwrap_or(0);
        let mut range = Range::default();
        let apart = self.plan.measures[0].kernel.apart();
        match self.plan.measures[0].kernel.unknown() {
            _ if unjudged == 0 => range.add(self.value(lists, judged, &[])),
            _ if lists.len() > 1 && apart != Apart::Anything => {
                self.bound_apart(apart, lists, judged, unjudged, &mut range);
            }
            Unknown::Discounted { is_share } => {
                self.bound_discounted(lists, judged, unjudged, is_share, &mut range);
            }
            Unknown::Rising => self.bound_rising(lists, judged, unjudged, &mut range),
            Unknown::Relevance { rel, k } => {
                self.bound_relevance(&lists[0], judged, (rel, k), &mut range);
            }
            Unknown::Anything => range.add(f64::NAN),
        }
        let Range { lower, upper, is_optional, is_exact } = range;
        Bounds { lower, upper, unjudged: unjudged as u32, is_optional, is_exact }
    }

    /// The value where unjudged documents have these grades, by their number.
    fn value(&mut self, lists: &[Rows], judged: &[f64], grades: &[f64]) -> f64 {
        self.given.clear();
        self.given.extend_from_slice(grades);
        self.given.sort_unstable_by(|a, b| b.total_cmp(a));
        merge(judged, &self.given, &mut self.ideal);
        let mut difference = 0.0;
        for (list, sign) in lists.iter().rev().zip([1.0, -1.0]) {
            self.relevance.clone_from(&list.relevance);
            for &(row, number) in &list.unjudged {
                self.relevance[row] = grades[number];
            }
            let (relevance, ideal) = (&self.relevance, &self.ideal);
            let completed = Listed { relevance, scores: &list.scores, ideal };
            difference += sign * self.trial.value(completed, list.ties);
        }
        difference
    }

    /// All of the lowest grade, and all of the highest.
    fn bound_rising(&mut self, lists: &[Rows], judged: &[f64], unjudged: usize, range: &mut Range) {
        let scale = self.scale.clone();
        let (lowest, highest) = (scale[0], scale[scale.len() - 1]);
        range.add(self.value(lists, judged, &vec![highest; unjudged]));
        let mut grades = vec![lowest; unjudged];
        for grade in scale {
            // The first that is defined has only the last document above the lowest grade.
            grades[unjudged - 1] = grade;
            let value = self.value(lists, judged, &grades);
            range.add(value);
            if !value.is_nan() {
                break;
            }
        }
    }

    /// Each number of relevant documents, those of the first rows or of the last ones; one more below
    /// the cutoff is one more to find, and never raises a value.
    fn bound_relevance(
        &mut self,
        list: &Rows,
        judged: &[f64],
        (rel, k): (f64, usize),
        range: &mut Range,
    ) {
        let irrelevant = self.scale.iter().copied().find(|&grade| grade < rel);
        let relevant = self.scale.iter().copied().find(|&grade| grade >= rel);
        let low = irrelevant.or(relevant).unwrap_or_default();
        let high = relevant.or(irrelevant).unwrap_or_default();
        let unjudged = list.unjudged.len();
        let above = list.unjudged.iter().filter(|&&(row, _)| list.first_of_tie(row) < k).count();
        let lists = std::slice::from_ref(list);
        let mut grades = vec![low; unjudged];
        range.add(self.value(lists, judged, &grades));
        for number in 0..above {
            grades[number] = high;
            range.add(self.value(lists, judged, &grades));
        }
        grades.fill(low);
        grades[above..].fill(high);
        range.add(self.value(lists, judged, &grades));
        for number in (0..above).rev() {
            grades[number] = high;
            range.add(self.value(lists, judged, &grades));
        }
    }

    /// The labels for which two lists are furthest apart.
    fn bound_apart(
        &mut self,
        apart: Apart,
        lists: &[Rows],
        judged: &[f64],
        unjudged: usize,
        range: &mut Range,
    ) {
        let [one, other] = lists else { return };
        let pair = [one, other];
        let rel = match apart {
            Apart::Anything => return,
            Apart::Graded { k, p } => {
                return self.bound_graded((k, p), lists, judged, unjudged, range);
            }
            Apart::Sum { rel, .. } | Apart::First { rel, .. } | Apart::Precisions { rel, .. } => {
                rel
            }
        };
        let split = self.scale.partition_point(|&grade| grade < rel);
        let (Some(&low), Some(&high)) = (self.scale[..split].last(), self.scale.get(split)) else {
            // All grades count the same.
            let grades = vec![self.scale[0]; unjudged];
            return range.add(self.value(lists, judged, &grades));
        };
        let known = judged.partition_point(|&grade| grade >= rel);
        let divide = |denominator| {
            move |k: usize, relevant: usize| match denominator {
                Denominator::Relevant => relevant,
                Denominator::Reachable => relevant.min(k),
                _ => k,
            }
        };
        let mut found: Vec<Labels> = Vec::new();
        found.push(vec![false; unjudged]);
        match apart {
            Apart::Sum { k, p, denominator, .. } => {
                let is_relevant = |grade| f64::from(u8::from(grade >= rel));
                let (added, base) =
                    labels::add_up(pair, (k, p, denominator), unjudged, is_relevant);
                let divide_by = |relevant| real(divide(denominator)(k, relevant));
                found.extend(labels::of_sum(&added, base, known, divide_by));
            }
            Apart::First { k, .. } => {
                found.extend(labels::of_first(pair, (rel, k), known, unjudged));
            }
            Apart::Precisions { k, denominator, .. } => {
                let divide_by = |relevant| real(divide(denominator)(k, relevant));
                for (pair, sign) in [(pair, -1.0), ([other, one], 1.0)] {
                    let counts = (known, unjudged);
                    let largest = staircase::find_largest(pair, (rel, k), counts, divide_by);
                    match largest.labels {
                        Some(labels) => found.push(labels),
                        None => range.add_beyond(sign * largest.value),
                    }
                }
            }
            Apart::Anything | Apart::Graded { .. } => {}
        }
        for labels in found {
            let grades: Vec<f64> =
                labels.into_iter().map(|is_high| if is_high { high } else { low }).collect();
            range.add(self.value(lists, judged, &grades));
        }
    }

    /// The highest grade for documents that add to the difference, and the lowest for others.
    fn bound_graded(
        &mut self,
        (k, p): (usize, f64),
        lists: &[Rows],
        judged: &[f64],
        unjudged: usize,
        range: &mut Range,
    ) {
        let [one, other] = lists else { return };
        let (added, _) =
            labels::add_up([one, other], (k, p, Denominator::Cutoff), unjudged, |_| 0.0);
        let (lowest, highest) = (self.scale[0], self.scale[self.scale.len() - 1]);
        let least = self.scale.iter().copied().find(|&grade| grade > 0.0);
        range.add(self.value(lists, judged, &vec![lowest; unjudged]));
        for sign in [1.0, -1.0] {
            let of_document = |added: &f64| if sign * added > 0.0 { highest } else { lowest };
            let mut grades: Vec<f64> = added.iter().map(of_document).collect();
            range.add(self.value(lists, judged, &grades));
            // Where nothing else has a gain, one document has to, so that there is a value.
            let best =
                (0..unjudged).max_by(|&a, &b| (sign * added[a]).total_cmp(&(sign * added[b])));
            if let (Some(best), Some(least)) = (best, least) {
                grades.fill(lowest);
                grades[best] = least;
                range.add(self.value(lists, judged, &grades));
            }
        }
    }

    fn bound_discounted(
        &mut self,
        lists: &[Rows],
        judged: &[f64],
        unjudged: usize,
        is_share: bool,
        range: &mut Range,
    ) {
        let Some(gains) = self.plan.measures[0].kernel.gains() else { return };
        let mut weights = vec![0.0; unjudged];
        let mut base = 0.0;
        for (list, sign) in lists.iter().rev().zip([1.0, -1.0]) {
            for &(row, number) in &list.unjudged {
                weights[number] += sign * list.weights[row];
            }
            let judged =
                list.relevance.iter().zip(&list.weights).filter(|(grade, _)| !grade.is_nan());
            let sum = judged.map(|(&grade, weight)| gains.of(grade) * weight).sum::<f64>();
            base += sign * (sum + gains.missing_after(list.relevance.len()));
        }
        let known: Vec<f64> = if gains.ideal == Ideal::Retrieved || self.ignores_unretrieved() {
            let retrieved = lists.iter().flat_map(|list| &list.relevance);
            retrieved.copied().filter(|grade| !grade.is_nan()).collect()
        } else {
            judged.to_vec()
        };
        let mut known: Vec<f64> = known.into_iter().map(|grade| gains.of(grade)).collect();
        known.sort_unstable_by(f64::total_cmp);
        let levels: Vec<f64> = self.scale.iter().map(|&grade| gains.of(grade)).collect();
        let has_known = known.last().is_some_and(|&gain| gain > 0.0);
        let ideal = is_share.then(|| {
            let most = gains.ideal_depth().min(known.len() + unjudged);
            while self.cumulated.len() <= most {
                let rank = self.cumulated.len();
                self.cumulated.push(self.cumulated[rank - 1] + gains.discount(1.0, rank));
            }
            IdealSums::new(&known, &levels, unjudged, &self.cumulated[..=most])
        });
        if !has_known && levels[0] <= 0.0 {
            let lowest = vec![self.scale[0]; unjudged];
            range.add(self.value(lists, judged, &lowest));
        }
        let mut order: Vec<usize> = (0..unjudged).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        for sign in [1.0, -1.0] {
            let search = Search::new(&order, &weights, base, &levels, ideal.as_ref(), sign);
            if let Some(counts) = search.find() {
                let mut grades = vec![self.scale[0]; unjudged];
                for (level, &count) in (1..).zip(&counts) {
                    for &number in &order[..count] {
                        grades[number] = self.scale[level];
                    }
                }
                let value = self.value(lists, judged, &grades);
                range.add(value);
                // With an ideal of slots, one document has to have a gain, so that there is a value.
                if let Some(least) = levels.iter().position(|&gain| gain > 0.0)
                    && value.is_nan()
                {
                    grades[order[0]] = self.scale[least];
                    range.add(self.value(lists, judged, &grades));
                }
            }
            order.reverse();
        }
    }

    fn ignores_unretrieved(&self) -> bool {
        self.plan.policy.unretrieved == Unretrieved::Ignore
    }
}

/// Merges numbers that descend; there are few different ones.
fn merge<'a>(mut one: &'a [f64], mut other: &'a [f64], merged: &mut Vec<f64>) {
    merged.clear();
    while let (Some(&first), Some(&second)) = (one.first(), other.first()) {
        let (from, bound) = if first >= second { (&mut one, second) } else { (&mut other, first) };
        let (taken, rest) = from.split_at(from.partition_point(|&number| number >= bound));
        merged.extend_from_slice(taken);
        *from = rest;
    }
    merged.extend_from_slice(one);
    merged.extend_from_slice(other);
}

#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn real(count: usize) -> f64 {
    count as f64
}

/// The least and the largest of the values seen.
struct Range {
    lower: f64,
    upper: f64,
    is_optional: bool,
    is_exact: bool,
}

impl Default for Range {
    fn default() -> Self {
        Self { lower: f64::NAN, upper: f64::NAN, is_optional: false, is_exact: true }
    }
}

impl Range {
    fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.is_optional = true;
        } else {
            // The smaller and the larger of a number and NaN are the number.
            self.lower = self.lower.min(value);
            self.upper = self.upper.max(value);
        }
    }

    /// Adds a bound that perhaps no value reaches.
    fn add_beyond(&mut self, bound: f64) {
        self.is_exact = false;
        self.add(bound);
    }
}
