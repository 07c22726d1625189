//! Which slices stand out between two windows, compared with what reassigned users would make of it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::Result;
use crate::resample::reassign::{Effects, Reassignments, Row, TILE, Tile};
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// So many slices of a grid are added up at a time, which limits memory.
const CHUNK: usize = 1024;
/// Fewer queries and additions than this are not worth a thread.
const FEW_STEPS: usize = 5_000_000;

/// The queries of a window, sorted by unit.
#[derive(Clone, Debug)]
pub struct Window {
    /// The unit of each query, such as a user.
    pub units: Vec<u32>,
    /// The residual of each query. Any sum of them is exact.
    pub residuals: Vec<f64>,
    /// The value of each query, by attribute.
    pub codes: Vec<Vec<u32>>,
}

/// The queries of two windows.
#[derive(Clone, Debug)]
pub struct Queries {
    windows: [Window; 2],
    sizes: Vec<usize>,
}

impl Queries {
    /// The queries of two windows, whose attributes have so many values, and which have so many units;
    /// none where they don't, or aren't sorted.
    pub fn new(windows: [Window; 2], sizes: Vec<usize>, units: usize) -> Option<Self> {
        let is_below =
            |codes: &[u32], most: usize| codes.iter().all(|&code| (code as usize) < most);
        let fits = windows.iter().all(|window| {
            window.residuals.len() == window.units.len()
                && window.codes.len() == sizes.len()
                && window.codes.iter().zip(&sizes).all(|(codes, &size)| {
                    codes.len() == window.units.len() && is_below(codes, size)
                })
                && window.units.is_sorted()
                && is_below(&window.units, units)
        });
        fits.then_some(Self { windows, sizes })
    }

    /// Whether a grid has these attributes and slices.
    pub fn has(&self, grid: &Grid) -> bool {
        grid.axes.len() <= 2
            && grid.axes.iter().all(|&axis| axis < self.sizes.len())
            && grid.cells.iter().all(|&cell| cell < self.count(grid))
    }

    /// The number of slices of a grid, whether they are tested or not.
    fn count(&self, grid: &Grid) -> usize {
        grid.axes.iter().map(|&axis| self.sizes[axis]).product()
    }

    /// What a query of a window counts at most, as part of its mean.
    #[allow(clippy::cast_precision_loss)] // there are far fewer queries than 2^53
    fn scales(&self) -> [f64; 2] {
        [0, 1].map(|side| 1.0 / self.windows[side].units.len() as f64)
    }

    /// The place of the slice of each query of a window, by the place of each slice of the grid.
    fn find_places(&self, grid: &Grid, window: &Window, places: &[u32], found: &mut Vec<u32>) {
        found.clear();
        match grid.axes[..] {
            [] => found.resize(window.units.len(), places[0]),
            [axis] => found.extend(window.codes[axis].iter().map(|&code| places[code as usize])),
            [first, second, ..] => {
                let codes = window.codes[first].iter().zip(&window.codes[second]);
                let width = self.sizes[second];
                found.extend(
                    codes.map(|(&one, &other)| places[one as usize * width + other as usize]),
                );
            }
        }
    }
}

/// Slices of at most two attributes, or everything.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The numbers of the attributes.
    pub axes: Vec<usize>,
    /// The slices to test: the code of the first attribute, times the number of values of the second
    /// one, plus the code of that.
    pub cells: Vec<usize>,
    /// What is taken off their squared statistics.
    pub penalty: f64,
}

/// How slices are tested.
#[derive(Clone, Copy, Debug)]
pub struct Choices {
    /// 1 for what rose, -1 for what fell, 0 for both.
    pub direction: f64,
    /// The variance of all residuals.
    pub noise: f64,
    /// The number of units by which the variance in a slice is moved towards that in all slices.
    pub prior: f64,
    /// The number of units below which nothing is said about a slice.
    pub fewest: u32,
}

/// What stands out.
#[derive(Clone, Debug, PartialEq)]
pub struct Strongest {
    /// How much: the squared statistic minus the penalty.
    pub strength: f64,
    /// The number of the grid.
    pub grid: usize,
    /// The slice.
    pub cell: usize,
    /// The change of its mean in standard errors.
    pub statistic: f64,
}

impl Strongest {
    fn is_before(&self, other: &Self) -> bool {
        let order = other.strength.total_cmp(&self.strength);
        order.then((self.grid, self.cell).cmp(&(other.grid, other.cell))).is_lt()
    }
}

/// The sums of a slice over all units.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    counts: [u64; 2],
    sum: f64,
    units: u32,
    /// Sums of the products of the numbers of queries of each unit: before and before, before and
    /// after, after and after.
    products: [u64; 3],
}

impl Total {
    fn add(&mut self, part: &Part) {
        let [before, after] = part.counts.map(u64::from);
        self.counts = [self.counts[0] + before, self.counts[1] + after];
        self.sum += part.sums[0] + part.sums[1];
        self.units += 1;
        let products = [before * before, before * after, after * after];
        self.products.iter_mut().zip(products).for_each(|(sum, each)| *sum += each);
    }
}

