//! Attributes of queries, such as country, device or model version.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result, show};
use crate::ids::interner::Ids;
use crate::ids::vocabulary::Vocabulary;
use crate::number::decimal::Decimal;
use crate::qrels::axis::Names;
use crate::saved::{require, require_codes};
use crate::table::columns::IdColumn;

/// Named values of each query.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Attributes(Vec<Attribute>);

/// One named value of each query.
#[derive(Debug, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// The different values, in first-seen order.
    pub values: Vocabulary,
    /// Which of them each query has.
    pub codes: Vec<u32>,
}

/// Some identifiers or values, each once, numbered in this order; integers become texts.
pub fn pick(ids: &Vocabulary, order: &[u32]) -> Vocabulary {
    let (mut picked, mut room) = (Ids::default(), Decimal::default());
    for &number in order {
        picked.number(ids.write(number as usize, &mut room));
    }
    Vocabulary::Texts(picked)
}

impl IntoIterator for Attributes {
    type Item = Attribute;
    type IntoIter = std::vec::IntoIter<Attribute>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Attributes {
    /// The attribute of a name.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|attribute| attribute.name == name)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|attribute| attribute.name.as_str())
    }

    /// Refuses those that are not of so many queries.
    pub(crate) fn validate(&self, queries: usize) -> Result<()> {
        self.0.iter().try_for_each(|Attribute { values, codes, .. }| {
            require(codes.len() == queries)?;
            require_codes(codes, values.len())
        })
    }

    /// Adds those of further queries.
    pub fn append(&mut self, others: &Self) {
        if self.0.is_empty() {
            let empty = |other: &Attribute| Attribute {
                name: other.name.clone(),
                values: Vocabulary::default(),
                codes: Vec::new(),
            };
            self.0 = others.0.iter().map(empty).collect();
        }
        for (own, other) in self.0.iter_mut().zip(&others.0) {
            let values = own.values.number_all(&other.values);
            own.codes.extend(other.codes.iter().map(|&code| values[code as usize]));
        }
    }

    /// Puts the queries in another order, that of their numbers so far; values are then numbered as
    /// they are first seen in it.
    #[allow(clippy::cast_possible_truncation)] // values have numbers of 32 bits
    pub fn reorder(&mut self, order: &[u32]) {
        for Attribute { values, codes, .. } in &mut self.0 {
            let mut numbers = vec![u32::MAX; values.len()];
            let mut seen = Vec::new();
            for &query in order {
                let code = codes[query as usize];
                if numbers[code as usize] == u32::MAX {
                    numbers[code as usize] = seen.len() as u32;
                    seen.push(code);
                }
            }
            let number = |&query: &u32| numbers[codes[query as usize] as usize];
            *codes = order.iter().map(number).collect();
            *values = pick(values, &seen);
        }
    }

    /// Adds an attribute from a column of rows, whose queries have these numbers.
    ///
    /// # Errors
    /// Where rows of one query differ in it; the line is the 1-based row.
    pub fn add(
        &mut self,
        name: &str,
        column: &IdColumn<'_>,
        queries: &[u32],
        names: &Names,
    ) -> Result<()> {
        let (rows, values) = Vocabulary::number_values(column)?;
        let mut codes = vec![u32::MAX; names.len()];
        for (row, (&query, &value)) in (1..).zip(queries.iter().zip(&rows)) {
            let known = &mut codes[query as usize];
            if *known == u32::MAX {
                *known = value;
            } else if *known != value {
                let shown = |value: u32| show(&values.get(value as usize));
                let message = format!(
                    "expected one {name} in all rows of query `{}`, found `{}` and `{}`",
                    show(&names.get(query as usize)),
                    shown(*known),
                    shown(value)
                );
                return Err(Error::new(Kind::Format, "attribute_conflict", message)
                    .hint("an attribute belongs to the query; for names of runs, write runs=…")
                    .line(row));
            }
        }
        self.0.push(Attribute { name: name.to_owned(), values, codes });
        Ok(())
    }
}
