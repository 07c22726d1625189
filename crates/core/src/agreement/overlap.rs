//! Rank-biased overlap and the overlap at a depth, with ties.
//!
//! A document contributes to the overlap at depth d by how much of it each list has down to there: 1 if
//! the group of its ties ends there or above, and less inside the group. With `Ties::Equal`, a group
//! counts in full from its first rank; otherwise, at the i-th rank of a group of m, i/m of each of its
//! documents counts, which is the probability that the document is there in a random order.

use super::choices::{Choices, Ties};
use super::pair::{ABSENT, Pair, Side};

/// What one list has down to a depth.
#[derive(Clone, Copy, Debug)]
struct Reach<'a> {
    side: &'a Side,
    /// The group at this depth; the number of groups where the list has ended.
    group: usize,
    /// The documents of earlier groups.
    done: usize,
    /// The share of each document of the group that counts.
    share: f64,
}

impl<'a> Reach<'a> {
    fn new(side: &'a Side) -> Self {
        Self { side, group: ABSENT, done: 0, share: 0.0 }
    }

    /// Goes on to a depth; says whether a new group begins there.
    #[allow(clippy::cast_precision_loss)] // ranks are far below 2^53
    fn go(&mut self, depth: usize, ties: Ties) -> bool {
        let group = if self.group == ABSENT {
            0
        } else if self.group < self.side.groups() && self.side.starts[self.group + 1] < depth {
            self.group + 1
        } else {
            self.group
        };
        let begins = group != self.group;
        self.group = group;
        let size = self.side.group(group).len();
        self.done = if size == 0 { self.side.docs.len() } else { self.side.starts[group] };
        self.share = match ties {
            _ if size == 0 => 0.0,
            Ties::Equal => 1.0,
            Ties::Expected | Ties::Corrected => (depth - self.done) as f64 / size as f64,
        };
        begins
    }

    /// The sums of what counts, and of its squares, if the list went on with untied documents.
    #[allow(clippy::cast_precision_loss)] // as above
    fn size(&self, depth: usize) -> (f64, f64) {
        let size = self.side.group(self.group).len() as f64;
        if size == 0.0 {
            return (depth as f64, depth as f64);
        }
        let done = self.done as f64;
        (done + size * self.share, done + size * self.share * self.share)
    }
}

/// How many common documents are in earlier groups of both lists, in the group of one of them and
/// earlier in the other, and in the groups of both.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    both_done: usize,
    in_short: usize,
    in_long: usize,
    in_both: usize,
}

/// Follows two lists down.
struct Walk<'a> {
    short: Reach<'a>,
    long: Reach<'a>,
    counts: Counts,
    /// The documents that only the longer list has: in earlier groups, and in its group.
    only_done: usize,
    only_here: usize,
    ties: Ties,
}

impl<'a> Walk<'a> {
    fn new(pair: &'a Pair, ties: Ties) -> Self {
        let (short, long) = pair.by_length();
        Self {
            short: Reach::new(short),
            long: Reach::new(long),
            counts: Counts::default(),
            only_done: 0,
            only_here: 0,
            ties,
        }
    }

    fn go(&mut self, depth: usize) {
        let counts = &mut self.counts;
        let at_long = self.long.group;
        let has_begun = at_long != ABSENT;
        if self.short.go(depth, self.ties) {
            counts.both_done += counts.in_short;
            counts.in_long += counts.in_both;
            (counts.in_short, counts.in_both) = (0, 0);
            for &doc in self.short.side.group(self.short.group) {
                let group = self.long.side.group_of(doc);
                counts.in_short += usize::from(has_begun && group < at_long);
                counts.in_both += usize::from(has_begun && group == at_long);
            }
        }
        if self.long.go(depth, self.ties) {
            counts.both_done += counts.in_long;
            counts.in_short += counts.in_both;
            self.only_done += self.only_here;
            (counts.in_long, counts.in_both, self.only_here) = (0, 0, 0);
            for &doc in self.long.side.group(self.long.group) {
                let group = self.short.side.group_of(doc);
                counts.in_long += usize::from(group < self.short.group);
                counts.in_both += usize::from(group == self.short.group);
                self.only_here += usize::from(group == ABSENT);
            }
        }
    }

