//! Sums of discounted gains, of a list and of its ideal order.

use super::discounts::Discounts;
use super::params::{Gain, Ideal, Params};
use super::query::{Place, Query, Reads, real};
use crate::error::{Error, Kind, Result};

/// The longest list of which each rank has a gain, whether or not there is a document.
const MOST_SLOTS: usize = 10_000_000;

/// Gains and discounts of the first `k`.
pub struct Gains {
    pub(super) k: usize,
    gain: Gain,
    discounts: Discounts,
    pub(crate) ideal: Ideal,
    /// How many ranks of the ideal order count.
    ideal_k: usize,
    /// The sum for an ideal order of slots.
    slots: f64,
    negative_gain: bool,
    pub(super) min_max: bool,
    pub(super) unjudged_gain: f64,
    missing_gain: f64,
}

impl Gains {
    pub(super) fn new(params: &Params) -> Self {
        let slots = match params.ideal {
            Ideal::Slots if params.cutoff() <= MOST_SLOTS => params.cutoff(),
            _ => 0, // more slots are refused
        };
        Self {
            k: params.cutoff(),
            gain: params.gain.clone(),
            discounts: Discounts::new(&params.discount, params.cutoff()),
            ideal: params.ideal,
            ideal_k: if params.ideal == Ideal::Whole { usize::MAX } else { params.cutoff() },
            slots: (1..=slots).fold(0.0, |sum, rank| sum + params.discount.apply(1.0, rank)),
            negative_gain: params.negative_gain || params.min_max,
            min_max: params.min_max,
            unjudged_gain: params.unjudged_gain,
            missing_gain: params.missing_gain,
        }
    }

    /// The gain of a document, judged or not; NaN is unjudged.
    pub fn of_document(&self, grade: f64) -> f64 {
        if grade.is_nan() { self.unjudged_gain } else { self.of(grade) }
    }

    /// The gain of a grade.
    pub fn of(&self, grade: f64) -> f64 {
        if grade < 0.0 && !self.negative_gain { 0.0 } else { self.gain.of(grade) }
    }

    /// What a gain is worth at a rank.
    #[inline]
    pub fn discount(&self, gain: f64, rank: usize) -> f64 {
        self.discounts.apply(gain, rank)
    }

    /// The least grade that is its own gain, as all above are; those below have none. Nothing where gains
    /// are not grades.
    pub fn least_grade(&self) -> Option<f64> {
        let least = if self.negative_gain { f64::NEG_INFINITY } else { 0.0 };
        matches!(self.gain, Gain::Linear).then_some(least)
    }

    /// Whether the gains are those of a table, in which a higher grade may have a lower gain.
    pub fn are_of_table(&self) -> bool {
        matches!(self.gain, Gain::Table(_))
    }

    /// Which documents add something to a list, or to an ideal order.
    pub(super) fn read(&self) -> Reads {
        match self.negative_gain {
            _ if !self.needs_grades() || self.min_max || self.gain.of(0.0) != 0.0 => Reads::All,
            true => Reads::NotZero,
            false => Reads::Positive,
        }
    }

    /// How many ranks count.
    pub fn k(&self) -> usize {
        self.k
    }

    /// How many ranks of the ideal order count.
    pub fn ideal_depth(&self) -> usize {
        self.ideal_k
    }

    /// How many of the best judged grades the value depends on; none where it depends on the retrieved
    /// ones in the same way.
    pub fn best_depth(&self) -> Option<usize> {
        match self.ideal {
            Ideal::Retrieved => None,
            // Gains of tables may descend in another order, and the worst order begins at the end.
            _ if self.min_max || matches!(self.gain, Gain::Table(_)) => Some(usize::MAX),
            _ => Some(self.ideal_k),
        }
    }

    /// What a gain of 1 is worth at a rank; below the cutoff, nothing.
    pub fn weight(&self, rank: usize) -> f64 {
        if rank > self.k { 0.0 } else { self.discount(1.0, rank) }
    }

