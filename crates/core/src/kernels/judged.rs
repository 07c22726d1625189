//! Measures for incomplete judgments, which distinguish "judged not relevant" from "not judged".
//!
//! A negative grade is `trec_eval`'s "in the pool, not judged": neither relevant nor judged
//! non-relevant.

use super::kernel::{Kernel, Make};
use super::params::{Denominator, Params};
use super::query::{Query, real};

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("bpref", |params| Box::new(Bpref::new(params))),
    ("infap", |params| Box::new(InfAp::new(params))),
    ("judged", |params| Box::new(Judged::new(params))),
    ("unjudged", |params| Box::new(Unjudged::new(params))),
];

/// Binary preference: Buckley and Voorhees, *Retrieval evaluation with incomplete information*,
/// 2004, in the form of `trec_eval`.
pub(super) struct Bpref {
    rel: f64,
}

impl Bpref {
    pub(super) fn new(params: &Params) -> Self {
        Self { rel: params.least_relevant() }
    }
}

impl Kernel for Bpref {
    fn value(&self, query: &Query<'_>) -> f64 {
        let relevant = query.relevant(self.rel);
        if relevant == 0 {
            return f64::NAN;
        }
        let nonrelevant = query.relevant(0.0).saturating_sub(relevant);
        let mut above = 0;
        let mut sum = 0.0;
        for &grade in query.grades {
            if grade < self.rel {
                above += usize::from(grade >= 0.0);
            } else if above == 0 {
                sum += 1.0;
            } else {
                sum += 1.0 - real(above.min(relevant)) / real(nonrelevant.min(relevant));
            }
        }
        sum / real(relevant)
    }

    fn averages_ties(&self) -> bool {
        false
    }
}

/// Keeps estimates of unseen shares off 0 and 1.
const SMOOTHING: f64 = 0.000_01;

/// Inferred average precision: Yilmaz and Aslam, *Estimating average precision with incomplete and
/// imperfect judgments*, 2006.
pub(super) struct InfAp {
    rel: f64,
}

impl InfAp {
    pub(super) fn new(params: &Params) -> Self {
        Self { rel: params.least_relevant() }
    }
}

impl Kernel for InfAp {
    fn value(&self, query: &Query<'_>) -> f64 {
        let relevant = query.relevant(self.rel);
        if relevant == 0 {
            return f64::NAN;
        }
        let (mut found, mut nonrelevant, mut unjudged) = (0, 0, 0);
        let mut sum = 0.0;
        for (&rank, &grade) in query.ranks.iter().zip(query.grades) {
            if grade < 0.0 {
                unjudged += 1;
            } else if grade < self.rel {
                nonrelevant += 1;
            } else if rank == 1 {
                found += 1;
                sum += 1.0;
            } else {
                let (rank, above) = (f64::from(rank), f64::from(rank - 1));
                let pooled = real(found + nonrelevant + unjudged);
                let estimate =
                    (real(found) + SMOOTHING) / (real(found) + real(nonrelevant) + 2.0 * SMOOTHING);
                sum += 1.0 / rank + (above / rank) * (pooled / above) * estimate;
                found += 1;
            }
        }
        sum / real(relevant)
    }

    fn averages_ties(&self) -> bool {
        false
    }
}

/// The share of the first documents that are judged.
pub(super) struct Judged {
    k: usize,
}

impl Judged {
    pub(super) fn new(params: &Params) -> Self {
        Self { k: params.cutoff() }
    }
}

impl Kernel for Judged {
    fn value(&self, query: &Query<'_>) -> f64 {
        let (judged, shown) = self.parts(query);
        if shown > 0.0 { judged / shown } else { 0.0 }
    }

    fn ratio(&self, query: &Query<'_>) -> Option<(f64, f64)> {
        Some(self.parts(query))
    }
}

impl Judged {
    fn parts(&self, query: &Query<'_>) -> (f64, f64) {
        let judged = query
            .places(self.k)
            .fold(0.0, |sum, place| sum + place.expected_within(place.grades.len(), self.k));
        (judged, real(self.k.min(query.retrieved)))
    }
}

/// The share of the first ranks that have a document without a judgment.
pub(super) struct Unjudged {
    k: usize,
    denominator: Denominator,
}

impl Unjudged {
    pub(super) fn new(params: &Params) -> Self {
        let denominator = params.denominator.unwrap_or(Denominator::Cutoff);
        Self { k: params.cutoff(), denominator }
    }

    fn parts(&self, query: &Query<'_>) -> (f64, f64) {
        let shown = self.k.min(query.retrieved);
        let judged = query.places(self.k).fold(0.0, |sum, place| {
            let judged = place.grades.iter().filter(|&&grade| grade >= 0.0).count();
            sum + place.expected_within(judged, self.k)
        });
        let all = if self.denominator == Denominator::Cutoff { self.k } else { shown };
        (real(shown) - judged, real(all))
    }
}

impl Kernel for Unjudged {
    fn value(&self, query: &Query<'_>) -> f64 {
        let (unjudged, all) = self.parts(query);
        if all > 0.0 { unjudged / all } else { 0.0 }
    }

    fn ratio(&self, query: &Query<'_>) -> Option<(f64, f64)> {
        Some(self.parts(query))
    }
}
