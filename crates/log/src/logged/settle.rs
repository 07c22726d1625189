//! Tells which events of a batch are new, by the ids that are known.
//!
//! An id is known by 16 bytes of a hash. Nearly always, a text is the id of one thing: of a label, or of
//! a ranking and its event. Where another thing takes a text that is in use in the other role, its row
//! is under a second hash of the text.

use std::cmp::Ordering;

use crate::blocks::batch::{Batch, Event};
use crate::blocks::digest::Digest;
use crate::blocks::keys::{key, other_key};
use crate::blocks::labels::Labels;
use crate::blocks::rankings::Rankings;

use super::identity::identify;
use super::known::{EVENT, Entry, Key, Known, RANKING, SHIFT, shorten};

/// An event is stored.
pub const ACCEPTED: u8 = 0;
/// It was there already.
pub const DUPLICATE: u8 = 1;
/// Its id was there, with other content.
pub const CONFLICT: u8 = 2;

const HOUR: i64 = 3_600_000_000;

/// The keys of the ids in a batch: of each event, that of its own, and that of its ranking.
#[derive(Debug)]
pub struct Keys {
    project: i64,
    own: Vec<Key>,
    rankings: Vec<Key>,
}

impl Keys {
    /// The keys of the ids in a batch of a project.
    pub fn of(batch: &Batch, project: i64) -> Self {
        let mut keys = Self {
            project,
            own: Vec::with_capacity(batch.len()),
            rankings: Vec::with_capacity(batch.len()),
        };
        let mut before: Option<(&[u8], Key)> = None;
        for event in batch.events() {
            let (own, ranking) = ids_of(batch, event);
            // Labels of one ranking often come together.
            let known = before.filter(|known| known.0 == ranking);
            let (_, found) =
                *before.insert(known.unwrap_or_else(|| (ranking, key(project, ranking))));
            keys.rankings.push(found);
            keys.own.push(if own == ranking { found } else { key(project, own) });
        }
        keys
    }

    /// The higher halves of all keys, each once.
    pub fn highs(&self) -> Vec<i64> {
        distinct(self.own.iter().chain(&*self.rankings).map(|key| key.0).collect())
    }

    /// The higher halves of the other keys that are to be asked for, too: of texts that are there, but
    /// not in the role in which the batch has them.
    pub fn more_highs(&self, batch: &Batch, known: &Known) -> Vec<i64> {
        let mut highs = Vec::new();
        let mut ask = |key: Key, role: u8, text: &[u8]| {
            if known.get(key).is_some_and(|row| !known.has(row, role)) {
                highs.push(other_key(self.project, text).0);
            }
        };
        for (at, event) in batch.events().enumerate() {
            let (own, ranking) = ids_of(batch, event);
            ask(self.own[at], EVENT, own);
            ask(self.rankings[at], RANKING, ranking);
        }
        distinct(highs)
    }
}

fn distinct(mut numbers: Vec<i64>) -> Vec<i64> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The id of an event, and that of its ranking.
fn ids_of(batch: &Batch, event: Event) -> (&[u8], &[u8]) {
    match event {
        Event::Ranking(row) => (batch.rankings.event_id(row), batch.rankings.ranking_ids.get(row)),
        Event::Label(row) => (batch.labels.event_ids.get(row), batch.labels.ranking_ids.get(row)),
    }
}

/// What became of the events of a batch.
#[derive(Debug)]
pub struct Settled {
    project: i64,
    /// What was known, and behind it what is new.
    known: Known,
    /// Whose the new rows are: digests are made of events where they are asked for.
    owners: Vec<Event>,
    /// Of each event, what became of it.
    pub statuses: Vec<u8>,
    /// Of each event, the number under which it is stored; with a conflict, that of what was there.
    pub seqs: Vec<i64>,
    /// The new rankings: their rows and numbers.
    rankings: Vec<(usize, i64)>,
    /// The new labels, likewise, and their places in the batch.
    labels: Vec<(usize, i64, usize)>,
}

