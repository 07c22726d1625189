//! What the documents of logged rankings cost by their positions.
//!
//! They are the regrets of [`rankscope_core::explain::regrets`] as shares of the ideal, where everything that is
//! judged was shown and ties are not averaged.

use rankscope_core::kernels::Gains;

use crate::logged::grading::Items;
use crate::logged::values::find_places;

/// The documents that have a gain, one row each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    /// The position of the ranking.
    pub rankings: Vec<i64>,
    /// The row of the document among those of all rankings.
    pub documents: Vec<i64>,
    /// Its grade.
    pub grades: Vec<f64>,
    /// What its gain is worth in the ideal order, less what it is worth in the list, as a share of the
    /// ideal.
    pub regrets: Vec<f64>,
}

/// A document with a gain.
#[derive(Clone, Copy)]
struct Doc {
    row: usize,
    place: usize,
    grade: f64,
    gain: f64,
    ideal: f64,
}

impl Costs {
    /// The costs of the documents of all rankings.
    pub fn measure(items: &Items<'_>, gains: &Gains, depth: usize) -> Self {
        let mut made = Self::default();
        let (mut relevance, mut ranks, mut docs) = (Vec::new(), Vec::new(), Vec::new());
        for (ranking, ends) in items.offsets.windows(2).enumerate() {
            relevance.resize(ends[1] - ends[0], 0.0);
            items.relevance.read(ends[0], &mut relevance);
            docs.clear();
            for (row, &grade) in relevance.iter().enumerate().filter(|(_, grade)| !grade.is_nan()) {
                let gain = gains.of_document(grade);
                if gain != 0.0 {
                    docs.push(Doc { row, place: 0, grade, gain, ideal: 0.0 });
                }
            }
            if docs.is_empty() {
                continue;
            }
            ranks.resize(relevance.len(), 0);
            items.ranks.read(ends[0], &mut ranks);
            let mut at = 0;
            for (row, place) in find_places(&ranks, depth).enumerate() {
                if docs.get(at).is_some_and(|doc| doc.row == row) {
                    docs[at].place = place;
                    at += 1;
                }
            }
            docs.sort_unstable_by_key(|doc| doc.place);
            made.add(ranking, ends[0], &mut docs, gains);
        }
        made
    }

    #[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
    fn add(&mut self, ranking: usize, start: usize, docs: &mut [Doc], gains: &Gains) {
        let gained = docs.iter().enumerate().filter(|(_, doc)| doc.gain > 0.0);
        let mut order: Vec<(usize, f64)> = gained.map(|(at, doc)| (at, doc.gain)).collect();
        order.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        let mut before = 0;
        // Documents of one gain share their ideal ranks.
        for alike in order.chunk_by(|a, b| a.1 == b.1) {
            let ranks = before + 1..=before + alike.len();
            let worth = ranks.take_while(|&rank| rank <= gains.ideal_depth());
            let sum: f64 = worth.map(|rank| gains.discount(alike[0].1, rank)).sum();
            before += alike.len();
            for &(at, _) in alike {
                docs[at].ideal = sum / alike.len() as f64;
            }
        }
        let unit: f64 = docs.iter().map(|doc| doc.ideal).sum();
        if unit <= 0.0 {
            return;
        }
        for doc in docs.iter() {
            let found =
                if doc.place <= gains.k() { gains.discount(doc.gain, doc.place) } else { 0.0 };
            self.rankings.push(ranking.cast_signed() as i64);
            self.documents.push((start + doc.row).cast_signed() as i64);
            self.grades.push(doc.grade);
            self.regrets.push((doc.ideal - found) / unit);
        }
    }
}
