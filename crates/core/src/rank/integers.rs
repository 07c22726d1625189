//! Integer identifiers among tied documents: they are ordered as text, where `9` is above `10`.

use std::cmp::Ordering;

use crate::ids::vocabulary::read_decimal;
use crate::policy::Ties;
use crate::rank::ranked::Hit;
use crate::text::list::Row;

/// Whether the policy orders equal scores by identifiers alone.
pub fn is_by_doc(ties: Ties) -> bool {
    matches!(ties, Ties::DocId | Ties::DocIdAscending)
}

/// Whether grades stand at other ranks than if tied documents were ordered as numbers; `tied` has
/// number and grade of each in the order of the texts.
pub fn moves_grades(tied: &[(i64, f64)], ties: Ties) -> bool {
    let (Some(first), true) = (tied.first(), is_by_doc(ties)) else { return false };
    if tied.iter().all(|one| one.1.to_bits() == first.1.to_bits()) {
        return false;
    }
    let compare = |one: &(i64, f64), other: &(i64, f64)| match ties {
        Ties::DocIdAscending => one.0.cmp(&other.0),
        _ => other.0.cmp(&one.0),
    };
    if tied.is_sorted_by(|one, other| compare(one, other) != Ordering::Greater) {
        return false;
    }
    let mut as_numbers = tied.to_vec();
    as_numbers.sort_by(compare);
    tied.iter().zip(&as_numbers).any(|(one, other)| one.1.to_bits() != other.1.to_bits())
}

/// The same for the ties of a list whose identifiers came as integers.
pub fn moves_grades_of_list(rows: &[Row<'_>], hits: &[Hit], ties: Ties) -> bool {
    if !is_by_doc(ties) {
        return false;
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&one, &other| {
        let (one, other) = (&rows[one], &rows[other]);
        let by_doc = one.doc.cmp(other.doc);
        let by_doc = if ties == Ties::DocIdAscending { by_doc } else { by_doc.reverse() };
        other.score.total_cmp(&one.score).then(by_doc)
    });
    let mut tied = Vec::new();
    order.chunk_by(|&one, &other| rows[one].score == rows[other].score).any(|alike| {
        tied.clear();
        tied.extend(alike.iter().filter_map(|&row| {
            let found = hits.binary_search_by(|hit| (hit.row as usize).cmp(&row));
            let grade = found.map_or(f64::NAN, |index| hits[index].grade);
            Some((read_decimal(rows[row].doc)?, grade))
        }));
        tied.len() == alike.len() && moves_grades(&tied, ties)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(tied: &[(i64, f64)]) -> bool {
        moves_grades(tied, Ties::DocId)
    }

    #[test]
    fn grades_move_where_texts_and_numbers_have_another_order() {
        assert!(moves(&[(9, 1.0), (10, 0.0)]));
        assert!(!moves(&[(10, 1.0), (9, 0.0)]));
        assert!(moves_grades(&[(10, 1.0), (9, 0.0)], Ties::DocIdAscending));
        assert!(moves(&[(9, f64::NAN), (10, 0.0)]));
    }

    #[test]
    fn equal_grades_and_other_policies_move_nothing() {
        assert!(!moves(&[]));
        assert!(!moves(&[(9, 1.0), (10, 1.0)]));
        assert!(!moves(&[(9, f64::NAN), (10, f64::NAN)]));
        for ties in [Ties::Best, Ties::Worst, Ties::Average, Ties::Input] {
            assert!(!moves_grades(&[(9, 1.0), (10, 0.0)], ties));
        }
    }
}
