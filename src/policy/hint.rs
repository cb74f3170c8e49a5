//! What a client makes of a delay that the server told it.
//!
//! A refusal may come with a time to return, as in the field Retry-After of HTTP, and clients that go by one standard
//! read it in different ways: as the wait itself, as its floor, as its ceiling, as a centre to scatter around. The
//! readings differ most when many clients are refused at once. A time that all of them obey to the letter brings them
//! back together; one that is scattered to both sides brings half of them back too early.

use crate::decode::{Check, Reader};
use crate::time::SimDuration;
use crate::{choice, record};

record! {
    /// The delay that the server told, kept within bounds around the own one.
    #[derive(Copy)]
    pub struct Clamp {
        /// How much longer than the own delay the wait may be.
        more: SimDuration,
    }
}
impl Check for Clamp {}

record! {
    /// The delay that the server told, and a random time more.
    #[derive(Copy)]
    pub struct Plus {
        /// The most that is added, drawn uniformly from zero on.
        jitter: SimDuration,
    }
}
impl Check for Plus {}

record! {
    /// The delay that the server told, times a random number.
    #[derive(Copy)]
    pub struct Scale {
        /// The least factor, zero or more.
        low: f64 = 1.0,
        /// The greatest factor, above zero.
        high: f64 = 1.5,
    }
}

impl Check for Scale {
    fn check(&self, reader: &mut Reader) {
        if !(0.0 <= self.low && self.low <= self.high && self.high > 0.0) {
            let reason = format!("no factor lies between {} and {}", self.low, self.high);
            let remedy = "give 0 <= low <= high and high > 0, like 1 and 1.5";
            reader.error_at(&["low", "high"], reason, remedy);
        }
    }
}

choice! {
    /// How a told delay and the own one make a wait. U(a, b) is uniform from a to b.
    #[derive(Copy)]
    pub enum Heed as "way to heed a told delay" {
        /// The own delay, whatever was told.
        Ignore = "ignore", r#""ignore""#;
        /// The told delay, exactly.
        Replace = "replace", r#""replace""#;
        /// The own delay, but no less than the told one.
        Max = "max", r#""max""#;
        /// The own delay, but no more than the told one.
        Min = "min", r#""min""#;
        /// The told delay, kept between the own one and the own one + more.
        Clamp(Clamp) = "clamp", r#"{ clamp = { more = "5s" } }"#;
        /// The told delay + U(0, jitter).
        Plus(Plus) = "plus", r#"{ plus = { jitter = "30s" } }"#;
        /// The told delay · U(low, high), U(1, 1.5) unless said otherwise.
        Scale(Scale) = "scale", r#"{ scale = { low = 1, high = 1.5 } }"#;
    }
}

choice! {
    /// What to do with a told delay above the ceiling.
    #[derive(Copy)]
    pub enum AboveCeiling as "answer to a told delay above the ceiling" {
        /// Take the ceiling for it.
        Cap = "cap", r#""cap""#;
        /// Take the own delay, as if nothing had been told.
        Ignore = "ignore", r#""ignore""#;
        /// Give the request up.
        Abort = "abort", r#""abort""#;
    }
}

record! {
    /// What a client makes of a delay that the server told it.
    #[derive(Copy)]
    pub struct Hints {
        /// How the told delay and the own one make a wait.
        heed: Heed,
        /// The longest delay that the client lets itself be told, before any jitter is laid on it; none when left out.
        ceiling: Option<SimDuration> = None,
        /// What to do with a told delay above the ceiling.
        above_ceiling: AboveCeiling = AboveCeiling::Cap,
        /// Whether the own backoff starts anew after a told delay that was obeyed.
        resets: bool = false,
    }
}

impl Default for Hints {
    /// Told delays are ignored.
    fn default() -> Self {
        Self {
            heed: Heed::Ignore,
            ceiling: None,
            above_ceiling: AboveCeiling::Cap,
            resets: false,
        }
    }
}

