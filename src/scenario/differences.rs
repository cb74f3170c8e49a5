//! Which keys of two scenarios differ.
//!
//! "The results differ" is worth little without "and so do the scenarios, here". Two resolved scenarios have every key, so
//! they can be held against each other value by value, and what differs can be named.

use crate::decode::{Document, Node, Table, Value};

/// A key with another value in each of two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path of the key. An element of a list is named by its `name` where it has one, and by its position otherwise:
    /// `strategy.full jitter.max_attempts`, `fault[0].at`.
    pub path: String,
    /// The value in the first text; `None` when the key does not stand there.
    pub a: Option<String>,
    /// The value in the second text.
    pub b: Option<String>,
}

impl Difference {
    /// Whether its key is this one, or stands somewhere below it.
    pub fn is_below(&self, key: &str) -> bool {
        let rest = self.path.strip_prefix(key);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }
}

/// The keys whose values differ between two TOML texts, in the order of the first one; what only the second one has comes
/// last in its table. Of a table or an element of a list that one of them does not have, only the whole is named. A text
/// that is not TOML has no keys.
pub fn differences(a: &str, b: &str) -> Vec<Difference> {
    let root = |text: &str| match Document::parse("", text).map(|document| document.root.value) {
        Ok(Value::Table(table)) => table,
        _ => Table::default(),
    };
    let mut found = Vec::new();
    tables("", &root(a), &root(b), &mut found);
    found
}

fn tables(path: &str, a: &Table, b: &Table, found: &mut Vec<Difference>) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    for field in &a.fields {
        values(
            &below(&field.key),
            Some(&field.node),
            b.get(&field.key),
            found,
        );
    }
    for field in b.fields.iter().filter(|field| a.get(&field.key).is_none()) {
        values(&below(&field.key), None, Some(&field.node), found);
    }
}

fn values(path: &str, a: Option<&Node>, b: Option<&Node>, found: &mut Vec<Difference>) {
    match (a.map(|node| &node.value), b.map(|node| &node.value)) {
        (Some(Value::Table(a)), Some(Value::Table(b))) if !are_other_forms(a, b) => {
            tables(path, a, b, found);
        }
        (Some(Value::List(a)), Some(Value::List(b))) if are_tables(a) || are_tables(b) => {
            lists(path, a, b, found);
        }
        _ => {
            let (a, b) = (a.map(written), b.map(written));
            if a != b {
                let path = path.to_owned();
                found.push(Difference { path, a, b });
            }
        }
    }
}

/// A backoff or a distribution is a table with its form as only key; another form has no key in common with it.
fn are_other_forms(a: &Table, b: &Table) -> bool {
    match (a.fields.as_slice(), b.fields.as_slice()) {
        ([a], [b]) => a.key != b.key,
        _ => false,
    }
}

fn are_tables(items: &[Node]) -> bool {
    let is_table = |item: &Node| matches!(item.value, Value::Table(_));
    !items.is_empty() && items.iter().all(is_table)
}

fn lists(path: &str, a: &[Node], b: &[Node], found: &mut Vec<Difference>) {
    let (Some(names_a), Some(names_b)) = (names(a), names(b)) else {
        for i in 0..a.len().max(b.len()) {
            values(&format!("{path}[{i}]"), a.get(i), b.get(i), found);
        }
        return;
    };
    for (name, node) in names_a.iter().zip(a) {
        let other = names_b.iter().position(|other| other == name);
        let other = other.map(|i| &b[i]);
        values(&format!("{path}.{name}"), Some(node), other, found);
    }
    for (name, node) in names_b.iter().zip(b) {
        if !names_a.contains(name) {
            values(&format!("{path}.{name}"), None, Some(node), found);
        }
    }
}

/// The names of the elements of a list, if each has one of its own.
fn names(items: &[Node]) -> Option<Vec<&str>> {
    let mut names: Vec<&str> = Vec::new();
    for item in items {
        let Value::Table(table) = &item.value else {
            return None;
        };
        match &table.get("name")?.value {
            Value::Text(name) if !names.contains(&name.as_str()) => names.push(name),
            _ => return None,
        }
    }
    Some(names)
}

