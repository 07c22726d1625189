//! Discounts of ranks, and sums of gains that are discounted rank by rank.

use std::ops::Range;
use std::sync::OnceLock;

use super::params::Discount;
use crate::memory::Vec;

/// What the ranks divide their gains by, which is faster known than computed.
pub(super) struct Discounts {
    discount: Discount,
    /// Of the first ranks.
    first: Vec<f64>,
    /// Of the ranks after them, a table a power of two, filled when the first rank in it is asked for.
    later: [OnceLock<Box<[f64]>>; TABLED],
}

/// So many ranks are known beforehand: a power of two.
const FIRST: usize = 128;
/// So many further powers of two are known once they are needed. Few lists are longer.
const TABLED: usize = 9;
/// Gains that are divided at once, for which there are instructions.
const AT_ONCE: usize = 8;

impl Discounts {
    /// The discounts of ranks down to a cutoff.
    pub(super) fn new(discount: &Discount, k: usize) -> Self {
        let known = if matches!(discount, Discount::Table(_)) { 0 } else { k.min(FIRST) };
        Self {
            discount: discount.clone(),
            first: (1..=known).map(|rank| discount.divisor(rank)).collect(),
            later: [const { OnceLock::new() }; TABLED],
        }
    }

    /// What a gain is worth at a rank.
    #[inline]
    pub(super) fn apply(&self, gain: f64, rank: usize) -> f64 {
        match self.first.get(rank - 1) {
            Some(divisor) => gain / divisor,
            None => self.discount.apply(gain, rank),
        }
    }

    /// Adds what a gain is worth at several ranks to a sum, in rank order.
    #[inline]
    pub(super) fn add(&self, mut sum: f64, gain: f64, mut ranks: Range<usize>) -> f64 {
        while let Some(divisors) = self.known_from(ranks.start).filter(|_| !ranks.is_empty()) {
            let divisors = &divisors[..ranks.len().min(divisors.len())];
            sum = divisors.iter().fold(sum, |sum, divisor| sum + gain / divisor);
            ranks.start += divisors.len();
        }
        ranks.fold(sum, |sum, rank| sum + self.discount.apply(gain, rank))
    }

    /// The sum of the gains of documents at the first ranks, all of which have one, in rank order. A
    /// gain of 0 adds nothing.
    #[inline]
    pub(super) fn sum(&self, grades: &[f64], gain: impl Fn(f64) -> f64) -> f64 {
        let (mut sum, mut rest, mut rank) = (0.0, grades, 1);
        while !rest.is_empty() {
            let Some(divisors) = self.known_from(rank) else {
                let gains = rest.iter().map(|&grade| gain(grade)).zip(rank..);
                let terms = gains.filter(|&(gain, _)| gain != 0.0);
                return terms.fold(sum, |sum, (gain, rank)| sum + self.discount.apply(gain, rank));
            };
            let (here, later) = rest.split_at(rest.len().min(divisors.len()));
            sum = add_divided(sum, here, &divisors[..here.len()], &gain);
            (rest, rank) = (later, rank + here.len());
        }
        sum
    }

    /// What ranks from this one on divide by, as far as a table has them.
    fn known_from(&self, rank: usize) -> Option<&[f64]> {
        if matches!(self.discount, Discount::Table(_)) {
            return None;
        }
        if rank <= self.first.len() {
            return Some(&self.first[rank - 1..]);
        }
        // A table has the ranks after one power of two up to the next.
        let table = (rank - 1).checked_ilog2()?.checked_sub(FIRST.ilog2())? as usize;
        let start = FIRST << table;
        let fill = || (start + 1..=2 * start).map(|rank| self.discount.divisor(rank)).collect();
        Some(&self.later.get(table)?.get_or_init(fill)[rank - 1 - start..])
    }
}

/// Adds quotients to a sum one after another. They are computed several at once; only the additions
/// have to wait for each other.
#[inline]
fn add_divided(mut sum: f64, grades: &[f64], divisors: &[f64], gain: impl Fn(f64) -> f64) -> f64 {
    let term = |grade: f64, divisor: f64| {
        let gain = gain(grade);
        if gain == 0.0 { 0.0 } else { gain / divisor }
    };
    let (grades, last_grades) = grades.as_chunks::<AT_ONCE>();
    let (divisors, last_divisors) = divisors.as_chunks::<AT_ONCE>();
    for (grades, divisors) in grades.iter().zip(divisors) {
        let mut terms = [0.0; AT_ONCE];
        for at in 0..AT_ONCE {
            terms[at] = term(grades[at], divisors[at]);
        }
        sum = terms.iter().fold(sum, |sum, term| sum + term);
    }
    let rest = last_grades.iter().zip(last_divisors);
    rest.fold(sum, |sum, (&grade, &divisor)| sum + term(grade, divisor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    #[test]
    fn a_sum_is_that_of_the_terms_one_by_one() {
        for discount in [Discount::Log2, Discount::Zipf(0.5), Discount::Table(vec![1.0, 0.5, 0.25])]
        {
            for k in [3, 200, usize::MAX] {
                let discounts = Discounts::new(&discount, k);
                for length in [0, 1, 7, 8, 127, 128, 129, 300, 2000, 70_000] {
                    let grades: Vec<f64> = (0..length).map(|at| f64::from(at % 5)).collect();
                    let expected = grades.iter().zip(1..).fold(0.0, |sum, (&grade, rank)| {
                        if grade == 0.0 { sum } else { sum + discount.apply(grade, rank) }
                    });
                    let found = discounts.sum(&grades, |grade| grade);
                    assert_eq!(found.to_bits(), expected.to_bits(), "{discount:?} {k} {length}");
                    let ranks = 5..5 + grades.len();
                    let expected =
                        ranks.clone().fold(1.0, |sum, rank| sum + discount.apply(0.3, rank));
                    assert_eq!(discounts.add(1.0, 0.3, ranks).to_bits(), expected.to_bits());
                }
            }
        }
    }
}
