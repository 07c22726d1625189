//! The bias-corrected and accelerated bootstrap (Efron, *Better bootstrap confidence intervals*, 1987),
//! expanded for small samples: quantiles are those of Student's t, and the variance is divided by n - 1
//! (Hesterberg, *What teachers should know about the bootstrap*, The American Statistician 69, 2015).

use std::sync::atomic::{AtomicUsize, Ordering};

use statrs::distribution::{ContinuousCDF, Normal};

use crate::error::Result;
use crate::number::aggregate::Part;
use crate::number::distributions::t_quantile;
use crate::number::random::Random;
use crate::policy::Aggregate;
use crate::resample::units::Units;
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// How often units are drawn again, and the seed of the draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// The number of resamples.
    pub resamples: usize,
    /// The random seed.
    pub seed: u64,
}

/// The ends of the interval of an aggregate over two or more units.
pub fn interval(
    aggregate: Aggregate,
    units: &Units<'_>,
    value: f64,
    level: f64,
    draws: Draws,
    threads: usize,
    watch: Watch<'_>,
) -> Result<(f64, f64)> {
    let work = units.count().saturating_mul(draws.resamples);
    let threads = if work < MANY_DRAWS { 1 } else { threads };
    let drawn = match units.terms(aggregate) {
        Some(terms) if terms.has_one_denominator() => {
            let each = terms.denominators.first().copied().unwrap_or_default();
            #[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
            let denominator = each * terms.denominators.len() as f64;
            let rows = terms.numerators.iter().map(|&numerator| [numerator]);
            let blocks = Blocks::of(rows, terms.numerators.len());
            let draw = |random: &mut Random| {
                let [numerator] = blocks.draw(random);
                aggregate.of_sums(numerator, denominator)
            };
            repeat(draws, threads, watch, || (), |(), random| draw(random))?
        }
        Some(terms) => {
            let pairs = terms.numerators.iter().zip(&terms.denominators);
            let rows = pairs.map(|(&numerator, &denominator)| [numerator, denominator]);
            let blocks = Blocks::of(rows, terms.numerators.len());
            let draw = |random: &mut Random| {
                let [numerator, denominator] = blocks.draw(random);
                aggregate.of_sums(numerator, denominator)
            };
            repeat(draws, threads, watch, || (), |(), random| draw(random))?
        }
        None => repeat(draws, threads, watch, Vec::new, |drawn: &mut Vec<Part>, random| {
            drawn.clear();
            for _ in 0..units.count() {
                units.append(random.below(units.count()), drawn);
            }
            aggregate.nearly(drawn)
        })?,
    };
    let deviation = expand(level, units.count());
    Ok(accelerated(drawn, value, &units.influences(aggregate, value), deviation))
}

/// Fewer draws than this are not worth a thread.
const MANY_DRAWS: usize = 1_000_000;

/// Draws resamples on several threads, in any order. Each has random numbers of its own, so that it
/// doesn't matter which thread draws it.
fn repeat<M>(
    draws: Draws,
    threads: usize,
    watch: Watch<'_>,
    make_room: impl Fn() -> M + Sync,
    draw: impl Fn(&mut M, &mut Random) -> f64 + Sync,
) -> Result<Vec<f64>> {
    let next = AtomicUsize::new(0);
    let work = |watch: Watch<'_>| {
        let (mut drawn, mut room) = (Vec::new(), make_room());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= draws.resamples {
                return Ok(drawn);
            }
            if let Err(stopped) = watch(Event::Work) {
                next.store(draws.resamples, Ordering::Relaxed);
                return Err(stopped);
            }
            let mut random = Random::new(draws.seed, number as u64);
            drawn.push(draw(&mut room, &mut random));
        }
    };
    let drawn: Result<Vec<Vec<f64>>> = on_threads(threads, watch, work).into_iter().collect();
    Ok(drawn?.concat())
}

