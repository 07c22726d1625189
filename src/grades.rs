//! Columns of grades: whole ones in a byte each, which leaves more room to all else; others as they are.

use std::ops::Range;
use std::sync::OnceLock;

use crate::levels::{sort_grades, sort_levels};
use crate::memory::Vec;

/// How a grade is kept.
pub trait Grade: Copy + Default + Send + Sync {
    /// The grade, NaN where unjudged.
    fn value(self) -> f64;

    /// Puts grades in descending order, all of which are judged.
    fn sort(grades: &mut [Self]);
}

impl Grade for f64 {
    fn value(self) -> f64 {
        self
    }

    fn sort(grades: &mut [Self]) {
        sort_grades(grades);
    }
}

/// A whole grade below 255, which stands for an unjudged document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(pub u8);

const UNJUDGED: Level = Level(u8::MAX);

impl Grade for Level {
    fn value(self) -> f64 {
        if self == UNJUDGED { f64::NAN } else { f64::from(self.0) }
    }

    fn sort(levels: &mut [Self]) {
        sort_levels(levels);
    }
}

impl Level {
    /// The level of a grade that is one.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it is small and positive
    fn of(grade: f64) -> Self {
        if grade.is_nan() { UNJUDGED } else { Self(grade as u8) }
    }

    /// Reads grades; nothing if one of them is none.
    #[must_use]
    pub fn read_all(grades: &[f64], levels: &mut [Self]) -> Option<()> {
        let mut are_levels = true;
        for (level, &grade) in levels.iter_mut().zip(grades) {
            *level = Self::of(grade);
            are_levels &= grade.is_nan() || level.value() == grade;
        }
        are_levels.then_some(())
    }
}

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

    /// Gives a row the larger one of its grade and another's.
    pub fn keep_larger(&mut self, row: usize, other: usize) {
        let larger = self.get(row).max(self.get(other));
        match self {
            Self::Levels(levels) => levels[row] = Level::of(larger),
            Self::Doubles(grades) => grades[row] = larger,
        }
    }
}
