//! The bytes in which a batch goes from one process to another of the same release.

use super::batch::Batch;
use super::contexts::{Context, Contexts};
use super::labels::Labels;
use super::rankings::Rankings;
use super::texts::Texts;

/// Writes columns, each after its size.
#[derive(Debug, Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn size(&mut self, size: usize) {
        self.0.extend_from_slice(&(size as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.size(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn words(&mut self, words: impl ExactSizeIterator<Item = [u8; 8]>) {
        self.size(words.len());
        self.0.extend_from_slice(words.collect::<Vec<_>>().as_flattened());
    }

    fn integers(&mut self, integers: &[i64]) {
        self.words(integers.iter().map(|integer| integer.to_le_bytes()));
    }

    fn numbers(&mut self, numbers: &[f64]) {
        self.words(numbers.iter().map(|number| number.to_le_bytes()));
    }

    fn texts(&mut self, texts: &Texts) {
        self.integers(&texts.offsets);
        self.bytes(&texts.bytes);
    }
}

/// Reads them again.
#[derive(Debug)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn size(&mut self) -> Option<usize> {
        let (size, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        usize::try_from(u64::from_le_bytes(*size)).ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let size = self.size()?;
        self.0.split_off(..size)
    }

    fn words<T>(&mut self, value: impl Fn([u8; 8]) -> T) -> Option<Vec<T>> {
        let size = self.size()?.checked_mul(8)?;
        let (words, _) = self.0.split_off(..size)?.as_chunks();
        Some(words.iter().map(|&word| value(word)).collect())
    }

    fn integers(&mut self) -> Option<Vec<i64>> {
        self.words(i64::from_le_bytes)
    }

    fn numbers(&mut self) -> Option<Vec<f64>> {
        self.words(f64::from_le_bytes)
    }

    fn texts(&mut self) -> Option<Texts> {
        Some(Texts { offsets: self.integers()?, bytes: self.bytes()?.to_vec() })
    }
}

impl Batch {
    /// The bytes in which it goes to another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        let Self { rankings, labels, kinds, counts, contexts } = self;
        for integers in [
            &rankings.seqs,
            &rankings.times,
            &rankings.contexts,
            &rankings.offsets,
            &rankings.ranks,
            &labels.seqs,
            &labels.shown,
            &labels.times,
            counts,
        ] {
            writer.integers(integers);
        }
        for texts in [
            &rankings.ranking_ids,
            &rankings.event_ids,
            &rankings.query_keys,
            &rankings.user_ids,
            &rankings.doc_ids,
            &labels.ranking_ids,
            &labels.event_ids,
            &labels.doc_ids,
            &labels.names,
        ] {
            writer.texts(texts);
        }
        for numbers in [&rankings.scores, &rankings.relevance, &labels.values] {
            writer.numbers(numbers);
        }
        writer.bytes(&labels.kinds);
        writer.bytes(kinds);
        writer.size(contexts.len());
        for context in contexts.iter() {
            writer.bytes(&context.model);
            writer.bytes(&context.version);
            writer.size(context.environment);
            writer.size(context.attributes.len());
            for (name, value) in &context.attributes {
                writer.bytes(name);
                writer.bytes(value);
            }
        }
        writer.0
    }

    /// Reads what another process has written; none where it is something else.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let reader = &mut reader;
        let [seqs, times, contexts, offsets, ranks] = [
            reader.integers()?,
            reader.integers()?,
            reader.integers()?,
            reader.integers()?,
            reader.integers()?,
        ];
        let [label_seqs, shown, label_times, counts] =
            [reader.integers()?, reader.integers()?, reader.integers()?, reader.integers()?];
        let rankings = Rankings {
            seqs,
            times,
            contexts,
            ranking_ids: reader.texts()?,
            event_ids: reader.texts()?,
            query_keys: reader.texts()?,
            user_ids: reader.texts()?,
            offsets,
            doc_ids: reader.texts()?,
            ranks,
            scores: Vec::new(),
            relevance: Vec::new(),
        };
        let labels = Labels {
            seqs: label_seqs,
            shown,
            times: label_times,
            ranking_ids: reader.texts()?,
            event_ids: reader.texts()?,
            doc_ids: reader.texts()?,
            names: reader.texts()?,
            kinds: Vec::new(),
            values: Vec::new(),
        };
        let rankings =
            Rankings { scores: reader.numbers()?, relevance: reader.numbers()?, ..rankings };
        let labels =
            Labels { values: reader.numbers()?, kinds: reader.bytes()?.to_vec(), ..labels };
        let kinds = reader.bytes()?.to_vec();
        let mut contexts = Contexts::default();
        for place in 0..reader.size()? {
            let (model, version) = (reader.bytes()?.to_vec(), reader.bytes()?.to_vec());
            let environment = reader.size()?;
            let mut attributes = Vec::new();
            for _ in 0..reader.size()? {
                attributes.push((reader.bytes()?.to_vec(), reader.bytes()?.to_vec()));
            }
            let context = Context { model, version, environment, attributes };
            (contexts.add(&context) == place).then_some(())?;
        }
        reader.0.is_empty().then_some(Self { rankings, labels, kinds, counts, contexts })
    }
}
