//! How the values of queries become one, which outlives the plan that they were computed by.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::policy::{Aggregate, Empty, Missing};
use crate::saved::require;

/// How the values of each measure are brought together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Averaging {
    /// By measure, its name and how its values become one.
    pub measures: Vec<(String, Aggregate)>,
    /// The values of queries for which a measure is undefined.
    pub empty: Empty,
    /// Judged queries that are not in the run.
    pub missing: Missing,
    /// How much each query counts, where they do not count alike.
    pub weights: Option<Vec<f64>>,
}

impl Averaging {
    /// The same with other weights of the queries.
    pub fn with_weights(&self, weights: Vec<f64>) -> Result<Self> {
        let mut measures = self.measures.iter();
        measures.try_for_each(|(name, aggregate)| check_weights(name, *aggregate))?;
        Ok(Self { weights: Some(weights), ..self.clone() })
    }

    /// Refuses what was never saved beside so many queries.
    pub(crate) fn validate(&self, queries: usize) -> Result<()> {
        for (_, aggregate) in &self.measures {
            if let Aggregate::Quantile(share) | Aggregate::TailMean(share) = aggregate {
                require((0.0..=1.0).contains(share))?;
            }
        }
        let are_weights = |weights: &Vec<f64>| {
            weights.len() == queries && weights.iter().all(|weight| weight.is_finite())
        };
        require(self.weights.as_ref().is_none_or(are_weights))
    }

    /// How many measures need numerators and denominators.
    pub fn ratios(&self) -> usize {
        let aggregates = self.measures.iter().map(|(_, aggregate)| *aggregate);
        aggregates.filter(|&aggregate| aggregate == Aggregate::RatioOfSums).count()
    }
}

/// Refuses weights for a measure whose aggregate takes none.
pub fn check_weights(name: &str, aggregate: Aggregate) -> Result<()> {
    if aggregate.takes_weights() {
        return Ok(());
    }
    Err(unavailable(name, "whose aggregate has weights, which medians and quantiles have not"))
}

/// The error for an aggregate that a measure does not have.
pub fn unavailable(name: &str, wanted: &str) -> Error {
    Error::new(
        Kind::Policy,
        "aggregate_unavailable",
        format!("expected measures {wanted}, found {name}"),
    )
    .hint("set policy=\"aggregate=mean\", or leave the measure out")
}