    pub(super) fn cumulated(&self, query: &Query<'_>) -> f64 {
        self.sum(query, |gain, _| gain)
    }

    /// The sum of discounted gains.
    pub(super) fn discounted(&self, query: &Query<'_>) -> f64 {
        if let Some(grades) = self.first_grades(query) {
            let [sum] = self.discount_grades([grades]);
            return sum;
        }
        if self.needs_grades() && !query.ties.is_empty() {
            return query.places(self.k).fold(0.0, |sum, place| self.add_place(sum, &place));
        }
        self.sum(query, |gain, rank| self.discount(gain, rank))
    }

    /// Whether a gain comes with a grade only.
    fn needs_grades(&self) -> bool {
        self.unjudged_gain == 0.0 && self.missing_gain == 0.0
    }

    /// The grades of the ranks that count, where each has one and no other rank has a gain.
    fn first_grades<'a>(&self, query: &Query<'a>) -> Option<&'a [f64]> {
        let are_all = self.needs_grades() && query.is_of_first_ranks();
        are_all.then(|| &query.grades[..query.grades.len().min(self.k)])
    }

    /// Adds the discounted gains of a place to a sum.
    #[inline]
    fn add_place(&self, sum: f64, place: &Place<'_>) -> f64 {
        let gain = if place.size == 1 { self.of(place.grades[0]) } else { self.mean(place) };
        if gain == 0.0 { sum } else { self.discounts.add(sum, gain, place.ranks(self.k)) }
    }

    /// The sums of the discounted gains of lists of grades, each at the first ranks.
    fn discount_grades<const N: usize>(&self, lists: [&[f64]; N]) -> [f64; N] {
        match self.gain {
            Gain::Linear if self.negative_gain => self.discounts.sum(lists, |grade| grade),
            Gain::Linear => {
                self.discounts.sum(lists, |grade| if grade < 0.0 { 0.0 } else { grade })
            }
            _ => self.discounts.sum(lists, |grade| self.of(grade)),
        }
    }

    /// Adds the weighed gains of the list, in rank order.
    fn sum(&self, query: &Query<'_>, weigh: impl Fn(f64, usize) -> f64) -> f64 {
        let mut sum = 0.0;
        self.each_gain(query, |gain, rank| sum += weigh(gain, rank));
        sum
    }

    /// Calls `add` with each gain of the list other than 0 and its rank, in rank order.
    #[inline]
    pub(super) fn each_gain(&self, query: &Query<'_>, mut add: impl FnMut(f64, usize)) {
        let mut add = |gain: f64, rank| {
            if gain != 0.0 {
                add(gain, rank);
            }
        };
        if self.needs_grades() && query.ties.is_empty() {
            let judged = query.ranks.iter().map(|&rank| rank as usize).zip(query.grades);
            let within = judged.take_while(|&(rank, _)| rank <= self.k);
            within.for_each(|(rank, &grade)| add(self.of(grade), rank));
            return;
        }
        let mut next = 1;
        for place in query.places(self.k) {
            if self.unjudged_gain != 0.0 {
                (next..place.first).for_each(|rank| add(self.unjudged_gain, rank));
            }
            next = place.first + place.size;
            if place.size == 1 {
                add(self.of(place.grades[0]), place.first);
                continue;
            }
            let gain = self.mean(&place);
            place.ranks(self.k).for_each(|rank| add(gain, rank));
        }
        if self.unjudged_gain != 0.0 {
            let rest = next..=query.retrieved.min(self.k);
            rest.for_each(|rank| add(self.unjudged_gain, rank));
        }
        let missing = self.missing_ranks(query.retrieved);
        missing.for_each(|rank| add(self.missing_gain, rank));
    }

    /// The ranks after the end of a list of so many documents at which a gain is missing.
    fn missing_ranks(&self, retrieved: usize) -> impl Iterator<Item = usize> + use<> {
        let counts = self.missing_gain != 0.0 && self.k < usize::MAX;
        retrieved + 1..=if counts { self.k } else { retrieved }
    }

    /// The sum at the ranks after the end of a list of so many documents.
    pub(crate) fn missing_after(&self, retrieved: usize) -> f64 {
        let missing = self.missing_ranks(retrieved);
        missing.fold(0.0, |sum, rank| sum + self.discount(self.missing_gain, rank))
    }

    /// The mean gain of the documents of a place, exact where they all have the same.
    fn mean(&self, place: &Place<'_>) -> f64 {
        let first = self.of(place.grades[0]);
        let unjudged = place.size - place.grades.len();
        let mut is_same = unjudged == 0 || self.unjudged_gain == first;
        let mut total = real(unjudged) * self.unjudged_gain;
        for &grade in place.grades {
            let gain = self.of(grade);
            is_same &= gain == first;
            total += gain;
        }
        if is_same { first } else { total / real(place.size) }
    }

    /// The sum of the ideal order.
    pub(super) fn ideal(&self, query: &Query<'_>) -> f64 {
        match self.ideal {
            Ideal::Slots => self.slots,
            Ideal::Retrieved => self.best_of_retrieved(query),
            Ideal::Judged | Ideal::Whole => self.best_of_judged(query),
        }
    }

    /// The sum of the best order of all judged documents.
    pub(super) fn best_of_judged(&self, query: &Query<'_>) -> f64 {
        if let Some(grades) = self.best_grades(query) {
            let [sum] = self.discount_grades([grades]);
            return sum;
        }
        self.discount_best(descend(self.gains_of_judged(query)).into_iter())
    }

    /// The grades of the best order that have gains, where gains are largest first where grades are.
    fn best_grades<'a>(&self, query: &Query<'a>) -> Option<&'a [f64]> {
        (!self.are_of_table()).then(|| &query.ideal[..query.positive().min(self.ideal_k)])
    }

    /// The sum of the best order of the retrieved documents.
    pub(super) fn best_of_retrieved(&self, query: &Query<'_>) -> f64 {
        self.discount_best(descend(self.gains_of_retrieved(query)).into_iter())
    }

    fn gains_of_judged(&self, query: &Query<'_>) -> Vec<f64> {
        query.ideal.iter().map(|&grade| self.of(grade)).collect()
    }

    /// The gains above 0 of the judged documents, largest first.
    pub(super) fn positive_gains(&self, query: &Query<'_>) -> Vec<f64> {
        let gains = match self.best_grades(query) {
            Some(grades) => return grades.iter().map(|&grade| self.of(grade)).collect(),
            None => descend(self.gains_of_judged(query)),
        };
        gains.into_iter().take_while(|&gain| gain > 0.0).collect()
    }

    fn gains_of_retrieved(&self, query: &Query<'_>) -> Vec<f64> {
        let mut gains: Vec<f64> = query.grades.iter().map(|&grade| self.of(grade)).collect();
        if self.unjudged_gain != 0.0 {
            gains.resize(query.retrieved, self.unjudged_gain);
        }
        gains
    }

    /// The best order's sum; `gains` are largest first.
    fn discount_best(&self, gains: impl Iterator<Item = f64>) -> f64 {
        let positive = gains.take_while(|&gain| gain > 0.0).take(self.ideal_k);
        self.discount_all(positive)
    }

    /// The sum of gains in the order in which they are.
    pub(super) fn discount_all(&self, gains: impl Iterator<Item = f64>) -> f64 {
        gains.zip(1..).fold(0.0, |sum, (gain, rank)| sum + self.discount(gain, rank))
    }

    /// Whether there is an ideal of documents that are not there, and nothing relevant to put there.
    pub(super) fn lacks_relevant(&self, query: &Query<'_>) -> bool {
        let is_relevant = |&grade: &f64| self.of(grade) > 0.0;
        self.ideal == Ideal::Slots && !query.ideal.iter().any(is_relevant)
    }

    /// What nDCG divides, and what it divides by.
    pub(super) fn parts(&self, query: &Query<'_>) -> (f64, f64) {
        if self.lacks_relevant(query) {
            return (0.0, 0.0);
        }
        if !self.min_max
            && matches!(self.ideal, Ideal::Judged | Ideal::Whole)
            && let (Some(found), Some(best)) = (self.first_grades(query), self.best_grades(query))
        {
            return self.discount_grades([found, best]).into();
        }
        let sum = self.discounted(query);
        if !self.min_max {
            return (sum, self.ideal(query));
        }
        let gains = self.gains_of_both_ends(query);
        let worst = self.discount_all(gains.iter().rev().copied().take(self.k));
        let best = self.discount_all(gains.iter().copied().take(self.k));
        between(sum, (worst, best))
    }

    /// The gains that the worst order and the best are made of, largest first.
    fn gains_of_both_ends(&self, query: &Query<'_>) -> Vec<f64> {
        descend(match self.ideal {
            Ideal::Retrieved => self.gains_of_retrieved(query),
            _ => self.gains_of_judged(query),
        })
    }

    /// The sums of weighed gains down to each of several cutoffs, in one pass.
    pub(super) fn sums_at(
        &self,
        query: &Query<'_>,
        cutoffs: &[usize],
        weigh: impl Fn(f64, usize) -> f64,
    ) -> Vec<f64> {
        let mut sums = RunningSum::new(cutoffs);
        self.each_gain(query, |gain, rank| sums.add(rank, weigh(gain, rank)));
        sums.finish()
    }

    pub(super) fn discounted_at(&self, query: &Query<'_>, cutoffs: &[usize]) -> Vec<f64> {
        self.sums_at(query, cutoffs, |gain, rank| self.discount(gain, rank))
    }

    /// The sums of gains in the order in which they are, down to each cutoff.
    fn discount_all_at(&self, gains: impl Iterator<Item = f64>, cutoffs: &[usize]) -> Vec<f64> {
        let mut sums = RunningSum::new(cutoffs);
        gains.zip(1..).for_each(|(gain, rank)| sums.add(rank, self.discount(gain, rank)));
        sums.finish()
    }

    /// The sums of the ideal order at each cutoff.
    pub(super) fn ideal_at(&self, query: &Query<'_>, cutoffs: &[usize]) -> Vec<f64> {
        let gains = match self.ideal {
            Ideal::Whole => return vec![self.ideal(query); cutoffs.len()],
            Ideal::Slots => {
                let slots = std::iter::repeat_n(1.0, self.k.min(MOST_SLOTS));
                return self.discount_all_at(slots, cutoffs);
            }
            Ideal::Retrieved => descend(self.gains_of_retrieved(query)),
            Ideal::Judged => self.positive_gains(query),
        };
        self.discount_all_at(gains.into_iter().take_while(|&gain| gain > 0.0), cutoffs)
    }

    /// What nDCG divides at each cutoff, and what it divides by.
    pub(super) fn parts_at(&self, query: &Query<'_>, cutoffs: &[usize]) -> Vec<(f64, f64)> {
        if self.lacks_relevant(query) {
            return vec![(0.0, 0.0); cutoffs.len()];
        }
        let sums = self.discounted_at(query, cutoffs);
        if !self.min_max {
            return sums.into_iter().zip(self.ideal_at(query, cutoffs)).collect();
        }
        let gains = self.gains_of_both_ends(query);
        let worst = self.discount_all_at(gains.iter().rev().copied(), cutoffs);
        let best = self.discount_all_at(gains.iter().copied(), cutoffs);
        let ends = worst.into_iter().zip(best);
        sums.into_iter().zip(ends).map(|(sum, ends)| between(sum, ends)).collect()
    }

    /// Refuses grades without a gain, and what the policy or the cutoff does not go with.
    pub(super) fn check(&self, grades: &[f64]) -> Result<()> {
        self.check_ranks()?;
        let counted = grades.iter().filter(|&&grade| grade >= 0.0 || self.negative_gain);
        for &grade in counted {
            if let Gain::Table(pairs) = &self.gain
                && pairs.binary_search_by(|pair| pair.0.total_cmp(&grade)).is_err()
            {
                let known: Vec<String> = pairs.iter().map(|pair| pair.0.to_string()).collect();
                return Err(Error::new(
                    Kind::Measure,
                    "gain_missing",
                    format!("expected a gain for every grade, found none for {grade}"),
                )
                .hint(format!(
                    "the table has gains for {}: add {grade}, whose gain is {} in trec_eval and \
                     ir_measures, which take the grade where a table has none",
                    known.join(", "),
                    grade.max(0.0)
                )));
            }
            if self.gain.of(grade).is_infinite() {
                return Err(Error::new(
                    Kind::Measure,
                    "gain_overflow",
                    format!("expected a finite gain, but 2^{grade} - 1 is beyond double precision"),
                )
                .hint("use gain=\"linear\", or map the grades to smaller ones"));
            }
        }
        Ok(())
    }

    /// Refuses an ideal that the policy or the cutoff does not go with.
    fn check_ranks(&self) -> Result<()> {
        if self.min_max && matches!(self.ideal, Ideal::Whole | Ideal::Slots) {
            return Err(Error::new(
                Kind::Policy,
                "minmax_unavailable",
                "expected an ideal that has a worst order down to the same cutoff, as \
                 negative=\"minmax\" needs, found ideal=\"whole\" or \"slots\""
                    .to_owned(),
            )
            .hint("write nDCG(ideal=\"judged\"), or set policy=\"negative=gain\""));
        }
        let counts_all =
            self.ideal == Ideal::Slots || (self.missing_gain != 0.0 && self.k < usize::MAX);
        if counts_all && self.k > MOST_SLOTS {
            return Err(Error::new(
                Kind::Measure,
                "bad_parameter",
                format!(
                    "expected a cutoff of at most {MOST_SLOTS} where every rank has a gain, found {}",
                    self.k
                ),
            )
            .hint("write nDCG@10, or leave missing_gain and ideal=\"slots\" out"));
        }
        Ok(())
    }
}

