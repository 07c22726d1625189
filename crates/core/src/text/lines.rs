//! Cuts a block into lines, and lines into fields, which are separated by spaces and tabs only.
//!
//! A block goes through three steps: its blanks are found ([`Tape`]), its bytes are checked, and its
//! lines are cut into fields. A block in which every field is followed by exactly one blank is cut by
//! counting blanks; any other one line by line.

use memchr::memchr;

use crate::error::{Error, Kind, Result};
use crate::notes::{Note, Notes};
use crate::number::decimal;
use crate::text::fields::{lone_cr, nul_byte};
use crate::text::split::Tape;

/// The number of a line and its fields.
pub type Line<'a, const N: usize> = (u64, [&'a [u8]; N]);

/// The lines of a block one after another, of `N` fields each.
pub struct Cutter<'a, 't, const N: usize> {
    text: &'a [u8],
    blanks: &'t [u32],
    /// Where the fields of each line end, where every field of the block is followed by one blank and
    /// every line has `N` of them.
    grid: &'t [[u32; N]],
    is_regular: bool,
    /// What the fields are called.
    names: &'static str,
    /// Where the next line starts, and how many lines and blanks are before it.
    start: usize,
    lines: usize,
    blank: usize,
    /// Lines before one with forbidden bytes are read first, so that the earliest mistake is named.
    end: usize,
    trouble: Option<Error>,
}

impl<'a, 't, const N: usize> Cutter<'a, 't, N> {
    /// Begins with a block, whose blanks are noted on a tape.
    pub fn new(text: &'a [u8], tape: &'t mut Tape, names: &'static str) -> Self {
        tape.scan(text);
        let tape = &*tape;
        let (end, trouble) = match check_bytes(text, tape) {
            None => (text.len(), None),
            Some((line_start, error)) => (line_start, Some(error)),
        };
        let is_regular = tape.is_regular && !tape.has_controls && trouble.is_none();
        let (grid, _) = tape.blanks.as_chunks::<N>();
        let ends_line = |ends: &[u32; N]| text.get(ends[N - 1] as usize) == Some(&b'\n');
        let is_grid = is_regular && tape.newlines == grid.len() && grid.iter().all(ends_line);
        let grid = if is_grid { grid } else { &[] };
        let (blanks, start, lines, blank) = (&tape.blanks[..], 0, 0, 0);
        Self { text, blanks, grid, is_regular, names, start, lines, blank, end, trouble }
    }

    /// The whole block.
    #[inline]
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Where the next line starts.
    #[inline]
    pub fn start(&self) -> usize {
        self.start
    }

    /// How many lines there were.
    #[inline]
    pub fn lines(&self) -> u64 {
        self.lines as u64
    }

    /// Where the fields of each of the next lines end; of none where they are not this regular.
    #[inline]
    pub fn grid(&self) -> &'t [[u32; N]] {
        self.grid.get(self.lines..).unwrap_or_default()
    }

    /// Passes over some of the next lines, which are in the grid.
    #[inline]
    pub fn skip(&mut self, lines: usize) {
        if let Some(last) = self.grid().get(..lines).and_then(<[_]>::last) {
            self.start = last[N - 1] as usize + 1;
            self.lines += lines;
            self.blank += N * lines;
        }
    }

    /// The number of the next line and its fields, if there is one; those without fields are noted.
    ///
    /// # Errors
    /// Where a line has more or fewer fields or forbidden bytes; lines are counted from the block.
    #[inline]
    pub fn next(&mut self, block: u64, notes: &mut Notes) -> Result<Option<Line<'a, N>>> {
        while self.start < self.end {
            match self.cut()? {
                Cut::Skipped(note) => notes.add(note, (block, self.lines())),
                Cut::Fields(fields) => return Ok(Some((self.lines(), fields))),
            }
        }
        self.trouble.take().map_or(Ok(None), Err)
    }

    #[inline]
    fn cut(&mut self) -> Result<Cut<'a, N>> {
        let (text, start) = (self.text, self.start);
        let stop = match self.grid.get(self.lines) {
            Some(ends) => ends[N - 1] as usize,
            None => memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length),
        };
        self.lines += 1;
        self.start = stop + 1;
        if self.is_regular
            && let Some(ends) = self.blanks[self.blank..].first_chunk::<N>()
            && ends[N - 1] as usize == stop
        {
            self.blank += N;
            let mut from = start;
            let fields = ends.map(|end| {
                // It is always there; a field that nobody wants is not even looked for.
                let field = text.get(from..end as usize).unwrap_or_default();
                from = end as usize + 1;
                field
            });
            let is_comment = fields[0] == b"#";
            return Ok(if is_comment { Cut::Skipped(Note::Comments) } else { Cut::Fields(fields) });
        }
        let of_line = self.blanks[self.blank..].iter().take_while(|&&at| at as usize <= stop);
        self.blank += of_line.count();
        cut_line(&text[start..stop], self.names, stop == text.len())
            .map_err(|error| error.line(self.lines as u64))
    }
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
            "preferences and judgment groups are read by rankscope trec_eval, and sampled judgments \
             (query, 0, document, stratum, grade) for infNDCG and xinfAP: keep query, 0, document, \
             grade",
        ),
        (4, 5) if is_number(4) => (
            "field_count",
            "sampled judgments (query, 0, document, stratum, grade) are read for infNDCG and xinfAP: \
             keep query, 0, document, grade for other measures",
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
