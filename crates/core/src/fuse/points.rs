//! The points that a list gives to its documents, and to those that it does not have.

use super::choices::{Method, Scale};
use super::query::Entry;
use crate::error::{Error, Kind, Result};

/// Writes the points of a list's documents, in rank order, into `points`; returns those of documents
/// that the list does not have, if they get any.
#[allow(clippy::cast_precision_loss)] // lists are shorter than 2^53
pub(super) fn of_list(
    list: &[Entry],
    all: usize,
    method: Method,
    scale: Scale,
    points: &mut Vec<f64>,
) -> Result<Option<f64>> {
    points.clear();
    let (length, all) = (list.len() as f64, all as f64);
    let mut by_rank = |of: &dyn Fn(f64) -> f64| {
        points.extend((1..=list.len()).map(|rank| of(rank as f64)));
    };
    let mut absent = None;
    match method {
        Method::ReciprocalRank(k) => by_rank(&|rank| 1.0 / (k + rank)),
        Method::InverseSquare | Method::LogInverseSquare(_) => by_rank(&|rank| 1.0 / (rank * rank)),
        Method::RankBiased(p) => by_rank(&|rank| (1.0 - p) * p.powf(rank - 1.0)),
        Method::Borda => {
            by_rank(&|rank| all - (rank - 1.0));
            absent = Some((all - length).midpoint(1.0));
        }
        _ => match scale {
            Scale::Rank => by_rank(&|rank| 1.0 - (rank - 1.0) / length),
            Scale::Borda => {
                by_rank(&|rank| 1.0 - (rank - 1.0) / all);
                absent = Some(0.5 - (length - 1.0) / (2.0 * all));
            }
            _ => scale_scores(list, scale, points)?,
        },
    }
    Ok(absent)
}

/// Brings the scores of a list, the largest first, to a scale.
#[allow(clippy::cast_precision_loss)] // as above
fn scale_scores(list: &[Entry], scale: Scale, points: &mut Vec<f64>) -> Result<()> {
    let (Some(first), Some(last)) = (list.first(), list.last()) else { return Ok(()) };
    let (largest, smallest, length) = (first.1, last.1, list.len() as f64);
    let scores = list.iter().map(|entry| entry.1);
    let is_flat = largest == smallest;
    match scale {
        Scale::MinMax if is_flat => points.extend(scores.map(|_| 1.0)),
        Scale::MinMax => {
            points.extend(scores.map(|score| (score - smallest) / (largest - smallest)));
        }
        Scale::Max if largest <= 0.0 => return Err(not_positive(largest)),
        Scale::Max => points.extend(scores.map(|score| score / largest)),
        Scale::Sum if is_flat => points.extend(scores.map(|_| 1.0 / length)),
        Scale::Sum => {
            let sum: f64 = scores.clone().map(|score| score - smallest).sum();
            points.extend(scores.map(|score| (score - smallest) / sum));
        }
        Scale::Zmuv if is_flat => points.extend(scores.map(|_| 0.0)),
        Scale::Zmuv => {
            let mean = scores.clone().sum::<f64>() / length;
            let squares: f64 = scores.clone().map(|score| (score - mean) * (score - mean)).sum();
            let deviation = (squares / length).sqrt();
            points.extend(scores.map(|score| (score - mean) / deviation));
        }
        Scale::Scores | Scale::Rank | Scale::Borda => points.extend(scores),
    }
    Ok(())
}

fn not_positive(largest: f64) -> Error {
    Error::new(
        Kind::Format,
        "bad_scale",
        format!("expected a positive score to divide by, found {largest} as the largest"),
    )
    .hint("normalize with min_max, or use a method that goes by ranks, such as rrf")
}