/// So many rows are drawn from at a time: they fit the fastest memory.
const BLOCK: usize = 1 << BITS;
/// So many bits of a random number name a row of a block.
const BITS: usize = 11;
/// So many rows are drawn with one random number.
const SLOTS: usize = 64 / BITS;

/// Rows that are added up in resamples. How many draws fall in each block is drawn first, which gives
/// the same distribution as drawing each row from all of them.
struct Blocks<const C: usize> {
    /// The rows of whole blocks; those of the last one that are no rows are 0.
    rows: Vec<[f64; C]>,
    count: usize,
}

impl<const C: usize> Blocks<C> {
    fn of(rows: impl Iterator<Item = [f64; C]>, count: usize) -> Self {
        let mut padded = vec![[0.0; C]; count.next_multiple_of(BLOCK)];
        padded.iter_mut().zip(rows).for_each(|(to, from)| *to = from);
        Self { rows: padded, count }
    }

    /// The sums of as many rows as there are, drawn with replacement.
    fn draw(&self, random: &mut Random) -> [f64; C] {
        self.draw_from(0, self.rows.len() / BLOCK, self.count, random)
    }

    /// The sums of so many draws from the blocks from `start` on, before `end`.
    fn draw_from(&self, start: usize, end: usize, draws: usize, random: &mut Random) -> [f64; C] {
        let size = |end: usize| (end * BLOCK).min(self.count) - start * BLOCK;
        if end - start <= 1 {
            let rows = self.rows.get(start * BLOCK..).and_then(|rows| rows.first_chunk());
            return rows.map_or([0.0; C], |rows| draw_rows(rows, size(end), draws, random));
        }
        let middle = start + (end - start).next_power_of_two() / 2;
        let before = split(draws, size(middle), size(end), random);
        let mut sums = self.draw_from(start, middle, before, random);
        add(&mut sums, &self.draw_from(middle, end, draws - before, random));
        sums
    }
}

/// The sums of draws from the first `size` rows of a block, all of which are equally likely: others
/// are rejected.
fn draw_rows<const C: usize>(
    rows: &[[f64; C]; BLOCK],
    size: usize,
    draws: usize,
    random: &mut Random,
) -> [f64; C] {
    let mask = size.next_power_of_two() - 1;
    let mut sums = [[0.0; C]; SLOTS];
    let mut left = draws;
    if size == BLOCK {
        for _ in 0..left / SLOTS {
            let number = random.draw();
            for (slot, sum) in sums.iter_mut().enumerate() {
                add(sum, &rows[place(number, slot)]);
            }
        }
        left %= SLOTS;
    }
    while left >= SLOTS {
        let number = random.draw();
        for (slot, sum) in sums.iter_mut().enumerate() {
            let at = place(number, slot) & mask;
            // Rows that are rejected are 0.
            add(sum, &rows[at]);
            left -= usize::from(at < size);
        }
    }
    while left > 0 {
        let at = place(random.draw(), 0) & mask;
        add(&mut sums[0], &rows[at]);
        left -= usize::from(at < size);
    }
    let mut all = [0.0; C];
    for sum in &sums {
        add(&mut all, sum);
    }
    all
}

#[inline]
#[allow(clippy::cast_possible_truncation)] // a few bits
fn place(number: u64, slot: usize) -> usize {
    (number >> (slot * BITS)) as usize & (BLOCK - 1)
}

#[inline]
fn add<const C: usize>(sums: &mut [f64; C], row: &[f64; C]) {
    for at in 0..C {
        sums[at] += row[at];
    }
}

/// How many of some draws fall in `part` of `whole` equally likely places: exactly binomial, for
/// random fractions are compared with part / whole bit by bit.
fn split(draws: usize, part: usize, whole: usize, random: &mut Random) -> usize {
    let (mut undecided, mut below, mut rest) = (draws, 0, part);
    while undecided > 0 && rest > 0 {
        let ones = count_ones(undecided, random);
        rest *= 2;
        if rest >= whole {
            rest -= whole;
            below += undecided - ones;
            undecided = ones;
        } else {
            undecided -= ones;
        }
    }
    below
}

