//! Random reassignments of whole units, such as users, to two sides, and the statistics under each.
//!
//! A unit adds its effect to a statistic if it is on the second side, and takes it off if it is on the
//! first. A unit with values on both sides swaps them; units with values on one side only exchange their
//! sides, so that each side keeps its number of units.
//!
//! Effects are rounded such that any sum of them is exact. Statistics therefore depend neither on the
//! order in which units are added up nor on the number of threads.

use std::ops::Range;

use crate::error::{self, Result};
use crate::number::random::Random;

/// How many columns are added up at a time: they stay close to the processor.
pub const TILE: usize = 32;
/// The effects of one unit on the columns of a tile.
pub type Row = [f64; TILE];

/// So many units have one sum for each choice of their sides, which is then added as a whole.
const GROUP: usize = 6;
/// Which random numbers of a seed are used; Python draws others for intervals.
const STREAM: u64 = 5;
/// What is divided by instead of no variance.
const LEAST_VARIANCE: f64 = 1e-300;

/// Reassignments of units.
#[derive(Clone, Debug)]
pub struct Reassignments {
    is_paired: Vec<bool>,
    singles: usize,
    /// The number of single units on the second side, minus those on the first.
    surplus: f64,
    /// The bits of the units on the second side, group after group, by reassignment.
    sides: Vec<u8>,
    rows: usize,
}

impl Reassignments {
    /// Draws reassignments. Each has random numbers of its own.
    ///
    /// # Panics
    /// Where the units of both sides aren't as many.
    #[allow(clippy::cast_precision_loss)] // there are far fewer units than 2^53
    pub fn draw(
        is_first: &[bool],
        is_second: &[bool],
        permutations: usize,
        seed: u64,
    ) -> Result<Self> {
        assert_eq!(is_first.len(), is_second.len(), "a unit has two sides");
        let units = is_first.len();
        let is_paired: Vec<bool> =
            is_first.iter().zip(is_second).map(|(&first, &second)| first && second).collect();
        let singles: Vec<usize> = (0..units).filter(|&unit| !is_paired[unit]).collect();
        let second = singles.iter().filter(|&&unit| is_second[unit]).count();
        let rows = permutations.saturating_add(1);
        let groups = units.div_ceil(GROUP);
        let mut sides: Vec<u8> = error::fill(0, rows.checked_mul(groups))?;
        let mut drawn: Vec<(u64, usize)> = Vec::with_capacity(singles.len());
        for (row, sides) in sides.chunks_exact_mut(groups.max(1)).enumerate() {
            let mut put = |unit: usize| sides[unit / GROUP] |= 1 << (unit % GROUP);
            if row == 0 {
                (0..units).filter(|&unit| is_second[unit]).for_each(&mut put);
                continue;
            }
            let place = (row as u64 - 1).wrapping_mul(units as u64);
            let mut random = Random::from_place(STREAM.wrapping_add(seed.wrapping_mul(8)), place);
            drawn.clear();
            for (unit, &is_paired) in is_paired.iter().enumerate() {
                let number = random.draw();
                if !is_paired {
                    drawn.push((number, unit));
                } else if number >> 63 == 1 {
                    put(unit);
                }
            }
            if second < drawn.len() {
                drawn.select_nth_unstable(second);
            }
            drawn[..second].iter().for_each(|&(_, unit)| put(unit));
        }
        let surplus = second as f64 - (singles.len() - second) as f64;
        Ok(Self { is_paired, singles: singles.len(), surplus, sides, rows })
    }

    /// The number of units.
    pub fn units(&self) -> usize {
        self.is_paired.len()
    }

    /// The number of reassignments; the first is what was observed.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Which units have values on both sides.
    pub fn is_paired(&self) -> &[bool] {
        &self.is_paired
    }

    /// The mean and the variance over all reassignments of the sum of each column.
    #[allow(clippy::cast_precision_loss)] // there are far fewer units than 2^53
    fn moments(&self, tile: &[Row]) -> (Row, Row) {
        let (mut variance, mut total) = ([0.0; TILE], [0.0; TILE]);
        for (row, &is_paired) in tile.iter().zip(&self.is_paired) {
            for at in 0..TILE {
                if is_paired {
                    variance[at] += row[at] * row[at];
                } else {
                    total[at] += row[at];
                }
            }
        }
        let many = self.singles as f64;
        if self.singles == 0 {
            return (total, variance);
        }
        let share = self.surplus / many;
        if self.singles > 1 {
            let mut spread = [0.0; TILE];
            for (row, _) in tile.iter().zip(&self.is_paired).filter(|(_, is_paired)| !**is_paired) {
                for at in 0..TILE {
                    let apart = row[at] - total[at] / many;
                    spread[at] += apart * apart;
                }
            }
            let scale = (1.0 - share * share) * many / (many - 1.0);
            for at in 0..TILE {
                variance[at] += scale * spread[at];
            }
        }
        (total.map(|total| share * total), variance)
    }

