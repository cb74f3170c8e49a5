//! So many retries per minute: the plainest bound, whatever the traffic.
//!
//! It knows nothing of requests. A busy scope is cut off early in the window and hardly notices the budget otherwise;
//! with a window that starts anew at fixed times, all scopes are let go again at the same moment.

use super::Charge;
use super::common::Common;
use super::form::Form;
use super::parts;
use crate::decode::{Check, Reader};
use crate::policy::kind::Kind;
use crate::policy::tokens::Tokens;
use crate::policy::window::{Span, Window};
use crate::time::{SimDuration, SimTime};
use crate::{choice, record};

choice! {
    /// How the window moves on.
    #[derive(Copy)]
    pub enum CountWindow as "window" {
        /// A new one begins at every multiple of its length.
        Fixed = "fixed", r#""fixed""#;
        /// It always reaches back by its length.
        Sliding = "sliding", r#""sliding""#;
    }
}

record! {
    /// Retries up to a number per window of time.
    pub struct RetryCount {
        /// Retries that may be made in one window.
        retries: u32,
        /// Length of the window.
        per: SimDuration,
        /// How the window moves on.
        window: CountWindow = CountWindow::Fixed;
        /// Settings that every budget shares.
        flatten common: Common,
    }
}

impl Check for RetryCount {
    fn check(&self, reader: &mut Reader) {
        if self.per == SimDuration::ZERO {
            let remedy = "give a time above 0, like \"60s\"";
            reader.error_at(&["per"], "a window of no length bounds nothing", remedy);
        }
        if self.retries == 0 {
            reader.warn_at(&["retries"], "no retry is ever made", "give at least 1");
        }
    }
}

/// Retries of the present window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Granted {
    /// Of a window that starts at a multiple of its length.
    Fixed {
        /// Which multiple.
        number: u64,
        /// Retries granted in it.
        retries: u32,
    },
    /// Of a window that slides.
    Sliding(Box<Window<1>>),
}

impl RetryCount {
    fn number(&self, now: SimTime) -> u64 {
        now.as_nanos() / self.per.as_nanos().max(1)
    }

    /// Retries granted in the window of `now`.
    #[inline]
    fn granted(&self, granted: &mut Granted, now: SimTime) -> u64 {
        match granted {
            Granted::Fixed { number, retries } if *number == self.number(now) => {
                u64::from(*retries)
            }
            Granted::Fixed { .. } => 0,
            Granted::Sliding(window) => window.sums(Span::sliding(self.per), now)[0],
        }
    }
}

impl Form for RetryCount {
    type State = Granted;

    fn common(&self) -> &Common {
        &self.common
    }

    fn fresh(&self) -> Granted {
        match self.window {
            CountWindow::Fixed => Granted::Fixed {
                number: 0,
                retries: 0,
            },
            CountWindow::Sliding => Granted::Sliding(Box::default()),
        }
    }

    #[inline]
    fn ask(&self, granted: &mut Granted, now: SimTime, _kind: Kind) -> Option<Charge> {
        let made = self.granted(granted, now);
        if made >= u64::from(self.retries) {
            return None;
        }
        match granted {
            Granted::Fixed { number, retries } => {
                *number = self.number(now);
                // Fewer than the setting, which is of this type.
                *retries = made as u32 + 1;
            }
            Granted::Sliding(window) => window.add(Span::sliding(self.per), now, [1]),
        }
        Some(Charge(Tokens::ONE))
    }

    fn sustained(&self) -> Option<f64> {
        None
    }

    /// The part of the retries of the present window that was not made.
    fn level(&self, granted: &Granted, now: SimTime) -> f64 {
        let made = self.granted(&mut granted.clone(), now);
        parts::left(u128::from(made), u128::from(self.retries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(ms)
    }

    /// Retries granted of three asked for at each of these times.
    fn granted(window: CountWindow, times: &[u64]) -> Vec<usize> {
        let form = RetryCount {
            retries: 4,
            per: SimDuration::from_secs(1),
            window,
            common: Common::default(),
        };
        let mut state = form.fresh();
        let mut ask = |ms| form.ask(&mut state, at(ms), Kind::Timeout).is_some();
        times
            .iter()
            .map(|ms| (0..3).filter(|_| ask(*ms)).count())
            .collect()
    }

    #[test]
    fn a_fixed_window_begins_anew_at_multiples_of_its_length() {
        let granted = granted(CountWindow::Fixed, &[900, 999, 1_000, 1_001, 7_500]);
        assert_eq!(granted, [3, 1, 3, 1, 3]);
    }

    #[test]
    fn a_sliding_window_lets_a_retry_go_when_another_is_as_old_as_the_window() {
        let granted = granted(
            CountWindow::Sliding,
            &[900, 999, 1_000, 1_900, 1_998, 1_999],
        );
        assert_eq!(granted, [3, 1, 0, 3, 0, 1]);
    }

    #[test]
    fn the_level_falls_with_every_retry_and_rises_with_the_window() {
        for window in [CountWindow::Fixed, CountWindow::Sliding] {
            let form = RetryCount {
                retries: 4,
                per: SimDuration::from_secs(1),
                window,
                common: Common::default(),
            };
            let mut state = form.fresh();
            form.ask(&mut state, at(0), Kind::Transient);
            assert_eq!(form.level(&state, at(999)), 0.75);
            assert_eq!(form.level(&state, at(1_000)), 1.0);
        }
    }
}
