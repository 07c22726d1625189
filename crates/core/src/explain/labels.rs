//! The labels of unjudged documents for which the difference of two lists is largest and smallest.

use crate::explain::rows::Rows;
use crate::kernels::Denominator;

/// Whether each unjudged document is relevant, by its number.
pub type Labels = Vec<bool>;

/// What a relevant document at each row is worth: 1 at the first rank, and p times as much as at the
/// rank before at each other one, down to rank `k`.
fn weigh(list: &Rows, k: usize, p: f64) -> Vec<f64> {
    let mut next = 1.0;
    let worth = list.scores.iter().enumerate().map(|(row, _)| {
        let worth = if row < k { next } else { 0.0 };
        next *= p;
        worth
    });
    list.average(&worth.collect::<Vec<f64>>())
}

/// What each unjudged document would add to the difference, the second list minus the first, and
/// what `of_grade` says that judged ones add.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
pub fn add_up(
    lists: [&Rows; 2],
    (k, p, denominator): (usize, f64, Denominator),
    unjudged: usize,
    of_grade: impl Fn(f64) -> f64,
) -> (Vec<f64>, f64) {
    let (mut added, mut base) = (vec![0.0; unjudged], 0.0);
    for (list, sign) in lists.into_iter().zip([-1.0, 1.0]) {
        let retrieved = list.scores.len().min(k);
        let is_own = denominator == Denominator::Retrieved && retrieved > 0;
        let share = if is_own { sign / retrieved as f64 } else { sign };
        let weights = weigh(list, k, p);
        for &(row, number) in &list.unjudged {
            added[number] += share * weights[row];
        }
        let judged = list.relevance.iter().zip(&weights).filter(|(grade, _)| !grade.is_nan());
        base += share * judged.map(|(&grade, weight)| of_grade(grade) * weight).sum::<f64>();
    }
    (added, base)
}

/// The labels for the largest and the smallest sum of what relevant documents add, divided by a number
/// that depends on how many are relevant.
///
/// For each number of relevant documents, the best are those that add most.
pub fn of_sum(
    added: &[f64],
    base: f64,
    known: usize,
    divide_by: impl Fn(usize) -> f64,
) -> Vec<Labels> {
    let of_sign = |sign: f64| {
        let mut order: Vec<usize> = (0..added.len()).collect();
        order.sort_by(|&a, &b| (sign * added[b]).total_cmp(&(sign * added[a])));
        let (mut best, mut most) = (f64::NEG_INFINITY, 0);
        let mut sum = sign * base;
        for count in 0..=order.len() {
            if count > 0 {
                sum += sign * added[order[count - 1]];
            }
            let value = sum / divide_by(known + count);
            if known + count > 0 && value > best {
                (best, most) = (value, count);
            }
        }
        label(added.len(), &order[..most])
    };
    [1.0, -1.0].into_iter().map(of_sign).collect()
}

/// The labels among which are those with the largest and the smallest difference of values that
/// depend on the first relevant document.
///
/// The first relevant document of one list decides its value. All that are not needed for it could
/// only raise the value of the other list, where they should come as late as they can.
pub fn of_first(
    lists: [&Rows; 2],
    (rel, k): (f64, usize),
    known: usize,
    unjudged: usize,
) -> Vec<Labels> {
    let mut found = Vec::new();
    found.push(label(unjudged, &[]));
    for [up, down] in [lists, [lists[1], lists[0]]] {
        let mut place = vec![usize::MAX; unjudged];
        for &(row, number) in &down.unjudged {
            place[number] = down.first_of_tie(row);
        }
        let mut is_absent = vec![true; unjudged];
        let mut rest = &up.unjudged[..];
        for rows in up.groups().take_while(|rows| rows.start < k) {
            let (of_group, later) = rest.split_at(rest.partition_point(|&(row, _)| row < rows.end));
            let mut numbers: Vec<usize> = of_group.iter().map(|&(_, number)| number).collect();
            numbers.sort_by(|&a, &b| place[b].cmp(&place[a]));
            for count in 1..=numbers.len() {
                is_absent[numbers[count - 1]] = false;
                found.push(label(unjudged, &numbers[..count]));
            }
            rest = later;
            if up.relevance[rows].iter().any(|&grade| grade >= rel) {
                break;
            }
        }
        // Where nothing is known to be relevant, one document has to be, so that there is a value.
        let absent = (0..unjudged).filter(|&number| known == 0 && is_absent[number]);
        if let Some(number) = absent.max_by_key(|&number| place[number]) {
            found.push(label(unjudged, &[number]));
        }
    }
    found
}

fn label(unjudged: usize, relevant: &[usize]) -> Labels {
    let mut labels = vec![false; unjudged];
    for &number in relevant {
        labels[number] = true;
    }
    labels
}
