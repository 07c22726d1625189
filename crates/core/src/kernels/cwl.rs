//! Measures of the C/W/L framework: a user reads from the top, and continues from each rank to the next
//! with a probability that depends on the rank and on what was found.
//!
//! Moffat, Bailey, Scholer and Thomas, *Incorporating user expectations and behavior into the measurement
//! of search effectiveness*, 2017, and Azzopardi, Thomas and Moffat, *`cwl_eval`*, 2019. Between two
//! documents with a gain, the weights of ranks are known beforehand, so that a list costs no more than it
//! has such documents, however deep a user may read.

use super::kernel::{Kernel, Make, Unknown};
use super::params::{Params, Quantity};
use super::query::{Place, Query, Reads, real};
use crate::number::log2::log2;

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("sdcg", |params| {
        Box::new(Cwl::new(params, fixed(params, |rank| 1.0 / log2(rank + 1), false)))
    }),
    ("bpm", |params| Box::new(Cwl::new(params, User::Target(params.target)))),
    ("inst", |params| Box::new(Cwl::new(params, User::Adaptive(params.target)))),
    ("insq", |params| Box::new(Cwl::new(params, fixed(params, patience(params.target), true)))),
    ("nerr8", |params| Box::new(Cwl::new(params, sated(params, |_| 1.0, false)))),
    ("nerr9", |params| Box::new(Cwl::new(params, sated(params, |rank| 1.0 / real(rank), false)))),
    ("nerr10", |params| Box::new(Cwl::new(params, sated(params, persistence(params.p), true)))),
    ("nerr11", |params| Box::new(Cwl::new(params, sated(params, patience(params.target), true)))),
    ("cwl_p", |params| Box::new(Cwl::new(params, fixed(params, |_| 1.0, false)))),
    ("cwl_rr", |params| Box::new(Cwl::new(params, User::First))),
    ("cwl_ap", |params| Box::new(Cwl::new(params, User::Recall))),
    ("cwl_rbp", |params| Box::new(Cwl::new(params, fixed(params, persistence(params.p), true)))),
    ("tbg", |params| {
        let Params { cost, half_life, .. } = *params;
        let weight = move |rank: usize| (-cost * real(rank - 1) / half_life).exp2();
        Box::new(Cwl::new(params, fixed(params, weight, false)))
    }),
    ("u", |params| {
        let Params { cost, length, .. } = *params;
        let weight = move |rank: usize| (1.0 - cost * real(rank - 1) / length).max(0.0);
        Box::new(Cwl::new(params, fixed(params, weight, false)))
    }),
    ("ift", |params| Box::new(Cwl::new(params, User::Foraging(Foraging::new(params))))),
];

/// How a user goes on.
enum User {
    /// Whatever is found.
    Fixed(Weights),
    /// The same, if the documents read so far have not satisfied the user.
    Sated(Weights),
    /// Until so much gain is found.
    Target(f64),
    /// More likely the less of so much gain is found: INST.
    Adaptive(f64),
    /// Until anything is found.
    First,
    /// By what is still to come, of which the user knows: average precision.
    Recall,
    /// By what is found and what it costs.
    Foraging(Foraging),
}

/// A user who is the more likely to go on the less is found of a wanted gain, and the more is found
/// for what it costs: Azzopardi, Thomas and Craswell, *Measuring the utility of search engine result
/// pages*, 2018.
struct Foraging {
    /// The wanted gain, the odds of going on once it is found, and how much the distance to it matters.
    goal: Option<[f64; 3]>,
    /// The wanted gain by cost, the odds of stopping at it, and how much the distance to it matters.
    rate: Option<[f64; 3]>,
    cost: f64,
}

impl Foraging {
    fn new(params: &Params) -> Self {
        Self {
            goal: params.has_goal.then_some(params.goal),
            rate: params.has_rate.then_some(params.rate),
            cost: params.cost,
        }
    }

    /// How likely the user goes on from a rank down to which so much was found.
    fn goes_on(&self, rank: usize, gain: f64) -> f64 {
        let for_goal = self.goal.map_or(1.0, |[wanted, odds, weight]| {
            1.0 - 1.0 / (1.0 + odds * ((wanted - gain) * weight).exp())
        });
        let for_rate = self.rate.map_or(1.0, |[wanted, odds, weight]| {
            let rate = gain / (real(rank) * self.cost);
            1.0 / (1.0 + odds * ((wanted - rate) * weight).exp())
        });
        for_goal * for_rate
    }
}

