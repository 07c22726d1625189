//! Measures as functions of one ranked query. A kernel sees grades and ranks, never documents.

mod binary;
mod cascade;
mod count;
mod denominator;
mod draw;
mod gain;
mod judged;
mod loss;
mod set;

pub use denominator::Denominator;
pub use gain::{Discount, Gain, Gains, Ideal};

use crate::error::{Error, Kind, Result};
use crate::memory::Vec;

/// One query, ranked: all that a measure depends on.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// 1-based ranks of the retrieved documents that are judged, ascending. Where ties are averaged,
    /// tied documents all stand at the first rank of their tie.
    pub ranks: &'a [u32],
    /// Their grades.
    pub grades: &'a [f64],
    /// Ties to be averaged over, in order; only those with judged documents.
    pub ties: &'a [Tie],
    /// How many documents were retrieved.
    pub retrieved: usize,
    /// The grades of all judged documents, retrieved or not, largest first.
    pub ideal: &'a [f64],
}

/// Documents of one score, any order of which is as likely as any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tie {
    /// The first of its ranks.
    pub first: u32,
    /// How many documents it has, judged or not.
    pub size: u32,
}

/// One rank and the document at it, or the ranks of a tie and the judged documents in it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The first rank.
    pub first: usize,
    /// How many ranks it has.
    pub size: usize,
    /// The grades of its judged documents.
    pub grades: &'a [f64],
}

impl Place<'_> {
    /// How many of its ranks are among the first `k`.
    fn within(&self, k: usize) -> usize {
        self.size.min(k.saturating_add(1).saturating_sub(self.first))
    }

    /// Its ranks among the first `k`.
    fn ranks(&self, k: usize) -> impl Iterator<Item = usize> {
        self.first..self.first + self.within(k)
    }

    /// How many of its documents are relevant.
    fn relevant(&self, rel: f64) -> usize {
        self.grades.iter().filter(|&&grade| grade >= rel).count()
    }

    /// How many of `count` of its documents are expected among the first `k`.
    fn expected_within(&self, count: usize, k: usize) -> f64 {
        let within = self.within(k);
        if within == self.size { real(count) } else { real(count) * real(within) / real(self.size) }
    }
}

impl<'a> Query<'a> {
    /// Nothing retrieved, and nothing judged.
    pub const EMPTY: Self = Self { ranks: &[], grades: &[], ties: &[], retrieved: 0, ideal: &[] };

    /// How many judged documents are relevant, retrieved or not.
    fn relevant(&self, rel: f64) -> usize {
        self.ideal.partition_point(|&grade| grade >= rel)
    }

    /// The places of the judged documents among the first `k`, in order.
    pub fn places(&self, k: usize) -> impl Iterator<Item = Place<'a>> {
        let Self { ranks, grades, ties, .. } = *self;
        let (mut at, mut next_tie) = (0, 0);
        std::iter::from_fn(move || {
            let first = *ranks.get(at)?;
            if first as usize > k {
                return None;
            }
            let from = at;
            let tie = ties.get(next_tie).filter(|tie| tie.first == first);
            if tie.is_some() {
                next_tie += 1;
                at += ranks[from..].iter().take_while(|&&rank| rank == first).count();
            } else {
                at += 1;
            }
            let size = tie.map_or(1, |tie| tie.size as usize);
            Some(Place { first: first as usize, size, grades: &grades[from..at] })
        })
    }

    /// The places of the relevant documents among the first `k`, and how many each has.
    fn relevant_places(&self, k: usize, rel: f64) -> impl Iterator<Item = (Place<'a>, usize)> {
        let counted = self.places(k).map(move |place| (place, place.relevant(rel)));
        counted.filter(|&(_, relevant)| relevant > 0)
    }

    /// How many judged documents are expected among the first `k`, as a whole number.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most the ranks there are
    pub fn judged_within(&self, k: usize) -> usize {
        if self.ties.is_empty() {
            return self.ranks.partition_point(|&rank| rank as usize <= k);
        }
        let judged = self.places(k).map(|place| place.expected_within(place.grades.len(), k));
        judged.fold(0.0, |sum: f64, count| sum + count).round() as usize
    }

    /// How many relevant documents were retrieved.
    fn found(&self, rel: f64) -> usize {
        self.grades.iter().filter(|&&grade| grade >= rel).count()
    }

    /// How many relevant documents are expected among the first `k`.
    fn expected_relevant(&self, k: usize, rel: f64) -> f64 {
        let expected =
            self.relevant_places(k, rel).map(|(place, count)| place.expected_within(count, k));
        expected.fold(0.0, |sum, count| sum + count)
    }
}

/// How a value depends on grades that are not known. In all cases but [`Unknown::Anything`], moving a
/// document of a higher grade up never lowers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unknown {
    /// In no way that is made use of.
    Anything,
    /// It is a sum of discounted gains, divided by that of an ideal order or by nothing.
    Discounted {
        /// Whether there is an ideal that depends on them.
        is_share: bool,
    },
    /// A higher grade never lowers it.
    Rising,
    /// It depends on which documents have this grade or a higher one.
    Relevance {
        /// The smallest grade that is relevant.
        rel: f64,
        /// The last rank that counts.
        k: usize,
    },
}

