//! Sums over the clusters of rankings, such as users, by cell.

use rankscope_core::ids::interner::Ids;
use rankscope_core::number::sum::ExactSum;

/// The clusters of the rankings of one cell, and what the values of each add up to.
#[derive(Debug)]
pub struct CellClusters {
    clusters: Ids,
    /// By cluster and measure, how many values there are, and their sum.
    totals: Vec<(f64, f64)>,
    measures: usize,
}

/// Four sums over clusters: those of 1, n², S n and S², where n is the number of values of a cluster
/// and S is their sum.
pub type Moments = [f64; 4];

impl CellClusters {
    /// A cell without rankings.
    pub fn new(measures: usize) -> Self {
        Self { clusters: Ids::default(), totals: Vec::new(), measures }
    }

    /// The totals of a cluster by measure.
    pub fn totals(&mut self, name: &[u8]) -> &mut [(f64, f64)] {
        let at = self.clusters.number(name) * self.measures;
        if at == self.totals.len() {
            self.totals.resize(at + self.measures, (0.0, 0.0));
        }
        &mut self.totals[at..at + self.measures]
    }

    /// The sums over its clusters for each measure, each rounded once.
    pub fn moments(&self) -> Vec<Moments> {
        let mut sums = vec![<[ExactSum; 4]>::default(); self.measures];
        for cluster in self.totals.chunks_exact(self.measures.max(1)) {
            for (&(size, sum), into) in cluster.iter().zip(&mut sums) {
                if size > 0.0 {
                    let terms = [1.0, size * size, sum * size, sum * sum];
                    into.iter_mut().zip(terms).for_each(|(into, term)| into.add(term));
                }
            }
        }
        sums.iter().map(|sums| sums.each_ref().map(ExactSum::value)).collect()
    }
}

/// Adds a value of a cluster; NaN is none.
#[inline]
pub fn add(total: &mut (f64, f64), value: f64) {
    if !value.is_nan() {
        total.0 += 1.0;
        total.1 += value;
    }
}