/// Rankings or labels of an hour and an environment.
#[derive(Debug, PartialEq)]
pub struct Group<T> {
    /// When the hour begins.
    pub start: i64,
    /// The place of the environment.
    pub environment: u8,
    /// The columns, sorted.
    pub columns: T,
}

/// The labels that a batch adds.
#[derive(Debug)]
pub struct Told {
    /// Those of rankings that are there.
    pub groups: Vec<Group<Labels>>,
    /// The others.
    pub waiting: Labels,
    /// What identifies what these say.
    pub digests: Vec<Digest>,
}

impl Settled {
    /// Tells which events are new, and gives them numbers from the first on.
    pub fn of(batch: &Batch, keys: &Keys, known: Known, first: i64) -> Self {
        let mut settled = Self {
            project: keys.project,
            known,
            owners: Vec::with_capacity(batch.len()),
            statuses: Vec::with_capacity(batch.len()),
            seqs: Vec::with_capacity(batch.len()),
            rankings: Vec::new(),
            labels: Vec::new(),
        };
        let mut next = first;
        for (at, event) in batch.events().enumerate() {
            let (own, ranking) = ids_of(batch, event);
            let (own_key, ranking_key) = (keys.own[at], keys.rankings[at]);
            let find = |key, text, role| settled.known.find(keys.project, key, text, role);
            let before = find(own_key, own, EVENT).or_else(|| match event {
                Event::Ranking(_) => find(ranking_key, ranking, RANKING),
                Event::Label(_) => None,
            });
            if let Some(row) = before {
                let is_same = settled.digest(batch, row) == shorten(&identify(batch, event));
                settled.statuses.push(if is_same { DUPLICATE } else { CONFLICT });
                settled.seqs.push(settled.known.rows[row].1.seq);
                continue;
            }
            let entry = Entry { seq: next, digest: 0, time: 0, role: EVENT };
            match event {
                Event::Ranking(row) => {
                    let time = batch.rankings.times[row];
                    let role = RANKING | environment(batch, row) << SHIFT;
                    if own == ranking {
                        let role = EVENT | role;
                        settled.add(event, own_key, own, Entry { time, role, ..entry });
                    } else {
                        settled.add(event, own_key, own, Entry { time, ..entry });
                        settled.add(event, ranking_key, ranking, Entry { time, role, ..entry });
                    }
                    settled.rankings.push((row, next));
                }
                Event::Label(row) => {
                    settled.add(event, own_key, own, entry);
                    settled.labels.push((row, next, at));
                }
            }
            settled.statuses.push(ACCEPTED);
            settled.seqs.push(next);
            next += 1;
        }
        settled
    }

    fn add(&mut self, event: Event, key: Key, text: &[u8], entry: Entry) {
        let is_taken = self.known.get(key).is_some();
        let key = if is_taken { other_key(self.project, text) } else { key };
        self.known.push(key, entry);
        self.owners.push(event);
    }

    /// The digest of what a row is about.
    fn digest(&self, batch: &Batch, row: usize) -> i64 {
        let rows = &self.known.rows;
        match row.checked_sub(rows.len() - self.owners.len()) {
            Some(place) => shorten(&identify(batch, self.owners[place])),
            None => rows[row].1.digest,
        }
    }

    /// The ids that are new, by their keys.
    pub fn ids(&self, batch: &Batch) -> Vec<(Key, Entry)> {
        let rows = &self.known.rows;
        let new = rows.len() - self.owners.len()..rows.len();
        let with_digest = |row: usize| {
            let (key, entry) = rows[row];
            (key, Entry { digest: self.digest(batch, row), ..entry })
        };
        let mut ids: Vec<(Key, Entry)> = new.map(with_digest).collect();
        // Neighbors in the order of the index are written together.
        ids.sort_unstable();
        ids
    }

