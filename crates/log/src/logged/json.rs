//! Reads plain JSON strictly, and gives up on whatever is not plain.
//!
//! What is read here is valid JSON without a name that stands twice in an object, NUL, half a
//! character, or a number beyond 64 bits. Everything else, valid or not, is left to a reader that can
//! explain what is wrong: every function returns none for it.

use std::ops::Deref;

/// The largest number of names in an object that is plain.
const MOST_NAMES: usize = 256;
/// The names of an object that are kept on the stack.
const FEW: usize = 8;

/// Text, as it stands in the JSON or without its escapes.
#[derive(Debug)]
pub enum Text<'a> {
    /// Without escapes.
    Plain(&'a [u8]),
    /// What its escapes stand for is in it.
    Unescaped(Vec<u8>),
}

impl Deref for Text<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Unescaped(bytes) => bytes,
        }
    }
}

/// A value of JSON; of a list or an object, where it begins.
#[derive(Debug)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Truth(bool),
    /// A number without a fraction and an exponent.
    Integer(i64),
    /// Any other finite number.
    Number(f64),
    /// A text.
    Text(Text<'a>),
    /// A list.
    List(Cursor<'a>),
    /// An object.
    Object(Cursor<'a>),
}

/// A place in a text of JSON.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The start of a text; none where it is not UTF-8.
    pub fn new(text: &'a [u8]) -> Option<Self> {
        std::str::from_utf8(text).ok()?;
        Some(Self { text, at: 0 })
    }

    /// The next byte that is not blank.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Steps over a byte and the blanks before it.
    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Whether only blanks follow.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Calls a function with the name of each member of an object, after which its value is next.
    ///
    /// ```
    /// use rankscope_log::logged::json::Cursor;
    /// let names = |text: &'static [u8]| {
    ///     let mut names = 0;
    ///     let mut read = |cursor: &mut Cursor<'_>, _: &[u8]| cursor.skip(4).map(|()| names += 1);
    ///     Cursor::new(text)?.members(&mut read).map(|()| names)
    /// };
    /// assert_eq!(names(br#"{"a": [1, {}], "b": null}"#), Some(2));
    /// assert_eq!(names(br#"{"a": 1, "a": 2}"#), None);
    /// ```
    pub fn members(
        &mut self,
        mut read: impl FnMut(&mut Self, &'a [u8]) -> Option<()>,
    ) -> Option<()> {
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        // Most objects have few names, for which no memory has to be asked.
        let (mut few, mut more) = ([&b""[..]; FEW], Vec::default());
        let mut count = 0;
        loop {
            self.take(b'"')?;
            let name = self.plain_text()?;
            self.take(b':')?;
            let known = &few[..count.min(FEW)];
            if count == MOST_NAMES || known.contains(&name) || more.contains(&name) {
                return None;
            }
            match few.get_mut(count) {
                Some(place) => *place = name,
                None => more.push(name),
            }
            count += 1;
            read(self, name)?;
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
        }
    }

    /// Calls a function for each value of a list, which is next.
    pub fn elements(&mut self, mut read: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            self.peek()?;
            read(self)?;
            if self.take(b',').is_none() {
                return self.take(b']');
            }
        }
    }

    /// Reads a value, of which lists and objects are nested at most so deeply.
    pub fn value(&mut self, depth: usize) -> Option<Value<'a>> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.text().map(Value::Text)
            }
            b'{' | b'[' => {
                let start = self.clone();
                self.skip(depth)?;
                Some(if start.text[start.at] == b'{' {
                    Value::Object(start)
                } else {
                    Value::List(start)
                })
            }
            b'n' => self.word(b"null", Value::Null),
            b't' => self.word(b"true", Value::Truth(true)),
            b'f' => self.word(b"false", Value::Truth(false)),
            _ => self.number(),
        }
    }

    /// Steps over a value, of which lists and objects are nested at most so deeply.
    pub fn skip(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' => {
                let inner = depth.checked_sub(1)?;
                self.members(|cursor, _| cursor.skip(inner))
            }
            b'[' => {
                let inner = depth.checked_sub(1)?;
                self.elements(|cursor| cursor.skip(inner))
            }
            _ => self.value(0).map(drop),
        }
    }

    fn word(&mut self, word: &[u8], value: Value<'a>) -> Option<Value<'a>> {
        let rest = self.text.get(self.at..self.at + word.len())?;
        (rest == word).then(|| {
            self.at += word.len();
            value
        })
    }

    /// The place of the first byte of a text that ends it, or is not itself.
    #[inline]
    fn find_special(&self) -> Option<usize> {
        let is_special = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < b' ';
        let (words, rest) = self.text[self.at..].as_chunks();
        for (place, &word) in words.iter().enumerate() {
            let found = mark_special(u64::from_le_bytes(word));
            if found != 0 {
                return Some(self.at + 8 * place + found.trailing_zeros() as usize / 8);
            }
        }
        let place = rest.iter().position(is_special)?;
        Some(self.text.len() - rest.len() + place)
    }

    /// Reads a text without escapes; its first quote was read.
    #[inline]
    fn plain_text(&mut self) -> Option<&'a [u8]> {
        let end = self.find_special()?;
        let text = &self.text[self.at..end];
        self.at = end + 1;
        (self.text[end] == b'"').then_some(text)
    }

    /// Reads a text; its first quote was read.
    fn text(&mut self) -> Option<Text<'a>> {
        let start = self.clone();
        if let Some(text) = self.plain_text() {
            return Some(Text::Plain(text));
        }
        *self = start;
        let mut text = Vec::default();
        loop {
            let end = self.find_special()?;
            text.extend_from_slice(&self.text[self.at..end]);
            self.at = end + 1;
            match self.text[end] {
                b'"' => return Some(Text::Unescaped(text)),
                b'\\' => self.unescape(&mut text)?,
                _ => return None,
            }
        }
    }

    /// Reads what follows a backslash.
    fn unescape(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        text.push(match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let first = self.hex()?;
                let code = if (0xD800..0xDC00).contains(&first) {
                    (self.text.get(self.at..self.at + 2)? == b"\\u").then_some(())?;
                    self.at += 2;
                    let second = self.hex()?;
                    (0xDC00..0xE000).contains(&second).then_some(())?;
                    0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
                } else {
                    first
                };
                let character = char::from_u32(code).filter(|&character| character != '\0')?;
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Some(());
            }
            _ => return None,
        });
        Some(())
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))
    }

    /// Reads a number.
    fn number(&mut self) -> Option<Value<'a>> {
        let start = self.at;
        if self.text[start] == b'-' {
            self.at += 1;
        }
        let whole = self.digits()?;
        if whole.len() > 1 && whole[0] == b'0' {
            return None;
        }
        let mut is_integer = true;
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
            is_integer = false;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
            is_integer = false;
        }
        if is_integer {
            let integer = whole.iter().try_fold(0_i64, |sum, &digit| {
                sum.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
            })?;
            return Some(Value::Integer(if self.text[start] == b'-' { -integer } else { integer }));
        }
        let number = fast_float2::parse::<f64, _>(&self.text[start..self.at]).ok()?;
        number.is_finite().then_some(Value::Number(number))
    }

    /// Reads one digit, and all others after it.
    fn digits(&mut self) -> Option<&'a [u8]> {
        let rest = &self.text[self.at..];
        let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += count;
        (count > 0).then_some(&rest[..count])
    }
}

