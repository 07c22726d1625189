//! How the values of queries become one, which outlives the plan that they were computed by.

use crate::error::{Error, Kind, Result};
use crate::policy::{Aggregate, Empty, Field, Missing};
use crate::saved::{Reader, Writer, damaged, require};

/// How the values of each measure are brought together.
#[derive(Clone, Debug)]
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
    ///
    /// # Errors
    /// Where an aggregate takes none.
    pub fn with_weights(&self, weights: Vec<f64>) -> Result<Self> {
        let mut measures = self.measures.iter();
        measures.try_for_each(|(name, aggregate)| check_weights(name, *aggregate))?;
        Ok(Self { weights: Some(weights), ..self.clone() })
    }

    /// How many measures need numerators and denominators.
    #[must_use]
    pub fn ratios(&self) -> usize {
        let aggregates = self.measures.iter().map(|(_, aggregate)| *aggregate);
        aggregates.filter(|&aggregate| aggregate == Aggregate::RatioOfSums).count()
    }

    /// Saves it.
    pub fn write_to(&self, out: &mut Writer) {
        out.word(self.empty);
        out.word(self.missing);
        out.count(self.measures.len() as u64);
        for (name, aggregate) in &self.measures {
            out.bytes(name.as_bytes());
            let (word, share) = spell(*aggregate);
            out.bytes(word.as_bytes());
            out.double(share);
        }
        out.flag(self.weights.is_some());
        if let Some(weights) = &self.weights {
            out.doubles(weights);
        }
    }

    /// Reads one of so many queries that was saved.
    ///
    /// # Errors
    /// Where it is damaged.
    pub fn read_from(saved: &mut Reader<'_>, queries: usize) -> Result<Self> {
        let (empty, missing) = (saved.word()?, saved.word()?);
        let mut measures = Vec::new();
        for _ in 0..saved.count()? {
            let name = saved.text()?.to_owned();
            let word = saved.text()?;
            let aggregate = if word == SUM { Some(Aggregate::Sum) } else { Aggregate::read(word) };
            let (aggregate, share) = (aggregate.ok_or_else(damaged)?, saved.double()?);
            require((0.0..=1.0).contains(&share))?;
            measures.push((name, aggregate.with_share(share).unwrap_or(aggregate)));
        }
        let weights = if saved.flag()? { Some(saved.doubles()?) } else { None };
        let are_weights = |weights: &Vec<f64>| {
            weights.len() == queries && weights.iter().all(|weight| weight.is_finite())
        };
        require(weights.as_ref().is_none_or(are_weights))?;
        Ok(Self { measures, empty, missing, weights })
    }
}

/// The aggregate of counts, which is no choice of the policy.
const SUM: &str = "sum";

/// The word of an aggregate, and its share of the queries; 0 where it has none.
fn spell(aggregate: Aggregate) -> (&'static str, f64) {
    let share = match aggregate {
        Aggregate::Quantile(share) | Aggregate::TailMean(share) => share,
        _ => 0.0,
    };
    let is_same = |known: Aggregate| known.with_share(share).unwrap_or(known) == aggregate;
    let known = Aggregate::WORDS.iter().find(|known| is_same(known.value));
    (known.map_or(SUM, |known| known.word), share)
}

/// Refuses weights for a measure whose aggregate takes none.
///
/// # Errors
/// Where it is such a measure.
pub fn check_weights(name: &str, aggregate: Aggregate) -> Result<()> {
    if aggregate.takes_weights() {
        return Ok(());
    }
    Err(unavailable(name, "whose aggregate has weights, which medians and quantiles have not"))
}

/// The error for an aggregate that a measure does not have.
#[must_use]
pub fn unavailable(name: &str, wanted: &str) -> Error {
    Error::new(
        Kind::Policy,
        "aggregate_unavailable",
        format!("expected measures {wanted}, found {name}"),
    )
    .hint("say aggregate=\"mean\", or leave the measure out")
}
