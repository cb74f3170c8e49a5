//! What a server tells those whom it refuses: when to come back.
//!
//! A refusal with a time in it (the header Retry-After of codes 429 and 503) is the only backoff that knows the state
//! of the server. Told the same time, everybody who was refused in one second also comes back in one second;
//! a server can spread them by varying what it says. The header counts whole seconds (RFC 9110, section 10.2.3), which
//! gathers clients again.

use crate::decode::{Check, Reader};
use crate::time::{NANOS_PER_SEC, SimDuration};
use crate::units::Ratio;
use crate::{choice, record};

record! {
    /// How the wait is varied and rounded before it is told.
    #[derive(Copy)]
    pub struct Told {
        /// The greatest deviation that the server lays on the wait, as a share of it; even on both sides.
        jitter: Ratio = Ratio::ZERO,
        /// Whether the wait is told in whole seconds, rounded up, as the header has it.
        whole_seconds: bool = true,
    }
}

impl Check for Told {}

record! {
    /// The same wait for everybody.
    #[derive(Copy)]
    pub struct FixedAfter {
        /// The wait.
        after: SimDuration;
        /// How the wait is varied and rounded before it is told.
        flatten told: Told,
    }
}

impl Check for FixedAfter {
    fn check(&self, reader: &mut Reader) {
        if self.after == SimDuration::ZERO {
            let reason = "clients are told to come back at once";
            reader.warn_at(&["after"], reason, "give a time, like \"5s\"");
        } else if self.told.jitter > Ratio::ZERO
            && self.told.of(self.after, 0.0) == self.told.of(self.after, 1.0)
        {
            let reason = format!(
                "the jitter has no effect: every wait is rounded up to {}",
                self.told.of(self.after, 0.0)
            );
            let remedy = "raise `jitter`, or set whole_seconds = false";
            reader.warn_at(&["jitter", "after", "whole_seconds"], reason, remedy);
        }
    }
}

record! {
    /// A wait in proportion to what is inside.
    #[derive(Copy)]
    pub struct QueueAfter {
        /// The wait for each attempt that waits or is in service.
        per_waiting: SimDuration,
        /// The shortest wait, before it is varied.
        at_least: SimDuration = SimDuration::ZERO;
        /// How the wait is varied and rounded before it is told.
        flatten told: Told,
    }
}

impl Check for QueueAfter {
    fn check(&self, reader: &mut Reader) {
        if self.per_waiting == SimDuration::ZERO {
            let reason = "the wait does not grow with the queue";
            let remedy = "give the time that one attempt takes, or use \"fixed\"";
            reader.warn_at(&["per_waiting"], reason, remedy);
        }
    }
}

choice! {
    /// The wait that a server tells those whom it refuses.
    #[derive(Copy)]
    pub enum RetryAfter as "told wait" {
        /// The same wait for everybody.
        Fixed(FixedAfter) = "fixed", r#"{ fixed = { after = "5s" } }"#;
        /// As long as what is inside will take.
        Queue(QueueAfter) = "queue", r#"{ queue = { per_waiting = "10ms" } }"#;
        /// Until the limiter would admit an attempt again.
        Free(Told) = "free", r#""free""#;
    }
}

impl RetryAfter {
    /// The wait told to a client that is refused while `inside` attempts wait or are in service and the limiter would
    /// admit one after `free_after`. `luck` is uniform from 0 to 1.
    #[inline]
    pub fn told(&self, inside: u64, free_after: SimDuration, luck: f64) -> SimDuration {
        match self {
            Self::Fixed(fixed) => fixed.told.of(fixed.after, luck),
            Self::Queue(queue) => {
                let wait = inside.saturating_mul(queue.per_waiting.as_nanos());
                let wait = SimDuration::from_nanos(wait).max(queue.at_least);
                queue.told.of(wait, luck)
            }
            Self::Free(told) => told.of(free_after, luck),
        }
    }
}

