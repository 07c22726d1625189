//! Cumulated gain: CG, DCG, IDCG and nDCG under every gain, discount and ideal; Q-measure.
//!
//! Järvelin and Kekäläinen, *Cumulated gain-based evaluation of IR techniques*, 2002. Terms are
//! divisions, added in rank order, so that values equal those of `trec_eval` to the last bit.

use super::gains::Gains;
use super::kernel::{Kernel, Make, Unknown};
use super::params::{Ideal, Params};
use super::query::{Query, Reads, real};
use crate::error::Result;

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("ndcg", |params| Box::new(Ndcg::new(params))),
    ("dcg", |params| Box::new(Dcg::new(params))),
    ("idcg", |params| Box::new(Idcg::new(params))),
    ("cg", |params| Box::new(Cg::new(params))),
    ("q", |params| Box::new(Q::new(params))),
];

macro_rules! gain_kernel {
    (
        $(#[$doc:meta])* $name:ident,
        |$gains:ident, $query:ident| $value:expr,
        at |$cutoffs:ident| $values:expr,
        unknown $unknown:expr
        $(, ratio $ratio:expr)?
    ) => {
        $(#[$doc])*
        pub(super) struct $name(Gains);

        impl $name {
            pub(super) fn new(params: &Params) -> Self {
                Self(Gains::new(params))
            }
        }

        impl Kernel for $name {
            fn value(&self, $query: &Query<'_>) -> f64 {
                let $gains = &self.0;
                $value
            }

            fn values_at(&self, $query: &Query<'_>, $cutoffs: &[usize]) -> Option<Vec<f64>> {
                let $gains = &self.0;
                Some($values)
            }

            $(
                fn ratio(&self, $query: &Query<'_>) -> Option<(f64, f64)> {
                    let $gains = &self.0;
                    Some($ratio)
                }
            )?

            fn reads(&self) -> Reads {
                self.0.read()
            }

            fn unknown(&self) -> Unknown {
                let unknown: fn(&Gains) -> Unknown = $unknown;
                unknown(&self.0)
            }

            fn check(&self, grades: &[f64]) -> Result<()> {
                self.0.check(grades)
            }

            fn gains(&self) -> Option<&Gains> {
                Some(&self.0)
            }
        }
    };
}

gain_kernel!(
    /// The sum of gains.
    Cg,
    |gains, query| gains.cumulated(query),
    at |cutoffs| gains.sums_at(query, cutoffs, |gain, _| gain),
    unknown |_| Unknown::Rising
);
gain_kernel!(
    /// The sum of discounted gains.
    Dcg,
    |gains, query| gains.discounted(query),
    at |cutoffs| gains.discounted_at(query, cutoffs),
    unknown |_| Unknown::Discounted { is_share: false }
);
gain_kernel!(
    /// The sum of discounted gains in the best order.
    Idcg,
    |gains, query| gains.ideal(query),
    at |cutoffs| gains.ideal_at(query, cutoffs),
    unknown |_| Unknown::Rising
);
gain_kernel!(
    /// The sum of discounted gains over that of the best order.
    Ndcg,
    |gains, query| normalise(gains.parts(query)),
    at |cutoffs| gains.parts_at(query, cutoffs).into_iter().map(normalise).collect(),
    unknown |gains| if gains.min_max {
        Unknown::Anything
    } else {
        Unknown::Discounted { is_share: gains.ideal != Ideal::Slots }
    },
    ratio gains.parts(query)
);

/// A share of an ideal, NaN where that is 0.
pub(super) fn normalise((sum, ideal): (f64, f64)) -> f64 {
    if ideal > 0.0 {
        // An infinite ideal is an overflow, which must not pass for an undefined value.
        if ideal.is_infinite() { ideal } else { sum / ideal }
    } else {
        f64::NAN
    }
}

/// Q-measure: Sakai, *New performance metrics based on multigrade relevance*, 2004.
pub(super) struct Q {
    gains: Gains,
    rel: f64,
    beta: f64,
}

impl Q {
    pub(super) fn new(params: &Params) -> Self {
        Self { gains: Gains::new(params), rel: params.least_relevant(), beta: params.beta }
    }
}

impl Kernel for Q {
    fn value(&self, query: &Query<'_>) -> f64 {
        let relevant = query.relevant(self.rel);
        if relevant == 0 {
            return f64::NAN;
        }
        let mut best: Vec<f64> =
            query.ideal[..relevant].iter().map(|&grade| self.gains.of(grade)).collect();
        best.sort_unstable_by(|a, b| b.total_cmp(a));
        // The cumulated gains of the list and of the best order, down to the rank of the last document.
        let (mut found, mut gain, mut most, mut depth) = (0, 0.0, 0.0, 0);
        let mut sum = 0.0;
        for (place, _) in query.relevant_places(self.gains.k, self.rel) {
            found += 1;
            gain += self.gains.of(place.grades[0]);
            while depth < place.first && depth < relevant {
                most += best[depth];
                depth += 1;
            }
            sum += (real(found) + self.beta * gain) / (real(place.first) + self.beta * most);
        }
        sum / real(relevant)
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }

    fn check(&self, grades: &[f64]) -> Result<()> {
        self.gains.check(grades)
    }
}
