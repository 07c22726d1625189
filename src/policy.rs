//! The evaluation policy: the choices that change values, each made by name.

/// What decides between documents of equal score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// Largest identifier first, by bytes: `trec_eval`.
    #[default]
    DocId,
    /// Smallest identifier first, by bytes.
    DocIdAscending,
    /// The order of the input.
    Input,
    /// Best grade first, then largest identifier; unjudged counts as grade 0.
    Best,
    /// Worst grade first, then largest identifier; unjudged counts as grade 0.
    Worst,
    /// Any order is as likely as any other; values are expected ones.
    Average,
}

/// The value of a query for which a measure is undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Empty {
    /// 0.
    #[default]
    Zero,
    /// 1.
    One,
    /// None; the query is left out of the mean.
    Skip,
    /// NaN, and so is the mean.
    Nan,
    /// It is refused.
    Error,
}

/// What becomes of a judged query that is not in the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// It counts as an empty list.
    #[default]
    Zero,
    /// It is left out.
    Skip,
    /// It is refused.
    Error,
}

/// What becomes of negative grades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Negative {
    /// They have no gain.
    #[default]
    Nonrelevant,
    /// Their gain is what the gain function makes of them.
    Gain,
    /// As [`Negative::Gain`], and nDCG is taken between the worst order and the best.
    MinMax,
    /// They are refused.
    Error,
}

/// What becomes of retrieved documents without a judgment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Unjudged {
    /// They have no gain.
    #[default]
    Nonrelevant,
    /// They leave the list, as do those with a negative grade.
    Remove,
    /// They have this gain.
    Gain(f64),
}

/// What becomes of judged documents that were not retrieved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unretrieved {
    /// They count where measures ask for all that is judged.
    #[default]
    Count,
    /// They are unknown.
    Ignore,
}

/// How the values of queries become one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Aggregate {
    /// Their arithmetic mean.
    #[default]
    Mean,
    /// Their sum.
    Sum,
    /// Their geometric mean, values below [`GEOMETRIC_FLOOR`](crate::number::aggregate::GEOMETRIC_FLOOR) taken as that.
    Geometric,
    /// Their harmonic mean; 0 where one of them is.
    Harmonic,
    /// The one in the middle, or half-way between the two there.
    Median,
    /// The value below which this share of them lies, between neighbours in proportion.
    Quantile(f64),
    /// The mean of the smallest, as many as this share of all: the expected shortfall.
    TailMean(f64),
    /// The sum of their numerators over the sum of their denominators.
    RatioOfSums,
}

/// What to do with one document given twice in a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Refuse it.
    #[default]
    Error,
    /// Keep the first.
    First,
    /// Keep the one with the larger grade, or score.
    Max,
}

/// How scores are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScoreType {
    /// As double precision numbers.
    #[default]
    Float64,
    /// Rounded to single precision, as `trec_eval` 9 does.
    Float32,
}

impl ScoreType {
    /// The score as it is compared.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // rounding is what is asked for
    pub fn round(self, score: f64) -> f64 {
        match self {
            Self::Float64 => score,
            Self::Float32 => f64::from(score as f32),
        }
    }
}

/// The choices that change values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// What decides between equal scores.
    pub ties: Ties,
    /// The value where a measure is undefined.
    pub empty: Empty,
    /// Judged queries that are not in the run.
    pub missing: Missing,
    /// Negative grades.
    pub negative: Negative,
    /// Retrieved documents without a judgment.
    pub unjudged: Unjudged,
    /// Judged documents that were not retrieved.
    pub unretrieved: Unretrieved,
    /// The gain at ranks after the end of lists shorter than the cutoff.
    pub missing_gain: f64,
}
