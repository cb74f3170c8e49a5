//! What a settings file holds, as a tree in which each part knows where it stands.

use super::place::Place;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it was written.
    pub place: Place,
    /// What was written.
    pub value: Value,
}

/// What a TOML document can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A whole number that does not fit 64 bits, as written.
    Huge(String),
    /// A number with a fraction, `inf` or `nan`.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// A date or time, as written.
    Date(String),
    /// An array.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// The fields of a table, in the order of the file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Table {
    /// The fields; no name stands twice.
    pub fields: Vec<Field>,
}

/// One `key = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub key_place: Place,
    /// The value.
    pub node: Node,
}

impl Table {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.fields
            .iter()
            .find(|field| field.key == key)
            .map(|field| &field.node)
    }

    pub(super) fn get_or_insert(&mut self, key: &str, place: &Place) -> &mut Node {
        let index = self
            .fields
            .iter()
            .position(|field| field.key == key)
            .unwrap_or_else(|| {
                let node = Node {
                    place: place.clone(),
                    value: Value::Table(Self::default()),
                };
                self.fields.push(Field {
                    key: key.into(),
                    key_place: place.clone(),
                    node,
                });
                self.fields.len() - 1
            });
        &mut self.fields[index].node
    }
}
