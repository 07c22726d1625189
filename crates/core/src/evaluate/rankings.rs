//! Evaluates rankings that are held in memory.

use std::sync::atomic::{self, AtomicUsize};

use crate::error::{Error, Kind, Result, show};
use crate::evaluate::evaluation::{Evaluation, finish};
use crate::evaluate::held::finish_run;
use crate::evaluate::plan::{Measure, Plan};
use crate::evaluate::scorer::{Scored, Scorer};
use crate::evaluate::trial::{Listed, Trial};
use crate::items::Items;
use crate::items::features::Features;
use crate::kernels::{RunLists, Wanted};
use crate::notes::{Note, Notes};
use crate::qrels::judgments::Judgments;
use crate::rank::ranked::Ranked;
use crate::rank::rankings::Rankings;
use crate::threads::{FEW_ROWS, on_threads};
use crate::watch::Watch;

/// The judged documents of all queries as items.
struct Judged<'a> {
    judgments: &'a Judgments,
    /// Which item each of their documents is.
    items: Vec<u32>,
}

impl Judged<'_> {
    /// Those of one query with their grades.
    fn of(&self, query: usize) -> impl Iterator<Item = (u32, f64)> {
        let (offsets, numbered) = (self.judgments.axis().offsets(), self.judgments.by_number());
        let rows = offsets[query]..offsets[query + 1];
        let codes = numbered.codes[rows.clone()].iter().map(|&code| self.items[code as usize]);
        codes.zip(numbered.grades[rows].iter().copied())
    }
}

/// The judged documents as items, where a measure needs to know.
fn find_judged(plan: &Plan) -> Result<Option<Judged<'_>>> {
    let asks = |asked: &(&Measure, Wanted)| asked.1 == Wanted::GroupsOfRelevant;
    let (Some((measure, _)), Some(of)) = (plan.of_items().find(asks), plan.items.as_deref()) else {
        return Ok(None);
    };
    let Some(judgments) = plan.judged.as_deref() else {
        return Err(Error::new(
            Kind::Measure,
            "items_unavailable",
            format!(
                "expected judgments beside the rankings, whose documents {} needs, found rankings \
                 alone",
                measure.name
            ),
        )
        .hint("evaluate the judgments and the run with rankscope.evaluate"));
    };
    let docs = &judgments.by_number().docs;
    let items = (0..docs.len()).map(|doc| of.find(&docs.get(doc))).collect();
    Ok(Some(Judged { judgments, items }))
}

/// Refuses numbers below 0 where they are shares of groups.
fn check_groups(plan: &Plan) -> Result<()> {
    let asks = |wants| matches!(wants, Wanted::Groups | Wanted::GroupsOfRelevant);
    let features = plan.items.as_deref().and_then(Items::features);
    match plan.of_items().find(|(_, wants)| asks(*wants)) {
        Some((measure, _)) if features.is_some_and(Features::has_negative) => Err(Error::new(
            Kind::Format,
            "item_attributes",
            format!(
                "expected the share of each group in an item, as {} needs, found a number below 0",
                measure.name
            ),
        )
        .hint("pass the groups of items as text, or numbers of 0 and more")
        .file("items")),
        _ => Ok(()),
    }
}

/// How many queries a thread takes at once.
const AT_ONCE: usize = 256;

impl Rankings {
    /// The values of a plan whose ties are those of the rankings.
    pub fn evaluate(&self, plan: &Plan, threads: usize) -> Result<Evaluation> {
        check_groups(plan)?;
        let items_of = self.find_items(plan);
        let judged = find_judged(plan)?;
        let scored = self.score(plan, (&items_of, judged.as_ref()), threads)?;
        let mut evaluation = finish_run(plan, self.axis(), scored, self.run_only())?;
        if let Some(of) = plan.items.as_deref() {
            self.measure_run(plan, (&items_of, of), &mut evaluation);
            self.note_items(plan, (&items_of, of), &mut evaluation.notes)?;
        }
        Ok(self.add_notes(evaluation))
    }

    /// The item that each of the documents is, where a measure needs to know.
    #[allow(clippy::cast_possible_truncation)] // documents are counted in 32 bits
    fn find_items(&self, plan: &Plan) -> Vec<u32> {
        match plan.items.as_deref().filter(|_| plan.of_items().next().is_some()) {
            Some(of) => {
                (0..self.docs().len() as u32).map(|doc| of.find(&self.docs().get(doc))).collect()
            }
            None => Vec::new(),
        }
    }

