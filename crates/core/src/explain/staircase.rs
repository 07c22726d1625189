//! The largest difference of the average precision of two lists over all labels of unjudged documents.
//!
//! Exchanging the labels of a relevant and an irrelevant document raises the difference if the second
//! one is ranked no lower in the first list and no higher in the other. So some best set of relevant
//! documents is bounded by a staircase: down the first list, a document is relevant if its rank in the
//! other list is at least a threshold that never falls. What each step of the staircase adds depends
//! on the step and on how many documents are relevant before it, and dynamic programming over both
//! finds the best sum for every number of relevant documents.
//!
//! Deep in long lists, several ranks are one band. The documents of a band are then ranked as well as
//! it allows in the first list, and as badly in the other, so that the result is an upper bound.

use crate::explain::rows::Rows;

/// As many sums as are made for one query at most, about a hundredth of a second.
const MOST_STEPS: usize = 1 << 22;

/// The documents of one tie, or of one rank.
struct Group {
    /// The sum of 1 / rank, as a share of the ranks of the group.
    share: f64,
    /// The sum of the ranks' places in the group over the rank, for each pair of relevant documents.
    pairs: f64,
    relevant: usize,
    unjudged: Vec<usize>,
}

#[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
fn real(count: usize) -> f64 {
    count as f64
}

impl Group {
    /// What `count` relevant documents of a group add to the sum of precisions after `found` others.
    fn precisions(&self, count: usize, found: usize) -> f64 {
        let others = real(count.saturating_sub(1));
        real(count) * (real(found + 1) * self.share + others * self.pairs)
    }
}

/// The groups of a list down to rank `k`.
fn group(list: &Rows, rel: f64, k: usize) -> Vec<Group> {
    let mut rest = &list.unjudged[..];
    let groups = list.groups().take_while(|rows| rows.start < k).map(|rows| {
        let (of_group, later) = rest.split_at(rest.partition_point(|&(row, _)| row < rows.end));
        rest = later;
        let size = rows.len();
        let counted = || rows.clone().take_while(|&row| row < k);
        let inverse = counted().map(|row| 1.0 / real(row + 1)).sum::<f64>();
        let above = counted().map(|row| real(row - rows.start) / real(row + 1)).sum::<f64>();
        let relevant = list.relevance[rows.clone()].iter().filter(|&&grade| grade >= rel).count();
        Group {
            share: inverse / real(size),
            pairs: above / real(size) / real((size - 1).max(1)),
            relevant,
            unjudged: of_group.iter().map(|&(_, number)| number).collect(),
        }
    });
    groups.collect()
}

/// Consecutive groups that the staircase passes at once.
struct Band {
    /// The unjudged documents.
    unjudged: Vec<usize>,
    /// What the band adds to the sum of precisions, by how many of them are relevant: a number, and
    /// what each relevant one of those before the band adds to it.
    added: Vec<(f64, f64)>,
}

/// Where the bands of a list start.
///
/// A group with documents that the other list has, too, is a band. Between them, documents are best
/// ranked first, or last, whatever the other list is, so that all groups are one band.
fn start_bands(groups: &[Group], is_shared: &[bool]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut was_shared = true;
    for (at, group) in groups.iter().enumerate().filter(|(_, group)| !group.unjudged.is_empty()) {
        let shares = group.unjudged.iter().any(|&number| is_shared[number]);
        if shares || was_shared {
            starts.push(at);
        }
        was_shared = shares;
    }
    starts
}

/// Joins bands, all but the first `fine` ones: the deeper they are, the more.
fn join_bands(starts: &[usize], fine: usize) -> Vec<usize> {
    let (mut joined, mut passed) = (Vec::new(), 0);
    while let Some(&start) = starts.get(passed) {
        joined.push(start);
        passed += (passed / fine).max(1);
    }
    joined
}

/// The bands of a list, and what the groups before them add to the sum of precisions.
fn band(groups: &[Group], starts: &[usize], is_first: bool) -> (f64, Vec<Band>) {
    let (mut base, mut judged) = (0.0, 0);
    for group in &groups[..starts.first().copied().unwrap_or(groups.len())] {
        base += group.precisions(group.relevant, judged);
        judged += group.relevant;
    }
    let ends = starts.iter().skip(1).copied().chain([groups.len()]);
    let bands = starts.iter().zip(ends).map(|(&start, end)| {
        let of_band = &groups[start..end];
        let unjudged: Vec<usize> =
            of_band.iter().flat_map(|group| group.unjudged.iter().copied()).collect();
        let added = add_precisions(of_band, judged, is_first);
        judged += of_band.iter().map(|group| group.relevant).sum::<usize>();
        Band { unjudged, added }
    });
    let bands = bands.collect();
    (base, bands)
}

