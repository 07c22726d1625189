//! Columns of grades: small whole grades take a byte each, other grades are stored as doubles.

use std::ops::Range;
use std::sync::OnceLock;

use crate::error::Result;
use crate::number::levels::{Grade, Level};
use crate::saved::{Reader, Writer, damaged, require};

/// A column of grades.
#[derive(Clone, Debug)]
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
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Levels(levels) => levels.len(),
            Self::Doubles(grades) => grades.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One grade, NaN where unjudged.
    #[must_use]
    pub fn get(&self, row: usize) -> f64 {
        match self {
            Self::Levels(levels) => levels[row].value(),
            Self::Doubles(grades) => grades[row],
        }
    }

    /// Grades of adjacent rows, which may need room.
    #[inline]
    #[must_use]
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
    #[must_use]
    pub fn doubles<'a>(&'a self, kept: &'a OnceLock<Vec<f64>>) -> &'a [f64] {
        match self {
            Self::Levels(levels) => {
                kept.get_or_init(|| levels.iter().map(|level| level.value()).collect())
            }
            Self::Doubles(grades) => grades,
        }
    }

    /// Saves them.
    pub fn write_to(&self, out: &mut Writer) {
        match self {
            Self::Levels(levels) => {
                out.byte(0);
                let levels: Vec<u8> = levels.iter().map(|level| level.0).collect();
                out.bytes(&levels);
            }
            Self::Doubles(grades) => {
                out.byte(1);
                out.doubles(grades);
            }
        }
    }

    /// Reads what was saved.
    ///
    /// # Errors
    /// Where it is damaged, or a grade is infinite.
    pub fn read_from(saved: &mut Reader<'_>) -> Result<Self> {
        match saved.byte()? {
            0 => Ok(Self::Levels(saved.bytes()?.iter().map(|&level| Level(level)).collect())),
            1 => {
                let grades = saved.doubles()?;
                require(grades.iter().all(|grade| !grade.is_infinite()))?;
                Ok(Self::Doubles(grades))
            }
            _ => Err(damaged()),
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
