//! Measures of where relevant documents are ranked. Grades count as relevant or not relevant.
//!
//! Over ties the values are expected ones. Precision, recall and F are linear in the number of
//! relevant documents found, so its expectation is enough; the others follow Frank `McSherry`
//! and Marc Najork, *Computing information retrieval performance measures efficiently in the presence of tied
//! scores*, 2008.

use super::draw;
use super::kernel::{Apart, Kernel, Make, Unknown};
use super::params::{Denominator, Params, Rounding};
use super::query::{Place, Query, Reads, real};

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("ap", |params| Box::new(Ap::new(params))),
    ("rr", |params| Box::new(Rr::new(params))),
    ("precision", |params| Box::new(Share::precision(params))),
    ("recall", |params| Box::new(Share::recall(params))),
    ("rprec", |params| Box::new(Rprec::new(params))),
    ("success", |params| Box::new(Success::new(params))),
    ("f", |params| Box::new(F::new(params))),
    ("iprec", |params| Box::new(Iprec::new(params))),
    ("interpolated_ap", |params| Box::new(InterpolatedAp::new(params))),
    ("yaap", |params| Box::new(Yaap::new(params))),
];

/// Makes a kernel that reads a cutoff and the smallest relevant grade, undefined without relevant
/// documents.
macro_rules! binary_kernel {
    (
        $(#[$doc:meta])* $name:ident,
        |$query:ident, $k:ident, $rel:ident, $relevant:ident| $value:expr,
        unknown $unknown:expr
        $(, apart $apart:expr)?
        $(, ratio $ratio:expr)?
    ) => {
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

            fn reads(&self) -> Reads {
                Reads::relevant(self.rel)
            }

            fn unknown(&self) -> Unknown {
                let unknown: fn(f64) -> Unknown = $unknown;
                unknown(self.rel)
            }

            $(
                fn apart(&self) -> Apart {
                    let apart: fn(f64, usize) -> Apart = $apart;
                    apart(self.rel, self.k)
                }
            )?

            $(
                fn ratio(&self, $query: &Query<'_>) -> Option<(f64, f64)> {
                    let ($k, $rel) = (self.k, self.rel);
                    let $relevant = $query.relevant($rel);
                    Some(if $relevant == 0 { (0.0, 0.0) } else { $ratio })
                }
            )?
        }
    };
}

/// Average precision.
pub(super) struct Ap {
    k: usize,
    rel: f64,
    denominator: Denominator,
}

impl Ap {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            k: params.cutoff(),
            rel: params.least_relevant(),
            denominator: params.denominator.unwrap_or(Denominator::Relevant),
        }
    }

    /// The mean over the relevant documents found.
    fn over_found(&self, query: &Query<'_>) -> f64 {
        let (mut found, mut sum) = (0, 0.0);
        for (place, count) in query.relevant_places(self.k, self.rel) {
            if place.within(self.k) < place.size && count < place.size {
                return over_drawn(sum, &place, count, found, self.k);
            }
            sum = add_precisions(sum, &place, count, found, self.k);
            found += count.min(place.within(self.k));
        }
        if found == 0 { 0.0 } else { sum / real(found) }
    }
}

impl Kernel for Ap {
    fn value(&self, query: &Query<'_>) -> f64 {
        let (k, rel) = (self.k, self.rel);
        let relevant = query.relevant(rel);
        if relevant == 0 {
            return f64::NAN;
        }
        let Some(denominator) = self.denominator.count(query, k, relevant) else {
            return self.over_found(query);
        };
        if let Some(ranks) = query.relevant_ranks(k, rel) {
            return precisions(ranks).fold(0.0, |sum, precision| sum + precision)
                / real(denominator);
        }
        let mut found = 0;
        let sum = query.relevant_places(k, rel).fold(0.0, |sum, (place, count)| {
            let sum = add_precisions(sum, &place, count, found, k);
            found += count;
            sum
        });
        sum / real(denominator)
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }

    fn unknown(&self) -> Unknown {
        match self.denominator {
            // One more document found can lower the mean over those found.
            Denominator::Found => Unknown::Anything,
            _ => Unknown::Relevance { rel: self.rel, k: self.k },
        }
    }

    fn apart(&self) -> Apart {
        let Self { k, rel, denominator } = *self;
        match denominator {
            // These differ between two lists.
            Denominator::Found | Denominator::Retrieved => Apart::Anything,
            _ => Apart::Precisions { rel, k, denominator },
        }
    }
}

/// The precision at each of the ranks of the relevant documents.
fn precisions(ranks: &[u32]) -> impl Iterator<Item = f64> {
    (1_u32..).zip(ranks).map(|(found, &rank)| f64::from(found) / f64::from(rank))
}

