//! Rate limiters of clients: what holds back first attempts too.
//!
//! A budget bounds retries and lets every first attempt through. When the first attempts alone are more than the
//! service can take, the client must send more slowly, or not at all. A limiter says of each attempt whether it may
//! go now, how long it has to wait for its turn, or that the wait would be too long. The rate is given, or found from
//! the answers.

mod adaptive;
mod fixed;

pub use adaptive::{AdaptiveRate, Pace};
pub use fixed::{Due, FixedRate};

use super::kind::Seen;
use super::scope::Scope;
use crate::decode::Check;
use crate::time::{SimDuration, SimTime};
use crate::{choice, record};

record! {
    /// Settings that every rate limiter shares.
    #[derive(Copy)]
    pub struct HoldBack {
        /// The longest wait for a turn: an attempt that would wait longer is refused at once; none when left out.
        longest_wait: Option<SimDuration> = None,
        /// Whose attempts are limited together.
        scope: Scope = Scope::Client,
    }
}

impl Check for HoldBack {}

impl HoldBack {
    /// Send at once without a wait, or hold back for it if that is not too long.
    #[inline]
    fn held(&self, wait: SimDuration) -> Held {
        match self.longest_wait {
            _ if wait == SimDuration::ZERO => Held::Send,
            Some(longest) if wait > longest => Held::Refuse,
            _ => Held::Wait(wait),
        }
    }
}

choice! {
    /// What limits the rate at which clients send attempts.
    pub enum RateLimiter as "rate limiter" {
        /// A given rate and burst.
        Fixed(FixedRate) = "fixed", r#"{ fixed = { rate = "100/s", burst = 10 } }"#;
        /// A rate that falls when the service asks for fewer attempts, and grows again otherwise; no limit before that.
        Adaptive(AdaptiveRate) = "adaptive", r#""adaptive""#;
    }
}

/// What a limiter remembers; made by [`RateLimiter::fresh`].
#[derive(Clone, Debug, PartialEq)]
pub enum LimiterState {
    /// When the next attempt is due.
    Fixed(Due),
    /// The rate found so far, and the tokens that it gave.
    Adaptive(Box<Pace>),
}

/// What becomes of an attempt that is about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It is sent now.
    Send,
    /// It is sent after this wait, without asking again: its turn is reserved, and lost if it is not sent.
    Wait(SimDuration),
    /// It is not sent: it would have to wait too long. Nothing was reserved.
    Refuse,
}

/// All methods that take a state panic when it was made by another form of limiter.
impl RateLimiter {
    /// The settings that every limiter shares.
    pub fn common(&self) -> &HoldBack {
        match self {
            Self::Fixed(form) => &form.common,
            Self::Adaptive(form) => &form.common,
        }
    }

    /// The state before the first attempt.
    pub fn fresh(&self) -> LimiterState {
        match self {
            Self::Fixed(_) => LimiterState::Fixed(Due::default()),
            Self::Adaptive(_) => LimiterState::Adaptive(Box::default()),
        }
    }

    /// Whether and when an attempt that is ready now is sent.
    #[inline]
    pub fn take(&self, state: &mut LimiterState, now: SimTime) -> Held {
        match (self, state) {
            (Self::Fixed(form), LimiterState::Fixed(due)) => form.take(due, now),
            (Self::Adaptive(form), LimiterState::Adaptive(pace)) => form.take(pace, now),
            _ => mixed_up(),
        }
    }

    /// An attempt has ended for its client.
    #[inline]
    pub fn note(&self, state: &mut LimiterState, seen: &Seen) {
        match (self, state) {
            (Self::Fixed(_), LimiterState::Fixed(_)) => {}
            (Self::Adaptive(form), LimiterState::Adaptive(pace)) => form.note(pace, seen),
            _ => mixed_up(),
        }
    }

    /// What may be sent at once, as a share of the most there ever is; 0 when the next attempt has to wait for all of
    /// its token. For pictures.
    pub fn level(&self, state: &LimiterState, now: SimTime) -> f64 {
        match (self, state) {
            (Self::Fixed(form), LimiterState::Fixed(due)) => form.level(due, now),
            (Self::Adaptive(form), LimiterState::Adaptive(pace)) => form.level(pace, now),
            _ => mixed_up(),
        }
    }
}

#[cold]
fn mixed_up() -> ! {
    unreachable!("a limiter is called with a state that it made")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Choice, Decode, Document, Reader, Value};
    use crate::policy::kind::Kind;

    /// The limiter written as a TOML value, and how many problems were found.
    fn read(value: &str) -> (Option<RateLimiter>, usize) {
        let document = Document::parse("a.toml", &format!("limiter = {value}")).unwrap();
        let Value::Table(table) = &document.root.value else {
            panic!("a document is a table");
        };
        let mut reader = Reader::new();
        let limiter = RateLimiter::decode(table.get("limiter").unwrap(), &mut reader);
        (limiter, reader.into_problems().len())
    }

    #[test]
    fn every_form_is_called_with_its_own_state() {
        let seen = Seen {
            now: SimTime::ZERO,
            took: SimDuration::ZERO,
            kind: Kind::Ok,
            retryable: false,
            retry: false,
        };
        for doc in RateLimiter::VARIANTS {
            let (limiter, problems) = read(doc.example);
            let limiter = limiter.unwrap();
            assert_eq!(problems, 0, "{}", doc.name);
            let mut state = limiter.fresh();
            assert_eq!(limiter.level(&state, SimTime::ZERO), 1.0);
            assert_eq!(limiter.take(&mut state, SimTime::ZERO), Held::Send);
            limiter.note(&mut state, &seen);
            assert_eq!(limiter.common().scope, Scope::Client);
            let text = toml::to_string(&limiter).unwrap();
            let document = Document::parse("a.toml", &text).unwrap();
            let again = RateLimiter::decode(&document.root, &mut Reader::new());
            assert_eq!(again, Some(limiter), "{text}");
        }
    }

    #[test]
    fn settings_that_make_no_sense_are_reported() {
        for (value, problems) in [
            (r#"{ fixed = { rate = "1/d", longest_wait = "0s" } }"#, 0),
            (
                r#"{ adaptive = { scope = "shared", longest_wait = "1s" } }"#,
                0,
            ),
            (r#"{ fixed = { rate = "0/s" } }"#, 1),
            (r#"{ fixed = { rate = "1/s", burst = 0.5 } }"#, 1),
            (r#"{ adaptive = { rate = "1/s" } }"#, 1),
        ] {
            assert_eq!(read(value).1, problems, "{value}");
        }
    }

    #[test]
    fn a_wait_that_is_too_long_is_refused() {
        let second = SimDuration::from_secs(1);
        let mut common = HoldBack {
            longest_wait: None,
            scope: Scope::Client,
        };
        assert_eq!(common.held(SimDuration::MAX), Held::Wait(SimDuration::MAX));
        common.longest_wait = Some(second);
        assert_eq!(common.held(SimDuration::ZERO), Held::Send);
        assert_eq!(common.held(second), Held::Wait(second));
        assert_eq!(
            common.held(second + SimDuration::from_nanos(1)),
            Held::Refuse
        );
    }

    #[test]
    fn a_state_is_small() {
        assert_eq!(size_of::<LimiterState>(), 32);
        assert!(size_of::<Pace>() <= 96);
    }
}
