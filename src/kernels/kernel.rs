//! The interface of a measure.

use super::gains::Gains;
use super::params::Params;
use super::query::Query;
use crate::error::Result;
use crate::memory::Vec;

/// How a value depends on grades that are not known. In all cases but [`Unknown::Anything`], moving a
/// document of a higher grade up never lowers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unknown {
    /// In no way that is made use of.
    Anything,
    /// It is a sum of discounted gains, divided by that of an ideal order or by nothing.
    Discounted {
        /// Whether there is an ideal that depends on them.
        is_share: bool,
    },
    /// A higher grade never lowers it.
    Rising,
    /// It depends on which documents have this grade or a higher one.
    Relevance {
        /// The smallest grade that is relevant.
        rel: f64,
        /// The last rank that counts.
        k: usize,
    },
}

/// A measure with its parameters.
pub trait Kernel: Send + Sync {
    /// The value for one query: NaN where it is undefined, infinite where gains overflow. Where there
    /// are ties to average over, the expected value over all their orders.
    fn value(&self, query: &Query<'_>) -> f64;

    /// The values at several cutoffs, which ascend up to that of the measure, in one pass; nothing
    /// where the measure knows no such pass. They are to the bit those of [`Kernel::value`].
    fn values_at(&self, _query: &Query<'_>, _cutoffs: &[usize]) -> Option<Vec<f64>> {
        None
    }

    /// Numerator and denominator of the value, where it is a ratio whose parts can be added up; a
    /// query for which it is undefined adds nothing.
    fn ratio(&self, _query: &Query<'_>) -> Option<(f64, f64)> {
        None
    }

    /// Whether the expected value over ties is computed exactly; else there is none.
    fn averages_ties(&self) -> bool {
        true
    }

    /// What can be said of the value where grades are not known.
    fn unknown(&self) -> Unknown {
        Unknown::Anything
    }

    /// Gains and discounts, where the measure is made of them.
    fn gains(&self) -> Option<&Gains> {
        None
    }

    /// Refuses grades that the parameters have no answer for; `grades` ascend.
    ///
    /// # Errors
    /// Where there is such a grade.
    fn check(&self, _grades: &[f64]) -> Result<()> {
        Ok(())
    }
}

/// Makes a kernel with its parameters.
pub type Make = fn(&Params) -> Box<dyn Kernel>;
