//! The schema of a Parquet file: a tree, written depth first, whose leaves are columns.

use super::compact::{Kind, Reader};
use super::source::{damaged, require};
use crate::error::Result;
use crate::memory::Vec;

/// How deep columns may be nested.
const MOST_DEPTH: usize = 256;
const TREE: &str = "its schema is no tree";

/// The type of the values of a column, as the format numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Physical(i32);

impl Physical {
    /// Integers of 32 bits.
    pub const INT: Self = Self(1);
    /// Integers of 64 bits.
    pub const LONG: Self = Self(2);
    /// Numbers of single precision.
    pub const FLOAT: Self = Self(4);
    /// Numbers of double precision.
    pub const DOUBLE: Self = Self(5);
    /// Bytes or text of any length.
    pub const TEXT: Self = Self(6);
    const FIXED: Self = Self(7);

    /// The type with a number.
    ///
    /// # Errors
    /// There is none.
    pub fn of(number: i32) -> Result<Self> {
        require((0..=7).contains(&number), "a column has an unknown type")?;
        Ok(Self(number))
    }

    /// The bytes of a value, where all have as many.
    #[must_use]
    pub fn width(self, length: usize) -> Option<usize> {
        [Some(1), Some(4), Some(8), Some(12), Some(4), Some(8), None, Some(length)]
            [self.0.unsigned_abs() as usize % 8]
    }
}

/// A node of the tree.
#[derive(Clone, Debug)]
struct Node {
    /// Where its name is among all names.
    name: (usize, usize),
    /// The node that it is in.
    parent: usize,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    node: usize,
    /// The type of its values.
    pub physical: Physical,
    /// The bytes of a value of fixed length.
    pub length: usize,
    /// Whether a row may have any number of values.
    pub is_repeated: bool,
    /// Whether it is in no other column, and then, whether a row may have no value.
    pub optional: Option<bool>,
}

/// The columns of a file.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    nodes: Vec<Node>,
    names: Vec<u8>,
    /// The columns in order.
    pub leaves: Vec<Leaf>,
}

/// What a node says of itself.
#[derive(Default)]
struct Element<'a> {
    physical: Option<i32>,
    length: Option<i32>,
    repetition: Option<i32>,
    name: Option<&'a str>,
    children: Option<i32>,
    converted: Option<i32>,
    scale: Option<i32>,
    precision: Option<i32>,
    logical: Option<Logical>,
}

/// What values mean: the converted type that means the same, and the scale and precision of a decimal.
#[derive(Default)]
struct Logical {
    converted: Option<i32>,
    decimal: Option<(i32, i32)>,
}

impl Schema {
    /// Reads the list of all nodes.
    ///
    /// # Errors
    /// They are no tree, or a node says what can't be.
    pub fn read(reader: &mut Reader<'_>, kind: Kind) -> Result<Self> {
        let count = reader.list(kind, Kind::Struct)?;
        let mut schema = Self::default();
        // The groups that are open: their node, whether it is repeated, and how many children are left.
        let mut open: Vec<(usize, bool, i32)> = Vec::new();
        for at in 0..count {
            let element = read_element(reader)?;
            while open.last().is_some_and(|group| group.2 == 0) {
                open.pop();
            }
            require(at == 0 || !open.is_empty(), TREE)?;
            let (parent, is_repeated) = open.last_mut().map_or((0, false), |group| {
                group.2 -= 1;
                (group.0, group.1)
            });
            element.check(at == 0)?;
            let is_repeated = is_repeated || (at > 0 && element.repetition == Some(2));
            let name = element.name.ok_or_else(|| damaged("a column has no name"))?;
            let start = schema.names.len();
            schema.names.extend_from_slice(name.as_bytes());
            schema.nodes.push(Node { name: (start, schema.names.len()), parent });
            if let Some(number) = element.physical {
                require(at > 0 && element.children.unwrap_or(0) == 0, TREE)?;
                let physical = Physical::of(number)?;
                let length = usize::try_from(element.length.unwrap_or(0)).unwrap_or(0);
                require(physical != Physical::FIXED || length > 0, "values have no length")?;
                let is_flat = parent == 0 && !is_repeated;
                let optional = is_flat.then_some(element.repetition == Some(1));
                schema.leaves.push(Leaf { node: at, physical, length, is_repeated, optional });
            } else {
                let children = element.children.unwrap_or(0);
                require(children > 0 || (at == 0 && children == 0), TREE)?;
                require(open.len() < MOST_DEPTH, "its columns are nested too deeply")?;
                open.push((at, is_repeated, children));
            }
        }
        require(count > 0 && open.iter().all(|group| group.2 == 0), TREE)?;
        Ok(schema)
    }

    /// The names from the top down to a column.
    #[must_use]
    pub fn path(&self, leaf: &Leaf) -> Vec<&str> {
        let mut names: Vec<_> = self.names_up(leaf).collect();
        names.reverse();
        names
    }

    /// Whether a column has these names.
    #[must_use]
    pub fn is_at(&self, leaf: &Leaf, path: &[&[u8]]) -> bool {
        self.names_up(leaf).map(str::as_bytes).eq(path.iter().rev().copied())
    }

    /// The name of the column at the top that a leaf is part of.
    #[must_use]
    pub fn top(&self, leaf: &Leaf) -> &str {
        self.names_up(leaf).last().unwrap_or("")
    }

    fn names_up(&self, leaf: &Leaf) -> impl Iterator<Item = &str> {
        let up = |&at: &usize| Some(self.nodes[at].parent).filter(|&parent| parent > 0);
        std::iter::successors(Some(leaf.node), up).map(|at| {
            let (start, end) = self.nodes[at].name;
            std::str::from_utf8(&self.names[start..end]).unwrap_or("")
        })
    }
}