    /// The documents of the lists of a run, each down to the depth of the plan.
    fn lists(&self, depth: usize) -> impl Iterator<Item = &[u32]> {
        let present = (0..self.len()).filter(|&query| self.is_present(query));
        present.map(move |query| {
            let list = &self.codes()[self.offsets()[query]..self.offsets()[query + 1]];
            &list[..list.len().min(depth)]
        })
    }

    /// Computes the measures of all lists together.
    fn measure_run(&self, plan: &Plan, (items_of, of): (&[u32], &Items), made: &mut Evaluation) {
        let lists = self.lists(plan.depth).collect();
        let run = RunLists { lists, items_of, of };
        for (column, measure) in plan.measures.iter().enumerate() {
            if let Some(whole) = measure.kernel.of_run() {
                made.means[column] = whole.value(&run);
                made.denominators[column] = run.lists.len() as u64;
            }
        }
    }

    /// Notes recommended items of which a measure does not know what it wants to. It is an error to know
    /// nothing of any of them, or of any user: then ids are probably written in two ways.
    fn note_items(
        &self,
        plan: &Plan,
        (items_of, of): (&[u32], &Items),
        notes: &mut Notes,
    ) -> Result<()> {
        let deepest = plan.cutoffs.iter().copied().max().unwrap_or(usize::MAX);
        let mut is_shown = vec![false; items_of.len()];
        let lists = self.lists(plan.depth.min(deepest));
        lists.flatten().for_each(|&doc| is_shown[doc as usize] = true);
        let shown = || (0..items_of.len()).filter(|&doc| is_shown[doc]);
        // A recommender of new items alone has none in the history, but then both are in the catalogue.
        let are_written_alike = || {
            let describes = |item| of.features().is_some_and(|features| features.knows(item));
            let is_listed = |item| of.is_offered(item) || describes(item);
            shown().any(|doc| is_listed(items_of[doc]))
                && !of.some(&|item| is_listed(item) && of.users(item) > 0).is_empty()
        };
        let mut check = |wanted: &[Wanted], note, what, is_known: &dyn Fn(u32) -> bool| {
            if !plan.of_items().any(|(_, wants)| wanted.contains(&wants)) {
                return Ok(());
            }
            let unknown = shown().filter(|&doc| !is_known(items_of[doc])).count();
            let may_be_new = note == Note::ItemsWithoutHistory && are_written_alike();
            if unknown > 0 && unknown == shown().count() && !may_be_new {
                #[allow(clippy::cast_possible_truncation)] // documents have numbers of 32 bits
                let first = shown().take(3).map(|doc| quote(&self.docs().get(doc as u32)));
                let first: Vec<String> = first.collect();
                return Err(nothing_common("items", what, &first, &of.some(is_known)));
            }
            notes.add_many(note, unknown as u64, (0, 0));
            Ok(())
        };
        check(
            &[Wanted::History, Wanted::HistoryAndCatalogue],
            Note::ItemsWithoutHistory,
            "history",
            &|item| of.users(item) > 0,
        )?;
        check(
            &[
                Wanted::Features,
                Wanted::HistoryAndCategories,
                Wanted::Groups,
                Wanted::GroupsOfRelevant,
            ],
            Note::ItemsWithoutAttributes,
            "items",
            &|item| of.features().is_some_and(|features| features.knows(item)),
        )?;
        check(
            &[Wanted::Catalogue, Wanted::HistoryAndCatalogue],
            Note::ItemsOutsideCatalogue,
            "catalogue",
            &|item| of.is_offered(item),
        )?;
        let asks = |(_, wants)| wants == Wanted::HistoryAndCategories;
        let users = || (0..self.len()).filter(|&query| self.is_present(query));
        if plan.of_items().any(asks) {
            let names = |query: usize| self.axis().name(query);
            if !users().any(|user| of.find_user(&names(user)).is_some()) {
                let first = users().take(3).map(|user| quote(&names(user)));
                let first: Vec<String> = first.collect();
                return Err(nothing_common("users", "history", &first, &of.some_users()));
            }
        }
        Ok(())
    }

    /// The same for a part of the queries, in which none may be both judged and in the run.
    pub fn evaluate_part(&self, plan: &Plan, threads: usize) -> Result<Evaluation> {
        let mut evaluation = finish(plan, self.axis(), self.score(plan, (&[], None), threads)?)?;
        evaluation.counts.run_only = self.run_only().len() as u64;
        Ok(self.add_notes(evaluation))
    }

