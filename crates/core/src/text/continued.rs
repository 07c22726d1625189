//! Takes the lines that continue a list: of the same query and run tag. Several of them are taken at
//! once, with the widest vectors that the processor at hand has.

#![allow(clippy::inline_always)] // what is inlined is compiled once for each kind of vectors

use std::ops::Range;

use fearless_simd::{Level, dispatch};

use crate::number::decimal;
use crate::number::ends::{Decimals, Digits};
use crate::policy::ScoreType;
use crate::text::fields::MAX_ID;
use crate::text::lines::Cutter;
use crate::text::list::{List, MAX_GROUP, Row, parse_rank};

/// So many lines are taken at once.
const AT_ONCE: usize = 16;
/// The most lines that are taken one by one before several are tried again.
const MOST_ALONE: usize = 256;

/// Appends the next lines to a list for as long as they continue it. Any other line is left to the
/// caller, and so are its mistakes.
pub(super) fn continue_list<'a>(
    cutter: &mut Cutter<'a, '_, 6>,
    list: &mut List<'a>,
    tag: &'a [u8],
    score_type: ScoreType,
) {
    let grid = cutter.grid();
    let grid = &grid[..grid.len().min(MAX_GROUP - list.rows.len())];
    if grid.is_empty() {
        return;
    }
    let alike = Alike::new(cutter.text(), list.query, tag);
    let (start, line) = (cutter.start(), cutter.lines());
    let mut end = End { list, score_type, start, line };
    dispatch!(Level::new(), simd => {
        let _ = simd;
        end.take(&alike, grid);
    });
    #[allow(clippy::cast_possible_truncation)] // lines of a block
    cutter.skip((end.line - line) as usize);
}

/// The end of a list, and of the lines that were taken.
struct End<'a, 'l> {
    list: &'l mut List<'a>,
    score_type: ScoreType,
    /// Where the next line starts.
    start: usize,
    /// The number of the last line.
    line: u64,
}

impl<'a> End<'a, '_> {
    #[inline(always)]
    fn take(&mut self, alike: &Alike<'a>, mut grid: &[[u32; 6]]) {
        let mut alone = AT_ONCE;
        while !grid.is_empty() {
            if let Some((lines, rest)) = grid.split_first_chunk::<AT_ONCE>()
                && self.append_several(alike, lines).is_some()
            {
                (grid, alone) = (rest, AT_ONCE);
                continue;
            }
            let (few, rest) = grid.split_at(grid.len().min(alone));
            if few.iter().any(|ends| self.append_one(alike, ends).is_none()) {
                return;
            }
            (grid, alone) = (rest, MOST_ALONE.min(2 * alone));
        }
    }

    /// Appends the line whose fields end there, if it continues the list.
    #[inline]
    fn append_one(&mut self, alike: &Alike<'a>, ends: &[u32; 6]) -> Option<()> {
        let [query_end, other_end, doc_end, rank_end, score_end, stop] =
            ends.map(|end| end as usize);
        if !alike.is_same(self.start..query_end, score_end + 1..stop) {
            return None;
        }
        let doc = alike.text.get(other_end + 1..doc_end).filter(|doc| doc.len() <= MAX_ID)?;
        let rank = alike.text.get(doc_end + 1..rank_end)?;
        let score = decimal::parse(alike.text.get(rank_end + 1..score_end)?).ok()?;
        let score = self.score_type.round(score);
        if score.is_infinite() {
            return None;
        }
        (self.start, self.line) = (stop + 1, self.line + 1);
        self.list.push(Row { doc, score, line: self.line }, parse_rank(rank));
        Some(())
    }

    /// Appends lines whose fields end there, if all of them continue the list, and have ranks and scores
    /// that few characters write.
    #[inline(always)]
    fn append_several<const N: usize>(
        &mut self,
        alike: &Alike<'a>,
        lines: &[[u32; 6]; N],
    ) -> Option<()> {
        let mut docs: [&[u8]; N] = [b""; N];
        let (mut ranks, mut scores) = (Digits::<N>::default(), Decimals::<N>::default());
        let mut start = self.start;
        let text = alike.text;
        for (at, ends) in lines.iter().enumerate() {
            let [query_end, other_end, doc_end, rank_end, score_end, stop] = *ends;
            let (query_end, other_end, doc_end) =
                (query_end as usize, other_end as usize, doc_end as usize);
            let (rank_end, score_end, stop) =
                (rank_end as usize, score_end as usize, stop as usize);
            if !alike.is_same(start..query_end, score_end + 1..stop) {
                return None;
            }
            docs[at] = text.get(other_end + 1..doc_end).filter(|doc| doc.len() <= MAX_ID)?;
            let rank = *text.get(..rank_end)?.last_chunk()?;
            ranks.set(at, rank, rank_end - doc_end - 1)?;
            let score = text.get(..score_end)?.last_chunk()?;
            scores.set(at, score, score_end - rank_end - 1)?;
            start = stop + 1;
        }
        let (ranks, mut scores) = (ranks.parse()?, scores.parse()?);
        if self.score_type == ScoreType::Float32 {
            for score in &mut scores {
                *score = self.score_type.round(*score);
            }
        }
        let last_score = self.list.last_score();
        let List { rows, ranks: seen, is_sorted, .. } = &mut *self.list;
        let mut is_falling = scores[0] <= last_score;
        for at in 1..N {
            is_falling &= scores[at] <= scores[at - 1];
        }
        if is_falling && seen.are_next(&ranks) {
            seen.see_next(N as u64);
        } else {
            let above = std::iter::once(&last_score).chain(&scores);
            for ((&rank, &score), &above) in ranks.iter().zip(&scores).zip(above) {
                seen.see(Some(u64::from(rank)), score, above);
            }
        }
        *is_sorted &= is_falling;
        rows.reserve(N);
        for at in 0..N {
            rows.push(Row { doc: docs[at], score: scores[at], line: self.line + 1 + at as u64 });
        }
        (self.start, self.line) = (start, self.line + N as u64);
        Some(())
    }
}

