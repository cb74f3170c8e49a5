//! Who may import whom.

use super::source::Source;

/// The floor of each module.
const FLOORS: [(&str, u32); 18] = [
    ("time", 0),
    ("units", 0),
    ("rng", 0),
    ("outcome", 0),
    ("decode", 0),
    ("kernel", 1),
    ("dist", 2),
    ("policy", 2),
    ("metrics", 2),
    ("theory", 2),
    ("model", 3),
    ("scenario", 4),
    ("experiment", 5),
    ("explain", 6),
    ("report", 6),
    ("catalogue", 6),
    ("cli", 7),
    ("main", 8),
];
/// Macros stand at the root of the crate wherever they are written.
const MACROS: [(&str, &str); 2] = [("record", "decode"), ("choice", "decode")];

fn floor_of(module: &str) -> Option<u32> {
    FLOORS
        .iter()
        .find(|(name, _)| *name == module)
        .map(|&(_, floor)| floor)
}

/// The modules at the root that a line of code names, `use crate::{a, b::C}` included.
pub(super) fn imports(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, start) in line.match_indices("crate::") {
        let rest = &line[at + start.len()..];
        match rest.strip_prefix('{') {
            None => found.push(identifier(rest)),
            Some(group) => {
                let mut depth = 0;
                for part in group.split_inclusive([',', '{', '}']) {
                    if depth == 0 {
                        found.push(identifier(part.trim()));
                    }
                    depth += part.matches('{').count() as i32 - part.matches('}').count() as i32;
                }
            }
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

pub(super) fn check(source: &Source) -> Vec<String> {
    let own = source.module();
    let Some(floor) = floor_of(own).filter(|_| !source.is_test) else {
        return Vec::new();
    };
    let mut complaints = Vec::new();
    for (number, line) in &source.code {
        for name in imports(line) {
            let home = MACROS
                .iter()
                .find(|(written, _)| *written == name)
                .map_or(name, |&(_, home)| home);
            let allowed = match floor_of(home) {
                Some(0) if floor == 0 => true,
                Some(other) => home == own || other < floor,
                None => false,
            };
            if !allowed {
                complaints.push(source.complain(*number, &format!("`{own}` imports `{name}`")));
            }
        }
    }
    complaints
}

pub(super) fn check_known(source: &Source) -> Vec<String> {
    let known = source.path == "lib.rs" || floor_of(source.module()).is_some();
    let what = "its module has no floor: add it to docs/design.md and to this test";
    if known {
        Vec::new()
    } else {
        vec![source.complain(1, what)]
    }
}

#[test]
fn imports_from_above_or_beside_are_seen() {
    for (path, line, wrong) in [
        ("kernel/a.rs", "use crate::model::World;", true),
        (
            "kernel/a.rs",
            "    let a = crate::policy::Backoff::Immediate;",
            true,
        ),
        ("dist/a.rs", "use crate::metrics::Tally;", true),
        ("theory/a.rs", "use crate::{choice, policy::Jitter};", true),
        (
            "theory/a.rs",
            "use crate::{units::{Rate, policy}, record};",
            false,
        ),
        ("model/a.rs", "use crate::nonsense::World;", true),
        ("model/a.rs", "use crate::model::World;", false),
        ("decode/a.rs", "use crate::time::SimTime;", false),
        ("time.rs", "use crate::kernel::Lane;", true),
        ("cli/a.rs", "use crate::report::table;", false),
    ] {
        let complaints = check(&Source::new(path, line));
        assert_eq!(
            complaints.len(),
            usize::from(wrong),
            "{path}: {line}: {complaints:?}"
        );
    }
    assert_eq!(check_known(&Source::new("extra.rs", "")).len(), 1);
}
