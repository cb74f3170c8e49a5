//! Delays as they follow each other: what is remembered between retries, and what is known of every delay.

use super::backoff::Backoff;
use super::law::Law;
use super::shape::Shape;
use super::shape::StateOwner;
use super::state::BackoffState;
use crate::rng::Draws;
use crate::time::SimDuration;

/// The number of a retry within the range of the state; retry 0 counts as the first.
pub(super) fn ordinal(retry: u64) -> u32 {
    u32::try_from(retry.max(1)).unwrap_or(u32::MAX)
}

impl Backoff {
    /// The delay before the next retry of the owner of `state`; notes the retry there.
    #[inline]
    pub fn next_delay(&self, state: &mut BackoffState, draws: &mut Draws) -> SimDuration {
        state.retries = state.retries.saturating_add(1);
        let nominal = self.nominal(state.retries).draw(state, draws);
        let shape = self.shape();
        match shape.first {
            Some(first) if state.retries == 1 => first,
            _ => shape.finish(nominal, self.cap(), draws),
        }
    }

    /// The least and the greatest delay before retry `retry` = 1, 2, …, both included.
    ///
    /// A law without an upper end (memoryless, lognormal jitter) gives [`SimDuration::MAX`].
    pub fn bounds(&self, retry: u64) -> (SimDuration, SimDuration) {
        let n = ordinal(retry);
        let shape = self.shape();
        match shape.first {
            Some(first) if n == 1 => (first, first),
            _ => shape.finish_range(self.nominal(n).range(n), self.cap()),
        }
    }

    /// Whether every delay is known in advance.
    pub fn is_deterministic(&self) -> bool {
        let known = matches!(self.nominal(1).law(), Some(Law::Point(_)));
        known && self.shape().jitter.is_trivial() || self.constant().is_some()
    }

    /// Whether the state lives on in the client from request to request.
    pub fn uses_client_state(&self) -> bool {
        matches!(self.shape().state, StateOwner::Client(_))
    }

    /// The mean, when every delay is exponentially distributed with the same one and nothing is laid on it.
    pub fn memoryless(&self) -> Option<SimDuration> {
        match self {
            Self::Memoryless(form) if form.shape == Shape::PLAIN => Some(form.mean),
            _ => None,
        }
    }

    /// The delay, when every retry waits the same known time.
    pub fn constant(&self) -> Option<SimDuration> {
        let delay = self.bounds(1).0;
        self.landmarks()
            .all(|retry| self.bounds(retry) == (delay, delay))
            .then_some(delay)
    }

    /// The least delay over all retries.
    pub fn least(&self) -> SimDuration {
        self.landmarks()
            .map(|retry| self.bounds(retry).0)
            .min()
            .unwrap_or_default()
    }

