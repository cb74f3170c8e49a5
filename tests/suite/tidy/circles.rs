//! Files of one folder that import each other in a circle can only be understood all at once.

use super::source::Source;
use std::collections::BTreeMap;

/// Which file each name comes from that a `mod.rs` exports again.
fn exports(source: &Source) -> BTreeMap<String, String> {
    let text: Vec<&str> = source.code.iter().map(|(_, line)| line.trim()).collect();
    let text = text.join(" ");
    let mut found = BTreeMap::new();
    for (at, start) in text.match_indices("use ") {
        let rest = &text[at + start.len()..];
        let Some((statement, _)) = rest.split_once(';') else {
            continue;
        };
        if let Some((file, names)) = statement.trim_start_matches("self::").split_once("::") {
            let names = names.trim_matches(['{', '}', ' ']);
            for name in names.split(',').map(str::trim) {
                found.insert(name.to_owned(), file.to_owned());
            }
        }
    }
    found
}

/// The files beside a file that it imports through `super`, by their names, also those that come through
/// `mod.rs`.
fn neighbours(source: &Source, exports: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    let text: Vec<&str> = source.code.iter().map(|(_, line)| line.trim()).collect();
    let text = text.join(" ");
    for (at, start) in text.match_indices("super::") {
        if text[..at].ends_with("::") {
            continue;
        }
        let rest = &text[at + start.len()..];
        let group = rest.strip_prefix('{').map_or(rest, |group| {
            group.split_once("};").map_or(group, |(group, _)| group)
        });
        let parts: Vec<&str> = if rest.starts_with('{') {
            group.split(',').collect()
        } else {
            vec![rest]
        };
        for part in parts {
            if let Some((name, _)) = part.trim().split_once("::") {
                let name: String = name
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                found.push(name);
            } else {
                let name: String = part
                    .trim()
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                found.extend(exports.get(&name).cloned());
            }
        }
    }
    found
}

/// Each circle once, from its first file on.
fn circles(graph: &BTreeMap<String, Vec<String>>) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in graph.keys() {
        let mut paths = vec![vec![start.clone()]];
        let mut seen = vec![start.clone()];
        while let Some(path) = paths.pop() {
            for next in path
                .last()
                .and_then(|last| graph.get(last))
                .into_iter()
                .flatten()
            {
                if next == start {
                    found.push(path.clone());
                } else if next > start && !seen.contains(next) {
                    seen.push(next.clone());
                    paths.push([path.as_slice(), std::slice::from_ref(next)].concat());
                }
            }
        }
    }
    found
}

pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let mut folders: BTreeMap<&str, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        if let Some((folder, file)) = source.path.rsplit_once('/')
            && let Some(name) = file.strip_suffix(".rs").filter(|name| *name != "mod")
        {
            let parent = format!("{folder}/mod.rs");
            let parent = sources.iter().find(|source| source.path == parent);
            let exports = parent.map(exports).unwrap_or_default();
            let graph = folders.entry(folder).or_default();
            graph.insert(name.into(), neighbours(source, &exports));
        }
    }
    let mut complaints = Vec::new();
    for (folder, mut graph) in folders {
        let names: Vec<String> = graph.keys().cloned().collect();
        for (name, next) in &mut graph {
            next.retain(|other| names.contains(other) && other != name);
        }
        for circle in circles(&graph) {
            complaints.push(format!(
                "src/{folder}: {} → {}",
                circle.join(" → "),
                circle[0]
            ));
        }
    }
    complaints
}

#[test]
fn a_circle_is_seen() {
    let file = |path: &str, text: &str| Source::new(path, text);
    let a = file("m/a.rs", "use super::b::B;\nuse super::Top;");
    let b = file("m/b.rs", "use super::{\n    c::{C, D},\n    x,\n};");
    let c = file("m/c.rs", "fn f() -> super::a::A {}");
    assert_eq!(check(&[a.clone(), b.clone()]), Vec::<String>::new());
    assert_eq!(check(&[a.clone(), b.clone(), c]).len(), 1);
    // b imports Top, which comes from a, through the parent.
    let parent = file("m/mod.rs", "mod a;\nmod b;\npub use a::{Other, Top};");
    let back = file("m/b.rs", "use super::Top;");
    assert_eq!(check(&[parent, a, back]).len(), 1);
}
