//! Finds the rankings of labels.

use std::cmp::Ordering;

use super::labels::Labels;
use super::rankings::Rankings;
use super::texts::count;

/// The rows of labels whose ranking is there, and before them the rows of their rankings. Both blocks are
/// sorted; so is what is found.
pub fn join(rankings: &Rankings, labels: &Labels) -> (Vec<i64>, Vec<i64>) {
    let (mut positions, mut rows) = (Vec::new(), Vec::new());
    let mut position = 0;
    for row in 0..labels.len() {
        let order = loop {
            if position == rankings.len() {
                return (positions, rows);
            }
            let by_time = rankings.times[position].cmp(&labels.shown[row]);
            let order = by_time
                .then_with(|| rankings.ranking_ids.get(position).cmp(labels.ranking_ids.get(row)));
            if order != Ordering::Less {
                break order;
            }
            position += 1;
        };
        if order == Ordering::Equal {
            positions.push(count(position));
            rows.push(count(row));
        }
    }
    (positions, rows)
}

#[cfg(test)]
mod tests {
    use super::super::{labels, rankings};
    use super::*;
    use crate::blocks::list::List;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_label_finds_the_ranking_of_its_time_and_id(
            shown in prop::collection::btree_set((0..3i64, "[ab]{0,2}"), 0..12),
            told in prop::collection::vec((0..3i64, "[ab]{0,2}", 0..2i64), 0..12),
        ) {
            let mut block = Rankings::default();
            for (time, id) in &shown {
                let (ranking_id, time) = (id.as_bytes(), *time);
                let event_id = ranking_id;
                block.push(&rankings::Row { seq: 0, time, context: 0, ranking_id, event_id, query_key: b"", user_id: b"" }, &List::default());
            }
            let mut labels = Labels::default();
            for (shown, id, time) in &told {
                let (ranking_id, shown, time) = (id.as_bytes(), *shown, *time);
                labels.push(&labels::Row { seq: 0, shown, time, kind: 0, ranking_id, event_id: b"", doc_id: b"", names: b"", value: 0.0 });
            }
            let labels = labels.sort();
            let mut expected = vec![];
            for (position, (time, id)) in shown.iter().enumerate() {
                for row in 0..labels.len() {
                    if labels.shown[row] == *time && labels.ranking_ids.get(row) == id.as_bytes() {
                        expected.push((count(position), count(row)));
                    }
                }
            }
            let (positions, rows) = join(&block, &labels);
            let found: Vec<_> = positions.into_iter().zip(rows).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
