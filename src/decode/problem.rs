//! What is wrong with a settings file, where, and what to write instead.

use super::place::Place;

/// Whether a scenario with this problem can still run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It cannot.
    Error,
    /// It can, but probably not as meant.
    Warning,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether the scenario can run all the same.
    pub severity: Severity,
    /// Where in the document.
    pub place: Place,
    /// The key path, like `strategy[0].backoff.exponential.base`; empty for the whole document.
    pub path: String,
    /// What is wrong, as a sentence without its full stop.
    pub reason: String,
    /// What to do about it, in the same form; empty when the reason says it all.
    pub remedy: String,
}

/// The candidate most like `word`, if one is near enough to be what was meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance costs the product of the lengths, and a very long word is near to nothing.
    let usual = word.len() <= 100;
    let lower = word.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .filter(|_| usual)
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(word, candidate);
            let folded = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
            (
                distance.min(folded + usize::from(distance > folded)),
                candidate,
            )
        })
        .filter(|&(distance, candidate)| {
            distance <= 1 + candidate.chars().count() / 4 && distance < candidate.chars().count()
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// The beginning of a text that somebody wrote, in a form that a terminal can show.
pub fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut shown: String = text
        .chars()
        .take(MOST)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(MOST).is_some() {
        shown.push_str("...");
    }
    shown.replace("\\'", "'")
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_a_near_word_is_suggested() {
        let keys = ["max_attempts", "attempt_timeout", "backoff"];
        assert_eq!(nearest("max_atempts", keys), Some("max_attempts"));
        assert_eq!(nearest("bakcoff", keys), Some("backoff"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("MAX-ATTEMPTS", keys), Some("max_attempts"));
        assert_eq!(nearest(&"max_attempts".repeat(20_000), keys), None);
        assert_eq!(nearest("x", ["s"]), None);
    }
}
