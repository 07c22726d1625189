//! The list of documents that a ranking has shown: checked, and put in order.

use rankscope_core::ids::interner::IdHasher;

/// What is suspicious about an event, but legal.
pub mod notes {
    /// A ranking has no documents.
    pub const EMPTY: u8 = 1;
    /// Ids are integers.
    pub const INTEGER_IDS: u8 = 2;
    /// Ranks begin at 0.
    pub const ZERO_BASED: u8 = 4;
    /// There are no documents of some ranks.
    pub const GAPS: u8 = 8;
    /// A document has a higher score than one of a better rank.
    pub const DISAGREE: u8 = 16;
    /// An event has no id of its own.
    pub const MADE_ID: u8 = 32;

    const CODES: [(u8, &str); 6] = [
        (EMPTY, "empty_ranking"),
        (INTEGER_IDS, "int_ids"),
        (ZERO_BASED, "zero_based_ranks"),
        (GAPS, "rank_gaps"),
        (DISAGREE, "rank_score_disagree"),
        (MADE_ID, "made_event_ids"),
    ];

    /// The codes of what is noted.
    pub fn codes(noted: u8) -> impl Iterator<Item = &'static str> {
        CODES.into_iter().filter(move |(bit, _)| noted & bit != 0).map(|(_, code)| code)
    }
}

/// Beyond so many documents, two of them are likely to share bits.
const MOST_MARKED: usize = 200;
/// As few share bits of a sixteenth.
const FEW: usize = 20;

/// The limits on an event.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Documents in a ranking.
    pub items: usize,
    /// Bytes in an identifier.
    pub id_bytes: usize,
    /// Attributes of a ranking.
    pub attributes: usize,
    /// Bytes in the name of an attribute, or in a label.
    pub name_bytes: usize,
    /// Bytes in the value of an attribute, or in a query.
    pub value_bytes: usize,
    /// Labels in one event.
    pub labels: usize,
    /// The largest rank.
    pub rank: i64,
    /// How deeply lists and objects may be nested in a field that is not known.
    pub depth: usize,
}

impl Limits {
    /// Whether bytes are an id: some, but not too many, and none of them NUL.
    pub fn is_id(&self, text: &[u8]) -> bool {
        !text.is_empty() && is_text(text, self.id_bytes)
    }

    /// Whether bytes are a name, likewise.
    pub fn is_name(&self, text: &[u8]) -> bool {
        !text.is_empty() && is_text(text, self.name_bytes)
    }
}

/// Whether bytes are no more than some, and none of them NUL.
pub fn is_text(text: &[u8], most: usize) -> bool {
    text.len() <= most && memchr::memchr(0, text).is_none()
}

/// The documents of a ranking as they were logged, in columns.
#[derive(Debug, Default)]
pub struct List {
    /// Their ids, end to end.
    pub ids: Vec<u8>,
    /// Where each id ends.
    pub ends: Vec<usize>,
    /// Their ranks; none where they are in the order of their ranks.
    pub ranks: Vec<i64>,
    /// Their scores, NaN where there is none; none where no document has one.
    pub scores: Vec<f64>,
    /// Their grades, likewise.
    pub relevance: Vec<f64>,
}

impl List {
    /// Removes all documents.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.ends.clear();
        self.ranks.clear();
        self.scores.clear();
        self.relevance.clear();
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id of a document.
    pub fn id(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.ids[start..self.ends[place]]
    }

    /// Ends the id of the next document.
    pub fn end_id(&mut self) {
        self.ends.push(self.ids.len());
    }

    fn all_ids(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|place| self.id(place))
    }

    /// Puts the documents in the order of their ranks, and returns what is to be noted; none where
    /// they are not certainly a list that can be stored.
    ///
    /// ```
    /// use rankscope_log::blocks::list::{Limits, List, notes};
    /// let limits = Limits {
    ///     items: 9, id_bytes: 9, attributes: 9, name_bytes: 9, value_bytes: 9, labels: 9, rank: 9, depth: 9,
    /// };
    /// let mut list = List::default();
    /// list.ids.extend_from_slice(b"aab");
    /// list.ends.extend([2, 3]);
    /// list.ranks.extend([4, 0]);
    /// assert_eq!(list.settle(&limits), Some(notes::ZERO_BASED | notes::GAPS));
    /// assert_eq!((list.id(0), &list.ranks[..]), (&b"b"[..], &[1, 5][..]));
    /// ```
    pub fn settle(&mut self, limits: &Limits) -> Option<u8> {
        let count = self.len();
        let is_id = |id: &[u8]| !id.is_empty() && id.len() <= limits.id_bytes;
        if count > limits.items || !self.all_ids().all(is_id) || !is_text(&self.ids, usize::MAX) {
            return None;
        }
        if self.has_double() {
            return None;
        }
        let mut noted = if count == 0 { notes::EMPTY } else { 0 };
        for numbers in [&mut self.scores, &mut self.relevance] {
            if numbers.iter().all(|number| number.is_nan()) {
                numbers.clear();
            }
        }
        if self.ranks.is_empty() {
            return Some(noted);
        }
        if self.ranks.iter().any(|rank| !(0..=limits.rank).contains(rank)) {
            return None;
        }
        if !self.ranks.is_sorted() {
            self.sort();
        }
        if self.ranks.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
        if self.ranks[0] == 0 {
            noted |= notes::ZERO_BASED;
            self.ranks.iter_mut().for_each(|rank| *rank += 1);
        }
        if self.ranks.last().is_some_and(|&last| last != count.cast_signed() as i64) {
            noted |= notes::GAPS;
        }
        let known = self.scores.iter().filter(|score| !score.is_nan());
        if !known.is_sorted_by(|before, after| before >= after) {
            noted |= notes::DISAGREE;
        }
        Some(noted)
    }

    /// Whether a document is there twice.
    fn has_double(&self) -> bool {
        if self.all_ids().is_sorted_by(|before, after| before < after) {
            return false;
        }
        let is_clear = match self.len() {
            0..=FEW => self.are_marked_once::<64>(),
            _ if self.len() <= MOST_MARKED => self.are_marked_once::<1024>(),
            _ => false,
        };
        if is_clear {
            return false;
        }
        // Numbers are sorted several times as fast as ids.
        let hasher = IdHasher::default();
        let mut hashes: Vec<u64> = self.all_ids().map(|id| hasher.hash(id)).collect();
        hashes.sort_unstable();
        if hashes.windows(2).all(|pair| pair[0] != pair[1]) {
            return false;
        }
        let mut ids: Vec<&[u8]> = self.all_ids().collect();
        ids.sort_unstable();
        ids.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// Whether no two documents share bits of their hashes, of which so many words tell 64 each.
    fn are_marked_once<const WORDS: usize>(&self) -> bool {
        let (hasher, mut seen) = (IdHasher::default(), [0u64; WORDS]);
        self.all_ids().all(|id| {
            #[allow(clippy::cast_possible_truncation)] // the low bits are what is wanted
            let bits = hasher.hash(id) as usize;
            let (word, bit) = (&mut seen[(bits >> 6) % WORDS], 1 << (bits & 63));
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        })
    }

    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by_key(|&place| self.ranks[place]);
        let mut sorted = Self::default();
        for &place in &order {
            sorted.ids.extend_from_slice(self.id(place));
            sorted.end_id();
            sorted.ranks.push(self.ranks[place]);
        }
        for (from, to) in
            [(&self.scores, &mut sorted.scores), (&self.relevance, &mut sorted.relevance)]
        {
            if !from.is_empty() {
                to.extend(order.iter().map(|&place| from[place]));
            }
        }
        *self = sorted;
    }
}