impl Check for Hints {
    fn check(&self, reader: &mut Reader) {
        let told = match (self.heed, self.ceiling, self.above_ceiling) {
            (Heed::Ignore, None, AboveCeiling::Cap) if !self.resets => return,
            (Heed::Ignore, ..) => "a told delay is ignored, so nothing else about it has an effect",
            (_, None, AboveCeiling::Ignore | AboveCeiling::Abort) => {
                "without a ceiling no told delay is above it"
            }
            (_, Some(SimDuration::ZERO), _) => "every told delay is above a ceiling of no time",
            _ => return,
        };
        let keys = ["ceiling", "above_ceiling", "resets", "heed"];
        reader.warn_at(&keys, told, "give a `ceiling`, or leave these settings out");
    }
}

/// What to do after a failure that may have come with a told delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Try again after this wait.
    Wait(SimDuration),
    /// Give the request up: the server told a longer delay than the client will bear.
    Abort,
}

impl Hints {
    /// The wait that the own delay and a told one make. `luck` is uniform in [0, 1).
    ///
    /// With nothing told it is `own`. Otherwise, with h the told delay or the ceiling if that is less, it is at most
    /// `own` (ignore, min), h (replace), the greater of both (max), `own` + more (clamp), h + jitter (plus) or
    /// h · high (scale); for ever is the most there is.
    #[inline]
    pub fn delay(&self, own: SimDuration, hint: Option<SimDuration>, luck: f64) -> Told {
        let Some(hint) = hint else {
            return Told::Wait(own);
        };
        let hint = match (self.ceiling, self.above_ceiling) {
            _ if !self.heeds(hint) => return Told::Wait(own),
            (Some(ceiling), AboveCeiling::Abort) if hint > ceiling => return Told::Abort,
            (Some(ceiling), _) => hint.min(ceiling),
            (None, _) => hint,
        };
        Told::Wait(match self.heed {
            Heed::Ignore => own,
            Heed::Replace => hint,
            Heed::Max => own.max(hint),
            Heed::Min => own.min(hint),
            Heed::Clamp(Clamp { more }) => hint.clamp(own, own + more),
            Heed::Plus(Plus { jitter }) => hint + jitter.scale(luck).min(jitter),
            Heed::Scale(Scale { low, high }) => hint.scale((low + luck * (high - low)).min(high)),
        })
    }

    /// Whether this told delay has a say, rather than being ignored for itself or for its length.
    #[inline]
    pub fn heeds(&self, hint: SimDuration) -> bool {
        let too_long = self.ceiling.is_some_and(|ceiling| hint > ceiling);
        self.heed != Heed::Ignore && !(too_long && self.above_ceiling == AboveCeiling::Ignore)
    }

    /// Whether told delays are ignored.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the own backoff starts anew after a told delay that [has a say](Self::heeds).
    pub fn resets(&self) -> bool {
        self.resets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Choice, Decode, Document};
    use crate::rng::{Key, Purpose};
    use proptest::prelude::*;

    const NONE: SimDuration = SimDuration::ZERO;

    fn hints(heed: Heed) -> Hints {
        Hints {
            heed,
            ceiling: None,
            above_ceiling: AboveCeiling::Cap,
            resets: false,
        }
    }

    fn secs(secs: u64) -> SimDuration {
        SimDuration::from_secs(secs)
    }

    fn unit(client: u64, purpose: Purpose) -> f64 {
        Key::root(21, client).draws(purpose).unit()
    }

    #[test]
    fn every_way_to_heed_has_its_wait() {
        let (clamp, plus) = (Clamp { more: secs(5) }, Plus { jitter: secs(8) });
        let scale = Scale {
            low: 1.0,
            high: 2.0,
        };
        for (heed, short, long) in [
            (Heed::Ignore, 10, 10),
            (Heed::Replace, 4, 40),
            (Heed::Max, 10, 40),
            (Heed::Min, 4, 10),
            (Heed::Clamp(clamp), 10, 15),
            (Heed::Plus(plus), 8, 44),
            (Heed::Scale(scale), 6, 60),
        ] {
            let hints = hints(heed);
            let wait = |hint| hints.delay(secs(10), hint, 0.5);
            assert_eq!(wait(None), Told::Wait(secs(10)), "{heed:?}");
            assert_eq!(wait(Some(secs(4))), Told::Wait(secs(short)), "{heed:?}");
            assert_eq!(wait(Some(secs(40))), Told::Wait(secs(long)), "{heed:?}");
        }
    }

