//! The parameters of measures.

use super::query::{Query, real};
use crate::items::features::Distance;
use crate::number::log2::log2;

/// The gain of a grade.
#[derive(Clone, Debug, PartialEq)]
pub enum Gain {
    /// The grade itself.
    Linear,
    /// 2^grade − 1.
    Exp2,
    /// 1 for a grade above 0, else 0.
    Binary,
    /// By grade; pairs of grade and gain, grades ascending.
    Table(Vec<(f64, f64)>),
}

impl Gain {
    pub(super) fn of(&self, grade: f64) -> f64 {
        match self {
            Self::Linear => grade,
            Self::Exp2 => exp2(grade) - 1.0,
            Self::Binary => f64::from(u8::from(grade > 0.0)),
            Self::Table(pairs) => pairs
                .binary_search_by(|pair| pair.0.total_cmp(&grade))
                .map_or(0.0, |index| pairs[index].1),
        }
    }
}

/// 2 to a power, exact for integers.
pub(super) fn exp2(power: f64) -> f64 {
    if power.fract() == 0.0 && (-1022.0..=1023.0).contains(&power) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a biased exponent
        return f64::from_bits(((power + 1023.0) as u64) << 52);
    }
    power.exp2()
}

/// What a rank divides its gain by.
#[derive(Clone, Debug, PartialEq)]
pub enum Discount {
    /// log2(rank + 1).
    Log2,
    /// The logarithm of rank + 1 to a base.
    Log(f64),
    /// max(1, logarithm of the rank to a base): Järvelin and Kekäläinen's own.
    JarvelinKekalainen(f64),
    /// The rank.
    Reciprocal,
    /// rank + 1.
    Linear,
    /// The rank to a power.
    Zipf(f64),
    /// Weights by rank, multiplied; ranks after the last have none.
    Table(Vec<f64>),
}

impl Discount {
    pub(super) fn apply(&self, gain: f64, rank: usize) -> f64 {
        match self {
            Self::Table(weights) => weights.get(rank - 1).map_or(0.0, |weight| gain * weight),
            _ => gain / self.divisor(rank),
        }
    }

    /// What a rank divides by; weights multiply, and divide by nothing.
    pub(super) fn divisor(&self, rank: usize) -> f64 {
        match self {
            Self::Log2 => log2(rank + 1),
            Self::Log(base) => log2(rank + 1) / log2_of(*base),
            Self::JarvelinKekalainen(base) => (log2(rank) / log2_of(*base)).max(1.0),
            Self::Reciprocal => real(rank),
            Self::Linear => real(rank + 1),
            Self::Zipf(power) => real(rank).powf(*power),
            Self::Table(_) => 1.0,
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a positive integer
fn log2_of(base: f64) -> f64 {
    if base.fract() == 0.0 && (1.0..1e15).contains(&base) {
        log2(base as usize)
    } else {
        base.log2()
    }
}

/// Which documents the ideal order is made of, and how far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ideal {
    /// All judged documents of the query, down to the cutoff.
    Judged,
    /// The retrieved ones, down to the cutoff.
    Retrieved,
    /// All judged documents of the query, whatever the cutoff.
    Whole,
    /// A document of gain 1 at each rank down to the cutoff.
    Slots,
}

/// The number that a sum over relevant documents is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denominator {
    /// All relevant documents, retrieved or not.
    Relevant,
    /// As many of them as there are ranks down to the cutoff.
    Reachable,
    /// The cutoff.
    Cutoff,
    /// The retrieved documents down to the cutoff.
    Retrieved,
    /// The relevant ones among these: a number that varies with the order of a tie.
    Found,
}

impl Denominator {
    /// The number, of which `relevant` is the first kind; none where it varies.
    pub(super) fn count(self, query: &Query<'_>, k: usize, relevant: usize) -> Option<usize> {
        match self {
            Self::Relevant => Some(relevant),
            Self::Reachable => Some(relevant.min(k)),
            Self::Cutoff => Some(k),
            Self::Retrieved => Some(query.retrieved.min(k)),
            Self::Found => None,
        }
    }
}

/// How a share of documents becomes a number of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Up, unless it exceeds a whole number by less than a tenth, as `trec_eval` 9 does.
    Up,
    /// To the nearest whole number, and up from the middle, as `trec_eval` 10 does.
    Nearest,
}

impl Rounding {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 or more; it saturates
    pub(super) fn round(self, number: f64) -> usize {
        match self {
            Self::Up => (number + 0.9) as usize,
            Self::Nearest => number.round() as usize,
        }
    }
}

/// What is computed of a user of the C/W/L framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The gain of a document that is read.
    Utility,
    /// The gain of all that is read until the user stops.
    TotalUtility,
    /// The cost of a document that is read, each of which costs 1.
    Cost,
    /// The cost of all that is read until the user stops.
    TotalCost,
    /// How many documents are read.
    Items,
}

/// How users go through a ranking, which decides how much attention each rank gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Browsing {
    /// They go on with the same probability after each document.
    Rbp,
    /// They are also content with a relevant document with some probability.
    Gerr,
    /// The discount of DCG.
    Dcg,
}

/// What the groups of a list should be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Those of the catalogue.
    Catalogue,
    /// Those of the relevant documents.
    Relevant,
    /// All alike.
    Uniform,
}

/// What the popularity of an item is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All users.
    Users,
    /// All interactions.
    Interactions,
}

/// The most ranks that a user may read, and how many it is where nothing is said.
const DEEPEST: usize = 1_000_000;
const USUAL_DEPTH: usize = 1000;

