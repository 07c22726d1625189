//! Counts of documents and queries.

use super::kernel::{Kernel, Make};
use super::params::Params;
use super::query::{Query, Reads, real};

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("num_ret", |params| Box::new(NumRet::new(params))),
    ("num_rel", |params| Box::new(NumRel::new(params))),
    ("num_nonrel_ret", |params| Box::new(NumNonrelRet::new(params))),
    ("num_q", |_| Box::new(NumQ)),
];

/// Retrieved documents; with a smallest relevant grade, only those that are relevant.
pub(super) struct NumRet {
    k: usize,
    rel: Option<f64>,
}

impl NumRet {
    pub(super) fn new(params: &Params) -> Self {
        Self { k: params.cutoff(), rel: params.rel }
    }
}

impl Kernel for NumRet {
    fn value(&self, query: &Query<'_>) -> f64 {
        match self.rel {
            None => real(query.retrieved.min(self.k)),
            Some(rel) => query.expected_relevant(self.k, rel),
        }
    }

    fn reads(&self) -> Reads {
        self.rel.map_or(Reads::Positive, Reads::relevant)
    }
}

/// Relevant documents, retrieved or not.
pub(super) struct NumRel {
    rel: f64,
}

impl NumRel {
    pub(super) fn new(params: &Params) -> Self {
        Self { rel: params.least_relevant() }
    }
}

impl Kernel for NumRel {
    fn value(&self, query: &Query<'_>) -> f64 {
        real(query.relevant(self.rel))
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }
}

/// Retrieved documents that are judged not relevant.
pub(super) struct NumNonrelRet {
    rel: f64,
}

impl NumNonrelRet {
    pub(super) fn new(params: &Params) -> Self {
        Self { rel: params.least_relevant() }
    }
}

impl Kernel for NumNonrelRet {
    fn value(&self, query: &Query<'_>) -> f64 {
        real(query.grades.iter().filter(|&&grade| grade >= 0.0 && grade < self.rel).count())
    }
}

/// One a query.
pub(super) struct NumQ;

impl Kernel for NumQ {
    fn value(&self, _query: &Query<'_>) -> f64 {
        1.0
    }

    fn reads(&self) -> Reads {
        Reads::Positive
    }
}