    /// Retries that show all there is to know about least and greatest delays: from the second retry on
    /// (`first` may stand out) every form but the list only grows or only shrinks.
    fn landmarks(&self) -> impl Iterator<Item = u64> {
        let listed = match self {
            Self::List(form) => form.delays.len() as u64,
            _ => 2,
        };
        (1..=listed.max(2)).chain([u64::MAX])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Decorrelated;
    use crate::policy::testing::{backoff, every_combination};
    use crate::rng::{Key, Purpose};
    use proptest::prelude::*;

    fn draws(index: u64) -> Draws {
        Key::root(11, 0).child(index).draws(Purpose::Backoff)
    }

    /// The first delays of one request, in milliseconds.
    fn schedule(text: &str, retries: u64) -> Vec<f64> {
        let backoff = backoff(text);
        let mut state = BackoffState::default();
        (0..retries)
            .map(|i| {
                backoff
                    .next_delay(&mut state, &mut draws(i))
                    .as_millis_f64()
            })
            .collect()
    }

    #[test]
    fn forms_follow_their_formulas() {
        for (text, expected) in [
            ("\"immediate\"", vec![0.0, 0.0, 0.0]),
            ("{ fixed.delay = \"1s\" }", vec![1e3, 1e3, 1e3]),
            ("{ linear.base = \"100ms\" }", vec![100.0, 200.0, 300.0]),
            (
                "{ linear = { base = \"100ms\", step = \"30ms\", cap = \"150ms\" } }",
                vec![100.0, 130.0, 150.0, 150.0],
            ),
            (
                "{ exponential = { base = \"100ms\", cap = \"500ms\" } }",
                vec![100.0, 200.0, 400.0, 500.0],
            ),
            (
                "{ exponential = { base = \"5ms\", start = 1 } }",
                vec![10.0, 20.0, 40.0],
            ),
            (
                "{ exponential = { base = \"1s\", factor = 1.5, rounding = \"floor_ms\" } }",
                vec![1e3, 1500.0, 2250.0, 3375.0, 5062.0],
            ),
            (
                "{ fibonacci = { base = \"10ms\", cap = \"60ms\" } }",
                vec![10.0, 10.0, 20.0, 30.0, 50.0, 60.0],
            ),
            (
                "{ polynomial = { base = \"1s\", power = 4 } }",
                vec![1e3, 16e3, 81e3, 256e3],
            ),
            (
                "{ list.delays = [\"0s\", \"2s\"] }",
                vec![0.0, 2e3, 2e3, 2e3],
            ),
        ] {
            assert_eq!(schedule(text, expected.len() as u64), expected, "{text}");
        }
    }

    #[test]
    fn a_published_reconnect_schedule_is_reproduced() {
        // gRPC connection backoff: 1 s, factor 1.6, cap 120 s, ±20 % after the cap.
        let text = "{ exponential = { base = \"1s\", factor = 1.6, cap = \"120s\" } }";
        let published = [
            1.0, 1.6, 2.56, 4.10, 6.55, 10.49, 16.78, 26.84, 42.95, 68.72, 109.95, 120.0, 120.0,
        ];
        for (delay, expected) in schedule(text, 13).iter().zip(published) {
            assert!((delay / 1e3 - expected).abs() < 0.006, "{delay}");
        }
        let jittered =
            backoff(&text.replace("\"120s\"", "\"120s\", jitter.proportional.ratio = 0.2"));
        let ends = (SimDuration::from_secs(96), SimDuration::from_secs(144));
        assert_eq!(jittered.bounds(12), ends);
        assert_eq!(jittered.bounds(u64::MAX), ends);
        let hard = text.replace(
            "\"120s\"",
            "\"120s\", jitter.proportional.ratio = 0.2, cap_order = \"after_jitter\"",
        );
        assert_eq!(backoff(&hard).bounds(11).1, SimDuration::from_secs(120));
    }

    #[test]
    fn a_free_first_retry_moves_nothing_else() {
        // urllib3: 0, then factor · 2^(n−1) up to 120 s.
        let text = "{ exponential = { base = \"100ms\", cap = \"120s\", first = \"0s\" } }";
        let expected = [0.0, 200.0, 400.0, 800.0, 1600.0, 3200.0];
        assert_eq!(schedule(text, 6), expected);
        assert_eq!(schedule(text, 20)[19], 120e3);
        let free = text.replace("100ms", "0s");
        assert_eq!(schedule(&free, 10), [0.0; 10]);
        let jittered = text.replace(
            "0s\" }",
            "1s\", jitter = \"full\", rounding = \"floor_ms\" }",
        );
        assert_eq!(schedule(&jittered, 1), [1e3]);
    }

    #[test]
    fn endless_retrying_at_a_cap_stays_there() {
        let capped = backoff("{ exponential = { base = \"1s\", cap = \"60s\" } }");
        let open = backoff("{ exponential = { base = \"1s\", factor = 5 } }");
        let doubling = backoff("{ exponential.base = \"1ns\" }");
        let vanishing = backoff("{ exponential = { base = \"1s\", factor = 0 } }");
        for n in [
            70,
            1_000,
            1_025,
            10_000,
            1_000_000,
            u64::from(u32::MAX),
            u64::MAX,
        ] {
            assert_eq!(capped.bounds(n).0, SimDuration::from_secs(60));
            assert_eq!(open.bounds(n).0, SimDuration::MAX);
            assert_eq!(doubling.bounds(n).0, SimDuration::MAX);
            assert_eq!(vanishing.bounds(n).1, SimDuration::ZERO);
        }
        assert_eq!(vanishing.bounds(1).0, SimDuration::from_secs(1));
        assert_eq!(doubling.bounds(64).0, SimDuration::from_nanos(1 << 63));
        assert_eq!(doubling.bounds(65).0, SimDuration::MAX);
        let mut state = BackoffState {
            retries: u32::MAX,
            ..BackoffState::default()
        };
        assert_eq!(
            capped.next_delay(&mut state, &mut draws(0)),
            SimDuration::from_secs(60)
        );
        assert_eq!(state.retries, u32::MAX);
    }

    #[test]
    fn the_capped_decorrelated_delay_is_remembered() {
        let form = backoff("{ decorrelated = { base = \"100ms\", cap = \"400ms\" } }");
        let Backoff::Decorrelated(Decorrelated { base, cap, .. }) = form else {
            panic!("a decorrelated backoff");
        };
        let mut capped = 0;
        for request in 0..1_000 {
            let mut state = BackoffState::default();
            for retry in 0..20 {
                let upper = SimDuration::from_nanos(3 * state.previous.max(base).as_nanos());
                let delay = form.next_delay(&mut state, &mut draws(100 * request + retry));
                assert!(base <= delay && delay <= upper.min(cap));
                assert_eq!(state.previous, delay);
                capped += u32::from(delay == cap);
            }
        }
        assert!(capped > 5_000, "{capped}");
    }

    #[test]
    fn what_can_be_told_in_advance_is_told() {
        let told = |text: &str| {
            let it = backoff(text);
            (
                it.is_deterministic(),
                it.constant().map(SimDuration::as_millis_f64),
                it.least().as_millis_f64(),
            )
        };
        assert_eq!(told("\"immediate\""), (true, Some(0.0), 0.0));
        assert_eq!(told("{ fixed.delay = \"1s\" }"), (true, Some(1e3), 1e3));
        assert_eq!(
            told("{ fixed = { delay = \"1s\", first = \"0s\" } }"),
            (true, None, 0.0)
        );
        assert_eq!(
            told("{ fixed = { delay = \"1s\", jitter = \"equal\" } }"),
            (false, None, 500.0)
        );
        assert_eq!(
            told("{ fixed = { delay = \"0s\", jitter = \"full\" } }"),
            (true, Some(0.0), 0.0)
        );
        assert_eq!(
            told("{ list.delays = [\"2s\", \"1s\", \"3s\"] }"),
            (true, None, 1e3)
        );
        assert_eq!(
            told("{ list.delays = [\"2s\", \"2s\", \"2s\"] }"),
            (true, Some(2e3), 2e3)
        );
        assert_eq!(
            told("{ exponential = { base = \"1s\", factor = 0.5 } }"),
            (true, None, 0.0)
        );
        assert_eq!(
            told("{ exponential = { base = \"1s\", factor = 1 } }"),
            (true, Some(1e3), 1e3)
        );
        assert_eq!(
            told("{ exponential = { base = \"2s\", cap = \"1s\" } }"),
            (true, Some(1e3), 1e3)
        );
        assert_eq!(
            told("{ uniform = { min = \"1s\", max = \"2s\" } }"),
            (false, None, 1e3)
        );
        assert_eq!(told("{ memoryless.mean = \"1s\" }"), (false, None, 0.0));
        assert_eq!(
            told("{ decorrelated = { base = \"1s\", cap = \"2s\" } }"),
            (false, None, 1e3)
        );
        assert_eq!(
            told("{ decorrelated = { base = \"1s\", cap = \"2s\", factor = 1 } }"),
            (true, Some(1e3), 1e3)
        );
        // Every delay from some retry on is cut to 1 ms, but not those between.
        let cut = "{ exponential = { base = \"100ns\", cap = \"1ms\", cap_order = \"after_jitter\", jitter = \"equal\", rounding = \"floor_ms\" } }";
        assert_eq!(told(cut), (false, None, 0.0));
        assert!(backoff("{ fixed = { delay = \"1s\", state = \"client\" } }").uses_client_state());
        assert!(!backoff("{ fixed.delay = \"1s\" }").uses_client_state());
    }

    #[test]
    fn a_state_is_sixteen_bytes() {
        assert!(size_of::<BackoffState>() <= 16);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]
        #[test]
        fn delays_stay_within_bounds_whatever_the_settings(
            combination in 0..every_combination(1, 1, 1.0, 0).len(),
            base in 0..=crate::units::LONGEST.as_nanos(),
            cap in prop_oneof![0..1_000_000_000u64, 0..=crate::units::LONGEST.as_nanos()],
            factor in prop_oneof![0.0..4.0, 0.0..1e300f64],
            start in prop_oneof![0..3u32, any::<u32>()],
            made in prop_oneof![0..10u32, 0..1_000_000u32, any::<u32>()],
            seed in any::<u64>(),
        ) {
            let backoff = every_combination(base, cap, factor, start).swap_remove(combination);
            let mut state = BackoffState { retries: made, previous: SimDuration::ZERO };
            let mut draws = draws(seed);
            for _ in 0..4 {
                let delay = backoff.next_delay(&mut state, &mut draws);
                let (least, greatest) = backoff.bounds(u64::from(state.retries));
                prop_assert!(least <= delay && delay <= greatest,
                    "{backoff:?} retry {}: {delay} outside {least} to {greatest}", state.retries);
                prop_assert!(backoff.least() <= delay);
                prop_assert!(backoff.constant().is_none_or(|constant| constant == delay));
                prop_assert!(!backoff.is_deterministic() || least == greatest);
            }
        }
    }
}
