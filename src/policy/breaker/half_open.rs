//! What may pass once a breaker has been open long enough.
//!
//! A breaker learns that a service is well again only by sending it something. One probe that happens to
//! succeed closes it onto a service that is still cold; probes without a limit are an outage of their own when the
//! service hangs: at 100 a second and 30 seconds of patience, three thousand are on their way before the
//! first fails. And many breakers written by hand have no such state at all: after the pause everybody passes.

use crate::decode::{Check, Decode, Node, Reader, Shape, Value, Written};
use crate::time::{SimDuration, SimTime};
use crate::{choice, record};
use serde::{Serialize, Serializer};
use std::collections::VecDeque;

/// How many probes there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeLimit {
    /// Any number.
    Unlimited,
    /// At most so many, from 1 to [`ProbeLimit::MOST`].
    AtMost(u32),
}

impl ProbeLimit {
    /// The highest limit that can be given.
    pub const MOST: u32 = 1_000_000;

    #[inline]
    fn allows_after(self, probes: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::AtMost(most) => probes < most,
        }
    }
}

impl Decode for ProbeLimit {
    fn shape() -> Shape {
        Shape::Either(
            Box::new(u32::shape()),
            Box::new(Shape::plain("\"unlimited\"", Written::Word(&["unlimited"]))),
        )
    }

    fn stand_in() -> Option<Self> {
        Some(Self::AtMost(1))
    }

    fn how_to_add(key: &str) -> String {
        format!("add a number or \"unlimited\", like {key} = 1")
    }

    /// Reads a whole number, or `"unlimited"`.
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        const FORMS: &str = "write a number from 1 to 1000000, or \"unlimited\"";
        match &node.value {
            Value::Text(text) if text == "unlimited" => return Some(Self::Unlimited),
            Value::Integer(number) => {
                let limit = u32::try_from(*number).ok();
                if let Some(most) = limit.filter(|most| (1..=Self::MOST).contains(most)) {
                    return Some(Self::AtMost(most));
                }
                let reason = format!("{number} is not a limit of probes");
                reader.error(&node.place, reason, FORMS);
            }
            _ => reader.mismatch(node, "a limit of probes", FORMS),
        }
        None
    }
}

impl Serialize for ProbeLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unlimited => serializer.serialize_str("unlimited"),
            Self::AtMost(most) => serializer.serialize_u32(*most),
        }
    }
}

choice! {
    /// How the ends of probes are judged.
    #[derive(Copy)]
    pub enum Judge as "judgement of probes" {
        /// One by one: a failed or slow probe opens the breaker again, enough good ones close it.
        Each = "each", r#""each""#;
        /// Together: exactly `limit` probes are sent, and when all have ended their shares are judged as while
        /// closed. A breaker that counts failures in a row takes any failure.
        Share = "share", r#""share""#;
    }
}

record! {
    /// Probes, and what becomes of the breaker after them.
    #[derive(Copy)]
    pub struct Probes {
        /// Probes on their way at a time at the most, or `"unlimited"`; in all, when they are judged together.
        limit: ProbeLimit = ProbeLimit::AtMost(1),
        /// Successful probes that close the breaker, when each is judged.
        successes: u32 = 1,
        /// A probe that has had no result for so long opens the breaker again; never when left out.
        timeout: Option<SimDuration> = None,
        /// How the ends of probes are judged.
        judge: Judge = Judge::Each,
    }
}

impl Default for Probes {
    fn default() -> Self {
        Self {
            limit: ProbeLimit::AtMost(1),
            successes: 1,
            timeout: None,
            judge: Judge::Each,
        }
    }
}

impl Check for Probes {
    fn check(&self, reader: &mut Reader) {
        if !(1..=ProbeLimit::MOST).contains(&self.successes) {
            reader.error_at(
                &["successes"],
                format!("{} is not a number of probes to wait for", self.successes),
                "give a number from 1 to 1000000",
            );
        }
        if self.timeout == Some(SimDuration::ZERO) {
            let remedy = "give a longer `timeout`, or leave it out to wait for ever";
            reader.error_at(&["timeout"], "no probe can end in no time", remedy);
        }
        match self.judge {
            Judge::Share if self.limit == ProbeLimit::Unlimited => reader.error_at(
                &["limit", "judge"],
                "probes without a limit are never all there to be judged together",
                "give a number as `limit`, or set `judge` to \"each\"",
            ),
            Judge::Share if self.successes > 1 => reader.warn_at(
                &["successes", "judge"],
                "`successes` has no effect: the probes are judged together",
                "remove it, or set `judge` to \"each\"",
            ),
            _ => {}
        }
    }
}

