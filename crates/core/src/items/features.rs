//! What items are like: vectors of numbers, or the categories that each belongs to; and how far two of
//! them are apart.

use crate::error::{Error, Kind, Result};
use crate::number::sum::ExactSum;

/// The number of an item that nothing is known of.
pub const UNKNOWN: u32 = u32::MAX;

/// How the distance of two items is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// 1 − the cosine of the angle between them.
    Cosine,
    /// 1 − the share of what both have in what either has.
    Jaccard,
    /// How many components differ.
    Hamming,
    /// The length of the difference.
    Euclidean,
}

/// What items are like. Until [`Features::by_item`], rows are those of the input.
#[derive(Debug)]
pub enum Features {
    /// Numbers, one row after another.
    Vectors {
        /// How many numbers a row has.
        size: usize,
        /// All rows.
        values: Vec<f64>,
        /// By item, its row; [`UNKNOWN`] where there is none.
        rows: Vec<u32>,
    },
    /// The categories of each, ascending.
    Categories {
        /// Where the categories of each begin, and the last ones end.
        offsets: Vec<usize>,
        /// All of them.
        codes: Vec<u32>,
        /// By item, whether it is described.
        is_known: Vec<bool>,
        /// How many different ones there are.
        count: usize,
    },
}

impl Features {
    /// Vectors of so many numbers.
    pub fn of_vectors(size: usize, values: Vec<f64>) -> Self {
        Self::Vectors { size, values, rows: Vec::new() }
    }

    /// Categories by where those of each row begin and end.
    pub fn of_categories(offsets: Vec<usize>, codes: Vec<u32>) -> Self {
        let count = codes.iter().max().map_or(0, |&code| code as usize + 1);
        Self::Categories { offsets, codes, is_known: Vec::new(), count }
    }

    /// The same by the numbers of items, of which the rows are these. The categories of an item that is
    /// there twice are brought together; two vectors are an error.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub(super) fn by_item(self, items: &[u32], all: usize) -> Result<Self> {
        match self {
            Self::Vectors { size, values, .. } => {
                let mut rows = vec![UNKNOWN; all];
                for (row, &item) in items.iter().enumerate() {
                    if rows[item as usize] != UNKNOWN {
                        return Err(Error::new(
                            Kind::Duplicate,
                            "duplicate_item",
                            "expected one vector for each item, found two for the same",
                        )
                        .hint("remove one of the rows")
                        .line(row as u64 + 1));
                    }
                    rows[item as usize] = row as u32;
                }
                Ok(Self::Vectors { size, values, rows })
            }
            Self::Categories { offsets, codes, count, .. } => {
                let mut pairs = Vec::with_capacity(codes.len());
                let mut is_known = vec![false; all];
                for (row, &item) in items.iter().enumerate() {
                    is_known[item as usize] = true;
                    pairs
                        .extend(codes[offsets[row]..offsets[row + 1]].iter().map(|&of| (item, of)));
                }
                pairs.sort_unstable();
                pairs.dedup();
                let until = |item: usize| pairs.partition_point(|pair| (pair.0 as usize) < item);
                let offsets = (0..=all).map(until).collect();
                let codes = pairs.iter().map(|pair| pair.1).collect();
                Ok(Self::Categories { offsets, codes, is_known, count })
            }
        }
    }

    /// By item, whether it is described.
    pub(super) fn known(&self, all: usize) -> Vec<bool> {
        let mut is_known: Vec<bool> = match self {
            Self::Vectors { rows, .. } => rows.iter().map(|&row| row != UNKNOWN).collect(),
            Self::Categories { is_known, .. } => is_known.clone(),
        };
        is_known.resize(all, false);
        is_known
    }

    /// Whether there are categories.
    pub fn are_categories(&self) -> bool {
        matches!(self, Self::Categories { .. })
    }

    /// Whether an item is described: it has a vector, or a category.
    pub fn knows(&self, item: u32) -> bool {
        match self {
            Self::Vectors { .. } => self.vector(item).is_some(),
            Self::Categories { .. } => !self.categories(item).is_empty(),
        }
    }

    fn vector(&self, item: u32) -> Option<&[f64]> {
        let Self::Vectors { size, values, rows } = self else { return None };
        let row = rows.get(item as usize).filter(|&&row| row != UNKNOWN)?;
        Some(&values[*row as usize * size..][..*size])
    }

    /// The categories of an item, ascending.
    pub fn categories(&self, item: u32) -> &[u32] {
        match self {
            Self::Categories { offsets, codes, .. } if (item as usize) + 1 < offsets.len() => {
                &codes[offsets[item as usize]..offsets[item as usize + 1]]
            }
            _ => &[],
        }
    }

    /// How many groups there are: categories, or numbers in a vector.
    pub fn groups(&self) -> usize {
        match self {
            Self::Vectors { size, .. } => *size,
            Self::Categories { count, .. } => *count,
        }
    }

    /// Whether a number is below 0, which no share of a group is.
    pub fn has_negative(&self) -> bool {
        match self {
            Self::Vectors { values, .. } => values.iter().any(|&value| value < 0.0),
            Self::Categories { .. } => false,
        }
    }

    /// Hands over the groups of an item, ascending, with its share of each; the shares add up to 1.
    /// Returns whether it has any.
    pub fn share(&self, item: u32, mut take: impl FnMut(usize, f64)) -> bool {
        if let Some(vector) = self.vector(item) {
            let total = vector.iter().fold(0.0, |sum, share| sum + share);
            if total > 0.0 {
                vector.iter().enumerate().for_each(|(group, share)| take(group, share / total));
            }
            return total > 0.0;
        }
        let categories = self.categories(item);
        for &group in categories {
            take(group as usize, 1.0 / real(categories.len()));
        }
        !categories.is_empty()
    }

    /// The mean share that items have of each group; nothing if none of them has any. It does not depend
    /// on the order of the items.
    pub fn mean_shares(&self, items: impl Iterator<Item = u32>) -> Option<Vec<f64>> {
        let mut sums = vec![ExactSum::default(); self.groups()];
        let known = items.filter(|&item| self.share(item, |group, share| sums[group].add(share)));
        let count = real(known.count());
        (count > 0.0).then(|| sums.iter().map(|sum| sum.value() / count).collect())
    }

    /// How far two items are apart; nothing if one is not described.
    pub fn distance(&self, one: u32, other: u32, distance: Distance) -> Option<f64> {
        if !self.knows(one) || !self.knows(other) {
            return None;
        }
        Some(match (self.vector(one), self.vector(other)) {
            (Some(one), Some(other)) => of_vectors(one, other, distance),
            _ => of_categories(self.categories(one), self.categories(other), distance),
        })
    }
}

