//! Which outcomes are worth another attempt.

use crate::decode::{Decode, Node, Reader, Shape, Value, Written, nearest};
use crate::outcome::AttemptOutcome;
use serde::{Serialize, Serializer};

/// Outcomes that can be named; `error` stands for every failure code, `rejected` for all that the client holds back
/// itself.
const NAMES: [(&str, &[AttemptOutcome]); 9] = [
    ("error", &[AttemptOutcome::Error]),
    ("refused", &[AttemptOutcome::Refused]),
    ("queue_full", &[AttemptOutcome::QueueFull]),
    ("shed", &[AttemptOutcome::QueueFull, AttemptOutcome::Shed]),
    ("timeout", &[AttemptOutcome::TimedOut]),
    ("breaker_open", &[AttemptOutcome::BreakerOpen]),
    ("throttled", &[AttemptOutcome::Throttled]),
    ("rate_limited", &[AttemptOutcome::RateLimited]),
    (
        "rejected",
        &[
            AttemptOutcome::BreakerOpen,
            AttemptOutcome::Throttled,
            AttemptOutcome::RateLimited,
        ],
    ),
];
/// Failure codes with a number.
pub const CODES: std::ops::RangeInclusive<u16> = 100..=599;
/// Failures without a number in any protocol have a name, and a code of their own above all others.
const NAMED: [(&str, u16); 5] = [
    ("dns", 600),
    ("tls", 601),
    ("reset", 602),
    ("parameter_error", 603),
    ("quota_exceeded", 604),
];
const WORDS: usize = 8;

/// The name of a failure that has no number.
pub fn name_of_code(code: u16) -> Option<&'static str> {
    let named = NAMED.iter().find(|&&(_, number)| number == code);
    named.map(|&(name, _)| name)
}

/// The code of a failure that has no number.
fn named_code(text: &str) -> Option<u16> {
    let named = NAMED.iter().find(|&&(name, _)| name == text);
    named.map(|&(_, code)| code)
}

/// One entry of `retry_on`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Outcome(usize),
    Code(u16),
    Hundred(u16),
    Named(u16),
}

/// A set of outcomes: codes (`503`), ranges of codes (`"5xx"`) and names (`"timeout"`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryOn {
    terms: Vec<Term>,
    outcomes: u16,
    codes: [u64; WORDS],
}

impl Default for RetryOn {
    /// What most libraries take as transient: refusals, shedding, timeouts, broken connections, 408, 429 and every 5xx.
    fn default() -> Self {
        let outcome = |wanted| NAMES.iter().position(|&(name, _)| name == wanted);
        let names = ["refused", "shed", "timeout"]
            .into_iter()
            .filter_map(outcome);
        let mut terms: Vec<Term> = names.map(Term::Outcome).collect();
        terms.extend(
            ["dns", "tls", "reset"]
                .into_iter()
                .filter_map(named_code)
                .map(Term::Named),
        );
        terms.extend([Term::Code(408), Term::Code(429), Term::Hundred(5)]);
        Self::from_terms(terms)
    }
}

