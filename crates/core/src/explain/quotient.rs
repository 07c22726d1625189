//! How many documents of each grade give the largest or smallest quotient of two sums that add up over
//! the levels of gain, such as nDCG.

/// The sum of the ideal order, level by level, by how many unjudged documents reach each level.
pub struct IdealSums {
    /// What does not depend on them.
    fixed: f64,
    /// By level of the scale but the lowest, by how many reach it.
    by_level: Vec<Vec<f64>>,
}

impl IdealSums {
    /// `known` and `levels` ascend; `cumulated` has the sums of the discounts of the first ranks.
    pub fn new(known: &[f64], levels: &[f64], unjudged: usize, cumulated: &[f64]) -> Self {
        let sum = |count: usize| cumulated[count.min(cumulated.len() - 1)];
        let mut steps: Vec<f64> =
            known.iter().chain(levels).copied().filter(|&gain| gain > 0.0).collect();
        steps.sort_unstable_by(f64::total_cmp);
        steps.dedup();
        let mut made =
            Self { fixed: 0.0, by_level: vec![vec![0.0; unjudged + 1]; levels.len() - 1] };
        let mut before = 0.0;
        for step in steps {
            let height = step - before;
            before = step;
            let reaching = known.len() - known.partition_point(|&gain| gain < step);
            match levels.partition_point(|&level| level < step) {
                0 => made.fixed += height * sum(reaching + unjudged),
                level if level == levels.len() => made.fixed += height * sum(reaching),
                level => {
                    for (count, total) in made.by_level[level - 1].iter_mut().enumerate() {
                        *total += height * sum(reaching + count);
                    }
                }
            }
        }
        made
    }
}

/// Looks for the numbers of documents of each level that give the largest quotient, or the smallest.
pub struct Search<'a> {
    /// The sum of discounted gains, less what the levels above the lowest add to it.
    base: f64,
    /// The weights of the first so many documents, added up.
    weights: Vec<f64>,
    /// How much each level but the lowest is above the one below it.
    heights: Vec<f64>,
    ideal: Option<&'a IdealSums>,
    /// 1 for the largest, -1 for the smallest.
    sign: f64,
}

/// Dinkelbach's method at least doubles its right digits each time near the end.
const MOST_ROUNDS: usize = 100;

impl<'a> Search<'a> {
    /// Documents in this order, whose weights are by number, reach the levels one after another.
    pub fn new(
        order: &[usize],
        weights: &[f64],
        base: f64,
        levels: &[f64],
        ideal: Option<&'a IdealSums>,
        sign: f64,
    ) -> Self {
        let cumulated = order.iter().scan(0.0, |sum, &number| {
            *sum += weights[number];
            Some(*sum)
        });
        let weights: Vec<f64> = std::iter::once(0.0).chain(cumulated).collect();
        Self {
            base: base + levels[0] * weights[order.len()],
            weights,
            heights: levels.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            ideal,
            sign,
        }
    }

    /// How many documents reach each level but the lowest; none where the quotient is undefined.
    pub fn find(&self) -> Option<Vec<usize>> {
        let all = self.weights.len() - 1;
        let mut best = vec![all; self.heights.len()];
        let (mut sum, mut ideal) = self.sums(&best);
        if self.ideal.is_none() {
            return Some(self.best_at(0.0));
        }
        if ideal <= 0.0 {
            return None;
        }
        for _ in 0..MOST_ROUNDS {
            let counts = self.best_at(sum / ideal);
            let found = self.sums(&counts);
            if found.1 <= 0.0 || self.sign * (found.0 / found.1 - sum / ideal) <= 0.0 {
                break;
            }
            (sum, ideal) = found;
            best = counts;
        }
        Some(best)
    }

    /// Both sums for these numbers.
    fn sums(&self, counts: &[usize]) -> (f64, f64) {
        let levels = || self.heights.iter().zip(counts);
        let sum = levels().map(|(height, &count)| height * self.weights[count]).sum::<f64>();
        let ideal = self.ideal.map_or(1.0, |ideal| {
            let of_levels = ideal.by_level.iter().zip(counts);
            ideal.fixed + of_levels.map(|(sums, &count)| sums[count]).sum::<f64>()
        });
        (self.base + sum, ideal)
    }

    /// The numbers with the largest difference between the sum and a multiple of the ideal: from the
    /// highest level down, the best for each number of documents that reach the level or less.
    fn best_at(&self, multiple: f64) -> Vec<usize> {
        let all = self.weights.len() - 1;
        let mut above = vec![0.0; all + 1];
        let mut choices = Vec::with_capacity(self.heights.len());
        for level in (0..self.heights.len()).rev() {
            let (mut best, mut best_count) = (f64::NEG_INFINITY, 0);
            let mut chosen = Vec::with_capacity(all + 1);
            for (count, above) in above.iter_mut().enumerate() {
                let ideal = self.ideal.map_or(0.0, |ideal| ideal.by_level[level][count]);
                let sum = self.heights[level] * self.weights[count];
                let value = self.sign * (sum - multiple * ideal) + *above;
                if value > best {
                    (best, best_count) = (value, count);
                }
                *above = best;
                chosen.push(best_count);
            }
            choices.push(chosen);
        }
        let mut most = all;
        let counts = choices.iter().rev().map(|chosen| {
            most = chosen[most];
            most
        });
        counts.collect()
    }
}