fn fixed(params: &Params, weight: impl FnMut(usize) -> f64, reads_on: bool) -> User {
    User::Fixed(Weights::new(params.depth(), weight, reads_on))
}

fn sated(params: &Params, weight: impl FnMut(usize) -> f64, reads_on: bool) -> User {
    User::Sated(Weights::new(params.depth(), weight, reads_on))
}

/// The weights of a user who wants so much gain and goes on whatever is found.
fn patience(target: f64) -> impl Fn(usize) -> f64 {
    move |rank| square(2.0 * target / (real(rank - 1) + 2.0 * target))
}

/// 1, p, p², … by repeated multiplication.
fn persistence(p: f64) -> impl FnMut(usize) -> f64 {
    let mut weight = 1.0 / p;
    move |rank| {
        weight = if rank == 1 { 1.0 } else { weight * p };
        weight
    }
}

fn square(number: f64) -> f64 {
    number * number
}

/// How likely each rank is read where nothing is found, of ranks down to a depth.
struct Weights {
    of_ranks: Vec<f64>,
    /// The sums of those before each rank, and of all.
    before: Vec<f64>,
    /// How likely the user wants to read on after the last of them.
    after: f64,
}

impl Weights {
    fn new(depth: usize, mut weight: impl FnMut(usize) -> f64, reads_on: bool) -> Self {
        let of_ranks: Vec<f64> = (1..=depth).map(&mut weight).collect();
        let mut before = Vec::with_capacity(depth + 1);
        let mut sum = 0.0;
        before.push(sum);
        for weight in &of_ranks {
            sum += weight;
            before.push(sum);
        }
        Self { of_ranks, before, after: if reads_on { weight(depth + 1) } else { 0.0 } }
    }

    fn at(&self, rank: usize) -> f64 {
        self.of_ranks[rank - 1]
    }

    /// The sum of the ranks after one, up to another one.
    fn between(&self, rank: usize, last: usize) -> f64 {
        self.before[last] - self.before[rank]
    }
}

/// What a list comes to.
struct Sums {
    /// How many documents are read, which is the sum of the weights of all ranks.
    items: f64,
    /// The gains of all ranks, each times its weight.
    utility: f64,
    /// The gains of all ranks.
    gain: f64,
    /// How likely the user wants to read on after the last rank.
    after: f64,
}

/// A measure of the framework.
struct Cwl {
    user: User,
    depth: usize,
    min_rel: f64,
    max_rel: f64,
    quantity: Quantity,
    is_residual: bool,
    /// What each document costs.
    cost: f64,
}

impl Cwl {
    fn new(params: &Params, user: User) -> Self {
        Self {
            user,
            depth: params.depth(),
            min_rel: params.min_rel,
            max_rel: params.max_rel,
            quantity: params.quantity,
            is_residual: params.is_residual,
            cost: params.cost,
        }
    }

    fn gain(&self, grade: f64) -> f64 {
        let grade = grade.max(0.0).max(self.min_rel).min(self.max_rel);
        (grade - self.min_rel) / (self.max_rel - self.min_rel)
    }

    /// The mean gain of the documents of a place, of which unjudged ones have a gain of their own.
    fn mean(&self, place: &Place<'_>, unjudged: f64) -> f64 {
        if place.size == 1 {
            return self.gain(place.grades[0]);
        }
        let known = place.grades.iter().fold(0.0, |sum, &grade| sum + self.gain(grade));
        (known + unjudged * real(place.size - place.grades.len())) / real(place.size)
    }

