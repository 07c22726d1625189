//! Measures of what is recommended to one user: how novel, popular, diverse, surprising and balanced the
//! items of a list are.

use super::kernel::{Kernel, Make, Needs, Wanted};
use super::params::{Goal, Params, Share};
use super::query::{Query, Shown, real};
use crate::items::features::{Distance, Features};
use crate::number::log2::log2;

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("novelty", |params| Box::new(Novelty::new(params))),
    ("popularity", |params| Box::new(Popularity::new(params))),
    ("ild", |params| Box::new(Diversity { k: params.cutoff(), distance: params.distance })),
    ("serendipity", |params| {
        Box::new(Serendipity { k: params.cutoff(), rel: params.least_relevant() })
    }),
    ("miscalibration", |params| {
        Box::new(Miscalibration { k: params.cutoff(), alpha: params.alpha })
    }),
    ("awrf", |params| Box::new(Awrf::new(params))),
];

/// The items of a list down to a cutoff; nothing where there are none.
fn list<'a>(query: &Query<'a>, k: usize) -> Option<(&'a [u32], Shown<'a>)> {
    let shown = query.items?;
    let items = &shown.items[..shown.items.len().min(k)];
    (!items.is_empty()).then_some((items, shown))
}

/// The mean over the items of a list of what each has.
fn mean(items: &[u32], of: impl Fn(u32) -> f64) -> f64 {
    items.iter().fold(0.0, |sum, &item| sum + of(item)) / real(items.len())
}

/// The mean self-information of the items: how little is expected of the interaction with each.
struct Novelty {
    k: usize,
    share: Share,
    normalizes: bool,
}

impl Novelty {
    fn new(params: &Params) -> Self {
        Self { k: params.cutoff(), share: params.share, normalizes: params.normalizes }
    }
}

impl Kernel for Novelty {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some((items, Shown { of, .. })) = list(query, self.k) else { return f64::NAN };
        let whole = log2(match self.share {
            Share::Users => of.all_users(),
            Share::Interactions => of.interactions(),
        });
        // What nobody had is as novel as what one user had.
        let value = mean(items, |item| whole - log2(of.users(item).max(1)));
        if self.normalizes { value / whole } else { value }
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Items(Wanted::History)
    }
}

/// The mean popularity of the items.
struct Popularity {
    k: usize,
    normalizes: bool,
}

impl Popularity {
    fn new(params: &Params) -> Self {
        Self { k: params.cutoff(), normalizes: params.normalizes }
    }
}

impl Kernel for Popularity {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some((items, Shown { of, .. })) = list(query, self.k) else { return f64::NAN };
        let value = mean(items, |item| real(of.users(item)));
        if self.normalizes { value / real(of.interactions()) } else { value }
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Items(Wanted::History)
    }
}

/// The mean distance of two items of the list.
struct Diversity {
    k: usize,
    distance: Distance,
}

impl Kernel for Diversity {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some((items, Shown { of, .. })) = list(query, self.k) else { return f64::NAN };
        let Some(features) = of.features() else { return f64::NAN };
        let (mut sum, mut pairs) = (0.0, 0);
        for (at, &one) in items.iter().enumerate() {
            for &other in &items[at + 1..] {
                if let Some(distance) = features.distance(one, other, self.distance) {
                    sum += distance;
                    pairs += 1;
                }
            }
        }
        if pairs == 0 { f64::NAN } else { sum / real(pairs) }
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Items(Wanted::Features)
    }
}

/// The mean over the items of how much higher the list ranks each than its popularity does, where it is
/// relevant.
struct Serendipity {
    k: usize,
    rel: f64,
}

impl Kernel for Serendipity {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some((items, Shown { of, .. })) = list(query, self.k) else { return f64::NAN };
        let all = real(of.offered());
        let mut sum = 0.0;
        for (&rank, &grade) in query.ranks.iter().zip(query.grades) {
            let rank = rank as usize;
            if rank > items.len() {
                break;
            }
            if grade >= self.rel {
                let for_user = (all + 1.0 - real(rank)) / all;
                let place = of.place(items[rank - 1]);
                let for_anybody = place.map_or(0.0, |place| (all + 1.0 - real(place)) / all);
                sum += (for_user - for_anybody).max(0.0);
            }
        }
        sum / real(items.len())
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Items(Wanted::HistoryAndCatalogue)
    }
}

