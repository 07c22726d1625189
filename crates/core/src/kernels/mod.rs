//! Measures as functions of one ranked query. A kernel sees grades and ranks, never documents.

mod agreement;
mod auc;
mod binary;
mod cascade;
mod count;
mod cwl;
mod discounts;
mod diversity;
mod draw;
mod expected_exposure;
mod experimental;
mod exposure;
mod gain;
mod gains;
mod items;
mod judged;
mod kernel;
mod lists;
mod loss;
mod params;
mod query;
pub mod relstring;
mod sampled;
mod sets;
pub mod views;

pub use gains::Gains;
pub use kernel::{Apart, Kernel, Make, Needs, OfRun, OfSamples, RunLists, Sample, Unknown, Wanted};
pub use lists::{Batched, Lists};
pub use params::{
    Browsing, Denominator, Discount, Gain, Goal, Ideal, Params, Quantity, Rounding, Share,
};
pub use query::{Place, Query, Ranking, Reads, Shown, Tie};

use crate::error::{Error, Kind, Result};

/// The kernels of each family by name.
const FAMILIES: [&[(&str, Make)]; 16] = [
    gain::TABLE,
    loss::TABLE,
    binary::TABLE,
    experimental::TABLE,
    sets::TABLE,
    judged::TABLE,
    sampled::TABLE,
    cascade::TABLE,
    cwl::TABLE,
    expected_exposure::TABLE,
    agreement::TABLE,
    diversity::TABLE,
    auc::TABLE,
    items::TABLE,
    exposure::TABLE,
    count::TABLE,
];

/// Every kernel and its name.
pub fn kernels() -> impl Iterator<Item = (&'static str, Make)> {
    FAMILIES.into_iter().flatten().copied()
}