/// What groups add to the sum of precisions, by how many of their unjudged documents are relevant: the
/// first or the last ones. Before the groups are `judged` relevant documents.
fn add_precisions(groups: &[Group], judged: usize, is_first: bool) -> Vec<(f64, f64)> {
    let (mut fixed, mut each, mut found) = (0.0, 0.0, judged);
    let mut documents = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        fixed += group.precisions(group.relevant, found);
        each += real(group.relevant) * group.share;
        documents.extend(group.unjudged.iter().map(|_| (at, found)));
        found += group.relevant;
    }
    if !is_first {
        documents.reverse();
    }
    // One more relevant document adds its share for each relevant one after its group.
    let mut after = vec![0.0; groups.len() + 1];
    for (at, group) in groups.iter().enumerate().rev() {
        after[at] = after[at + 1] + real(group.relevant) * group.share;
    }
    let mut added = vec![(fixed, each)];
    let (mut current, mut in_group, mut in_others, mut shares) = (usize::MAX, 0, 0, 0.0);
    for (at, found) in documents {
        if at != current {
            in_others += in_group;
            shares += groups.get(current).map_or(0.0, |passed| real(in_group) * passed.share);
            (current, in_group) = (at, 0);
        }
        let group = &groups[at];
        let relevant = group.relevant + in_group;
        let (found, shares) = if is_first { (found + in_others, 0.0) } else { (found, shares) };
        fixed += group.precisions(relevant + 1, found) - group.precisions(relevant, found);
        fixed += after[at + 1] + shares;
        each += group.share;
        added.push((fixed, each));
        in_group += 1;
    }
    added
}

/// The largest difference.
pub struct Largest {
    /// The difference, or an upper bound of it.
    pub value: f64,
    /// The labels that reach it; none where it is an upper bound.
    pub labels: Option<Vec<bool>>,
}

/// Finds the largest average precision of the first list minus that of the other.
///
/// # Arguments
/// - `rel`, `k`: the smallest grade that is relevant, and the last rank that counts.
/// - `known`: how many judged documents are relevant.
/// - `unjudged`: how many documents are not judged.
/// - `divide_by`: what the sum of precisions is divided by, for each number of relevant documents.
pub fn find_largest(
    lists: [&Rows; 2],
    (rel, k): (f64, usize),
    (known, unjudged): (usize, usize),
    divide_by: impl Fn(usize) -> f64,
) -> Largest {
    find_within(MOST_STEPS, lists, (rel, k), (known, unjudged), divide_by)
}

fn find_within(
    most: usize,
    [first, other]: [&Rows; 2],
    (rel, k): (f64, usize),
    (known, unjudged): (usize, usize),
    divide_by: impl Fn(usize) -> f64,
) -> Largest {
    let groups = [group(first, rel, k), group(other, rel, k)];
    let [in_first, in_other] = groups.each_ref().map(|groups| list_unjudged(groups, unjudged));
    let is_shared: Vec<bool> = in_first.iter().zip(&in_other).map(|(a, b)| *a && *b).collect();
    let starts = groups.each_ref().map(|groups| start_bands(groups, &is_shared));
    let mut fine = starts[0].len().max(starts[1].len()).max(1);
    loop {
        let joined = starts.each_ref().map(|starts| join_bands(starts, fine));
        let (base, bands) = band(&groups[0], &joined[0], true);
        let (other_base, other_bands) = band(&groups[1], &joined[1], false);
        let grid = Grid::new(&bands, &other_bands, unjudged);
        if fine > 1 && grid.count_steps() > most {
            fine = (fine * 3 / 4).max(1);
            continue;
        }
        let is_exact = joined == starts;
        let sums = Sums::new(&grid, &bands, &other_bands, base - other_base);
        let (mut count, mut value) = (0, f64::NEG_INFINITY);
        for number in 0..=unjudged {
            let all = known + number;
            let found = sums.at(grid.columns, grid.rows)[number] / divide_by(all);
            if all > 0 && found > value {
                (count, value) = (number, found);
            }
        }
        return Largest { value, labels: is_exact.then(|| sums.label(count)) };
    }
}

