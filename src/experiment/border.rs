//! Up to which load a scenario comes back by itself.
//!
//! When the backlog is longer than callers wait, every attempt is served too late and every request makes all its
//! attempts: the service is offered kλ and finishes nothing in time. That state feeds itself when kλ exceeds the
//! capacity μ. So μ/k, the hidden capacity, is the load up to which any disturbance passes; between it and what a
//! healthy service can bear a long enough one does not. Bronson et al., "Metastable failures in distributed
//! systems", HotOS 2021.

use super::load::{Load, attempts, is_mixed, retried_failures};
use crate::dist::Sampler;
use crate::model::{Discipline, OnAbandon, ServicePlan, Strategy};
use crate::outcome::AttemptOutcome;
use crate::scenario::Plan;
use crate::theory::stability::Amplifier;

/// The load up to which a scenario returns by itself under a strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Border {
    /// Requests a second; zero when no load does.
    pub per_s: f64,
    /// Requests a second that are offered.
    pub offered_per_s: f64,
    /// Attempts a second that the service can finish.
    pub capacity_per_s: f64,
    /// What the capacity is divided by.
    pub divisor: Divisor,
}

/// Attempts that each request makes when it matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Divisor {
    /// Those of a healthy service: nothing is done in vain.
    Healthy(f64),
    /// All that a request may make, in vain; `None` is unlimited.
    All(Option<u64>),
    /// All that the retry budget leaves, in vain: 1 + retries for each request.
    Budget(f64),
}

impl Border {
    /// Whether work done for callers that have given up can keep the service down at a load that it could bear.
    pub fn is_hidden(&self) -> bool {
        match self.divisor {
            Divisor::Healthy(_) => false,
            Divisor::All(attempts) => attempts != Some(1),
            Divisor::Budget(attempts) => attempts > 1.0,
        }
    }
}

/// The border of a strategy, or why it cannot be derived, as a clause.
///
/// # Errors
/// A reason in words.
pub fn border(plan: &Plan, strategy: usize) -> Result<Border, String> {
    let load = Load::of(plan, strategy);
    let why = |why: &str| Err(why.to_owned());
    let Some(capacity) = load.capacity_per_s else {
        return why("workers are unlimited");
    };
    let Some(offered_per_s) = load.requests_per_s else {
        return why("requests do not come at one steady rate whatever happens to them");
    };
    if is_mixed(plan, strategy) {
        return why("client groups use different strategies");
    }
    if plan.world.groups.iter().any(|group| group.pool.is_some()) {
        return why("a pool limits the requests in flight");
    }
    if plan.world.service.failures.depend_on_load() {
        return why("failures depend on the load");
    }
    let p = plan.failure_probability;
    if p > 0.0 && !plan.world.service.failures_take_time {
        return why("failures take no service time");
    }
    let rule = &plan.strategies[strategy];
    if rule.redrives() {
        return why("dead letters come back");
    }
    let waste = wastes(&plan.world.service, rule, capacity)?;
    let k = attempts(plan, strategy);
    let again = retried_failures(plan, strategy);
    let retries = rule.rule.guards.sustained_retries()?;
    let bounded = retries < k.saturating_sub(1) as f64;
    let budget = bounded.then_some(retries);
    let amplifier = Amplifier::new(k, budget, 1).ok_or("a request makes no attempt")?;
    let divisor = if !waste || !rule.rule.retry_on.contains(AttemptOutcome::TimedOut, 0) {
        Divisor::Healthy(amplifier.healthy(again))
    } else if bounded {
        Divisor::Budget(amplifier.collapsed())
    } else {
        Divisor::All((k < u64::MAX).then_some(k))
    };
    Ok(Border {
        per_s: match divisor {
            Divisor::Healthy(_) => amplifier.advertised_capacity(capacity, again),
            Divisor::All(Some(_)) | Divisor::Budget(_) => amplifier.hidden_capacity(capacity),
            Divisor::All(None) => 0.0,
        },
        offered_per_s,
        capacity_per_s: capacity,
        divisor,
    })
}

/// A way through the service that takes less than this share of the timeout is in time, always.
const SHORT: f64 = 0.8;
/// A full queue that takes this many timeouts is as good as one without end.
const LONG: f64 = 3.0;

/// Whether a backlog makes the service work for callers that have given up. Between the two ends is an error: a
/// clause that says why.
fn wastes(service: &ServicePlan, strategy: &Strategy, capacity: f64) -> Result<bool, String> {
    let Some(timeout) = &strategy.attempt_timeout else {
        return match strategy.deadline {
            Some(_) => Err("only a deadline limits how long callers wait".into()),
            None => Ok(false),
        };
    };
    if strategy.timeout_covers_wait {
        return Ok(false);
    }
    if strategy.deadline.is_some() {
        return Err("a deadline may cut attempts short".into());
    }
    let Some(timeout) = timeout.constant() else {
        return Err("the timeout is drawn".into());
    };
    // What an attempt takes without any wait: nearly all of them take less.
    let service_time = usual(&service.service_time);
    let network = service.request_delay.as_ref().map_or(0.0, usual)
        + service.response_delay.as_ref().map_or(0.0, usual);
    let bare = (service_time + network) / timeout.as_secs_f64();
    if bare > SHORT {
        return Err("an attempt takes about as long as callers wait, without any queue".into());
    }
    if service.sheds() {
        return Err("the service sheds attempts by itself".into());
    }
    match service.on_abandon {
        OnAbandon::DropIfLate if network == 0.0 => return Ok(false),
        OnAbandon::DropIfLate => {
            return Err("the answer may be late on its way back".into());
        }
        OnAbandon::SkipWhenDequeued | OnAbandon::Cancel | OnAbandon::StopAtDeadline => {
            return Err("abandoned work may still be served just too late".into());
        }
        OnAbandon::Continue => {}
    }
    match service.discipline {
        Discipline::Lifo => return Ok(false),
        Discipline::AdaptiveLifo(_) => return Err("the order of the queue changes".into()),
        Discipline::Random => return Err("the queue is served in random order".into()),
        Discipline::Fifo => {}
    }
    let full = f64::from(service.queue_capacity) / capacity / timeout.as_secs_f64();
    if full + bare < SHORT {
        Ok(false)
    } else if service.queue_capacity == u32::MAX || full > LONG {
        Ok(true)
    } else {
        Err("a full queue takes about as long as callers wait".into())
    }
}

/// A time that few draws exceed: the mean and two standard deviations.
fn usual(times: &Sampler) -> f64 {
    times.mean() + 2.0 * times.variance().max(0.0).sqrt()
}
