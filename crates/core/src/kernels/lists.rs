//! Lists of many queries, for measures that are computed of several at once.

use super::query::Query;
use crate::error::Result;

/// Lists one after another, each with its ideal.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// Where each list ends.
    pub ends: Vec<i64>,
    /// The gain of each document in rank order.
    pub gains: Vec<f64>,
    /// Where each ideal ends.
    pub ideal_ends: Vec<i64>,
    /// The gains of all judged documents, largest first.
    pub ideal: Vec<f64>,
}

impl Lists {
    /// Adds the first documents of a list, with the gain of each grade and that of unjudged documents.
    #[allow(clippy::cast_possible_wrap)] // memory has fewer numbers
    pub fn add(&mut self, query: &Query<'_>, k: usize, unjudged: f64, gain: impl Fn(f64) -> f64) {
        let start = self.gains.len();
        self.gains.resize(start + query.retrieved.min(k), unjudged);
        for place in query.places(k) {
            self.gains[start + place.first - 1] = gain(place.grades[0]);
        }
        self.ends.push(self.gains.len() as i64);
        self.ideal.extend(query.ideal.iter().map(|&grade| gain(grade)));
        self.ideal_ends.push(self.ideal.len() as i64);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many numbers they hold.
    pub fn size(&self) -> usize {
        self.ends.len() + self.gains.len() + self.ideal.len()
    }
}

/// A measure that is computed of the lists of several queries at once.
pub trait Batched: Send + Sync {
    /// Adds what is needed of one query.
    fn add(&self, query: &Query<'_>, lists: &mut Lists);

    /// The value of each list, NaN where it is undefined.
    fn values(&self, lists: Lists) -> Result<Vec<f64>>;
}
