//! From a file to a scenario, or to everything that is wrong with it.

use super::spec::ScenarioSpec;
use super::validate::validate;
use crate::decode::{Decode, Document, Node, Place, Problem, Reader, Severity};
use std::path::{Path, PathBuf};

/// A scenario file is a page or two; anything larger is something else.
const LARGEST_FILE: u64 = 4 << 20;

/// A scenario that is sound in itself.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name: the file name without the ending.
    pub name: String,
    /// The question it asks: the first comment line of the file.
    pub question: String,
    /// What it says, with all defaults.
    pub spec: ScenarioSpec,
    /// The folder that the files it names are relative to.
    pub base: PathBuf,
    /// What is suspicious about it.
    pub warnings: Vec<Problem>,
    /// The text it was read from, for messages.
    pub document: Document,
}

/// Why there is no scenario.
#[derive(Clone, Debug)]
pub struct LoadError {
    /// The text, for excerpts.
    pub document: Document,
    /// Everything that is wrong, in the order of the file.
    pub problems: Vec<Problem>,
}

/// Reads a scenario file and lays `settings` (`key.path=value`) over it.
///
/// # Errors
/// Everything that is wrong with the file or the settings.
pub fn load(path: &Path, settings: &[String]) -> Result<Scenario, Box<LoadError>> {
    let shown = path.display().to_string();
    let text = read_text(path, &shown)?;
    let name = path.file_stem().map_or_else(
        || "scenario".into(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    let base = path
        .parent()
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    from_text(&name, &shown, &text, base, settings)
}

impl Scenario {
    /// Reads a scenario from its text; files it names are looked for below `base`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(name: &str, text: &str, base: &Path) -> Result<Self, Box<LoadError>> {
        from_text(name, name, text, base.to_path_buf(), &[])
    }

    /// The same scenario with some keys set to other values, and without its sweep.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn with(&self, settings: &[(String, Node)]) -> Result<Self, Box<LoadError>> {
        let mut document = self.document.clone();
        document.remove("sweep");
        let lay = |(key, node): &(String, Node)| {
            let (reason, remedy) = document.lay(key, node.clone()).err()?;
            Some(Problem {
                severity: Severity::Error,
                place: node.place.clone(),
                path: key.clone(),
                reason,
                remedy: remedy.into(),
            })
        };
        let problems = settings.iter().filter_map(lay).collect();
        from_document(&self.name, document, self.base.clone(), problems)
    }

    /// The scenario with all its defaults, as TOML that reads back as the same scenario.
    pub fn resolved(&self) -> String {
        let body =
            toml::to_string(&self.spec).expect("every part of a scenario can be written as TOML");
        if self.question.is_empty() {
            body
        } else {
            format!("# {}\n{body}", self.question)
        }
    }
}

fn from_text(
    name: &str,
    shown: &str,
    text: &str,
    base: PathBuf,
    settings: &[String],
) -> Result<Scenario, Box<LoadError>> {
    let mut document =
        Document::parse(shown, text).map_err(|problems| failure(shown, text, problems))?;
    let problems: Vec<Problem> = settings
        .iter()
        .filter_map(|setting| document.set(setting).err())
        .collect();
    from_document(name, document, base, problems)
}

/// Reads the scenario that a document says; `problems` are those already found.
fn from_document(
    name: &str,
    document: Document,
    base: PathBuf,
    mut problems: Vec<Problem>,
) -> Result<Scenario, Box<LoadError>> {
    let mut reader = Reader::new();
    let spec = ScenarioSpec::decode(&document.root, &mut reader);
    if let Some(spec) = &spec {
        validate(spec, &document, &mut reader);
    }
    problems.extend(reader.into_problems());
    let wrong = problems
        .iter()
        .any(|problem| problem.severity == Severity::Error);
    match spec {
        Some(mut spec) if !wrong => {
            spec.choose_windows();
            let question = question(&document.text);
            Ok(Scenario {
                name: name.into(),
                question,
                spec,
                base,
                warnings: problems,
                document,
            })
        }
        _ => Err(Box::new(LoadError { document, problems })),
    }
}

/// The first comment line, if the file begins with one.
fn question(text: &str) -> String {
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let comment = first.trim().strip_prefix('#').unwrap_or_default().trim();
    comment
        .chars()
        .filter(|c| !c.is_control())
        .take(200)
        .collect()
}

fn read_text(path: &Path, shown: &str) -> Result<String, Box<LoadError>> {
    let fail = |reason: &str, remedy: &str| {
        let problem = whole(reason.into(), remedy.into());
        failure(shown, "", vec![problem])
    };
    let io = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => fail("there is no such file", "check the path"),
        std::io::ErrorKind::PermissionDenied => {
            fail("it may not be read", "check the permissions of the file")
        }
        _ => fail(&format!("it cannot be read: {error}"), "check the path"),
    };
    let meta = std::fs::metadata(path).map_err(io)?;
    if !meta.is_file() {
        let what = if meta.is_dir() {
            "it is a directory"
        } else {
            "it is not a file"
        };
        return Err(fail(
            what,
            "give the path of a scenario file, ending in .toml",
        ));
    }
    if meta.len() > LARGEST_FILE {
        let reason = format!("it is larger than {} MiB", LARGEST_FILE >> 20);
        let remedy = "a scenario is a short TOML text; put recorded arrivals in a trace file";
        return Err(fail(&reason, remedy));
    }
    let bytes = std::fs::read(path).map_err(io)?;
    if bytes.contains(&0) {
        return Err(fail(
            "it is a binary file",
            "give a TOML file, which is a text",
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let problem = Problem {
            place: Place::File(at..at + 1),
            ..whole(
                "the file is not UTF-8 from here on".into(),
                "save it as UTF-8 in your editor".into(),
            )
        };
        failure(
            shown,
            &String::from_utf8_lossy(error.as_bytes()),
            vec![problem],
        )
    })
}

fn whole(reason: String, remedy: String) -> Problem {
    Problem {
        severity: Severity::Error,
        place: Place::Nowhere,
        path: String::new(),
        reason,
        remedy,
    }
}

fn failure(name: &str, text: &str, problems: Vec<Problem>) -> Box<LoadError> {
    Box::new(LoadError {
        document: Document::unread(name, text),
        problems,
    })
}
