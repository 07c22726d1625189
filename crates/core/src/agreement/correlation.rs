//! Kendall's tau and its top-weighted form, of the documents that both lists have.

use super::choices::Ties;

/// Counts by prefix (Fenwick, *A new data structure for cumulative frequency tables*, 1994).
struct Counter(Vec<usize>);

impl Counter {
    fn add(&mut self, value: usize) {
        let mut place = value + 1;
        while let Some(count) = self.0.get_mut(place) {
            *count += 1;
            place += place & place.wrapping_neg();
        }
    }

    /// How many values are smaller.
    fn below(&self, value: usize) -> usize {
        let (mut place, mut count) = (value, 0);
        while place > 0 {
            count += self.0[place];
            place &= place - 1;
        }
        count
    }
}

/// What a list says about the documents above each one in the other list.
#[derive(Clone, Copy, Debug, Default)]
struct Above {
    /// The documents above in the other list.
    all: usize,
    /// Those that are above in this list, too.
    agreed: usize,
    /// Those that are tied in this list.
    tied: usize,
    /// The size of the group in the other list.
    size: usize,
}

/// Tau and its top-weighted form, which takes the second list from the top.
///
/// - Tau: Kendall, *The treatment of ties in ranking problems*, 1945: form a with `Ties::Expected`, and
///   form b otherwise.
/// - Its top-weighted form: Yilmaz, Aslam and Robertson, *A new rank correlation coefficient for
///   information retrieval*, 2008; with ties, Urbano and Marrero, *The treatment of ties in AP
///   correlation*, 2017: the expected value over all orders with `Ties::Expected` (here, ties in both
///   lists have all orders), and the symmetric form b otherwise.
#[allow(clippy::cast_precision_loss)] // counts are far below 2^53
pub(super) fn measure(common: &[(usize, usize)], ties: Ties) -> (f64, f64) {
    let count = common.len();
    if count < 2 {
        return (f64::NAN, f64::NAN);
    }
    let above = look_up(common);
    // As doubles, for their products may not fit into integers.
    let all: f64 = above.iter().map(|each| each.all as f64).sum();
    let agreed: f64 = above.iter().map(|each| each.agreed as f64).sum();
    let tied: f64 = above.iter().map(|each| each.tied as f64).sum();
    let balance = 2.0 * agreed + tied - all;
    let pairs = count as f64 * (count - 1) as f64 / 2.0;
    if ties == Ties::Expected {
        return (balance / pairs, 2.0 / (count - 1) as f64 * expect(&above) - 1.0);
    }
    let swapped = swap(common);
    let turned = look_up(&swapped);
    let untied: f64 = turned.iter().map(|each| each.all as f64).sum();
    let tau = balance / (all.sqrt() * untied.sqrt());
    (
        if tau.is_finite() { tau } else { f64::NAN },
        f64::midpoint(one_sided(&above), one_sided(&turned)),
    )
}

/// The pairs the other way round, in the order of what is then the second list.
fn swap(common: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut swapped: Vec<_> = common.iter().map(|&(one, other)| (other, one)).collect();
    swapped.sort_unstable_by_key(|&(_, other)| other);
    swapped
}

/// For each document, in the order of the second list, what the first list says about those above.
fn look_up(common: &[(usize, usize)]) -> Vec<Above> {
    let groups = common.iter().map(|&(one, _)| one + 1).max().unwrap_or(0);
    let mut counter = Counter(vec![0; groups + 1]);
    let mut found = vec![];
    let mut all = 0;
    for tied in common.chunk_by(|a, b| a.1 == b.1) {
        for &(group, _) in tied {
            let agreed = counter.below(group);
            let tied_there = counter.below(group + 1) - agreed;
            found.push(Above { all, agreed, tied: tied_there, size: tied.len() });
        }
        for &(group, _) in tied {
            counter.add(group);
        }
        all += tied.len();
    }
    found
}

/// The expected share of documents above each one that belong there, summed.
#[allow(clippy::cast_precision_loss)] // as above
fn expect(above: &[Above]) -> f64 {
    let mut sum = 0.0;
    for tied in above.chunk_by(|a, b| a.all == b.all) {
        let (all, size) = (tied[0].all as f64, tied[0].size as f64);
        let agreed: f64 = tied.iter().map(|each| each.agreed as f64 + each.tied as f64 / 2.0).sum();
        for rank in 0..tied.len() {
            let before = all + rank as f64;
            if before > 0.0 {
                // Those in earlier groups, and half of those of the same group that come before.
                sum += (agreed / size + rank as f64 / 2.0) / before;
            }
        }
    }
    sum
}

/// Form b in one direction: groups are compared with those above as a whole.
#[allow(clippy::cast_precision_loss)] // as above
fn one_sided(above: &[Above]) -> f64 {
    let below = above.iter().filter(|each| each.all > 0);
    let sum: f64 = below.clone().map(|each| each.agreed as f64 / each.all as f64).sum();
    2.0 * sum / below.count() as f64 - 1.0 // NaN where all are tied
}
