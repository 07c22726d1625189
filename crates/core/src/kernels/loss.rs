//! Where 1 − nDCG comes from: relevant documents that were not retrieved, that stand below the cutoff,
//! or that are in the wrong order above it.
//!
//! The three telescope: the best order of all judged documents, of the retrieved ones, of those down
//! to the cutoff, and the list as it is.

use super::draw::chances;
use super::gain::normalise;
use super::gains::Gains;
use super::kernel::{Kernel, Make};
use super::params::{Ideal, Params};
use super::query::{Place, Query, Reads};
use crate::error::{Error, Kind, Result};

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("retrieval_loss", |params| Box::new(Loss::retrieval(params))),
    ("truncation_loss", |params| Box::new(Loss::truncation(params))),
    ("ordering_loss", |params| Box::new(Loss::ordering(params))),
];

/// A part of what nDCG lacks to 1.
enum Part {
    Retrieval,
    Truncation,
    Ordering,
}

/// A part of what nDCG lacks to 1, as a share of the ideal.
pub(super) struct Loss {
    gains: Gains,
    part: Part,
}

/// Rounding may take so much of the ideal from a loss of 0.
const ROUNDING: f64 = 1e-15;

impl Loss {
    pub(super) fn retrieval(params: &Params) -> Self {
        Self { gains: Gains::new(params), part: Part::Retrieval }
    }

    pub(super) fn truncation(params: &Params) -> Self {
        Self { gains: Gains::new(params), part: Part::Truncation }
    }

    pub(super) fn ordering(params: &Params) -> Self {
        Self { gains: Gains::new(params), part: Part::Ordering }
    }

    /// What is lost, and the ideal that it is a share of.
    fn parts(&self, query: &Query<'_>) -> (f64, f64) {
        let gains = &self.gains;
        if gains.lacks_relevant(query) {
            return (0.0, 0.0);
        }
        let ideal = gains.ideal(query);
        // Ranks after the end of a list cannot be filled by sorting it.
        let retrieved = || gains.best_of_retrieved(query) + gains.missing_after(query.retrieved);
        let lost = match self.part {
            Part::Retrieval if gains.ideal == Ideal::Retrieved => {
                0.0 - gains.missing_after(query.retrieved)
            }
            Part::Retrieval => gains.best_of_judged(query) - retrieved(),
            Part::Truncation => retrieved() - best_of_shown(gains, query),
            Part::Ordering => best_of_shown(gains, query) - gains.discounted(query),
        };
        (drop_rounding(lost, ideal), ideal)
    }
}

/// A loss, 0 where it is below 0 by rounding only.
fn drop_rounding(lost: f64, ideal: f64) -> f64 {
    if lost < 0.0 && -lost <= ROUNDING * ideal { 0.0 } else { lost }
}

impl Kernel for Loss {
    fn value(&self, query: &Query<'_>) -> f64 {
        normalise(self.parts(query))
    }

    fn ratio(&self, query: &Query<'_>) -> Option<(f64, f64)> {
        Some(self.parts(query))
    }

    fn reads(&self) -> Reads {
        self.gains.read()
    }

    fn gains(&self) -> Option<&Gains> {
        Some(&self.gains)
    }

    fn check(&self, grades: &[f64]) -> Result<()> {
        if self.gains.min_max {
            return Err(Error::new(
                Kind::Policy,
                "losses_unavailable",
                "expected nDCG as a share of the ideal, whose losses add up, found \
                 negative=\"minmax\"",
            )
            .hint("set policy=\"negative=gain\" or \"negative=nonrelevant\""));
        }
        self.gains.check(grades)
    }
}

/// The expected sum of the best order of the documents down to the cutoff.
fn best_of_shown(gains: &Gains, query: &Query<'_>) -> f64 {
    let shown = query.retrieved.min(gains.k);
    let mut fixed = Vec::new();
    let mut covered = 0;
    let mut cut = None;
    for place in query.places(gains.k) {
        covered += place.within(gains.k);
        if place.within(gains.k) < place.size {
            cut = Some(place);
        } else {
            fixed.extend(gains_of(gains, &place));
        }
    }
    // Documents without a gain stand before those with a negative one.
    if gains.unjudged_gain != 0.0 || cut.is_some() || fixed.iter().any(|&gain| gain < 0.0) {
        fixed.resize(fixed.len() + shown - covered, gains.unjudged_gain);
    }
    let best = match cut {
        None => sum_best(gains, fixed),
        Some(place) => {
            let drawn = place.within(gains.k);
            let tied: Vec<f64> = gains_of(gains, &place).collect();
            if tied.iter().all(|&gain| gain == tied[0]) {
                fixed.resize(fixed.len() + drawn, tied[0]);
                sum_best(gains, fixed)
            } else {
                expect_best(gains, &fixed, &tied, drawn)
            }
        }
    };
    best + gains.missing_after(query.retrieved)
}

