//! Sorts the documents of one query by score, and equal scores by the policy `ties`.

use crate::kernels::Tie;
use crate::number::sorter::Sorter;
use crate::policy::Ties;
use crate::text::list::Row;

/// A retrieved document that is judged: its row, and its grade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Index into the rows.
    pub row: u32,
    /// Which of the judged documents of the query it is.
    pub judged: u32,
    /// Its grade.
    pub grade: f64,
}

/// The judged documents of a ranked list.
#[derive(Clone, Debug, Default)]
pub struct Ranked {
    /// 1-based ranks, ascending.
    pub ranks: Vec<u32>,
    /// The grades at these ranks.
    pub grades: Vec<f64>,
    /// Which of the judged documents of the query is at each of these ranks, where that was asked for.
    pub judged: Vec<u32>,
    /// The item at each rank, where a measure needs to know.
    pub items: Vec<u32>,
    /// The judged documents as items with their grades, where a measure needs to know.
    pub judged_items: Vec<(u32, f64)>,
    /// Whether any of them shares its score with another document.
    pub is_tied: bool,
    /// The ties with judged documents, where they are averaged over; those documents are all at the
    /// first rank of their tie.
    pub ties: Vec<Tie>,
    /// Rank, judged document and grade.
    places: Vec<(u32, u32, f64)>,
    sorter: Sorter,
}

/// Hits up to this many are ranked by counting what stands before them, which needs no sort.
const COUNTED_HITS: usize = 48;

impl Ranked {
    /// Ranks the hits of a list; `hits` are in the order of their rows.
    pub fn rank(&mut self, rows: &[Row<'_>], is_sorted: bool, hits: &[Hit], ties: Ties) {
        self.places.clear();
        self.ties.clear();
        self.is_tied = false;
        let needs_order = matches!(ties, Ties::Best | Ties::Worst | Ties::Average);
        if is_sorted {
            self.rank_sorted(rows, hits, ties);
        } else if hits.len() <= COUNTED_HITS && !needs_order {
            self.rank_by_counting(rows, hits, ties);
        } else {
            self.rank_by_sorting(rows, hits, ties);
        }
        if !self.places.is_sorted_by_key(|place| place.0) {
            self.places.sort_unstable_by_key(|place| place.0);
        }
        self.ranks.clear();
        self.grades.clear();
        self.ranks.extend(self.places.iter().map(|place| place.0));
        self.grades.extend(self.places.iter().map(|place| place.2));
    }

    /// Says which of the judged documents of the query each of the ranked ones is.
    pub fn name_judged(&mut self) {
        self.judged.clear();
        self.judged.extend(self.places.iter().map(|place| place.1));
    }

    /// Takes the judged documents of a list that is in rank order; unjudged ones have a NaN grade.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn take_in_order(&mut self, relevance: &[f64], scores: &[f64], ties: Ties) {
        self.ranks.clear();
        self.grades.clear();
        self.ties.clear();
        self.is_tied = false;
        let are_judged = !relevance.iter().any(|grade| grade.is_nan());
        if are_judged && scores.windows(2).all(|pair| pair[0] != pair[1]) {
            self.ranks.extend(1..=scores.len() as u32);
            self.grades.extend_from_slice(relevance);
            return;
        }
        if are_judged && ties == Ties::Average {
            self.take_tied(relevance, scores);
            return;
        }
        let mut first = 1;
        for run in scores.chunk_by(|a, b| a == b) {
            let size = run.len() as u32;
            let before = self.grades.len();
            let run = &relevance[first as usize - 1..][..run.len()];
            for (rank, &grade) in (first..).zip(run).filter(|(_, grade)| !grade.is_nan()) {
                self.ranks.push(if ties == Ties::Average { first } else { rank });
                self.grades.push(grade);
            }
            if size > 1 && self.grades.len() > before {
                self.is_tied = true;
                if ties == Ties::Average {
                    self.ties.push(Tie { first, size });
                }
            }
            first += size;
        }
    }