impl Element<'_> {
    /// Checks that what is said twice is the same, and that there is what is named by a number.
    fn check(&self, is_root: bool) -> Result<()> {
        let within =
            |value: Option<i32>, most| value.is_none_or(|value| (0..=most).contains(&value));
        require(within(self.repetition, 2), "a column has an unknown repetition")?;
        require(is_root || self.repetition.is_some(), "a column has no repetition")?;
        require(within(self.converted, 21), "a column has an unknown converted type")?;
        let Some(logical) = &self.logical else { return Ok(()) };
        let is_same = match (self.converted, logical.converted) {
            (Some(said), Some(meant)) => said == meant || (said == 2 && meant == 1),
            _ => true,
        };
        require(is_same, "the logical type of a column is not its converted type")?;
        let Some((scale, precision)) = logical.decimal else { return Ok(()) };
        let is_same = self.scale.is_none_or(|said| said == scale)
            && self.precision.is_none_or(|said| said == precision);
        require(is_same, "a decimal has two scales or precisions")
    }
}

fn read_element<'a>(reader: &mut Reader<'a>) -> Result<Element<'a>> {
    let mut element = Element::default();
    reader.walk(|reader, field| {
        let kind = field.kind;
        match field.id {
            1 => element.physical = Some(reader.int(kind)?),
            2 => element.length = Some(reader.int(kind)?),
            3 => element.repetition = Some(reader.int(kind)?),
            4 => element.name = Some(reader.text(kind)?),
            5 => element.children = Some(reader.int(kind)?),
            6 => element.converted = Some(reader.int(kind)?),
            7 => element.scale = Some(reader.int(kind)?),
            8 => element.precision = Some(reader.int(kind)?),
            9 => drop(reader.int(kind)?),
            10 => element.logical = Some(read_logical(reader, kind)?),
            _ => reader.skip(kind)?,
        }
        Ok(())
    })?;
    Ok(element)
}

/// Reads a union of logical types, of which there may be ones that this version doesn't know.
fn read_logical(reader: &mut Reader<'_>, kind: Kind) -> Result<Logical> {
    let mut found = Logical::default();
    read_union(reader, kind, |reader, id, kind| {
        found.converted = match id {
            1 => Some(0),
            2 => Some(1),
            5 => Some(5),
            3 | 4 | 6 => Some(i32::from(id)),
            12 => Some(19),
            13 => Some(20),
            _ => None,
        };
        require(kind == Kind::Struct, UNION)?;
        let (mut scale, mut precision, mut unit, mut bits, mut is_signed) =
            (None, None, 0, 0, true);
        reader.walk(|reader, field| {
            match (id, field.id) {
                (5, 1) => scale = Some(reader.int(field.kind)?),
                (5, 2) => precision = Some(reader.int(field.kind)?),
                (7 | 8, 1) => drop(reader.flag(field.kind)?),
                (7 | 8, 2) => read_union(reader, field.kind, |reader, found, kind| {
                    require((1..=3).contains(&found), "a time has an unknown unit")?;
                    unit = found;
                    reader.skip(kind)
                })?,
                (10, 1) => bits = reader.small(field.kind)?,
                (10, 2) => is_signed = reader.flag(field.kind)?,
                _ => reader.skip(field.kind)?,
            }
            Ok(())
        })?;
        let place = match id {
            5 => {
                found.decimal = scale.zip(precision);
                require(found.decimal.is_some(), "a decimal has no scale or precision")?;
                return Ok(());
            }
            7 => [7, 8].get(usize::from(unit.unsigned_abs()).wrapping_sub(1)),
            8 => [9, 10].get(usize::from(unit.unsigned_abs()).wrapping_sub(1)),
            10 => {
                let place = [8, 16, 32, 64].iter().position(|&known| known == bits);
                let place = place.ok_or_else(|| damaged("an integer has an unknown width"))?;
                if is_signed { [15, 16, 17, 18].get(place) } else { [11, 12, 13, 14].get(place) }
            }
            _ => return Ok(()),
        };
        require(!matches!(id, 7 | 8) || unit > 0, "a time has no unit")?;
        found.converted = place.copied();
        Ok(())
    })?;
    Ok(found)
}

const UNION: &str = "its metadata has a union of no or several values";

fn read_union(
    reader: &mut Reader<'_>,
    kind: Kind,
    mut read: impl FnMut(&mut Reader<'_>, i16, Kind) -> Result<()>,
) -> Result<()> {
    require(kind == Kind::Struct, UNION)?;
    let mut count = 0;
    reader.walk(|reader, field| {
        count += 1;
        read(reader, field.id, field.kind)
    })?;
    require(count == 1, UNION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::copy;

    #[test]
    fn columns_are_nested_256_deep_at_most() {
        for depth in [255_u16, 256, 257] {
            // Repetition 0, the name x, and one child each; then a column of type 1.
            let group = [0x35, 0, 0x18, 1, b'x', 0x15, 2, 0];
            let column = [0x15, 2, 0x25, 0, 0x18, 1, b'x', 0];
            let [low, high] = (depth + 1).to_le_bytes();
            let mut bytes =
                copy(&[0xf0 | Kind::Struct as u8, low & 127 | 128, high << 1 | low >> 7]);
            (0..depth).for_each(|_| bytes.extend_from_slice(&group));
            bytes.extend_from_slice(&column);
            let found = Schema::read(&mut Reader::new(&bytes), Kind::List);
            assert_eq!(found.is_ok(), depth <= 256, "{depth}");
            assert!(found.is_err() || found.unwrap().leaves.len() == 1);
        }
    }
}
