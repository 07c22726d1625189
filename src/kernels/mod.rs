//! Measures as functions of one ranked query. A kernel sees grades and ranks, never documents.

mod binary;
mod cascade;
mod count;
mod gain;
mod judged;
mod set;

pub use gain::{Discount, Gain, Ideal};

use crate::error::{Error, Kind, Result};

/// One query, ranked: all that a measure depends on.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// 1-based ranks of the retrieved documents that are judged, ascending.
    pub ranks: &'a [u32],
    /// Their grades.
    pub grades: &'a [f64],
    /// How many documents were retrieved.
    pub retrieved: usize,
    /// The grades of all judged documents, retrieved or not, largest first.
    pub ideal: &'a [f64],
}

impl Query<'_> {
    /// How many judged documents are relevant, retrieved or not.
    fn relevant(&self, rel: f64) -> usize {
        self.ideal.partition_point(|&grade| grade >= rel)
    }

    /// Ranks and grades of the judged documents among the first `k`.
    fn top(&self, k: usize) -> impl Iterator<Item = (u32, f64)> {
        let ranked = self.ranks.iter().copied().zip(self.grades.iter().copied());
        ranked.take_while(move |&(rank, _)| rank as usize <= k)
    }

    /// Ranks of the relevant documents among the first `k`.
    fn relevant_ranks(&self, k: usize, rel: f64) -> impl Iterator<Item = u32> {
        self.top(k).filter(move |&(_, grade)| grade >= rel).map(|(rank, _)| rank)
    }
}

/// A measure with its parameters.
pub trait Kernel: Send + Sync {
    /// The value for one query: NaN where it is undefined, infinite where gains overflow.
    fn value(&self, query: &Query<'_>) -> f64;

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
    /// Whether negative grades have a gain; else they have none.
    pub negative_gain: bool,
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
            negative_gain: false,
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
pub const TABLE: [(&str, Make); 25] = [
    ("ndcg", |params| Box::new(gain::Ndcg::new(params))),
    ("dcg", |params| Box::new(gain::Dcg::new(params))),
    ("idcg", |params| Box::new(gain::Idcg::new(params))),
    ("cg", |params| Box::new(gain::Cg::new(params))),
    ("ap", |params| Box::new(binary::Ap::new(params))),
    ("rr", |params| Box::new(binary::Rr::new(params))),
    ("precision", |params| Box::new(binary::Precision::new(params))),
    ("recall", |params| Box::new(binary::Recall::new(params))),
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
