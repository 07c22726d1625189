//! Parses qrels and run files line by line. Fields are separated by spaces and tabs only.
//!
//! A block goes through three steps: its blanks are found ([`Tape`]), its bytes are checked, and its
//! lines are cut into fields. A block in which every field is followed by exactly one blank is cut by
//! counting blanks; any other one line by line.

use crate::error::{Error, Kind, Result, show};
use crate::memory::{self, Vec};
use crate::notes::{BlockLine, Lines, Note, Notes};
use crate::number::decimal::{self, NotANumber};
use crate::policy::ScoreType;
use crate::text::split::Tape;

/// The longest identifier, in bytes.
const MAX_ID: usize = 4096;
/// The most documents of one query.
const MAX_GROUP: usize = 10_000_000;

/// Whether two identifiers are the same. Most have fewer than 16 bytes, for which calling the C
/// library costs more than comparing them.
#[inline]
#[must_use]
pub fn is_same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    match left.len() {
        8..=16 => both_ends::<8>(left, right),
        4..8 => both_ends::<4>(left, right),
        _ => left == right,
    }
}

/// Compares the first and the last `N` bytes, which overlap where there are fewer than twice `N`.
#[inline]
fn both_ends<const N: usize>(left: &[u8], right: &[u8]) -> bool {
    left.first_chunk::<N>() == right.first_chunk::<N>()
        && left.last_chunk::<N>() == right.last_chunk::<N>()
}

/// One retrieved document.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its identifier.
    pub doc: &'a [u8],
    /// What the ranker gave it.
    pub score: f64,
    /// The 1-based line it stands in.
    pub line: u64,
}

/// Adjacent lines of one query, in the order of the file.
#[derive(Debug, Default)]
pub struct List<'a> {
    /// The query's identifier.
    pub query: &'a [u8],
    /// Its documents.
    pub rows: Vec<Row<'a>>,
    /// Whether no score is above the one before it.
    pub is_sorted: bool,
    /// What the rank column says.
    pub ranks: Ranks,
}

impl List<'_> {
    /// Whether all of several documents have one score.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        match (self.rows.first(), self.rows.last()) {
            (Some(first), Some(last)) => {
                self.is_sorted && self.rows.len() > 1 && first.score == last.score
            }
            _ => false,
        }
    }
}

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
    #[must_use]
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
            self.seen.push((memory::copy(tag), place));
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
    each_line(text, block, tape, notes, "query 0 document grade", |notes, line, fields| {
        let [query, second, doc, grade] = fields;
        let grade = decimal::parse(grade).map_err(|mistake| {
            name_number_mistake("rel", "grade", mistake, grade)
                .line(line)
                .column(column(text, grade))
        })?;
        check_length(doc).and_then(|()| check_length(query)).map_err(|error| error.line(line))?;
        notes.add_grade(grade, (block, line));
        // -0.0 is the grade 0.
        each(query, second, doc, grade + 0.0, line)
    })
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
    // What changes with each line is kept out of the list, whose address others know.
    let (mut query, mut tag): (&[u8], &[u8]) = (b"", b"");
    let (mut is_sorted, mut ranks) = (true, Ranks::default());
    let mut last_score = f64::INFINITY;
    let RunNotes { notes, tags } = seen;
    let names = "query Q0 document rank score tag";
    let lines = each_line(text, block, tape, notes, names, |_, line, fields| {
        let [line_query, _, doc, rank, score_field, line_tag] = fields;
        let mistaken = |mistake| {
            name_number_mistake("score", "score", mistake, score_field)
                .line(line)
                .column(column(text, score_field))
        };
        let score = score_type.round(decimal::parse(score_field).map_err(mistaken)?);
        if score.is_infinite() {
            return Err(mistaken(NotANumber::Overflow));
        }
        if !is_same(line_query, query) {
            if !list.rows.is_empty() {
                (list.query, list.is_sorted, list.ranks) = (query, is_sorted, ranks);
                each(&mut list)?;
            }
            check_length(line_query).map_err(|error| error.line(line))?;
            list.rows.clear();
            query = line_query;
            (is_sorted, ranks) = (true, Ranks::default());
            last_score = f64::INFINITY;
        }
        if !is_same(line_tag, tag) {
            tags.see(line_tag, (block, line));
            tag = line_tag;
        }
        check_length(doc).map_err(|error| error.line(line))?;
        ranks.see(rank, score, last_score);
        is_sorted &= score <= last_score;
        last_score = score;
        list.rows.push(Row { doc, score, line });
        if is_too_long(list.rows.len()) {
            return Err(too_many_rows().line(line));
        }
        Ok(())
    })?;
    if !list.rows.is_empty() {
        (list.query, list.is_sorted, list.ranks) = (query, is_sorted, ranks);
        each(&mut list)?;
    }
    Ok(lines)
}