/// Whether each unjudged document is in a list.
fn list_unjudged(groups: &[Group], unjudged: usize) -> Vec<bool> {
    let mut is_listed = vec![false; unjudged];
    for &number in groups.iter().flat_map(|group| &group.unjudged) {
        is_listed[number] = true;
    }
    is_listed
}

/// The unjudged documents by band of the first list and by band of the other one. The last column and
/// the last row are those of documents that are not in the list, or below the cutoff.
struct Grid {
    columns: usize,
    rows: usize,
    /// The column and the row of each document.
    places: Vec<(usize, usize)>,
    /// How many documents are in earlier columns and rows, by column and row.
    before: Vec<usize>,
}

impl Grid {
    fn new(bands: &[Band], other_bands: &[Band], unjudged: usize) -> Self {
        let (columns, rows) = (bands.len() + 1, other_bands.len() + 1);
        let mut places = vec![(columns - 1, rows - 1); unjudged];
        for (column, band) in bands.iter().enumerate() {
            for &number in &band.unjudged {
                places[number].0 = column;
            }
        }
        for (row, band) in other_bands.iter().enumerate() {
            for &number in &band.unjudged {
                places[number].1 = row;
            }
        }
        let width = rows + 1;
        let mut before = vec![0; (columns + 1) * width];
        for &(column, row) in &places {
            before[(column + 1) * width + row + 1] += 1;
        }
        for column in 1..=columns {
            let mut of_column = 0;
            for row in 1..=rows {
                of_column += before[column * width + row];
                before[column * width + row] = of_column + before[(column - 1) * width + row];
            }
        }
        Self { columns, rows, places, before }
    }

    /// How many documents are in earlier columns and in earlier rows.
    fn before(&self, column: usize, row: usize) -> usize {
        self.before[column * (self.rows + 1) + row]
    }

    /// How many are in earlier columns, and in this row or a later one.
    fn kept(&self, column: usize, row: usize) -> usize {
        self.before(column, self.rows) - self.before(column, row)
    }

    /// How many of a column are in this row or a later one.
    fn of_column(&self, column: usize, row: usize) -> usize {
        self.kept(column + 1, row) - self.kept(column, row)
    }

    /// How many of a row are in earlier columns.
    fn of_row(&self, column: usize, row: usize) -> usize {
        self.before(column, row + 1) - self.before(column, row)
    }

    /// How many are in a column and a row.
    fn of_cell(&self, column: usize, row: usize) -> usize {
        self.of_row(column + 1, row) - self.of_row(column, row)
    }

    /// How many sums there are.
    fn count_sums(&self) -> usize {
        self.before.iter().map(|count| count + 1).sum()
    }

    /// How many times a sum is compared with another.
    fn count_steps(&self) -> usize {
        let cells =
            (0..self.columns).flat_map(|column| (0..self.rows).map(move |row| (column, row)));
        let of_cell =
            cells.map(|(column, row)| (self.before(column, row) + 1) * self.of_cell(column, row));
        2 * self.count_sums() + of_cell.sum::<usize>()
    }
}

/// The best sums where the staircase has come to a column and a row: documents of earlier columns are
/// decided on, those of earlier rows are irrelevant from this column on, and the others of earlier
/// columns are relevant. Each sum is that of a number of relevant documents in earlier columns and
/// rows.
struct Sums<'a> {
    grid: &'a Grid,
    bands: &'a [Band],
    other_bands: &'a [Band],
    starts: Vec<usize>,
    best: Vec<f64>,
    /// 0, 1, 2 and so on.
    numbers: Vec<f64>,
}

/// The last step to a column and a row.
#[derive(Clone, Copy)]
enum Step {
    /// Past a column.
    Column,
    /// Past a row.
    Row,
    /// Past both, where so many documents of the cell are relevant, and not all.
    Both(usize),
}

impl Step {
    fn chosen(self) -> usize {
        if let Self::Both(count) = self { count } else { 0 }
    }
}

/// The possible last steps to a column and a row.
fn steps(grid: &Grid, column: usize, row: usize) -> impl Iterator<Item = Step> {
    let is_inner = column > 0 && row > 0;
    let in_cell = if is_inner { grid.of_cell(column - 1, row - 1) } else { 0 };
    let past_column = (column > 0).then_some(Step::Column);
    let past_row = (row > 0).then_some(Step::Row);
    past_column.into_iter().chain(past_row).chain((1..in_cell).map(Step::Both))
}

