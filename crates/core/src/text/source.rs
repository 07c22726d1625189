//! Reads bytes from a file, standard input or a buffer, and decompresses them.
//!
//! Files are read with ordinary reads, never mapped: a file that shrinks is an error, not a signal.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Kind, Result, show};
use crate::watch::{Event, Watch};

/// What to read.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A file, pipe or device by its path.
    Path(PathBuf),
    /// What somebody opened already, by this path; it is read once.
    Opened(PathBuf, Arc<File>),
    /// Standard input.
    Stdin,
    /// Bytes in memory.
    Bytes(Bytes),
}

/// Bytes that several readers share.
#[derive(Clone, Debug)]
pub struct Bytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(Arc::new(bytes.to_vec()))
    }
}

/// How text is encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, and nothing else.
    #[default]
    Utf8,
    /// ISO 8859-1, turned into UTF-8 while reading.
    Latin1,
}

/// What to read, and as what.
#[derive(Clone, Debug)]
pub struct Input {
    /// Where the bytes come from.
    pub origin: Origin,
    /// How they are encoded.
    pub encoding: Encoding,
}

impl Input {
    /// The name to use in messages.
    pub fn name(&self) -> String {
        match &self.origin {
            Origin::Path(path) | Origin::Opened(path, _) => {
                show(path.as_os_str().as_encoded_bytes())
            }
            Origin::Stdin => "<stdin>".to_owned(),
            Origin::Bytes(_) => "<bytes>".to_owned(),
        }
    }

    /// Whether it can be read again from the start.
    pub fn is_rereadable(&self) -> bool {
        match &self.origin {
            Origin::Path(path) => std::fs::metadata(path).is_ok_and(|facts| facts.is_file()),
            Origin::Opened(..) | Origin::Stdin => false,
            Origin::Bytes(_) => true,
        }
    }

    /// The size of the file, where it has one.
    pub fn size(&self) -> Option<u64> {
        match &self.origin {
            Origin::Path(path) => {
                std::fs::metadata(path).ok().filter(Metadata::is_file).map(|facts| facts.len())
            }
            Origin::Opened(..) | Origin::Stdin => None,
            Origin::Bytes(bytes) => Some(bytes.as_ref().len() as u64),
        }
    }

    /// Opens it, looks at its first bytes, and unpacks what is packed.
    pub fn open(&self, watch: Watch<'_>) -> Result<Source> {
        let name = self.name();
        self.open_named(&name, watch).map_err(|error| error.file(&name))
    }

    fn open_named(&self, name: &str, watch: Watch<'_>) -> Result<Source> {
        let counter = Arc::new(AtomicU64::new(0));
        let mut watched = None;
        let raw: Box<dyn Read + Send> = match &self.origin {
            Origin::Path(path) => {
                let file = File::open(path).map_err(|error| refuse_path(path, &error))?;
                let facts = file.metadata().map_err(|error| refuse(&error))?;
                if facts.is_dir() {
                    return Err(Error::new(Kind::File, "io", "expected a file, found a directory")
                        .hint("name the files in it"));
                }
                if facts.is_file() {
                    let file = file.try_clone().map_err(|error| refuse(&error))?;
                    watched =
                        Some(Watched { file, size: facts.len(), modified: facts.modified().ok() });
                }
                Box::new(file)
            }
            Origin::Opened(_, file) => Box::new(file.try_clone().map_err(|error| refuse(&error))?),
            Origin::Stdin => Box::new(io::stdin()),
            Origin::Bytes(bytes) => Box::new(Cursor::new(bytes.clone())),
        };
        let mut raw = Counted { inner: raw, count: Arc::clone(&counter) };
        let mut head = vec![0; HEAD];
        let count = fill_from(&mut raw, &mut head, &mut || watch(Event::Signal))
            .map_err(|outcome| outcome.unwrap_or_else(|error| refuse(&error)))?;
        head.truncate(count);
        let packing = Packing::of(&head);
        let chained = Cursor::new(head).chain(raw);
        let reader: Box<dyn Read + Send> = match packing {
            Packing::None => Box::new(chained),
            Packing::Gzip => Box::new(GzipMembers::new(BufReader::with_capacity(READ, chained))),
            Packing::Zstd => {
                Box::new(zstd::stream::read::Decoder::new(chained).map_err(|error| refuse(&error))?)
            }
            Packing::Bzip2 => Box::new(Bzip2Members::new(BufReader::with_capacity(READ, chained))),
        };
        let reader: Box<dyn Read + Send> = match self.encoding {
            Encoding::Utf8 => reader,
            Encoding::Latin1 => Box::new(FromLatin1 { inner: reader, spare: Vec::new() }),
        };
        Ok(Source { reader, name: name.to_owned(), packing, counter, given: 0, watched })
    }
}