/// Makes a kernel.
pub fn make(name: &str, params: &Params) -> Result<Box<dyn Kernel>> {
    let texts = std::iter::once(relstring::TEXT);
    match kernels().chain(texts).find(|(known, _)| *known == name) {
        Some((_, make)) => Ok(make(params)),
        None => Err(Error::new(
            Kind::Measure,
            "unknown_kernel",
            format!("expected the name of a kernel, found `{name}`"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::query::real;
    use crate::policy::Ties;
    use crate::rank::ranked::Ranked;
    use proptest::prelude::*;

    /// Every order of these documents in which no score is above the one before it.
    fn orders(docs: &[(i8, f64)]) -> Vec<Vec<(i8, f64)>> {
        if docs.is_empty() {
            return vec![Vec::new()];
        }
        let best = docs.iter().map(|doc| doc.0).max().unwrap();
        let firsts = (0..docs.len()).filter(|&index| docs[index].0 == best);
        let with_first = firsts.flat_map(|index| {
            let mut rest = docs.to_vec();
            let first = rest.remove(index);
            orders(&rest).into_iter().map(move |mut order| {
                order.insert(0, first);
                order
            })
        });
        with_first.collect()
    }

    /// How many families have kernels that read gains, ideals or denominators.
    const WITH_FORMS: usize = 5;

    /// Every kernel, and those that have other forms in each of them.
    fn kernels(k: Option<usize>) -> Vec<(&'static str, Box<dyn Kernel>)> {
        let default = Params { k, ..Params::default() };
        let mut forms = vec![
            default.clone(),
            Params { gain: Gain::Binary, ..default.clone() },
            Params { ideal: Ideal::Whole, ..default.clone() },
        ];
        for denominator in [
            Denominator::Relevant,
            Denominator::Reachable,
            Denominator::Cutoff,
            Denominator::Retrieved,
            Denominator::Found,
        ] {
            forms.push(Params { denominator: Some(denominator), ..default.clone() });
        }
        if k.is_some() {
            forms.push(Params { ideal: Ideal::Slots, ..default });
        }
        // Only the families up to `sets` have other forms. Users of the C/W/L framework read 1,000 ranks,
        // which takes long without optimization.
        let shallow = Params { k: k.or(Some(20)), ..forms[0].clone() };
        let every = forms.iter().enumerate().flat_map(|(at, form)| {
            let families = if at == 0 { FAMILIES.len() } else { WITH_FORMS };
            let shallow = &shallow;
            FAMILIES[..families].iter().copied().flat_map(move |family| {
                let form = if std::ptr::eq(family, cwl::TABLE) { shallow } else { form };
                family.iter().map(move |(name, make)| (*name, make(form)))
            })
        });
        every.collect()
    }

    fn value(kernel: &dyn Kernel, order: &[(i8, f64)], ideal: &[f64], ties: Ties) -> f64 {
        let relevance: Vec<f64> = order.iter().map(|doc| doc.1).collect();
        let scores: Vec<f64> = order.iter().map(|doc| f64::from(doc.0)).collect();
        let mut ranked = Ranked::default();
        ranked.take_in_order(&relevance, &scores, ties);
        let Ranked { ranks, grades, ties, .. } = &ranked;
        kernel.value(&Query {
            ranks,
            grades,
            ties,
            retrieved: order.len(),
            ideal,
            subtopics: None,
            items: None,
        })
    }

    proptest! {
        #[test]
        fn documents_can_be_left_out_where_a_kernel_says_so(
            grades in prop::collection::vec(-1i8..4, 0..30),
            k in prop::option::of(1usize..20),
            variants in (any::<bool>(), any::<bool>()),
        ) {
            let grades: Vec<f64> = grades.into_iter().map(f64::from).collect();
            let ranked: Vec<(u32, f64)> = (1..).zip(grades.iter().copied()).collect();
            let keep = |is_read: fn(f64) -> bool| -> Vec<(u32, f64)> {
                ranked.iter().copied().filter(|one| is_read(one.1)).collect()
            };
            let (not_zero, positive) = (keep(|grade| grade != 0.0), keep(|grade| grade > 0.0));
            let (negative_gain, is_exponential) = variants;
            let mut forms = vec![Params { k, negative_gain, ..Params::default() }];
            if is_exponential {
                forms.push(Params { gain: Gain::Exp2, ..forms[0].clone() });
            }
            for ideal in [Ideal::Retrieved, Ideal::Whole] {
                forms.push(Params { ideal, ..forms[0].clone() });
            }
            let find = |kernel: &dyn Kernel, docs: &[(u32, f64)]| {
                let (ranks, of_docs): (Vec<u32>, Vec<f64>) = docs.iter().copied().unzip();
                let mut ideal = of_docs.clone();
                ideal.sort_by(|a, b| b.total_cmp(a));
                let retrieved = grades.len();
                let query = Query {
                    ranks: &ranks,
                    grades: &of_docs,
                    ties: &[],
                    retrieved,
                    ideal: &ideal,
                    subtopics: None, items: None,
                };
                kernel.value(&query)
            };
            for (name, make) in super::kernels() {
                for form in &forms {
                    let needs_cutoff = matches!(name, "precision" | "recall" | "success" | "f");
                    if k.is_none() && needs_cutoff {
                        continue;
                    }
                    let kernel = make(form);
                    for (reads, few) in [(Reads::NotZero, &not_zero), (Reads::Positive, &positive)] {
                        if kernel.reads() < reads {
                            continue;
                        }
                        let (all, fewer) = (find(&*kernel, &ranked), find(&*kernel, few));
                        prop_assert_eq!((all + 0.0).to_bits(), (fewer + 0.0).to_bits(), "{}", name);
                    }
                }
            }
            let read = |name: &str| super::make(name, &forms[0]).unwrap().reads();
            prop_assert!(read("ndcg") > Reads::All && read("ordering_loss") > Reads::All);
            prop_assert_eq!(read("ap"), Reads::Positive);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn averages_are_the_means_over_all_orders_of_ties(
            docs in prop::collection::vec((0i8..3, prop::option::weighted(0.7, -1i8..4)), 0..6),
            others in prop::collection::vec(0i8..4, 0..3),
            k in prop::option::of(1usize..8),
        ) {
            let docs: Vec<(i8, f64)> = docs
                .into_iter()
                .map(|(score, grade)| (score, grade.map_or(f64::NAN, f64::from)))
                .collect();
            let mut ideal: Vec<f64> =
                docs.iter().map(|doc| doc.1).filter(|grade| !grade.is_nan()).collect();
            ideal.extend(others.into_iter().map(f64::from));
            ideal.sort_by(|a, b| b.total_cmp(a));
            let orders = orders(&docs);
            for (name, kernel) in kernels(k) {
                let needs_cutoff = matches!(name, "precision" | "recall" | "success" | "f");
                if !kernel.averages_ties() || (k.is_none() && needs_cutoff) {
                    continue;
                }
                let expected = orders
                    .iter()
                    .map(|order| value(kernel.as_ref(), order, &ideal, Ties::Input))
                    .sum::<f64>() / real(orders.len());
                let found = value(kernel.as_ref(), &orders[0], &ideal, Ties::Average);
                let is_close = (found - expected).abs() < 1e-12 || (found.is_nan() && expected.is_nan());
                prop_assert!(is_close, "{name}: {found} where the orders average {expected}");
            }
        }
    }
}
