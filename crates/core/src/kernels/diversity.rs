//! Measures of diversity: how many subtopics of a query the top of a list covers, and how early.
//!
//! Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and `MacKinnon`, *Novelty and diversity in
//! information retrieval evaluation*, 2008; the forms are those of `ndeval`, the program of the web track
//! of TREC. Only subtopics to which some judged document is relevant count.

use super::kernel::{Kernel, Make, Needs};
use super::params::Params;
use super::query::{Query, Ranking, real};
use crate::number::log2::log2;
use crate::qrels::subtopics::OfQuery;

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("alpha_dcg", |params| Box::new(Novelty::new(params, Weight::Log2, Share::OfAny))),
    ("alpha_ndcg", |params| Box::new(Novelty::new(params, Weight::Log2, Share::OfBest))),
    ("err_ia", |params| Box::new(Novelty::new(params, Weight::Reciprocal, Share::OfAny))),
    ("nerr_ia", |params| Box::new(Novelty::new(params, Weight::Reciprocal, Share::OfBest))),
    ("nrbp", |params| Box::new(Novelty::new(params, Weight::Geometric(params.beta), Share::OfAny))),
    ("nnrbp", |params| {
        Box::new(Novelty::new(params, Weight::Geometric(params.beta), Share::OfBest))
    }),
    ("ap_ia", |params| Box::new(ApIa(Level::new(params)))),
    ("p_ia", |params| Box::new(PrecisionIa(Level::new(params)))),
    ("strecall", |params| Box::new(SubtopicRecall(Level::new(params)))),
];

/// The cutoff and the smallest relevant grade, which all measures here have.
struct Level {
    k: usize,
    rel: f64,
}

/// A list by the subtopics of its judged documents.
struct Listed<'a> {
    of: OfQuery<'a>,
    ranking: Ranking<'a>,
    /// How many relevant documents each subtopic has.
    sizes: Vec<usize>,
    /// How many subtopics have any.
    count: usize,
}

impl Level {
    fn new(params: &Params) -> Self {
        Self { k: params.cutoff(), rel: params.least_relevant() }
    }

    /// None where no subtopic has a relevant document.
    fn list<'a>(&self, query: &Query<'a>) -> Option<Listed<'a>> {
        let ranking = query.subtopics?;
        let of = ranking.of;
        let mut sizes = vec![0; of.count];
        for doc in 0..of.documents() {
            of.relevant(doc, self.rel).for_each(|subtopic| sizes[subtopic] += 1);
        }
        let count = sizes.iter().filter(|&&size| size > 0).count();
        (count > 0).then_some(Listed { of, ranking, sizes, count })
    }

    /// The ranks of the judged documents down to the cutoff, and the subtopics of each.
    fn each<'a>(
        &self,
        query: &Query<'a>,
        listed: &Listed<'a>,
    ) -> impl Iterator<Item = (usize, impl Iterator<Item = usize> + use<'a>)> + use<'a> {
        let (k, rel, of) = (self.k, self.rel, listed.of);
        let ranks = query.ranks.iter().map(|&rank| rank as usize);
        let docs = listed.ranking.judged.iter().map(|&doc| doc as usize);
        ranks
            .zip(docs)
            .take_while(move |&(rank, _)| rank <= k)
            .map(move |(rank, doc)| (rank, of.relevant(doc, rel)))
    }
}

/// What a rank is worth.
enum Weight {
    Log2,
    Reciprocal,
    Geometric(f64),
}

/// What a sum is divided by.
#[derive(Clone, Copy, PartialEq)]
enum Share {
    /// The highest sum that any judgments allow, with documents relevant to all subtopics.
    OfAny,
    /// The sum of the best order of the judged documents.
    OfBest,
}

/// A sum over documents of what they are worth: for each of their subtopics, 1 − alpha to the power of
/// how often it was covered before.
struct Novelty {
    level: Level,
    alpha: f64,
    weight: Weight,
    share: Share,
    /// The highest sum with a single subtopic.
    highest: f64,
}

impl Novelty {
    fn new(params: &Params, weight: Weight, share: Share) -> Self {
        let mut made =
            Self { level: Level::new(params), alpha: params.alpha, weight, share, highest: 1.0 };
        if share == Share::OfAny {
            made.highest = made.find_highest(params.depth());
        }
        made
    }

    fn find_highest(&self, depth: usize) -> f64 {
        if let Weight::Geometric(beta) = self.weight {
            return 1.0 / (1.0 - (1.0 - self.alpha) * beta);
        }
        let mut sum = Sum::new(&self.weight);
        let mut gain = 1.0;
        for rank in 1..=depth {
            sum.add(rank, gain);
            gain *= 1.0 - self.alpha;
            if gain == 0.0 {
                break;
            }
        }
        sum.total
    }

    /// The sum of a list.
    fn find(&self, query: &Query<'_>, listed: &Listed<'_>) -> f64 {
        let mut gains = Gains::new(listed.of.count, self.alpha);
        let mut sum = Sum::new(&self.weight);
        for (rank, subtopics) in self.level.each(query, listed) {
            sum.add(rank, gains.take(subtopics));
        }
        sum.total
    }

