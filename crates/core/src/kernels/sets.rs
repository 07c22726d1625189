//! Measures of the retrieved documents as a set, whatever their order.

use super::binary::harmonic;
use super::kernel::{Kernel, Make, Unknown};
use super::params::Params;
use super::query::{Query, Reads, real};

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("set_precision", |params| Box::new(SetPrecision::new(params))),
    ("set_recall", |params| Box::new(SetRecall::new(params))),
    ("set_f", |params| Box::new(SetF::new(params))),
    // A product has no expected value where a cutoff splits a tie.
    ("set_ap", |params| Box::new(SetAp::new(&Params { k: None, ..params.clone() }))),
    ("utility", |params| Box::new(Utility::new(params))),
];

/// The sizes of the sets, as the numbers that are divided.
struct Sizes {
    found: f64,
    retrieved: f64,
    relevant: f64,
}

impl Sizes {
    /// None without relevant documents.
    fn of(query: &Query<'_>, k: usize, rel: f64) -> Option<Self> {
        let relevant = query.relevant(rel);
        (relevant > 0).then(|| Self {
            found: query.expected_relevant(k, rel),
            retrieved: real(query.retrieved.min(k)),
            relevant: real(relevant),
        })
    }

    fn precision(&self) -> f64 {
        if self.retrieved > 0.0 { self.found / self.retrieved } else { 0.0 }
    }

    /// As a share of the highest precision of so many documents.
    fn relative_precision(&self) -> f64 {
        let most = self.retrieved.min(self.relevant);
        if most > 0.0 { self.found / most } else { 0.0 }
    }

    fn recall(&self) -> f64 {
        self.found / self.relevant
    }

    /// Precision times recall, rounded as `trec_eval` rounds it: one division.
    fn product(&self) -> f64 {
        if self.retrieved > 0.0 {
            self.found * self.found / (self.retrieved * self.relevant)
        } else {
            0.0
        }
    }
}

macro_rules! set_kernel {
    ($(#[$doc:meta])* $name:ident, |$sizes:ident, $params:ident| $value:expr) => {
        $(#[$doc])*
        pub(super) struct $name(Params);

        impl $name {
            pub(super) fn new(params: &Params) -> Self {
                Self(params.clone())
            }
        }

        impl Kernel for $name {
            fn value(&self, query: &Query<'_>) -> f64 {
                let $params = &self.0;
                let sizes = Sizes::of(query, $params.cutoff(), $params.least_relevant());
                sizes.map_or(f64::NAN, |$sizes| $value)
            }

            fn reads(&self) -> Reads {
                Reads::relevant(self.0.least_relevant())
            }

            fn unknown(&self) -> Unknown {
                Unknown::Relevance { rel: self.0.least_relevant(), k: self.0.cutoff() }
            }
        }
    };
}

set_kernel!(
    /// The share of the retrieved documents that are relevant.
    SetPrecision,
    |sizes, params| if params.relative { sizes.relative_precision() } else { sizes.precision() }
);
set_kernel!(
    /// The share of the relevant documents that were retrieved.
    SetRecall,
    |sizes, _params| sizes.recall()
);
set_kernel!(
    /// The weighted harmonic mean of both.
    SetF,
    |sizes, params| harmonic(sizes.precision(), sizes.recall(), params.beta)
);
set_kernel!(
    /// Their product.
    SetAp,
    |sizes, _params| sizes.product()
);

/// What the four kinds of documents are worth together.
pub(super) struct Utility {
    rel: f64,
    worth: [f64; 4],
    documents: f64,
}

impl Utility {
    pub(super) fn new(params: &Params) -> Self {
        let Params { worth, documents, .. } = *params;
        Self { rel: params.least_relevant(), worth, documents }
    }
}

impl Kernel for Utility {
    fn value(&self, query: &Query<'_>) -> f64 {
        let (found, relevant) =
            (query.expected_relevant(usize::MAX, self.rel), real(query.relevant(self.rel)));
        let retrieved = real(query.retrieved);
        let counts = [
            found,
            retrieved - found,
            relevant - found,
            self.documents + found - retrieved - relevant,
        ];
        let [hit, false_alarm, miss, rejection] = self.worth;
        let [hits, false_alarms, misses, rejections] = counts;
        hit * hits + false_alarm * false_alarms + miss * misses + rejection * rejections
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }
}