    /// The sum of each column under some reassignments.
    fn add_up(&self, rows: Range<usize>, tile: &[Row], sums: &mut [Row]) {
        sums.fill([0.0; TILE]);
        let groups = tile.len().div_ceil(GROUP);
        let sides = &self.sides[rows.start * groups..rows.end * groups];
        let mut choices = [[0.0; TILE]; 1 << GROUP];
        for (group, members) in tile.chunks(GROUP).enumerate() {
            choices[0] = [0.0; TILE];
            for row in members {
                for at in 0..TILE {
                    choices[0][at] -= row[at];
                }
            }
            for choice in 1..1_usize << members.len() {
                let (before, row) = (choices[choice & (choice - 1)], &members[lowest(choice)]);
                for at in 0..TILE {
                    choices[choice][at] = before[at] + 2.0 * row[at];
                }
            }
            let sides = sides.iter().skip(group).step_by(groups);
            for (sum, &side) in sums.iter_mut().zip(sides) {
                let choice = &choices[usize::from(side)];
                for at in 0..TILE {
                    sum[at] += choice[at];
                }
            }
        }
    }
}

fn lowest(bits: usize) -> usize {
    bits.trailing_zeros() as usize
}

/// What units add to statistics: one column per statistic.
pub trait Effects: Sync {
    /// Fills in the effects on some columns, at most [`TILE`], of a tile that is 0.
    fn fill(&self, columns: &[usize], tile: &mut [Row]);

    /// The variance to divide by, given the one over all reassignments. It must not depend on how
    /// units are assigned.
    fn moderate(&self, _column: usize, variance: f64) -> f64 {
        variance
    }
}

/// Memory for the statistics of a tile.
#[derive(Clone, Debug, Default)]
pub struct Tile {
    effects: Vec<Row>,
    /// One row per reassignment.
    statistics: Vec<Row>,
}

impl Tile {
    /// The statistics of some columns, at most [`TILE`], in standard errors: one row for each of some
    /// reassignments.
    pub fn standardize(
        &mut self,
        draws: &Reassignments,
        rows: Range<usize>,
        effects: &(impl Effects + ?Sized),
        columns: &[usize],
    ) -> &[Row] {
        self.effects.clear();
        self.effects.resize(draws.units(), [0.0; TILE]);
        effects.fill(columns, &mut self.effects);
        round(&mut self.effects);
        let (mean, mut variance) = draws.moments(&self.effects);
        for (variance, &column) in variance.iter_mut().zip(columns) {
            *variance = effects.moderate(column, *variance);
        }
        let errors = variance.map(|variance| variance.max(LEAST_VARIANCE).sqrt());
        self.statistics.resize(rows.len(), [0.0; TILE]);
        draws.add_up(rows, &self.effects, &mut self.statistics);
        for row in &mut self.statistics {
            for at in 0..TILE {
                row[at] = (row[at] - mean[at]) / errors[at];
            }
        }
        &self.statistics
    }
}

/// Rounds each column such that any sum of its effects is exact (Rump, Ogita and Oishi, *Accurate
/// floating-point summation part I: faithful rounding*, 2008, `ExtractVector`).
fn round(tile: &mut [Row]) {
    let mut top = [0.0_f64; TILE];
    for row in tile.iter() {
        for at in 0..TILE {
            top[at] = top[at].max(row[at].abs());
        }
    }
    let room = (2.0_f64).powi((tile.len() + 2).ilog2().cast_signed() + 1);
    let unit = top.map(|top| room * next_power(top));
    for row in tile {
        for at in 0..TILE {
            row[at] = (unit[at] + row[at]) - unit[at];
        }
    }
}

/// A power of two above a number, at most twice as large.
fn next_power(top: f64) -> f64 {
    f64::from_bits((top.to_bits() >> 52 << 52) + (1 << 52))
}