const HEAD: usize = 64;
const READ: usize = 1 << 16;
/// Unpacked text beyond this many bytes must not be more than [`MAX_RATIO`] times its packed form.
pub const RATIO_FROM: u64 = 64 << 20;
/// Text is packed less well than this; gzip gives a text of blank lines 158 bytes for each at its fastest.
pub const MAX_RATIO: u64 = 150;
const MAX_MEMBERS: u32 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
    Bzip2,
}

impl Packing {
    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            // A frame that may be skipped comes first where several threads packed.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            // What follows the size is pi or its root; the first byte alone could be of an id.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => {
                Self::Bzip2
            }
            _ => Self::None,
        }
    }
}

struct Watched {
    file: File,
    size: u64,
    modified: Option<std::time::SystemTime>,
}

/// An open input.
pub struct Source {
    reader: Box<dyn Read + Send>,
    name: String,
    packing: Packing,
    counter: Arc<AtomicU64>,
    given: u64,
    watched: Option<Watched>,
}

impl Source {
    /// The name to use in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes of the file itself have been read.
    pub fn consumed(&self) -> u64 {
        self.counter.load(Ordering::Relaxed)
    }

    /// Fills as much of the buffer as there is; less only at the end.
    pub fn fill(&mut self, buffer: &mut [u8], watch: Watch<'_>) -> Result<usize> {
        let filled = fill_from(&mut self.reader, buffer, &mut || watch(Event::Signal))
            .map_err(|outcome| outcome.unwrap_or_else(|error| self.refuse_reading(&error)))?;
        if filled < buffer.len() {
            self.check_unchanged()?;
        }
        self.given += filled as u64;
        if self.packing != Packing::None {
            check_ratio(self.given, self.consumed()).map_err(|error| error.file(&self.name))?;
        }
        Ok(filled)
    }

    fn check_unchanged(&self) -> Result<()> {
        let Some(watched) = &self.watched else {
            return Ok(());
        };
        let facts = watched.file.metadata().map_err(|error| refuse(&error).file(&self.name))?;
        let is_same = facts.len() == watched.size
            && facts.modified().ok() == watched.modified
            && (self.packing != Packing::None || self.consumed() == watched.size);
        if is_same {
            return Ok(());
        }
        Err(Error::new(
            Kind::File,
            "changed_while_reading",
            format!(
                "expected {} bytes throughout, but the file changed while it was read",
                watched.size
            ),
        )
        .hint("read it again once nobody writes to it")
        .file(&self.name))
    }

    fn refuse_reading(&self, error: &io::Error) -> Error {
        if self.packing == Packing::None || is_out_of_memory(error) {
            return refuse(error).file(&self.name);
        }
        if let Some(limit) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
            return limit.clone().file(&self.name);
        }
        Error::new(
            Kind::Format,
            "compressed_truncated",
            format!("expected whole compressed data, found it cut or damaged ({error})"),
        )
        .hint("fetch the file again; nothing was taken from it")
        .file(&self.name)
    }
}

/// Refuses so many bytes that were unpacked from so many.
fn check_ratio(given: u64, packed: u64) -> Result<()> {
    if given <= RATIO_FROM.max(MAX_RATIO.saturating_mul(packed)) {
        return Ok(());
    }
    Err(Error::new(
        Kind::Limit,
        "decompressed_bytes",
        format!("expected at most {MAX_RATIO} bytes from one packed byte, found more"),
    )
    .hint("unpack the file first, if it can be trusted"))
}

/// Whether the system had no memory left; zstd says so in words alone.
fn is_out_of_memory(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory || error.to_string().contains("not enough memory")
}

fn refuse(error: &io::Error) -> Error {
    if is_out_of_memory(error) {
        return Error::out_of_memory();
    }
    let (message, hint) = match error.kind() {
        io::ErrorKind::NotFound => ("no such file".to_owned(), "check the path"),
        io::ErrorKind::PermissionDenied => {
            ("no permission to read it".to_owned(), "check its mode and owner")
        }
        _ => (error.to_string(), "the operating system says so: see that it can be read at all"),
    };
    Error::new(Kind::File, "io", message).hint(hint)
}

fn refuse_path(path: &Path, error: &io::Error) -> Error {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|facts| facts.is_symlink());
    if is_link && error.kind() == io::ErrorKind::NotFound {
        return Error::new(Kind::File, "io", "the link leads to no file")
            .hint("make the link anew, or name the file itself");
    }
    refuse(error)
}