    #[test]
    fn a_told_delay_above_the_ceiling_is_cut_or_ignored_or_ends_the_request() {
        for (above_ceiling, told, heeded) in [
            (AboveCeiling::Cap, Told::Wait(secs(30)), true),
            (AboveCeiling::Ignore, Told::Wait(secs(1)), false),
            (AboveCeiling::Abort, Told::Abort, true),
        ] {
            let hints = Hints {
                ceiling: Some(secs(30)),
                above_ceiling,
                ..hints(Heed::Replace)
            };
            let at = Told::Wait(secs(30));
            assert_eq!(hints.delay(secs(1), Some(secs(30)), 0.0), at);
            assert_eq!(hints.delay(secs(1), Some(secs(31)), 0.0), told);
            assert_eq!(hints.heeds(secs(31)), heeded);
            let ignores = Hints {
                heed: Heed::Ignore,
                ..hints
            };
            let own = Told::Wait(secs(1));
            assert_eq!(ignores.delay(secs(1), Some(secs(31)), 0.0), own);
        }
    }

    /// Arrivals in each second after the refusal of 1 000 clients whose own delay is U(0, 32 s).
    fn arrivals(heed: Heed, told: impl Fn(u64) -> Option<SimDuration>) -> Vec<u32> {
        let mut bins = vec![0; 200];
        for client in 0..1_000 {
            let own = secs(32).scale(unit(client, Purpose::Backoff));
            let luck = unit(client, Purpose::Jitter);
            let Told::Wait(wait) = hints(heed).delay(own, told(client), luck) else {
                panic!("no ceiling was given");
            };
            bins[wait.as_secs_f64() as usize] += 1;
        }
        bins
    }

    /// Asserts that 1 000 arrivals are spread evenly over these bins.
    fn even(bins: &[u32], from: usize, to: usize) {
        let inside = &bins[from..to];
        assert_eq!(inside.iter().sum::<u32>(), 1_000);
        let mean = 1_000.0 / inside.len() as f64;
        let far = inside.iter().map(|&count| (f64::from(count) - mean).abs());
        let most = far.fold(0.0, f64::max);
        assert!(most < 4.0 * mean.sqrt(), "{inside:?}");
    }

    #[test]
    fn clients_that_obey_come_back_together_unless_somebody_adds_jitter() {
        let told = |_| Some(secs(60));
        let all = arrivals(Heed::Max, told);
        assert_eq!((all[60], all.iter().sum::<u32>()), (1_000, 1_000));
        let plus = Heed::Plus(Plus { jitter: secs(30) });
        even(&arrivals(plus, told), 60, 90);
        let varied = |client| Some(secs(60).scale(0.75 + 0.5 * unit(client, Purpose::Response)));
        even(&arrivals(Heed::Max, varied), 45, 75);
        even(&arrivals(Heed::Max, |_| None), 0, 32);
    }

    /// Refusals and seconds until a call is late enough, when the server restarts its window at every early call;
    /// 100 refusals at the most.
    fn until_accepted(heed: Heed, window: SimDuration, client: u64) -> (u32, f64) {
        let mut draws = Key::root(22, client).draws(Purpose::Jitter);
        let mut waited = 0.0;
        for refusals in 0..100 {
            let own = window.scale(0.5 * draws.unit());
            let Told::Wait(wait) = hints(heed).delay(own, Some(window), draws.unit()) else {
                panic!("no ceiling was given");
            };
            waited += wait.as_secs_f64();
            if wait >= window {
                return (refusals, waited);
            }
        }
        (100, waited)
    }

