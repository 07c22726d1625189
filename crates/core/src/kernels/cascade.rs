//! Cascade measures: a user reads from the top, and may stop at each document.

use super::kernel::{Apart, Kernel, Make, Unknown};
use super::params::{Denominator, Params, exp2};
use super::query::{Query, Reads, real};
use crate::error::{Error, Kind, Result};

/// The kernels of this family by name.
pub(super) const TABLE: &[(&str, Make)] = &[
    ("err", |params| Box::new(Err::new(params))),
    ("rbp", |params| Box::new(Rbp::new(params))),
    ("rbp_residual", |params| Box::new(RbpResidual::new(params))),
];

fn check_largest(grades: &[f64], max_grade: f64) -> Result<()> {
    match grades.last() {
        Some(&grade) if grade > max_grade => Err(Error::new(
            Kind::Measure,
            "grade_above_max",
            format!("expected grades of at most max_grade={max_grade}, found {grade}"),
        )
        .hint(format!("say max_grade={grade} in the measure"))),
        _ => Ok(()),
    }
}

/// Expected reciprocal rank: Chapelle, Metzler, Zhang and Grinspan, *Expected reciprocal rank for
/// graded relevance*, 2009.
pub(super) struct Err {
    k: usize,
    max_grade: f64,
}

impl Err {
    pub(super) fn new(params: &Params) -> Self {
        Self { k: params.cutoff(), max_grade: params.max_grade.unwrap_or(f64::INFINITY) }
    }
}

impl Kernel for Err {
    fn value(&self, query: &Query<'_>) -> f64 {
        if query.ideal.first().is_none_or(|&grade| grade <= 0.0) {
            return f64::NAN;
        }
        let all = exp2(self.max_grade);
        let mut reads_on = 1.0;
        let mut sum = 0.0;
        for place in query.places(self.k).filter(|place| place.grades[0] > 0.0) {
            let stops = (exp2(place.grades[0]) - 1.0) / all;
            sum += reads_on * stops / real(place.first);
            reads_on *= 1.0 - stops;
        }
        sum
    }

    fn reads(&self) -> Reads {
        Reads::Positive
    }

    fn unknown(&self) -> Unknown {
        Unknown::Rising
    }

    fn averages_ties(&self) -> bool {
        false
    }

    fn check(&self, grades: &[f64]) -> Result<()> {
        check_largest(grades, self.max_grade)
    }
}

/// How RBP takes gains from grades.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// A document is relevant or not.
    Binary,
    /// A share of this grade.
    Of(f64),
    /// A share of the largest grade of the query, or of 1 if that is larger.
    OfQuery,
}

/// Rank-biased precision: Moffat and Zobel, *Rank-biased precision for measurement of retrieval
/// effectiveness*, 2008.
pub(super) struct Rbp {
    k: usize,
    p: f64,
    rel: f64,
    scale: Scale,
    /// The largest grade, where there is one.
    max_grade: f64,
}

impl Rbp {
    pub(super) fn new(params: &Params) -> Self {
        let scale = match (params.graded, params.is_scaled_by_query) {
            (false, _) => Scale::Binary,
            (true, false) => Scale::Of(params.max_grade.unwrap_or(1.0)),
            (true, true) => Scale::OfQuery,
        };
        Self {
            k: params.cutoff(),
            p: params.p,
            rel: params.least_relevant(),
            scale,
            max_grade: params
                .max_grade
                .filter(|_| params.graded && !params.is_scaled_by_query)
                .unwrap_or(f64::INFINITY),
        }
    }

    fn gain(&self, grade: f64, top: f64) -> f64 {
        match self.scale {
            Scale::Binary => f64::from(u8::from(grade >= self.rel)),
            Scale::Of(_) | Scale::OfQuery => grade.max(0.0) / top,
        }
    }
}

impl Kernel for Rbp {
    fn value(&self, query: &Query<'_>) -> f64 {
        let Some(&largest) = query.ideal.first() else { return f64::NAN };
        // Grades up to 1 are gains already.
        let top = match self.scale {
            Scale::Of(grade) => grade,
            Scale::Binary | Scale::OfQuery => largest.max(1.0),
        };
        if self.gain(largest, top) <= 0.0 {
            return f64::NAN;
        }
        let mut weights = Weights::new(self.p);
        let sum = query.places(self.k).fold(0.0, |sum, place| {
            let gains = place.grades.iter().fold(0.0, |sum, &grade| sum + self.gain(grade, top));
            if place.size == 1 {
                return sum + gains * weights.at(place.first);
            }
            let mean = gains / real(place.size);
            place.ranks(self.k).fold(sum, |sum, rank| sum + mean * weights.at(rank))
        });
        sum * (1.0 - self.p)
    }

    fn reads(&self) -> Reads {
        if self.scale == Scale::Binary { Reads::relevant(self.rel) } else { Reads::Positive }
    }

    fn unknown(&self) -> Unknown {
        // One more grade can change the scale.
        if self.scale == Scale::OfQuery { Unknown::Anything } else { Unknown::Rising }
    }

    fn apart(&self) -> Apart {
        let Self { k, p, rel, scale, .. } = *self;
        match scale {
            // The cutoff stands for any number that is the same for all lists.
            Scale::Binary => Apart::Sum { rel, k, p, denominator: Denominator::Cutoff },
            Scale::Of(_) => Apart::Graded { k, p },
            Scale::OfQuery => Apart::Anything,
        }
    }

    fn check(&self, grades: &[f64]) -> Result<()> {
        check_largest(grades, self.max_grade)
    }
}

/// How much RBP could still rise if all that is unjudged or below the list were relevant. A negative grade
/// is no judgment.
pub(super) struct RbpResidual {
    k: usize,
    p: f64,
}

impl RbpResidual {
    pub(super) fn new(params: &Params) -> Self {
        Self { k: params.cutoff(), p: params.p }
    }
}

impl Kernel for RbpResidual {
    fn value(&self, query: &Query<'_>) -> f64 {
        let depth = self.k.min(query.retrieved);
        let mut weights = Weights::new(self.p);
        let mut unjudged = 0.0;
        let mut next = 1;
        for place in query.places(depth) {
            for rank in next..place.first {
                unjudged += weights.at(rank);
            }
            let judged = place.grades.iter().filter(|&&grade| grade >= 0.0).count();
            let share = real(place.size - judged) / real(place.size);
            if share > 0.0 {
                for rank in place.ranks(depth) {
                    unjudged += share * weights.at(rank);
                }
            }
            next = place.first + place.size;
        }
        for rank in next..=depth {
            unjudged += weights.at(rank);
        }
        weights.at(depth + 1) + (1.0 - self.p) * unjudged
    }
}

/// 1, p, p², … by repeated multiplication.
struct Weights {
    p: f64,
    rank: usize,
    weight: f64,
}

impl Weights {
    fn new(p: f64) -> Self {
        Self { p, rank: 1, weight: 1.0 }
    }

    /// The weight of a rank not before the last one asked for.
    fn at(&mut self, rank: usize) -> f64 {
        while self.rank < rank {
            self.weight *= self.p;
            self.rank += 1;
        }
        self.weight
    }
}
