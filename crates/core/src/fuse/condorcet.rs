//! The order of documents by majorities.
//!
//! Majorities can go round in circles, so that no order agrees with all of them. Sorting by merging
//! yields one in which no document loses to the next one, and a document that wins against every other
//! one comes first (Montague and Aslam, Condorcet fusion for improved retrieval, 2002). The sorts of the
//! standard library may panic where an order is not total.

use super::query::Query;

/// The rank of a document that a list does not have: below all others.
const ABSENT: u32 = u32::MAX;

/// Returns a score for each document: how many it is above in the order, and itself. `start` is the
/// order of documents that no majority separates.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // documents have numbers of 32 bits
pub(super) fn score(query: &Query, weights: &[f64], start: &[u32]) -> Vec<f64> {
    let all = start.len();
    let mut ranks: Vec<Vec<u32>> = vec![];
    for list in &query.lists {
        let mut of_list = vec![ABSENT; all];
        for (rank, &(doc, _)) in list.iter().enumerate() {
            of_list[doc as usize] = rank as u32;
        }
        ranks.push(of_list);
    }
    let loses = |one: u32, other: u32| {
        let mut margin = 0.0;
        for (ranks, &weight) in ranks.iter().zip(weights) {
            let (one, other) = (ranks[one as usize], ranks[other as usize]);
            margin += match one.cmp(&other) {
                std::cmp::Ordering::Less => weight,
                std::cmp::Ordering::Equal => 0.0,
                std::cmp::Ordering::Greater => -weight,
            };
        }
        margin < 0.0
    };
    let mut order: Vec<u32> = start.to_vec();
    sort_by_merging(&mut order, &loses);
    let mut scores = vec![0.0; all];
    for (place, &doc) in order.iter().enumerate() {
        scores[doc as usize] = (all - place) as f64;
    }
    scores
}

/// Sorts from the bottom up: runs of one, two, four and so on, each merged with the next.
fn sort_by_merging(order: &mut Vec<u32>, loses: &dyn Fn(u32, u32) -> bool) {
    let mut merged: Vec<u32> = Vec::with_capacity(order.len());
    let mut width = 1;
    while width < order.len() {
        merged.clear();
        for pair in order.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some(&one), Some(&other)) = (left.first(), right.first()) {
                if loses(one, other) {
                    merged.push(other);
                    right = &right[1..];
                } else {
                    merged.push(one);
                    left = &left[1..];
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(order, &mut merged);
        width *= 2;
    }
}
