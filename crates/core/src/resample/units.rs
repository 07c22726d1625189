//! Units of sampling: queries, or clusters of queries that depend on one another.

use crate::number::aggregate::Part;
use crate::policy::Aggregate;

/// The parts of an aggregate, and which of them are sampled together.
pub struct Units<'a> {
    parts: &'a [Part],
    clusters: Option<Clusters>,
}

/// The parts of each cluster, end to end.
struct Clusters {
    starts: Vec<usize>,
    members: Vec<usize>,
}

/// An aggregate is a function of two sums over units.
pub struct Terms {
    /// What each unit adds to the first sum.
    pub numerators: Vec<f64>,
    /// What each unit adds to the second sum.
    pub denominators: Vec<f64>,
}

impl Terms {
    /// Whether all units add the same to the second sum.
    pub fn has_one_denominator(&self) -> bool {
        self.denominators.windows(2).all(|pair| pair[0] == pair[1])
    }
}

impl<'a> Units<'a> {
    /// Groups parts into units: by code, in the order of the first part of each, or each part by itself.
    pub fn new(parts: &'a [Part], codes: Option<&[i64]>) -> Self {
        Self { parts, clusters: codes.map(Clusters::new) }
    }

    /// The number of units.
    pub fn count(&self) -> usize {
        self.clusters.as_ref().map_or(self.parts.len(), |clusters| clusters.starts.len() - 1)
    }

    /// Whether units are parts that all count the same.
    pub fn are_single(&self, terms: &Terms) -> bool {
        self.clusters.is_none() && terms.has_one_denominator()
    }

    /// Appends the parts of a unit.
    pub fn append(&self, unit: usize, to: &mut Vec<Part>) {
        match &self.clusters {
            None => to.push(self.parts[unit]),
            Some(clusters) => to.extend(clusters.of(unit).iter().map(|&at| self.parts[at])),
        }
    }

    /// The sum over the parts of each unit.
    fn sum(&self, each: impl Fn(&Part) -> f64) -> Vec<f64> {
        match &self.clusters {
            None => self.parts.iter().map(each).collect(),
            Some(clusters) => (0..self.count())
                .map(|unit| clusters.of(unit).iter().map(|&at| each(&self.parts[at])).sum())
                .collect(),
        }
    }

    /// The sums that a mean, a sum or a ratio of sums is made of; none of other aggregates.
    pub fn terms(&self, aggregate: Aggregate) -> Option<Terms> {
        let weights = || self.sum(|part| part.weight);
        let (numerators, denominators) = match aggregate {
            Aggregate::Mean => (self.sum(|part| part.weight * part.value), weights()),
            Aggregate::Sum => (self.sum(|part| part.weight * part.value), vec![1.0; self.count()]),
            Aggregate::RatioOfSums => (
                self.sum(|part| part.weight * part.ratio.0),
                self.sum(|part| part.weight * part.ratio.1),
            ),
            _ => return None,
        };
        Some(Terms { numerators, denominators })
    }
}

impl Clusters {
    fn new(codes: &[i64]) -> Self {
        let mut members: Vec<usize> = (0..codes.len()).collect();
        members.sort_unstable_by_key(|&at| (codes[at], at));
        let mut firsts = vec![0; codes.len()];
        let mut first = 0;
        for (place, &at) in members.iter().enumerate() {
            if place == 0 || codes[at] != codes[first] {
                first = at;
            }
            firsts[at] = first;
        }
        // What number a cluster has says nothing about it.
        members.sort_unstable_by_key(|&at| (firsts[at], at));
        let is_first = |&at: &usize| at == 0 || firsts[members[at]] != firsts[members[at - 1]];
        let mut starts: Vec<usize> = (0..members.len()).filter(is_first).collect();
        starts.push(members.len());
        Self { starts, members }
    }

    fn of(&self, cluster: usize) -> &[usize] {
        &self.members[self.starts[cluster]..self.starts[cluster + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_cluster_are_added_up() {
        let part = |value| Part { value, weight: 1.0, ratio: (value, 1.0) };
        let parts = [part(0.5), part(0.25), part(1.0), part(0.125)];
        let units = Units::new(&parts, Some(&[7, 2, 7, 9]));
        assert_eq!(units.count(), 3);
        let terms = units.terms(Aggregate::Mean).unwrap();
        assert_eq!(terms.numerators, [1.5, 0.25, 0.125]);
        assert_eq!(terms.denominators, [2.0, 1.0, 1.0]);
        let mut appended = Vec::new();
        units.append(0, &mut appended);
        assert_eq!(appended, [part(0.5), part(1.0)]);
    }
}
