//! The two lists of a query, with documents as numbers and ties as groups.

use crate::error::Result;
use crate::ids::interner::Ids;
use crate::number::sorter::Sorter;
use crate::rank::lists::Lists;

/// The group of a document that a list doesn't have: after all others.
pub(super) const ABSENT: usize = usize::MAX;

/// A list in rank order, cut into groups of equal scores.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    /// The documents in rank order.
    pub docs: Vec<usize>,
    /// Group g is `docs[starts[g]..starts[g + 1]]`.
    pub starts: Vec<usize>,
    /// The group of each document of either list, `ABSENT` where the list doesn't have it.
    group_of: Vec<usize>,
}

impl Side {
    pub(super) fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// The documents of a group; none after the last.
    pub(super) fn group(&self, group: usize) -> &[usize] {
        if group < self.groups() {
            &self.docs[self.starts[group]..self.starts[group + 1]]
        } else {
            &[]
        }
    }

    pub(super) fn group_of(&self, doc: usize) -> usize {
        self.group_of.get(doc).copied().unwrap_or(ABSENT)
    }
}

/// The two lists of a query.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub sides: [Side; 2],
    /// The groups of each document that is in both lists, in the order of the second list.
    pub common: Vec<(usize, usize)>,
}

impl Pair {
    /// Reads the lists of a query.
    ///
    /// # Errors
    /// Where a document occurs twice.
    pub(super) fn read(
        one: &dyn Lists,
        query: usize,
        other: &dyn Lists,
        found: usize,
    ) -> Result<Self> {
        let mut ids = Ids::default();
        let mut sorter = Sorter::default();
        let mut sides = [Side::default(), Side::default()];
        for (side, (lists, query)) in sides.iter_mut().zip([(one, query), (other, found)]) {
            let (mut docs, mut scores) = (vec![], vec![]);
            lists.visit(query, &mut |doc, score| {
                docs.push(ids.number(doc));
                scores.push(score);
            })?;
            *side = group(&docs, &scores, &mut sorter);
        }
        Ok(Self::new(sides))
    }

    pub(super) fn new(sides: [Side; 2]) -> Self {
        let [one, other] = &sides;
        let mut common = vec![];
        for group in 0..other.groups() {
            for &doc in other.group(group) {
                let first = one.group_of(doc);
                if first != ABSENT {
                    common.push((first, group));
                }
            }
        }
        Self { sides, common }
    }

    /// The shorter and the longer list.
    pub(super) fn by_length(&self) -> (&Side, &Side) {
        let [one, other] = &self.sides;
        if one.docs.len() <= other.docs.len() { (one, other) } else { (other, one) }
    }
}

/// Ranks documents by score, and groups those with equal ones.
pub(super) fn group(docs: &[usize], scores: &[f64], sorter: &mut Sorter) -> Side {
    sorter.sort(docs.len(), |row| scores[row]);
    let mut side = Side::default();
    let mut last = None;
    for &row in &sorter.order {
        let (doc, score) = (docs[row as usize], scores[row as usize]);
        if last != Some(score) {
            side.starts.push(side.docs.len());
            last = Some(score);
        }
        if side.group_of.len() <= doc {
            side.group_of.resize(doc + 1, ABSENT);
        }
        side.group_of[doc] = side.starts.len() - 1;
        side.docs.push(doc);
    }
    side.starts.push(side.docs.len());
    side
}
