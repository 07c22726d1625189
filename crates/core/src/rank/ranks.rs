//! Ranks beside scores: what is odd about them.

use crate::notes::{Note, Notes};
use crate::table::cells::Cells;
use crate::table::group::Grouped;

/// Notes what is odd about the ranks of each query beside its scores.
pub fn note_ranks(ranks: &dyn Cells<f64>, scores: &[f64], grouped: &Grouped, notes: &mut Notes) {
    let ranks = grouped.arrange_all(ranks);
    let mut list = Vec::new();
    for ends in grouped.offsets.windows(2) {
        let rows = ends[0]..ends[1];
        let (own, theirs) = (&ranks[rows.clone()], &scores[rows]);
        if are_regular(own.iter().copied()) && theirs.is_sorted_by(|above, below| above >= below) {
            continue;
        }
        list.extend(own.iter().copied().zip(theirs.iter().copied()));
        note_ranks_of(&mut list, notes);
    }
}

/// Notes what is odd about the ranks and scores of a query, of which nothing is left.
pub fn note_ranks_of(list: &mut Vec<(f64, f64)>, notes: &mut Notes) {
    list.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let contradicts = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1;
    let disagree = list.windows(2).any(contradicts);
    notes.add_many(Note::RankScoreDisagree, u64::from(disagree), (0, 0));
    let is_regular = are_regular(list.iter().map(|&(rank, _)| rank));
    notes.add_many(Note::RankIrregular, u64::from(!is_regular), (0, 0));
    list.clear();
}

/// Whether ranks in ascending order are 1, 2, 3, …
pub fn are_regular(ranks: impl Iterator<Item = f64>) -> bool {
    ranks.zip(1u32..).all(|(rank, wanted)| rank == f64::from(wanted))
}
