//! A settings file: its tree, its text, and the key paths that lead into it.

use super::place::Place;
use super::problem::{Problem, Severity, shown};
use super::syntax::{read_setting, read_table};
use super::tree::{Node, Table, Value};

/// A `--set key.path=value` of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The text as given.
    pub text: String,
}

/// A key path of the command line with more parts leads nowhere.
const DEEPEST: usize = 50;

/// A settings file: its name, its text, and the tree read from it.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file name, for messages.
    pub name: String,
    /// The text of the file.
    pub text: String,
    /// What was set on the command line, for messages.
    pub settings: Vec<Setting>,
    /// The whole document as one table.
    pub root: Node,
}

impl Document {
    /// Reads TOML.
    ///
    /// # Errors
    /// Every syntax error of the text.
    pub fn parse(name: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let root = Node {
            place: Place::Nowhere,
            value: Value::Table(read_table(text)?),
        };
        Ok(Self {
            name: name.into(),
            text: text.into(),
            settings: Vec::new(),
            root,
        })
    }

    /// Lays `key.path=value` over the document, as `--set` does. The value is read as TOML, and as a plain
    /// text when it is not TOML, so that `run.duration=60s` needs no quotes.
    ///
    /// # Errors
    /// A problem when the path leads nowhere.
    pub fn set(&mut self, setting: &str) -> Result<(), Problem> {
        let number = self.settings.len();
        self.settings.push(Setting {
            text: setting.into(),
        });
        let place = Place::Setting(number);
        let problem = |reason: String, remedy: &str| Problem {
            severity: Severity::Error,
            place: Place::Setting(number),
            path: String::new(),
            reason,
            remedy: remedy.into(),
        };
        let (path, value) = setting.split_once('=').ok_or_else(|| {
            problem(
                "a setting needs an `=`".into(),
                "write --set key.path=value, like --set run.seed=7",
            )
        })?;
        let node = Node {
            place: place.clone(),
            value: read_setting(value.trim(), &place),
        };
        self.lay(path, node)
            .map_err(|(reason, remedy)| problem(reason, remedy))
    }

    /// Puts `node` where the key path leads, and makes what is missing on the way.
    ///
    /// # Errors
    /// Why the path leads nowhere, and what to write instead.
    pub fn lay(&mut self, path: &str, node: Node) -> Result<(), (String, &'static str)> {
        let parts = split_path(path.trim());
        if parts.is_empty() || parts.len() > DEEPEST {
            return Err((
                "a setting needs a key before the `=`".into(),
                "write --set key.path=value, like --set run.seed=7",
            ));
        }
        let mut target = &mut self.root;
        for part in parts {
            target = descend(target, &part, &node.place).map_err(|reason| {
                (
                    reason,
                    "name a table by its key and an element of a list by its position or its name",
                )
            })?;
        }
        *target = node;
        Ok(())
    }

    /// The key path with elements of lists named by their positions, so that two spellings of one key are alike.
    pub fn plain_path(&self, path: &str) -> String {
        let mut node = Some(&self.root);
        let mut plain = Vec::new();
        for part in split_path(path.trim()) {
            let next = node.and_then(|node| match &node.value {
                Value::Table(table) => table.get(&part).map(|below| (part.clone(), below)),
                Value::List(items) => {
                    position(items, &part).map(|index| (index.to_string(), &items[index]))
                }
                _ => None,
            });
            plain.push(next.as_ref().map_or(part, |(name, _)| name.clone()));
            node = next.map(|(_, below)| below);
        }
        plain.join(".")
    }

    /// Takes a table of the document away.
    pub fn remove(&mut self, key: &str) {
        if let Value::Table(table) = &mut self.root.value {
            table.fields.retain(|field| field.key != key);
        }
    }

    /// A document that could not be read, for messages about it.
    pub fn unread(name: &str, text: &str) -> Self {
        let root = Node {
            place: Place::Nowhere,
            value: Value::Table(Table::default()),
        };
        Self {
            name: name.into(),
            text: text.into(),
            settings: Vec::new(),
            root,
        }
    }

