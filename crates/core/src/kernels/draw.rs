//! The hypergeometric distribution: how many documents of one kind a random sample holds.

use super::query::real;

/// The chance of each number of relevant documents among `drawn` of `size` documents, of which `count`
/// are relevant: pairs of number and chance, which add up to 1.
pub(super) fn chances(size: usize, count: usize, drawn: usize) -> Vec<(usize, f64)> {
    let least = (count + drawn).saturating_sub(size);
    let most = count.min(drawn);
    // From the likeliest number outwards, so that no weight overflows and those lost are nothing.
    let mode = (((count + 1) * (drawn + 1)) / (size + 2)).clamp(least, most);
    let rise = |number: usize| {
        real(count - number) * real(drawn - number)
            / (real(number + 1) * real(size + number + 1 - count - drawn))
    };
    let mut weights = vec![0.0; most - least + 1];
    weights[mode - least] = 1.0;
    for number in mode..most {
        weights[number + 1 - least] = weights[number - least] * rise(number);
    }
    for number in (least..mode).rev() {
        weights[number - least] = weights[number + 1 - least] / rise(number);
    }
    let all: f64 = weights.iter().sum();
    (least..).zip(weights.into_iter().map(|weight| weight / all)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(all: usize, some: usize) -> f64 {
        (0..some).fold(1.0, |product, at| product * real(all - at) / real(at + 1))
    }

    #[test]
    fn chances_are_those_of_the_binomial_coefficients() {
        for size in 1..12 {
            for count in 0..=size {
                for drawn in 0..=size {
                    for (number, chance) in chances(size, count, drawn) {
                        let expected = choose(count, number) * choose(size - count, drawn - number)
                            / choose(size, drawn);
                        assert!((chance - expected).abs() < 1e-14, "{size} {count} {drawn}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_mean_of_many_is_their_share() {
        let mean: f64 = chances(3_000_000, 20_000, 1_000_000)
            .iter()
            .map(|&(at, chance)| real(at) * chance)
            .sum();
        assert!((mean / (20_000.0 / 3.0) - 1.0).abs() < 1e-9, "{mean}");
    }
}