/// Effects on columns of which each lists the units that it depends on, such as those of a slice.
#[derive(Clone, Debug)]
pub struct Sparse {
    starts: Vec<usize>,
    units: Vec<usize>,
    effects: Vec<f64>,
}

impl Sparse {
    /// Effects whose entries from `starts[column]` up to the next start are those of a column; none
    /// where they don't fit, or a unit isn't below `units`.
    pub fn new(
        starts: Vec<usize>,
        places: Vec<usize>,
        effects: Vec<f64>,
        units: usize,
    ) -> Option<Self> {
        let fits = starts.first() == Some(&0)
            && starts.last() == Some(&places.len())
            && starts.windows(2).all(|pair| pair[0] <= pair[1])
            && places.len() == effects.len()
            && places.iter().all(|&place| place < units);
        fits.then_some(Self { starts, units: places, effects })
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.starts.len() - 1
    }
}

impl Effects for Sparse {
    fn fill(&self, columns: &[usize], tile: &mut [Row]) {
        for (at, &column) in columns.iter().enumerate() {
            let entries = self.starts[column]..self.starts[column + 1];
            for (&unit, &effect) in self.units[entries.clone()].iter().zip(&self.effects[entries]) {
                tile[unit][at] += effect;
            }
        }
    }
}

/// The statistics of all columns: one row per reassignment.
pub fn standardize(draws: &Reassignments, effects: &Sparse) -> Result<Vec<f64>> {
    let columns: Vec<usize> = (0..effects.columns()).collect();
    let mut made = error::fill(0.0, draws.rows().checked_mul(columns.len()))?;
    let mut tile = Tile::default();
    for chosen in columns.chunks(TILE) {
        let found = tile.standardize(draws, 0..draws.rows(), effects, chosen);
        for (made, row) in made.chunks_exact_mut(columns.len()).zip(found) {
            made[chosen[0]..chosen[0] + chosen.len()].copy_from_slice(&row[..chosen.len()]);
        }
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sides(draws: &Reassignments, row: usize) -> Vec<bool> {
        let groups = draws.units().div_ceil(GROUP);
        let is_second =
            |unit: usize| draws.sides[row * groups + unit / GROUP] >> (unit % GROUP) & 1 == 1;
        (0..draws.units()).map(is_second).collect()
    }

    proptest! {
        #[test]
        fn each_side_keeps_its_number_of_single_units(
            units in prop::collection::vec((any::<bool>(), any::<bool>()), 1..40), seed: u64,
        ) {
            let first: Vec<bool> = units.iter().map(|&(first, second)| first || !second).collect();
            let second: Vec<bool> = units.iter().map(|unit| unit.1).collect();
            let draws = Reassignments::draw(&first, &second, 20, seed).unwrap();
            let count = |row| {
                let sides = sides(&draws, row);
                (0..units.len()).filter(|&unit| !draws.is_paired[unit] && sides[unit]).count()
            };
            prop_assert_eq!(sides(&draws, 0), second);
            prop_assert!((1..21).all(|row| count(row) == count(0)));
        }

        #[test]
        fn statistics_are_signed_sums_in_standard_errors(
            values in prop::collection::vec(prop::collection::vec(-4i8..5, 40), 2..20), seed: u64,
        ) {
            let units = values.len();
            let is_there = vec![true; units];
            let draws = Reassignments::draw(&is_there, &is_there, 9, seed).unwrap();
            let columns = 0..40;
            let effects = Sparse::new(
                columns.clone().map(|column| column * units).chain([40 * units]).collect(),
                columns.clone().flat_map(|_| 0..units).collect(),
                columns.flat_map(|at| values.iter().map(move |row| f64::from(row[at]))).collect(),
                units,
            ).unwrap();
            let found = standardize(&draws, &effects).unwrap();
            for row in 0..10 {
                let sides = sides(&draws, row);
                for column in 0..40 {
                    let each = || values.iter().map(|row| f64::from(row[column])).zip(&sides);
                    let sum: f64 = each().map(|(e, &is)| if is { e } else { -e }).sum();
                    let square: f64 = each().map(|(effect, _)| effect * effect).sum();
                    let expected = sum / square.max(LEAST_VARIANCE).sqrt();
                    prop_assert_eq!(found[row * 40 + column], expected);
                }
            }
        }
    }
}
