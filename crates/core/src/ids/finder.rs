//! Finds the documents of one query by number.

/// Finds documents of one query among its judgments and among those retrieved before. Few are looked
/// through, which stays close to the processor; where there are many, each document has an entry.
#[derive(Debug, Default)]
pub struct Finder {
    has_few: bool,
    /// A bit of each judged document, and of each retrieved one: most others have neither.
    judged: u64,
    retrieved: u64,
    docs: usize,
    places: Vec<Places>,
    /// What is added to the places of rows, so that those of a run seen before are below them.
    base: u32,
    rows: usize,
}

/// Where a document was last seen in the judgments, and in the run; one more than the place.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    judged: u32,
    retrieved: u32,
}

/// So many entries of documents are spent on more than one thread.
pub const MOST_ENTRIES: usize = 1 << 24;

/// So many documents of a query are few.
const FEW: usize = 32;

fn bit(code: u32) -> u64 {
    1 << (code & 63)
}

impl Finder {
    /// A finder of so many different documents.
    pub fn new(docs: usize) -> Self {
        Self { docs, ..Self::default() }
    }

    /// Turns to so many rows of another run with the same judgments, and so many different documents.
    /// The entries stay, for clearing them takes longer than a short run.
    pub fn restart(&mut self, docs: usize, rows: usize) {
        let base = (self.base as usize).saturating_add(self.rows);
        self.base = u32::try_from(base).unwrap_or(u32::MAX);
        if base.saturating_add(rows) >= u32::MAX as usize {
            self.places.clear();
            self.base = 0;
        }
        (self.docs, self.rows) = (docs, rows);
    }

    /// Turns to another query, whose judgments begin at a place.
    #[allow(clippy::cast_possible_truncation)] // judgments are counted in 32 bits
    pub fn begin(&mut self, judged: &[u32], start: usize, rows: usize) {
        self.has_few = judged.len() <= FEW && rows <= FEW;
        if self.has_few {
            self.judged = judged.iter().fold(0, |bits, &code| bits | bit(code));
            self.retrieved = 0;
            return;
        }
        if self.places.len() < self.docs {
            self.places.resize(self.docs, Places::default());
        }
        for (place, &code) in (start as u32 + 1..).zip(judged) {
            self.places[code as usize].judged = place;
        }
    }

    /// The place of a document's judgment, those of the query beginning at `start`.
    pub fn find_judged(&self, code: u32, judged: &[u32], start: usize) -> Option<usize> {
        if self.has_few {
            if self.judged & bit(code) == 0 {
                return None;
            }
            return judged.iter().position(|&other| other == code).map(|at| start + at);
        }
        let place = self.places[code as usize].judged as usize;
        (start + 1..=start + judged.len()).contains(&place).then(|| place - 1)
    }

    /// The place of a document among those of the query that were seen, which begin at `first`.
    pub fn find_retrieved(&self, code: u32, seen: &[u32], first: usize) -> Option<usize> {
        if self.has_few {
            if self.retrieved & bit(code) == 0 {
                return None;
            }
            return seen.iter().position(|&other| other == code).map(|at| first + at);
        }
        let place = (self.places[code as usize].retrieved as usize).checked_sub(self.base as usize);
        place.filter(|&place| place > first).map(|place| place - 1)
    }

    /// Remembers a retrieved document and its place.
    #[allow(clippy::cast_possible_truncation)] // rows are counted in 32 bits
    pub fn see(&mut self, code: u32, at: usize) {
        if self.has_few {
            self.retrieved |= bit(code);
        } else {
            self.places[code as usize].retrieved = self.base + at as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn few_and_many_are_found_alike(
            queries in prop::collection::vec(
                (prop::collection::hash_set(0u32..90, 0..50), prop::collection::vec(0u32..90, 0..60)),
                1..6,
            ),
        ) {
            let mut finder = Finder::default();
            finder.restart(90, 400);
            let (mut start, mut first) = (0, 0);
            for (judged, retrieved) in queries {
                if retrieved.len() % 3 == 0 {
                    finder.restart(90, 400);
                    first = 0;
                }
                let judged: Vec<u32> = judged.into_iter().collect();
                finder.begin(&judged, start, retrieved.len());
                let mut seen: Vec<u32> = Vec::new();
                for code in retrieved {
                    let before = seen.iter().position(|&other| other == code);
                    prop_assert_eq!(
                        finder.find_retrieved(code, &seen, first),
                        before.map(|at| first + at)
                    );
                    let judgment = judged.iter().position(|&other| other == code);
                    prop_assert_eq!(
                        finder.find_judged(code, &judged, start),
                        judgment.map(|at| start + at)
                    );
                    if before.is_none() {
                        finder.see(code, first + seen.len());
                        seen.push(code);
                    }
                }
                start += judged.len();
                first += seen.len();
            }
        }
    }
}