    /// The overlap of what was seen.
    #[allow(clippy::cast_precision_loss)] // counts are far below 2^53
    fn seen(&self) -> f64 {
        let Counts { both_done, in_short, in_long, in_both } = self.counts;
        let (short, long) = (self.short.share, self.long.share);
        both_done as f64
            + short * in_short as f64
            + long * in_long as f64
            + short * long * in_both as f64
    }

    /// The overlap as a share.
    #[allow(clippy::cast_precision_loss)] // ranks are far below 2^53
    fn agreement(&self, overlap: f64, depth: usize) -> f64 {
        let (short, long) = (self.short.size(depth), self.long.size(depth));
        match self.ties {
            Ties::Expected => overlap / depth as f64,
            Ties::Corrected => overlap / (short.1.sqrt() * long.1.sqrt()),
            Ties::Equal => 2.0 * overlap / (short.0 + long.0),
        }
    }

    /// What the `hidden` documents, by which the shorter list is too short, have in common with the
    /// longer one on average, and at most.
    #[allow(clippy::cast_precision_loss)] // counts are far below 2^53
    fn hidden(&self, hidden: usize) -> (f64, f64) {
        let (done, here) = (self.only_done as f64, self.only_here as f64);
        let hidden = hidden as f64;
        let mean = (done + here * self.long.share) / (done + here);
        let most = hidden.min(done) + (hidden.min(done + here) - done).max(0.0) * self.long.share;
        (hidden * mean, most)
    }
}

/// Rank-biased overlap (extrapolated, lowest, highest), and the overlap and the Jaccard index at depths.
///
/// Corsi and Urbano (2024), whose definitions are those of Webber, Moffat and Zobel (*A similarity
/// measure for indefinite rankings*, 2010) where nothing is tied.
#[allow(clippy::cast_precision_loss)] // ranks are far below 2^53
pub(super) fn measure(pair: &Pair, choices: &Choices) -> ([f64; 3], Vec<(f64, f64)>) {
    let (short, long) = pair.by_length();
    let (shorter, longer) = (short.docs.len(), long.docs.len());
    let p = choices.persistence;
    let mut walk = Walk::new(pair, choices.ties);
    let mut at_depths = vec![(f64::NAN, f64::NAN); choices.depths.len()];
    let [mut extrapolated, mut lowest, mut highest, mut logarithm] = [0.0; 4];
    let (mut weight, mut last) = (1.0, 0.0);
    for depth in 1..=longer {
        weight *= p;
        walk.go(depth);
        let seen = walk.seen();
        let agreement = walk.agreement(seen, depth);
        logarithm += weight / depth as f64;
        lowest += agreement * weight;
        if depth <= shorter {
            last = agreement;
            extrapolated += agreement * weight;
            highest += agreement * weight;
        } else {
            let (mean, most) = walk.hidden(depth - shorter);
            extrapolated += walk.agreement(seen + last * mean, depth) * weight;
            highest += walk.agreement(seen + most, depth) * weight;
        }
        for (place, &wanted) in choices.depths.iter().enumerate() {
            if depth == wanted.min(longer) {
                let sizes = match choices.ties {
                    Ties::Equal => jaccard_sizes(&walk),
                    Ties::Expected | Ties::Corrected => (depth + depth.min(shorter)) as f64,
                };
                at_depths[place] = (agreement, seen / (sizes - seen));
            }
        }
    }
    let seen = walk.seen();
    let (s, l) = (shorter as f64, longer as f64);
    lowest += seen * ((1.0 / (1.0 - p)).ln() - logarithm);
    extrapolated += (seen + (l - s) * last) / l * weight * p / (1.0 - p);
    // All documents of each list are in the other one by this depth.
    let full = l + s - seen;
    let mut depth = l + 1.0;
    while depth <= full {
        weight *= p;
        highest += (2.0 * depth - full) / depth * weight;
        depth += 1.0;
    }
    highest += weight * p / (1.0 - p);
    let scale = (1.0 - p) / p;
    ([extrapolated, lowest, highest].map(|sum| scale * sum), at_depths)
}

/// How many documents count in either list, one counted twice if both have it.
#[allow(clippy::cast_precision_loss)] // counts are far below 2^53
fn jaccard_sizes(walk: &Walk<'_>) -> f64 {
    let count = |reach: &Reach<'_>| reach.done + reach.side.group(reach.group).len();
    (count(&walk.short) + count(&walk.long)) as f64
}
