//! Compares the lists of all queries that have documents in both runs.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::choices::Choices;
use super::pair::Pair;
use super::{correlation, overlap};
use crate::error::Result;
use crate::ids::interner::Ids;
use crate::rank::lists::Lists;
use crate::threads::on_threads;
use crate::watch::{Event, Watch};

/// The agreement of the two lists of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// The query's number in the first run.
    pub query: usize,
    /// The documents in both lists.
    pub common: usize,
    /// Whether both lists have the same documents.
    pub is_same: bool,
    /// Rank-biased overlap: extrapolated, lowest and highest.
    pub overlap: [f64; 3],
    /// Kendall's tau of the common documents, NaN if undefined.
    pub tau: f64,
    /// The correlation that weighs high ranks, NaN if undefined.
    pub tau_ap: f64,
    /// The overlap and the Jaccard index at each depth.
    pub at_depths: Vec<(f64, f64)>,
}

/// Compares the lists of all queries that have documents in both runs, in the order of the first.
///
/// # Errors
/// Where a document occurs twice in a list, or it is stopped.
pub fn compare(
    one: &dyn Lists,
    other: &dyn Lists,
    choices: &Choices,
    threads: usize,
    watch: Watch<'_>,
) -> Result<Vec<Agreement>> {
    let mut of_other = Ids::default();
    for query in 0..other.len() {
        of_other.number(&other.query(query));
    }
    let mut pairs = vec![];
    for query in 0..one.len() {
        if let Some(found) = of_other.find(&one.query(query))
            && !one.is_blank(query)
            && !other.is_blank(found)
        {
            pairs.push((query, found));
        }
    }
    let next = AtomicUsize::new(0);
    let outcomes = on_threads(threads.min(pairs.len()), watch, |watch: Watch<'_>| {
        let mut made = vec![];
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(query, found)) = pairs.get(place) else { return Ok(made) };
            watch(Event::Work)?;
            let pair = Pair::read(one, query, other, found)?;
            made.push((place, measure(query, &pair, choices)));
        }
    });
    let mut placed = Vec::with_capacity(pairs.len());
    for outcome in outcomes {
        let outcome: Result<Vec<(usize, Agreement)>> = outcome;
        placed.extend(outcome?);
    }
    placed.sort_unstable_by_key(|&(place, _)| place);
    Ok(placed.into_iter().map(|(_, made)| made).collect())
}

fn measure(query: usize, pair: &Pair, choices: &Choices) -> Agreement {
    let (overlap, at_depths) = overlap::measure(pair, choices);
    let (tau, tau_ap) = correlation::measure(&pair.common, choices.ties);
    let common = pair.common.len();
    let is_same = pair.sides.iter().all(|side| side.docs.len() == common);
    Agreement { query, common, is_same, overlap, tau, tau_ap, at_depths }
}

#[cfg(test)]
mod tests {
    use super::super::choices::Ties;
    use super::super::pair::group;
    use super::*;
    use crate::number::sorter::Sorter;

    /// A list of documents with their scores.
    fn pair(one: &[(usize, f64)], other: &[(usize, f64)]) -> Pair {
        let mut sorter = Sorter::default();
        let sides = [one, other].map(|list| {
            let (docs, scores): (Vec<usize>, Vec<f64>) = list.iter().copied().unzip();
            group(&docs, &scores, &mut sorter)
        });
        Pair::new(sides)
    }

    fn choices(ties: Ties) -> Choices {
        Choices { persistence: 0.8, ties, depths: vec![1, 2, 5] }
    }

    #[test]
    fn a_list_agrees_with_itself_in_forms_that_say_so() {
        let list = [(0, 3.0), (1, 2.0), (2, 2.0), (3, 1.0)];
        for ties in [Ties::Corrected, Ties::Equal] {
            let found = measure(0, &pair(&list, &list), &choices(ties));
            assert!((found.overlap[0] - 1.0).abs() < 1e-12);
            assert!((found.tau - 1.0).abs() < 1e-12);
            assert!(found.is_same);
        }
        let found = measure(0, &pair(&list, &list), &choices(Ties::Expected));
        // One of the two orders of two documents in each list agrees.
        assert!((found.tau - 5.0 / 6.0).abs() < 1e-12);
        assert!((found.at_depths[1].0 - 0.75).abs() < 1e-12);
    }

    #[test]
    fn lists_without_common_documents_have_no_correlation() {
        let found = measure(0, &pair(&[(0, 1.0)], &[(1, 1.0), (2, 0.0)]), &choices(Ties::Expected));
        assert!(found.tau.is_nan() && found.tau_ap.is_nan());
        assert!(found.overlap[0].abs() < 1e-12 && found.overlap[1].abs() < 1e-12);
        assert!(found.overlap[2] > 0.0 && !found.is_same);
        assert_eq!(found.at_depths, [(0.0, 0.0); 3]);
    }
}