/// The mean over the documents found where the cutoff splits the last tie, of which not all are
/// relevant, so that their number varies: over each number of them, by its chance.
fn over_drawn(sum: f64, place: &Place<'_>, count: usize, found: usize, k: usize) -> f64 {
    let within = place.within(k);
    // At each rank, what a relevant document adds for those before the tie, and for one in it.
    let (before, above) =
        place.ranks(k).zip(0..).fold((0.0, 0.0), |(before, above), (rank, at)| {
            (before + real(found + 1) / real(rank), above + real(at) / real(rank))
        });
    let drawn = draw::chances(place.size, count, within).into_iter();
    drawn.filter(|&(number, _)| found + number > 0).fold(0.0, |mean, (number, chance)| {
        let share = real(number) / real(within);
        let others = real(number.saturating_sub(1)) / real((within - 1).max(1));
        let precisions = sum + share * (before + others * above);
        mean + chance * precisions / real(found + number)
    })
}

/// Adds the precision at each rank of a place, times the chance of a relevant document there.
fn add_precisions(sum: f64, place: &Place<'_>, count: usize, found: usize, k: usize) -> f64 {
    if place.size == 1 {
        return sum + real(found + 1) / real(place.first);
    }
    let chance = real(count) / real(place.size);
    // Given one relevant document, how likely each other one of the tie is, too.
    let others = real(count - 1) / real(place.size - 1);
    place.ranks(k).zip(0..).fold(sum, |sum, (rank, above)| {
        sum + chance * (real(found + 1) + real(above) * others) / real(rank)
    })
}

binary_kernel!(
    /// Reciprocal rank.
    Rr,
    |query, k, rel, _relevant| {
        query.relevant_places(k, rel).next().map_or(0.0, |(place, count)| {
            if place.size == 1 {
                return 1.0 / real(place.first);
            }
            first_chances(&place, count)
                .zip(place.ranks(k))
                .fold(0.0, |sum, (chance, rank)| sum + chance / real(rank))
        })
    },
    unknown |_| Unknown::Rising,
    apart |rel, k| Apart::First { rel, k }
);

/// For each rank of a tie, how likely the first of its `count` relevant documents is there.
fn first_chances(place: &Place<'_>, count: usize) -> impl Iterator<Item = f64> {
    let size = place.size;
    let mut none_above = 1.0;
    (0..=size - count).map(move |above| {
        let left = real(size - above);
        let chance = none_above * real(count) / left;
        none_above *= real(size - above - count) / left;
        chance
    })
}

/// Precision or recall at the cutoff: the relevant documents found, as a share of something.
pub(super) struct Share {
    k: usize,
    rel: f64,
    denominator: Denominator,
}

impl Share {
    /// A share of the ranks.
    pub(super) fn precision(params: &Params) -> Self {
        Self::of(params, Denominator::Cutoff)
    }

    /// A share of the relevant documents.
    pub(super) fn recall(params: &Params) -> Self {
        Self::of(params, Denominator::Relevant)
    }

    fn of(params: &Params, usual: Denominator) -> Self {
        Self {
            k: params.cutoff(),
            rel: params.least_relevant(),
            denominator: params.denominator.unwrap_or(usual),
        }
    }

    /// Numerator and denominator; none without relevant documents.
    fn parts(&self, query: &Query<'_>) -> Option<(f64, f64)> {
        let relevant = query.relevant(self.rel);
        if relevant == 0 {
            return None;
        }
        let all = self.denominator.count(query, self.k, relevant)?;
        Some((query.expected_relevant(self.k, self.rel), real(all)))
    }
}

impl Kernel for Share {
    fn value(&self, query: &Query<'_>) -> f64 {
        match self.parts(query) {
            None => f64::NAN,
            // Of an empty list.
            Some((_, 0.0)) => 0.0,
            Some((found, all)) => found / all,
        }
    }

    fn ratio(&self, query: &Query<'_>) -> Option<(f64, f64)> {
        Some(self.parts(query).unwrap_or((0.0, 0.0)))
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }

    fn unknown(&self) -> Unknown {
        match self.denominator {
            Denominator::Cutoff | Denominator::Retrieved => Unknown::Rising,
            _ => Unknown::Relevance { rel: self.rel, k: self.k },
        }
    }

    fn apart(&self) -> Apart {
        let Self { k, rel, denominator } = *self;
        match denominator {
            Denominator::Found => Apart::Anything,
            _ => Apart::Sum { rel, k, p: 1.0, denominator },
        }
    }
}

/// Precision at the number of relevant documents, or a multiple of it.
pub(super) struct Rprec {
    rel: f64,
    multiple: f64,
}

impl Rprec {
    pub(super) fn new(params: &Params) -> Self {
        Self { rel: params.least_relevant(), multiple: params.multiple }
    }

    /// Numerator and denominator; none without relevant documents.
    fn parts(&self, query: &Query<'_>) -> Option<(f64, f64)> {
        let relevant = query.relevant(self.rel);
        let rank = Rounding::Up.round(self.multiple * real(relevant));
        (relevant > 0).then(|| (query.expected_relevant(rank, self.rel), real(rank)))
    }
}

impl Kernel for Rprec {
    fn value(&self, query: &Query<'_>) -> f64 {
        match self.parts(query) {
            None => f64::NAN,
            // Of a small multiple, no rank is left.
            Some((_, 0.0)) => 0.0,
            Some((found, rank)) => found / rank,
        }
    }

