//! Errors: a stable code, what was expected and found, where, and how to fix it.

use std::fmt;

/// The branch of the error tree that an [`Error`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A measure's parameter outside its domain.
    Measure,
    /// A policy outside its domain, or one that refuses the data.
    Policy,
    /// Text or objects that are not of the format.
    Format,
    /// One document twice in a query.
    Duplicate,
    /// Nothing to evaluate.
    Empty,
    /// A named limit was reached.
    Limit,
    /// The operating system refused.
    File,
    /// The system has no memory left.
    Memory,
    /// The caller asked to stop.
    Interrupted,
}

impl Kind {
    /// The name under which the Python package looks up the class.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measure => "measure",
            Self::Policy => "policy",
            Self::Format => "format",
            Self::Duplicate => "duplicate",
            Self::Empty => "empty",
            Self::Limit => "limit",
            Self::File => "file",
            Self::Memory => "memory",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Where an error was found, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// File name, or the name of the argument.
    pub file: Option<String>,
    /// 1-based line or row.
    pub line: Option<u64>,
    /// 1-based column, in bytes.
    pub column: Option<u64>,
    /// The offending value, escaped and cut.
    pub value: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fields {
    kind: Kind,
    code: &'static str,
    message: String,
    hint: String,
    place: Place,
}

/// An error; one pointer wide, so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Fields>);

/// The result of anything that can be refused.
pub type Result<T> = std::result::Result<T, Error>;

/// So many copies of a value, where a caller says how many: more than the system has room for are an
/// error, while elsewhere they end the process.
pub fn fill<T: Clone>(value: T, count: Option<usize>) -> Result<Vec<T>> {
    let mut made = Vec::new();
    let reserved = count.map(|count| made.try_reserve_exact(count).map(|()| count));
    let Some(Ok(count)) = reserved else { return Err(Error::out_of_memory()) };
    made.resize(count, value);
    Ok(made)
}

impl Error {
    /// An error of a kind, with its stable code and what was expected and found.
    pub fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Fields {
            kind,
            code,
            message: message.into(),
            hint: String::new(),
            place: Place::default(),
        }))
    }

    /// The error where the system has no memory left.
    pub fn out_of_memory() -> Self {
        Self::new(Kind::Memory, "memory", "not enough memory for this input")
            .hint("evaluate it in parts, or raise the memory limit of the process")
    }

    /// Says how to mend it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = hint.into();
        self
    }

    /// Says in which file, unless that is known already.
    pub fn file(mut self, file: &str) -> Self {
        self.0.place.file.get_or_insert_with(|| file.to_owned());
        self
    }

    /// Says at which 1-based line.
    pub fn line(mut self, line: u64) -> Self {
        self.0.place.line = Some(line);
        self
    }

    /// Says at which 1-based column.
    pub fn column(mut self, column: usize) -> Self {
        self.0.place.column = Some(column as u64);
        self
    }

    /// Keeps the offending bytes, escaped and cut.
    pub fn value(mut self, value: &[u8]) -> Self {
        self.0.place.value = Some(show(value));
        self
    }

    /// Moves the line down by the lines that came before the text it was found in.
    pub fn after_lines(mut self, lines: u64) -> Self {
        if let Some(line) = &mut self.0.place.line {
            *line += lines;
        }
        self
    }

    /// The branch of the tree.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// What was expected and found.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// How to mend it, or nothing.
    pub fn hint_text(&self) -> &str {
        &self.0.hint
    }

    /// Where it was found.
    pub fn place(&self) -> &Place {
        &self.0.place
    }
}

/// The error of the earlier line, if there is one.
pub fn earlier(one: Option<Error>, other: Option<Error>) -> Option<Error> {
    one.into_iter().chain(other).min_by_key(|error| error.place().line)
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.0.code, self.0.message)
    }
}

impl std::error::Error for Error {}

const SHOWN: usize = 120;

/// Bytes as a person may safely read them: escaped, and cut at 120 characters.
pub fn show(bytes: &[u8]) -> String {
    // A character has four bytes at most, and the one after the last shows that there are more.
    let cut = &bytes[..bytes.len().min(4 * (SHOWN + 1))];
    let text = String::from_utf8_lossy(cut);
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == SHOWN {
            shown.push('…');
            return shown;
        }
        if is_plain(character) {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    shown
}

/// Control characters, and those that change the direction or hide, are shown escaped.
fn is_plain(character: char) -> bool {
    !(character.is_control()
        || matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
            | '\u{feff}' | '\u{fffd}' | '\u{a0}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_room_for_is_an_error() {
        assert_eq!(fill(1, Some(2)).unwrap(), [1, 1]);
        for count in [None, Some(usize::MAX / 8), Some(usize::MAX)] {
            assert_eq!(fill(1u64, count).unwrap_err().code(), "memory");
        }
    }

    #[test]
    fn shown_values_are_escaped_and_cut() {
        assert_eq!(show(b"q1"), "q1");
        assert_eq!(show("a\u{202e}b\u{0}".as_bytes()), "a\\u{202e}b\\u{0}");
    }

    #[test]
    fn values_of_more_than_120_characters_are_cut() {
        for character in ["x", "ü", "€", "😀"] {
            for count in [119, 120, 121, 1000] {
                let shown = character.repeat(count.min(120)) + if count > 120 { "…" } else { "" };
                assert_eq!(show(character.repeat(count).as_bytes()), shown);
            }
        }
    }

    #[test]
    fn the_first_file_named_stays() {
        let error = Error::new(Kind::Format, "field_count", "x").file("a").file("b");
        assert_eq!(error.place().file.as_deref(), Some("a"));
    }
}
