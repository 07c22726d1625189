//! The interface of a measure.

use super::gains::Gains;
use super::lists::Batched;
use super::params::{Denominator, Params};
use super::query::{Query, Reads};
use crate::error::Result;
use crate::items::Items;

/// What a measure depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The grades of one query.
    Grades,
    /// Subtopics, which the judgments must have.
    Subtopics,
    /// The strata of which documents were sampled for judging, which the judgments must have.
    Strata,
    /// Several queries at once.
    Batches,
    /// What is known of the items of a list besides their grades.
    Items(Wanted),
}

/// What a measure wants to know of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Only which ones there are.
    Nothing,
    /// The catalogue.
    Catalogue,
    /// Who had which before.
    History,
    /// Both of these.
    HistoryAndCatalogue,
    /// What they are like.
    Features,
    /// Who had which before, and the categories of each.
    HistoryAndCategories,
    /// The groups that each belongs to.
    Groups,
    /// The same, and which are relevant.
    GroupsOfRelevant,
}

/// All lists of a run.
#[derive(Debug)]
pub struct RunLists<'a> {
    /// The documents of each list in rank order.
    pub lists: Vec<&'a [u32]>,
    /// Which item each document is.
    pub items_of: &'a [u32],
    /// What is known of items.
    pub of: &'a Items,
}

/// One of several rankings of a query, any of which is shown with the same probability.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The ranking.
    pub query: Query<'a>,
    /// The document at each rank, by numbers that the samples have in common; none where there is only
    /// one.
    pub docs: Option<&'a [u32]>,
}

/// A measure of all rankings of a query together.
pub trait OfSamples {
    /// The value; NaN where it is undefined.
    fn value(&self, samples: &[Sample<'_>]) -> f64;
}

/// A measure of all lists together.
pub trait OfRun {
    /// The value; NaN where it is undefined.
    fn value(&self, run: &RunLists<'_>) -> f64;

    /// What it wants to know of items.
    fn wants(&self) -> Wanted;
}

/// How a value depends on grades that are not known. In all cases but [`Unknown::Anything`], moving a
/// document of a higher grade up never lowers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unknown {
    /// In a way that bounds can't use.
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

/// How the difference of the values of two lists depends on grades that are not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Apart {
    /// In a way that bounds can't use, or one that [`Unknown::Discounted`] describes.
    Anything,
    /// A value is a sum over relevant documents of p to the power of the rank less 1, as a share.
    Sum {
        /// The smallest grade that is relevant.
        rel: f64,
        /// The last rank that counts.
        k: usize,
        /// The ratio of what a rank is worth to the one before it.
        p: f64,
        /// What the sum is divided by.
        denominator: Denominator,
    },
    /// A value is a sum over documents of their grade times p to the power of the rank less 1.
    Graded {
        /// The last rank that counts.
        k: usize,
        /// The ratio of what a rank is worth to the one before it.
        p: f64,
    },
    /// A value depends on the first relevant document or tie, and is larger the earlier it is.
    First {
        /// The smallest grade that is relevant.
        rel: f64,
        /// The last rank that counts.
        k: usize,
    },
    /// A value is a sum of the precision at each relevant document, as a share.
    Precisions {
        /// The smallest grade that is relevant.
        rel: f64,
        /// The last rank that counts.
        k: usize,
        /// What the sum is divided by, which is the same for both lists.
        denominator: Denominator,
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

    /// What it depends on besides the grades of one query.
    fn needs(&self) -> Needs {
        Needs::Grades
    }

    /// The value of a query that has no list, for a measure of items: NaN where the best value would
    /// be 0, so that the query is left out.
    fn without_list(&self) -> f64 {
        0.0
    }

    /// The measure as one that is computed of several queries at once, if it is.
    fn batched(&self) -> Option<&dyn Batched> {
        None
    }

    /// The measure as one of all lists together, if it is; no list has a value of its own then.
    fn of_run(&self) -> Option<&dyn OfRun> {
        None
    }

    /// The measure as one of several rankings of a query together, if that isn't the mean of the values
    /// of each.
    fn of_samples(&self) -> Option<&dyn OfSamples> {
        None
    }

    /// Which judged documents it depends on; the others can be left out without changing the value,
    /// not even in its last bit.
    fn reads(&self) -> Reads {
        Reads::All
    }

    /// What can be said of the value where grades are not known.
    fn unknown(&self) -> Unknown {
        Unknown::Anything
    }

    /// What can be said of the difference of two lists where grades are not known.
    fn apart(&self) -> Apart {
        Apart::Anything
    }

    /// Gains and discounts, where the measure is made of them.
    fn gains(&self) -> Option<&Gains> {
        None
    }

    /// Refuses grades that the parameters have no answer for; `grades` ascend.
    fn check(&self, _grades: &[f64]) -> Result<()> {
        Ok(())
    }
}

/// Makes a kernel with its parameters.
pub type Make = fn(&Params) -> Box<dyn Kernel>;
