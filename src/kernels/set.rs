//! Measures of the retrieved documents as a set, in whatever order.

use super::binary::harmonic;
use super::{Kernel, Params, Query, real};

/// Precision and recall of all that was retrieved; none without relevant documents.
fn precision_and_recall(query: &Query<'_>, rel: f64) -> Option<(f64, f64)> {
    let relevant = query.relevant(rel);
    if relevant == 0 {
        return None;
    }
    let found = real(query.relevant_ranks(usize::MAX, rel).count());
    let precision = if query.retrieved == 0 { 0.0 } else { found / real(query.retrieved) };
    Some((precision, found / real(relevant)))
}

macro_rules! set_kernel {
    ($(#[$doc:meta])* $name:ident, |$precision:ident, $recall:ident, $beta:ident| $value:expr) => {
        $(#[$doc])*
        pub(super) struct $name {
            rel: f64,
            beta: f64,
        }

        impl $name {
            pub(super) fn new(params: &Params) -> Self {
                Self { rel: params.least_relevant(), beta: params.beta }
            }
        }

        impl Kernel for $name {
            fn value(&self, query: &Query<'_>) -> f64 {
                let $beta = self.beta;
                precision_and_recall(query, self.rel).map_or(f64::NAN, |($precision, $recall)| $value)
            }
        }
    };
}

set_kernel!(
    /// The share of the retrieved documents that are relevant.
    SetPrecision,
    |precision, _recall, _beta| precision
);
set_kernel!(
    /// The share of the relevant documents that were retrieved.
    SetRecall,
    |_precision, recall, _beta| recall
);
set_kernel!(
    /// The weighted harmonic mean of both.
    SetF,
    |precision, recall, beta| harmonic(precision, recall, beta)
);
set_kernel!(
    /// Their product.
    SetAp,
    |precision, recall, _beta| precision * recall
);