fn of_vectors(one: &[f64], other: &[f64], distance: Distance) -> f64 {
    let pairs = || one.iter().zip(other);
    let count = |is_counted: fn(f64, f64) -> bool| {
        real(pairs().filter(|&(&one, &other)| is_counted(one, other)).count())
    };
    match distance {
        Distance::Cosine => {
            let dot = pairs().fold(0.0, |sum, (one, other)| sum + one * other);
            let length = |vector: &[f64]| vector.iter().fold(0.0, |sum, x| sum + x * x);
            let lengths = length(one).sqrt() * length(other).sqrt();
            if lengths > 0.0 { 1.0 - dot / lengths } else { 1.0 }
        }
        Distance::Jaccard => {
            let either = count(|one, other| one != 0.0 || other != 0.0);
            let both = count(|one, other| one != 0.0 && other != 0.0);
            if either > 0.0 { 1.0 - both / either } else { 0.0 }
        }
        Distance::Hamming => count(|one, other| one != other),
        Distance::Euclidean => {
            pairs().fold(0.0, |sum, (one, other)| sum + (one - other) * (one - other)).sqrt()
        }
    }
}

/// The distance of vectors that are 1 for the categories of an item, and else 0.
fn of_categories(one: &[u32], other: &[u32], distance: Distance) -> f64 {
    let both = real(count_common(one, other));
    let (one, other) = (real(one.len()), real(other.len()));
    match distance {
        Distance::Cosine => 1.0 - both / (one.sqrt() * other.sqrt()),
        Distance::Jaccard => 1.0 - both / (one + other - both),
        Distance::Hamming => one + other - 2.0 * both,
        Distance::Euclidean => (one + other - 2.0 * both).sqrt(),
    }
}

fn count_common(one: &[u32], other: &[u32]) -> usize {
    let (mut at, mut of_other, mut count) = (0, 0, 0);
    while at < one.len() && of_other < other.len() {
        let (left, right) = (one[at], other[of_other]);
        count += usize::from(left == right);
        at += usize::from(left <= right);
        of_other += usize::from(right <= left);
    }
    count
}

/// A count as a number.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn real(count: usize) -> f64 {
    count as f64
}
