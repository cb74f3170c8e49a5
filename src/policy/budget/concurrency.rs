//! A share of what is on the wire: the retry budget of Envoy.
//!
//! It needs no clock. Retries may be a share of the attempts that are out at the moment, and when the service becomes
//! slow that moment holds more of them: the budget grows with the trouble, and bounds the mixture rather than the
//! rate. Whether retries that wait for their backoff count decides if thousands of them may pile up.

use super::Charge;
use super::common::Common;
use super::form::Form;
use super::parts;
use crate::decode::{Check, Reader};
use crate::policy::kind::{Kind, Seen};
use crate::policy::tokens::Tokens;
use crate::time::SimTime;
use crate::units::Ratio;
use crate::{choice, record};

record! {
    /// A limit that follows the attempts on the wire.
    #[derive(Copy)]
    pub struct WireShare {
        /// Share of the attempts on the wire that may be outstanding retries, rounded down.
        of: Ratio = Ratio::new(0.2).expect("lies between 0 and 1"),
        /// Retries that may be outstanding however little is on the wire.
        min: u32 = 3,
    }
}

impl Check for WireShare {
    fn check(&self, reader: &mut Reader) {
        if self.of == Ratio::ZERO && self.min == 0 {
            reader.warn_at(
                &["of", "min"],
                "no retry is ever made",
                "raise `of` or `min`",
            );
        }
    }
}

record! {
    /// A limit that never changes.
    #[derive(Copy)]
    pub struct FixedLimit {
        /// Retries that may be outstanding.
        retries: u32 = 3,
    }
}

impl Check for FixedLimit {
    fn check(&self, reader: &mut Reader) {
        if self.retries == 0 {
            reader.warn_at(&["retries"], "no retry is ever made", "give at least 1");
        }
    }
}

choice! {
    /// How many retries may be outstanding at once.
    #[derive(Copy)]
    pub enum Limit as "limit" {
        /// A share of the attempts on the wire, with a floor.
        Share(WireShare) = "share", r#"{ share = { of = "20%", min = 3 } }"#;
        /// Always as many.
        Fixed(FixedLimit) = "fixed", r#"{ fixed = { retries = 3 } }"#;
    }
}

impl Limit {
    /// The default: a fifth, and at least 3.
    fn usual() -> Self {
        let of = Ratio::new(0.2).expect("lies between 0 and 1");
        Self::Share(WireShare { of, min: 3 })
    }

    /// Retries that may be outstanding with so many attempts on the wire.
    #[inline]
    fn with(&self, on_the_wire: u32) -> u32 {
        match self {
            Self::Share(share) => {
                let part = parts::share(share.of, u64::from(on_the_wire)) / parts::ONE;
                // A share of a count is at most the count.
                share.min.max(part as u32)
            }
            Self::Fixed(fixed) => fixed.retries,
        }
    }
}

record! {
    /// Retries up to a number outstanding at once.
    pub struct Concurrency {
        /// How many retries may be outstanding at once.
        limit: Limit = Limit::usual(),
        /// Whether a retry is outstanding from the moment it is granted, its wait included, or only while on the wire.
        counts_waiting: bool = true;
        /// Settings that every budget shares.
        flatten common: Common,
    }
}

impl Check for Concurrency {}

/// What a budget by concurrency remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outstanding {
    on_the_wire: u32,
    retries: u32,
}

impl Form for Concurrency {
    type State = Outstanding;

    fn common(&self) -> &Common {
        &self.common
    }

    fn fresh(&self) -> Outstanding {
        Outstanding {
            on_the_wire: 0,
            retries: 0,
        }
    }

    #[inline]
    fn sent(&self, out: &mut Outstanding, _now: SimTime, retry: bool) {
        out.on_the_wire = out.on_the_wire.saturating_add(1);
        if retry && !self.counts_waiting {
            out.retries = out.retries.saturating_add(1);
        }
    }

    /// The attempt that has ended is no longer counted when its own retry is asked for.
    #[inline]
    fn note(&self, out: &mut Outstanding, seen: &Seen) {
        out.on_the_wire = out.on_the_wire.saturating_sub(1);
        if seen.retry {
            out.retries = out.retries.saturating_sub(1);
        }
    }

