//! A share of the recent requests, and a few retries a second besides: the budget of Finagle, tower and Linkerd.
//!
//! Requests put in a share of a retry each, retries take one out, and both are forgotten after the window. A client with
//! little traffic could never retry by a share alone, so there is a reserve. It comes back as the retries that
//! used it are forgotten, all at once and not smoothly: in an outage retries come in lumps, a window apart.

use super::Charge;
use super::common::Common;
use super::form::Form;
use super::parts;
use crate::decode::{Check, Reader};
use crate::policy::kind::Kind;
use crate::policy::tokens::Tokens;
use crate::policy::window::{Span, Window};
use crate::time::{SimDuration, SimTime};
use crate::units::{Rate, Ratio};
use crate::{choice, record};

/// More slices than this are not kept apart.
const MOST_SLICES: u32 = 4096;

choice! {
    /// When a request counts.
    #[derive(Copy)]
    pub enum DepositAt as "moment of the deposit" {
        /// As it begins, whatever will become of it.
        Start = "start", r#""start""#;
        /// When it has succeeded: in an outage only the reserve is left.
        Success = "success", r#""success""#;
    }
}

record! {
    /// Retries up to a share of the requests of a sliding window, and a reserve besides.
    pub struct WindowRatio {
        /// Share of the requests of the window that may be retries.
        ratio: Ratio,
        /// Retries that may be made besides, for each second of the window.
        min_per_second: Rate = Rate::per_second(10.0).expect("is a rate"),
        /// How long requests and retries count.
        window: SimDuration = SimDuration::from_secs(10),
        /// Equal slices in which the window moves on; it slides smoothly when left out.
        slices: Option<u32> = None,
        /// When a request counts.
        deposit_at: DepositAt = DepositAt::Start;
        /// Settings that every budget shares.
        flatten common: Common,
    }
}

impl Check for WindowRatio {
    fn check(&self, reader: &mut Reader) {
        if self.window == SimDuration::ZERO {
            let remedy = "give a time above 0, like \"10s\"";
            reader.error_at(
                &["window"],
                "a window of no length remembers nothing",
                remedy,
            );
            return;
        }
        if let Some(slices) = self.slices
            && !(1..=MOST_SLICES).contains(&slices)
        {
            let reason = format!("a window cannot have {slices} slices");
            let remedy = format!("give 1 to {MOST_SLICES}, or leave `slices` out");
            reader.error_at(&["slices"], reason, remedy);
        }
        if self.ratio == Ratio::ZERO && self.reserve() < parts::ONE {
            let reason =
                "no retry is ever made: the share is 0 and the reserve is less than one retry";
            let keys = ["ratio", "min_per_second", "window"];
            reader.warn_at(&keys, reason, "raise `ratio` or `min_per_second`");
        }
    }
}

impl WindowRatio {
    fn span(&self) -> Span {
        match self.slices {
            None => Span::sliding(self.window),
            Some(slices) => Span::sliced(self.window, slices),
        }
    }

    /// Retries that may be made in a window without any request, in trillionths.
    fn reserve(&self) -> u128 {
        parts::amount(self.min_per_second.as_per_second() * self.window.as_secs_f64())
    }

    /// Retries that may be made in a window with so many deposits, in trillionths.
    fn allowed(&self, deposits: u64) -> u128 {
        parts::share(self.ratio, deposits).saturating_add(self.reserve())
    }
}

/// Deposits and withdrawals of the window.
type Ledger = Box<Window<2>>;

impl Form for WindowRatio {
    type State = Ledger;

    fn common(&self) -> &Common {
        &self.common
    }

    fn fresh(&self) -> Ledger {
        Ledger::default()
    }

    #[inline]
    fn began(&self, ledger: &mut Ledger, now: SimTime) {
        if self.deposit_at == DepositAt::Start {
            ledger.add(self.span(), now, [1, 0]);
        }
    }

