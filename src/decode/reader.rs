//! Collects problems while a document is read.

use super::{Decode, Field, Node, Place, Problem, Severity, Table, Value, nearest};

/// Notes problems and knows the key path of what is being read.
#[derive(Debug, Default)]
pub struct Reader {
    problems: Vec<Problem>,
    path: Vec<String>,
    places: Vec<Place>,
}

impl Reader {
    /// A reader that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// All problems noted, in the order of the file.
    pub fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| match &problem.place {
            Place::File(span) => (1, span.start),
            Place::Setting(number) => (0, *number),
            Place::Nowhere => (2, 0),
        });
        self.problems
    }

    /// Notes an error at `place`.
    pub fn error(&mut self, place: &Place, reason: impl Into<String>, remedy: impl Into<String>) {
        self.note(Severity::Error, place, reason.into(), remedy.into());
    }

    /// Notes an error about the record being read.
    pub fn error_here(&mut self, reason: impl Into<String>, remedy: impl Into<String>) {
        let place = self.here();
        self.error(&place, reason, remedy);
    }

    /// Notes a warning about the record being read.
    pub fn warn_here(&mut self, reason: impl Into<String>, remedy: impl Into<String>) {
        let place = self.here();
        self.note(Severity::Warning, &place, reason.into(), remedy.into());
    }

    /// The place of the innermost record being read.
    pub fn here(&self) -> Place {
        self.places.last().cloned().unwrap_or_default()
    }

    fn note(&mut self, severity: Severity, place: &Place, reason: String, remedy: String) {
        let path = self.path.join(".").replace(".[", "[");
        self.problems.push(Problem {
            severity,
            place: place.clone(),
            path,
            reason,
            remedy,
        });
    }

    /// Runs `read` with `part` added to the key path and `place` as the record being read.
    pub fn within<T>(&mut self, part: &str, place: &Place, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(part.into());
        self.places.push(place.clone());
        let result = read(self);
        self.places.pop();
        self.path.pop();
        result
    }

    /// The table in `node`, or `None` after saying that it must be one.
    pub fn table<'a>(&mut self, node: &'a Node, example: &str) -> Option<&'a Table> {
        if let Value::Table(table) = &node.value {
            return Some(table);
        }
        let remedy = if example.is_empty() {
            String::new()
        } else {
            format!("write {example}")
        };
        self.error(
            &node.place,
            format!(
                "expected a table of settings, found {}",
                describe(&node.value)
            ),
            remedy,
        );
        None
    }

    /// Notes that `node` does not hold what was wanted.
    pub fn mismatch(&mut self, node: &Node, wanted: &str, remedy: &str) {
        self.error(
            &node.place,
            format!("expected {wanted}, found {}", describe(&node.value)),
            remedy,
        );
    }
}

/// A value in words, for "expected …, found …".
fn describe(value: &Value) -> String {
    match value {
        Value::Text(text) if text.chars().count() > 40 => "a long text".into(),
        Value::Text(text) => format!("the text \"{}\"", text.escape_debug()),
        Value::Integer(number) => format!("the number {number}"),
        Value::Huge(text) if text.len() > 40 => "a very long number".into(),
        Value::Huge(text) => format!("the number {text}, which does not fit 64 bits"),
        Value::Float(number) => format!("the number {number}"),
        Value::Boolean(flag) => flag.to_string(),
        Value::Date(_) => "a date".into(),
        Value::List(_) => "a list".into(),
        Value::Table(_) => "a table".into(),
    }
}

/// Reads the fields of one table and remembers which keys are known.
#[derive(Debug)]
pub struct Fields<'a> {
    table: &'a Table,
    known: Vec<&'static str>,
    place: Place,
}

impl<'a> Fields<'a> {
    /// Starts to read `table`, which stands at `place`.
    pub fn new(table: &'a Table, place: &Place) -> Self {
        Self {
            table,
            known: Vec::new(),
            place: place.clone(),
        }
    }

    /// The field `key`, which must be there.
    pub fn required<T: Decode>(&mut self, key: &'static str, reader: &mut Reader) -> Option<T> {
        if self.table.get(key).is_none() {
            self.known.push(key);
            reader.error(
                &self.place.clone(),
                format!("`{key}` is missing"),
                format!("add `{key} = …`"),
            );
            return None;
        }
        self.optional(key, reader)?
    }

    /// The field `key` or its default. The outer `Option` is empty when what is there is wrong.
    pub fn or_default<T: Decode>(
        &mut self,
        key: &'static str,
        default: T,
        reader: &mut Reader,
    ) -> Option<T> {
        match self.optional(key, reader) {
            Some(found) => found,
            None => Some(default),
        }
    }

    /// `None` when the field is absent, `Some(None)` when it is wrong.
    pub fn optional<T: Decode>(
        &mut self,
        key: &'static str,
        reader: &mut Reader,
    ) -> Option<Option<T>> {
        self.known.push(key);
        let node = self.table.get(key)?;
        Some(reader.within(key, &node.place, |reader| T::decode(node, reader)))
    }

    /// The fields that nobody has asked for; they then count as known.
    pub fn rest(&mut self) -> Vec<&'a Field> {
        self.table
            .fields
            .iter()
            .filter(|field| !self.known.contains(&field.key.as_str()))
            .collect()
    }

    /// Notes every key that nobody asked for, with the nearest one that exists.
    pub fn finish(mut self, reader: &mut Reader) {
        for field in self.rest() {
            unknown_key(field, &self.known, reader);
        }
    }
}

/// Notes that `field` has no meaning here, and which of `known` was probably meant.
pub(crate) fn unknown_key(field: &Field, known: &[&str], reader: &mut Reader) {
    let remedy = match nearest(&field.key, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "nothing can be set here".into(),
        None => format!("known keys: {}", known.join(", ")),
    };
    let shown: String = field
        .key
        .chars()
        .take(60)
        .flat_map(char::escape_debug)
        .collect();
    reader.error(&field.key_place, format!("unknown key `{shown}`"), remedy);
}