    fn ratio(&self, query: &Query<'_>) -> Option<(f64, f64)> {
        Some(self.parts(query).unwrap_or((0.0, 0.0)))
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }

    fn unknown(&self) -> Unknown {
        Unknown::Relevance { rel: self.rel, k: usize::MAX }
    }
}

binary_kernel!(
    /// Whether there is a relevant document before the cutoff.
    Success,
    |query, k, rel, _relevant| {
        query.relevant_places(k, rel).next().map_or(0.0, |(place, count)| {
            if place.within(k) == place.size {
                return 1.0;
            }
            first_chances(&place, count).take(place.within(k)).fold(0.0, |sum, chance| sum + chance)
        })
    },
    unknown |_| Unknown::Rising,
    apart |rel, k| Apart::First { rel, k }
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
    precision: Share,
    recall: Share,
    beta: f64,
}

impl F {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            precision: Share::precision(params),
            recall: Share::recall(params),
            beta: params.beta,
        }
    }
}

impl Kernel for F {
    fn value(&self, query: &Query<'_>) -> f64 {
        // Both are linear in the number of documents found, and so is their harmonic mean.
        let (precision, recall) = (self.precision.value(query), self.recall.value(query));
        if recall.is_nan() { recall } else { harmonic(precision, recall, self.beta) }
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.precision.rel)
    }

    fn unknown(&self) -> Unknown {
        Unknown::Relevance { rel: self.precision.rel, k: self.precision.k }
    }
}

/// Interpolated precision at a level of recall.
pub(super) struct Iprec {
    rel: f64,
    recall: f64,
    rounding: Rounding,
}

impl Iprec {
    pub(super) fn new(params: &Params) -> Self {
        let rel = params.least_relevant();
        Self { rel, recall: params.recall, rounding: params.rounding }
    }
}

impl Kernel for Iprec {
    fn value(&self, query: &Query<'_>) -> f64 {
        let relevant = query.relevant(self.rel);
        if relevant == 0 {
            return f64::NAN;
        }
        let least = self.rounding.round(self.recall * real(relevant));
        if let Some(ranks) = query.relevant_ranks(usize::MAX, self.rel) {
            let enough = precisions(ranks).skip(least.saturating_sub(1));
            return enough.fold(0.0, |best, value| value.max(best));
        }
        let precisions = (1..)
            .zip(query.relevant_places(usize::MAX, self.rel))
            .map(|(found, (place, _))| (found, real(found) / real(place.first)));
        let enough = precisions.filter(|&(found, _)| found >= least);
        enough.fold(0.0, |best, (_, value)| value.max(best))
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }

    fn unknown(&self) -> Unknown {
        Unknown::Relevance { rel: self.rel, k: usize::MAX }
    }

    fn averages_ties(&self) -> bool {
        false
    }
}

/// The mean of interpolated precision over levels of recall.
pub(super) struct InterpolatedAp {
    rel: f64,
    /// Ascending.
    levels: Vec<f64>,
    rounding: Rounding,
}

impl InterpolatedAp {
    pub(super) fn new(params: &Params) -> Self {
        let mut levels = params.levels.clone();
        levels.sort_by(f64::total_cmp);
        Self { rel: params.least_relevant(), levels, rounding: params.rounding }
    }
}

impl Kernel for InterpolatedAp {
    fn value(&self, query: &Query<'_>) -> f64 {
        let relevant = query.relevant(self.rel);
        if relevant == 0 {
            return f64::NAN;
        }
        let places = query.relevant_places(usize::MAX, self.rel);
        let mut precisions: Vec<f64> =
            (1..).zip(places).map(|(found, (place, _))| real(found) / real(place.first)).collect();
        let mut best = 0.0_f64;
        for precision in precisions.iter_mut().rev() {
            best = best.max(*precision);
            *precision = best;
        }
        let sum = self.levels.iter().rev().fold(0.0, |sum, level| {
            let least = self.rounding.round(level * real(relevant)).max(1);
            sum + precisions.get(least - 1).copied().unwrap_or(0.0)
        });
        sum / real(self.levels.len())
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }

    fn unknown(&self) -> Unknown {
        Unknown::Relevance { rel: self.rel, k: usize::MAX }
    }

    fn averages_ties(&self) -> bool {
        false
    }
}

/// The logarithm of the odds of average precision, smoothed: Robertson, *On smoothing average
/// precision*, 2012.
pub(super) struct Yaap {
    rel: f64,
}

impl Yaap {
    pub(super) fn new(params: &Params) -> Self {
        Self { rel: params.least_relevant() }
    }
}

impl Kernel for Yaap {
    fn value(&self, query: &Query<'_>) -> f64 {
        let places = (1..).zip(query.relevant_places(usize::MAX, self.rel));
        let sum =
            places.fold(0.0, |sum, (found, (place, _))| sum + real(found) / real(place.first));
        ((1.0 + sum) / (1.0 + real(query.relevant(self.rel)) - sum)).ln()
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }

    fn unknown(&self) -> Unknown {
        Unknown::Relevance { rel: self.rel, k: usize::MAX }
    }

    fn averages_ties(&self) -> bool {
        false
    }
}