    fn add_notes(&self, mut evaluation: Evaluation) -> Evaluation {
        evaluation.notes.merge(self.notes());
        evaluation.flat = self.flat();
        evaluation
    }

    fn score(
        &self,
        plan: &Plan,
        (items_of, judged): (&[u32], Option<&Judged<'_>>),
        threads: usize,
    ) -> Result<Vec<Scored>> {
        if plan.policy.ties != self.ties() {
            return Err(Error::new(
                Kind::Policy,
                "ties_fixed",
                "expected the ties with which the rankings were made, found others",
            )
            .hint("ties are chosen when Rankings are made: pass ties= there"));
        }
        let has_rows = !self.scores().is_empty();
        if plan.of_items().next().is_some() && has_rows && self.codes().is_empty() {
            return Err(no_items());
        }
        plan.check_rankings(self.axis())?;
        let threads = if self.scores().len() < FEW_ROWS { 1 } else { threads };
        let next = AtomicUsize::new(0);
        let work = |_: Watch<'_>| {
            let mut scorer = Scorer::new(plan, self.axis());
            let mut ranked = Ranked::default();
            let mut room = Vec::new();
            loop {
                let start = next.fetch_add(AT_ONCE, atomic::Ordering::Relaxed);
                if start >= self.len() {
                    return scorer.finish();
                }
                let end = self.len().min(start + AT_ONCE);
                for query in (start..end).filter(|&query| self.is_present(query)) {
                    let (relevance, scores) = self.list(query, &mut room);
                    ranked.take_in_order(relevance, scores, self.ties());
                    ranked.judged.clear();
                    ranked.judged.extend(self.judged(query));
                    ranked.items.clear();
                    if !items_of.is_empty() {
                        let rows = self.offsets()[query]..self.offsets()[query + 1];
                        let codes = self.codes()[rows].iter();
                        ranked.items.extend(codes.map(|&code| items_of[code as usize]));
                    }
                    ranked.judged_items.clear();
                    ranked.judged_items.extend(judged.iter().flat_map(|all| all.of(query)));
                    let code = |row| self.codes().get(self.offsets()[query] + row);
                    let name = |row| {
                        code(row).map_or_else(Vec::new, |&code| self.docs().get(code).to_vec())
                    };
                    scorer.score_ranked(query, &ranked, scores.len(), name);
                    scorer.compute_held();
                }
            }
        };
        Ok(on_threads(threads, &mut |_| Ok(()), work))
    }

    /// The values of the first measure of a plan at each of several cutoffs, which ascend up to its own:
    /// those of a query one after another, NaN where undefined. Nothing where the measure has none.
    pub fn values_at(&self, plan: &Plan, cutoffs: &[usize]) -> Result<Option<Vec<f64>>> {
        plan.check(self.axis())?;
        let kernel = &plan.measures[0].kernel;
        let mut trial = Trial::new(plan);
        let (mut room, mut of_ideal) = (Vec::new(), Vec::new());
        let mut values = Vec::with_capacity(self.len() * cutoffs.len());
        for query in 0..self.len() {
            let (relevance, scores) = self.list(query, &mut room);
            let ideal = self.axis().ideal(query, &mut of_ideal);
            let list = Listed { relevance, scores, ideal };
            let found = trial.look(list, self.ties(), |query| kernel.values_at(query, cutoffs));
            let Some(found) = found else { return Ok(None) };
            values.extend(found);
        }
        Ok(Some(values))
    }
}

fn quote(id: &[u8]) -> String {
    format!("`{}`", show(id))
}

/// The error for lists that have nothing in common with what is known of items.
fn nothing_common(what: &str, known: &str, shown: &[String], others: &[String]) -> Error {
    let code = if what == "users" { "no_common_users" } else { "no_common_items" };
    let (shown, others) = (shown.join(", "), others.join(", "));
    Error::new(
        Kind::Format,
        code,
        format!(
            "expected {what} that are both in the run and in {known}, found none: in the run are \
             {shown}, in {known} are {others}"
        ),
    )
    .hint(if known == "history" && what == "items" {
        "are their ids written in the same way? If all of these items are new, pass a catalogue, or the \
         attributes of items, with both"
    } else {
        "are their ids written in the same way?"
    })
}

fn no_items() -> Error {
    Error::new(
        Kind::Measure,
        "items_unavailable",
        "expected rankings with the ids of their items, found none",
    )
    .hint("arrays have none: name the column of items of a table, from_table(…, doc=\"item_id\")")
}
