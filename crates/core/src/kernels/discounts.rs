//! Discounts of ranks, and sums of gains that are discounted rank by rank.

use std::ops::Range;
use std::sync::OnceLock;

use super::params::Discount;

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

    /// The sums of the gains of lists of documents at the first ranks, all of which have one, each in
    /// rank order. A gain of 0 adds nothing.
    #[inline]
    pub(super) fn sum<const N: usize>(
        &self,
        mut lists: [&[f64]; N],
        gain: impl Fn(f64) -> f64,
    ) -> [f64; N] {
        let (mut sums, mut rank) = ([0.0; N], 1);
        // An addition waits for the one before it to the same sum, so the lists are added up side by
        // side as far as the shortest goes.
        let shared = lists.iter().map(|list| list.len()).min().unwrap_or(0);
        while rank <= shared
            && let Some(divisors) = self.known_from(rank)
        {
            let divisors = &divisors[..divisors.len().min(shared + 1 - rank)];
            let here = lists.map(|list| &list[..divisors.len()]);
            sums = add_divided(sums, here, divisors, &gain);
            lists = lists.map(|list| &list[divisors.len()..]);
            rank += divisors.len();
        }
        for (sum, list) in sums.iter_mut().zip(lists) {
            *sum = self.add_from(rank, *sum, list, &gain);
        }
        sums
    }

    /// Adds the gains of documents from a rank on to a sum.
    fn add_from(
        &self,
        mut rank: usize,
        mut sum: f64,
        mut list: &[f64],
        gain: &impl Fn(f64) -> f64,
    ) -> f64 {
        while !list.is_empty()
            && let Some(divisors) = self.known_from(rank)
        {
            let (here, later) = list.split_at(list.len().min(divisors.len()));
            [sum] = add_divided([sum], [here], &divisors[..here.len()], gain);
            (list, rank) = (later, rank + here.len());
        }
        let gains = list.iter().map(|&grade| gain(grade)).zip(rank..);
        let terms = gains.filter(|&(gain, _)| gain != 0.0);
        terms.fold(sum, |sum, (gain, rank)| sum + self.discount.apply(gain, rank))
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

/// Adds quotients to sums one after another. They are computed several at once; only the additions
/// to one sum have to wait for each other.
#[inline]
#[allow(clippy::needless_range_loop)] // the compiler divides several at once in this form alone
fn add_divided<const N: usize>(
    mut sums: [f64; N],
    lists: [&[f64]; N],
    divisors: &[f64],
    gain: &impl Fn(f64) -> f64,
) -> [f64; N] {
    let term = |grade: f64, divisor: f64| {
        let gain = gain(grade);
        if gain == 0.0 { 0.0 } else { gain / divisor }
    };
    let (whole, rest) = divisors.as_chunks::<AT_ONCE>();
    let chunks = lists.map(|list| list.as_chunks::<AT_ONCE>());
    for (chunk, divisors) in whole.iter().enumerate() {
        let mut terms = [[0.0; AT_ONCE]; N];
        for list in 0..N {
            let grades = &chunks[list].0[chunk];
            for at in 0..AT_ONCE {
                terms[list][at] = term(grades[at], divisors[at]);
            }
        }
        for at in 0..AT_ONCE {
            for list in 0..N {
                sums[list] += terms[list][at];
            }
        }
    }
    for list in 0..N {
        let last = chunks[list].1.iter().zip(rest);
        sums[list] = last.fold(sums[list], |sum, (&grade, &divisor)| sum + term(grade, divisor));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discounts_are_the_same_whether_they_are_in_a_table_or_not() {
        let discounts = Discounts::new(&Discount::Log2, usize::MAX);
        for last in [128, 256, 1 << 16] {
            for rank in [last - 1, last, last + 1, last + 2] {
                let expected = 3.0 / crate::number::log2::log2(rank + 1);
                assert_eq!(discounts.apply(3.0, rank), expected);
                assert_eq!(discounts.add(0.0, 3.0, rank..rank + 1), expected);
                let mut list = vec![0.0; rank];
                list[rank - 1] = 3.0;
                assert_eq!(discounts.sum([&list[..]], |grade| grade), [expected]);
            }
        }
    }
}