    /// The ids of the new rankings.
    pub fn ranking_ids<'a>(&'a self, batch: &'a Batch) -> impl Iterator<Item = &'a [u8]> {
        self.rankings.iter().map(|&(row, _)| batch.rankings.ranking_ids.get(row))
    }

    /// Whether each context of the batch has a new ranking.
    pub fn uses(&self, batch: &Batch) -> Vec<bool> {
        let mut uses = vec![false; batch.contexts.len()];
        for &(row, _) in &self.rankings {
            uses[code(batch, row)] = true;
        }
        uses
    }

    /// The new rankings by hour and environment, with the numbers of their contexts.
    pub fn rankings(&self, batch: &Batch, contexts: &[i64]) -> Vec<Group<Rankings>> {
        let all = &batch.rankings;
        let place = |&(row, _): &(usize, i64)| (hour(all.times[row]), environment(batch, row));
        let order = |one: &(usize, i64), other: &(usize, i64)| {
            let id = |row: usize| (all.times[row], all.ranking_ids.get(row));
            place(one).cmp(&place(other)).then_with(|| id(one.0).cmp(&id(other.0)))
        };
        groups(&self.rankings, order, place, |some| {
            let rows: Vec<usize> = some.iter().map(|&(row, _)| row).collect();
            let mut columns = all.take(&rows);
            columns.seqs = some.iter().map(|&(_, seq)| seq).collect();
            columns.contexts = rows.iter().map(|&row| contexts[code(batch, row)]).collect();
            columns
        })
    }

    /// The new labels, together with those that have waited for the new rankings.
    pub fn labels(&self, batch: &Batch, keys: &Keys, waited: &Labels, theirs: &[Digest]) -> Told {
        let rows: Vec<usize> = self.labels.iter().map(|&(row, ..)| row).collect();
        let mut own = batch.labels.take(&rows);
        own.seqs = self.labels.iter().map(|&(_, seq, _)| seq).collect();
        let mut all = Labels::join(&[waited, &own]);
        let mut waiting = Vec::new();
        let mut placed: Vec<(usize, u8)> = Vec::with_capacity(all.len());
        for row in 0..all.len() {
            let id = all.ranking_ids.get(row);
            let key = match row.checked_sub(waited.len()) {
                None => key(self.project, id),
                Some(place) => keys.rankings[self.labels[place].2],
            };
            match self.known.find(self.project, key, id, RANKING) {
                None => waiting.push(row),
                Some(place) => {
                    let ranking = self.known.rows[place].1;
                    all.shown[row] = ranking.time;
                    placed.push((row, ranking.role >> SHIFT));
                }
            }
        }
        let digest = |&row: &usize| match row.checked_sub(waited.len()) {
            None => theirs[row],
            Some(place) => identify(batch, Event::Label(self.labels[place].0)),
        };
        let digests = waiting.iter().map(digest).collect();
        let place = |&(row, environment): &(usize, u8)| (hour(all.shown[row]), environment);
        let order = |one: &(usize, u8), other: &(usize, u8)| {
            place(one).cmp(&place(other)).then_with(|| all.key(one.0).cmp(&all.key(other.0)))
        };
        let groups = groups(&placed, order, place, |some| {
            all.take(&some.iter().map(|&(row, _)| row).collect::<Vec<_>>())
        });
        Told { groups, waiting: all.take(&waiting), digests }
    }
}

/// The context of a ranking, by its place.
fn code(batch: &Batch, row: usize) -> usize {
    crate::blocks::batch::at(batch.rankings.contexts[row])
}

#[allow(clippy::cast_possible_truncation)] // there are three
fn environment(batch: &Batch, row: usize) -> u8 {
    batch.contexts[code(batch, row)].environment as u8
}

/// When the hour of a time begins.
fn hour(time: i64) -> i64 {
    time - time.rem_euclid(HOUR)
}