/// A measure with its parameters.
pub trait Kernel: Send + Sync {
    /// The value for one query: NaN where it is undefined, infinite where gains overflow. Where there
    /// are ties to average over, the expected value over all their orders.
    fn value(&self, query: &Query<'_>) -> f64;

    /// The values at several cutoffs, which ascend up to that of the measure, in one pass; nothing
    /// where the measure knows no such pass. They are to the bit those of [`Kernel::value`].
    fn values_at(&self, _query: &Query<'_>, _cutoffs: &[usize]) -> Option<Vec<f64>> {
        None
    }

    /// Numerator and denominator of the value, where it is a ratio whose parts can be added up; a
    /// query for which it is undefined adds nothing.
    fn ratio(&self, _query: &Query<'_>) -> Option<(f64, f64)> {
        None
    }

    /// Whether the expected value over ties is computed exactly; else there is none.
    fn averages_ties(&self) -> bool {
        true
    }

    /// What can be said of the value where grades are not known.
    fn unknown(&self) -> Unknown {
        Unknown::Anything
    }

    /// Gains and discounts, where the measure is made of them.
    fn gains(&self) -> Option<&Gains> {
        None
    }

    /// Refuses grades that the parameters have no answer for; `grades` ascend.
    ///
    /// # Errors
    /// Where there is such a grade.
    fn check(&self, _grades: &[f64]) -> Result<()> {
        Ok(())
    }
}

/// Parameters of all kernels; each reads those that it knows.
#[derive(Clone, Debug)]
pub struct Params {
    /// Cutoff; none for the whole list.
    pub k: Option<usize>,
    /// The smallest grade that is relevant.
    pub rel: Option<f64>,
    /// The weight of recall against precision in F.
    pub beta: f64,
    /// The persistence of RBP.
    pub p: f64,
    /// The recall level of `IPrec`.
    pub recall: f64,
    /// The largest grade of ERR and graded RBP.
    pub max_grade: f64,
    /// Whether RBP takes gains from grades.
    pub graded: bool,
    /// Gains of grades.
    pub gain: Gain,
    /// Discounts of ranks.
    pub discount: Discount,
    /// What the ideal order is made of.
    pub ideal: Ideal,
    /// What AP, precision and recall divide by; none for what each usually does.
    pub denominator: Option<Denominator>,
    /// Whether negative grades have a gain; else they have none.
    pub negative_gain: bool,
    /// Whether nDCG is taken between the worst order and the best.
    pub min_max: bool,
    /// The gain of a retrieved document without a judgment.
    pub unjudged_gain: f64,
    /// The gain at each rank after the end of a list that is shorter than the cutoff.
    pub missing_gain: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            k: None,
            rel: None,
            beta: 1.0,
            p: 0.8,
            recall: 0.0,
            max_grade: 4.0,
            graded: false,
            gain: Gain::Linear,
            discount: Discount::Log2,
            ideal: Ideal::Judged,
            denominator: None,
            negative_gain: false,
            min_max: false,
            unjudged_gain: 0.0,
            missing_gain: 0.0,
        }
    }
}

impl Params {
    fn cutoff(&self) -> usize {
        self.k.unwrap_or(usize::MAX)
    }

    fn least_relevant(&self) -> f64 {
        self.rel.unwrap_or(1.0)
    }
}

type Make = fn(&Params) -> Box<dyn Kernel>;

/// Every kernel by its name.
pub const TABLE: [(&str, Make); 28] = [
    ("ndcg", |params| Box::new(gain::Ndcg::new(params))),
    ("dcg", |params| Box::new(gain::Dcg::new(params))),
    ("idcg", |params| Box::new(gain::Idcg::new(params))),
    ("cg", |params| Box::new(gain::Cg::new(params))),
    ("retrieval_loss", |params| Box::new(loss::Loss::retrieval(params))),
    ("truncation_loss", |params| Box::new(loss::Loss::truncation(params))),
    ("ordering_loss", |params| Box::new(loss::Loss::ordering(params))),
    ("ap", |params| Box::new(binary::Ap::new(params))),
    ("rr", |params| Box::new(binary::Rr::new(params))),
    ("precision", |params| Box::new(binary::Share::precision(params))),
    ("recall", |params| Box::new(binary::Share::recall(params))),
    ("rprec", |params| Box::new(binary::Rprec::new(params))),
    ("success", |params| Box::new(binary::Success::new(params))),
    ("f", |params| Box::new(binary::F::new(params))),
    ("iprec", |params| Box::new(binary::Iprec::new(params))),
    ("set_precision", |params| Box::new(set::SetPrecision::new(params))),
    ("set_recall", |params| Box::new(set::SetRecall::new(params))),
    ("set_f", |params| Box::new(set::SetF::new(params))),
    ("set_ap", |params| Box::new(set::SetAp::new(params))),
    ("bpref", |params| Box::new(judged::Bpref::new(params))),
    ("infap", |params| Box::new(judged::InfAp::new(params))),
    ("judged", |params| Box::new(judged::Judged::new(params))),
    ("err", |params| Box::new(cascade::Err::new(params))),
    ("rbp", |params| Box::new(cascade::Rbp::new(params))),
    ("rbp_residual", |params| Box::new(cascade::RbpResidual::new(params))),
    ("num_ret", |params| Box::new(count::NumRet::new(params))),
    ("num_rel", |params| Box::new(count::NumRel::new(params))),
    ("num_q", |_| Box::new(count::NumQ)),
];