/// Sets the highest bit of the lowest of eight bytes that ends a text, or is not itself; bits above it
/// mean nothing.
#[inline]
fn mark_special(bytes: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let is_below = |bytes: u64, limit: u64| bytes.wrapping_sub(EACH * limit) & !bytes;
    let is = |byte: u8| is_below(bytes ^ (EACH * u64::from(byte)), 1);
    (is_below(bytes, 0x20) | is(b'"') | is(b'\\')) & (EACH << 7)
}

/// How deeply lists and objects may be nested in a list that is split.
const DEEPEST: usize = 100;

/// Cuts a list into the texts of its values; none where it is no list, or not UTF-8.
///
/// The list is valid if each of its values is.
///
/// ```
/// use rankscope_log::logged::json::split;
/// let texts = split(br#"[{"a": "]"}, [1, 2] , 3]"#).unwrap();
/// assert_eq!(texts, [&br#"{"a": "]"}"#[..], b"[1, 2]", b"3"]);
/// assert!(split(b"[1, ]").is_none());
/// ```
pub fn split(text: &[u8]) -> Option<Vec<&[u8]>> {
    let mut cursor = Cursor::new(text)?;
    let mut texts = Vec::default();
    cursor.take(b'[')?;
    if cursor.take(b']').is_none() {
        loop {
            cursor.peek()?;
            texts.push(cursor.cut()?);
            if cursor.take(b',').is_none() {
                cursor.take(b']')?;
                break;
            }
        }
    }
    cursor.is_at_end().then_some(texts)
}

