//! Which part of a run counts, where the scenario does not say.
//!
//! A run that starts empty is too good at first, so steady traffic gets a warm-up. Traffic whose beginning is the
//! question, a herd or a recorded morning, gets none, and a fault gets as long before it as the warm-up took.

use super::spec::ScenarioSpec;
use crate::model::Arrivals;
use crate::time::SimDuration;

/// The warm-up is this part of the duration, where nothing shortens it.
const PART: u64 = 10;
/// So much of the time before the first fault is left for the baseline.
const BEFORE_FAULT: u64 = 2;

impl ScenarioSpec {
    /// Puts the chosen warm-up and bin width where none are set, so that the resolved scenario states them.
    pub(super) fn choose_windows(&mut self) {
        let warmup = self.usual_warmup();
        self.run.warmup.get_or_insert(warmup);
        let bin = self.run.bin_width();
        self.run.bin.get_or_insert(bin);
    }

    /// A tenth of the duration, and at most half the time before the first fault; none when traffic begins with a
    /// shape of its own. Whole milliseconds.
    fn usual_warmup(&self) -> SimDuration {
        let steady = |arrivals: &Arrivals| {
            matches!(
                arrivals,
                Arrivals::Poisson(_) | Arrivals::Periodic(_) | Arrivals::ClosedLoop(_)
            )
        };
        if !self.clients.0.iter().all(|group| steady(&group.arrivals)) {
            return SimDuration::ZERO;
        }
        let first_fault = self.fault.iter().map(|fault| fault.at.as_nanos()).min();
        let tenth = self.run.duration.as_nanos() / PART;
        let warmup = first_fault.map_or(tenth, |at| tenth.min(at / BEFORE_FAULT));
        SimDuration::from_millis(warmup / 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;
    use std::path::Path;

    fn warmup(run: &str, arrivals: &str, more: &str) -> String {
        let text = format!(
            "[run]\nduration = \"120s\"\n{run}\n[clients]\ncount = 10\narrivals.{arrivals}\n\
             [service.api]\nworkers = 1\nservice_time = \"1ms\"\n[[strategy]]\nname = \"s\"\nmax_attempts = 1\n{more}"
        );
        let scenario = Scenario::parse("w", &text, Path::new(".")).expect("it is sound");
        scenario.spec.run.warmup.expect("it is chosen").to_string()
    }

    #[test]
    fn steady_traffic_warms_up_for_a_tenth_and_stays_clear_of_faults() {
        let poisson = "poisson = { rate = \"10/s\" }";
        assert_eq!(warmup("", poisson, ""), "12s");
        let fault =
            |at: &str| format!("[[fault]]\nat = \"{at}\"\nlasts = \"1s\"\nerror_rate = \"10%\"\n");
        assert_eq!(warmup("", poisson, &fault("60s")), "12s");
        assert_eq!(warmup("", poisson, &fault("20s")), "10s");
        assert_eq!(warmup("", poisson, &fault("0s")), "0s");
        assert_eq!(warmup("warmup = \"1s\"", poisson, ""), "1s");
    }

    #[test]
    fn traffic_with_a_beginning_has_no_warm_up() {
        assert_eq!(warmup("", "burst = { at = \"0s\" }", ""), "0s");
    }
}
