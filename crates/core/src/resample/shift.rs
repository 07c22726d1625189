//! The bootstrap test of a mean of 0: differences are shifted to a mean of 0, and drawn again.
//!
//! The statistic is studentized (Efron and Tibshirani, *An introduction to the bootstrap*, 1993, section
//! 16.4; for systems, Sakai, *Evaluating evaluation metrics based on the bootstrap*, 2006).

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Result;
use crate::number::random::Random;
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// Fewer additions than this are not worth a thread.
const FEW_ADDITIONS: usize = 4_000_000;

/// Units of queries, with what each adds to the sums of some pairs of systems.
#[derive(Clone, Debug)]
pub struct Shifted {
    sizes: Vec<f64>,
    /// One row per unit and one column per pair: the difference less the mean times the size.
    residuals: Vec<f64>,
    /// The square of the statistic that was observed for each pair.
    squares: Vec<f64>,
}

impl Shifted {
    /// Shifted differences; none where the numbers don't fit.
    pub fn new(sizes: Vec<f64>, residuals: Vec<f64>, squares: Vec<f64>) -> Option<Self> {
        let fits = residuals.len() == sizes.len().checked_mul(squares.len())?;
        fits.then_some(Self { sizes, residuals, squares })
    }
}

/// Sums over the units that were drawn for one pair.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    residual: f64,
    square: f64,
    /// Of residuals times sizes.
    product: f64,
}

/// How many resamples have a statistic as large as the one observed, for each pair.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
pub fn count_shifted(
    shifted: &Shifted,
    resamples: usize,
    seed: u64,
    threads: usize,
    watch: Watch<'_>,
) -> Result<Vec<u64>> {
    let (units, pairs) = (shifted.sizes.len(), shifted.squares.len());
    let next = AtomicUsize::new(0);
    let work = |watch: Watch<'_>| {
        let mut counts = vec![0; pairs];
        let mut times = vec![0_u32; units];
        let mut sums = vec![Sums::default(); pairs];
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= resamples {
                return Ok(counts);
            }
            if let Err(stopped) = watch(Event::Work) {
                next.store(resamples, Ordering::Relaxed);
                return Err(stopped);
            }
            let mut random = Random::new(seed, number as u64);
            times.fill(0);
            (0..units).for_each(|_| times[random.below(units)] += 1);
            sums.fill(Sums::default());
            let (mut total, mut square) = (0.0, 0.0);
            let rows = shifted.residuals.chunks_exact(pairs.max(1));
            for ((row, &size), &times) in rows.zip(&shifted.sizes).zip(&times) {
                if times == 0 {
                    continue;
                }
                let times = f64::from(times);
                total += times * size;
                square += times * size * size;
                for (sums, &residual) in sums.iter_mut().zip(row) {
                    let weighted = times * residual;
                    sums.residual += weighted;
                    sums.square += weighted * residual;
                    sums.product += weighted * size;
                }
            }
            let scale = units as f64 / (units as f64 - 1.0);
            for ((count, sums), squared) in counts.iter_mut().zip(&sums).zip(&shifted.squares) {
                let mean = sums.residual / total;
                let spread = sums.square - 2.0 * mean * sums.product + mean * mean * square;
                // A resample without spread is as large, whatever its mean.
                let is_large = sums.residual * sums.residual >= squared * scale * spread;
                *count += u64::from(is_large);
            }
        }
    };
    let additions = resamples.saturating_mul(units).saturating_mul(pairs + 1);
    let threads = if additions < FEW_ADDITIONS { 1 } else { threads };
    let mut counts = vec![0; pairs];
    for counted in on_threads(threads, watch, work) {
        counts.iter_mut().zip(&counted?).for_each(|(count, found)| *count += found);
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_do_not_depend_on_threads_and_fall_with_the_statistic() {
        let residuals: Vec<f64> =
            (0..400).flat_map(|at| [f64::from(at * 37 % 101) - 50.0; 3]).collect();
        let shifted = Shifted::new(vec![1.0; 400], residuals, vec![0.0, 1.0, 4.0]).unwrap();
        let count = |threads| count_shifted(&shifted, 4000, 1, threads, &mut |_| Ok(())).unwrap();
        let found = count(1);
        assert_eq!(found, count(3));
        assert_eq!(found[0], 4000);
        // Beyond one and two standard errors, nearly as for a normal number.
        assert!((1100..1500).contains(&found[1]), "{found:?}");
        assert!((120..260).contains(&found[2]), "{found:?}");
    }
}