/// Sorts rows, and makes columns of those of each hour and environment.
fn groups<R: Copy + Ord, T>(
    rows: &[R],
    order: impl Fn(&R, &R) -> Ordering,
    place: impl Fn(&R) -> (i64, u8),
    make: impl Fn(&[R]) -> T,
) -> Vec<Group<T>> {
    let mut rows = rows.to_vec();
    let order = |one: &R, other: &R| order(one, other).then_with(|| one.cmp(other));
    if !rows.is_sorted_by(|one, other| order(one, other) != Ordering::Greater) {
        rows.sort_unstable_by(order);
    }
    rows.chunk_by(|one, other| place(one) == place(other))
        .map(|some| {
            let (start, environment) = place(&some[0]);
            Group { start, environment, columns: make(some) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::list::List;
    use crate::logged::events::{Head, Label, push_label, push_ranking};
    use proptest::prelude::*;

    const PROJECT: i64 = 7;

    /// Whether it is a label, its id, that of its ranking, its time, and where it was ranked.
    type Drawn = (bool, String, String, i64, usize);
    /// A number, and what an event says beside its id.
    type Kept = (i64, (bool, String, i64, usize));
    /// A label: its number, and when its ranking was shown.
    type Shown = (i64, i64, u8);

    fn drawn() -> impl Strategy<Value = Drawn> {
        let times = prop::sample::select(&[-1, 0, HOUR - 1, HOUR][..]);
        let event = (any::<bool>(), "[a-e]", "[a-e]", times, 0..3usize, any::<bool>());
        event.prop_map(|(is_label, own, ranking, time, environment, is_alone)| {
            let own = if is_alone && !is_label { ranking.clone() } else { own };
            (is_label, own, ranking, time, if is_label { 0 } else { environment })
        })
    }

    fn push((is_label, own, ranking, time, environment): &Drawn, batch: &mut Batch) {
        let (event_id, ranking_id) = (Some(own.as_bytes()), ranking.as_bytes());
        let (time, environment) = (*time, *environment);
        if *is_label {
            let (doc_id, names, value) = (&b"d"[..], &[][..], f64::NAN);
            let label = Label { event_id, ranking_id, doc_id, time, kind: 2, names, value };
            push_label(batch, &label);
        } else {
            let head = Head {
                event_id,
                ranking_id,
                time,
                query_key: b"",
                user_id: b"",
                model: b"",
                version: b"",
                environment,
                attributes: &[],
            };
            push_ranking(batch, &head, &List::default());
        }
        batch.end_object(1);
    }

    fn find(kept: &[(String, Kept)], id: &str) -> Option<Kept> {
        kept.iter().find(|(known, _)| known == id).map(|(_, kept)| kept.clone())
    }

    fn know(rows: &[(Key, Entry)], highs: &[Vec<i64>]) -> Known {
        let mut known = Known::default();
        for &(key, entry) in
            rows.iter().filter(|row| highs.iter().any(|some| some.contains(&row.0.0)))
        {
            known.add(key, entry, entry.checksum(key).into()).unwrap();
        }
        known
    }

    proptest! {
        #[test]
        fn the_first_event_with_an_id_is_kept_and_labels_are_with_their_rankings(
            batches in prop::collection::vec(prop::collection::vec(drawn(), 0..7), 1..5),
        ) {
            let mut rows: Vec<(Key, Entry)> = vec![];
            let (mut events, mut rankings) = (vec![], vec![]);
            let (mut waiting, mut digests) = (Labels::default(), Vec::new());
            let mut next = 1;
            for drawn in &batches {
                let mut batch = Batch::default();
                for one in drawn {
                    push(one, &mut batch);
                }
                let keys = Keys::of(&batch, PROJECT);
                let first = keys.highs();
                let more = keys.more_highs(&batch, &know(&rows, std::slice::from_ref(&first)));
                let settled = Settled::of(&batch, &keys, know(&rows, &[first, more]), next);

                let (mut shown, mut told): (Vec<Shown>, Vec<(i64, &str)>) = (vec![], vec![]);
                for (at, (is_label, own, ranking, time, environment)) in drawn.iter().enumerate() {
                    let content = (*is_label, ranking.clone(), *time, *environment);
                    let before = find(&events, own).or_else(|| {
                        if *is_label { None } else { find(&rankings, ranking) }
                    });
                    let expected = if let Some((seq, known)) = before {
                        (if known == content { DUPLICATE } else { CONFLICT }, seq)
                    } else {
                        let kept = (next, content);
                        events.push((own.clone(), kept.clone()));
                        if *is_label {
                            told.push((next, ranking));
                        } else {
                            rankings.push((ranking.clone(), kept));
                            shown.push((next, *time, u8::try_from(*environment).unwrap()));
                        }
                        next += 1;
                        (ACCEPTED, next - 1)
                    };
                    prop_assert_eq!((settled.statuses[at], settled.seqs[at]), expected);
                }
                let ids = settled.ids(&batch);
                for new in &ids {
                    prop_assert!(rows.iter().all(|row| row.0 != new.0));
                    rows.push(*new);
                }
                prop_assert!(ids.is_sorted());

                let numbers: Vec<i64> = (100..).take(batch.contexts.len()).collect();
                let groups = settled.rankings(&batch, &numbers);
                let mut found: Vec<Shown> = vec![];
                for group in &groups {
                    prop_assert!(group.columns.is_sorted());
                    for (&seq, &time) in group.columns.seqs.iter().zip(&group.columns.times) {
                        prop_assert!((group.start..group.start + HOUR).contains(&time));
                        found.push((seq, time, group.environment));
                    }
                }
                let used: Vec<_> = groups.iter().map(|group| (group.start, group.environment)).collect();
                prop_assert!(used.is_sorted_by(|one, other| one < other));
                found.sort_unstable();
                prop_assert_eq!(&found, &shown);

                let theirs: Vec<usize> = (0..waiting.len()).filter(|&row| {
                    settled.ranking_ids(&batch).any(|id| id == waiting.ranking_ids.get(row))
                }).collect();
                let rest: Vec<usize> = (0..waiting.len()).filter(|row| !theirs.contains(row)).collect();
                let own = |rows: &[usize]| -> Vec<Digest> { rows.iter().map(|&row| digests[row]).collect() };
                let waited = waiting.take(&theirs);
                let answer = settled.labels(&batch, &keys, &waited, &own(&theirs));
                let ids: Vec<String> =
                    (0..waited.len()).map(|row| String::from_utf8(waited.ranking_ids.get(row).to_vec()).unwrap()).collect();
                told.extend(waited.seqs.iter().copied().zip(ids.iter().map(String::as_str)));
                let mut expected: Vec<Shown> = told.iter().filter_map(|(seq, id)| {
                    let (_, (_, _, time, environment)) = find(&rankings, id)?;
                    Some((*seq, time, u8::try_from(environment).unwrap()))
                }).collect();
                expected.sort_unstable();
                let mut found: Vec<Shown> = vec![];
                for group in &answer.groups {
                    prop_assert!(group.columns.is_sorted());
                    for (&seq, &time) in group.columns.seqs.iter().zip(&group.columns.shown) {
                        prop_assert!((group.start..group.start + HOUR).contains(&time));
                        found.push((seq, time, group.environment));
                    }
                }
                found.sort_unstable();
                prop_assert_eq!(found, expected);
                let mut left: Vec<i64> = told.iter().filter(|(_, id)| find(&rankings, id).is_none()).map(|(seq, _)| *seq).collect();
                left.sort_unstable();
                let mut seqs = answer.waiting.seqs.clone();
                seqs.sort_unstable();
                prop_assert_eq!(&*seqs, &*left);
                let kept = own(&rest);
                waiting = Labels::join(&[&waiting.take(&rest), &answer.waiting]);
                digests = kept.iter().chain(&*answer.digests).copied().collect();
            }
        }
    }
}