/// A sum that grows rank by rank, kept at cutoffs, which ascend. Terms are added in the order in which a
/// sum down to one cutoff adds them, so that the bits are the same.
struct RunningSum<'a> {
    cutoffs: &'a [usize],
    kept: Vec<f64>,
    sum: f64,
}

impl<'a> RunningSum<'a> {
    fn new(cutoffs: &'a [usize]) -> Self {
        Self { cutoffs, kept: Vec::with_capacity(cutoffs.len()), sum: 0.0 }
    }

    /// Adds the term of a rank, none of which comes before those added already.
    fn add(&mut self, rank: usize, term: f64) {
        while self.cutoffs.get(self.kept.len()).is_some_and(|&cutoff| cutoff < rank) {
            self.kept.push(self.sum);
        }
        self.sum += term;
    }

    fn finish(mut self) -> Vec<f64> {
        self.kept.resize(self.cutoffs.len(), self.sum);
        self.kept
    }
}

/// Where a sum lies between the worst order and the best: Gienapp, Fröbe, Hagen and Potthast, *The
/// impact of negative relevance judgments on NDCG*, 2020.
fn between(sum: f64, (worst, best): (f64, f64)) -> (f64, f64) {
    (sum - worst, best - worst)
}

/// Gains, largest first.
fn descend(mut gains: Vec<f64>) -> Vec<f64> {
    gains.sort_unstable_by(|a, b| b.total_cmp(a));
    gains
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_a_gain_down_to_ten_million() {
        for k in [9_999_999, 10_000_000, 10_000_001] {
            let params = Params { k: Some(k), missing_gain: 1.0, ..Params::default() };
            assert_eq!(Gains::new(&params).check(&[]).is_ok(), k <= 10_000_000);
        }
    }
}
