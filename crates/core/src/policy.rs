//! The evaluation policy: the choices that change values, each made by name.
//!
//! Every field whose values are words lists them here, the default first, with the sentence that the
//! report and the documentation show. Python reads the same table as `rankscope._core.POLICY`.

use serde::{Deserialize, Serialize};

/// A word that a field can have.
pub struct Word<T: 'static> {
    /// How callers write it.
    pub word: &'static str,
    /// What it stands for.
    pub value: T,
    /// What it means, in a sentence.
    pub meaning: &'static str,
}

/// A field of the policy whose values are words.
pub trait Field: Copy + 'static {
    /// Its name.
    const NAME: &'static str;
    /// Its words, the default first.
    const WORDS: &'static [Word<Self>];

    /// The value that a word stands for.
    fn read(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|known| known.word == word).map(|known| known.value)
    }
}

/// Defines a field: an enum with a variant for each word. The first one is the default.
macro_rules! field {
    (
        $(#[$doc:meta])*
        $name:ident, $field:literal {
            $default:ident = $default_word:literal: $default_meaning:literal,
            $($variant:ident = $word:literal: $meaning:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[allow(clippy::doc_markdown)] // the sentences are shown to people as they are
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name {
            #[doc = $default_meaning]
            #[default]
            $default,
            $(#[doc = $meaning] $variant,)+
        }

        impl Field for $name {
            const NAME: &'static str = $field;
            const WORDS: &'static [Word<Self>] = &[
                Word { word: $default_word, value: Self::$default, meaning: $default_meaning },
                $(Word { word: $word, value: Self::$variant, meaning: $meaning },)+
            ];
        }
    };
}

field! {
    /// The order of documents with equal scores.
    Ties, "ties" {
        DocId = "doc_id":
            "Of equal scores, the larger document ID comes first, compared byte by byte, as in \
             trec_eval.",
        DocIdAscending = "doc_id_asc":
            "Of equal scores, the smaller document ID comes first, compared byte by byte.",
        Input = "input": "Of equal scores, the document that comes first in the input comes first.",
        Best = "best":
            "Of equal scores, the higher grade comes first (unjudged documents count as 0), then the \
             larger document ID.",
        Worst = "worst":
            "Of equal scores, the lower grade comes first (unjudged documents count as 0), then the \
             larger document ID.",
        Average = "average":
            "The value is the expected value over all orders of documents with equal scores.",
    }
}

field! {
    /// The value of a query for which a measure is undefined.
    Empty, "empty" {
        Zero = "zero":
            "A query for which a measure is undefined has the value 0, as in trec_eval.",
        Skip = "skip": "A query for which a measure is undefined is left out of the mean.",
        One = "one":
            "A query for which a measure is undefined has the value 1, as in LightGBM and XGBoost.",
        Nan = "nan": "A query for which a measure is undefined makes the mean undefined.",
        Error = "error": "A query for which a measure is undefined is an error.",
    }
}

impl Empty {
    /// The value that counts; none where the query is left out, or refused.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Zero => Some(0.0),
            Self::One => Some(1.0),
            Self::Nan => Some(f64::NAN),
            Self::Skip | Self::Error => None,
        }
    }
}

field! {
    /// A judged query that is not in the run.
    Missing, "missing" {
        Zero = "zero":
            "A judged query that is not in the run counts as an empty list, as in ir_measures and in \
             trec_eval -c.",
        Skip = "skip":
            "A judged query that is not in the run is left out of the mean, as in pytrec_eval and in \
             trec_eval 9 without -c.",
        Error = "error": "A judged query that is not in the run is an error.",
    }
}

/// A retrieved document without a judgment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Unjudged {
    /// It has no gain.
    #[default]
    Nonrelevant,
    /// It is removed from the list, as are documents with a negative grade.
    Remove,
    /// It has this gain.
    Gain(f64),
}

impl Field for Unjudged {
    const NAME: &'static str = "unjudged";
    const WORDS: &'static [Word<Self>] = &[
        Word {
            word: "nonrelevant",
            value: Self::Nonrelevant,
            meaning: "A retrieved document without a judgment keeps its rank and has no gain.",
        },
        Word {
            word: "remove",
            value: Self::Remove,
            meaning: "Documents without a judgment are removed from the list first, together with \
                      those that have a negative grade.",
        },
    ];
}