/// Whether a list has more documents than the limit.
#[inline]
#[must_use]
pub fn is_too_long(rows: usize) -> bool {
    rows > MAX_GROUP
}

/// The error for more documents of one query than the limit.
#[must_use]
pub fn too_many_rows() -> Error {
    Error::new(
        Kind::Limit,
        "max_group",
        format!("expected at most {MAX_GROUP} documents of one query, found more"),
    )
    .hint("is the query's identifier in the first column?")
}

/// Follows the rank column of one query. Ranks order nothing; they are only held against scores.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ranks {
    count: u64,
    last: u64,
    sum: u64,
    largest: u64,
    disagree: bool,
    irregular: bool,
}

impl Ranks {
    #[inline]
    fn see(&mut self, field: &[u8], score: f64, last_score: f64) {
        self.count += 1;
        let Some(rank) = parse_rank(field) else {
            self.irregular = true;
            return;
        };
        if self.count > 1 {
            self.disagree |= (rank > self.last && score > last_score)
                || (rank < self.last && score < last_score);
        }
        self.irregular |= rank == 0;
        self.last = rank;
        self.sum += rank;
        self.largest = self.largest.max(rank);
    }

    /// Takes in what another stretch of the same query says.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.largest = self.largest.max(other.largest);
        self.disagree |= other.disagree;
        self.irregular |= other.irregular;
    }

    /// Notes what is odd about the ranks of a query that is first seen at `place`.
    pub fn note(&self, notes: &mut Notes, place: BlockLine) {
        let count = self.count;
        if self.disagree {
            notes.add(Note::RankScoreDisagree, place);
        }
        if self.irregular || self.largest != count || self.sum != count * (count + 1) / 2 {
            notes.add(Note::RankIrregular, place);
        }
    }
}

#[inline]
fn parse_rank(field: &[u8]) -> Option<u64> {
    if field.len() > 9 {
        return None;
    }
    let mut rank = 0;
    let mut most = 0;
    for &byte in field {
        let digit = byte.wrapping_sub(b'0');
        most = digit.max(most);
        rank = rank * 10 + u64::from(digit);
    }
    (most < 10).then_some(rank)
}

