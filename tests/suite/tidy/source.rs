//! The files of the repository, and what of them is code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A source file below `src`.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Its path below `src`, with `/` between the parts.
    pub(super) path: String,
    /// Its text.
    pub(super) text: String,
    /// Its lines without tests and comments, each with its number from 1.
    pub(super) code: Vec<(usize, String)>,
    /// Whether the whole file is for tests.
    pub(super) is_test: bool,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            code: code_of(text),
            is_test: false,
        }
    }

    /// The module at the root that it belongs to: `kernel` for `kernel/wheel.rs`.
    pub(super) fn module(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// A complaint about one of its lines.
    pub(super) fn complain(&self, line: usize, what: &str) -> String {
        format!("src/{}:{line}: {what}", self.path)
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder, in order.
fn files_below(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.insert(path);
        }
    }
}

/// The source files of the program, test files marked as such.
pub(super) fn sources() -> Vec<Source> {
    let src = root().join("src");
    let mut found = BTreeSet::new();
    files_below(&src, &mut found);
    let mut sources: Vec<Source> = found
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| {
            let text = fs::read_to_string(path).expect("sources are texts");
            let below = path.strip_prefix(&src).expect("it lies below src");
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            Source::new(&parts.join("/"), &text)
        })
        .collect();
    let tests: BTreeSet<String> = sources.iter().flat_map(test_modules).collect();
    for source in &mut sources {
        // A module that is for tests only takes its folder with it.
        let within = |test: &String| source.path.starts_with(&test.replace(".rs", "/"));
        source.is_test = tests.contains(&source.path) || tests.iter().any(within);
    }
    sources
}

/// The files that a file includes for tests only.
fn test_modules(source: &Source) -> Vec<String> {
    let folder = match source.path.strip_suffix("/mod.rs") {
        Some(folder) => folder.to_owned(),
        None => source.path.trim_end_matches(".rs").to_owned(),
    };
    let mut after_mark = false;
    let mut names = Vec::new();
    for line in source.text.lines().map(str::trim) {
        let name = line
            .split_once("mod ")
            .and_then(|(_, rest)| rest.strip_suffix(';'));
        if let (true, Some(name)) = (after_mark, name) {
            names.push(format!("{folder}/{name}.rs"));
        }
        after_mark = line == "#[cfg(test)]" || after_mark && line.starts_with("#[");
    }
    names
}

/// The lines that are neither tests nor comments. The text is laid out by rustfmt, so an item ends at its own
/// indentation.
fn code_of(text: &str) -> Vec<(usize, String)> {
    let mut code = Vec::new();
    let mut lines = (1..).zip(text.lines()).peekable();
    while let Some((number, line)) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let indent = indent_of(line);
            for (_, line) in lines.by_ref() {
                let attribute = line.trim().starts_with("#[");
                let one_line = line.ends_with(';') || line.ends_with("}") || line.ends_with(",");
                if !attribute && indent_of(line) == indent && one_line {
                    break;
                }
            }
        } else if !line.trim_start().starts_with("//") {
            code.push((number, line.to_owned()));
        }
    }
    code
}

/// How far a line is indented.
pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The texts that people write: path from the root and content.
pub(super) fn repository_texts() -> Vec<(String, String)> {
    const FOLDERS: [&str; 7] = [
        "src",
        "tests",
        "benches",
        "docs",
        "scenarios",
        ".ci",
        ".cargo",
    ];
    const ENDINGS: [&str; 6] = ["rs", "md", "toml", "csv", "yml", "txt"];
    let root = root();
    let mut found = BTreeSet::new();
    for folder in FOLDERS {
        files_below(&root.join(folder), &mut found);
    }
    for name in ["README.md", "CHANGELOG.md", "Cargo.toml", "clippy.toml"] {
        found.insert(root.join(name));
    }
    let texts = found.iter().filter(|path| {
        let ending = path.extension().map(|ending| ending.to_string_lossy());
        ending.is_none_or(|ending| ENDINGS.contains(&&*ending))
    });
    texts
        .filter_map(|path| {
            let text = fs::read_to_string(path).ok()?;
            let below = path.strip_prefix(&root).ok()?;
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            Some((parts.join("/"), text))
        })
        .collect()
}

#[test]
fn tests_and_comments_are_no_code() {
    let text = "//! Why.\nuse a::b;\n\n#[cfg(test)]\nmod helpers;\nfn f() {}\n\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n    fn g() {}\n}\nfn h() {}\n";
    let source = Source::new("a/mod.rs", text);
    let code: Vec<&str> = source
        .code
        .iter()
        .map(|(_, line)| line.as_str())
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(code, ["use a::b;", "fn f() {}", "fn h() {}"]);
    assert_eq!(test_modules(&source), ["a/helpers.rs"]);
}