/// What a unit has in a slice, by window.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    counts: [u32; 2],
    sums: [f64; 2],
}

/// The effects of units on some slices of a grid.
struct Slices<'a> {
    queries: &'a Queries,
    choices: Choices,
    totals: Vec<Total>,
    /// By unit and slice: the change of the sum, and that of the number of queries.
    changes: Vec<(f64, f64)>,
}

impl<'a> Slices<'a> {
    /// Adds up the queries in some slices.
    fn add_up(
        queries: &'a Queries,
        draws: &Reassignments,
        choices: Choices,
        grid: &Grid,
        cells: &[usize],
    ) -> Self {
        let many = cells.len();
        let mut places = vec![u32::MAX; queries.count(grid)];
        for (place, &cell) in (0..).zip(cells) {
            places[cell] = place;
        }
        let mut totals: Vec<Total> = vec![Total::default(); many];
        let mut changes = vec![(0.0, 0.0); many * draws.units()];
        let scales = queries.scales();
        let both = f64::midpoint(scales[0], scales[1]);
        let mut parts: Vec<Part> = vec![Part::default(); many];
        let mut touched: Vec<u32> = Vec::with_capacity(many);
        let mut found = [Vec::new(), Vec::new()];
        for (window, found) in queries.windows.iter().zip(&mut found) {
            queries.find_places(grid, window, &places, found);
        }
        let mut next = [0, 0];
        for (unit, &is_paired) in draws.is_paired().iter().enumerate() {
            for (side, window) in queries.windows.iter().enumerate() {
                let of_unit = &window.units[next[side]..];
                let many = of_unit.iter().take_while(|&&each| each as usize == unit).count();
                let rows = next[side]..next[side] + many;
                next[side] = rows.end;
                for (&place, residual) in
                    found[side][rows.clone()].iter().zip(&window.residuals[rows])
                {
                    if let Some(part) = parts.get_mut(place as usize) {
                        if part.counts == [0, 0] {
                            touched.push(place);
                        }
                        part.counts[side] += 1;
                        part.sums[side] += residual;
                    }
                }
            }
            for place in touched.drain(..) {
                let place = place as usize;
                let part = std::mem::take(&mut parts[place]);
                totals[place].add(&part);
                let change = |of: [f64; 2]| {
                    if is_paired {
                        of[1] * scales[1] - of[0] * scales[0]
                    } else {
                        (of[0] + of[1]) * both
                    }
                };
                changes[unit * many + place] =
                    (change(part.sums), change(part.counts.map(f64::from)));
            }
        }
        Self { queries, choices, totals, changes }
    }
}

#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
impl Effects for Slices<'_> {
    fn fill(&self, columns: &[usize], tile: &mut [Row]) {
        let mut means = [0.0; TILE];
        let mut is_tested = [false; TILE];
        for (at, &column) in columns.iter().enumerate() {
            let total = &self.totals[column];
            let count: u64 = total.counts.iter().sum();
            means[at] = total.sum / count.max(1) as f64;
            // Of few units, so few reassignments differ that nothing can be said.
            is_tested[at] = total.units >= self.choices.fewest;
        }
        let many = self.totals.len();
        for (unit, row) in tile.iter_mut().enumerate() {
            for (at, &column) in columns.iter().enumerate() {
                let (sum, count) = self.changes[unit * many + column];
                row[at] = if is_tested[at] { sum - means[at] * count } else { 0.0 };
            }
        }
    }

    /// The variance in a slice, moved towards that in all slices. Its own includes the fall itself,
    /// which hides large falls of small slices.
    fn moderate(&self, column: usize, variance: f64) -> f64 {
        let total = &self.totals[column];
        let [one, other] = self.queries.scales();
        let [before, after] = total.counts.map(|count| count as f64);
        let [first, mixed, last] = total.products.map(|product| product as f64);
        let squares = first * one * one + 2.0 * mixed * one * other + last * other * other;
        let weight = before * one + after * other;
        let units = weight * weight / squares.max(f64::MIN_POSITIVE);
        let usual = self.choices.noise * (before * one * one + after * other * other);
        (units * variance + self.choices.prior * usual) / (units + self.choices.prior)
    }
}

