//! Measures of how far the order of a list agrees with the best one.

use super::kernel::{Kernel, Make};
use super::params::Params;
use super::query::{Query, Reads, real};

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("accuracy", |params| Box::new(Accuracy::new(params))),
    ("compat", |params| Box::new(Compat::new(params))),
];

/// How often a retrieved relevant document is ranked above one that is not relevant.
struct Accuracy {
    k: usize,
    rel: f64,
}

impl Accuracy {
    fn new(params: &Params) -> Self {
        Self { k: params.cutoff(), rel: params.least_relevant() }
    }
}

impl Kernel for Accuracy {
    fn value(&self, query: &Query<'_>) -> f64 {
        let (mut found, mut above) = (0, 0);
        for (place, _) in query.relevant_places(self.k, self.rel) {
            above += place.first - 1 - found;
            found += 1;
        }
        if found == 0 {
            return f64::NAN;
        }
        match query.retrieved.min(self.k) - found {
            0 => 1.0,
            others => 1.0 - real(above) / (real(others) * real(found)),
        }
    }

    fn reads(&self) -> Reads {
        Reads::relevant(self.rel)
    }

    fn averages_ties(&self) -> bool {
        false
    }
}

/// Compatibility: Clarke, Vtyurina and Smucker, *Assessing top-k preferences*, 2021. It is the rank-biased
/// overlap of a list with the order of the relevant documents by grade that is most like it.
struct Compat {
    /// By depth, the sum of p^(i − 1) / i over the ranks i down to it; constant after the last.
    overlaps: Vec<f64>,
    /// By depth, the sum of p^(i − 1).
    weights: Vec<f64>,
    normalizes: bool,
}

impl Compat {
    fn new(params: &Params) -> Self {
        let (mut overlaps, mut weights) = (Vec::new(), Vec::new());
        let (mut overlap, mut sum, mut weight, mut rank) = (0.0, 0.0, 1.0, 1);
        loop {
            overlaps.push(overlap);
            weights.push(sum);
            let (next_overlap, next_sum) = (overlap + weight / real(rank), sum + weight);
            // From here on, nothing is large enough to count.
            if next_overlap == overlap && next_sum == sum {
                break;
            }
            (overlap, sum) = (next_overlap, next_sum);
            weight *= params.p;
            rank += 1;
        }
        Self { overlaps, weights, normalizes: params.normalizes }
    }

    /// What a document adds that is in both orders from a rank on, down to a depth.
    fn from(&self, rank: usize, depth: usize) -> f64 {
        at(&self.overlaps, depth) - at(&self.overlaps, rank - 1)
    }
}

fn at(sums: &[f64], depth: usize) -> f64 {
    sums[depth.min(sums.len() - 1)]
}

impl Kernel for Compat {
    fn value(&self, query: &Query<'_>) -> f64 {
        let relevant = query.positive();
        if relevant == 0 {
            return f64::NAN;
        }
        let depth = query.retrieved.max(relevant);
        // Of each grade, the next rank in the best order; those retrieved come first.
        let mut next: Vec<(f64, usize)> = Vec::new();
        let mut sum = 0.0;
        for (&rank, &grade) in query.ranks.iter().zip(query.grades).filter(|pair| *pair.1 > 0.0) {
            let known = next.iter().position(|pair| pair.0 == grade).unwrap_or_else(|| {
                next.push((grade, query.ideal.partition_point(|&other| other > grade) + 1));
                next.len() - 1
            });
            let best = next[known].1;
            next[known].1 += 1;
            sum += self.from(best.max(rank as usize), depth);
        }
        if self.normalizes {
            sum / (1..=relevant).fold(0.0, |best, rank| best + self.from(rank, depth))
        } else {
            sum / at(&self.weights, depth)
        }
    }

    fn reads(&self) -> Reads {
        Reads::Positive
    }

    fn averages_ties(&self) -> bool {
        false
    }
}