/// Fills as much of the buffer as there is, and looks up whenever a signal comes.
fn fill_from(
    reader: &mut dyn Read,
    buffer: &mut [u8],
    on_signal: &mut dyn FnMut() -> Result<()>,
) -> std::result::Result<usize, std::result::Result<Error, io::Error>> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if is_signal(&error) => {
                on_signal().map_err(Ok)?;
            }
            Err(error) => return Err(Err(error)),
        }
    }
    Ok(filled)
}

/// A signal came while waiting for bytes. Decoders try again by themselves where they see that a
/// read was interrupted, so that the caller would not learn of it; this they hand on.
#[derive(Debug)]
struct Signalled;

impl fmt::Display for Signalled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a signal came while reading")
    }
}

impl std::error::Error for Signalled {}

struct Counted {
    inner: Box<dyn Read + Send>,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => io::Error::new(io::ErrorKind::WouldBlock, Signalled),
            _ => error,
        })?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Gzip members one after another, bounded in number.
struct GzipMembers<R> {
    member: Option<flate2::bufread::GzDecoder<R>>,
    members: u32,
}

impl<R: BufRead> GzipMembers<R> {
    fn new(inner: R) -> Self {
        Self { member: Some(flate2::bufread::GzDecoder::new(inner)), members: 1 }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(member) = &mut self.member else {
                return Ok(0);
            };
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(decoder) = self.member.take() else {
                return Ok(0);
            };
            let mut rest = decoder.into_inner();
            if rest.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.members += 1;
            if self.members > MAX_MEMBERS {
                return Err(io::Error::other(
                    Error::new(
                        Kind::Limit,
                        "gzip_members",
                        format!("expected at most {MAX_MEMBERS} gzip members, found more"),
                    )
                    .hint("pack the file anew as one member"),
                ));
            }
            self.member = Some(flate2::bufread::GzDecoder::new(rest));
        }
    }
}

/// Bzip2 streams one after another. The decoder of the library does not stop when memory runs out.
struct Bzip2Members<R> {
    inner: R,
    decoder: Option<bzip2::Decompress>,
}

impl<R: BufRead> Bzip2Members<R> {
    fn new(inner: R) -> Self {
        Self { inner, decoder: None }
    }
}

impl<R: BufRead> Read for Bzip2Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let input = self.inner.fill_buf()?;
            if input.is_empty() && self.decoder.is_none() {
                return Ok(0);
            }
            let decoder = self.decoder.get_or_insert_with(|| bzip2::Decompress::new(false));
            let (before_in, before_out) = (decoder.total_in(), decoder.total_out());
            let status = decoder.decompress(input, buffer).map_err(io::Error::other)?;
            #[allow(clippy::cast_possible_truncation)] // they are lengths of slices
            let (consumed, given) = (
                (decoder.total_in() - before_in) as usize,
                (decoder.total_out() - before_out) as usize,
            );
            let is_at_end = input.is_empty();
            self.inner.consume(consumed);
            match status {
                bzip2::Status::MemNeeded => return Err(io::ErrorKind::OutOfMemory.into()),
                bzip2::Status::StreamEnd => self.decoder = None,
                _ if is_at_end && given == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => {}
            }
            if given > 0 || buffer.is_empty() {
                return Ok(given);
            }
        }
    }
}

fn is_signal(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<Signalled>()).is_some()
}

struct FromLatin1<R> {
    inner: R,
    spare: Vec<u8>,
}

impl<R: Read> Read for FromLatin1<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.spare.is_empty() {
            let mut latin = vec![0; READ];
            let count = self.inner.read(&mut latin)?;
            for &byte in &latin[..count] {
                self.spare.extend_from_slice(char::from(byte).encode_utf8(&mut [0; 2]).as_bytes());
            }
        }
        let count = buffer.len().min(self.spare.len());
        buffer[..count].copy_from_slice(&self.spare[..count]);
        self.spare.drain(..count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_byte_has_150_bytes_at_most() {
        let packed = 1 << 20;
        for given in [150 * packed - 1, 150 * packed, 150 * packed + 1] {
            assert_eq!(check_ratio(given, packed).is_ok(), given <= 150 * packed);
        }
    }

    #[test]
    fn up_to_64_mebibytes_may_come_from_any_number_of_bytes() {
        let most = 64 << 20;
        for given in [most - 1, most, most + 1] {
            assert_eq!(check_ratio(given, 1).is_ok(), given <= most);
        }
    }
}
