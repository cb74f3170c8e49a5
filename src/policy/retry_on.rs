//! Which outcomes are worth another attempt.

use crate::decode::{Decode, Node, Reader, Value, nearest};
use crate::outcome::AttemptOutcome;
use serde::{Serialize, Serializer};

/// Outcomes that can be named; `error` stands for every failure code.
const NAMES: [(&str, AttemptOutcome); 4] = [
    ("error", AttemptOutcome::Error),
    ("refused", AttemptOutcome::Refused),
    ("queue_full", AttemptOutcome::QueueFull),
    ("timeout", AttemptOutcome::TimedOut),
];
/// Failure codes a service can answer with.
pub const CODES: std::ops::RangeInclusive<u16> = 100..=599;
const WORDS: usize = 8;

/// One entry of `retry_on`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Outcome(usize),
    Code(u16),
    Hundred(u16),
}

/// A set of outcomes: codes (`503`), ranges of codes (`"5xx"`) and names (`"timeout"`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryOn {
    terms: Vec<Term>,
    outcomes: u8,
    codes: [u64; WORDS],
}

impl Default for RetryOn {
    /// What most libraries take as transient: refusals, timeouts, 408, 429 and every 5xx.
    fn default() -> Self {
        let mut terms: Vec<Term> = (1..NAMES.len()).map(Term::Outcome).collect();
        terms.extend([Term::Code(408), Term::Code(429), Term::Hundred(5)]);
        Self::from_terms(terms)
    }
}

impl RetryOn {
    fn from_terms(terms: Vec<Term>) -> Self {
        let mut set = Self {
            terms: Vec::new(),
            outcomes: 0,
            codes: [0; WORDS],
        };
        for term in &terms {
            match *term {
                Term::Outcome(i) => {
                    set.outcomes |= 1 << NAMES[i].1 as u8;
                    if NAMES[i].1 == AttemptOutcome::Error {
                        CODES.for_each(|code| set.insert(code));
                    }
                }
                Term::Code(code) => set.insert(code),
                Term::Hundred(hundred) => {
                    (hundred * 100..hundred * 100 + 100).for_each(|code| set.insert(code))
                }
            }
        }
        set.terms = terms;
        set
    }

    fn insert(&mut self, code: u16) {
        let bit = usize::from(code - CODES.start());
        self.codes[bit / 64] |= 1 << (bit % 64);
    }

    /// Whether an attempt that ended so, with `code` if it was answered, may be tried again.
    #[inline]
    pub fn contains(&self, outcome: AttemptOutcome, code: u16) -> bool {
        if outcome == AttemptOutcome::Error {
            let bit = usize::from(code.saturating_sub(*CODES.start()));
            return self
                .codes
                .get(bit / 64)
                .is_some_and(|word| word >> (bit % 64) & 1 == 1);
        }
        self.outcomes >> outcome as u8 & 1 == 1
    }
}

impl Decode for RetryOn {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        Vec::<Term>::decode(node, reader).map(Self::from_terms)
    }
}

impl Decode for Term {
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        const FORMS: &str =
            "use a code like 503, a range like \"5xx\", or error, refused, queue_full, timeout";
        match &node.value {
            Value::Integer(code) => decode_code(*code, node, reader).map(Self::Code),
            Value::Text(text) => {
                let hundred = text.strip_suffix("xx").and_then(|digit| digit.parse().ok());
                let known = NAMES
                    .iter()
                    .position(|(name, _)| name == text)
                    .map(Self::Outcome);
                let term =
                    known.or_else(|| hundred.filter(|h| (1..=5).contains(h)).map(Self::Hundred));
                if term.is_none() {
                    let remedy = nearest(text, NAMES.map(|(name, _)| name)).map_or_else(
                        || FORMS.to_owned(),
                        |near| format!("did you mean `{near}`?"),
                    );
                    reader.error(
                        &node.place,
                        format!("unknown outcome `{}`", text.escape_debug()),
                        remedy,
                    );
                }
                term
            }
            _ => {
                reader.mismatch(node, "an outcome", FORMS);
                None
            }
        }
    }
}

/// A failure code, or `None` after saying that it is none.
fn decode_code(code: i64, node: &Node, reader: &mut Reader) -> Option<u16> {
    let valid = u16::try_from(code).ok().filter(|code| CODES.contains(code));
    if valid.is_none() {
        reader.error(
            &node.place,
            format!("{code} is not a failure code"),
            "use a code from 100 to 599, like 503",
        );
    }
    valid
}

/// A failure code of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Code(pub u16);

impl Decode for Code {
    fn stand_in() -> Option<Self> {
        Some(Self(503))
    }

    fn how_to_add(key: &str) -> String {
        format!("add the code, like {key} = 503")
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Value::Integer(code) = node.value {
            return decode_code(code, node, reader).map(Self);
        }
        reader.mismatch(
            node,
            "a failure code",
            "use a code from 100 to 599, like 503",
        );
        None
    }
}

impl Serialize for RetryOn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Written {
            Name(&'static str),
            Code(u16),
            Range(String),
        }
        serializer.collect_seq(self.terms.iter().map(|term| match *term {
            Term::Outcome(i) => Written::Name(NAMES[i].0),
            Term::Code(code) => Written::Code(code),
            Term::Hundred(hundred) => Written::Range(format!("{hundred}xx")),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Document;

    fn read(list: &str) -> (Option<RetryOn>, usize) {
        let document = Document::parse("a.toml", &format!("list = {list}")).unwrap();
        let Value::Table(table) = &document.root.value else {
            panic!("a table")
        };
        let mut reader = Reader::new();
        let set = RetryOn::decode(table.get("list").unwrap(), &mut reader);
        (set, reader.into_problems().len())
    }

    #[test]
    fn codes_ranges_and_names_are_told_apart() {
        let set = read("[404, \"5xx\", \"timeout\"]").0.unwrap();
        assert!(set.contains(AttemptOutcome::Error, 404));
        assert!(
            set.contains(AttemptOutcome::Error, 500) && set.contains(AttemptOutcome::Error, 599)
        );
        assert!(!set.contains(AttemptOutcome::Error, 499));
        assert!(set.contains(AttemptOutcome::TimedOut, 0));
        assert!(!set.contains(AttemptOutcome::Refused, 0));
        assert!(
            read("[\"error\"]")
                .0
                .unwrap()
                .contains(AttemptOutcome::Error, 404)
        );
    }

    #[test]
    fn the_default_takes_client_errors_as_permanent() {
        let set = RetryOn::default();
        for code in [400, 401, 403, 404] {
            assert!(!set.contains(AttemptOutcome::Error, code));
        }
        for code in [408, 429, 500, 503] {
            assert!(set.contains(AttemptOutcome::Error, code));
        }
        assert!(!set.contains(AttemptOutcome::DeadlineExceeded, 0));
    }

    #[test]
    fn every_wrong_entry_is_reported() {
        assert_eq!(read("[99, 600, \"timeuot\", true]"), (None, 4));
    }
}
