//! Reading settings so that every mistake is found in one pass.
//!
//! Deserialisers stop at the first error, and a user with four typos then needs five runs. Here a document
//! becomes a tree of [`Node`]s that know where they stand; a type reads itself from a node through
//! [`Decode`], notes what is wrong in a [`Reader`] and goes on. [`record!`](crate::record) and
//! [`choice!`](crate::choice) write the reading code for tables and for closed sets, with the external tags
//! of serde (`backoff.fixed = { delay = "1s" }`, or `backoff = "immediate"`), so that a type, its keys,
//! its defaults and its documentation stand in one place.

mod document;
mod macros;
mod place;
mod problem;
mod reader;
mod shape;
mod syntax;
mod tree;
mod values;

pub use document::{Document, Setting};
pub use place::Place;
pub use problem::{Problem, Severity, nearest, shown};
pub use reader::{Fields, Reader};
pub use shape::{ChoiceDoc, FieldDoc, Plain, Shape, Written, written};
pub use tree::{Field, Node, Table, Value};
pub use values::{Variant, VariantDoc, decode_variant};

/// A type that reads itself from a settings file.
pub trait Decode: Sized {
    /// The value, or `None` after saying to `reader` what is wrong. A table with something wrong inside is
    /// still a value, so that its other parts are checked: whoever reads a document looks for errors in the
    /// [`Reader`] as well.
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self>;

    /// What may stand there, as data.
    fn shape() -> Shape;

    /// A harmless value to go on with when what was written cannot be read. Without one, the record around it is
    /// not checked any further.
    fn stand_in() -> Option<Self> {
        None
    }

    /// What to write when the key is missing.
    fn how_to_add(key: &str) -> String {
        format!("add `{key} = ...`")
    }
}

/// A record of stand-ins and defaults.
pub fn stand_in<T: Record>() -> Option<T> {
    T::read(
        &mut Fields::new(&Table::default(), &Place::Nowhere),
        &mut Reader::new(),
    )
}

/// The first form of a closed set, as in its example.
pub fn stand_in_variant<T: Decode + Choice>() -> Option<T> {
    let text = format!("value = {}", T::VARIANTS[0].example);
    let document = Document::parse("example", &text).ok()?;
    let Value::Table(table) = &document.root.value else {
        return None;
    };
    T::decode(table.get("value")?, &mut Reader::new())
}

/// A type that reads itself from the fields of a table, alone or together with others.
pub trait Record: Sized {
    /// The record, or `None` after saying what is wrong. Leaves unknown keys to the caller.
    fn read(fields: &mut Fields<'_>, reader: &mut Reader) -> Option<Self>;

    /// Its keys, as data.
    fn fields() -> Vec<FieldDoc>;
}

/// A rule over several settings of one record, checked once all of them were read.
pub trait Check {
    /// Reports what does not fit together.
    fn check(&self, _reader: &mut Reader) {}
}

/// A closed set of forms, one name each; see [`choice!`](crate::choice).
pub trait Choice {
    /// What the set is called in messages, as in "unknown jitter".
    const NOUN: &'static str;
    /// Name, meaning and an example of every form, in the order of definition.
    const VARIANTS: &'static [VariantDoc];
}
