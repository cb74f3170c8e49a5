//! Adaptive throttling at the client: it stops sending what would be refused anyway.
//!
//! Refusing costs an overloaded service nearly as much as answering, so a service that refuses most of its load has
//! little left for the rest. A client can see that for itself: it counts what it wanted to send and what was accepted
//! over the recent past, and turns away the surplus at home. A multiplier K lets through K times what was accepted, so
//! that the client notices when the service has room again.
//!
//! An attempt is turned away with the probability max(0, (requests − K · accepts) / (requests + 1)): Beyer et al.,
//! "Site Reliability Engineering", O'Reilly 2016, chapter 21. In the long run min(λ, K · C) of λ attempts a second
//! reach a service that accepts C. When everything fails, about one probe a window does.

use super::scope::Scope;
use super::window::{Span, Window};
use crate::decode::{Check, Reader};
use crate::record;
use crate::time::{SimDuration, SimTime};

record! {
    /// Attempts are turned away by their own client, at random, when too few of the recent ones were accepted.
    pub struct Throttle {
        /// Attempts that are let through for each accepted one, at least 1.
        k: f64 = 2.0,
        /// Time over which attempts and acceptances are counted.
        window: SimDuration = SimDuration::from_secs(120),
        /// Whose attempts are counted together.
        scope: Scope = Scope::Client,
    }
}

impl Check for Throttle {
    fn check(&self, reader: &mut Reader) {
        if self.k < 1.0 {
            let reason = format!(
                "`k` = {} turns attempts away although all are accepted",
                self.k
            );
            reader.error_at(&["k"], reason, "give at least 1, like 2 or 1.1");
        }
        if self.window == SimDuration::ZERO {
            let remedy = "give a length, like \"2m\"";
            reader.error_at(&["window"], "a window of no time counts nothing", remedy);
        }
    }
}

/// What a throttle remembers: attempts that were wanted, and accepted ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Throttled(Box<Window<2>>);

impl Throttle {
    /// The state before the first attempt.
    pub fn fresh(&self) -> Throttled {
        Throttled::default()
    }

    /// Whether an attempt may be sent now. It counts as wanted either way. `luck` is uniform in [0, 1).
    #[inline]
    pub fn admit(&self, state: &mut Throttled, now: SimTime, luck: f64) -> bool {
        let span = Span::sliding(self.window);
        let rejects = self.probability(state.0.sums(span, now));
        state.0.add(span, now, [1, 0]);
        luck >= rejects
    }

    /// An attempt that was sent has been answered; `accepted` says whether the service took it on. What was refused,
    /// or never answered, is not accepted.
    #[inline]
    pub fn note(&self, state: &mut Throttled, now: SimTime, accepted: bool) {
        if accepted {
            state.0.add(Span::sliding(self.window), now, [0, 1]);
        }
    }

    /// The probability that an attempt is turned away now, for pictures. Costs a copy of the state.
    pub fn rejects(&self, state: &Throttled, now: SimTime) -> f64 {
        self.probability(state.0.seen(Span::sliding(self.window), now))
    }

