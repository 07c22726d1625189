//! Measures of where the relevant documents stand: a grade counts only as relevant or not.

use super::{Kernel, Params, Query, real};

/// Makes a kernel that reads a cutoff and the smallest relevant grade, undefined without relevant
/// documents.
macro_rules! binary_kernel {
    ($(#[$doc:meta])* $name:ident, |$query:ident, $k:ident, $rel:ident, $relevant:ident| $value:expr) => {
        $(#[$doc])*
        pub(super) struct $name {
            k: usize,
            rel: f64,
        }

        impl $name {
            pub(super) fn new(params: &Params) -> Self {
                Self { k: params.cutoff(), rel: params.least_relevant() }
            }
        }

        impl Kernel for $name {
            fn value(&self, $query: &Query<'_>) -> f64 {
                let ($k, $rel) = (self.k, self.rel);
                let $relevant = $query.relevant($rel);
                if $relevant == 0 { f64::NAN } else { $value }
            }
        }
    };
}

binary_kernel!(
    /// Average precision.
    Ap,
    |query, k, rel, relevant| {
        let precisions = (1..).zip(query.relevant_ranks(k, rel));
        precisions.fold(0.0, |sum, (found, rank)| sum + real(found) / f64::from(rank)) / real(relevant)
    }
);

binary_kernel!(
    /// Reciprocal rank.
    Rr,
    |query, k, rel, _relevant| query.relevant_ranks(k, rel).next().map_or(0.0, |rank| 1.0 / f64::from(rank))
);

binary_kernel!(
    /// Precision at the cutoff.
    Precision,
    |query, k, rel, _relevant| real(query.relevant_ranks(k, rel).count()) / real(k)
);

binary_kernel!(
    /// Recall at the cutoff.
    Recall,
    |query, k, rel, relevant| real(query.relevant_ranks(k, rel).count()) / real(relevant)
);

binary_kernel!(
    /// Precision at the number of relevant documents.
    Rprec,
    |query, _k, rel, relevant| real(query.relevant_ranks(relevant, rel).count()) / real(relevant)
);

binary_kernel!(
    /// Whether there is a relevant document before the cutoff.
    Success,
    |query, k, rel, _relevant| f64::from(u8::from(query.relevant_ranks(k, rel).next().is_some()))
);

/// The weighted harmonic mean of precision and recall.
pub(super) fn harmonic(precision: f64, recall: f64, beta: f64) -> f64 {
    let weight = beta * beta;
    if precision + recall > 0.0 {
        (1.0 + weight) * precision * recall / (weight * precision + recall)
    } else {
        0.0
    }
}

/// F at the cutoff.
pub(super) struct F {
    precision: Precision,
    recall: Recall,
    beta: f64,
}

impl F {
    pub(super) fn new(params: &Params) -> Self {
        Self { precision: Precision::new(params), recall: Recall::new(params), beta: params.beta }
    }
}

impl Kernel for F {
    fn value(&self, query: &Query<'_>) -> f64 {
        let (precision, recall) = (self.precision.value(query), self.recall.value(query));
        if recall.is_nan() { recall } else { harmonic(precision, recall, self.beta) }
    }
}

/// Interpolated precision at a level of recall.
pub(super) struct Iprec {
    rel: f64,
    recall: f64,
}

impl Iprec {
    pub(super) fn new(params: &Params) -> Self {
        Self { rel: params.least_relevant(), recall: params.recall }
    }
}

impl Kernel for Iprec {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a recall of 0 to 1
    fn value(&self, query: &Query<'_>) -> f64 {
        let relevant = query.relevant(self.rel);
        if relevant == 0 {
            return f64::NAN;
        }
        // trec_eval 9 rounds the number of documents this way.
        let least = (self.recall * real(relevant) + 0.9) as usize;
        let precisions = (1..)
            .zip(query.relevant_ranks(usize::MAX, self.rel))
            .map(|(found, rank)| (found, real(found) / f64::from(rank)));
        precisions
            .filter(|&(found, _)| found >= least)
            .fold(0.0, |best, (_, value)| value.max(best))
    }
}