/// How many of some random bits are 1.
fn count_ones(bits: usize, random: &mut Random) -> usize {
    let whole: u32 = (0..bits / 64).map(|_| random.draw().count_ones()).sum();
    let rest = (random.draw() & ((1 << (bits % 64)) - 1)).count_ones();
    (whole + rest) as usize
}

/// How many standard errors of the resamples half of the interval is wide. Resamples vary less than
/// samples do, by the factor (n - 1) / n in the variance.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn expand(level: f64, units: usize) -> f64 {
    let (count, degrees) = (units as f64, (units - 1) as f64);
    t_quantile(level, degrees) * (count / degrees).sqrt()
}

/// The ends by the quantiles of `draws` that bias and skewness ask for.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn accelerated(mut draws: Vec<f64>, value: f64, influences: &[f64], deviation: f64) -> (f64, f64) {
    draws.sort_unstable_by(f64::total_cmp);
    let normal = Normal::standard();
    let below = draws.partition_point(|&draw| draw < value);
    let up_to = draws.partition_point(|&draw| draw <= value);
    if below == draws.len() || up_to == 0 || draws.first() == draws.last() {
        // All draws lie on one side, as where every query has one value.
        return (draws[0], draws[draws.len() - 1]);
    }
    let bias = normal.inverse_cdf(f64::midpoint(below as f64, up_to as f64) / draws.len() as f64);
    let cubes: f64 = influences.iter().map(|influence| influence.powi(3)).sum();
    let squares: f64 = influences.iter().map(|influence| influence.powi(2)).sum();
    let acceleration = if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 };
    let end = |deviation: f64| {
        let z = bias + deviation;
        quantile(&draws, normal.cdf(bias + z / (1.0 - acceleration * z)))
    };
    (end(-deviation), end(deviation))
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // places in a list
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * (place - place.floor())
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small counts
mod tests {
    use super::*;

    #[test]
    fn as_many_rows_are_drawn_as_there_are_and_each_equally_often() {
        // Powers of two and not, one block and several, whole ones and not.
        for count in [1, 3, 64, 250, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 700] {
            let is_in = |row: usize, group| f64::from(u8::from(row % 4 == group));
            let rows = (0..count).map(|row| [1.0, is_in(row, 0), is_in(row, 1), is_in(row, 2)]);
            let blocks = Blocks::of(rows, count);
            let mut sums = [0.0; 4];
            for number in 0..400 {
                let drawn = blocks.draw(&mut Random::new(5, number));
                assert_eq!(drawn[0] as usize, count);
                add(&mut sums, &drawn);
            }
            let all = 400.0 * count as f64;
            for group in 0..3 {
                let share = (count + 3 - group) as f64 / 4.0;
                let chance = share.floor() / count as f64;
                let error = (all * chance * (1.0 - chance)).sqrt();
                assert!((sums[group + 1] - all * chance).abs() <= 4.0 * error, "{count}: {sums:?}");
            }
        }
    }

    #[test]
    fn draws_fall_in_a_part_with_binomial_probabilities() {
        let (draws, part, whole, times) = (6, 5, 13, 20_000);
        let mut random = Random::new(2, 0);
        let mut counts = [0.0_f64; 7];
        for _ in 0..times {
            counts[split(draws, part, whole, &mut random)] += 1.0;
        }
        let share: f64 = 5.0 / 13.0;
        let ways = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0];
        let statistic: f64 = (0..7)
            .map(|count| {
                let power = i32::try_from(count).unwrap();
                let chance = ways[count] * share.powi(power) * (1.0 - share).powi(6 - power);
                let expected = chance * f64::from(times);
                (counts[count] - expected).powi(2) / expected
            })
            .sum();
        // 6 degrees of freedom have 99.9 % below 22.46.
        assert!(statistic < 22.46, "{statistic}: {counts:?}");
    }
}