/// Cuts a block into lines of `N` fields; gives the number of lines.
#[inline]
fn each_line<'a, const N: usize>(
    text: &'a [u8],
    block: u64,
    tape: &mut Tape,
    notes: &mut Notes,
    names: &str,
    mut each: impl FnMut(&mut Notes, u64, [&'a [u8]; N]) -> Result<()>,
) -> Result<u64> {
    tape.scan(text);
    // Lines before one with forbidden bytes are read first, so that the earliest mistake is named.
    let (end, trouble) = match check_bytes(text, tape) {
        None => (text.len(), None),
        Some((line_start, error)) => (line_start, Some(error)),
    };
    let is_regular = tape.is_regular && !tape.has_controls;
    let (blanks, newlines) = (&tape.blanks[..], &tape.newlines[..]);
    let mut start = 0;
    let mut line = 0;
    let mut blank = 0;
    while start < end {
        let stop = newlines.get(line).map_or(text.len(), |&newline| newline as usize);
        line += 1;
        let cut = if is_regular
            && let Some(ends) = blanks.get(blank..).and_then(|rest| rest.first_chunk::<N>())
            && ends[N - 1] as usize == stop
        {
            blank += N;
            let mut from = start;
            let fields = ends.map(|end| {
                // It is always there; a field that nobody wants is not even looked for.
                let field = text.get(from..end as usize).unwrap_or_default();
                from = end as usize + 1;
                field
            });
            if fields[0] == b"#" { Cut::Skipped(Note::Comments) } else { Cut::Fields(fields) }
        } else {
            while blanks.get(blank).is_some_and(|&position| position as usize <= stop) {
                blank += 1;
            }
            cut_line(&text[start..stop], names, stop == text.len())
                .map_err(|error| error.line(line as u64))?
        };
        match cut {
            Cut::Skipped(note) => notes.add(note, (block, line as u64)),
            Cut::Fields(fields) => each(notes, line as u64, fields)?,
        }
        start = stop + 1;
    }
    trouble.map_or(Ok(line as u64), Err)
}

/// What a line is cut into.
enum Cut<'a, const N: usize> {
    Fields([&'a [u8]; N]),
    Skipped(Note),
}

/// Cuts a line of any number of blanks.
#[inline(never)]
fn cut_line<'a, const N: usize>(line: &'a [u8], names: &str, is_last: bool) -> Result<Cut<'a, N>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut fields: [&[u8]; N] = [b""; N];
    let count = split_line(line, &mut fields);
    if count == 0 {
        Ok(Cut::Skipped(Note::BlankLines))
    } else if fields[0] == b"#" && line[0] == b'#' {
        Ok(Cut::Skipped(Note::Comments))
    } else if count == N {
        Ok(Cut::Fields(fields))
    } else {
        Err(name_field_mistake(line, count, N, names, is_last))
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn fields_of(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| is_blank(byte)).filter(|field| !field.is_empty())
}

/// Puts the first fields of a line into an array; counts them all.
fn split_line<'a>(line: &'a [u8], fields: &mut [&'a [u8]]) -> usize {
    let mut count = 0;
    for field in fields_of(line) {
        if let Some(place) = fields.get_mut(count) {
            *place = field;
        }
        count += 1;
    }
    count
}

/// The start of the first line with forbidden bytes, and what is wrong with it.
fn check_bytes(text: &[u8], tape: &Tape) -> Option<(usize, Error)> {
    let mut trouble: Option<(usize, Error)> = None;
    let mut found = |at: usize, error: Error| {
        if trouble.as_ref().is_none_or(|&(earlier, _)| at < earlier) {
            trouble = Some((at, error));
        }
    };
    if !tape.is_ascii
        && let Err(error) = std::str::from_utf8(text)
    {
        let at = error.valid_up_to();
        let error = Error::new(
            Kind::Format,
            "encoding",
            format!("expected UTF-8, found the byte 0x{:02x}", text[at]),
        );
        found(at, error.hint("convert the file, or say encoding=\"latin-1\" if it is that"));
    }
    if tape.has_controls {
        if let Some(at) = memchr::memchr(0, text) {
            found(at, nul_byte());
        }
        let lone = memchr::memchr_iter(b'\r', text)
            .find(|&at| text.get(at + 1).is_some_and(|&byte| byte != b'\n'));
        if let Some(at) = lone {
            found(at, lone_cr());
        }
    }
    let (at, error) = trouble?;
    let line_start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
    let line = memchr::memchr_iter(b'\n', &text[..at]).count() as u64 + 1;
    Some((line_start, error.line(line).column(at - line_start + 1)))
}

/// The error for a NUL byte, wherever it stands.
#[must_use]
pub fn nul_byte() -> Error {
    Error::new(Kind::Format, "nul_byte", "expected text, found a NUL byte")
        .hint("the input is damaged or not text")
}

/// The error for a carriage return that no newline follows.
#[must_use]
pub fn lone_cr() -> Error {
    let message = "expected lines ended by LF or CRLF, found a lone CR";
    Error::new(Kind::Format, "line_ending", message).hint("convert the line ends: tr '\\r' '\\n'")
}

/// The 1-based column of a field, which is a part of the text.
fn column(text: &[u8], field: &[u8]) -> usize {
    let at = field.as_ptr().addr() - text.as_ptr().addr();
    at - memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1) + 1
}

