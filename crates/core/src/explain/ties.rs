//! How much the order of tied documents can change the value of each query.

use crate::error::Result;
use crate::evaluate::plan::Plan;
use crate::evaluate::trial::{Listed, Trial};
use crate::kernels::{Gains, Query, Unknown};
use crate::policy::Ties;
use crate::rank::rankings::Rankings;
use crate::threads;

/// The values of a query over all orders of its ties; NaN where the measure is undefined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Their mean; NaN where the measure has no formula for it.
    pub expected: f64,
    /// The smallest.
    pub lower: f64,
    /// The largest.
    pub upper: f64,
    /// Their variance; NaN where the measure has no formula for it.
    pub variance: f64,
    /// How many documents share their score with another.
    pub tied: u32,
}

/// The spread of the first measure of a plan for each query; `scores`, where given, take the place of
/// those of the rankings, and are in the same order.
pub fn audit(
    rankings: &Rankings,
    plan: &Plan,
    scores: Option<&[f64]>,
    threads: usize,
) -> Result<Vec<Spread>> {
    plan.check(rankings.axis())?;
    let offsets = rankings.offsets();
    let of_range = threads::on_each(threads::cut(offsets, threads), |queries| {
        let mut trial = Trial::new(plan);
        let (mut room, mut ideal_room) = (Vec::new(), Vec::new());
        let of_query = |query: usize| {
            let (relevance, own) = rankings.list(query, &mut room);
            let scores = scores.map_or(own, |scores| &scores[offsets[query]..offsets[query + 1]]);
            let ideal = rankings.axis().ideal(query, &mut ideal_room);
            spread(&mut trial, plan, Listed { relevance, scores, ideal })
        };
        queries.map(of_query).collect::<Vec<_>>()
    });
    Ok(of_range.concat())
}

#[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
fn spread(trial: &mut Trial<'_>, plan: &Plan, list: Listed<'_>) -> Spread {
    let kernel = &plan.measures[0].kernel;
    let ties = || list.scores.chunk_by(|a, b| a == b);
    let tied: usize = ties().map(<[f64]>::len).filter(|&size| size > 1).sum();
    if tied == 0 {
        let value = trial.value(list, Ties::Input);
        return Spread { expected: value, lower: value, upper: value, variance: 0.0, tied: 0 };
    }
    // A tie is best in descending order of what its documents are worth.
    let worth = |grade: f64| match kernel.gains() {
        Some(gains) => gains.of_document(grade),
        // Only measures of judgments themselves tell an unjudged document from one of grade 0.
        None if grade.is_nan() => f64::NEG_INFINITY,
        None => grade,
    };
    let mut extreme = |is_best: bool| {
        let mut relevance = list.relevance.to_vec();
        let mut rest = &mut relevance[..];
        for tie in ties() {
            let (of_tie, later) = rest.split_at_mut(tie.len());
            of_tie.sort_by(|&a, &b| worth(a).total_cmp(&worth(b)));
            if is_best {
                of_tie.reverse();
            }
            rest = later;
        }
        trial.value(Listed { relevance: &relevance, ..list }, Ties::Input)
    };
    let (first, second) = (extreme(false), extreme(true));
    let (lower, upper) = (first.min(second), first.max(second));
    let averages = kernel.averages_ties();
    let expected = if averages { trial.value(list, Ties::Average) } else { f64::NAN };
    let variance = match (kernel.unknown(), kernel.gains()) {
        (Unknown::Discounted { .. }, Some(gains)) => trial.look(list, Ties::Average, |query| {
            let ideal = kernel.ratio(query).map_or(1.0, |(_, ideal)| ideal);
            variance(gains, query) / (ideal * ideal)
        }),
        _ => f64::NAN,
    };
    Spread { expected, lower, upper, variance, tied: tied as u32 }
}

/// The variance of a sum of discounted gains: ties vary independently of one another, and within one
/// each order is as likely as any other.
fn variance(gains: &Gains, query: &Query<'_>) -> f64 {
    let mut sum = 0.0;
    for place in query.places(usize::MAX).filter(|place| place.size > 1) {
        let unjudged = std::iter::repeat_n(f64::NAN, place.size - place.grades.len());
        let of_docs =
            place.grades.iter().copied().chain(unjudged).map(|grade| gains.of_document(grade));
        let ranks = place.first..place.first + place.size;
        let weights = ranks.map(|rank| gains.weight(rank));
        #[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
        let others = (place.size - 1) as f64;
        sum += squares(weights) * squares(of_docs) / others;
    }
    sum
}

/// The sum of squared differences from the mean.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn squares(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Params, make};

    /// The mean, variance, least and largest DCG of tied groups of grades.
    fn of_groups(groups: &[&[f64]], k: usize) -> [f64; 4] {
        let params = Params { k: Some(k), ..Params::default() };
        let measure = crate::evaluate::plan::Measure {
            name: "DCG".to_owned(),
            kernel: make("dcg", &params).unwrap().into(),
            judged_only: false,
            aggregate: crate::policy::Aggregate::Mean,
        };
        let plan = Plan {
            measures: vec![measure],
            cutoffs: Vec::new(),
            policy: crate::policy::Policy::default(),
            duplicates: crate::policy::Duplicates::default(),
            score_type: crate::policy::ScoreType::default(),
            weights: None,
            depth: usize::MAX,
            items: None,
            judged: None,
        };
        let relevance = groups.concat();
        let scores: Vec<f64> = (0..groups.len())
            .flat_map(|group| vec![-f64::from(u32::try_from(group).unwrap()); groups[group].len()])
            .collect();
        let list = Listed { relevance: &relevance, scores: &scores, ideal: &[] };
        let found = spread(&mut Trial::new(&plan), &plan, list);
        [found.expected, found.variance, found.lower, found.upper]
    }

    #[test]
    fn spreads_are_those_computed_by_hand() {
        type Case = (&'static [&'static [f64]], usize, [f64; 4]);
        let cases: [Case; 2] = [
            (
                &[&[3.0, 0.0, 1.0], &[2.0, 0.0], &[1.0]],
                4,
                [3.271_916_229_5, 0.499_203_201_0, 2.130_929_753_5, 4.492_282_869_7],
            ),
            (
                &[&[1.0, 1.0, 0.0, 2.0], &[3.0], &[0.0, 3.0]],
                3,
                [2.130_929_753_6, 0.341_904_633_5, 1.130_929_753_6, 3.130_929_753_6],
            ),
        ];
        for (groups, k, expected) in cases {
            for (found, expected) in of_groups(groups, k).into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }
}
