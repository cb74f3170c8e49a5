//! The JSON Schema of a scenario, for completion and checks in editors.

use crate::decode::{ChoiceDoc, Decode, FieldDoc, Shape, Written};
use crate::scenario::ScenarioSpec;
use serde_json::{Map, Value, json};

/// The schema of a scenario file, as JSON Schema draft 7, which editors understand best. It knows keys, kinds of
/// values and closed sets; what `validate` says beyond that, it cannot say.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let mut root = of(&ScenarioSpec::shape(), &mut definitions);
    root["definitions"] = definitions.into();
    root["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    root["title"] = "retrystorm scenario".into();
    root["description"] = "Clients, a service, faults and the retry strategies to compare.".into();
    root
}

/// `definitions` takes the closed sets, each once.
fn of(shape: &Shape, definitions: &mut Map<String, Value>) -> Value {
    match shape {
        Shape::Plain(plain) => {
            let mut value = written(plain.written);
            value["description"] = plain.words.into();
            value
        }
        Shape::List(items) => json!({ "type": "array", "items": of(items, definitions) }),
        Shape::OneOrList(one) => {
            let one = of(one, definitions);
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Shape::Named(named) => {
            json!({ "type": "object", "additionalProperties": of(named, definitions) })
        }
        Shape::Record(fields) => table(fields, definitions),
        Shape::Choice(choice) => defined(choice, definitions),
        Shape::Either(a, b) => json!({ "anyOf": [of(a, definitions), of(b, definitions)] }),
    }
}

fn written(written: Written) -> Value {
    match written {
        Written::Text => json!({ "type": "string" }),
        Written::Word(words) => json!({ "enum": words }),
        Written::Number => json!({ "type": "number" }),
        Written::Whole => json!({ "type": "integer" }),
        Written::Flag => json!({ "type": "boolean" }),
        Written::NumberOrText => json!({ "type": ["number", "string"] }),
        Written::Anything => json!({}),
    }
}

fn table(fields: &[FieldDoc], definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields {
        properties.insert(field.key.into(), described(field, definitions));
        if field.required {
            required.push(field.key);
        }
    }
    let mut table = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        table["required"] = required.into();
    }
    table
}

/// A key with its meaning and its default.
fn described(field: &FieldDoc, definitions: &mut Map<String, Value>) -> Value {
    let default = field
        .default
        .as_ref()
        .map(|text| format!(" Default: {text}."));
    let mut value = of(&field.shape, definitions);
    // What stands beside a reference is not read.
    if value.get("$ref").is_some() {
        value = json!({ "allOf": [value] });
    }
    value["description"] = format!("{}{}", field.meaning, default.unwrap_or_default()).into();
    value
}

/// A reference to the definition of a closed set. Sets of the same name that differ are numbered.
fn defined(choice: &ChoiceDoc, definitions: &mut Map<String, Value>) -> Value {
    let set = forms(choice, definitions);
    let names = (1..).map(|n| match n {
        1 => choice.noun.replace(' ', "_"),
        n => format!("{}_{n}", choice.noun.replace(' ', "_")),
    });
    for name in names {
        let known = definitions
            .entry(name.clone())
            .or_insert_with(|| set.clone());
        if *known == set {
            return json!({ "$ref": format!("#/definitions/{name}") });
        }
    }
    set
}

/// A bare tag for a form without settings or with defaults alone, or a table with the tag as its only key.
fn forms(choice: &ChoiceDoc, definitions: &mut Map<String, Value>) -> Value {
    let mut all = Vec::new();
    for (doc, settings) in &choice.forms {
        let meaning = doc.meaning.trim();
        let needs = settings
            .as_ref()
            .is_some_and(|s| s.fields().iter().any(|f| f.required));
        if !needs {
            all.push(json!({ "const": doc.name, "description": meaning }));
        }
        let settings = match settings {
            Some(settings) => of(settings, definitions),
            None => table(&[], definitions),
        };
        let mut properties = Map::new();
        properties.insert(doc.name.into(), settings);
        all.push(json!({
            "type": "object",
            "description": meaning,
            "properties": properties,
            "required": [doc.name],
            "additionalProperties": false,
        }));
    }
    json!({ "oneOf": all })
}
