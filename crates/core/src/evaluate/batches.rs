//! Collects the lists of measures that are computed of several queries at once.

use crate::error::Result;
use crate::evaluate::plan::Plan;
use crate::kernels::{Lists, Query};

/// A batch of lists is full once it holds so many numbers.
const MOST: usize = 1 << 18;

/// The lists whose values are not known yet.
#[derive(Debug, Default)]
pub(super) struct Batches {
    of_measures: Vec<Vec<Batch>>,
}

/// Some of one measure, and where the value of each belongs.
#[derive(Debug, Default)]
struct Batch {
    lists: Lists,
    places: Vec<usize>,
}

impl Batches {
    /// Takes in the list of a query, whose value for a measure belongs at a place; nothing where the
    /// measure is computed of one query at a time.
    pub(super) fn take(
        &mut self,
        plan: &Plan,
        measure: usize,
        query: &Query<'_>,
        place: usize,
    ) -> Option<f64> {
        let kernel = plan.measures[measure].kernel.batched()?;
        while self.of_measures.len() < plan.measures.len() {
            self.of_measures.push(Vec::new());
        }
        let batches = &mut self.of_measures[measure];
        if batches.last().is_none_or(Batch::is_full) {
            batches.push(Batch::default());
        }
        let batch = batches.last_mut()?;
        kernel.add(query, &mut batch.lists);
        batch.places.push(place);
        Some(f64::NAN)
    }

    /// Computes the values of full batches, or of all.
    pub(super) fn put(&mut self, plan: &Plan, values: &mut [f64], all: bool) -> Result<()> {
        for (batches, measure) in self.of_measures.iter_mut().zip(&plan.measures) {
            let Some(kernel) = measure.kernel.batched() else { continue };
            if !all && !batches.last().is_some_and(Batch::is_full) {
                continue;
            }
            for Batch { lists, places } in std::mem::take(batches) {
                for (place, value) in places.into_iter().zip(kernel.values(lists)?) {
                    values[place] = value;
                }
            }
        }
        Ok(())
    }
}

impl Batch {
    fn is_full(&self) -> bool {
        self.lists.size() > MOST
    }
}
