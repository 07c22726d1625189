//! Measures of all lists together: how many items they show, how evenly, and how much they differ.

use super::kernel::{Kernel, Make, Needs, OfRun, RunLists, Wanted};
use super::params::Params;
use super::query::{Query, real};
use crate::number::log2::log2;
use crate::number::sum::ExactSum;

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("coverage", |params| {
        Box::new(WholeRun(Coverage { k: params.cutoff(), normalizes: params.normalizes }))
    }),
    ("gini", |params| Box::new(WholeRun(Gini(params.cutoff())))),
    ("entropy", |params| Box::new(WholeRun(Entropy::new(params)))),
    ("personalization", |params| Box::new(WholeRun(Personalization(params.cutoff())))),
];

/// A measure that no single list has a value of.
struct WholeRun<M>(M);

impl<M: OfRun + Send + Sync> Kernel for WholeRun<M> {
    fn value(&self, _query: &Query<'_>) -> f64 {
        f64::NAN
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Items(self.0.wants())
    }

    fn of_run(&self) -> Option<&dyn OfRun> {
        Some(&self.0)
    }
}

/// How often each item of the catalogue is shown, the fewest first.
fn count_offered(run: &RunLists<'_>, k: usize) -> Vec<u64> {
    let mut counts = vec![0; run.items_of.len()];
    for list in &run.lists {
        for &doc in &list[..list.len().min(k)] {
            counts[doc as usize] += 1;
        }
    }
    let offered = run.items_of.iter().zip(counts).filter(|of| run.of.is_offered(*of.0));
    let mut shown: Vec<u64> = offered.map(|(_, count)| count).filter(|&count| count > 0).collect();
    let unseen = run.of.offered() - shown.len();
    shown.resize(run.of.offered(), 0);
    shown.rotate_right(unseen);
    shown.sort_unstable();
    shown
}

/// How many items of the catalogue are in some list.
struct Coverage {
    k: usize,
    normalizes: bool,
}

impl OfRun for Coverage {
    fn value(&self, run: &RunLists<'_>) -> f64 {
        let counts = count_offered(run, self.k);
        let shown = real(counts.iter().filter(|&&count| count > 0).count());
        if self.normalizes { shown / real(counts.len()) } else { shown }
    }

    fn wants(&self) -> Wanted {
        Wanted::Catalogue
    }
}

/// The Gini index of how often items are shown.
struct Gini(usize);

impl OfRun for Gini {
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    fn value(&self, run: &RunLists<'_>) -> f64 {
        let counts = count_offered(run, self.0);
        let items = counts.len() as i128;
        let ordered = (1..).zip(&counts);
        let sum: i128 = ordered.map(|(at, &n)| (2 * at - items - 1) * i128::from(n)).sum();
        let shown: u64 = counts.iter().sum();
        sum as f64 / (real(counts.len()) * shown as f64)
    }

    fn wants(&self) -> Wanted {
        Wanted::Catalogue
    }
}

/// The Shannon entropy of how often items are shown.
struct Entropy {
    k: usize,
    normalizes: bool,
}

impl Entropy {
    fn new(params: &Params) -> Self {
        Self { k: params.cutoff(), normalizes: params.normalizes }
    }
}

impl OfRun for Entropy {
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // far below 2^53
    fn value(&self, run: &RunLists<'_>) -> f64 {
        let counts = count_offered(run, self.k);
        let shown: u64 = counts.iter().sum();
        if shown == 0 {
            return f64::NAN;
        }
        let whole = log2(shown as usize);
        let mut sum = ExactSum::default();
        for &count in counts.iter().filter(|&&count| count > 0) {
            sum.add(count as f64 / shown as f64 * (whole - log2(count as usize)));
        }
        let entropy = sum.value();
        if self.normalizes { entropy / log2(counts.len()) } else { entropy }
    }

    fn wants(&self) -> Wanted {
        Wanted::Catalogue
    }
}

/// 1 − the mean cosine of two lists as sets of items.
struct Personalization(usize);

impl OfRun for Personalization {
    /// The sum over all pairs comes from how often each item is shown: an item that is in the lists of n
    /// users is in common to n (n − 1) / 2 pairs.
    fn value(&self, run: &RunLists<'_>) -> f64 {
        let cut = |list: &&'_ [u32]| list.len().min(self.0);
        let mut lists: Vec<&[u32]> = run.lists.iter().map(|list| &list[..cut(list)]).collect();
        lists.retain(|list| !list.is_empty());
        if lists.len() < 2 {
            return f64::NAN;
        }
        let count = real(lists.len());
        // By length, so that sums do not depend on the order of the lists.
        lists.sort_by_key(|one| one.len());
        let common = sum_of_squares(&lists, run.items_of.len());
        1.0 - (common - count) / (count * (count - 1.0))
    }

    fn wants(&self) -> Wanted {
        Wanted::Nothing
    }
}

/// The sum over items of the square of the sum over the lists with the item of 1 / sqrt(length). The
/// lists are ordered by their length.
fn sum_of_squares(lists: &[&[u32]], items: usize) -> f64 {
    let count = |lists: &[&[u32]]| {
        let mut counts = vec![0; items];
        lists.iter().flat_map(|list| list.iter()).for_each(|&doc| counts[doc as usize] += 1);
        counts
    };
    if let [first, .., last] = lists
        && first.len() == last.len()
    {
        // Where all lists are equally long, it is exact.
        let squares = count(lists).iter().map(|count: &usize| count * count).sum();
        return real(squares) / real(first.len());
    }
    let mut weights: Vec<f64> = vec![0.0; items];
    for of_length in lists.chunk_by(|one, other| one.len() == other.len()) {
        let length = real(of_length[0].len()).sqrt();
        let pairs = weights.iter_mut().zip(count(of_length));
        pairs.for_each(|(weight, count)| *weight += real(count) / length);
    }
    let mut sum = ExactSum::default();
    for weight in weights {
        sum.add(weight * weight);
    }
    sum.value()
}
