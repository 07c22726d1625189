//! What is known of items besides judgments: the catalogue that they come from, who had them before, and
//! what they are like.

pub mod features;

use std::sync::{Arc, OnceLock};

use crate::error::{Result, show};
use crate::ids::vocabulary::Vocabulary;
use crate::items::features::{Features, UNKNOWN};
use crate::qrels::judgments::Judgments;
use crate::table::columns::IdColumn;

/// What is known of items.
#[derive(Debug, Default)]
pub struct Items {
    ids: Vocabulary,
    /// By item, whether it is in the catalogue.
    is_offered: Vec<bool>,
    offered: usize,
    history: Option<History>,
    features: Option<Features>,
    /// The mean share that items of the catalogue have of each group, once a measure asked.
    groups: OnceLock<Option<Vec<f64>>>,
}

/// Who had which items before.
#[derive(Debug)]
struct History {
    interactions: Arc<Judgments>,
    /// Which item each of its documents is.
    items: Vec<u32>,
    /// By item, how many users had it.
    users: Vec<u32>,
    /// By item, 1 for those that the most users had, 2 for those that the next most had, and so on.
    places: Vec<u32>,
    /// How many users had any.
    count: usize,
}

impl Items {
    /// Brings together what is known. Without a catalogue, it is the items that are described, or else
    /// those of the history.
    ///
    /// # Errors
    /// Where an identifier is none, or an item is described twice.
    pub fn new(
        catalogue: Option<&IdColumn<'_>>,
        history: Option<Arc<Judgments>>,
        described: Option<(&IdColumn<'_>, Features)>,
    ) -> Result<Self> {
        let mut made = Self::default();
        if let Some((ids, features)) = described {
            let rows = made.number(ids)?;
            made.features = Some(features.by_item(&rows, made.ids.len())?);
        }
        if let Some(interactions) = history {
            let items = made.ids.number_all(&interactions.by_number().docs);
            made.history = Some(History::new(interactions, items, made.ids.len()));
        }
        made.is_offered = match (catalogue, &made.features, &made.history) {
            (Some(ids), ..) => {
                let offered = made.number(ids)?;
                of_these(&offered, made.ids.len())
            }
            (None, Some(features), _) => features.known(made.ids.len()),
            (None, None, Some(history)) => of_these(&history.items, made.ids.len()),
            (None, None, None) => Vec::new(),
        };
        made.offered = made.is_offered.iter().filter(|&&is_offered| is_offered).count();
        Ok(made)
    }

    /// Numbers the items of a column, new ones after those that are there.
    fn number(&mut self, column: &IdColumn<'_>) -> Result<Vec<u32>> {
        let (rows, ids) = Vocabulary::number(column, 1)?;
        let items = self.ids.number_all(&ids);
        Ok(rows.iter().map(|&row| items[row as usize]).collect())
    }

    /// The number of an item, or [`UNKNOWN`].
    #[allow(clippy::cast_possible_truncation)] // identifiers are counted in 32 bits
    pub fn find(&self, id: &[u8]) -> u32 {
        self.ids.find(id).map_or(UNKNOWN, |item| item as u32)
    }

    /// The number of a user in the history.
    pub fn find_user(&self, user: &[u8]) -> Option<usize> {
        self.history.as_ref()?.interactions.find_query(user)
    }

    /// How many items the catalogue has.
    pub fn offered(&self) -> usize {
        self.offered
    }

    /// Whether an item is in the catalogue.
    pub fn is_offered(&self, item: u32) -> bool {
        self.is_offered.get(item as usize).copied().unwrap_or(false)
    }

    /// How many users had an item before.
    pub fn users(&self, item: u32) -> usize {
        let users = self.history.as_ref().and_then(|history| history.users.get(item as usize));
        users.map_or(0, |&users| users as usize)
    }

    /// The place of an item by popularity, 1 for the most popular ones; none for what nobody had.
    pub fn place(&self, item: u32) -> Option<usize> {
        let place = *self.history.as_ref()?.places.get(item as usize)?;
        (place > 0).then_some(place as usize)
    }

    /// How many users had any item before.
    pub fn all_users(&self) -> usize {
        self.history.as_ref().map_or(0, |history| history.count)
    }

    /// How many pairs of user and item there were before.
    pub fn interactions(&self) -> usize {
        self.history.as_ref().map_or(0, |history| history.interactions.axis().judged())
    }

    /// The items that a user had before.
    pub fn had_by(&self, user: usize) -> impl Iterator<Item = u32> {
        let of_user = self.history.as_ref().map(|History { interactions, items, .. }| {
            let offsets = interactions.axis().offsets();
            let codes = &interactions.by_number().codes[offsets[user]..offsets[user + 1]];
            codes.iter().map(|&code| items[code as usize])
        });
        of_user.into_iter().flatten()
    }

    /// Some users of the history, for messages.
    pub fn some_users(&self) -> Vec<String> {
        let names = self.history.iter().flat_map(|history| history.interactions.axis().names());
        names.take(3).map(|name| format!("`{}`", show(&name))).collect()
    }

    /// Some items of a kind, for messages.
    #[allow(clippy::cast_possible_truncation)] // identifiers are counted in 32 bits
    pub fn some(&self, is_wanted: &dyn Fn(u32) -> bool) -> Vec<String> {
        let items = (0..self.ids.len()).filter(|&item| is_wanted(item as u32));
        items.take(3).map(|item| format!("`{}`", show(&self.ids.get(item)))).collect()
    }

    /// The mean share that items of the catalogue have of each group; nothing if none has any.
    #[allow(clippy::cast_possible_truncation)] // identifiers are counted in 32 bits
    pub fn offered_groups(&self) -> Option<&[f64]> {
        let made = self.groups.get_or_init(|| {
            let offered = (0..self.ids.len() as u32).filter(|&item| self.is_offered(item));
            self.features()?.mean_shares(offered)
        });
        made.as_deref()
    }

    /// What items are like, if it is known of any.
    pub fn features(&self) -> Option<&Features> {
        self.features.as_ref()
    }
}

/// Which of all items these are.
fn of_these(items: &[u32], all: usize) -> Vec<bool> {
    let mut is_there = vec![false; all];
    for &item in items {
        is_there[item as usize] = true;
    }
    is_there
}

impl History {
    fn new(interactions: Arc<Judgments>, items: Vec<u32>, all: usize) -> Self {
        let mut users = vec![0; all];
        for &code in &interactions.by_number().codes {
            users[items[code as usize] as usize] += 1;
        }
        let offsets = interactions.axis().offsets();
        let count = offsets.windows(2).filter(|ends| ends[0] < ends[1]).count();
        Self { places: place(&users), interactions, items, users, count }
    }
}

/// The place of each item by its number of users, equal ones sharing a place; 0 for those without any.
#[allow(clippy::cast_possible_truncation)] // fewer than there are items
fn place(users: &[u32]) -> Vec<u32> {
    let mut levels: Vec<u32> = users.to_vec();
    levels.sort_unstable_by(|one, other| other.cmp(one));
    levels.dedup();
    let place = |count: &u32| levels.partition_point(|level| level > count) as u32 + 1;
    users.iter().map(|count| if *count == 0 { 0 } else { place(count) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_with_equally_many_users_share_a_place() {
        assert_eq!(&place(&[3, 1, 0, 3, 2, 1])[..], [1, 3, 0, 1, 2, 3]);
    }
}