/// A value as people write it: a text bare, a table in one line.
fn written(node: &Node) -> String {
    match &node.value {
        Value::Text(text) | Value::Huge(text) | Value::Date(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(written).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let fields = table.fields.iter();
            let fields: Vec<String> = fields
                .map(|field| format!("{} = {}", field.key, written(&field.node)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(a: &str, b: &str) -> Vec<String> {
        let none = || "none".to_owned();
        let line = |d: Difference| {
            let (a, b) = (d.a.unwrap_or_else(none), d.b.unwrap_or_else(none));
            format!("{}: {a} and {b}", d.path)
        };
        differences(a, b).into_iter().map(line).collect()
    }

    const SCENARIO: &str = r#"
[run]
seed = 42
duration = "60s"
[service.api]
workers = 60
[service.api.service_time.exponential]
mean = "50ms"
[[fault]]
at = "30s"
outage = "refuse"
[[strategy]]
name = "full jitter"
max_attempts = 5
[strategy.backoff.exponential]
base = "1s"
[[strategy]]
name = "fixed"
max_attempts = 5
"#;

    #[test]
    fn equal_texts_have_no_difference_and_neither_have_reordered_ones() {
        assert_eq!(lines(SCENARIO, SCENARIO), [""; 0]);
        assert_eq!(lines("a = 1\nb = 2", "b = 2\na = 1"), [""; 0]);
        let swapped = "[[s]]\nname = \"b\"\nx = 2\n[[s]]\nname = \"a\"\nx = 1";
        let list = "[[s]]\nname = \"a\"\nx = 1\n[[s]]\nname = \"b\"\nx = 2";
        assert_eq!(lines(list, swapped), [""; 0]);
    }

    #[test]
    fn each_key_is_named_once_with_both_values() {
        let other = SCENARIO
            .replace("seed = 42", "seed = 7")
            .replace("workers = 60", "workers = 80\nqueue = 3")
            .replace("at = \"30s\"", "at = \"20s\"")
            .replacen("max_attempts = 5", "max_attempts = 3", 1);
        assert_eq!(
            lines(SCENARIO, &other),
            [
                "run.seed: 42 and 7",
                "service.api.workers: 60 and 80",
                "service.api.queue: none and 3",
                "fault[0].at: 30s and 20s",
                "strategy.full jitter.max_attempts: 5 and 3",
            ]
        );
    }

    #[test]
    fn another_form_and_a_missing_part_are_named_as_a_whole() {
        let constant =
            SCENARIO.replace("service_time.exponential]\nmean", "service_time.x]\nvalue");
        assert_eq!(
            lines(SCENARIO, &constant),
            [
                "service.api.service_time: { exponential = { mean = 50ms } } and { x = { value = 50ms } }"
            ]
        );
        let renamed = SCENARIO.replace("\"fixed\"", "\"constant\"");
        assert_eq!(
            lines(SCENARIO, &renamed),
            [
                "strategy.fixed: { name = fixed, max_attempts = 5 } and none",
                "strategy.constant: none and { name = constant, max_attempts = 5 }",
            ]
        );
        assert_eq!(lines("a = [1, 2]", "a = [1]"), ["a: [1, 2] and [1]"]);
        assert_eq!(lines("[[f]]\nx = 1", "")[0], "f: [{ x = 1 }] and none");
    }

    #[test]
    fn what_is_not_toml_has_no_keys() {
        assert_eq!(lines("a = ", "a = 1"), ["a: none and 1"]);
    }

    #[test]
    fn a_key_is_below_a_table_by_whole_parts() {
        let path = |path: &str| Difference {
            path: path.into(),
            a: None,
            b: None,
        };
        assert!(path("run.seed").is_below("run"));
        assert!(path("check[0].value").is_below("check"));
        assert!(path("sweep").is_below("sweep"));
        assert!(!path("compared.x").is_below("compare"));
    }
}
