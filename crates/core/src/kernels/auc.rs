//! Measures of pairs of a relevant and a nonrelevant document: how many are in the right order.

use super::kernel::{Kernel, Make};
use super::params::Params;
use super::query::{Query, real};

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("auc", |params| Box::new(Auc { most: usize::MAX, ..Auc::new(params) })),
    ("pap", |params| Box::new(Auc::new(params))),
];

/// The share of pairs in the right order, among the first nonrelevant documents of the list and the first
/// relevant ones.
struct Auc {
    /// How many nonrelevant documents count.
    k: usize,
    /// How many relevant documents count.
    most: usize,
    rel: f64,
}

impl Auc {
    fn new(params: &Params) -> Self {
        Self { k: params.cutoff(), most: params.cutoff(), rel: params.least_relevant() }
    }
}

impl Kernel for Auc {
    fn value(&self, query: &Query<'_>) -> f64 {
        let relevant = query.relevant(self.rel).min(self.most);
        let retrieved = query.grades.iter().filter(|&&grade| grade >= self.rel).count();
        // Without a cutoff, all nonrelevant documents of the list count.
        let negatives = if self.k == usize::MAX { query.retrieved - retrieved } else { self.k };
        if relevant == 0 || negatives == 0 {
            return f64::NAN;
        }
        let found = query.ranks.iter().zip(query.grades).filter(|of| *of.1 >= self.rel);
        let pairs = found.zip(1..).take(self.most).fold(0, |pairs, ((&rank, _), found)| {
            pairs + negatives.saturating_sub(rank as usize - found)
        });
        real(pairs) / (real(negatives) * real(relevant))
    }

    fn averages_ties(&self) -> bool {
        false
    }
}
