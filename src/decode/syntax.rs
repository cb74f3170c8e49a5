//! From TOML to a tree, or to every syntax error.

use super::place::Place;
use super::problem::{Problem, Severity};
use super::tree::{Field, Node, Table, Value};
use toml::de::{DeTable, DeValue};

/// The whole of a text as one table.
///
/// # Errors
/// Every syntax error of the text.
pub(super) fn read_table(text: &str) -> Result<Table, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        Ok(convert_table(table.get_ref()))
    } else {
        Err(syntax_problems(text, &errors))
    }
}

/// The value of a setting: TOML, or a plain text where it is none.
pub(super) fn read_setting(text: &str, place: &Place) -> Value {
    let wrapped = format!("value = {text}");
    let (table, errors) = DeTable::parse_recoverable(&wrapped);
    let mut fields = if errors.is_empty() {
        convert_table(table.get_ref()).fields
    } else {
        Vec::new()
    };
    match (fields.pop(), fields.is_empty()) {
        (Some(field), true) => {
            let mut node = field.node;
            move_to(&mut node, place);
            node.value
        }
        _ => Value::Text(text.into()),
    }
}

/// Marks everything below `node` as written at `place`.
fn move_to(node: &mut Node, place: &Place) {
    node.place = place.clone();
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| move_to(item, place)),
        Value::Table(table) => {
            for field in &mut table.fields {
                field.key_place = place.clone();
                move_to(&mut field.node, place);
            }
        }
        _ => {}
    }
}

/// Every syntax error once. What follows an error of nesting is noise: every open bracket would be one.
fn syntax_problems(text: &str, errors: &[toml::de::Error]) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for error in errors {
        let too_deep = error.message().contains("recur");
        let problem = Problem {
            severity: Severity::Error,
            place: error.span().map_or(Place::Nowhere, Place::File),
            path: String::new(),
            reason: syntax_reason(error.message(), too_deep),
            remedy: syntax_remedy(error.message(), too_deep, is_header(text, error)).into(),
        };
        if !problems.contains(&problem) {
            problems.push(problem);
        }
        if too_deep {
            break;
        }
    }
    problems
}

fn syntax_reason(message: &str, too_deep: bool) -> String {
    if too_deep {
        return "lists or tables are nested too deeply".into();
    }
    match message {
        "duplicate key" => "this key stands twice".into(),
        _ => format!("this is not valid TOML: {}", message.replace('\n', ", ")),
    }
}

/// Whether the line of an error is the header of a table.
fn is_header(text: &str, error: &toml::de::Error) -> bool {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = &text[..text.floor_char_boundary(start)];
    let line = before.rfind('\n').map_or(before, |i| &before[i + 1..]);
    line.trim_start().starts_with('[')
}

fn syntax_remedy(message: &str, too_deep: bool, header: bool) -> &'static str {
    match message {
        _ if too_deep => "a scenario nests a handful of levels: check the brackets",
        "duplicate key" if header => {
            "join the two tables; tables of a list have [[double brackets]]"
        }
        "duplicate key" => "remove one of the two",
        _ if message.contains("unquoted key") => {
            "put a key that has other characters than a-z, 0-9, - and _ in double quotes"
        }
        _ if message.contains("string") => "put texts in double quotes, like \"250ms\"",
        _ => "write key = value, with texts in double quotes; https://toml.io explains the format",
    }
}

fn convert_table(table: &DeTable<'_>) -> Table {
    let mut fields: Vec<Field> = table
        .iter()
        .map(|(key, value)| Field {
            key: key.get_ref().to_string(),
            key_place: Place::File(key.span()),
            node: Node {
                place: Place::File(value.span()),
                value: convert(value.get_ref()),
            },
        })
        .collect();
    fields.sort_by_key(|field| match &field.key_place {
        Place::File(span) => span.start,
        _ => 0,
    });
    Table { fields }
}

fn convert(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::Huge(number.as_str().into()), Value::Integer),
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map_or_else(|_| Value::Huge(number.as_str().into()), Value::Float),
        DeValue::Boolean(flag) => Value::Boolean(*flag),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Node {
                    place: Place::File(item.span()),
                    value: convert(item.get_ref()),
                })
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(convert_table(table)),
    }
}
