//! Collects problems while a document is read.

use super::document::Document;
use super::place::Place;
use super::problem::{Problem, Severity, nearest, shown};
use super::tree::{Field, Node, Table, Value};
use super::{Check, Decode};
use std::collections::BTreeSet;

/// Notes problems and knows the key path of what is being read.
#[derive(Debug, Default)]
pub struct Reader {
    problems: Vec<Problem>,
    path: Vec<String>,
    places: Vec<Place>,
    /// The keys of the record being checked and where their values stand.
    keys: Vec<(String, Place)>,
    /// Paths whose values could not be read. A stand-in goes on in their place, and rules about it are silent.
    unread: BTreeSet<String>,
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

    /// Notes an error about the first of `keys` of the record being checked, in a rule over all of them. A key
    /// that could not be read has been reported already: then the rule says nothing.
    pub fn error_at(
        &mut self,
        keys: &[&str],
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.note_at(Severity::Error, keys, reason.into(), remedy.into());
    }

    /// Notes a warning, otherwise as [`Self::error_at`].
    pub fn warn_at(&mut self, keys: &[&str], reason: impl Into<String>, remedy: impl Into<String>) {
        self.note_at(Severity::Warning, keys, reason.into(), remedy.into());
    }

    fn note_at(&mut self, severity: Severity, keys: &[&str], reason: String, remedy: String) {
        if !self.were_read(keys) {
            return;
        }
        let of_key = |key: &&str| self.keys.iter().find(|(name, _)| name == key).cloned();
        match keys.iter().find_map(of_key) {
            Some((key, place)) => self.within(&key, &place, |reader| {
                reader.note(severity, &place, reason, remedy);
            }),
            None => self.note(severity, &self.here(), reason, remedy),
        }
    }