#[inline]
fn check_length(id: &[u8]) -> Result<()> {
    if id.len() <= MAX_ID {
        return Ok(());
    }
    Err(id_too_long(id))
}

/// The error for an identifier over the limit.
#[cold]
fn id_too_long(id: &[u8]) -> Error {
    Error::new(
        Kind::Limit,
        "id_length",
        format!("expected ids of at most {MAX_ID} bytes, found one of {}", id.len()),
    )
    .hint("a shorter name or a hash of it will do")
    .value(id)
}

/// The error for an identifier that no format could hold, if it is one.
///
/// # Errors
/// Where the identifier is empty, too long or has a NUL byte.
pub fn check_id(id: &[u8]) -> Result<()> {
    if id.is_empty() {
        return Err(Error::new(Kind::Format, "missing_id", "expected an id, found empty text")
            .hint("give it a name, or leave it out"));
    }
    if memchr::memchr(0, id).is_some() {
        return Err(nul_byte().value(id));
    }
    check_length(id)
}

/// The error for a field that is not a number; `code` and `what` name the field.
#[must_use]
pub fn name_number_mistake(code: &str, what: &str, mistake: NotANumber, field: &[u8]) -> Error {
    let is_score = code == "score";
    let shown = show(field);
    let (code, message, hint) = match mistake {
        NotANumber::Nan => (
            if is_score { "score_nan" } else { "rel_not_number" },
            format!("expected a finite {what}, found `{shown}`"),
            "NaN has no place in an order: drop the document or give it a score",
        ),
        NotANumber::Infinite | NotANumber::Overflow => (
            if is_score { "score_overflow" } else { "rel_out_of_range" },
            format!("expected a finite {what}, found `{shown}`"),
            "only numbers that double precision can hold are accepted",
        ),
        NotANumber::DecimalComma => (
            if is_score { "score_not_number" } else { "rel_not_number" },
            format!("expected a {what}, found `{shown}`"),
            "write the decimal point as `.`, not `,`",
        ),
        NotANumber::Text => (
            if is_score { "score_not_number" } else { "rel_not_number" },
            format!("expected a {what}, found `{shown}`"),
            "a document id with a blank in it shifts the columns",
        ),
    };
    Error::new(Kind::Format, code, message).hint(hint).value(field)
}

fn name_field_mistake(
    line: &[u8],
    found: usize,
    wanted: usize,
    names: &str,
    is_cut: bool,
) -> Error {
    let fields: Vec<&[u8]> = fields_of(line).take(8).collect();
    let is_number =
        |index: usize| fields.get(index).is_some_and(|field| decimal::parse(field).is_ok());
    let (code, hint) = match (wanted, found) {
        (6, 4) => {
            ("looks_like_qrels", "these are four columns, as qrels have: are the files swapped?")
        }
        (4, 6) => ("looks_like_run", "these are six columns, as runs have: are the files swapped?"),
        (4, 5) if is_number(4) && !is_number(3) => (
            "unsupported_format",
            "preference and judgment-group qrels are not read: keep query, 0, document, grade",
        ),
        (6, 3) => (
            "field_count",
            "MS MARCO's three columns (query document rank) need scores: \
             awk '{print $1, \"Q0\", $2, $3, -$3, \"run\"}'",
        ),
        (6, 5) => ("field_count", "the run tag may be missing: append one to every line"),
        _ if is_cut && found < wanted => {
            ("field_count", "the file ends in this line: is it cut off?")
        }
        _ if found == 1 && line.contains(&b',') => {
            ("field_count", "columns are told by blanks or tabs, not by commas")
        }
        _ if found > wanted => {
            ("field_count", "a document id with a blank in it shifts the columns")
        }
        _ => ("field_count", "columns are told by blanks or tabs"),
    };
    let fields = if found == 1 { "field" } else { "fields" };
    Error::new(
        Kind::Format,
        code,
        format!("expected {wanted} fields ({names}), found {found} {fields}"),
    )
    .hint(hint)
    .value(line)
}
