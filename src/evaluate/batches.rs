//! Collects the lists of measures that are computed of several queries at once.

use crate::error::Result;
use crate::evaluate::plan::Plan;
use crate::kernels::{Lists, Query};
use crate::memory::Vec;

/// So many numbers are held before the values of a measure are computed.
const MOST: usize = 1 << 18;

/// The lists whose values are not known yet.
#[derive(Debug, Default)]
pub(super) struct Batches {
    of_measures: Vec<Batch>,
}

/// Those of one measure, and where the value of each belongs.
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
            self.of_measures.push(Batch::default());
        }
        let batch = &mut self.of_measures[measure];
        kernel.add(query, &mut batch.lists);
        batch.places.push(place);
        Some(f64::NAN)
    }

    /// Computes the values of measures that hold much, or of all.
    pub(super) fn put(&mut self, plan: &Plan, values: &mut [f64], all: bool) -> Result<()> {
        for (batch, measure) in self.of_measures.iter_mut().zip(&plan.measures) {
            if batch.lists.is_empty() || !(all || batch.lists.size() > MOST) {
                continue;
            }
            let Batch { lists, places } = std::mem::take(batch);
            if let Some(kernel) = measure.kernel.batched() {
                for (place, value) in places.into_iter().zip(kernel.values(lists)?) {
                    values[place] = value;
                }
            }
        }
        Ok(())
    }
}