/// The gains of all documents of a place, judged or not.
fn gains_of(gains: &Gains, place: &Place<'_>) -> impl Iterator<Item = f64> {
    let unjudged = std::iter::repeat_n(gains.unjudged_gain, place.size - place.grades.len());
    place.grades.iter().map(|&grade| gains.of(grade)).chain(unjudged)
}

fn sum_best(gains: &Gains, mut of_shown: Vec<f64>) -> f64 {
    of_shown.sort_unstable_by(|a, b| b.total_cmp(a));
    gains.discount_all(of_shown.into_iter())
}

/// The expected sum of the best order of some documents and of others drawn from a tie.
///
/// The documents of one gain are together in the best order, so that it is enough to know how many
/// there are of each gain and above: with those drawn, a hypergeometric number.
fn expect_best(gains: &Gains, fixed: &[f64], tied: &[f64], drawn: usize) -> f64 {
    let mut levels: Vec<f64> = fixed.iter().chain(tied).copied().collect();
    levels.sort_unstable_by(|a, b| b.total_cmp(a));
    levels.dedup();
    let weights = (1..=fixed.len() + drawn).scan(0.0, |sum, rank| {
        *sum += gains.discount(1.0, rank);
        Some(*sum)
    });
    let cumulated: Vec<f64> = std::iter::once(0.0).chain(weights).collect();
    let above = |level: f64, all: &[f64]| all.iter().filter(|&&gain| gain >= level).count();
    let mut sum = 0.0;
    let mut before = 0.0;
    for level in levels {
        let sure = above(level, fixed);
        let expected: f64 = chances(tied.len(), above(level, tied), drawn)
            .into_iter()
            .map(|(number, chance)| chance * cumulated[sure + number])
            .sum();
        sum += level * (expected - before);
        before = expected;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Ties;
    use crate::rank::ranked::Ranked;
    use proptest::prelude::*;

    fn losses(params: &Params, query: &Query<'_>) -> [f64; 3] {
        [Loss::retrieval(params), Loss::truncation(params), Loss::ordering(params)]
            .map(|loss| loss.value(query))
    }

    proptest! {
        #[test]
        fn losses_are_what_the_value_lacks_to_one(
            docs in prop::collection::vec((0i8..4, prop::option::weighted(0.7, 0i8..4)), 0..12),
            others in prop::collection::vec(0i8..4, 0..4),
            k in prop::option::of(1usize..8),
            are_averaged in any::<bool>(),
        ) {
            let mut docs = docs;
            docs.sort_by_key(|doc| -doc.0);
            let grades: Vec<f64> =
                docs.iter().map(|doc| doc.1.map_or(f64::NAN, f64::from)).collect();
            let scores: Vec<f64> = docs.iter().map(|doc| f64::from(doc.0)).collect();
            let mut ideal: Vec<f64> =
                grades.iter().copied().filter(|grade| !grade.is_nan()).collect();
            ideal.extend(others.into_iter().map(f64::from));
            ideal.sort_by(|a, b| b.total_cmp(a));
            let mut ranked = Ranked::default();
            let ties = if are_averaged { Ties::Average } else { Ties::Input };
            ranked.take_in_order(&grades, &scores, ties);
            let Ranked { ranks, grades, ties, .. } = &ranked;
            let query = Query {
                ranks,
                grades,
                ties,
                retrieved: docs.len(),
                ideal: &ideal,
                subtopics: None, items: None,
            };
            let params = Params { k, ..Params::default() };
            let value = crate::kernels::make("ndcg", &params).unwrap().value(&query);
            let parts = losses(&params, &query);
            if value.is_nan() {
                prop_assert!(parts.iter().all(|part| part.is_nan()));
            } else {
                prop_assert!(parts.iter().all(|&part| part >= 0.0), "{parts:?}");
                let sum: f64 = parts.iter().sum();
                prop_assert!((sum - (1.0 - value)).abs() <= 1e-15, "{parts:?} {value}");
            }
        }
    }

    #[test]
    fn a_loss_is_below_0_by_rounding_up_to_a_quadrillionth_of_the_ideal() {
        let most: f64 = 1e-15 * 8.0;
        for lost in [most.next_down(), most, most.next_up()] {
            assert_eq!(drop_rounding(-lost, 8.0), if lost <= most { 0.0 } else { -lost });
            assert_eq!(drop_rounding(lost, 8.0), lost);
        }
    }
}
