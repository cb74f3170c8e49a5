//! Keys of a scenario, found by their path.

use super::{Entry, TOPICS, Topic, entries_of};
use crate::decode::{Decode, FieldDoc, Shape, VariantDoc, nearest};
use crate::scenario::ScenarioSpec;

/// What stands at a path.
#[derive(Clone, Debug)]
pub struct Place {
    /// The path as it is written in a scenario, with names where the user chooses them.
    pub path: String,
    /// What it means.
    pub meaning: String,
    /// What may stand there, in words.
    pub words: String,
    /// The value when it is left out.
    pub default: Option<String>,
    /// Whether it must be there.
    pub required: bool,
    /// The keys of its table.
    pub settings: Vec<FieldDoc>,
    /// The forms that it can have.
    pub forms: Vec<Entry>,
}

/// Something that was looked up.
#[derive(Clone, Debug)]
pub enum Found {
    /// A topic.
    Topic(&'static Topic),
    /// What stands at a path of keys.
    Place(Box<Place>),
}

/// What `name` is: a topic, a path of keys, or a form or figure named alone.
///
/// # Errors
/// The name nearest to it, if one is near, when there is no such thing.
pub fn find(name: &str) -> Result<Found, Option<String>> {
    let name = name.trim();
    let singular = |topic: &&Topic| topic.name == name || topic.name.trim_end_matches('s') == name;
    if let Some(topic) = TOPICS.iter().find(singular) {
        return Ok(Found::Topic(topic));
    }
    let alone = || {
        TOPICS
            .iter()
            .find_map(|topic| at(&format!("{}.{name}", topic.key)))
    };
    match at(name).or_else(alone) {
        Some(place) => Ok(Found::Place(Box::new(place))),
        None => Err(nearest_to(name)),
    }
}

/// The topic, form or table that is written nearly like `name`.
fn nearest_to(name: &str) -> Option<String> {
    let fields = ScenarioSpec::shape().fields().to_vec();
    let tables = fields.iter().map(|field| field.key.to_owned());
    let topics = TOPICS.iter().map(|topic| topic.name.to_owned());
    let entries = TOPICS
        .iter()
        .flat_map(Topic::entries)
        .map(|entry| entry.name);
    let known: Vec<String> = topics.chain(tables).chain(entries).collect();
    let first = name.split('.').next().unwrap_or_default();
    nearest(first, known.iter().map(String::as_str)).map(str::to_owned)
}

/// What stands at a path of keys.
fn at(path: &str) -> Option<Place> {
    let mut place = Place {
        path: String::new(),
        meaning: String::new(),
        words: String::new(),
        default: None,
        required: false,
        settings: Vec::new(),
        forms: Vec::new(),
    };
    let mut shape = ScenarioSpec::shape();
    for part in path.split('.') {
        let part = part.split('[').next().unwrap_or(part);
        (shape, place) = step(&shape, place, part)?;
    }
    place.words = shape.words();
    place.settings = shape.fields().to_vec();
    place.forms = shape.choice().map(entries_of).unwrap_or_default();
    Some(place)
}

/// The next shape on the way, and what is known of it.
fn step(shape: &Shape, mut place: Place, part: &str) -> Option<(Shape, Place)> {
    let dot = if place.path.is_empty() { "" } else { "." };
    place.path = format!("{}{dot}{part}", place.path);
    let known = shape.fields().iter().any(|field| field.key == part);
    if let Shape::Named(of) = shape
        && !known
    {
        place.meaning = String::new();
        return Some(((**of).clone(), place));
    }
    if let Some(field) = shape.fields().iter().find(|field| field.key == part) {
        place.meaning = field.meaning.clone();
        (place.default, place.required) = (field.default.clone(), field.required);
        return Some((field.shape.clone(), place));
    }
    let forms = &shape.choice()?.forms;
    let (doc, settings): &(VariantDoc, Option<Shape>) =
        forms.iter().find(|(doc, _)| doc.name == part)?;
    place.meaning = doc.meaning.trim().into();
    (place.default, place.required) = (None, false);
    let settings = settings.clone().unwrap_or(Shape::Record(Vec::new()));
    Some((settings, place))
}