/// Makes a kernel.
///
/// # Errors
/// Where there is none of that name.
pub fn make(name: &str, params: &Params) -> Result<Box<dyn Kernel>> {
    match TABLE.iter().find(|(known, _)| *known == name) {
        Some((_, make)) => Ok(make(params)),
        None => Err(Error::new(
            Kind::Measure,
            "unknown_kernel",
            format!("expected the name of a kernel, found `{name}`"),
        )),
    }
}

/// A count as the number it is divided by.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::{Ranked, Ties};
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Every order of these documents in which no score is above the one before it.
    fn orders(docs: &[(i8, f64)]) -> Vec<Vec<(i8, f64)>> {
        if docs.is_empty() {
            return vec![Vec::new()];
        }
        let best = docs.iter().map(|doc| doc.0).max().unwrap();
        let firsts = (0..docs.len()).filter(|&index| docs[index].0 == best);
        let with_first = firsts.flat_map(|index| {
            let mut rest = docs.to_vec();
            let first = rest.remove(index);
            orders(&rest).into_iter().map(move |mut order| {
                order.insert(0, first);
                order
            })
        });
        with_first.collect()
    }

    /// Every kernel, and those that have other forms in each of them.
    fn kernels(k: Option<usize>) -> Vec<(&'static str, Box<dyn Kernel>)> {
        let default = Params { k, ..Params::default() };
        let mut forms = vec![
            default.clone(),
            Params { gain: Gain::Binary, ..default.clone() },
            Params { ideal: Ideal::Whole, ..default.clone() },
        ];
        for denominator in [
            Denominator::Relevant,
            Denominator::Reachable,
            Denominator::Cutoff,
            Denominator::Retrieved,
            Denominator::Found,
        ] {
            forms.push(Params { denominator: Some(denominator), ..default.clone() });
        }
        if k.is_some() {
            forms.push(Params { ideal: Ideal::Slots, ..default });
        }
        let every = forms.iter().flat_map(|form| TABLE.map(|(name, make)| (name, make(form))));
        every.collect()
    }

    fn value(kernel: &dyn Kernel, order: &[(i8, f64)], ideal: &[f64], ties: Ties) -> f64 {
        let relevance: Vec<f64> = order.iter().map(|doc| doc.1).collect();
        let scores: Vec<f64> = order.iter().map(|doc| f64::from(doc.0)).collect();
        let mut ranked = Ranked::default();
        ranked.take_in_order(&relevance, &scores, ties);
        let Ranked { ranks, grades, ties, .. } = &ranked;
        kernel.value(&Query { ranks, grades, ties, retrieved: order.len(), ideal })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn averages_are_the_means_over_all_orders_of_ties(
            docs in prop::collection::vec((0i8..3, prop::option::weighted(0.7, -1i8..4)), 0..6),
            others in prop::collection::vec(0i8..4, 0..3),
            k in prop::option::of(1usize..8),
        ) {
            let docs: Vec<(i8, f64)> = docs
                .into_iter()
                .map(|(score, grade)| (score, grade.map_or(f64::NAN, f64::from)))
                .collect();
            let mut ideal: Vec<f64> =
                docs.iter().map(|doc| doc.1).filter(|grade| !grade.is_nan()).collect();
            ideal.extend(others.into_iter().map(f64::from));
            ideal.sort_by(|a, b| b.total_cmp(a));
            let orders = orders(&docs);
            for (name, kernel) in kernels(k) {
                let needs_cutoff = matches!(name, "precision" | "recall" | "success" | "f");
                if !kernel.averages_ties() || (k.is_none() && needs_cutoff) {
                    continue;
                }
                let expected = orders
                    .iter()
                    .map(|order| value(kernel.as_ref(), order, &ideal, Ties::Input))
                    .sum::<f64>() / real(orders.len());
                let found = value(kernel.as_ref(), &orders[0], &ideal, Ties::Average);
                let is_close = (found - expected).abs() < 1e-12 || (found.is_nan() && expected.is_nan());
                prop_assert!(is_close, "{name}: {found} where the orders average {expected}");
            }
        }
    }
}
