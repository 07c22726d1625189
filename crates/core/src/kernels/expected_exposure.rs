//! Expected exposure: Diaz, Mitra, Ekstrand, Biega and Carterette, *Evaluating stochastic rankings with
//! expected exposure*, 2020. A ranker may show several rankings of a query; each document then has the
//! mean of the attention that it gets in them, and documents of one grade should have the same.

use super::kernel::{Kernel, Make, OfSamples, Sample};
use super::params::{Browsing, Params};
use super::query::{Query, real};
use crate::number::log2::log2;
use crate::number::sum::ExactSum;

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("eel", |params| Box::new(Exposure::new(Quantity::Loss, params))),
    ("eed", |params| Box::new(Exposure::new(Quantity::Disparity, params))),
    ("eer", |params| Box::new(Exposure::new(Quantity::Relevance, params))),
];

/// What is computed from exposures.
#[derive(Clone, Copy, PartialEq)]
enum Quantity {
    /// How far they are from the target.
    Loss,
    /// How unequal they are.
    Disparity,
    /// How much of them relevant documents have.
    Relevance,
}

struct Exposure {
    quantity: Quantity,
    browsing: Browsing,
    p: f64,
    u: f64,
    k: usize,
    rel: f64,
    is_complete: bool,
}

/// The judged documents of one grade, which have one target.
struct Level {
    grade: f64,
    count: usize,
    target: f64,
}

/// The exposure of a document in one ranking.
#[derive(Clone, Copy)]
struct Shown {
    doc: u32,
    exposure: f64,
    /// The number of its level, if it has a target.
    level: Option<usize>,
}

/// The attention that ranks get, one after another.
struct Attention<'a> {
    of: &'a Exposure,
    rank: usize,
    reads_on: f64,
}

impl Attention<'_> {
    /// What the next rank gets, whose document is relevant or not.
    fn next(&mut self, is_relevant: bool) -> f64 {
        self.rank += 1;
        if self.of.browsing == Browsing::Dcg {
            return 1.0 / log2(self.rank + 1);
        }
        let attention = self.reads_on;
        self.reads_on *= self.of.p;
        if is_relevant && self.of.browsing == Browsing::Gerr {
            self.reads_on *= 1.0 - self.of.u;
        }
        attention
    }
}

impl Exposure {
    fn new(quantity: Quantity, params: &Params) -> Self {
        Self {
            quantity,
            browsing: params.browsing,
            p: params.p,
            u: params.u,
            k: params.cutoff(),
            rel: params.least_relevant(),
            is_complete: params.is_complete,
        }
    }

    fn attention(&self) -> Attention<'_> {
        Attention { of: self, rank: 0, reads_on: 1.0 }
    }

    /// The targets: what documents of a grade get on average in the best orders.
    fn levels(&self, ideal: &[f64]) -> Vec<Level> {
        let least = if self.is_complete { 0.0 } else { self.rel };
        let ranked = &ideal[..ideal.partition_point(|&grade| grade >= least)];
        let mut attention = self.attention();
        let level = |of_grade: &[f64]| {
            let mut sum = 0.0;
            for &grade in of_grade {
                if attention.rank >= self.k {
                    break;
                }
                sum += attention.next(grade >= self.rel);
            }
            let count = of_grade.len();
            Level { grade: of_grade[0], count, target: sum / real(count) }
        };
        ranked.chunk_by(|one, other| one == other).map(level).collect()
    }

    /// Adds the exposure of each document of a ranking.
    #[allow(clippy::cast_possible_truncation)] // ranks are counted in 32 bits
    fn show(&self, sample: &Sample<'_>, levels: &[Level], shown: &mut Vec<Shown>) {
        let Query { ranks, grades, retrieved, .. } = sample.query;
        let mut attention = self.attention();
        let mut at = 0;
        for rank in 1..=retrieved.min(self.k) as u32 {
            let grade = (ranks.get(at) == Some(&rank)).then(|| grades[at]);
            at += usize::from(grade.is_some());
            let doc = sample.docs.map_or(rank, |docs| docs[rank as usize - 1]);
            let exposure = attention.next(grade.is_some_and(|grade| grade >= self.rel));
            let is_of = |level: &Level| Some(level.grade) == grade;
            shown.push(Shown { doc, exposure, level: levels.iter().position(is_of) });
        }
    }
}

impl OfSamples for Exposure {
    fn value(&self, samples: &[Sample<'_>]) -> f64 {
        let Some(first) = samples.first() else { return f64::NAN };
        if first.query.relevant(self.rel) == 0 {
            return f64::NAN;
        }
        let levels = self.levels(first.query.ideal);
        let mut shown = Vec::new();
        for sample in samples {
            self.show(sample, &levels, &mut shown);
        }
        if samples.len() > 1 {
            // So that sums depend on the order of neither samples nor documents.
            shown.sort_by(|one, other| {
                one.doc.cmp(&other.doc).then(one.exposure.total_cmp(&other.exposure))
            });
        }
        let mut found = vec![0; levels.len()];
        let mut sum = ExactSum::default();
        for of_doc in shown.chunk_by(|one, other| one.doc == other.doc) {
            let total = of_doc.iter().fold(0.0, |sum, one| sum + one.exposure);
            let exposure = total / real(samples.len());
            let target = of_doc[0].level.map_or(0.0, |level| levels[level].target);
            of_doc[0].level.iter().for_each(|&level| found[level] += 1);
            sum.add(match self.quantity {
                Quantity::Loss => (exposure - target) * (exposure - target),
                Quantity::Disparity => exposure * exposure,
                Quantity::Relevance => exposure * target,
            });
        }
        if self.quantity == Quantity::Loss {
            for (level, found) in levels.iter().zip(found) {
                sum.add(real(level.count - found) * (level.target * level.target));
            }
        }
        sum.value()
    }
}

impl Kernel for Exposure {
    fn value(&self, query: &Query<'_>) -> f64 {
        OfSamples::value(self, &[Sample { query: *query, docs: None }])
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn of_samples(&self) -> Option<&dyn OfSamples> {
        Some(self)
    }
}
