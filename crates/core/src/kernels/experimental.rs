//! Measures between average precision and nDCG that `trec_eval` calls experimental.
//!
//! Sums run in the order of `trec_eval`, so that values equal its own to the last bit.

use super::gain::normalise;
use super::gains::Gains;
use super::kernel::{Kernel, Make, Unknown};
use super::params::{Ideal, Params};
use super::query::{Query, Reads, real};
use crate::error::Result;
use crate::number::log2::log2;

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("bin_g", |params| Box::new(BinG::new(params))),
    ("g", |params| Box::new(G::new(params))),
    ("ndcg_rel", |params| Box::new(NdcgRel::new(params))),
    ("rndcg", |params| Box::new(Rndcg::new(params))),
];

/// The mean over relevant documents of a discount by the documents above that are not relevant.
pub(super) struct BinG {
    rel: f64,
}

impl BinG {
    pub(super) fn new(params: &Params) -> Self {
        Self { rel: params.least_relevant() }
    }
}

impl Kernel for BinG {
    fn value(&self, query: &Query<'_>) -> f64 {
        let relevant = query.relevant(self.rel);
        if relevant == 0 {
            return f64::NAN;
        }
        let places = query.relevant_places(usize::MAX, self.rel).zip(1..);
        let sum =
            places.fold(0.0, |sum, ((place, _), found)| sum + 1.0 / log2(2 + place.first - found));
        sum / real(relevant)
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }

    fn unknown(&self) -> Unknown {
        Unknown::Relevance { rel: self.rel, k: usize::MAX }
    }
}

/// Makes a kernel of gains by rank, which has no closed form over ties.
macro_rules! ranked_gain_kernel {
    ($(#[$doc:meta])* $name:ident, |$gains:ident, $query:ident| $value:expr) => {
        $(#[$doc])*
        pub(super) struct $name(Gains);

        impl $name {
            pub(super) fn new(params: &Params) -> Self {
                // The cutoff of these measures is the end of the list, and the ideal is that of all
                // judged documents.
                let ideal = Ideal::Judged;
                Self(Gains::new(&Params { k: None, ideal, ..params.clone() }))
            }
        }

        impl Kernel for $name {
            fn value(&self, $query: &Query<'_>) -> f64 {
                let $gains = &self.0;
                $value
            }

            fn averages_ties(&self) -> bool {
                false
            }

            fn reads(&self) -> Reads {
                self.0.read()
            }

            fn check(&self, grades: &[f64]) -> Result<()> {
                self.0.check(grades)
            }
        }
    };
}

ranked_gain_kernel!(
    /// The sum of gains, each discounted by how far the list is behind the ideal one.
    G,
    |gains, query| {
        let ideal = gains.positive_gains(query);
        let all = ideal.iter().fold(0.0, |sum, gain| sum + gain);
        let mut cost = Costs { ideal: &ideal, rank: 0, sum: 0.0 };
        let (mut gained, mut sum) = (0.0, 0.0);
        gains.each_gain(query, |gain, rank| {
            gained += gain;
            // No list is ahead of the ideal one, unless documents of no judgment have a gain.
            let behind = (2.0 + cost.down_to(rank) - gained).max(2.0);
            sum += gain / log2_of(behind);
        });
        normalise((sum, all))
    }
);
ranked_gain_kernel!(
    /// The mean nDCG at the ranks of the relevant documents.
    NdcgRel,
    |gains, query| {
        let ideal = gains.positive_gains(query);
        if ideal.is_empty() {
            return f64::NAN;
        }
        let mut best = Running { gains, ideal: &ideal, rank: 0, sum: 0.0 };
        let (mut dcg, mut found, mut sum) = (0.0, 0, 0.0);
        gains.each_gain(query, |gain, rank| {
            dcg += gains.discount(gain, rank);
            if gain > 0.0 {
                sum += dcg / best.down_to(rank);
                found += 1;
            }
        });
        #[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
        let missed = ideal.len() as f64 - f64::from(found);
        sum += missed * dcg / best.down_to(ideal.len());
        if sum > 0.0 { sum / real(ideal.len()) } else { 0.0 }
    }
);
ranked_gain_kernel!(
    /// The mean nDCG at the ranks where the gain of the ideal list changes, and at the end of the list.
    Rndcg,
    |gains, query| {
        let ideal = gains.positive_gains(query);
        if ideal.is_empty() {
            return f64::NAN;
        }
        let ends = (1..=ideal.len()).filter(|&end| ideal.get(end) != Some(&ideal[end - 1]));
        let mut cutoffs: Vec<usize> = ends.collect();
        // As in trec_eval, the end counts if at least two documents follow the ideal list.
        if query.retrieved > ideal.len() + 1 {
            cutoffs.push(query.retrieved);
        }
        let mut best = Running { gains, ideal: &ideal, rank: 0, sum: 0.0 };
        let dcgs = gains.discounted_at(query, &cutoffs).into_iter();
        let sum = dcgs.zip(&cutoffs).fold(0.0, |sum, (dcg, &cutoff)| {
            sum + dcg / best.down_to(cutoff)
        });
        sum / real(cutoffs.len())
    }
);

/// The sum of the gains of the ideal list down to a rank, where each rank has at least 1.
struct Costs<'a> {
    ideal: &'a [f64],
    rank: usize,
    sum: f64,
}

impl Costs<'_> {
    /// The sum down to a rank not before the last one asked for.
    fn down_to(&mut self, rank: usize) -> f64 {
        while self.rank < rank.min(self.ideal.len()) {
            self.sum += self.ideal[self.rank].max(1.0);
            self.rank += 1;
        }
        // Beyond the ideal list each rank adds 1, which can be done at once for a whole number.
        if self.sum.fract() == 0.0 && self.sum < 1e15 && self.rank < rank {
            self.sum += real(rank - self.rank);
            self.rank = rank;
        }
        while self.rank < rank {
            self.sum += 1.0;
            self.rank += 1;
        }
        self.sum
    }
}

/// The sum of the discounted gains of the ideal list down to a rank.
struct Running<'a> {
    gains: &'a Gains,
    ideal: &'a [f64],
    rank: usize,
    sum: f64,
}

impl Running<'_> {
    /// The sum down to a rank not before the last one asked for.
    fn down_to(&mut self, rank: usize) -> f64 {
        while self.rank < rank.min(self.ideal.len()) {
            self.rank += 1;
            self.sum += self.gains.discount(self.ideal[self.rank - 1], self.rank);
        }
        self.sum
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a positive integer
fn log2_of(number: f64) -> f64 {
    if number.fract() == 0.0 && number < 1e15 { log2(number as usize) } else { number.log2() }
}