field! {
    /// A judged document that was not retrieved.
    Unretrieved, "unretrieved" {
        Count = "count":
            "Judged documents that were not retrieved count in recall, in average precision, and in \
             the ideal list.",
        Ignore = "ignore":
            "Judged documents that were not retrieved are ignored, as in libraries that only see a \
             list of labels, such as LightGBM and scikit-learn.",
    }
}

field! {
    /// A negative grade.
    Negative, "negative" {
        Nonrelevant = "nonrelevant": "A negative grade has no gain, as in trec_eval.",
        Gain = "gain":
            "The gain function applies to negative grades too, so that they lower the value.",
        MinMax = "minmax":
            "The gain function applies to negative grades too, and nDCG is scaled to the range between \
             the worst and the best order of the judged documents.",
        Error = "error": "A negative grade is an error.",
    }
}

/// How the values of queries become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Aggregate {
    /// Their arithmetic mean.
    #[default]
    Mean,
    /// Their sum, which counts have whatever the policy says.
    Sum,
    /// Their geometric mean, where values are at least
    /// [`GEOMETRIC_FLOOR`](crate::number::aggregate::GEOMETRIC_FLOOR).
    Geometric,
    /// Their harmonic mean; 0 where one of them is.
    Harmonic,
    /// The one in the middle, or half-way between the two there.
    Median,
    /// The value below which this share of them lies, interpolated between neighbours.
    Quantile(f64),
    /// The mean of the smallest, as many as this share of all: the expected shortfall.
    TailMean(f64),
    /// The sum of their numerators over the sum of their denominators.
    RatioOfSums,
}

impl Aggregate {
    /// The same with a share of the queries; none where it takes no share.
    pub fn with_share(self, share: f64) -> Option<Self> {
        match self {
            Self::Quantile(_) => Some(Self::Quantile(share)),
            Self::TailMean(_) => Some(Self::TailMean(share)),
            _ => None,
        }
    }
}

impl Field for Aggregate {
    const NAME: &'static str = "aggregate";
    const WORDS: &'static [Word<Self>] = &[
        Word {
            word: "mean",
            value: Self::Mean,
            meaning: "The values of the queries are averaged.",
        },
        Word {
            word: "ratio_of_sums",
            value: Self::RatioOfSums,
            meaning: "Numerators and denominators are summed over the queries, then divided.",
        },
        Word {
            word: "geometric",
            value: Self::Geometric,
            meaning: "The geometric mean of the values of the queries.",
        },
        Word {
            word: "harmonic",
            value: Self::Harmonic,
            meaning: "The harmonic mean of the values of the queries.",
        },
        Word {
            word: "median",
            value: Self::Median,
            meaning: "The median of the values of the queries.",
        },
        Word {
            word: "quantile",
            value: Self::Quantile(0.5),
            meaning: "A quantile of the values of the queries.",
        },
        Word {
            word: "tail_mean",
            value: Self::TailMean(1.0),
            meaning: "The mean of the lowest values of the queries.",
        },
    ];
}

field! {
    /// A document that is given twice in a query.
    Duplicates, "duplicates" {
        Error = "error": "A document that is given twice in a query is an error.",
        First = "first": "Of a document that is given twice in a query, the first row counts.",
        Max = "max":
            "Of a document that is given twice in a query, the larger grade or score counts.",
    }
}

field! {
    /// The precision in which scores are compared.
    ScoreType, "score_type" {
        Float64 = "float64": "Scores are compared in double precision.",
        Float32 = "float32": "Scores are compared in single precision, as in trec_eval 9.",
    }
}

impl ScoreType {
    /// The score as it is compared.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // rounding is what is asked for
    pub fn round(self, score: f64) -> f64 {
        match self {
            Self::Float64 => score,
            Self::Float32 => f64::from(score as f32),
        }
    }
}

/// The name of a field, and its words with what each means.
pub type FieldWords = (&'static str, Vec<(&'static str, &'static str)>);

/// Every field whose values are words.
pub fn fields() -> [FieldWords; 9] {
    fn of<T: Field>() -> FieldWords {
        (T::NAME, T::WORDS.iter().map(|known| (known.word, known.meaning)).collect())
    }
    [
        of::<Ties>(),
        of::<Empty>(),
        of::<Missing>(),
        of::<Unjudged>(),
        of::<Unretrieved>(),
        of::<Negative>(),
        of::<Aggregate>(),
        of::<Duplicates>(),
        of::<ScoreType>(),
    ]
}

/// The choices that change values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// The order of documents with equal scores.
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
