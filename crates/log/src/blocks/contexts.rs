//! What many rankings have in common.

use std::ops::Deref;

use rankscope_core::ids::interner::Ids;
use serde::{Deserialize, Serialize};

/// What many rankings have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// The model that ranked.
    pub model: Vec<u8>,
    /// Its version.
    pub version: Vec<u8>,
    /// Where it ranked, by its place in `ENVIRONMENTS`.
    pub environment: usize,
    /// Names and values, by name.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Contexts, each once, in the order in which they were added.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Context>")]
pub struct Contexts {
    all: Vec<Context>,
    /// By all that they say.
    #[serde(skip_serializing)]
    ids: Ids,
    #[serde(skip_serializing)]
    text: Vec<u8>,
}

impl TryFrom<Vec<Context>> for Contexts {
    type Error = &'static str;

    fn try_from(all: Vec<Context>) -> Result<Self, Self::Error> {
        let mut contexts = Self::default();
        let are_new = all.iter().enumerate().all(|(place, context)| contexts.add(context) == place);
        if are_new { Ok(contexts) } else { Err("expected each context once") }
    }
}

impl Deref for Contexts {
    type Target = [Context];

    fn deref(&self) -> &[Context] {
        &self.all
    }
}

impl PartialEq for Contexts {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

impl Contexts {
    /// The place of a context, which is added where it is not there.
    pub fn add(&mut self, context: &Context) -> usize {
        let Context { model, version, environment, attributes } = context;
        let attributes = attributes.iter().map(|(name, value)| (&**name, &**value));
        self.add_parts(model, version, *environment, attributes)
    }

    /// The place of a context that consists of some parts, likewise.
    pub fn add_parts<'a>(
        &mut self,
        model: &'a [u8],
        version: &'a [u8],
        environment: usize,
        attributes: impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone,
    ) -> usize {
        self.text.clear();
        let pairs = attributes.clone().flat_map(|(name, value)| [name, value]);
        for part in [model, version, &environment.to_le_bytes()].into_iter().chain(pairs) {
            self.text.extend_from_slice(&part.len().to_le_bytes());
            self.text.extend_from_slice(part);
        }
        let place = self.ids.number(&self.text);
        if place == self.all.len() {
            let attributes =
                attributes.map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
            let (model, version) = (model.to_vec(), version.to_vec());
            self.all.push(Context { model, version, environment, attributes });
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn contexts_are_there_once_in_the_order_in_which_they_were_added(
            plain in prop::collection::vec(
                ("[ab]{0,1}", "[ab]{0,1}", 0..2usize, prop::collection::vec(("[ab]{0,1}", "[ab]{0,1}"), 0..3)),
                0..20,
            ),
        ) {
            let bytes = |text: &String| text.as_bytes().to_vec();
            let (mut contexts, mut expected) = (Contexts::default(), vec![]);
            for (model, version, environment, attributes) in &plain {
                let attributes = attributes.iter().map(|(name, value)| (bytes(name), bytes(value)));
                let context = Context {
                    model: bytes(model),
                    version: bytes(version),
                    environment: *environment,
                    attributes: attributes.collect(),
                };
                let place = contexts.add(&context);
                prop_assert_eq!(&contexts[place], &context);
                if !expected.contains(&context) {
                    expected.push(context);
                }
            }
            prop_assert_eq!(&contexts[..], &expected[..]);
        }
    }
}