    /// The ranks with a gain where unjudged documents have none.
    fn found<'a>(&'a self, query: &'a Query<'a>) -> impl Iterator<Item = (usize, f64)> + 'a {
        let gains = query.places(self.depth).map(|place| (place, self.mean(&place, 0.0)));
        let found = gains.filter(|&(_, gain)| gain > 0.0);
        found.flat_map(|(place, gain)| place.ranks(self.depth).map(move |rank| (rank, gain)))
    }

    /// The gain of every rank where all that is not judged, and all below the list, have the highest.
    fn most(&self, query: &Query<'_>) -> Vec<f64> {
        let mut gains = vec![1.0; self.depth];
        for place in query.places(self.depth) {
            let gain = self.mean(&place, 1.0);
            place.ranks(self.depth).for_each(|rank| gains[rank - 1] = gain);
        }
        gains
    }

    /// What a list comes to by its ranks with a gain, which ascend.
    fn sums(&self, found: impl Iterator<Item = (usize, f64)>) -> Sums {
        match &self.user {
            User::Fixed(weights) => self.sum_fixed(weights, found),
            User::Sated(weights) => self.sum_sated(weights, found),
            User::Target(target) => self.sum_to_target(*target, found),
            User::Adaptive(target) => self.sum_adaptive(*target, found),
            User::First => self.sum_to_first(found),
            User::Recall => sum_to_last(found),
            User::Foraging(foraging) => self.sum_by_rank(foraging, found),
        }
    }

    fn sum_to_first(&self, mut found: impl Iterator<Item = (usize, f64)>) -> Sums {
        match found.next() {
            Some((rank, gain)) => Sums { items: real(rank), utility: gain, gain, after: 0.0 },
            // Who finds nothing wants to read on.
            None => Sums { items: real(self.depth), utility: 0.0, gain: 0.0, after: 1.0 },
        }
    }

    fn sum_by_rank(&self, foraging: &Foraging, found: impl Iterator<Item = (usize, f64)>) -> Sums {
        let mut found = found.peekable();
        let mut sums = Sums { items: 0.0, utility: 0.0, gain: 0.0, after: 1.0 };
        for rank in 1..=self.depth {
            let gain = found.next_if(|&(at, _)| at == rank).map_or(0.0, |(_, gain)| gain);
            sums.items += sums.after;
            sums.utility += sums.after * gain;
            sums.gain += gain;
            sums.after *= foraging.goes_on(rank, sums.gain);
        }
        sums
    }

    fn sum_fixed(&self, weights: &Weights, found: impl Iterator<Item = (usize, f64)>) -> Sums {
        let (mut utility, mut all) = (0.0, 0.0);
        for (rank, gain) in found {
            utility += weights.at(rank) * gain;
            all += gain;
        }
        Sums { items: weights.before[self.depth], utility, gain: all, after: weights.after }
    }

    fn sum_sated(&self, weights: &Weights, found: impl Iterator<Item = (usize, f64)>) -> Sums {
        let mut sums = Sums { items: 0.0, utility: 0.0, gain: 0.0, after: 0.0 };
        let (mut stays, mut last) = (1.0, 0);
        for (rank, gain) in found {
            sums.items += stays * weights.between(last, rank);
            sums.utility += stays * weights.at(rank) * gain;
            sums.gain += gain;
            stays *= 1.0 - gain;
            last = rank;
            if stays == 0.0 {
                return sums;
            }
        }
        sums.items += stays * weights.between(last, self.depth);
        sums.after = stays * weights.after;
        sums
    }

    fn sum_to_target(&self, target: f64, found: impl Iterator<Item = (usize, f64)>) -> Sums {
        let (mut all, mut last) = (0.0, self.depth);
        for (rank, gain) in found {
            all += gain;
            if all >= target {
                last = rank;
                break;
            }
        }
        Sums { items: real(last), utility: all, gain: all, after: 0.0 }
    }

    /// From rank a on, while nothing is found, rank j has ((a + c) / (j + c))² times the weight of
    /// rank a, where c is 2 T less the gain so far less 1.
    fn sum_adaptive(&self, target: f64, found: impl Iterator<Item = (usize, f64)>) -> Sums {
        let mut sums = Sums { items: 0.0, utility: 0.0, gain: 0.0, after: 0.0 };
        let (mut weight, mut next, mut shift) = (1.0, 1, 2.0 * target - 1.0);
        for (rank, gain) in found {
            let from = real(next) + shift;
            sums.items += weight * square(from) * sum_inverse_squares(from, rank - next);
            weight *= square(from / (real(rank) + shift));
            sums.items += weight;
            sums.utility += weight * gain;
            sums.gain += gain;
            shift = 2.0 * target - sums.gain - 1.0;
            weight *= square((real(rank) + shift) / (real(rank + 1) + shift));
            next = rank + 1;
        }
        let from = real(next) + shift;
        sums.items += weight * square(from) * sum_inverse_squares(from, self.depth + 1 - next);
        sums.after = weight * square(from / (real(self.depth + 1) + shift));
        sums
    }

    fn quantity(&self, sums: &Sums) -> f64 {
        match self.quantity {
            Quantity::Utility => sums.utility / sums.items,
            Quantity::TotalUtility => sums.utility - sums.after * sums.gain,
            Quantity::Cost => self.cost,
            Quantity::TotalCost => self.cost * (sums.items - sums.after * real(self.depth)),
            Quantity::Items => sums.items,
        }
    }
}