    /// Takes the documents of a list that is in rank order, all of which are judged, and some tied.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn take_tied(&mut self, relevance: &[f64], scores: &[f64]) {
        self.is_tied = true;
        self.grades.extend_from_slice(relevance);
        self.ranks.resize(scores.len(), 0);
        let mut start = 0;
        while start < scores.len() {
            let (score, first) = (scores[start], start as u32 + 1);
            let mut end = start;
            while end < scores.len() && scores[end] == score {
                self.ranks[end] = first;
                end += 1;
            }
            if end > start + 1 {
                self.ties.push(Tie { first, size: (end - start) as u32 });
            }
            start = end;
        }
    }

    /// Only runs of equal scores that hold a hit need an order.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn rank_sorted(&mut self, rows: &[Row<'_>], hits: &[Hit], ties: Ties) {
        let mut rest = hits;
        while let Some(&first) = rest.first() {
            let row = first.row as usize;
            let score = rows[row].score;
            let same = |row: &Row<'_>| row.score == score;
            let before = rows[..row].iter().rev().take_while(|row| same(row)).count();
            let after = rows[row..].iter().take_while(|row| same(row)).count();
            let (start, end) = (row - before, row + after);
            let inside = rest.iter().take_while(|hit| (hit.row as usize) < end).count();
            let (tied, later) = rest.split_at(inside);
            rest = later;
            if end - start == 1 {
                self.places.push((start as u32 + 1, first.judged, first.grade));
                continue;
            }
            self.is_tied = true;
            if ties == Ties::Average {
                let tie = Tie { first: start as u32 + 1, size: (end - start) as u32 };
                self.ties.push(tie);
                self.places.extend(tied.iter().map(|hit| (tie.first, hit.judged, hit.grade)));
                continue;
            }
            self.sorter.order.clear();
            self.sorter.order.extend(start as u32..end as u32);
            sort_tied(&mut self.sorter.order, rows, tied, ties);
            self.place_ordered(start, tied);
        }
    }

    /// Gives each hit the first rank of the run of equal scores in the order that has its row.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn place_runs(&mut self, rows: &[Row<'_>], hits: &[Hit]) {
        let score = |row: u32| rows[row as usize].score;
        let mut first = 1;
        for run in self.sorter.order.chunk_by(|&a, &b| score(a) == score(b)) {
            let size = run.len() as u32;
            let before = self.places.len();
            for row in run {
                if let Ok(index) = hits.binary_search_by_key(row, |hit| hit.row) {
                    self.places.push((first, hits[index].judged, hits[index].grade));
                }
            }
            if size > 1 && self.places.len() > before {
                self.ties.push(Tie { first, size });
            }
            first += size;
        }
    }

    /// Gives each hit the rank at which the order has its row, after `start` others.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn place_ordered(&mut self, start: usize, hits: &[Hit]) {
        if hits.len() == 1 {
            let at = self.sorter.order.iter().position(|&row| row == hits[0].row).unwrap_or(0);
            self.places.push(((start + at) as u32 + 1, hits[0].judged, hits[0].grade));
            return;
        }
        for (at, row) in self.sorter.order.iter().enumerate() {
            if let Ok(index) = hits.binary_search_by_key(row, |hit| hit.row) {
                let Hit { judged, grade, .. } = hits[index];
                self.places.push(((start + at) as u32 + 1, judged, grade));
            }
        }
    }

    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    fn rank_by_counting(&mut self, rows: &[Row<'_>], hits: &[Hit], ties: Ties) {
        for hit in hits {
            let this = &rows[hit.row as usize];
            let above = rows.iter().filter(|row| row.score > this.score).count();
            let equal = rows.iter().filter(|row| row.score == this.score).count();
            let mut before = 0;
            if equal > 1 {
                self.is_tied = true;
                before = rows
                    .iter()
                    .enumerate()
                    .filter(|(index, row)| {
                        row.score == this.score
                            && match ties {
                                Ties::DocIdAscending => row.doc < this.doc,
                                Ties::Input => *index < hit.row as usize,
                                _ => row.doc > this.doc,
                            }
                    })
                    .count();
            }
            self.places.push(((above + before) as u32 + 1, hit.judged, hit.grade));
        }
    }

    fn rank_by_sorting(&mut self, rows: &[Row<'_>], hits: &[Hit], ties: Ties) {
        self.is_tied = sort(&mut self.sorter, rows, false, hits, ties);
        if ties == Ties::Average {
            self.place_runs(rows, hits);
        } else {
            self.place_ordered(0, hits);
        }
    }
}

/// Puts the rows of a list in rank order; says whether a hit shares its score with another.
#[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
pub fn sort(
    sorter: &mut Sorter,
    rows: &[Row<'_>],
    is_sorted: bool,
    hits: &[Hit],
    ties: Ties,
) -> bool {
    if is_sorted {
        sorter.order.clear();
        sorter.order.extend(0..rows.len() as u32);
    } else {
        sorter.sort(rows.len(), |row| rows[row].score);
    }
    let is_hit = |row: u32| hits.binary_search_by_key(&row, |hit| hit.row).is_ok();
    let mut is_tied = false;
    for run in sorter.order.chunk_by_mut(|&a, &b| rows[a as usize].score == rows[b as usize].score)
    {
        if run.len() > 1 {
            is_tied = is_tied || run.iter().any(|&row| is_hit(row));
            sort_tied(run, rows, hits, ties);
        }
    }
    is_tied
}

/// Orders rows of equal score, which are in input order.
fn sort_tied(run: &mut [u32], rows: &[Row<'_>], hits: &[Hit], ties: Ties) {
    let doc = |row: u32| rows[row as usize].doc;
    let grade = |row: u32| {
        hits.binary_search_by_key(&row, |hit| hit.row).map_or(0.0, |index| hits[index].grade)
    };
    match ties {
        Ties::Input | Ties::Average => {}
        Ties::DocId => run.sort_unstable_by(|&a, &b| doc(b).cmp(doc(a))),
        Ties::DocIdAscending => run.sort_unstable_by(|&a, &b| doc(a).cmp(doc(b))),
        Ties::Best => {
            run.sort_by(|&a, &b| grade(b).total_cmp(&grade(a)).then_with(|| doc(b).cmp(doc(a))));
        }
        Ties::Worst => {
            run.sort_by(|&a, &b| grade(a).total_cmp(&grade(b)).then_with(|| doc(b).cmp(doc(a))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const POLICIES: [Ties; 5] =
        [Ties::DocId, Ties::DocIdAscending, Ties::Input, Ties::Best, Ties::Worst];

    /// The definition: sort all rows by every key at once.
    fn plainly(rows: &[Row<'_>], grades: &[Option<f64>], ties: Ties) -> Vec<(u32, f64)> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let grade = |row: usize| grades[row].unwrap_or(0.0);
        order.sort_by(|&a, &b| {
            let by_score = rows[b].score.partial_cmp(&rows[a].score).unwrap();
            by_score.then_with(|| match ties {
                Ties::DocId => rows[b].doc.cmp(rows[a].doc),
                Ties::DocIdAscending => rows[a].doc.cmp(rows[b].doc),
                Ties::Input | Ties::Average => a.cmp(&b),
                Ties::Best => grade(b).total_cmp(&grade(a)).then(rows[b].doc.cmp(rows[a].doc)),
                Ties::Worst => grade(a).total_cmp(&grade(b)).then(rows[b].doc.cmp(rows[a].doc)),
            })
        });
        (1..).zip(order).filter_map(|(rank, row)| grades[row].map(|grade| (rank, grade))).collect()
    }

    proptest! {
        #[test]
        fn every_way_of_ranking_gives_the_same_ranks(
            list in prop::collection::vec((-3i8..3, prop::option::of(0u8..3)), 1..80),
            sorted in any::<bool>(),
            policy in 0usize..5,
        ) {
            let ties = POLICIES[policy];
            let mut list = list;
            if sorted {
                list.sort_by_key(|entry| -entry.0);
            }
            let names: Vec<String> = (0..list.len()).map(|i| format!("d{}", i * 37 % 101)).collect();
            let rows: Vec<Row> = names
                .iter()
                .zip(&list)
                .map(|(doc, &(score, _))| Row { doc: doc.as_bytes(), score: f64::from(score), line: 1 })
                .collect();
            let grades: Vec<Option<f64>> = list.iter().map(|entry| entry.1.map(f64::from)).collect();
            let hits: Vec<Hit> = (0..)
                .zip(&grades)
                .filter_map(|(row, grade)| grade.map(|grade| Hit { row, judged: 0, grade }))
                .collect();
            let expected = plainly(&rows, &grades, ties);
            let is_sorted = rows.is_sorted_by(|a, b| a.score >= b.score);
            let mut ranked = Ranked::default();
            let found = |ranked: &Ranked| -> Vec<(u32, f64)> {
                ranked.ranks.iter().copied().zip(ranked.grades.iter().copied()).collect()
            };
            ranked.rank(&rows, is_sorted, &hits, ties);
            let tied = ranked.is_tied;
            prop_assert_eq!(found(&ranked), expected.clone());
            ranked.rank(&rows, false, &hits, ties);
            prop_assert_eq!(found(&ranked), expected.clone());
            prop_assert_eq!(ranked.is_tied, tied);
            let mut sorter = Sorter::default();
            prop_assert_eq!(sort(&mut sorter, &rows, is_sorted, &hits, ties), tied);
            let of_order: Vec<(u32, f64)> = (1..)
                .zip(&sorter.order)
                .filter_map(|(rank, &row)| grades[row as usize].map(|grade| (rank, grade)))
                .collect();
            prop_assert_eq!(of_order, expected);
        }
    }

    #[test]
    fn hits_are_ranked_alike_by_counting_and_by_sorting() {
        for (count, ties) in
            [47_u32, 48, 49].into_iter().flat_map(|count| POLICIES.map(|ties| (count, ties)))
        {
            let names: Vec<String> = (0..count).map(|at| format!("d{}", at * 37 % 101)).collect();
            let row = |(name, at): (&'_ String, u32)| (name.clone(), f64::from(at * 29 % 11));
            let scored: Vec<(String, f64)> = names.iter().zip(0..).map(row).collect();
            let rows: Vec<Row> = scored
                .iter()
                .map(|(doc, score)| Row { doc: doc.as_bytes(), score: *score, line: 1 })
                .collect();
            let grades: Vec<Option<f64>> = (0..count).map(|at| Some(f64::from(at % 3))).collect();
            let hit = |row: u32| Hit { row, judged: 0, grade: f64::from(row % 3) };
            let hits: Vec<Hit> = (0..count).map(hit).collect();
            let mut ranked = Ranked::default();
            ranked.rank(&rows, false, &hits, ties);
            let found: Vec<(u32, f64)> = ranked.ranks.into_iter().zip(ranked.grades).collect();
            assert_eq!(found, plainly(&rows, &grades, ties), "{count} {ties:?}");
        }
    }
}