    #[inline]
    fn probability(&self, [requests, accepts]: [u64; 2]) -> f64 {
        let requests = requests as f64;
        ((requests - self.k * accepts as f64) / (requests + 1.0)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Decode, Document};
    use crate::rng::{Draws, Key, Purpose};

    const GOOGLE: Throttle = Throttle {
        k: 2.0,
        window: SimDuration::from_secs(120),
        scope: Scope::Client,
    };

    fn at(secs: f64) -> SimTime {
        SimTime::ZERO + SimDuration::from_secs_f64(secs)
    }

    #[test]
    fn every_attempt_counts_as_wanted_whether_it_is_sent_or_not() {
        let mut state = GOOGLE.fresh();
        assert!(GOOGLE.admit(&mut state, at(0.0), 0.0), "the first is free");
        for wanted in 1..10 {
            let wanted = f64::from(wanted);
            let rejects = GOOGLE.rejects(&state, at(1.0));
            assert_eq!(rejects, wanted / (wanted + 1.0));
            let luck = if wanted < 5.0 { rejects } else { 0.0 };
            assert_eq!(GOOGLE.admit(&mut state, at(1.0), luck), wanted < 5.0);
        }
    }

    #[test]
    fn nothing_is_turned_away_while_half_is_accepted_and_old_counts_are_forgotten() {
        let mut state = GOOGLE.fresh();
        (0..10).for_each(|_| assert!(GOOGLE.admit(&mut state, at(0.0), 0.999)));
        (0..10).for_each(|i| GOOGLE.note(&mut state, at(60.0), i < 5));
        assert_eq!(GOOGLE.rejects(&state, at(60.0)), 0.0);
        GOOGLE.admit(&mut state, at(60.0), 0.0);
        assert_eq!(GOOGLE.rejects(&state, at(60.0)), 1.0 / 12.0);
        assert_eq!(
            GOOGLE.rejects(&state, at(120.0)),
            0.0,
            "one was wanted, five were accepted"
        );
        assert_eq!(state, state.clone());
    }

    /// Mean and standard error.
    fn estimate(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (mean, (squares / (n - 1.0) / n).sqrt())
    }

    fn agrees(values: &[f64], theory: f64, small: f64) {
        let (mean, error) = estimate(values);
        assert!(error < small * theory, "{mean} ± {error} has no teeth");
        assert!(
            (mean - theory).abs() < 4.0 * error,
            "{mean} ± {error}, not {theory}"
        );
    }

    /// Attempts sent and accepted per second over `secs` after ten windows, against a service whose answer is `accept`.
    fn run(
        draws: &mut Draws,
        secs: f64,
        mut gap: impl FnMut(&mut Draws) -> f64,
        mut accept: impl FnMut(f64) -> bool,
    ) -> (f64, f64) {
        let warm = 10.0 * GOOGLE.window.as_secs_f64();
        let (mut state, mut now, mut sent, mut accepted) = (GOOGLE.fresh(), 0.0, 0, 0);
        while now < warm + secs {
            now += gap(draws);
            if GOOGLE.admit(&mut state, at(now), draws.unit()) {
                let taken = accept(now);
                GOOGLE.note(&mut state, at(now), taken);
                sent += u32::from(now > warm);
                accepted += u32::from(taken && now > warm);
            }
        }
        (f64::from(sent) / secs, f64::from(accepted) / secs)
    }

    #[test]
    fn twice_what_an_overloaded_service_accepts_is_sent() {
        // 1 000 attempts a second; the service accepts 100 a second from a bucket one second deep. Sent: K C = 200.
        let runs: Vec<(f64, f64)> = (0..6)
            .map(|i| {
                let mut draws = Key::root(11, i).draws(Purpose::Failure);
                let (mut tokens, mut since) = (100.0_f64, 0.0);
                let accept = |now: f64| {
                    tokens = f64::min(tokens + 100.0 * (now - since), 100.0);
                    since = now;
                    let taken = tokens >= 1.0;
                    tokens -= f64::from(u8::from(taken));
                    taken
                };
                run(&mut draws, 960.0, |_| 0.001, accept)
            })
            .collect();
        let sent: Vec<f64> = runs.iter().map(|run| run.0).collect();
        agrees(&sent, 200.0, 0.005);
        let away: Vec<f64> = sent.iter().map(|sent| 1.0 - sent / 1_000.0).collect();
        agrees(&away, 0.8, 0.005);
        assert!(runs.iter().all(|run| (run.1 - 100.0).abs() < 0.5));
    }

    #[test]
    fn about_one_probe_a_window_goes_to_a_service_that_fails_altogether() {
        // 50 attempts a second, Poisson. Sent: λ E[1 / (N + 1)] = (1 − exp(−λ W)) / W.
        let sent: Vec<f64> = (0..8)
            .map(|i| {
                let mut draws = Key::root(12, i).draws(Purpose::Arrival);
                let gap = |draws: &mut Draws| -(1.0 - draws.unit()).ln() / 50.0;
                run(&mut draws, 36_000.0, gap, |_| false).0
            })
            .collect();
        agrees(&sent, 1.0 / 120.0, 0.03);
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        for (text, problems) in [
            ("", 0),
            ("k = 1.1\nscope = \"shared\"", 0),
            ("k = 0.9", 1),
            ("k = -1e300\nwindow = \"0s\"", 2),
        ] {
            let document = Document::parse("a.toml", text).unwrap();
            let mut reader = Reader::new();
            assert!(Throttle::decode(&document.root, &mut reader).is_some());
            assert_eq!(reader.into_problems().len(), problems, "{text}");
        }
    }

    #[test]
    fn a_state_is_small_and_the_numbers_never_overflow() {
        assert_eq!(size_of::<Throttled>(), 8);
        assert_eq!(size_of::<Window<2>>(), 48);
        let throttle = Throttle {
            k: f64::MAX,
            ..GOOGLE
        };
        assert_eq!(throttle.probability([u64::MAX, u64::MAX]), 0.0);
        let rejects = throttle.probability([u64::MAX, 0]);
        assert!((0.0..=1.0).contains(&rejects), "{rejects}");
    }
}