    #[inline]
    fn ask(&self, out: &mut Outstanding, _now: SimTime, _kind: Kind) -> Option<Charge> {
        if out.retries >= self.limit.with(out.on_the_wire) {
            return None;
        }
        if self.counts_waiting {
            out.retries += 1;
        }
        Some(Charge(Tokens::ONE))
    }

    fn withdrawn(&self, out: &mut Outstanding, _now: SimTime) {
        if self.counts_waiting {
            out.retries = out.retries.saturating_sub(1);
        }
    }

    fn sustained(&self) -> Option<f64> {
        None
    }

    /// The part of the limit of the moment that is free.
    fn level(&self, out: &Outstanding, _now: SimTime) -> f64 {
        let limit = self.limit.with(out.on_the_wire);
        parts::left(u128::from(out.retries), u128::from(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SimDuration;

    fn with(of: f64, min: u32, counts_waiting: bool) -> Concurrency {
        let of = Ratio::new(of).unwrap();
        Concurrency {
            limit: Limit::Share(WireShare { of, min }),
            counts_waiting,
            common: Common::default(),
        }
    }

    fn fails(form: &Concurrency, out: &mut Outstanding, retry: bool) -> bool {
        form.note(
            out,
            &Seen {
                now: SimTime::ZERO,
                took: SimDuration::ZERO,
                kind: Kind::Transient,
                retryable: true,
                retry,
            },
        );
        form.ask(out, SimTime::ZERO, Kind::Transient).is_some()
    }

    /// Retries granted when a thousand attempts fail one after another.
    fn granted_of_a_thousand(form: &Concurrency) -> usize {
        let mut out = form.fresh();
        (0..1_000).for_each(|_| form.sent(&mut out, SimTime::ZERO, false));
        (0..1_000).filter(|_| fails(form, &mut out, false)).count()
    }

    #[test]
    fn of_a_thousand_failures_a_sixth_is_retried_if_those_that_wait_count_and_all_if_not() {
        // Retry g is granted with 1000 - g on the wire: g <= 0.2 (1000 - g), so g <= 166.
        assert_eq!(granted_of_a_thousand(&with(0.2, 0, true)), 166);
        assert_eq!(granted_of_a_thousand(&with(0.2, 3, false)), 1_000);
        let fixed = Concurrency {
            limit: Limit::Fixed(FixedLimit { retries: 3 }),
            ..with(0.2, 0, true)
        };
        assert_eq!(granted_of_a_thousand(&fixed), 3);
    }

    #[test]
    fn a_place_is_free_again_when_its_retry_ends_or_is_not_sent() {
        let form = with(0.0, 1, true);
        let mut out = form.fresh();
        (0..3).for_each(|_| form.sent(&mut out, SimTime::ZERO, false));
        assert!(fails(&form, &mut out, false));
        assert!(!fails(&form, &mut out, false), "the first still waits");
        form.sent(&mut out, SimTime::ZERO, true);
        assert!(!fails(&form, &mut out, false), "the first is on the wire");
        assert!(
            fails(&form, &mut out, true),
            "it has made room for its own retry"
        );
        assert_eq!(form.level(&out, SimTime::ZERO), 0.0);
        form.withdrawn(&mut out, SimTime::ZERO);
        assert_eq!(form.level(&out, SimTime::ZERO), 1.0);
        assert_eq!(out, form.fresh());
    }

    #[test]
    fn a_retry_that_waits_without_counting_counts_once_it_is_sent() {
        let form = with(0.0, 1, false);
        let mut out = form.fresh();
        (0..3).for_each(|_| form.sent(&mut out, SimTime::ZERO, false));
        assert!(fails(&form, &mut out, false));
        form.sent(&mut out, SimTime::ZERO, true);
        assert!(!fails(&form, &mut out, false));
        assert!(fails(&form, &mut out, true));
        form.withdrawn(&mut out, SimTime::ZERO);
        assert!(fails(&form, &mut out, false));
        assert_eq!(out, form.fresh());
    }
}