choice! {
    /// What may pass once a breaker has been open long enough.
    #[derive(Copy)]
    pub enum HalfOpen as "half-open state" {
        /// A few probes, which decide whether the breaker closes or opens again.
        Probes(Probes) = "probes", r#"{ probes = { limit = 3, successes = 3 } }"#;
        /// Everybody: the breaker is closed and counts anew.
        Everybody = "everybody", r#""everybody""#;
    }
}

impl Default for HalfOpen {
    fn default() -> Self {
        Self::Probes(Probes::default())
    }
}

/// How the probes of one half-open time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Probes that have ended.
    pub(super) ended: u32,
    /// Those that failed.
    pub(super) failed: u32,
    /// Those that were too slow, failed ones included.
    pub(super) slow: u32,
}

/// What a probe that has ended changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing yet.
    Wait,
    /// The breaker closes.
    Close,
    /// The breaker opens again.
    Reopen,
}

/// What is remembered while half-open.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Probing {
    sent: u32,
    tally: Tally,
    /// Kept only when probes can hang.
    waiting: Option<Box<Waiting>>,
}

/// Since when probes wait for their results. There are never more places than good probes that a breaker waits for
/// and probes on their way.
#[derive(Clone, Debug, Default, PartialEq)]
struct Waiting {
    /// The number of the probe at the first place.
    first: u32,
    /// In the order of sending; a place is empty once its probe has ended, and the first one never is.
    since: VecDeque<Option<SimTime>>,
}

impl Probing {
    /// No probe was sent yet.
    pub(super) fn new(probes: &Probes) -> Self {
        Self {
            sent: 0,
            tally: Tally::default(),
            waiting: probes.timeout.map(|_| Box::default()),
        }
    }

    /// Sends a probe now, if one may be sent. Gives its number.
    pub(super) fn send(&mut self, probes: &Probes, now: SimTime) -> Option<u32> {
        let so_far = match probes.judge {
            Judge::Each => self.sent.saturating_sub(self.tally.ended),
            Judge::Share => self.sent,
        };
        if !probes.limit.allows_after(so_far) {
            return None;
        }
        let number = self.sent;
        self.sent = number.checked_add(1)?;
        if let Some(waiting) = &mut self.waiting {
            waiting.since.push_back(Some(now));
        }
        Some(number)
    }

    /// A probe has ended. `share_reopens` judges all of them together.
    pub(super) fn end(
        &mut self,
        probes: &Probes,
        number: u32,
        (failed, slow): (bool, bool),
        share_reopens: impl FnOnce(Tally) -> bool,
    ) -> Verdict {
        if let Some(waiting) = &mut self.waiting {
            waiting.end(number);
        }
        let tally = &mut self.tally;
        tally.ended = tally.ended.saturating_add(1);
        tally.failed += u32::from(failed);
        tally.slow += u32::from(slow);
        match probes.judge {
            Judge::Each if failed || slow => Verdict::Reopen,
            Judge::Each if tally.ended >= probes.successes => Verdict::Close,
            Judge::Share if probes.limit.allows_after(tally.ended) => Verdict::Wait,
            Judge::Share if share_reopens(*tally) => Verdict::Reopen,
            Judge::Share => Verdict::Close,
            Judge::Each => Verdict::Wait,
        }
    }

    /// When the probe that has waited longest has waited too long.
    #[inline]
    pub(super) fn hangs_at(&self, probes: &Probes) -> Option<SimTime> {
        let oldest = self.waiting.as_ref()?.since.front().copied().flatten()?;
        Some(oldest + probes.timeout?)
    }
}

impl Waiting {
    fn end(&mut self, number: u32) {
        let place = number.wrapping_sub(self.first) as usize;
        if let Some(since) = self.since.get_mut(place) {
            *since = None;
        }
        while let Some(None) = self.since.front() {
            self.since.pop_front();
            self.first += 1;
        }
    }
}