impl Kernel for Cwl {
    fn value(&self, query: &Query<'_>) -> f64 {
        let is_of_gains = matches!(self.quantity, Quantity::Utility | Quantity::TotalUtility);
        if is_of_gains
            && !self.is_residual
            && query.ideal.first().is_none_or(|&grade| self.gain(grade) <= 0.0)
        {
            return f64::NAN;
        }
        let least = self.quantity(&self.sums(self.found(query)));
        if !self.is_residual {
            return least;
        }
        let most = self.most(query).into_iter();
        let found = (1..).zip(most).filter(|&(_, gain)| gain > 0.0);
        self.quantity(&self.sums(found)) - least
    }

    fn reads(&self) -> Reads {
        // What is unjudged is told from what has no gain where the residual is asked for.
        if self.is_residual || self.min_rel < 0.0 { Reads::All } else { Reads::Positive }
    }

    fn unknown(&self) -> Unknown {
        match (&self.user, self.quantity, self.is_residual) {
            (User::Fixed(_), Quantity::Utility | Quantity::TotalUtility, false) => Unknown::Rising,
            _ => Unknown::Anything,
        }
    }

    fn averages_ties(&self) -> bool {
        matches!(self.user, User::Fixed(_))
    }
}

/// What a user gets who goes on from a rank in proportion to the sum of the gains below it, each divided
/// by its rank: that of the last document with a gain is as likely to be read as that sum is large.
fn sum_to_last(found: impl Iterator<Item = (usize, f64)>) -> Sums {
    let found: Vec<(usize, f64)> = found.collect();
    let (mut to_come, mut utility, mut all) = (0.0, 0.0, 0.0);
    for &(rank, gain) in found.iter().rev() {
        to_come += gain / real(rank);
        utility += to_come * gain;
        all += gain;
    }
    if to_come == 0.0 {
        return Sums { items: 1.0, utility: 0.0, gain: 0.0, after: 0.0 };
    }
    // The first rank is always read, and the weights of all ranks add up to the gains.
    Sums { items: all / to_come, utility: utility / to_come, gain: all, after: 0.0 }
}

/// Terms before this number are added one by one.
const FEW: f64 = 16.0;

/// 1/y² + 1/(y + 1)² + …, so many terms.
fn sum_inverse_squares(mut y: f64, mut terms: usize) -> f64 {
    let mut sum = 0.0;
    while terms > 0 && y < FEW {
        sum += 1.0 / square(y);
        y += 1.0;
        terms -= 1;
    }
    if terms > 0 { sum + (trigamma(y) - trigamma(y + real(terms))) } else { sum }
}

/// The sum of 1/y² + 1/(y + 1)² + … without end, by terms of its asymptotic series that leave an error
/// below 1e-15 of it from [`FEW`] on.
fn trigamma(y: f64) -> f64 {
    let t = 1.0 / square(y);
    let series =
        1.0 / 6.0 + t * (-1.0 / 30.0 + t * (1.0 / 42.0 + t * (-1.0 / 30.0 + t * (5.0 / 66.0))));
    1.0 / y + 0.5 * t + series * (t / y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_inverse_squares_are_those_of_their_terms() {
        for first in [0.1, 0.5, 1.0, 7.3, 16.0, 400.0] {
            for terms in [0, 1, 2, 15, 16, 17, 1000, 100_000] {
                let expected: f64 =
                    (0..terms).rev().map(|term| 1.0 / square(first + real(term))).sum();
                let found = sum_inverse_squares(first, terms);
                assert!((found - expected).abs() <= 1e-13 * expected, "{first} {terms}");
            }
        }
    }

    #[test]
    fn terms_before_16_are_added_one_by_one() {
        for first in [15.0, 16.0_f64.next_down(), 16.0, 17.0] {
            let (last, start) = (first + 1000.0, if first < 16.0 { first + 1.0 } else { first });
            let alone = if first < 16.0 { 1.0 / square(first) } else { 0.0 };
            let found = sum_inverse_squares(first, 1000);
            assert_eq!(found, alone + (trigamma(start) - trigamma(last)), "{first}");
        }
    }

    #[test]
    fn the_series_has_an_error_below_a_quadrillionth_from_16_on() {
        for first in [15.0, 16.0, 17.0] {
            // Far away, the series has the last bit.
            let terms = (0..1000).map(|term| 1.0 / square(first + real(term)));
            let all = terms.chain([trigamma(first + 1000.0)]);
            let expected = all.collect::<crate::number::sum::ExactSum>().value();
            let error = (trigamma(first) - expected).abs() / expected;
            assert_eq!(error < 1e-15, first >= 16.0, "{first} {error}");
        }
    }
}
