//! The plan of an evaluation: its measures, cutoffs, policy and weights.

use std::sync::Arc;

use crate::error::{Error, Kind, Result};
use crate::evaluate::averaging::{Averaging, check_weights, unavailable};
use crate::items::Items;
use crate::kernels::views::{Seen, View, Views};
use crate::kernels::{Kernel, Needs, Query, Reads, Wanted};
use crate::policy::{
    Aggregate, Duplicates, Negative, Policy, ScoreType, Ties, Unjudged, Unretrieved,
};
use crate::qrels::axis::Axis;
use crate::qrels::judgments::Judgments;
use crate::qrels::subtopics::{Second, Subtopics};

/// A measure to evaluate.
#[derive(Clone)]
pub struct Measure {
    /// Its name, for messages.
    pub name: String,
    /// What it computes.
    pub kernel: Arc<dyn Kernel>,
    /// Whether it sees judged documents only.
    pub judged_only: bool,
    /// How its values become one.
    pub aggregate: Aggregate,
}

impl Measure {
    fn check_aggregate(&self, is_weighted: bool) -> Result<()> {
        if self.aggregate == Aggregate::RatioOfSums && self.kernel.ratio(&Query::EMPTY).is_none() {
            let wanted = "that are ratios, as aggregate=\"ratio_of_sums\" needs";
            return Err(unavailable(&self.name, wanted));
        }
        if is_weighted { check_weights(&self.name, self.aggregate) } else { Ok(()) }
    }
}

/// So many measures that depend on documents of a grade above 0 alone are faster with a list of these.
const WORTH_A_VIEW: usize = 3;

/// How the measures of a plan see lists, found once for all queries.
pub struct Ways {
    /// By measure.
    pub of_measures: Vec<View>,
    /// Each way that a measure has.
    pub different: Vec<View>,
    /// Whether a measure is computed of several queries at once.
    pub has_batches: bool,
}

/// What to evaluate, and how.
#[derive(Clone)]
pub struct Plan {
    /// The measures.
    pub measures: Vec<Measure>,
    /// The cutoffs at which unjudged documents are counted, `usize::MAX` for whole lists.
    pub cutoffs: Vec<usize>,
    /// The choices that change values.
    pub policy: Policy,
    /// What to do with documents given twice.
    pub duplicates: Duplicates,
    /// How scores are read.
    pub score_type: ScoreType,
    /// How much each query counts, where they do not count alike.
    pub weights: Option<Vec<f64>>,
    /// How many documents of each list count, where ties are broken; the others are as if not retrieved.
    pub depth: usize,
    /// What is known of items, where it is known.
    pub items: Option<Arc<Items>>,
    /// The judgments, where a measure of items needs to know which documents are relevant.
    pub judged: Option<Arc<Judgments>>,
}

impl Plan {
    /// How the values are brought together.
    pub fn averaging(&self) -> Averaging {
        let named = |measure: &Measure| (measure.name.clone(), measure.aggregate);
        Averaging {
            measures: self.measures.iter().map(named).collect(),
            empty: self.policy.empty,
            missing: self.policy.missing,
            weights: self.weights.clone(),
        }
    }

    /// Whether a measure sees lists without unjudged documents.
    pub fn condenses(&self, measure: &Measure) -> bool {
        measure.judged_only || self.policy.unjudged == Unjudged::Remove
    }

    /// How the measures see lists.
    pub fn ways(&self) -> Ways {
        let reads_positive = |measure: &Measure| measure.kernel.reads() == Reads::Positive;
        let count = self.measures.iter().filter(|&measure| reads_positive(measure)).count();
        let view = |measure: &Measure| View {
            condenses: self.condenses(measure),
            positive: count >= WORTH_A_VIEW && reads_positive(measure),
        };
        let of_measures: Vec<View> = self.measures.iter().map(view).collect();
        let mut different = Vec::new();
        for &way in &of_measures {
            if !different.contains(&way) {
                different.push(way);
            }
        }
        let has_batches = self.measures.iter().any(|measure| measure.kernel.batched().is_some());
        Ways { of_measures, different, has_batches }
    }

    /// What measures see of a query in these ways.
    pub fn see<'a>(&self, whole: &Query<'a>, ways: &[View], views: &'a mut Views) -> Seen<'a> {
        views.see(whole, ways, self.policy.unretrieved == Unretrieved::Ignore)
    }

    /// How many measures need numerators and denominators.
    pub(super) fn ratios(&self) -> usize {
        let needs = |measure: &&Measure| measure.aggregate == Aggregate::RatioOfSums;
        self.measures.iter().filter(needs).count()
    }

    /// Refuses grades that a measure or the policy has no answer for.
    pub fn check(&self, axis: &Axis) -> Result<()> {
        self.check_grades(axis.grades())
    }

    /// The same for lists that are evaluated beside their judgments, which may have subtopics.
    pub fn check_lists(&self, axis: &Axis) -> Result<()> {
        match self.of_items().next() {
            Some((measure, _)) => Err(needs_more(measure)),
            None => self.check_rankings(axis),
        }
    }

