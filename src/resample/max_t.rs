//! P-values of many hypotheses at once, from the largest statistic under each reassignment.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::reassign::{Reassignments, Sparse, TILE, Tile};
use crate::error::Result;
use crate::memory::{Vec, vec};
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// Fewer additions than this are not worth a thread.
const FEW_ADDITIONS: usize = 10_000_000;

/// The statistic of each hypothesis, and how many reassignments have one as large (Westfall and Young,
/// *Resampling-Based Multiple Testing*, 1993: step-down). Each is compared with the largest statistic of
/// those that are not larger than it.
///
/// # Errors
/// Where it is stopped.
pub fn max_t(
    draws: &Reassignments,
    effects: &Sparse,
    threads: usize,
    watch: Watch<'_>,
) -> Result<(Vec<f64>, Vec<u64>)> {
    let count = effects.columns();
    let mut columns: Vec<usize> = (0..count).collect();
    let mut observed = vec![0.0; count];
    let mut tile = Tile::default();
    for chosen in columns.chunks(TILE) {
        watch(Event::Work)?;
        let row = tile.standardize(draws, 0..1, effects, chosen)[0];
        chosen.iter().zip(row).for_each(|(&column, statistic)| observed[column] = statistic);
    }
    columns.sort_unstable_by(|&one, &other| {
        observed[one].abs().total_cmp(&observed[other].abs()).then(other.cmp(&one))
    });
    let work = draws.rows().saturating_mul(draws.units()).saturating_mul(count);
    let threads = if work < FEW_ADDITIONS { 1 } else { threads };
    let is_stopped = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    let parts = threads.clamp(1, draws.rows());
    let counted: Result<Vec<Vec<u64>>> = on_threads(parts, watch, |watch| {
        let mut larger = vec![0; count];
        loop {
            // Each takes the next part, as there may be fewer threads than parts.
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                return Ok(larger);
            }
            let rows =
                1 + (draws.rows() - 1) * part / parts..1 + (draws.rows() - 1) * (part + 1) / parts;
            let counted =
                count_larger(draws, effects, &observed, &columns, rows, &is_stopped, watch);
            if counted.is_err() {
                is_stopped.store(true, Ordering::Relaxed);
            }
            larger.iter_mut().zip(&counted?).for_each(|(all, part)| *all += part);
        }
    })
    .into_iter()
    .collect();
    let mut larger: Vec<u64> = vec![0; count];
    for part in &counted? {
        larger.iter_mut().zip(part).for_each(|(all, part)| *all += part);
    }
    // A hypothesis is not rejected before those that are larger.
    let mut most = 0;
    for &column in columns.iter().rev() {
        most = most.max(larger[column]);
        larger[column] = most;
    }
    Ok((observed, larger))
}

/// How many of some reassignments have a statistic as large as each hypothesis.
fn count_larger(
    draws: &Reassignments,
    effects: &Sparse,
    observed: &[f64],
    ascending: &[usize],
    rows: Range<usize>,
    is_stopped: &AtomicBool,
    watch: Watch<'_>,
) -> Result<Vec<u64>> {
    let mut larger = vec![0; observed.len()];
    let mut largest = vec![0.0_f64; rows.len()];
    let mut tile = Tile::default();
    for chosen in ascending.chunks(TILE) {
        watch(Event::Work)?;
        if is_stopped.load(Ordering::Relaxed) {
            break;
        }
        let found = tile.standardize(draws, rows.clone(), effects, chosen);
        for (largest, row) in largest.iter_mut().zip(found) {
            for (&column, statistic) in chosen.iter().zip(row) {
                *largest = largest.max(statistic.abs());
                larger[column] += u64::from(*largest >= observed[column].abs());
            }
        }
    }
    Ok(larger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::fill;
    use crate::number::random::Random;

    fn normal(columns: usize, units: usize) -> Sparse {
        let mut random = Random::new(1, 2);
        let mut uniform = || f64::from(u32::try_from(random.below(1 << 20)).unwrap());
        let mut number = || (0..12).map(|_| uniform() / f64::from(1 << 20) - 0.5).sum();
        Sparse::new(
            (0..=columns).map(|column| column * units).collect(),
            (0..columns).flat_map(|_| 0..units).collect(),
            (0..columns * units).map(|_| number()).collect(),
            units,
        )
        .unwrap()
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let is_there = fill(true, 300);
        let draws = Reassignments::draw(&is_there, &is_there, 499, 3);
        let effects = normal(70, 300);
        let found = |threads| max_t(&draws, &effects, threads, &mut |_| Ok(())).unwrap();
        let one = found(1);
        assert!(one.1.iter().any(|&larger| larger > 0 && larger < 499));
        for threads in [2, 3, 7] {
            assert_eq!(found(threads), one);
        }
    }

    #[test]
    fn it_stops_when_it_is_asked_to() {
        use crate::error::{Error, Kind};
        let is_there = fill(true, 300);
        let draws = Reassignments::draw(&is_there, &is_there, 499, 3);
        let mut stop = |_| Err(Error::new(Kind::Interrupted, "interrupted", "stopped"));
        assert_eq!(
            max_t(&draws, &normal(70, 300), 2, &mut stop).unwrap_err().code(),
            "interrupted"
        );
    }
}
