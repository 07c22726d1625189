//! Grades. Small whole grades fit in a byte, and are sorted by counting.

#![allow(clippy::inline_always)] // what is inlined is compiled once for each kind of vectors

use serde::{Deserialize, Serialize};

/// Whole grades below this are counted.
const LEVELS: usize = 16;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Level(pub u8);

/// Stands for no judgment.
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
    pub fn of(grade: f64) -> Self {
        if grade.is_nan() { UNJUDGED } else { Self(grade as u8) }
    }

    /// Whether it stands for no judgment.
    pub fn is_unjudged(self) -> bool {
        self == UNJUDGED
    }

    /// Reads grades; nothing if one of them is none.
    pub fn read_all(grades: &[f64], levels: &mut [Self]) -> Option<()> {
        let mut are_levels = true;
        for (level, &grade) in levels.iter_mut().zip(grades) {
            *level = Self::of(grade);
            are_levels &= grade.is_nan() || level.value() == grade;
        }
        are_levels.then_some(())
    }
}

/// How often each whole grade occurs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Levels([u32; LEVELS]);

impl Levels {
    /// Counts grades, 0.0 and -0.0 as one; nothing if one of them is negative, large or not whole.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // levels are small
    pub fn count(grades: &[f64]) -> Option<Self> {
        // Doubles from 2^52 on are whole, and differ by their last bits.
        const WHOLE: f64 = 4_503_599_627_370_496.0;
        #[allow(clippy::cast_precision_loss)] // as above
        const MOST: f64 = LEVELS as f64;
        let is_level = |&grade: &f64| {
            let is_whole = grade + WHOLE - WHOLE == grade;
            is_whole && (0.0..MOST).contains(&grade)
        };
        // All are looked at, for which there are instructions that look at several.
        if !grades.iter().fold(true, |all, grade| all & is_level(grade)) {
            return None;
        }
        Some(Self::tally(grades.iter().map(|grade| (grade + WHOLE).to_bits() as usize % LEVELS)))
    }

    /// Counts levels; nothing if one of them is large.
    fn count_levels(levels: &[Level]) -> Option<Self> {
        let most = levels.iter().fold(0, |most, level| level.0.max(most));
        if most as usize >= LEVELS {
            return None;
        }
        Some(Self::tally(levels.iter().map(|level| level.0 as usize)))
    }

    /// How often each of some levels occurs.
    #[inline(always)]
    fn tally(levels: impl Iterator<Item = usize>) -> Self {
        // One after another goes to another table, for an addition waits for one to the same number.
        let mut counts = [[0; LEVELS]; 2];
        for (at, level) in levels.enumerate() {
            counts[at % 2][level % LEVELS] += 1;
        }
        let [even, odd] = counts;
        Self(std::array::from_fn(|level| even[level] + odd[level]))
    }

    /// Writes the grades in descending order, as many as there is room for.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // levels are small
    pub fn write<T: Copy>(&self, mut room: &mut [T], grade: impl Fn(u8) -> T) {
        for level in (0..LEVELS).rev() {
            let count = room.len().min(self.0[level] as usize);
            // Eight are written at once, and those after the last one again later.
            let (several, rest) = room.as_chunks_mut::<8>();
            let steps = count.div_ceil(8);
            if steps > several.len() {
                rest.fill(grade(level as u8));
            }
            for places in several.iter_mut().take(steps) {
                *places = [grade(level as u8); 8];
            }
            room = &mut room[count..];
        }
    }
}

/// Puts grades in descending order.
pub fn sort_grades(grades: &mut [f64]) {
    match Levels::count(grades) {
        Some(levels) => levels.write(grades, f64::from),
        None => grades.sort_unstable_by(|a, b| b.total_cmp(a)),
    }
}

/// Puts levels in descending order.
pub fn sort_levels(levels: &mut [Level]) {
    match Levels::count_levels(levels) {
        Some(counted) => counted.write(levels, Level),
        None => levels.sort_unstable_by(|a, b| b.cmp(a)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counting_is_sorting(
            whole in prop::collection::vec((0i8..20).prop_map(f64::from), 0..40),
            others in prop::collection::vec(
                prop_oneof![Just(-0.0), Just(0.5), Just(-1.0), Just(4_503_599_627_370_497.0), any::<f64>()],
                0..2,
            ),
        ) {
            let mut grades = [whole, others].concat();
            let mut expected = grades.clone();
            expected.sort_by(|a, b| b.total_cmp(a));
            sort_grades(&mut grades);
            let are_same = grades.iter().zip(&expected).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
            prop_assert!(are_same);
        }
    }

    #[test]
    fn grades_below_16_are_counted() {
        for grade in [15_u8, 16, 17] {
            assert_eq!(Levels::count(&[grade.into()]).is_some(), grade < 16);
            assert_eq!(Levels::count_levels(&[Level(grade)]).is_some(), grade < 16);
        }
        let levels = [254.0, 255.0, 256.0].map(|grade| Level::read_all(&[grade], &mut [Level(0)]));
        assert_eq!(levels, [Some(()), None, None]);
    }
}