    #[inline]
    fn ask(&self, ledger: &mut Ledger, now: SimTime, _kind: Kind) -> Option<Charge> {
        let [deposits, withdrawals] = ledger.sums(self.span(), now);
        if self.allowed(deposits) < parts::whole(withdrawals.saturating_add(1)) {
            return None;
        }
        ledger.add(self.span(), now, [0, 1]);
        Some(Charge(Tokens::ONE))
    }

    fn ended(&self, ledger: &mut Ledger, now: SimTime, succeeded: bool, _last: Option<Charge>) {
        if succeeded && self.deposit_at == DepositAt::Success {
            ledger.add(self.span(), now, [1, 0]);
        }
    }

    fn sustained(&self) -> Option<f64> {
        let share = match self.deposit_at {
            DepositAt::Start => self.ratio.get(),
            DepositAt::Success => 0.0,
        };
        (self.min_per_second.as_per_second() == 0.0).then_some(share)
    }

    /// The part of what the window allows that was not used.
    fn level(&self, ledger: &Ledger, now: SimTime) -> f64 {
        let [deposits, withdrawals] = ledger.seen(self.span(), now);
        parts::left(parts::whole(withdrawals), self.allowed(deposits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fifth(min: f64) -> WindowRatio {
        WindowRatio {
            ratio: Ratio::new(0.2).unwrap(),
            min_per_second: Rate::per_second(min).unwrap(),
            window: SimDuration::from_secs(10),
            slices: None,
            deposit_at: DepositAt::Start,
            common: Common::default(),
        }
    }

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(ms)
    }

    fn granted(form: &WindowRatio, ledger: &mut Ledger, now: SimTime, times: u32) -> usize {
        let ask = |_: &u32| form.ask(ledger, now, Kind::Transient).is_some();
        (0..times).filter(ask).count()
    }

    #[test]
    fn five_requests_buy_one_retry_and_four_none() {
        let (form, mut ledger) = (fifth(0.0), Ledger::default());
        (0..4).for_each(|i| form.began(&mut ledger, at(i)));
        assert_eq!(granted(&form, &mut ledger, at(4), 1), 0);
        form.began(&mut ledger, at(4));
        assert_eq!(granted(&form, &mut ledger, at(4), 9), 1);
    }

    #[test]
    fn the_reserve_comes_back_a_window_after_it_was_used() {
        let (form, mut ledger) = (fifth(10.0), Ledger::default());
        assert_eq!(granted(&form, &mut ledger, at(0), 1_000), 100);
        assert_eq!(form.level(&ledger, at(0)), 0.0);
        assert_eq!(granted(&form, &mut ledger, at(9_999), 1_000), 0);
        assert_eq!(form.level(&ledger, at(10_000)), 1.0);
        assert_eq!(granted(&form, &mut ledger, at(10_000), 1_000), 100);
    }

    #[test]
    fn deposits_of_successes_leave_only_the_reserve_in_an_outage() {
        let form = WindowRatio {
            deposit_at: DepositAt::Success,
            ..fifth(0.0)
        };
        let mut ledger = form.fresh();
        for _ in 0..100 {
            form.began(&mut ledger, at(0));
            form.ended(&mut ledger, at(0), false, None);
        }
        assert_eq!(granted(&form, &mut ledger, at(0), 9), 0);
        (0..5).for_each(|_| form.ended(&mut ledger, at(0), true, None));
        assert_eq!(granted(&form, &mut ledger, at(0), 9), 1);
    }

    #[test]
    fn a_window_of_slices_forgets_a_slice_at_a_time() {
        let form = WindowRatio {
            slices: Some(10),
            ..fifth(0.1)
        };
        let mut ledger = form.fresh();
        assert_eq!(granted(&form, &mut ledger, at(900), 9), 1);
        assert_eq!(granted(&form, &mut ledger, at(9_999), 9), 0);
        assert_eq!(
            granted(&form, &mut ledger, at(10_000), 9),
            1,
            "though 9.1 s have passed"
        );
    }
}
