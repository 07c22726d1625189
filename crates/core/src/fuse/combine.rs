//! Combines the points that the lists of a query give to its documents.

use super::choices::{Choices, Method};
use super::points;
use super::query::Query;
use crate::error::{Error, Result};

/// What the documents of a query got, by their numbers.
#[derive(Default)]
pub(super) struct Combiner {
    totals: Vec<f64>,
    hits: Vec<u32>,
    points: Vec<f64>,
    is_present: Vec<bool>,
    /// The document and the points of each hit, for medians.
    each: Vec<(u32, f64)>,
}

impl Combiner {
    /// The fused score of each document.
    pub(super) fn combine(
        &mut self,
        query: &Query,
        names: &[&str],
        choices: &Choices,
    ) -> Result<&[f64]> {
        let all = query.docs.texts().len();
        let method = choices.method;
        self.totals.clear();
        self.totals.resize(all, 0.0);
        self.hits.clear();
        self.hits.resize(all, 0);
        self.each.clear();
        for ((name, list), &weight) in names.iter().zip(&query.lists).zip(&choices.weights) {
            if list.is_empty() {
                continue;
            }
            let absent = points::of_list(list, all, method, choices.scale, &mut self.points)
                .map_err(|error: Error| error.file(name))?;
            for (place, &(doc, _)) in list.iter().enumerate() {
                self.add(method, doc, weight * self.points[place]);
            }
            if let Some(absent) = absent {
                self.is_present.clear();
                self.is_present.resize(all, false);
                for &(doc, _) in list {
                    self.is_present[doc as usize] = true;
                }
                #[allow(clippy::cast_possible_truncation)] // documents have numbers of 32 bits
                for doc in 0..all as u32 {
                    if !self.is_present[doc as usize] {
                        self.add(method, doc, weight * absent);
                    }
                }
            }
        }
        self.finish(method);
        Ok(&self.totals)
    }

    fn add(&mut self, method: Method, doc: u32, points: f64) {
        let (total, hits) = (&mut self.totals[doc as usize], &mut self.hits[doc as usize]);
        *total = match method {
            Method::Max if *hits > 0 => total.max(points),
            Method::Min if *hits > 0 => total.min(points),
            Method::Max | Method::Min => points,
            _ => *total + points,
        };
        *hits += 1;
        if method == Method::Median {
            self.each.push((doc, points));
        }
    }

    fn finish(&mut self, method: Method) {
        let scored =
            self.totals.iter_mut().zip(&self.hits).map(|(total, &hits)| (total, f64::from(hits)));
        match method {
            Method::Mnz | Method::InverseSquare => {
                scored.for_each(|(total, hits)| *total *= hits);
            }
            Method::LogInverseSquare(more) => {
                scored.for_each(|(total, hits)| *total *= (hits + more).ln());
            }
            Method::Anz => scored.for_each(|(total, hits)| *total /= hits),
            Method::Median => self.take_medians(),
            _ => {}
        }
    }

    fn take_medians(&mut self) {
        self.each.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        for hits in self.each.chunk_by(|one, other| one.0 == other.0) {
            let middle = hits.len() / 2;
            let (below, above) = (hits[(hits.len() - 1) / 2].1, hits[middle].1);
            self.totals[hits[0].0 as usize] =
                if hits.len() % 2 == 0 { below.midpoint(above) } else { above };
        }
    }
}
