//! What is known of queries besides their rankings: country, device, version of the model.

use crate::axis::Names;
use crate::error::{Error, Kind, Result, show};
use crate::table::IdColumn;
use crate::vocabulary::Vocabulary;

/// Named values of each query.
#[derive(Debug, Default)]
pub struct Attributes(Vec<Attribute>);

/// One named value of each query.
#[derive(Debug)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// The different values, in first-seen order.
    pub values: Vocabulary,
    /// Which of them each query has.
    pub codes: Vec<u32>,
}

impl Attributes {
    /// The attribute of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|attribute| attribute.name == name)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|attribute| attribute.name.as_str())
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
                    .hint("an attribute belongs to the query, not to the document")
                    .line(row));
            }
        }
        self.0.push(Attribute { name: name.to_owned(), values, codes });
        Ok(())
    }
}