    #[test]
    fn a_floor_is_never_early_a_bound_always_and_a_centre_every_other_time() {
        let centre = Scale {
            low: 0.5,
            high: 1.5,
        };
        for window in [secs(1), secs(30)] {
            let n = 10_000;
            let all = |heed| (0..n).map(move |client| until_accepted(heed, window, client));
            assert!(all(Heed::Max).all(|end| end == (0, window.as_secs_f64())));
            assert!(all(Heed::Min).all(|end| end.0 == 100));
            let scaled: Vec<(u32, f64)> = all(Heed::Scale(centre)).collect();
            let n = n as f64;
            // Early with probability 1/2 each time: refusals are geometric, with mean 1 and variance 2.
            let early = scaled.iter().filter(|end| end.0 > 0).count() as f64;
            assert!((early / n - 0.5).abs() < 4.0 * 0.5 / n.sqrt(), "{early}");
            let refusals: u32 = scaled.iter().map(|end| end.0).sum();
            let refusals = f64::from(refusals) / n;
            assert!(
                (refusals - 1.0).abs() < 4.0 * (2.0 / n).sqrt(),
                "{refusals}"
            );
            // Two waits of one window on average (Wald); their sum has a variance below 3.
            let waited: f64 = scaled.iter().map(|end| end.1).sum();
            let windows = waited / n / window.as_secs_f64();
            assert!((windows - 2.0).abs() < 4.0 * (3.0 / n).sqrt(), "{windows}");
        }
    }

    fn durations() -> impl Strategy<Value = SimDuration> {
        prop_oneof![Just(0), Just(u64::MAX), 0..100_u64, any::<u64>()]
            .prop_map(SimDuration::from_nanos)
    }

    fn heeds() -> impl Strategy<Value = Heed> {
        let factor = || prop_oneof![0.0..3.0_f64, Just(f64::MAX), Just(0.0)];
        prop_oneof![
            Just(Heed::Ignore),
            Just(Heed::Replace),
            Just(Heed::Max),
            Just(Heed::Min),
            durations().prop_map(|more| Heed::Clamp(Clamp { more })),
            durations().prop_map(|jitter| Heed::Plus(Plus { jitter })),
            (factor(), factor()).prop_map(|(a, b)| Heed::Scale(Scale {
                low: a.min(b),
                high: a.max(b)
            })),
        ]
    }

    proptest! {
        #[test]
        fn no_wait_leaves_its_bounds(
            heed in heeds(),
            own in durations(),
            told in durations(),
            ceiling in prop::option::of(durations()),
            luck in prop_oneof![0.0..1.0_f64, Just(0.0), Just(1.0 - f64::EPSILON / 2.0)],
        ) {
            let hints = Hints { ceiling, ..hints(heed) };
            let h = ceiling.map_or(told, |ceiling| told.min(ceiling));
            let (least, most) = match heed {
                Heed::Ignore => (own, own),
                Heed::Replace => (h, h),
                Heed::Max => (own.max(h), own.max(h)),
                Heed::Min => (own.min(h), own.min(h)),
                Heed::Clamp(Clamp { more }) => (own, own + more),
                Heed::Plus(Plus { jitter }) => (h, h + jitter),
                Heed::Scale(Scale { low, high }) => (h.scale(low), h.scale(high)),
            };
            let Told::Wait(wait) = hints.delay(own, Some(told), luck) else {
                panic!("nothing ends the request");
            };
            prop_assert!(least <= wait && wait <= most, "{least} {wait} {most}");
        }
    }

    #[test]
    fn examples_read_back_and_settings_without_sense_are_reported() {
        let read = |text: &str| {
            let document = Document::parse("a.toml", text).unwrap();
            let mut reader = Reader::new();
            let hints = Hints::decode(&document.root, &mut reader);
            (hints, reader.into_problems().len())
        };
        for doc in Heed::VARIANTS {
            let (hints, problems) = read(&format!("heed = {}", doc.example));
            assert_eq!(problems, 0, "{}", doc.name);
            let text = toml::to_string(&hints).unwrap();
            assert_eq!(read(&text), (hints, 0), "{text}");
        }
        for (text, problems) in [
            ("heed = \"max\"\nceiling = \"1m\"\nresets = true", 0),
            ("heed = \"max\"\nabove_ceiling = \"abort\"", 1),
            ("heed = \"max\"\nceiling = \"0s\"", 1),
            ("heed = \"ignore\"\nresets = true", 1),
            ("heed.scale = { low = 2 }", 1),
            ("heed.scale = { low = -1 }", 1),
            ("heed.scale = { low = 0, high = 0 }", 1),
            ("", 1),
        ] {
            assert_eq!(read(text).1, problems, "{text}");
        }
        assert_eq!(
            hints(Heed::Min).delay(NONE, Some(NONE), 0.9),
            Told::Wait(NONE)
        );
        assert!(!hints(Heed::Max).resets());
    }
}
