//! Checks as JUnit XML, which build servers show as tests.
//!
//! The form is the one that Jenkins, GitLab and others read: a suite for each scenario, a case for each check and
//! strategy. There is no time in it, so that the same run gives the same bytes.

use super::checks::check_words;
use crate::experiment::{CheckOutcome, CheckResult};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// What every such document begins with, after the line that says that it is XML.
pub const JUNIT: &str = "<testsuites name=\"retrystorm\"";

/// The checks of a scenario.
#[derive(Clone, Debug)]
pub struct JunitSuite {
    /// The scenario's name.
    pub scenario: String,
    /// What came of its checks.
    pub checks: Vec<CheckResult>,
    /// The command that repeats the run.
    pub command: String,
}

/// The document. With `allow_undecided` an undecided check is a skipped case, otherwise a failure.
pub fn junit(suites: &[JunitSuite], allow_undecided: bool) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut writer, suites, allow_undecided).expect("memory can be written to");
    let mut text = String::from_utf8(writer.into_inner()).expect("XML of text is text");
    text.push('\n');
    text
}

/// How many cases there are, and how many fail and are skipped.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tests: usize,
    failures: usize,
    skipped: usize,
}

impl Counts {
    fn of<'a>(checks: impl Iterator<Item = &'a CheckResult>, allow_undecided: bool) -> Self {
        checks.fold(Self::default(), |counts, check| Self {
            tests: counts.tests + 1,
            failures: counts.failures + usize::from(check.fails(allow_undecided)),
            skipped: counts.skipped + usize::from(is_skipped(check, allow_undecided)),
        })
    }
}

fn is_skipped(check: &CheckResult, allow_undecided: bool) -> bool {
    check.outcome != CheckOutcome::Holds && !check.fails(allow_undecided)
}

type Xml = Writer<Vec<u8>>;

fn write(writer: &mut Xml, suites: &[JunitSuite], allow_undecided: bool) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all = suites.iter().flat_map(|suite| &suite.checks);
    let counts = Counts::of(all, allow_undecided);
    let element = writer
        .create_element("testsuites")
        .with_attribute(("name", "retrystorm"))
        .with_attribute(("tests", counts.tests.to_string().as_str()))
        .with_attribute(("failures", counts.failures.to_string().as_str()))
        .with_attribute(("errors", "0"));
    let written = element.write_inner_content(|writer| {
        for suite in suites.iter().filter(|suite| !suite.checks.is_empty()) {
            write_suite(writer, suite, allow_undecided)?;
        }
        Ok(())
    });
    written.map(|_| ())
}

fn write_suite(writer: &mut Xml, suite: &JunitSuite, allow_undecided: bool) -> io::Result<()> {
    let counts = Counts::of(suite.checks.iter(), allow_undecided);
    let element = writer
        .create_element("testsuite")
        .with_attribute(("name", plain(&suite.scenario).as_str()))
        .with_attribute(("tests", counts.tests.to_string().as_str()))
        .with_attribute(("failures", counts.failures.to_string().as_str()))
        .with_attribute(("errors", "0"))
        .with_attribute(("skipped", counts.skipped.to_string().as_str()));
    let written = element.write_inner_content(|writer| {
        for check in &suite.checks {
            write_case(writer, suite, check, allow_undecided)?;
        }
        Ok(())
    });
    written.map(|_| ())
}

fn write_case(
    writer: &mut Xml,
    suite: &JunitSuite,
    check: &CheckResult,
    allow_undecided: bool,
) -> io::Result<()> {
    let class = plain(&format!("{}.{}", suite.scenario, check.strategy));
    let element = writer
        .create_element("testcase")
        .with_attribute(("name", name(suite, check).as_str()))
        .with_attribute(("classname", class.as_str()));
    let words = plain(&check_words(check).replace('\u{a0}', " "));
    let written = if check.fails(allow_undecided) {
        let came = match check.outcome {
            CheckOutcome::Undecided => "is undecided",
            _ => "does not hold",
        };
        let text = format!(
            "{} of {} {came}: {words}\nrepeat it with: {}",
            check.words, check.strategy, suite.command
        );
        element.write_inner_content(|writer| {
            writer
                .create_element("failure")
                .with_attribute(("message", words.as_str()))
                .with_attribute(("type", check.outcome.name()))
                .write_text_content(BytesText::new(&legal(&text)))?;
            Ok(())
        })
    } else if is_skipped(check, allow_undecided) {
        let message = format!("{}: {words}", check.outcome.name().replace('_', " "));
        element.write_inner_content(|writer| {
            let skipped = writer.create_element("skipped");
            skipped
                .with_attribute(("message", message.as_str()))
                .write_empty()?;
            Ok(())
        })
    } else {
        element.write_empty()
    };
    written.map(|_| ())
}