/// The largest strength of any slice under each reassignment, the first being what was observed, and
/// the slice that stands out most. The first of equally strong ones counts.
pub fn find_strongest(
    queries: &Queries,
    draws: &Reassignments,
    grids: &[Grid],
    choices: Choices,
    threads: usize,
    watch: Watch<'_>,
) -> Result<(Vec<f64>, Option<Strongest>)> {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    let mut additions = 0_usize;
    for (number, grid) in grids.iter().enumerate() {
        parts.extend((0..grid.cells.len()).step_by(CHUNK).map(|start| (number, start)));
        additions += queries.windows.iter().map(|window| window.units.len()).sum::<usize>();
        let columns = grid.cells.len().next_multiple_of(TILE);
        additions = additions.saturating_add(draws.rows() * draws.units() * columns / 8);
    }
    let threads = if additions < FEW_STEPS { 1 } else { threads };
    let (next, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = |watch: Watch<'_>| {
        let mut largest: Vec<f64> = vec![f64::NEG_INFINITY; draws.rows()];
        let mut best: Option<Strongest> = None;
        let mut tile = Tile::default();
        while let Some(&(number, start)) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let grid = &grids[number];
            let cells = &grid.cells[start..grid.cells.len().min(start + CHUNK)];
            let slices = Slices::add_up(queries, draws, choices, grid, cells);
            let columns: Vec<usize> = (0..cells.len()).collect();
            for chosen in columns.chunks(TILE) {
                if is_stopped.load(Ordering::Relaxed) {
                    return Ok((largest, best));
                }
                watch(Event::Work).inspect_err(|_| is_stopped.store(true, Ordering::Relaxed))?;
                let found = tile.standardize(draws, 0..draws.rows(), &slices, chosen);
                let measure = |statistic: f64| {
                    let wanted = if choices.direction == 0.0 {
                        statistic
                    } else {
                        (choices.direction * statistic).max(0.0)
                    };
                    wanted * wanted - grid.penalty
                };
                for (largest, row) in largest.iter_mut().zip(found) {
                    let strengths = row[..chosen.len()].iter().map(|&each| measure(each));
                    *largest = strengths.fold(*largest, f64::max);
                }
                for (&column, &statistic) in chosen.iter().zip(&found[0]) {
                    let strength = measure(statistic);
                    let new = Strongest { strength, grid: number, cell: cells[column], statistic };
                    if best.as_ref().is_none_or(|best| new.is_before(best)) {
                        best = Some(new);
                    }
                }
            }
        }
        Ok((largest, best))
    };
    let found: Result<Vec<_>> = on_threads(threads, watch, work).into_iter().collect();
    let mut largest = vec![f64::NEG_INFINITY; draws.rows()];
    let mut best: Option<Strongest> = None;
    for (part, of_part) in found? {
        largest.iter_mut().zip(&part).for_each(|(all, part)| *all = all.max(*part));
        if let Some(new) = of_part
            && best.as_ref().is_none_or(|best| new.is_before(best))
        {
            best = Some(new);
        }
    }
    Ok((largest, best))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::random::Random;

    fn window(seed: u64, fall: f64) -> Window {
        let mut random = Random::new(seed, 0);
        let units: Vec<u32> = (0..600).map(|row| row / 4).collect();
        let codes: Vec<Vec<u32>> = [3, 5]
            .map(|many| (0..600).map(|_| u32::try_from(random.below(many)).unwrap()).collect())
            .into();
        let residuals = (0..600)
            .map(|row| {
                let falls = codes[0][row] == 1 && codes[1][row] == 2;
                // Multiples of 2^-20, so that any sum is exact.
                let value =
                    f64::from(u32::try_from(random.below(1 << 20)).unwrap()) / f64::from(1 << 20);
                if falls { value - fall } else { value }
            })
            .collect();
        Window { units, residuals, codes }
    }

    fn find(threads: usize, fall: f64) -> (Vec<f64>, Option<Strongest>) {
        let is_there = vec![true; 150];
        let draws = Reassignments::draw(&is_there, &is_there, 1999, 1).unwrap();
        let grid = |axes: &[usize], count: u8| Grid {
            axes: axes.to_vec(),
            cells: (0..usize::from(count)).collect(),
            penalty: 2.0 * f64::from(count).ln(),
        };
        let grids = [grid(&[], 1), grid(&[0], 3), grid(&[1], 5), grid(&[0, 1], 15)];
        let choices = Choices { direction: 0.0, noise: 1.0 / 12.0, prior: 50.0, fewest: 10 };
        let queries = Queries::new([window(1, 0.0), window(2, fall)], vec![3, 5], 150).unwrap();
        assert!(grids.iter().all(|grid| queries.has(grid)));
        find_strongest(&queries, &draws, &grids, choices, threads, &mut |_| Ok(())).unwrap()
    }

    #[test]
    fn the_slice_that_fell_stands_out() {
        let (largest, best) = find(1, 0.5);
        let best = best.unwrap();
        assert_eq!((best.grid, best.cell), (3, 5 + 2));
        assert_eq!(largest[0], best.strength);
        assert!(largest[1..].iter().all(|&chance| chance < best.strength));
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let one = find(1, 0.1);
        for threads in [2, 3, 7] {
            assert_eq!(find(threads, 0.1), one);
        }
    }

    #[test]
    fn queries_that_do_not_fit_are_refused() {
        let of = |units: &[u32], codes: &[u32], values: usize| {
            let window = || Window {
                units: units.to_vec(),
                residuals: vec![0.0; 2],
                codes: vec![codes.to_vec()],
            };
            Queries::new([window(), window()], vec![values], 2)
        };
        assert!(of(&[0, 1], &[2, 0], 3).is_some());
        assert!(of(&[1, 0], &[2, 0], 3).is_none());
        assert!(of(&[0, 2], &[2, 0], 3).is_none());
        assert!(of(&[0, 1], &[2, 0], 2).is_none());
        assert!(of(&[0], &[2, 0], 3).is_none());
    }
}