impl<'a> Sums<'a> {
    fn new(grid: &'a Grid, bands: &'a [Band], other_bands: &'a [Band], base: f64) -> Self {
        let starts = grid.before.iter().scan(0, |next, count| {
            *next += count + 1;
            Some(*next - count - 1)
        });
        let starts: Vec<usize> = starts.collect();
        let best = vec![f64::NEG_INFINITY; grid.count_sums()];
        let numbers = (0..=grid.places.len()).map(real).collect();
        let mut made = Self { grid, bands, other_bands, starts, best, numbers };
        made.best[0] = base;
        for column in 0..=grid.columns {
            for row in 0..=grid.rows {
                for step in steps(grid, column, row) {
                    made.take(step, column, row);
                }
            }
        }
        made
    }

    fn start(&self, column: usize, row: usize) -> usize {
        self.starts[column * (self.grid.rows + 1) + row]
    }

    fn at(&self, column: usize, row: usize) -> &[f64] {
        let start = self.start(column, row);
        &self.best[start..=start + self.grid.before(column, row)]
    }

    /// Where a step comes from, by how much the number of relevant documents grows, and what the step
    /// adds: a number, and another one for each relevant document before it.
    fn step(&self, step: Step, column: usize, row: usize) -> ((usize, usize), usize, (f64, f64)) {
        let grid = self.grid;
        let mut from = (column, row);
        let (mut added, mut grown) = ((0.0, 0.0), 0);
        let chosen = step.chosen();
        if !matches!(step, Step::Row) {
            from.0 -= 1;
        }
        if !matches!(step, Step::Column) {
            from.1 -= 1;
        }
        if from.0 < column
            && let Some(band) = self.bands.get(from.0)
        {
            let (fixed, each) = band.added[grid.of_column(from.0, row) + chosen];
            added = (fixed + each * real(grid.kept(from.0, from.1)), each);
        }
        if from.1 < row {
            grown = grid.of_row(from.0, from.1) + chosen;
            if let Some(band) = self.other_bands.get(from.1) {
                let (fixed, each) = band.added[grown];
                added = (added.0 - fixed, added.1 - each);
            }
        }
        (from, grown, added)
    }

    fn take(&mut self, step: Step, column: usize, row: usize) {
        let (from, grown, (fixed, each)) = self.step(step, column, row);
        let (start, end) = (self.start(from.0, from.1), self.start(column, row));
        let (earlier, later) = self.best.split_at_mut(end);
        let earlier = &earlier[start..=start + self.grid.before(from.0, from.1)];
        for ((best, sum), number) in later[grown..].iter_mut().zip(earlier).zip(&self.numbers) {
            let sum = sum + (fixed + each * number);
            *best = if sum > *best { sum } else { *best };
        }
    }

    /// The documents of a cell, the best ones first.
    fn in_cell(&self, cell: (usize, usize)) -> impl Iterator<Item = usize> {
        let unlisted = self.bands.len() == cell.0 && self.other_bands.len() == cell.1;
        let all = if unlisted { 0..self.grid.places.len() } else { 0..0 };
        let of =
            |bands: &'a [Band], at: usize| bands.get(at).map_or(&[][..], |band| &band.unjudged);
        let (of_column, of_row) = (of(self.bands, cell.0), of(self.other_bands, cell.1));
        let of_row = if of_column.is_empty() { of_row } else { &[] };
        let found = of_column.iter().chain(of_row.iter().rev()).copied().chain(all);
        found.filter(move |&number| self.grid.places[number] == cell)
    }