/// The check as written, with its number where another one of the strategy reads alike.
fn name(suite: &JunitSuite, check: &CheckResult) -> String {
    let alike =
        |other: &&CheckResult| (&other.words, &other.strategy) == (&check.words, &check.strategy);
    let alike = suite.checks.iter().filter(alike).count();
    match alike {
        0 | 1 => plain(&check.words),
        _ => plain(&format!("{} (check {})", check.words, check.number)),
    }
}

/// `text` with a space for every character that may not stand in XML.
fn legal(text: &str) -> String {
    let legal = |c| match c {
        '\n' | '\t' => c,
        '\u{fffe}' | '\u{ffff}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().map(legal).collect()
}

/// The same for an attribute, in which a line break would be lost.
fn plain(text: &str) -> String {
    legal(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn suite() -> JunitSuite {
        JunitSuite {
            scenario: "restart-herd".into(),
            checks: sample::checked().checks,
            command: "retrystorm run restart-herd.toml --seed 42".into(),
        }
    }

    #[test]
    fn every_outcome_has_its_element() {
        insta::assert_snapshot!(junit(&[suite()], false), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="retrystorm" tests="4" failures="2" errors="0">
          <testsuite name="restart-herd" tests="4" failures="2" errors="0" skipped="1">
            <testcase name="success_rate &gt;= 85%" classname="restart-herd.exponential, no jitter"/>
            <testcase name="success_rate &gt;= 99%" classname="restart-herd.exponential, no jitter">
              <failure message="87.33 % (86.59 % to 88.07 %); misses by 11.7 points" type="does_not_hold">success_rate &gt;= 99% of exponential, no jitter does not hold: 87.33 % (86.59 % to 88.07 %); misses by 11.7 points
        repeat it with: retrystorm run restart-herd.toml --seed 42</failure>
            </testcase>
            <testcase name="latency_p99_ms &lt; 1s" classname="restart-herd.exponential, no jitter">
              <failure message="1.03 s (975 ms to 1.08 s); about 15 replications would decide" type="undecided">latency_p99_ms &lt; 1s of exponential, no jitter is undecided: 1.03 s (975 ms to 1.08 s); about 15 replications would decide
        repeat it with: retrystorm run restart-herd.toml --seed 42</failure>
            </testcase>
            <testcase name="success_rate &gt;= 85%" classname="restart-herd.no retries">
              <skipped message="not checked: the strategy was not run"/>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn undecided_is_skipped_where_that_is_allowed() {
        let text = junit(&[suite()], true);
        assert!(
            text.contains(r#"tests="4" failures="1" errors="0" skipped="2""#),
            "{text}"
        );
        assert!(text.contains(r#"<skipped message="undecided: "#), "{text}");
    }

    #[test]
    fn checks_that_read_alike_have_names_of_their_own() {
        let mut suite = suite();
        let mut again = suite.checks[0].clone();
        again.number = 9;
        suite.checks.push(again);
        let text = junit(&[suite], false);
        assert!(
            text.contains("(check 1)") && text.contains("(check 9)"),
            "{text}"
        );
    }

    #[test]
    fn without_checks_the_document_is_empty_and_whole() {
        let none = JunitSuite {
            checks: Vec::new(),
            ..suite()
        };
        insta::assert_snapshot!(junit(&[none], false), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="retrystorm" tests="0" failures="0" errors="0">
        </testsuites>
        "#);
    }
}
