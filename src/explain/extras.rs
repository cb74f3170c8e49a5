//! Told waits, hedges and dead letters.

use super::case::Case;
use super::page::Section;
use super::words::{count, counted, number, percent};
use crate::model::{AfterTime, AtRate, DeadLetters, Redrive};
use crate::policy::{AboveCeiling, Clamp, Hedge, HedgeAfter, Heed, Hints, Plus, QuantileOf, Scale};

pub(super) fn section(case: &Case<'_>) -> Section {
    let rule = &case.strategy.rule;
    let told = case.plan.world.service.retry_after.is_some();
    let lines = [
        (told || !rule.hints.is_default()).then(|| hints(&rule.hints)),
        rule.guards.hedge.as_ref().map(|hedge| hedges(case, hedge)),
        case.strategy.dead_letters.as_ref().map(letters),
    ];
    Section::of("Besides", lines.into_iter().flatten().collect())
}

fn hints(hints: &Hints) -> String {
    let wait = match hints.heed {
        Heed::Ignore => {
            return "Hints: what the service tells is ignored; the own wait stands.".into();
        }
        Heed::Replace => "the wait is the told one, exactly".into(),
        Heed::Max => "the wait is the longer of the told and the own one".into(),
        Heed::Min => "the wait is the shorter of the told and the own one".into(),
        Heed::Clamp(Clamp { more }) => {
            format!("the wait is the told one, kept between the own one and {more} more")
        }
        Heed::Plus(Plus { jitter }) => {
            format!("the wait is the told one and up to {jitter} more, drawn evenly")
        }
        Heed::Scale(Scale { low, high }) => format!(
            "the wait is the told one × random({}, {})",
            number(low),
            number(high)
        ),
    };
    let ceiling = match (hints.ceiling, &hints.above_ceiling) {
        (None, _) => String::new(),
        (Some(ceiling), AboveCeiling::Cap) => format!("; {ceiling} stands for a longer one"),
        (Some(ceiling), AboveCeiling::Ignore) => {
            format!("; one above {ceiling} is ignored")
        }
        (Some(ceiling), AboveCeiling::Abort) => {
            format!("; one above {ceiling} ends the request")
        }
    };
    let resets = match hints.resets {
        true => " The own backoff starts anew after it.",
        false => "",
    };
    format!("Hints: after a told wait {wait}{ceiling}.{resets}")
}

fn hedges(case: &Case<'_>, hedge: &Hedge) -> String {
    let after = match hedge.after {
        HedgeAfter::Fixed(fixed) => format!("after {}", fixed.delay),
        HedgeAfter::Quantile(quantile) => format!(
            "after the {} quantile of the times of {} in the {} before ({} at first)",
            percent(quantile.q.get()),
            match quantile.of {
                QuantileOf::Attempt => "attempts",
                QuantileOf::Request => "requests",
            },
            quantile.window,
            quantile.start
        ),
    };
    let most = u64::from(hedge.most);
    let at_most = match case.attempts {
        u64::MAX => String::new(),
        k => format!(
            ", so a request sends {} at the most",
            super::words::glue(&format!(
                "{} × {} = {}",
                count(k),
                count(most + 1),
                counted(k.saturating_mul(most + 1), "attempt", "attempts")
            ))
        ),
    };
    let budget = &case.strategy.rule.guards.budget;
    let paid = match (budget.is_some(), hedge.from_budget) {
        (false, _) => "no budget bounds them",
        (true, true) => "the budget pays for them",
        (true, false) => "the budget does not pay for them",
    };
    let cancelled = match hedge.cancel {
        true => "the first success cancels the others",
        false => "the others go on after the first success",
    };
    format!(
        "Hedges: {} beside each one, sent {after} without an answer{at_most}; {paid}, and {cancelled}.",
        counted(most, "more attempt", "more attempts")
    )
}

fn letters(letters: &DeadLetters) -> String {
    let back = match letters.redrive {
        Redrive::Never => "never come back".to_owned(),
        Redrive::Rate(AtRate { rate, from }) => format!(
            "come back one by one, {} a second from {from} on, each with all its attempts",
            number(rate.as_per_second())
        ),
        Redrive::After(AfterTime { delay }) => {
            format!("come back {delay} later, each with all its attempts")
        }
    };
    let often = match letters.most_redrives {
        Some(most) if letters.redrive != Redrive::Never => {
            format!(", at most {}", counted(most.into(), "time", "times"))
        }
        _ => String::new(),
    };
    let kept = match letters.retention {
        Some(kept) => format!("kept for {kept}"),
        None => "kept for ever".to_owned(),
    };
    let permanent = match letters.permanent {
        true => "",
        false => ", but not after a permanent failure,",
    };
    format!("Dead letters: requests that have failed{permanent} are {kept} and {back}{often}.")
}