    /// The labels of a best sum with this number of relevant documents.
    fn label(&self, mut count: usize) -> Vec<bool> {
        let grid = self.grid;
        let mut labels = vec![false; grid.places.len()];
        let (mut column, mut row) = (grid.columns, grid.rows);
        while (column, row) != (0, 0) {
            let mut best = (f64::NEG_INFINITY, Step::Row);
            for step in steps(grid, column, row) {
                let (from, grown, (fixed, each)) = self.step(step, column, row);
                if grown <= count
                    && let Some(sum) = self.at(from.0, from.1).get(count - grown)
                {
                    let sum = sum + (fixed + each * real(count - grown));
                    if sum > best.0 {
                        best = (sum, step);
                    }
                }
            }
            let (from, grown, _) = self.step(best.1, column, row);
            if from.0 < column {
                for (label, place) in labels.iter_mut().zip(&grid.places) {
                    *label |= place.0 == from.0 && place.1 >= row;
                }
                for number in self.in_cell(from).take(best.1.chosen()) {
                    labels[number] = true;
                }
            }
            count -= grown;
            (column, row) = from;
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Ties;
    use proptest::prelude::*;

    /// A list of documents, some of which are judged to be relevant or not.
    fn rows(order: &[usize], known: &[Option<bool>], numbers: &[usize]) -> Rows {
        let grade = |&doc: &usize| known[doc].map_or(f64::NAN, |is| f64::from(u8::from(is)));
        let open = order.iter().enumerate().filter(|&(_, &doc)| known[doc].is_none());
        Rows {
            relevance: order.iter().map(grade).collect(),
            scores: (0..order.len()).map(|row| -real(row)).collect(),
            ties: Ties::Input,
            weights: Vec::new(),
            unjudged: open.clone().map(|(row, &doc)| (row, numbers[doc])).collect(),
            given: open.map(|(row, _)| row).collect(),
        }
    }

    /// Average precision down to rank k, times the number of relevant documents.
    fn precisions(list: &Rows, labels: &[bool], k: usize) -> f64 {
        let mut is_relevant: Vec<bool> = list.relevance.iter().map(|&grade| grade >= 1.0).collect();
        for &(row, number) in &list.unjudged {
            is_relevant[row] = labels[number];
        }
        let (mut found, mut sum) = (0, 0.0);
        for (row, _) in is_relevant.iter().enumerate().take(k).filter(|(_, is)| **is) {
            found += 1;
            sum += real(found) / real(row + 1);
        }
        sum
    }

    fn documents(
        most: usize,
    ) -> impl Strategy<Value = (Vec<Option<bool>>, [Vec<usize>; 2], usize)> {
        let known = proptest::collection::vec(
            prop_oneof![3 => Just(None), 1 => any::<bool>().prop_map(Some)],
            2..=most,
        );
        known.prop_flat_map(|known| {
            let all: Vec<usize> = (0..known.len()).collect();
            let order = Just(all).prop_shuffle();
            let lengths = (1..=known.len(), 1..=known.len(), 1..=known.len());
            (Just(known), order.clone(), order, lengths).prop_map(
                |(known, mut one, mut other, lengths)| {
                    one.truncate(lengths.0);
                    other.truncate(lengths.1);
                    let known = known.into_iter().collect();
                    let lists = [one, other].map(|list| list.into_iter().collect());
                    (known, lists, lengths.2)
                },
            )
        })
    }

    fn number(known: &[Option<bool>]) -> (Vec<usize>, usize) {
        let mut next = 0;
        let numbers = known.iter().map(|is| {
            next += usize::from(is.is_none());
            next.saturating_sub(1)
        });
        (numbers.collect(), next)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn no_labels_have_a_larger_difference((known, lists, k) in documents(11)) {
            let (numbers, unjudged) = number(&known);
            let [one, other] = lists.map(|list| rows(&list, &known, &numbers));
            let relevant = known.iter().filter(|is| **is == Some(true)).count();
            let counts = (relevant, unjudged);
            let found = find_largest([&one, &other], (1.0, k), counts, real);
            let mut best = f64::NEG_INFINITY;
            for bits in 0..1_usize << unjudged {
                let labels: Vec<bool> = (0..unjudged).map(|at| bits >> at & 1 == 1).collect();
                let sum = precisions(&one, &labels, k) - precisions(&other, &labels, k);
                let all = relevant + bits.count_ones() as usize;
                if all > 0 {
                    best = best.max(sum / real(all));
                }
            }
            if best.is_finite() {
                prop_assert!((found.value - best).abs() < 1e-12, "{} {best}", found.value);
                let labels = found.labels.unwrap();
                let all = relevant + labels.iter().filter(|is| **is).count();
                let sum = precisions(&one, &labels, k) - precisions(&other, &labels, k);
                prop_assert!((sum / real(all) - best).abs() < 1e-12);
            }
        }

        #[test]
        fn joined_bands_bound_the_difference((known, lists, k) in documents(60)) {
            let (numbers, unjudged) = number(&known);
            let [one, other] = lists.map(|list| rows(&list, &known, &numbers));
            let relevant = known.iter().filter(|is| **is == Some(true)).count();
            let counts = (relevant + 1, unjudged);
            let exact = find_largest([&one, &other], (1.0, k), counts, real);
            let found = find_within(400, [&one, &other], (1.0, k), counts, real);
            prop_assert!(found.value >= exact.value - 1e-12);
            prop_assert!(found.value <= 1.0 + 1e-12);
        }
    }
}
