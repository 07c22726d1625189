//! Columns of grades: small whole grades take a byte each, other grades are stored as doubles.

use std::ops::Range;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::number::levels::{Grade, Level};
use crate::saved::require;

/// A column of grades.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Grades {
    /// Whole ones.
    Levels(Vec<Level>),
    /// Others.
    Doubles(Vec<f64>),
}

impl Default for Grades {
    fn default() -> Self {
        Self::Doubles(Vec::new())
    }
}

impl Grades {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Levels(levels) => levels.len(),
            Self::Doubles(grades) => grades.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One grade, NaN where unjudged.
    pub fn get(&self, row: usize) -> f64 {
        match self {
            Self::Levels(levels) => levels[row].value(),
            Self::Doubles(grades) => grades[row],
        }
    }

    /// Grades of adjacent rows, which may need room.
    #[inline]
    pub fn slice<'a>(&'a self, rows: Range<usize>, room: &'a mut Vec<f64>) -> &'a [f64] {
        match self {
            Self::Levels(levels) => {
                room.clear();
                room.extend(levels[rows].iter().map(|level| level.value()));
                room
            }
            Self::Doubles(grades) => &grades[rows],
        }
    }

    /// All grades, which may have to be kept once more.
    pub fn doubles<'a>(&'a self, kept: &'a OnceLock<Vec<f64>>) -> &'a [f64] {
        match self {
            Self::Levels(levels) => {
                kept.get_or_init(|| levels.iter().map(|level| level.value()).collect())
            }
            Self::Doubles(grades) => grades,
        }
    }

    /// Refuses infinite grades, which are never saved.
    pub(crate) fn validate(&self) -> Result<()> {
        match self {
            Self::Levels(_) => Ok(()),
            Self::Doubles(grades) => require(grades.iter().all(|grade| !grade.is_infinite())),
        }
    }

    /// Gives a row the larger one of its grade and another's.
    pub fn keep_larger(&mut self, row: usize, other: usize) {
        let larger = self.get(row).max(self.get(other));
        match self {
            Self::Levels(levels) => levels[row] = Level::of(larger),
            Self::Doubles(grades) => grades[row] = larger,
        }
    }
}