/// Parameters of all kernels; each reads those that it knows.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is read by another kernel
pub struct Params {
    /// Cutoff; none for the whole list.
    pub k: Option<usize>,
    /// The smallest grade that is relevant.
    pub rel: Option<f64>,
    /// The weight of recall against precision in F, of gain in Q-measure, and of the next rank in NRBP.
    pub beta: f64,
    /// How much of the worth of a subtopic is lost each time that it is covered; how much of what a user
    /// had is mixed into a list before the two are compared.
    pub alpha: f64,
    /// The persistence of RBP.
    pub p: f64,
    /// How users go through a ranking, of expected exposure.
    pub browsing: Browsing,
    /// How likely it is that a relevant document contents a user.
    pub u: f64,
    /// Whether the judged documents are all that there are.
    pub is_complete: bool,
    /// Whether the attention of ranks falls geometrically, and not with their logarithm.
    pub is_geometric: bool,
    /// What the groups of a list should be like.
    pub groups: Goal,
    /// The recall level of `IPrec`.
    pub recall: f64,
    /// How the number of documents at a level of recall is rounded.
    pub rounding: Rounding,
    /// The levels of recall of interpolated average precision.
    pub levels: Vec<f64>,
    /// At which multiple of the number of relevant documents R-precision is taken.
    pub multiple: f64,
    /// What utility gives for a document: relevant and retrieved, not relevant and retrieved, relevant
    /// and not retrieved, and neither.
    pub worth: [f64; 4],
    /// How many documents the collection has.
    pub documents: f64,
    /// Whether graded RBP divides grades by the largest one of each query.
    pub is_scaled_by_query: bool,
    /// The largest grade of ERR and graded RBP; none where RBP takes grades as they are.
    pub max_grade: Option<f64>,
    /// Whether RBP takes gains from grades.
    pub graded: bool,
    /// Gains of grades.
    pub gain: Gain,
    /// Discounts of ranks.
    pub discount: Discount,
    /// What the ideal order is made of.
    pub ideal: Ideal,
    /// What AP, precision and recall divide by; none for what each usually does.
    pub denominator: Option<Denominator>,
    /// The gain that a user wants: T of the C/W/L framework.
    pub target: f64,
    /// The grade of which the gain is 0 in the C/W/L framework.
    pub min_rel: f64,
    /// The grade of which the gain is 1 in the C/W/L framework.
    pub max_rel: f64,
    /// What reading a document costs in the C/W/L framework.
    pub cost: f64,
    /// The cost after which half of the users are left, of TBG.
    pub half_life: f64,
    /// The cost after which none is left, of U-measure.
    pub length: f64,
    /// Whether a user of IFT wants a gain, and whether a gain by cost.
    pub has_goal: bool,
    /// See `has_goal`.
    pub has_rate: bool,
    /// The gain that is wanted, the odds at it, and how much the distance to it matters.
    pub goal: [f64; 3],
    /// The same of the gain by cost.
    pub rate: [f64; 3],
    /// What is computed of a C/W/L user.
    pub quantity: Quantity,
    /// Whether it is how much that would rise if all that is unknown had the highest gain.
    pub is_residual: bool,
    /// Whether compatibility, coverage, novelty and popularity are shares of what is possible.
    pub normalizes: bool,
    /// What novelty takes the popularity of an item as a share of.
    pub share: Share,
    /// How the distance of two items is measured.
    pub distance: Distance,
    /// Whether set precision is a share of the highest one that is possible.
    pub relative: bool,
    /// Whether negative grades have a gain; else they have none.
    pub negative_gain: bool,
    /// Whether nDCG is taken between the worst order and the best.
    pub min_max: bool,
    /// The gain of a retrieved document without a judgment.
    pub unjudged_gain: f64,
    /// The gain at each rank after the end of a list that is shorter than the cutoff.
    pub missing_gain: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            k: None,
            rel: None,
            beta: 1.0,
            alpha: 0.5,
            p: 0.8,
            browsing: Browsing::Rbp,
            u: 0.5,
            is_complete: false,
            is_geometric: false,
            groups: Goal::Catalogue,
            recall: 0.0,
            rounding: Rounding::Up,
            levels: (0..=10_u32).map(|tenths| f64::from(tenths) / 10.0).collect(),
            multiple: 1.0,
            worth: [1.0, -1.0, 0.0, 0.0],
            documents: 0.0,
            is_scaled_by_query: false,
            max_grade: Some(4.0),
            graded: false,
            gain: Gain::Linear,
            discount: Discount::Log2,
            ideal: Ideal::Judged,
            denominator: None,
            target: 1.0,
            min_rel: 0.0,
            max_rel: 4.0,
            cost: 1.0,
            half_life: 224.0,
            length: 1000.0,
            has_goal: true,
            has_rate: true,
            goal: [2.0, 0.9, 10.0],
            rate: [0.2, 0.9, 10.0],
            quantity: Quantity::Utility,
            is_residual: false,
            normalizes: true,
            share: Share::Users,
            distance: Distance::Cosine,
            relative: false,
            negative_gain: false,
            min_max: false,
            unjudged_gain: 0.0,
            missing_gain: 0.0,
        }
    }
}

impl Params {
    pub(super) fn cutoff(&self) -> usize {
        self.k.unwrap_or(usize::MAX)
    }

    /// How many ranks a user may read.
    pub(super) fn depth(&self) -> usize {
        self.k.map_or(USUAL_DEPTH, |k| k.min(DEEPEST))
    }

    pub(super) fn least_relevant(&self) -> f64 {
        self.rel.unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_read_1000_ranks_usually_and_a_million_at_most() {
        let depth = |k| Params { k, ..Params::default() }.depth();
        assert_eq!(depth(None), 1000);
        let depths = [999_999, 1_000_000, 1_000_001].map(|k| depth(Some(k)));
        assert_eq!(depths, [999_999, 1_000_000, 1_000_000]);
    }
}
