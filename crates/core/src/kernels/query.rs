//! One ranked query, which is all that a measure sees.

use std::ops::Range;

use crate::items::Items;
use crate::qrels::subtopics::OfQuery;

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
    /// The subtopics, where the judgments have any.
    pub subtopics: Option<Ranking<'a>>,
    /// The items that the documents are, where a measure needs to know.
    pub items: Option<Shown<'a>>,
}

/// The documents of a list as items that more is known of.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The item at each rank.
    pub items: &'a [u32],
    /// The number of the user in the history, if the user is there.
    pub user: Option<usize>,
    /// What is known of items.
    pub of: &'a Items,
    /// The judged documents as items with their grades, where a measure needs to know.
    pub judged: &'a [(u32, f64)],
}

/// The subtopics of a list.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<'a> {
    /// Which of the judged documents of the query is at each of the ranks of the list that have one.
    pub judged: &'a [u32],
    /// The subtopics of the judged documents.
    pub of: OfQuery<'a>,
}

/// Documents of one score, any order of which is as likely as any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tie {
    /// The first of its ranks.
    pub first: u32,
    /// How many documents it has, judged or not.
    pub size: u32,
}

/// Which judged documents a measure depends on, retrieved or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reads {
    /// All of them.
    All,
    /// Those whose grade isn't 0.
    NotZero,
    /// Those with a grade above 0.
    Positive,
}

impl Reads {
    /// Those that are relevant from a grade on.
    pub(super) fn relevant(rel: f64) -> Self {
        if rel > 0.0 { Self::Positive } else { Self::All }
    }
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
    pub(super) fn within(&self, k: usize) -> usize {
        self.size.min(k.saturating_add(1).saturating_sub(self.first))
    }

    /// Its ranks among the first `k`.
    pub(super) fn ranks(&self, k: usize) -> Range<usize> {
        self.first..self.first + self.within(k)
    }

    /// How many of its documents are relevant.
    pub(super) fn relevant(&self, rel: f64) -> usize {
        self.grades.iter().filter(|&&grade| grade >= rel).count()
    }

    /// How many of `count` of its documents are expected among the first `k`.
    pub(super) fn expected_within(&self, count: usize, k: usize) -> f64 {
        let within = self.within(k);
        if within == self.size { real(count) } else { real(count) * real(within) / real(self.size) }
    }
}

impl<'a> Query<'a> {
    /// Nothing retrieved, and nothing judged.
    pub const EMPTY: Self = Self {
        ranks: &[],
        grades: &[],
        ties: &[],
        retrieved: 0,
        ideal: &[],
        subtopics: None,
        items: None,
    };

    /// The same with the first `depth` documents only.
    pub fn first(&self, depth: usize) -> Self {
        if depth >= self.retrieved {
            return *self;
        }
        let kept = self.ranks.partition_point(|&rank| rank as usize <= depth);
        let (ranks, grades) = (&self.ranks[..kept], &self.grades[..kept]);
        let subtopics =
            self.subtopics.map(|of_list| Ranking { judged: &of_list.judged[..kept], ..of_list });
        let items = self.items.map(|shown| Shown { items: &shown.items[..depth], ..shown });
        Self { ranks, grades, retrieved: depth, subtopics, items, ..*self }
    }

    /// How many judged documents are relevant, retrieved or not.
    pub(super) fn relevant(&self, rel: f64) -> usize {
        count_first(self.ideal, |grade| grade >= rel)
    }

    /// How many judged documents have a grade above 0, retrieved or not.
    pub(super) fn positive(&self) -> usize {
        count_first(self.ideal, |grade| grade > 0.0)
    }

    /// Whether the judged documents are those at the first ranks, one at each.
    pub(super) fn is_of_first_ranks(&self) -> bool {
        self.ties.is_empty()
            && self.ranks.last().is_none_or(|&last| last as usize == self.ranks.len())
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
    pub(super) fn relevant_places(
        &self,
        k: usize,
        rel: f64,
    ) -> impl Iterator<Item = (Place<'a>, usize)> {
        let Self { ranks, grades, ties, .. } = *self;
        let counted = self.places(k).map(move |place| (place, place.relevant(rel)));
        let mut counted = counted.filter(|&(_, relevant)| relevant > 0);
        // Without ties, each document is a place of its own, and most are passed over at once.
        let end = if ties.is_empty() { self.judged_until(k) } else { 0 };
        let mut at = 0;
        std::iter::from_fn(move || {
            if !ties.is_empty() {
                return counted.next();
            }
            let here = at + grades[at..end].iter().position(|&grade| grade >= rel)?;
            at = here + 1;
            let first = ranks[here] as usize;
            Some((Place { first, size: 1, grades: &grades[here..=here] }, 1))
        })
    }

    /// The ranks of the relevant documents among the first `k`, where all documents listed there are
    /// relevant and there are no ties.
    pub(super) fn relevant_ranks(&self, k: usize, rel: f64) -> Option<&'a [u32]> {
        let end = if self.ties.is_empty() { self.judged_until(k) } else { return None };
        let are_all = self.grades[..end].iter().all(|&grade| grade >= rel);
        are_all.then(|| &self.ranks[..end])
    }

    /// How many judged documents are at the first `k` ranks, or at a tie that begins there.
    fn judged_until(&self, k: usize) -> usize {
        if self.ranks.last().is_none_or(|&last| last as usize <= k) {
            return self.ranks.len();
        }
        self.ranks.partition_point(|&rank| rank as usize <= k)
    }

    /// How many judged documents are expected among the first `k`, as a whole number.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most the ranks there are
    pub fn judged_within(&self, k: usize) -> usize {
        if self.ties.is_empty() {
            return self.ranks.partition_point(|&rank| rank as usize <= k);
        }
        let judged = self.places(k).map(|place| place.expected_within(place.grades.len(), k));
        judged.fold(0.0, |sum: f64, count| sum + count).round() as usize
    }

    /// How many relevant documents are expected among the first `k`.
    pub(super) fn expected_relevant(&self, k: usize, rel: f64) -> f64 {
        if self.ties.is_empty() {
            let within = &self.grades[..self.judged_until(k)];
            return real(within.iter().filter(|&&grade| grade >= rel).count());
        }
        let expected =
            self.relevant_places(k, rel).map(|(place, count)| place.expected_within(count, k));
        expected.fold(0.0, |sum, count| sum + count)
    }
}

/// How many grades, which descend, are such that no later one is: often all of them.
fn count_first(grades: &[f64], is_such: impl Fn(f64) -> bool) -> usize {
    match grades.last() {
        Some(&least) if !is_such(least) => grades.partition_point(|&grade| is_such(grade)),
        _ => grades.len(),
    }
}

/// A count as the number it is divided by.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
pub(super) fn real(count: usize) -> f64 {
    count as f64
}