    /// The measures that need to know what items are recommended, and what they want to know of them.
    pub fn of_items(&self) -> impl Iterator<Item = (&Measure, Wanted)> {
        self.measures.iter().filter_map(|measure| match measure.kernel.needs() {
            Needs::Items(wanted) => Some((measure, wanted)),
            _ => None,
        })
    }

    /// The same as [`Plan::check_lists`] for lists whose documents are known, which may be items.
    pub fn check_rankings(&self, axis: &Axis) -> Result<()> {
        if let Some((measure, _)) = self.of_items().next() {
            if self.items.is_none() {
                return Err(needs_more(measure));
            }
            if self.policy.unjudged == Unjudged::Remove {
                let found = "found unjudged=\"remove\"";
                let wanted = "expected lists with all their items";
                return Err(Error::new(
                    Kind::Policy,
                    "items_unavailable",
                    format!("{wanted}, as {} needs, {found}", measure.name),
                )
                .hint("evaluate it without this policy, in a call of its own"));
            }
        }
        let second = axis.subtopics().map(Subtopics::second);
        for Measure { name, kernel, .. } in &self.measures {
            let wanted = match kernel.needs() {
                Needs::Subtopics => Second::Subtopic,
                Needs::Strata => Second::Stratum,
                _ => continue,
            };
            if second != Some(wanted) {
                return Err(second_missing(name, wanted));
            }
            if self.policy.unretrieved == Unretrieved::Ignore {
                return Err(Error::new(
                    Kind::Policy,
                    "subtopics_unavailable",
                    format!("expected unretrieved=\"count\", which {name} needs, found \"ignore\""),
                )
                .hint("its ideal is made of all judged documents: leave unretrieved out"));
            }
            if wanted == Second::Stratum && self.policy.unjudged == Unjudged::Remove {
                return Err(Error::new(
                    Kind::Policy,
                    "strata_unavailable",
                    format!("expected whole lists, which {name} needs, found unjudged=\"remove\""),
                )
                .hint("it estimates what unjudged documents are: leave unjudged out"));
            }
        }
        self.check_values(axis.grades())
    }

    /// Refuses grades, which ascend, as [`Plan::check`] does.
    pub fn check_grades(&self, grades: &[f64]) -> Result<()> {
        let needs = |measure: &&Measure| measure.kernel.needs() != Needs::Grades;
        if let Some(measure) = self.measures.iter().find(needs) {
            let Measure { name, kernel, .. } = measure;
            let (code, what) = match kernel.needs() {
                Needs::Items(_) => return Err(needs_more(measure)),
                Needs::Batches => ("function_unavailable", "which is a function"),
                Needs::Strata => ("subtopics_unavailable", "which needs strata"),
                _ => ("subtopics_unavailable", "which needs subtopics"),
            };
            return Err(Error::new(
                Kind::Measure,
                code,
                format!("expected a measure of the grades of each query, found {name}, {what}"),
            )
            .hint("rankscope.evaluate computes it"));
        }
        self.check_values(grades)
    }

    fn check_values(&self, grades: &[f64]) -> Result<()> {
        if self.policy.negative == Negative::Error
            && let Some(grade) = grades.first().filter(|&&grade| grade < 0.0)
        {
            return Err(Error::new(
                Kind::Policy,
                "negative_gain",
                format!("expected grades of 0 and more, as negative=\"error\" says, found {grade}"),
            )
            .hint(
                "to give them no gain, set negative to \"nonrelevant\", as in \
                 policy=\"negative=nonrelevant\"",
            ));
        }
        let has_none = |measure: &&Measure| !measure.kernel.averages_ties();
        if self.policy.ties == Ties::Average
            && let Some(measure) = self.measures.iter().find(has_none)
        {
            return Err(Error::new(
                Kind::Policy,
                "ties_unavailable",
                format!(
                    "expected measures with an exact value over ties, as ties=\"average\" needs, \
                     found {}",
                    measure.name
                ),
            )
            .hint(
                "set policy=\"ties=doc_id\", or \"ties=input\" if there are no document IDs, or \
                 leave the measure out",
            ));
        }
        self.measures.iter().try_for_each(|measure| {
            measure.check_aggregate(self.weights.is_some())?;
            measure.kernel.check(grades)
        })
    }
}

/// The error for judgments without what a measure needs beside documents and grades.
fn second_missing(name: &str, wanted: Second) -> Error {
    let (code, what, hint) = match wanted {
        Second::Subtopic => (
            "subtopics_missing",
            "subtopic",
            "pass qrels whose second column is the subtopic, and say subtopics=True",
        ),
        Second::Stratum => (
            "strata_missing",
            "stratum",
            "pass sampled qrels, whose five columns are query, 0, document, stratum and grade, and \
             say strata=True",
        ),
    };
    let message = format!("expected judgments by {what}, which {name} needs, found others");
    Error::new(Kind::Measure, code, message).hint(hint)
}

/// The error for a measure of items where their documents are not known, or nothing is known of them.
fn needs_more(measure: &Measure) -> Error {
    Error::new(
        Kind::Measure,
        "items_unavailable",
        format!(
            "expected a measure of the grades of each query, found {}, which needs to know the items \
             that are recommended",
            measure.name
        ),
    )
    .hint("rankscope.evaluate computes it, with history=, items= or catalogue=")
}