/// The Kullback-Leibler divergence of the categories of the list from those of what the user had.
struct Miscalibration {
    k: usize,
    alpha: f64,
}

impl Kernel for Miscalibration {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some((items, Shown { of, user, .. })) = list(query, self.k) else { return f64::NAN };
        let (Some(features), Some(user)) = (of.features(), user) else { return f64::NAN };
        let wanted = shares(features, of.had_by(user));
        let found = shares(features, items.iter().copied());
        if wanted.is_empty() || found.is_empty() {
            return f64::NAN;
        }
        let mut sum = 0.0;
        for &(category, share) in &wanted {
            let at = found.binary_search_by_key(&category, |found| found.0);
            let of_list = at.map_or(0.0, |at| found[at].1);
            sum += share * (share / ((1.0 - self.alpha) * of_list + self.alpha * share)).ln();
        }
        sum
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Items(Wanted::HistoryAndCategories)
    }

    fn without_list(&self) -> f64 {
        f64::NAN
    }
}

/// Attention-weighted rank fairness: 1 − the Jensen-Shannon divergence of the attention that groups get
/// from what they should get.
struct Awrf {
    k: usize,
    /// How likely users read on, where attention falls geometrically.
    p: Option<f64>,
    goal: Goal,
    rel: f64,
}

impl Awrf {
    fn new(params: &Params) -> Self {
        let p = params.is_geometric.then_some(params.p);
        Self { k: params.cutoff(), p, goal: params.groups, rel: params.least_relevant() }
    }

    /// The attention that each group gets, all of them together 1; nothing if no item has a group.
    fn attend(&self, features: &Features, items: &[u32]) -> Option<Vec<f64>> {
        let mut found: Vec<f64> = vec![0.0; features.groups()];
        let mut reads_on = 1.0;
        for (rank, &item) in (1..).zip(items) {
            let attention = self.p.map_or_else(|| 1.0 / log2(rank).max(1.0), |_| reads_on);
            reads_on *= self.p.unwrap_or(1.0);
            features.share(item, |group, share| found[group] += attention * share);
        }
        let total = found.iter().fold(0.0, |sum, share| sum + share);
        for share in &mut found {
            *share /= total;
        }
        (total > 0.0).then_some(found)
    }
}

impl Kernel for Awrf {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some((items, Shown { of, judged, .. })) = list(query, self.k) else { return f64::NAN };
        let Some(features) = of.features() else { return f64::NAN };
        let made;
        let wanted = match self.goal {
            Goal::Catalogue => of.offered_groups(),
            Goal::Relevant => {
                let relevant = judged.iter().filter(|one| one.1 >= self.rel);
                made = features.mean_shares(relevant.map(|one| one.0));
                made.as_deref()
            }
            Goal::Uniform => {
                let groups = features.groups();
                made = Some((0..groups).map(|_| 1.0 / real(groups)).collect());
                made.as_deref()
            }
        };
        let (Some(wanted), Some(found)) = (wanted, self.attend(features, items)) else {
            return f64::NAN;
        };
        let mut divergence = 0.0;
        for (&wanted, found) in wanted.iter().zip(found) {
            let middle = f64::midpoint(found, wanted);
            for share in [found, wanted] {
                if share > 0.0 {
                    divergence += share * (share / middle).ln();
                }
            }
        }
        1.0 - divergence / 2.0
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Items(match self.goal {
            Goal::Relevant => Wanted::GroupsOfRelevant,
            Goal::Catalogue | Goal::Uniform => Wanted::Groups,
        })
    }
}

/// The share of each category among items, ascending; an item has the same share of all its categories.
fn shares(features: &Features, items: impl Iterator<Item = u32>) -> Vec<(u32, f64)> {
    let mut count = 0;
    // By category, how many categories each of its items has: sorted, so that sums do not depend on the
    // order of the items.
    let mut sizes = Vec::new();
    for categories in items.map(|item| features.categories(item)) {
        count += usize::from(!categories.is_empty());
        sizes.extend(categories.iter().map(|&category| (category, categories.len())));
    }
    sizes.sort_unstable();
    let mut shares: Vec<(u32, f64)> = Vec::new();
    for of_category in sizes.chunk_by(|one, other| one.0 == other.0) {
        let parts = of_category.chunk_by(|one, other| one.1 == other.1);
        let sum = parts.fold(0.0, |sum, part| sum + real(part.len()) / real(part[0].1));
        shares.push((of_category[0].0, sum / real(count)));
    }
    shares
}