    /// The one of `keys` of the record being checked that stands last in the file.
    pub fn last_written<'k>(&self, keys: &[&'k str]) -> &'k str {
        let at = |key: &&&str| self.keys.iter().position(|(name, _)| name == *key);
        keys.iter().max_by_key(at).copied().unwrap_or_default()
    }

    /// Whether everything at and below `path`, and all that it is part of, could be read.
    pub fn was_read(&self, path: &str) -> bool {
        let borders = path.match_indices(['.', '[']).map(|(i, _)| &path[..i]);
        let above = borders.chain([path]).any(|part| self.unread.contains(part));
        let below = ['.', '['].iter().any(|border| {
            let start = format!("{path}{border}");
            let next = self.unread.range(start.clone()..).next();
            next.is_some_and(|next| next.starts_with(&start))
        });
        !above && !below
    }

    /// Whether these keys of the record being checked could be read, as far as they are there.
    pub fn were_read(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.was_read(&self.path_to(key)))
    }

    /// Whether the value at `path` itself was a list of the elements that it seems to have.
    pub fn list_was_read(&self, path: &str) -> bool {
        let element = |rest: &str| rest.starts_with('[') && !rest.contains('.');
        !self.unread.iter().any(|unread| {
            unread
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || element(rest))
        })
    }

    /// The path of a key of the record being read.
    fn path_to(&self, key: &str) -> String {
        let path = self.path();
        if path.is_empty() {
            key.into()
        } else {
            format!("{path}.{key}")
        }
    }

    /// The key of what is being read.
    pub fn key(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    fn path(&self) -> String {
        self.path.join(".").replace(".[", "[")
    }

    fn note(&mut self, severity: Severity, place: &Place, reason: String, remedy: String) {
        self.problems.push(Problem {
            severity,
            place: place.clone(),
            path: self.path(),
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

    /// Runs `check` as if the part of `document` at `path` were being read.
    pub fn within_part<T>(
        &mut self,
        document: &Document,
        path: &str,
        check: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.within(path, &document.place_of(path), check)
    }

    /// The table in `node`, or `None` after saying that it must be one.
    pub fn table<'a>(&mut self, node: &'a Node, example: &str) -> Option<&'a Table> {
        if let Value::Table(table) = &node.value {
            return Some(table);
        }
        let remedy = if example.is_empty() {
            "write settings in braces, { key = value }, or under a header in brackets".into()
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
        Value::Text(text) => format!("the text \"{}\"", shown(text)),
        Value::Integer(number) => format!("the number {number}"),
        Value::Huge(text) if text.len() > 40 => "a very long number".into(),
        Value::Huge(text) => format!("the number {text}, which does not fit 64 bits"),
        Value::Float(number) if number.is_nan() => "nan, which is not a number".into(),
        Value::Float(number) => format!("the number {number:?}"),
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
    /// Keys that must be there and are not, and how to add them.
    missing: Vec<(&'static str, String)>,
    place: Place,
}

impl<'a> Fields<'a> {
    /// Starts to read `table`, which stands at `place`.
    pub fn new(table: &'a Table, place: &Place) -> Self {
        Self {
            table,
            known: Vec::new(),
            missing: Vec::new(),
            place: place.clone(),
        }
    }

    /// The field `key`, which must be there, or a value to go on with.
    pub fn required<T: Decode>(&mut self, key: &'static str, reader: &mut Reader) -> Option<T> {
        if self.table.get(key).is_none() {
            self.known.push(key);
            self.missing.push((key, T::how_to_add(key)));
            let path = reader.path_to(key);
            reader.unread.insert(path);
            return T::stand_in();
        }
        self.optional(key, reader)?.or_else(T::stand_in)
    }

    /// The field `key`, or its default when it is absent or wrong.
    pub fn or_default<T: Decode>(
        &mut self,
        key: &'static str,
        default: T,
        reader: &mut Reader,
    ) -> Option<T> {
        Some(self.optional(key, reader).flatten().unwrap_or(default))
    }

    /// `None` when the field is absent, `Some(None)` when it is wrong.
    pub fn optional<T: Decode>(
        &mut self,
        key: &'static str,
        reader: &mut Reader,
    ) -> Option<Option<T>> {
        self.known.push(key);
        let node = self.table.get(key)?;
        let read = reader.within(key, &node.place, |reader| T::decode(node, reader));
        if read.is_none() {
            let path = reader.path_to(key);
            reader.unread.insert(path);
        }
        Some(read)
    }

    /// Applies the rules over several fields of `record`, which was read from these.
    pub fn check<T: Check>(&self, record: &T, reader: &mut Reader) {
        let key = |field: &Field| (field.key.clone(), field.node.place.clone());
        let known = |field: &&Field| self.known.contains(&field.key.as_str());
        reader.keys = self.table.fields.iter().filter(known).map(key).collect();
        record.check(reader);
        reader.keys.clear();
    }

    /// The fields that nobody has asked for; they then count as known.
    pub fn rest(&mut self) -> Vec<&'a Field> {
        self.table
            .fields
            .iter()
            .filter(|field| !self.known.contains(&field.key.as_str()))
            .collect()
    }

    /// Notes every key that nobody asked for, with the nearest one that exists, and every key that is missing,
    /// unless one of the former was meant to be it.
    pub fn finish(mut self, reader: &mut Reader) {
        let mut meant = Vec::new();
        for field in self.rest() {
            meant.extend(unknown_key(field, &self.known, reader));
        }
        for (key, remedy) in self.missing {
            if !meant.contains(&key) {
                reader.error(&self.place, format!("`{key}` is missing"), remedy);
            }
        }
    }
}

/// Notes that `field` has no meaning here; returns which of `known` was probably meant.
pub(crate) fn unknown_key<'k>(
    field: &Field,
    known: &[&'k str],
    reader: &mut Reader,
) -> Option<&'k str> {
    let near = nearest(&field.key, known.iter().copied());
    let remedy = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "nothing can be set here: remove it".into(),
        None => format!("known keys: {}", known.join(", ")),
    };
    let reason = format!("unknown key `{}`", shown(&field.key));
    reader.error(&field.key_place, reason, remedy);
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_about_what_could_not_be_read_are_silent() {
        let mut reader = Reader::new();
        reader.unread.insert("fault[1].at".into());
        for (path, read) in [
            ("fault[1].at", false),
            ("fault[1]", false),
            ("fault", false),
            ("fault[1].at.more", false),
            ("fault[10].at", true),
            ("fault[1].a", true),
            ("faults", true),
        ] {
            assert_eq!(reader.was_read(path), read, "{path}");
        }
        assert!(reader.list_was_read("fault"));
        reader.unread.insert("fault[2]".into());
        assert!(!reader.list_was_read("fault"));
        reader.within("fault", &Place::Nowhere, |reader| {
            reader.error_at(&["x"], "no", "")
        });
        assert_eq!(reader.problems.len(), 1);
        reader.within("fault", &Place::Nowhere, |reader| {
            reader.within("[1]", &Place::Nowhere, |reader| {
                reader.error_at(&["at"], "no", "")
            });
        });
        assert_eq!(reader.problems.len(), 1);
    }

    #[test]
    fn what_is_shown_is_short_and_moves_no_cursor() {
        assert_eq!(shown("it's \u{1b}[1m"), "it's \\u{1b}[1m");
        assert_eq!(shown(&"x".repeat(100)).len(), 63);
    }
}
