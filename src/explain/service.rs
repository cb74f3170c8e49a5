//! What the service does to protect itself.

use super::page::Section;
use super::words::{count, counted, number, percent};
use crate::model::ServicePlan;
use crate::policy::admission::{Codel, ConcurrencyLimit, RateLimit, RetryAfter, Told, WindowKind};
use crate::scenario::Plan;

/// What the service does to protect itself, in a line.
pub(super) fn section(plan: &Plan) -> Section {
    let service = &plan.world.service;
    let parts: Vec<String> = [
        service.rate_limit.as_ref().map(rate_limit),
        service.concurrency_limit.as_ref().map(concurrency),
        codel(service),
        (service.retry_places < u32::MAX).then(|| {
            format!(
                "It sheds retries while {} or more wait.",
                counted(service.retry_places.into(), "attempt", "attempts")
            )
        }),
        service.retry_after.as_ref().map(|(told, on)| {
            let on = on.names().join(", ").replace('_', " ");
            format!("{} (with {on})", told_wait(told)) + "."
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    match parts.is_empty() {
        true => Section::default(),
        false => Section::of("Service", vec![parts.join(" ")]),
    }
}

fn rate_limit(limit: &RateLimit) -> String {
    match limit {
        RateLimit::Bucket(bucket) => format!(
            "It admits {} attempts a second, with bursts of {}, and answers the others with code 429.",
            number(bucket.rate.as_per_second()),
            number(bucket.burst.get())
        ),
        RateLimit::Window(window) => format!(
            "It admits {} in each {} of {}, and answers the others with code 429{}.",
            counted(window.attempts.into(), "attempt", "attempts"),
            match window.window {
                WindowKind::Fixed => "window",
                WindowKind::Sliding => "sliding window",
            },
            window.per,
            match window.count_refused {
                true => ", which count as well",
                false => "",
            }
        ),
    }
}

fn concurrency(limit: &ConcurrencyLimit) -> String {
    match limit {
        ConcurrencyLimit::Fixed(fixed) => format!(
            "It lets {} be inside at once and sheds the others.",
            counted(fixed.limit.into(), "attempt", "attempts")
        ),
        ConcurrencyLimit::Aimd(rule) => format!(
            "It lets {} to {} attempts be inside at once, one more with each success and {} of that after a drop.",
            count(rule.min.into()),
            count(rule.max.into()),
            percent(rule.backoff_ratio.get())
        ),
        ConcurrencyLimit::Vegas(_) => "It lets as many attempts be inside as keep its queue short, judged by the fastest attempt (Vegas), and sheds the others.".into(),
        ConcurrencyLimit::Gradient2(_) => "It lets as many attempts be inside as keep times near their average (Gradient2), and sheds the others.".into(),
    }
}

fn codel(service: &ServicePlan) -> Option<String> {
    Some(match service.codel.as_ref()? {
        Codel::Folly(rule) => format!(
            "It sheds what has waited {} or more while every wait of {} was above {}.",
            rule.target + rule.target,
            rule.interval,
            rule.target
        ),
        Codel::Facebook(rule) => format!(
            "It sheds what has waited more than {}, and more than {} once the queue has lasted for {}.",
            rule.long, rule.short, rule.long
        ),
        Codel::Rfc8289(rule) => format!(
            "It sheds single attempts, faster and faster, once waits have been {} or more for {}.",
            rule.target, rule.interval
        ),
    })
}

fn told_wait(told: &RetryAfter) -> String {
    let (wait, how) = match told {
        RetryAfter::Fixed(fixed) => (format!("to come back after {}", fixed.after), fixed.told),
        RetryAfter::Queue(queue) => (
            format!(
                "to come back after {} for each attempt inside, at least {}",
                queue.per_waiting, queue.at_least
            ),
            queue.told,
        ),
        RetryAfter::Free(told) => (
            "to come back when its rate limit would admit them".to_owned(),
            *told,
        ),
    };
    let Told {
        jitter,
        whole_seconds,
    } = how;
    let jitter = match jitter.get() {
        0.0 => String::new(),
        jitter => format!(", varied by {} either way", percent(jitter)),
    };
    let rounded = match whole_seconds {
        true => ", in whole seconds, rounded up",
        false => "",
    };
    format!("It tells those whom it refuses {wait}{jitter}{rounded}")
}
