//! Dead letters: requests that have failed and are kept, to be tried again later or never.
//!
//! A queue for what could not be done turns a lost request into a late one. It also turns an outage into a second wave:
//! when the letters come back faster than the service can do them beside its live load, it fails again, and its
//! new failures become letters. How fast they come back, and for how long they are kept, is what decides.

use crate::decode::{Check, Reader};
use crate::outcome::FailureReason;
use crate::time::{SimDuration, SimTime};
use crate::units::Rate;
use crate::{choice, record};
use std::collections::VecDeque;

record! {
    /// Letters come back one by one, oldest first.
    #[derive(Copy)]
    pub struct AtRate {
        /// Letters per unit of time, like "25/s".
        rate: Rate,
        /// When that begins, from the start of the run.
        from: SimDuration = SimDuration::ZERO,
    }
}

impl Check for AtRate {
    fn check(&self, reader: &mut Reader) {
        if self.rate.as_per_second() == 0.0 {
            let remedy = "give a rate above zero, or write redrive = \"never\"";
            reader.error_at(
                &["rate"],
                "no letter ever comes back at a rate of zero",
                remedy,
            );
        }
    }
}

record! {
    /// Each letter comes back when it has been kept for so long.
    #[derive(Copy)]
    pub struct AfterTime {
        /// How long it is kept.
        delay: SimDuration,
    }
}

impl Check for AfterTime {
    fn check(&self, reader: &mut Reader) {
        if self.delay == SimDuration::ZERO {
            let remedy = "give a positive time, like \"60s\"";
            reader.error_at(
                &["delay"],
                "a letter that comes back at once never rests",
                remedy,
            );
        }
    }
}

choice! {
    /// When dead letters are tried again.
    #[derive(Copy)]
    pub enum Redrive as "redrive" {
        /// Never: they pile up.
        Never = "never", r#""never""#;
        /// One by one at a rate, oldest first.
        Rate(AtRate) = "rate", r#"{ rate = { rate = "25/s", from = "60s" } }"#;
        /// Each after a time of its own.
        After(AfterTime) = "after", r#"{ after = { delay = "60s" } }"#;
    }
}

record! {
    /// Requests that have failed are kept. Those that succeed when tried again count as succeeded, with their latency from their
    /// first start; those that are left at the end are neither failed nor succeeded, but dead-lettered.
    #[derive(Copy)]
    pub struct DeadLetters {
        /// When they are tried again, with all their attempts.
        redrive: Redrive = Redrive::Never,
        /// How often a request may come back; without a limit when left out.
        most_redrives: Option<u32> = None,
        /// How long a letter is kept before the request has failed for good; for ever when left out.
        retention: Option<SimDuration> = None,
        /// Whether requests that ended at a permanent failure code are kept too.
        permanent: bool = true,
    }
}

impl Check for DeadLetters {
    fn check(&self, reader: &mut Reader) {
        let slow = match self.redrive {
            Redrive::After(AfterTime { delay }) => Some(delay),
            _ => None,
        };
        if let (Some(kept), Some(delay)) = (self.retention, slow)
            && kept <= delay
        {
            let reason = format!(
                "no letter ever comes back: it is kept for {kept} and comes back after {delay}"
            );
            reader.warn_at(&["retention", "redrive"], reason, "keep letters for longer");
        }
        if self.most_redrives.is_some() && self.redrive == Redrive::Never {
            let reason = "`most_redrives` has no effect: no letter ever comes back";
            let remedy = "remove it, or choose when letters come back";
            reader.warn_at(&["most_redrives", "redrive"], reason, remedy);
        }
        if self.retention == Some(SimDuration::ZERO) {
            let reason = "no letter is ever kept";
            let remedy = "give a longer `retention`, or leave it out to keep letters for ever";
            reader.warn_at(&["retention"], reason, remedy);
        }
        if self.most_redrives == Some(0) && self.redrive != Redrive::Never {
            let reason = "`redrive` has no effect: no request may come back";
            reader.warn_at(
                &["most_redrives", "redrive"],
                reason,
                "raise `most_redrives`",
            );
        }
    }
}

impl DeadLetters {
    /// Whether a request that has failed so, after so many redrives, is kept.
    pub(super) fn keeps(&self, reason: FailureReason) -> bool {
        match reason {
            // It was done, only too late for its caller.
            FailureReason::CallerLeft => false,
            FailureReason::PermanentError => self.permanent,
            _ => true,
        }
    }

    /// Whether a letter that has come back `redrives` times may do so again.
    pub(super) fn may_come_back(&self, redrives: u32) -> bool {
        self.redrive != Redrive::Never && self.most_redrives.is_none_or(|most| redrives < most)
    }
}

/// A letter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter {
    /// The place of its request.
    pub(super) request: u32,
    /// Since when it has been kept.
    pub(super) since: SimTime,
    /// Why the request failed.
    pub(super) reason: FailureReason,
}

/// The dead letters of a client group, oldest first.
#[derive(Debug, Default)]
pub(super) struct LetterBox {
    /// Those that may come back, and those that may not.
    pub(super) waiting: VecDeque<Letter>,
    pub(super) resting: VecDeque<Letter>,
    /// Whether an event that brings the next one back is under way.
    pub(super) rings: bool,
    /// When the last one came back.
    pub(super) last: Option<SimTime>,
}

impl LetterBox {
    /// All letters.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Letter> {
        self.waiting.iter().chain(&self.resting)
    }

    /// Takes out a letter that is too old to be kept, if there is one.
    pub(super) fn expired(&mut self, now: SimTime, retention: SimDuration) -> Option<Letter> {
        let is_old = |letter: &Letter| now - letter.since >= retention;
        for letters in [&mut self.waiting, &mut self.resting] {
            if letters.front().is_some_and(is_old) {
                return letters.pop_front();
            }
        }
        None
    }
}