impl<'a> Cursor<'a> {
    /// Steps to the end of a value by its brackets alone.
    fn cut(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let mut depth = 0;
        loop {
            match self.text.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    self.find_end()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    if depth > DEEPEST {
                        return None;
                    }
                }
                b',' | b']' | b'}' if depth == 0 => break,
                b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        break;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let cut = &self.text[start..self.at];
        let size = cut.iter().rposition(|byte| !is_blank(byte))? + 1;
        Some(&cut[..size])
    }

    /// Steps to the quote that ends a text.
    fn find_end(&mut self) -> Option<()> {
        loop {
            self.at += memchr::memchr2(b'"', b'\\', &self.text[self.at..])?;
            if self.text[self.at] == b'"' {
                return Some(());
            }
            self.at += 2;
            if self.at > self.text.len() {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_object_has_256_names_at_most() {
        for count in [255, 256, 257] {
            let names: Vec<_> = (0..count).map(|name| format!("\"{name}\":1")).collect();
            let text = format!("{{{}}}", names.join(","));
            let read = Cursor::new(text.as_bytes()).unwrap().skip(1);
            assert_eq!(read.is_some(), count <= 256);
        }
    }

    #[test]
    fn a_text_ends_at_the_first_byte_that_is_not_itself() {
        for start in 0..20 {
            for byte in 0..=127u8 {
                let text = [&b"ab \x7f!#[]zz~"[..], &[0xc3, 0xa9]].concat().repeat(2);
                let text = [&text[..start], &[byte], b"\"abcdefghijk"].concat();
                let cursor = Cursor { text: &text, at: 0 };
                let is_special = byte < b' ' || byte == b'"' || byte == b'\\';
                let expected = if is_special { start } else { start + 1 };
                assert_eq!(cursor.find_special(), Some(expected), "{byte} at {start}");
            }
        }
    }

    #[test]
    fn a_name_that_stands_twice_is_not_plain_wherever_it_stands() {
        for count in [2, 8, 9, 10, 20] {
            for (first, last) in [(0, count - 1), (count - 2, count - 1)] {
                let name = |place| if place == last { first } else { place };
                let texts: Vec<_> =
                    (0..count).map(|place| format!("\"{}\":1", name(place))).collect();
                let text = format!("{{{}}}", texts.join(","));
                assert!(Cursor::new(text.as_bytes()).unwrap().skip(1).is_none());
            }
        }
    }

    #[test]
    fn values_of_a_list_that_is_split_are_nested_100_deep_at_most() {
        for depth in [99, 100, 101] {
            let text = format!("[{}{}]", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(split(text.as_bytes()).is_some(), depth <= 100);
        }
    }
}