impl Told {
    /// What is told for `wait`: wait · U(1 − jitter, 1 + jitter), then rounded.
    fn of(&self, wait: SimDuration, luck: f64) -> SimDuration {
        let jitter = self.jitter.get();
        let varied = if jitter > 0.0 {
            wait.scale(1.0 - jitter + 2.0 * jitter * luck)
        } else {
            wait
        };
        if self.whole_seconds {
            SimDuration::from_secs(varied.as_nanos().div_ceil(NANOS_PER_SEC))
        } else {
            varied
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::admission::testing::{assert_examples, assert_problems, form, ms};

    #[test]
    fn settings_are_read_and_nonsense_is_named() {
        assert_examples::<RetryAfter>();
        let plain: RetryAfter = form("\"free\"");
        assert_eq!(
            plain,
            form("{ free = { jitter = 0.0, whole_seconds = true } }")
        );
        assert_problems::<RetryAfter>(&[
            (r#"{ fixed = { after = "0s" } }"#, "come back at once"),
            (
                r#"{ fixed = { after = "1500ms", jitter = "10%" } }"#,
                "every wait is rounded up to 2s",
            ),
            (r#"{ queue = { per_waiting = "0s" } }"#, "does not grow"),
        ]);
        form::<RetryAfter>(r#"{ fixed = { after = "1500ms", jitter = "50%" } }"#);
    }

    #[test]
    fn every_form_has_its_own_wait() {
        let told = |text: &str, inside, free| form::<RetryAfter>(text).told(inside, ms(free), 0.5);
        assert_eq!(told(r#"{ fixed = { after = "5s" } }"#, 7, 300), ms(5_000));
        let queue =
            r#"{ queue = { per_waiting = "10ms", at_least = "2s", whole_seconds = false } }"#;
        assert_eq!(told(queue, 345, 300), ms(3_450));
        assert_eq!(told(queue, 3, 300), ms(2_000));
        assert_eq!(
            told("{ free = { whole_seconds = false } }", 7, 300),
            ms(300)
        );
    }

    #[test]
    fn the_header_counts_whole_seconds_and_rounds_up() {
        let free: RetryAfter = form("\"free\"");
        for (free_after, seconds) in [(0, 0), (1, 1), (1_000, 1), (1_001, 2)] {
            let told = free.told(0, ms(free_after), 0.5);
            assert_eq!(told, SimDuration::from_secs(seconds), "{free_after} ms");
        }
    }

    #[test]
    fn jitter_spreads_the_wait_evenly_on_both_sides() {
        let told = |luck| {
            let text = r#"{ fixed = { after = "60s", jitter = "25%" } }"#;
            form::<RetryAfter>(text).told(0, SimDuration::ZERO, luck)
        };
        assert_eq!(told(0.0), SimDuration::from_secs(45));
        assert_eq!(told(0.5), SimDuration::from_secs(60));
        assert_eq!(told(1.0), SimDuration::from_secs(75));
        // A thousand clients are told one of thirty seconds, 33 or 34 of them each.
        let mut told_so = [0_u32; 76];
        for i in 0..1_000 {
            told_so[(told((f64::from(i) + 0.5) / 1e3).as_secs_f64()) as usize] += 1;
        }
        assert_eq!(told_so[46..].iter().sum::<u32>(), 1_000);
        assert!(
            told_so[46..].iter().all(|n| (33..=34).contains(n)),
            "{told_so:?}"
        );
    }

    #[test]
    fn extreme_numbers_saturate() {
        let queue: RetryAfter = form(r#"{ queue = { per_waiting = "366d", jitter = "100%" } }"#);
        assert_eq!(
            queue.told(u64::MAX, SimDuration::ZERO, 1.0),
            SimDuration::MAX
        );
        let free: RetryAfter = form("\"free\"");
        assert_eq!(free.told(0, SimDuration::MAX, 0.0), SimDuration::MAX);
    }
}
