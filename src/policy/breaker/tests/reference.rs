//! Any settings under any course of events, against a breaker that keeps the whole past in plain lists and counts it
//! anew each time.

use super::plan::{Plan, Rule, Step, planned, plans, steps};
use super::*;
use proptest::prelude::*;

#[derive(Clone, Copy)]
struct Sent {
    epoch: usize,
    at: u64,
    /// Failed, slow.
    end: Option<(bool, bool)>,
}

struct Reference {
    plan: Plan,
    phase: Phase,
    /// Phases so far.
    epoch: usize,
    until: u64,
    length: u64,
    /// When it closed, if it was ever open.
    closed_at: Option<u64>,
    /// All results counted while closed: when, failed, slow.
    results: Vec<(u64, bool, bool)>,
    /// Everything ever let in.
    sent: Vec<Sent>,
}

impl Reference {
    fn new(plan: &Plan) -> Self {
        Self {
            plan: plan.clone(),
            phase: Phase::Closed,
            epoch: 0,
            until: 0,
            length: plan.open_for,
            closed_at: None,
            results: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn probes(&self) -> impl Iterator<Item = &Sent> {
        let of_now = self.phase == Phase::HalfOpen;
        self.sent
            .iter()
            .filter(move |sent| of_now && sent.epoch == self.epoch)
    }

    fn in_flight(&self) -> usize {
        self.probes().filter(|probe| probe.end.is_none()).count()
    }

    fn turn(&mut self, phase: Phase, at: u64) {
        match phase {
            Phase::Open => {
                if self.phase == Phase::HalfOpen {
                    self.length = (self.length * self.plan.factor).min(self.plan.longest);
                }
                self.until = at + self.length;
            }
            Phase::Closed => {
                self.length = self.plan.open_for;
                self.closed_at = Some(at);
            }
            Phase::HalfOpen => {}
        }
        self.results.clear();
        self.phase = phase;
        self.epoch += 1;
    }

    fn advance(&mut self, now: u64) {
        let timeout = self.plan.probes.as_ref().and_then(|probes| probes.timeout);
        let waiting = self.probes().filter(|probe| probe.end.is_none());
        let hung = waiting
            .filter_map(|probe| Some(probe.at + timeout?))
            .min()
            .filter(|at| *at <= now);
        if let Some(at) = hung {
            self.turn(Phase::Open, at);
        }
        if self.phase == Phase::Open && self.until <= now {
            match self.plan.probes {
                Some(_) => self.turn(Phase::HalfOpen, self.until),
                None => self.turn(Phase::Closed, self.until),
            }
        }
    }

    fn admit(&mut self, now: u64, eighths: u32) -> bool {
        self.advance(now);
        let passes = match (self.phase, &self.plan.probes) {
            (Phase::Open, _) => false,
            (Phase::Closed, _) => match (self.plan.ramp, self.closed_at) {
                (Some(ramp), Some(at)) => {
                    now - at >= ramp || u64::from(eighths) * ramp < 8 * (now - at)
                }
                _ => true,
            },
            (Phase::HalfOpen, None) => unreachable!("everybody passes"),
            (Phase::HalfOpen, Some(plan)) => {
                let so_far = if plan.share {
                    self.probes().count()
                } else {
                    self.in_flight()
                };
                plan.limit.is_none_or(|limit| so_far < limit as usize)
            }
        };
        if passes {
            self.sent.push(Sent {
                epoch: self.epoch,
                at: now,
                end: None,
            });
        }
        passes
    }

    fn end(&mut self, place: usize, now: u64, took: u64, failed: bool) {
        self.advance(now);
        let slow = match self.plan.rule {
            Rule::Share { slow, .. } => slow.is_some_and(|(after, _)| took > after),
            Rule::Row(_) => false,
        };
        self.sent[place].end = Some((failed, slow));
        if self.sent[place].epoch != self.epoch {
            return;
        }
        if self.phase == Phase::Closed {
            self.results.push((now, failed, slow));
            if self.is_too_bad(now) {
                self.turn(Phase::Open, now);
            }
            return;
        }
        let plan = self.plan.probes.clone().expect("only probes are sent");
        let ends: Vec<(bool, bool)> = self.probes().filter_map(|probe| probe.end).collect();
        let bad = if plan.share {
            self.is_too_large(&ends)
        } else {
            failed || slow
        };
        let enough = if plan.share {
            plan.limit
        } else {
            Some(plan.successes)
        };
        match (
            bad,
            enough.is_some_and(|enough| ends.len() >= enough as usize),
        ) {
            (true, _) if !plan.share => self.turn(Phase::Open, now),
            (true, true) => self.turn(Phase::Open, now),
            (false, true) => self.turn(Phase::Closed, now),
            _ => {}
        }
    }

    fn is_too_bad(&self, now: u64) -> bool {
        let results = self
            .results
            .iter()
            .map(|(_, failed, slow)| (*failed, *slow));
        match self.plan.rule {
            Rule::Row(row) => {
                let failures = results.rev().take_while(|result| result.0).count();
                failures >= row as usize
            }
            Rule::Share {
                calls: Some(calls),
                min,
                ..
            } => {
                let last: Vec<_> = results.rev().take(calls as usize).collect();
                last.len() >= min.min(calls) as usize && self.is_too_large(&last)
            }
            Rule::Share {
                calls: None,
                length,
                min,
                ..
            } => {
                let recent = self.results.iter().filter(|(at, ..)| at + length > now);
                let past: Vec<_> = recent.map(|(_, failed, slow)| (*failed, *slow)).collect();
                past.len() >= min as usize && self.is_too_large(&past)
            }
        }
    }

    fn is_too_large(&self, ends: &[(bool, bool)]) -> bool {
        let failed = ends.iter().filter(|end| end.0).count() as u64;
        let slow_ones = ends.iter().filter(|end| end.1).count() as u64;
        let all = ends.len() as u64;
        match self.plan.rule {
            Rule::Row(_) => failed > 0,
            Rule::Share { percent, slow, .. } => {
                failed * 100 >= percent * all
                    || slow.is_some_and(|(_, percent)| slow_ones * 100 >= percent * all)
            }
        }
    }
}

/// Whether a breaker may be seen to go from one phase to the other in one step.
fn is_legal(plan: &Plan, step: Step, from: Phase, to: Phase) -> bool {
    let has_probes = plan.probes.is_some();
    let hangs = plan.probes.as_ref().is_some_and(|p| p.timeout.is_some());
    from == to
        || match (step, from, to) {
            (Step::Admit(_), ..) => false,
            (Step::Wait(_), Phase::Open, Phase::HalfOpen) => has_probes,
            (Step::Wait(_), Phase::Open, Phase::Closed) => !has_probes,
            (Step::Wait(_), Phase::HalfOpen, Phase::Open) => hangs,
            (Step::Wait(_), ..) => false,
            (Step::End(..), Phase::Closed, Phase::Open) => true,
            (Step::End(..), Phase::HalfOpen, _) => true,
            (Step::End(..), ..) => false,
        }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_breaker_does_what_its_whole_past_says_and_goes_only_legal_ways(
        plan in plans(),
        steps in steps(),
    ) {
        let breaker = planned(&plan);
        let (mut state, mut reference) = (breaker.fresh(), Reference::new(&plan));
        let (mut now, mut on_their_way) = (0, Vec::new());
        let mut before = Phase::Closed;
        for step in steps {
            match step {
                Step::Wait(time) => now += time,
                Step::Admit(eighths) => {
                    let luck = f64::from(eighths) / 8.0;
                    let pass = breaker.admit(&mut state, SimTime::from_nanos(now), || luck);
                    prop_assert_eq!(pass.is_some(), reference.admit(now, eighths));
                    if let Some(pass) = pass {
                        prop_assert!(before != Phase::Open);
                        prop_assert_eq!(pass.is_probe(), before == Phase::HalfOpen);
                        on_their_way.push((pass, reference.sent.len() - 1));
                    }
                }
                Step::End(place, took, failed) if !on_their_way.is_empty() => {
                    let (pass, place) = on_their_way.swap_remove(place % on_their_way.len());
                    let took_time = SimDuration::from_nanos(took);
                    breaker.note(&mut state, pass, SimTime::from_nanos(now), took_time, failed);
                    reference.end(place, now, took, failed);
                }
                Step::End(..) => {}
            }
            let phase = breaker.phase(&state, SimTime::from_nanos(now));
            reference.advance(now);
            prop_assert_eq!(phase, reference.phase);
            prop_assert!(is_legal(&plan, step, before, phase), "{step:?}: {before:?} to {phase:?}");
            let limit = plan.probes.as_ref().and_then(|probes| probes.limit);
            prop_assert!(limit.is_none_or(|limit| reference.in_flight() <= limit as usize));
            before = phase;
        }
    }
}
