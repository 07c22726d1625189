//! Parses qrels and run files line by line.

use crate::error::Result;
use crate::notes::{BlockLine, Lines, Note, Notes};
use crate::number::decimal::{self, NotANumber};
use crate::policy::ScoreType;
use crate::text::continued::continue_list;
use crate::text::fields::{check_length, column, is_same, name_number_mistake};
use crate::text::lines::Cutter;
use crate::text::list::{List, Row, is_too_long, parse_rank, too_many_rows};
use crate::text::split::Tape;

/// What is kept of a run besides its lists.
#[derive(Clone, Debug, Default)]
pub struct RunNotes {
    /// Suspicious but legal input.
    pub notes: Notes,
    /// The run tags.
    pub tags: Tags,
}

impl RunNotes {
    /// Adds what was seen in other blocks of the same run.
    pub fn merge(&mut self, other: &Self) {
        self.notes.merge(&other.notes);
        for (tag, place) in &other.tags.seen {
            self.tags.find(tag, *place);
        }
    }

    /// All notes, once the whole run was seen, with lines of the stream.
    pub fn finish(mut self, lines: &Lines) -> Notes {
        let tags = &mut self.tags.seen;
        tags.sort_unstable_by_key(|&(_, place)| place);
        if let Some(&(_, place)) = tags.get(1) {
            self.notes.add_many(Note::MultipleTags, tags.len() as u64, place);
        }
        self.notes.resolve(lines);
        self.notes
    }
}

/// The run tags, each with the place where it was first seen.
#[derive(Clone, Debug, Default)]
pub struct Tags {
    seen: Vec<(Vec<u8>, BlockLine)>,
    last: usize,
}

/// Run tags after these are not distinguished.
const MAX_TAGS: usize = 16;

impl Tags {
    #[inline]
    fn see(&mut self, tag: &[u8], place: BlockLine) {
        if self.seen.get(self.last).is_none_or(|(last, _)| !is_same(last, tag)) {
            self.find(tag, place);
        }
    }

    #[cold]
    fn find(&mut self, tag: &[u8], place: BlockLine) {
        if let Some(at) = self.seen.iter().position(|(known, _)| &known[..] == tag) {
            self.last = at;
            self.seen[at].1 = self.seen[at].1.min(place);
        } else if self.seen.len() < MAX_TAGS {
            self.last = self.seen.len();
            self.seen.push((tag.to_vec(), place));
        }
    }
}

/// Reads a block of qrels; calls `each` with query, second field, document, grade and line.
///
/// # Errors
/// Where the block is not qrels, with lines counted from the start of the block.
pub fn read_qrels<'a>(
    text: &'a [u8],
    block: u64,
    tape: &mut Tape,
    notes: &mut Notes,
    mut each: impl FnMut(&'a [u8], &'a [u8], &'a [u8], f64, u64) -> Result<()>,
) -> Result<u64> {
    let mut cutter = Cutter::new(text, tape, "query 0 document grade");
    while let Some((line, [query, second, doc, grade])) = cutter.next(block, notes)? {
        let grade = read_grade(text, [query, doc, grade], (block, line), notes)?;
        each(query, second, doc, grade, line)?;
    }
    Ok(cutter.lines())
}

/// Reads a block of sampled qrels; calls `each` with query, stratum, document, grade and line.
pub fn read_sampled_qrels<'a>(
    text: &'a [u8],
    block: u64,
    tape: &mut Tape,
    notes: &mut Notes,
    mut each: impl FnMut(&'a [u8], &'a [u8], &'a [u8], f64, u64) -> Result<()>,
) -> Result<u64> {
    let mut cutter = Cutter::new(text, tape, "query 0 document stratum grade");
    while let Some((line, [query, _, doc, stratum, grade])) = cutter.next(block, notes)? {
        let grade = read_grade(text, [query, doc, grade], (block, line), notes)?;
        each(query, stratum, doc, grade, line)?;
    }
    Ok(cutter.lines())
}

/// The grade of a judgment, whose other fields are checked.
fn read_grade(
    text: &[u8],
    [query, doc, field]: [&[u8]; 3],
    place: BlockLine,
    notes: &mut Notes,
) -> Result<f64> {
    let grade = decimal::parse(field).map_err(|mistake| {
        let mistake = name_number_mistake("rel", "grade", mistake, field);
        mistake.line(place.1).column(column(text, field))
    })?;
    check_length(doc).and_then(|()| check_length(query)).map_err(|error| error.line(place.1))?;
    notes.add_grade(grade, place);
    // -0.0 is the grade 0.
    Ok(grade + 0.0)
}

/// Reads a block of a run; calls `each` with the list of each stretch of lines of one query.
///
/// # Errors
/// Where the block is not a run, with lines counted from the start of the block.
pub fn read_run<'a>(
    text: &'a [u8],
    block: u64,
    tape: &mut Tape,
    score_type: ScoreType,
    seen: &mut RunNotes,
    mut each: impl FnMut(&mut List<'a>) -> Result<()>,
) -> Result<u64> {
    let mut list = List { rows: Vec::with_capacity(1024), ..List::default() };
    let mut tag: &[u8] = b"";
    let RunNotes { notes, tags } = seen;
    let mut cutter = Cutter::new(text, tape, "query Q0 document rank score tag");
    loop {
        if !list.rows.is_empty() {
            continue_list(&mut cutter, &mut list, tag, score_type);
        }
        let Some((line, fields)) = cutter.next(block, notes)? else { break };
        let [query, _, doc, rank, score_field, line_tag] = fields;
        let mistaken = |mistake| {
            name_number_mistake("score", "score", mistake, score_field)
                .line(line)
                .column(column(text, score_field))
        };
        let score = score_type.round(decimal::parse(score_field).map_err(mistaken)?);
        if score.is_infinite() {
            return Err(mistaken(NotANumber::Overflow));
        }
        if !is_same(query, list.query) {
            if !list.rows.is_empty() {
                each(&mut list)?;
            }
            check_length(query).map_err(|error| error.line(line))?;
            list.begin(query);
        }
        if !is_same(line_tag, tag) {
            tags.see(line_tag, (block, line));
            tag = line_tag;
        }
        check_length(doc).map_err(|error| error.line(line))?;
        list.push(Row { doc, score, line }, parse_rank(rank));
        if is_too_long(list.rows.len()) {
            return Err(too_many_rows().line(line));
        }
    }
    if !list.rows.is_empty() {
        each(&mut list)?;
    }
    Ok(cutter.lines())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_tags_are_told_apart() {
        for count in [15_u8, 16, 17] {
            let mut tags = Tags::default();
            (0..count).for_each(|tag| tags.see(&[tag], (0, 1)));
            assert_eq!(tags.seen.len(), usize::from(count.min(16)));
        }
    }
}
