//! What parts of the queries add to an evaluation, without the values of queries: parts that were
//! evaluated apart are merged in any order, and give the same bits as one evaluation of all.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::evaluate::averaging::Averaging;
use crate::evaluate::candidates::Candidates;
use crate::evaluate::evaluation::{Counts, Evaluation};
use crate::notes::Notes;
use crate::number::aggregate::{GEOMETRIC_FLOOR, Part};
use crate::number::sum::ExactSum;
use crate::policy::Aggregate;
use crate::saved::{self, What, require};

/// What some queries add to the aggregate of one measure.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Cell {
    /// How many queries enter the aggregate.
    queries: u64,
    /// Those that make it NaN.
    undefined: u64,
    /// Those whose numerator is infinite, which the sum can't hold.
    infinite: u64,
    numerator: ExactSum,
    denominator: ExactSum,
    /// Each value, where the aggregate needs them in order.
    values: Vec<f64>,
}

/// Aggregates, counts and notes of some queries.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    averaging: Averaging,
    cells: Vec<Cell>,
    /// Of queries and documents.
    pub counts: Counts,
    /// Suspicious but legal things in the run.
    pub notes: Notes,
    /// Queries of two and more documents that all have one score.
    pub flat: u64,
    /// Whether all lists look like samples of candidates.
    pub candidates: Candidates,
}

impl Evaluation {
    /// What all queries add.
    pub fn summarize(&self, averaging: &Averaging) -> Summary {
        Summary {
            counts: self.counts.clone(),
            notes: self.notes.clone(),
            flat: self.flat,
            candidates: self.candidates,
            ..self.summarize_values(averaging, 0..self.is_present.len())
        }
    }

    /// What some queries add to the aggregates, and how many they are, without other counts and notes.
    pub fn summarize_values(
        &self,
        averaging: &Averaging,
        queries: impl Iterator<Item = usize> + Clone,
    ) -> Summary {
        let columns = averaging.measures.iter().enumerate();
        let cells = columns.map(|(column, &(_, aggregate))| {
            let mut cell = Cell::default();
            for part in &self.parts(averaging, column, queries.clone()) {
                cell.add(aggregate, part);
            }
            cell
        });
        Summary {
            averaging: averaging.clone(),
            cells: cells.collect(),
            counts: Counts { queries: queries.count() as u64, ..Counts::default() },
            notes: Notes::default(),
            flat: 0,
            candidates: Candidates::default(),
        }
    }
}

impl Cell {
    fn add(&mut self, aggregate: Aggregate, part: &Part) {
        self.queries += 1;
        let (numerator, denominator) = match aggregate {
            Aggregate::Median | Aggregate::Quantile(_) | Aggregate::TailMean(_) => {
                self.values.push(part.value);
                return;
            }
            Aggregate::RatioOfSums => part.ratio,
            Aggregate::Geometric if !part.value.is_nan() => {
                (part.value.max(GEOMETRIC_FLOOR).ln(), 1.0)
            }
            Aggregate::Harmonic => (1.0 / part.value, 1.0),
            _ => (part.value, 1.0),
        };
        if numerator.is_nan() || denominator.is_nan() {
            self.undefined += 1;
        } else if numerator.is_infinite() || denominator.is_infinite() {
            self.infinite += 1;
        } else {
            self.numerator.add(numerator);
        }
        if denominator.is_finite() {
            self.denominator.add(denominator);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.queries += other.queries;
        self.undefined += other.undefined;
        self.infinite += other.infinite;
        self.numerator.merge(&other.numerator);
        self.denominator.merge(&other.denominator);
        self.values.extend_from_slice(&other.values);
    }

    fn aggregate(&self, aggregate: Aggregate) -> f64 {
        if !self.values.is_empty() {
            let part = |&value: &f64| Part { value, weight: 1.0, ratio: (value, 1.0) };
            return aggregate.of(&self.values.iter().map(part).collect::<Vec<_>>());
        }
        if self.undefined > 0 {
            return f64::NAN;
        }
        let numerator = if self.infinite > 0 { f64::INFINITY } else { self.numerator.value() };
        aggregate.of_sums(numerator, self.denominator.value())
    }
}

impl Summary {
    /// Adds the summary of other queries.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let is_same = self.averaging.measures == other.averaging.measures
            && self.averaging.empty == other.averaging.empty
            && self.averaging.missing == other.averaging.missing;
        require(is_same)?;
        for (own, others) in self.cells.iter_mut().zip(&other.cells) {
            own.merge(others);
        }
        self.counts.add(&other.counts);
        self.notes.merge(&other.notes);
        self.flat += other.flat;
        self.candidates.merge(other.candidates);
        Ok(())
    }

    /// By measure, the aggregate, and how many queries it is over.
    pub fn means(&self) -> Vec<(f64, u64)> {
        let measures = self.cells.iter().zip(&self.averaging.measures);
        measures.map(|(cell, &(_, how))| (cell.aggregate(how), cell.queries)).collect()
    }

    /// The bytes from which [`Summary::restore`] makes it again.
    pub fn save(&self) -> Vec<u8> {
        saved::save(What::Summary, self)
    }

    /// Reads what was saved.
    pub fn restore(bytes: &[u8]) -> Result<Self> {
        let made: Self = saved::restore(What::Summary, bytes)?;
        made.averaging.validate(0)?;
        require(made.cells.len() == made.averaging.measures.len())?;
        Ok(made)
    }
}