impl RetryOn {
    /// These outcomes without those of `others`.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let mut rest = self.clone();
        rest.outcomes &= !others.outcomes;
        for (mine, theirs) in rest.codes.iter_mut().zip(others.codes) {
            *mine &= !theirs;
        }
        rest
    }

    /// Whether no outcome is among them, whatever is written.
    pub fn holds_nothing(&self) -> bool {
        self.outcomes == 0 && self.codes.iter().all(|&word| word == 0)
    }

    /// No outcome at all.
    pub fn nothing() -> Self {
        Self::from_terms(Vec::new())
    }

    /// Code 429: the service asks for fewer attempts.
    pub fn too_many_requests() -> Self {
        Self::from_terms(vec![Term::Code(429)])
    }

    /// What services usually tell a wait with: codes 429 and 503, and shedding.
    pub fn refusals() -> Self {
        let shed = NAMES.iter().position(|&(name, _)| name == "shed");
        let mut terms = vec![Term::Code(429), Term::Code(503)];
        terms.extend(shed.map(Term::Outcome));
        Self::from_terms(terms)
    }

    /// Whether it is [`Self::refusals`].
    pub fn is_refusal(&self) -> bool {
        *self == Self::refusals()
    }

    /// Whether it is code 429 alone.
    pub fn is_too_many_requests(&self) -> bool {
        *self == Self::too_many_requests()
    }

    /// Whether it names no outcome.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Its entries as they are written.
    pub fn names(&self) -> Vec<String> {
        let name = |term: &Term| match *term {
            Term::Outcome(i) => NAMES[i].0.to_owned(),
            Term::Code(code) => code.to_string(),
            Term::Named(code) => name_of_code(code).unwrap_or_default().to_owned(),
            Term::Hundred(hundred) => format!("{hundred}xx"),
        };
        self.terms.iter().map(name).collect()
    }

    fn from_terms(terms: Vec<Term>) -> Self {
        let mut set = Self {
            terms: Vec::new(),
            outcomes: 0,
            codes: [0; WORDS],
        };
        for term in &terms {
            match *term {
                Term::Outcome(i) => {
                    for &outcome in NAMES[i].1 {
                        set.outcomes |= 1 << outcome as u8;
                        if outcome == AttemptOutcome::Error {
                            CODES.for_each(|code| set.insert(code));
                            NAMED.iter().for_each(|&(_, code)| set.insert(code));
                        }
                    }
                }
                Term::Code(code) | Term::Named(code) => set.insert(code),
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
    fn shape() -> Shape {
        Shape::List(Box::new(Term::shape()))
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        Vec::<Term>::decode(node, reader).map(Self::from_terms)
    }
}

impl Decode for Term {
    fn shape() -> Shape {
        Shape::plain("code, range or name of an outcome", Written::NumberOrText)
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        const FORMS: &str =
            "use a code like 503, a range like \"5xx\", or a name like \"timeout\" or \"shed\"";
        match &node.value {
            Value::Integer(code) => decode_code(*code, node, reader).map(Self::Code),
            Value::Text(text) => {
                let hundred = text.strip_suffix("xx").and_then(|digit| digit.parse().ok());
                let known = NAMES
                    .iter()
                    .position(|(name, _)| name == text)
                    .map(Self::Outcome)
                    .or_else(|| named_code(text).map(Self::Named));
                let term =
                    known.or_else(|| hundred.filter(|h| (1..=5).contains(h)).map(Self::Hundred));
                if term.is_none() {
                    let remedy = nearest(text, names()).map_or_else(
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

/// Every name of an outcome.
fn names() -> impl Iterator<Item = &'static str> + Clone {
    let outcomes = NAMES.iter().map(|&(name, _)| name);
    outcomes.chain(NAMED.iter().map(|&(name, _)| name))
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

/// A failure code of a service: a number, or the name of a failure that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub u16);

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match name_of_code(self.0) {
            Some(name) => serializer.serialize_str(name),
            None => serializer.serialize_u16(self.0),
        }
    }
}

impl Decode for Code {
    fn shape() -> Shape {
        Shape::plain("code", Written::NumberOrText)
    }

    fn stand_in() -> Option<Self> {
        Some(Self(503))
    }

    fn how_to_add(key: &str) -> String {
        format!("add the code, like {key} = 503")
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::Integer(code) => return decode_code(*code, node, reader).map(Self),
            Value::Text(text) => {
                if let Some(code) = named_code(text) {
                    return Some(Self(code));
                }
            }
            _ => {}
        }
        reader.mismatch(
            node,
            "a failure code",
            "use a code from 100 to 599, like 503, or dns, tls, reset, parameter_error or quota_exceeded",
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
            Term::Named(code) => Written::Name(name_of_code(code).unwrap_or_default()),
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
    fn names_of_failures_without_a_number_are_codes_of_their_own() {
        let set = read("[\"tls\", \"shed\", \"rejected\"]").0.unwrap();
        assert!(
            set.contains(AttemptOutcome::Error, 601) && !set.contains(AttemptOutcome::Error, 600)
        );
        for outcome in [
            AttemptOutcome::QueueFull,
            AttemptOutcome::Shed,
            AttemptOutcome::Throttled,
        ] {
            assert!(set.contains(outcome, 0), "{outcome:?}");
        }
        let usual = RetryOn::default();
        assert!(usual.contains(AttemptOutcome::Error, 600));
        assert!(!usual.contains(AttemptOutcome::Error, 603));
        let less = usual.without(&read("[\"5xx\", \"shed\"]").0.unwrap());
        assert!(
            !less.contains(AttemptOutcome::Error, 503) && !less.contains(AttemptOutcome::Shed, 0)
        );
        assert!(
            less.contains(AttemptOutcome::Error, 429) && less.contains(AttemptOutcome::TimedOut, 0)
        );
        assert!(
            AttemptOutcome::ALL
                .iter()
                .all(|o| !(o.is_local() && usual.contains(*o, 0)))
        );
    }

    #[test]
    fn every_wrong_entry_is_reported() {
        assert_eq!(read("[99, 600, \"timeuot\", true]"), (None, 4));
    }
}