    /// Where the value of a key path like `strategy[1].name` stands, or the nearest part of it that exists.
    pub fn place_of(&self, path: &str) -> Place {
        let mut node = &self.root;
        for part in split_path(path) {
            let next = match &node.value {
                Value::Table(table) => table.get(&part),
                Value::List(items) => part.parse().ok().and_then(|i: usize| items.get(i)),
                _ => None,
            };
            // A path may name the only table of a list that was written as a table.
            node = next.unwrap_or(node);
        }
        node.place.clone()
    }

    /// Line and column of a byte of the file, both counted from one, the column in characters.
    pub fn line_column(&self, byte: usize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(byte.min(self.text.len()))];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }
}

/// The parts of `strategy."full jitter".backoff` or `strategy[0].backoff`.
fn split_path(path: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut quoted = false;
    for c in path.chars() {
        match c {
            '"' | '\'' => quoted = !quoted,
            '.' | '[' if !quoted => parts.push(std::mem::take(&mut part)),
            ']' if !quoted => {}
            c => part.push(c),
        }
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts
}

fn descend<'a>(node: &'a mut Node, part: &str, place: &Place) -> Result<&'a mut Node, String> {
    // A tag without settings, as in backoff = "immediate", may be replaced by a table.
    if !matches!(node.value, Value::Table(_) | Value::List(_)) {
        node.value = Value::Table(Table::default());
    }
    match &mut node.value {
        Value::Table(table) => Ok(table.get_or_insert(part, place)),
        Value::List(items) => {
            let index = position(items, part);
            index
                .map(|i| &mut items[i])
                .ok_or_else(|| format!("the list has no element `{}`", shown(part)))
        }
        _ => Err(format!("`{}` is not below a table", shown(part))),
    }
}

/// The position of an element of a list that is given by it, or by the name of the element.
fn position(items: &[Node], part: &str) -> Option<usize> {
    let named = |item: &Node| match &item.value {
        Value::Table(t) => {
            matches!(t.get("name").map(|n| &n.value), Some(Value::Text(name)) if name == part)
        }
        _ => false,
    };
    let index = part.parse().ok().filter(|&i: &usize| i < items.len());
    index.or_else(|| items.iter().position(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(document: &'a Document, path: &[&str]) -> &'a Value {
        let mut node = &document.root;
        for part in path {
            node = match &node.value {
                Value::Table(table) => table.get(part).expect(part),
                Value::List(items) => &items[part.parse::<usize>().unwrap()],
                other => panic!("{part}: {other:?}"),
            };
        }
        &node.value
    }

    #[test]
    fn settings_replace_add_and_find_by_name() {
        let text =
            "[run]\nseed = 1\n[[strategy]]\nname = \"full jitter\"\nbackoff = \"immediate\"\n";
        let mut document = Document::parse("a.toml", text).unwrap();
        for setting in [
            "run.seed=7",
            "run.duration=60s",
            "strategy.full jitter.max_attempts=3",
            "strategy[0].backoff.fixed.delay=\"1s\"",
        ] {
            document.set(setting).unwrap();
        }
        assert_eq!(at(&document, &["run", "seed"]), &Value::Integer(7));
        assert_eq!(
            at(&document, &["run", "duration"]),
            &Value::Text("60s".into())
        );
        assert_eq!(
            at(&document, &["strategy", "0", "max_attempts"]),
            &Value::Integer(3)
        );
        assert_eq!(
            at(&document, &["strategy", "0", "backoff", "fixed", "delay"]),
            &Value::Text("1s".into())
        );
        assert!(document.set("strategy.other.max_attempts=3").is_err());
        assert!(document.set("run.seed").is_err());
    }

    #[test]
    fn lines_and_columns_count_characters() {
        let document = Document::parse("a.toml", "a = \"ü\"\nbb = 1 # é\n").unwrap();
        let byte = document.text.find("1 #").unwrap();
        assert_eq!(document.line_column(byte), (2, 6));
        assert_eq!(document.line_column(usize::MAX), (3, 1));
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        let text = format!("a = {}", "[".repeat(200_000));
        assert!(Document::parse("a.toml", &text).is_err());
    }
}