    /// The sum of the best order, which is made greedily: the document worth most is next, and of
    /// several, that with the largest identifier.
    fn find_best(&self, listed: &Listed<'_>) -> f64 {
        let (of, rel) = (listed.of, self.level.rel);
        let mut gains = Gains::new(of.count, self.alpha);
        let mut sum = Sum::new(&self.weight);
        let worth = |gains: &Gains, doc: u32| gains.of(of.relevant(doc as usize, rel));
        let is_below = |one: &(f64, u32), other: &(f64, u32)| {
            let place = |doc: u32| of.order[doc as usize];
            one.0.total_cmp(&other.0).then_with(|| place(other.1).cmp(&place(one.1)))
        };
        let every = (0..).take(of.documents()).map(|doc| (worth(&gains, doc), doc));
        let mut docs: Vec<(f64, u32)> = every.filter(|doc| doc.0 > 0.0).collect();
        docs.sort_unstable_by(is_below);
        let mut rank = 1;
        // What documents are worth only falls, so the first that is still worth as much is the best.
        while rank <= self.level.k
            && let Some((_, doc)) = docs.pop()
        {
            let found = (worth(&gains, doc), doc);
            if docs.last().is_some_and(|last| is_below(&found, last).is_lt()) {
                let at = docs.partition_point(|other| is_below(other, &found).is_lt());
                insert(&mut docs, at, found);
                continue;
            }
            sum.add(rank, gains.take(of.relevant(doc as usize, rel)));
            rank += 1;
        }
        sum.total
    }
}

/// Puts a value at a place of a list.
fn insert<T: Copy>(list: &mut Vec<T>, at: usize, value: T) {
    list.push(value);
    list[at..].rotate_right(1);
}

impl Kernel for Novelty {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some(listed) = self.level.list(query) else { return f64::NAN };
        let highest = match self.share {
            Share::OfAny => self.highest * real(listed.count),
            Share::OfBest => self.find_best(&listed),
        };
        self.find(query, &listed) / highest
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Subtopics
    }
}

/// What each subtopic is still worth.
struct Gains {
    of_subtopics: Vec<f64>,
    keeps: f64,
}

impl Gains {
    fn new(count: usize, alpha: f64) -> Self {
        Self { of_subtopics: vec![1.0; count], keeps: 1.0 - alpha }
    }

    fn of(&self, subtopics: impl Iterator<Item = usize>) -> f64 {
        subtopics.fold(0.0, |sum, subtopic| sum + self.of_subtopics[subtopic])
    }

    /// What a document is worth, whose subtopics are worth less from then on.
    fn take(&mut self, subtopics: impl Iterator<Item = usize>) -> f64 {
        let mut sum = 0.0;
        for subtopic in subtopics {
            sum += self.of_subtopics[subtopic];
            self.of_subtopics[subtopic] *= self.keeps;
        }
        sum
    }
}

/// A sum of gains by the weights of their ranks, which ascend.
struct Sum<'a> {
    weight: &'a Weight,
    total: f64,
    /// Of the geometric weights, that of a rank.
    last: (usize, f64),
}

impl<'a> Sum<'a> {
    fn new(weight: &'a Weight) -> Self {
        Self { weight, total: 0.0, last: (1, 1.0) }
    }

    fn add(&mut self, rank: usize, gain: f64) {
        self.total += match *self.weight {
            Weight::Log2 => gain / log2(rank + 1),
            Weight::Reciprocal => gain / real(rank),
            Weight::Geometric(beta) => {
                while self.last.0 < rank {
                    self.last = (self.last.0 + 1, self.last.1 * beta);
                }
                gain * self.last.1
            }
        };
    }
}

/// The mean over subtopics of average precision.
struct ApIa(Level);

impl Kernel for ApIa {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some(listed) = self.0.list(query) else { return f64::NAN };
        let mut found = vec![0; listed.of.count];
        let mut sums = vec![0.0; listed.of.count];
        for (rank, subtopics) in self.0.each(query, &listed) {
            for subtopic in subtopics {
                found[subtopic] += 1;
                sums[subtopic] += real(found[subtopic]) / real(rank);
            }
        }
        let sizes = listed.sizes.iter().map(|&size| real(size));
        let precisions = sums.iter().zip(sizes).filter(|&(_, size)| size > 0.0);
        precisions.fold(0.0, |all, (sum, size)| all + sum / size) / real(listed.count)
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Subtopics
    }
}

/// The mean over subtopics of precision.
struct PrecisionIa(Level);

impl Kernel for PrecisionIa {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some(listed) = self.0.list(query) else { return f64::NAN };
        let found: usize =
            self.0.each(query, &listed).map(|(_, subtopics)| subtopics.count()).sum();
        real(found) / (real(self.0.k) * real(listed.count))
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Subtopics
    }
}

/// The share of the subtopics that are covered.
struct SubtopicRecall(Level);

impl Kernel for SubtopicRecall {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some(listed) = self.0.list(query) else { return f64::NAN };
        let mut is_covered = vec![false; listed.of.count];
        for (_, subtopics) in self.0.each(query, &listed) {
            subtopics.for_each(|subtopic| is_covered[subtopic] = true);
        }
        real(is_covered.iter().filter(|&&covered| covered).count()) / real(listed.count)
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::Subtopics
    }
}