/// How lines of one query and one run tag begin and end.
struct Alike<'a> {
    text: &'a [u8],
    query: &'a [u8],
    tag: &'a [u8],
    /// The first 16 bytes of a line as they are in the query, and which of them are of the query.
    head: (u128, u128),
    /// The same of the last 16 bytes and the tag.
    tail: (u128, u128),
}

impl<'a> Alike<'a> {
    #[allow(clippy::cast_possible_truncation)] // at most 128
    fn new(text: &'a [u8], query: &'a [u8], tag: &'a [u8]) -> Self {
        let (mut head, mut tail) = ([0; 16], [0; 16]);
        head.iter_mut().zip(query).for_each(|(to, &byte)| *to = byte);
        tail.iter_mut().rev().zip(tag.iter().rev()).for_each(|(to, &byte)| *to = byte);
        let others = |id: &[u8]| 8 * id.len().min(16).abs_diff(16) as u32;
        let of_query = u128::MAX.checked_shr(others(query)).unwrap_or(0);
        let of_tag = u128::MAX.checked_shl(others(tag)).unwrap_or(0);
        let (head, tail) = (u128::from_le_bytes(head), u128::from_le_bytes(tail));
        Self { text, query, tag, head: (head, of_query), tail: (tail, of_tag) }
    }

    /// Whether a line has the same query and tag, which are there; not if it is too near to an end of
    /// the block for a look at 16 bytes.
    #[inline(always)]
    fn is_same(&self, query: Range<usize>, tag: Range<usize>) -> bool {
        let head = self.text.get(query.start..).and_then(<[_]>::first_chunk);
        let tail = self.text.get(..tag.end).and_then(<[_]>::last_chunk);
        let (Some(head), Some(tail)) = (head, tail) else { return false };
        let head = (u128::from_le_bytes(*head) ^ self.head.0) & self.head.1;
        let tail = (u128::from_le_bytes(*tail) ^ self.tail.0) & self.tail.1;
        let (query_length, tag_length) = (query.len(), tag.len());
        if (head | tail) != 0 || query_length != self.query.len() || tag_length != self.tag.len() {
            return false;
        }
        let is_long = query_length > 16 || tag_length > 16;
        !is_long
            || (self.text.get(query) == Some(self.query) && self.text.get(tag) == Some(self.tag))
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::ScoreType;
    use crate::text::split::Tape;
    use crate::text::trec::{RunNotes, read_run};
    use proptest::prelude::*;

    /// All that a run says; what is wrong with it comes last.
    fn tell(text: &str, score_type: ScoreType, lines_before: u64) -> Vec<String> {
        let mut told = Vec::new();
        let (mut tape, mut seen) = (Tape::default(), RunNotes::default());
        let outcome = read_run(text.as_bytes(), 0, &mut tape, score_type, &mut seen, |list| {
            for row in &mut list.rows {
                row.line -= lines_before;
            }
            told.push(format!("{list:?}"));
            Ok(())
        });
        told.push(match outcome {
            Ok(lines) => (lines - lines_before).to_string(),
            Err(error) => {
                let (code, place) = (error.code(), error.place());
                let line = place.line.unwrap() - lines_before;
                format!("{code} {} {line} {:?}", error.message(), place.column)
            }
        });
        told.push(format!("{:?}", seen.tags));
        told
    }

    fn any_line() -> impl Strategy<Value = String> {
        let id = prop_oneof![30 => Just("7"), 1 => Just("71"), 1 => Just("a-query-of-21-bytes-é")];
        let rank = prop_oneof![
            30 => Just(String::new()),
            1 => "[0-9]{1,10}|x",
        ];
        let score = prop_oneof![
            30 => (0..30_u32).prop_map(|score| format!("{}.{:03}", score / 7, score)),
            1 => "-?[0-9]{1,3}(\\.[0-9]{1,12})?(e-?[0-9]{1,2})?",
            1 => "nan|1e999|-|1[.]2[.]3|0{400}1[.]5",
        ];
        let tag =
            prop_oneof![30 => Just("bm25"), 1 => Just("bm26"), 1 => Just("a-run-tag-of-21-bytes")];
        let doc = prop_oneof![100 => "[a-z]{1,9}".boxed(), 1 => Just("d".repeat(4097)).boxed()];
        (id, doc, rank, score, tag).prop_map(|(id, doc, rank, score, tag)| {
            format!("{id} Q0 {doc} {{{rank}}} {score} {tag}\n")
        })
    }

    proptest! {
        #[test]
        fn lines_taken_at_once_tell_what_lines_cut_one_by_one_do(
            lines in prop::collection::vec(any_line(), 1..90), single in any::<bool>(), cut in 0..3_usize,
        ) {
            let mut text = String::new();
            for (line, rank) in lines.iter().zip(1..) {
                text += &line.replace("{}", &rank.to_string()).replace(['{', '}'], "");
            }
            text.truncate(text.len() - cut);
            let score_type = if single { ScoreType::Float32 } else { ScoreType::Float64 };
            let mut expected = tell(&format!("\n{text}"), score_type, 1);
            let mut told = tell(&text, score_type, 0);
            // The places of tags have lines of the text.
            let places = (expected.pop().unwrap(), told.pop().unwrap());
            prop_assert_eq!(places.0.matches("0x").count(), places.1.matches("0x").count());
            prop_assert_eq!(told, expected);
        }
    }
}
