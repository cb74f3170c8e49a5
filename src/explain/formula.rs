//! The formula of the waits: in words, in symbols, and with the numbers of the scenario.

use super::case::Case;
use super::page::Section;
use super::words::{counted, glue, number, percent, sentence};
use crate::policy::{
    Additive, Backoff, CapOrder, Client, Exponential, Jitter, Lognormal, Proportional, Reset,
    Rounding, Shape, StateOwner,
};
use crate::time::SimDuration;

pub(super) fn section(case: &Case<'_>) -> Section {
    if case.attempts == 1 {
        return Section::default();
    }
    let backoff = case.backoff();
    let mut lines = vec![in_words(backoff)];
    if !matches!(backoff, Backoff::Immediate) {
        let symbols = expression(backoff, &|name, _| name.into());
        let values = expression(backoff, &|_, value| value);
        lines.push(format!("wait n = {}", glue(&symbols)));
        if symbols != values {
            lines.push(format!("here: wait n = {}", glue(&values)));
        }
    }
    lines.extend(shape_words(case, backoff.shape()));
    Section::of("Backoff", lines)
}

/// What the nominal wait does and what jitter makes of it.
fn in_words(backoff: &Backoff) -> String {
    let cap = backoff.cap();
    let up_to = cap.map_or(String::new(), |cap| format!(", up to {cap}"));
    let growth = match backoff {
        Backoff::Immediate => "no wait: the next attempt goes out at once".into(),
        Backoff::Fixed(form) => format!("the same wait of {} before each retry", form.delay),
        Backoff::Linear(form) => format!(
            "the wait begins at {} and grows by {} with each retry{up_to}",
            form.base,
            form.step.unwrap_or(form.base)
        ),
        Backoff::Exponential(form) => format!("{}{up_to}", exponential(form)),
        Backoff::Fibonacci(form) => format!(
            "the wait begins at {} and grows like the numbers of Fibonacci: each is the sum of the two before{up_to}",
            form.base
        ),
        Backoff::Polynomial(form) => format!(
            "the wait begins at {} and grows with the power {} of the number of the retry{up_to}",
            form.base,
            number(form.power)
        ),
        Backoff::Uniform(form) => format!(
            "every wait is drawn evenly between {} and {}",
            form.min, form.max
        ),
        Backoff::Memoryless(form) => format!(
            "every wait is drawn from an exponential law with a mean of {}",
            form.mean
        ),
        Backoff::List(form) => format!(
            "the waits are those of a list of {}; the last one repeats",
            form.delays.len()
        ),
        Backoff::Decorrelated(form) => format!(
            "decorrelated jitter: every wait is drawn evenly between {} and {} times the one before{up_to}",
            form.base,
            number(form.factor)
        ),
    };
    let jitter = &backoff.shape().jitter;
    match jitter_words(jitter).filter(|_| !jitter.is_trivial()) {
        Some(jitter) => sentence(&format!("{growth}; {jitter}")),
        None => sentence(&growth),
    }
}

fn exponential(form: &Exponential) -> String {
    let first = match form.start {
        0 => format!("the wait begins at {}", form.base),
        start => format!(
            "the wait begins at {} × {}^{start}",
            form.base,
            number(form.factor)
        ),
    };
    match form.factor {
        2.0 => format!("{first} and doubles with each retry"),
        1.0 => format!("{first} and stays"),
        f if f > 1.0 => format!("{first} and grows {} times with each retry", number(f)),
        f => format!(
            "{first} and shrinks to {} of itself with each retry",
            percent(f)
        ),
    }
}

/// What jitter makes of a nominal wait d; nothing without jitter.
fn jitter_words(jitter: &Jitter) -> Option<String> {
    Some(match jitter {
        Jitter::None => return None,
        Jitter::Full => "full jitter draws anything from nothing to that, evenly".into(),
        Jitter::Equal => "equal jitter draws evenly from half of that to all of it".into(),
        Jitter::Double => "jitter draws evenly from that to twice as much".into(),
        Jitter::Proportional(Proportional { ratio }) => {
            format!(
                "jitter moves it evenly by up to {} either way",
                percent(ratio.get())
            )
        }
        Jitter::Multiplicative => {
            "jitter draws evenly from half of that to one and a half times".into()
        }
        Jitter::Additive(Additive { max }) => format!("jitter adds up to {max}, evenly"),
        Jitter::Lognormal(Lognormal { sigma }) => format!(
            "lognormal jitter keeps it as the median, and two in three waits within a factor of {}",
            number(sigma.exp())
        ),
    })
}

/// How a quantity is written, from its name and its value.
type Say<'a> = &'a dyn Fn(&str, String) -> String;

/// The wait before retry n.
fn expression(backoff: &Backoff, say: Say<'_>) -> String {
    let shape = backoff.shape();
    let capped = |text: String| match backoff.cap() {
        Some(cap) => format!("min({}, {text})", say("cap", cap.to_string())),
        None => text,
    };
    let is_walk = matches!(backoff, Backoff::Decorrelated(_));
    let nominal = nominal(backoff, say);
    match shape.cap_order {
        CapOrder::BeforeJitter if is_walk => with_jitter(&shape.jitter, nominal, say),
        CapOrder::BeforeJitter => with_jitter(&shape.jitter, capped(nominal), say),
        CapOrder::AfterJitter if is_walk && shape.jitter == Jitter::None => nominal,
        CapOrder::AfterJitter => capped(with_jitter(&shape.jitter, nominal, say)),
    }
}

/// The nominal wait before retry n.
fn nominal(backoff: &Backoff, say: Say<'_>) -> String {
    let time = |name: &str, value: SimDuration| say(name, value.to_string());
    match backoff {
        Backoff::Immediate => "0".into(),
        Backoff::Fixed(form) => time("delay", form.delay),
        Backoff::Linear(form) => format!(
            "{} + {} × (n − 1)",
            time("base", form.base),
            time("step", form.step.unwrap_or(form.base))
        ),
        Backoff::Exponential(form) => {
            let exponent = match form.start {
                0 => "n − 1".into(),
                start => format!("n − 1 + {}", say("start", start.to_string())),
            };
            format!(
                "{} × {}^({exponent})",
                time("base", form.base),
                say("factor", number(form.factor))
            )
        }
        Backoff::Fibonacci(form) => {
            format!("{} × (1, 1, 2, 3, 5, 8, …)", time("base", form.base))
        }
        Backoff::Polynomial(form) => format!(
            "{} × n^{}",
            time("base", form.base),
            say("power", number(form.power))
        ),
        Backoff::Uniform(form) => {
            format!(
                "random({}, {})",
                time("min", form.min),
                time("max", form.max)
            )
        }
        Backoff::Memoryless(form) => format!("exponential({})", time("mean", form.mean)),
        Backoff::List(form) => {
            const SHOWN: usize = 12;
            let some = form.delays.iter().take(SHOWN);
            let mut some: Vec<String> = some.map(ToString::to_string).collect();
            if form.delays.len() > SHOWN {
                some.push("…".into());
            }
            say("delays[n]", format!("({})", some.join(", ")))
        }
        Backoff::Decorrelated(form) => format!(
            "min({}, random({}, {} × s))",
            time("cap", form.cap),
            time("base", form.base),
            say("factor", number(form.factor))
        ),
    }
}

/// A nominal wait d with its jitter.
fn with_jitter(jitter: &Jitter, d: String, say: Say<'_>) -> String {
    let times = |low: f64, high: f64| {
        let d = if d.contains(" + ") && !d.starts_with("min(") {
            format!("({d})")
        } else {
            d.clone()
        };
        format!("{d} × random({}, {})", number(low), number(high))
    };
    match jitter {
        Jitter::None => d,
        Jitter::Full => format!("random(0, {d})"),
        Jitter::Equal => times(0.5, 1.0),
        Jitter::Double => times(1.0, 2.0),
        Jitter::Proportional(Proportional { ratio }) => times(1.0 - ratio.get(), 1.0 + ratio.get()),
        Jitter::Multiplicative => times(0.5, 1.5),
        Jitter::Additive(Additive { max }) => {
            format!("{d} + random(0, {})", say("max", max.to_string()))
        }
        Jitter::Lognormal(Lognormal { sigma }) => {
            format!("{d} × exp({} × normal)", say("sigma", number(*sigma)))
        }
    }
}

/// What else is done to a wait, where it is not the usual.
fn shape_words(case: &Case<'_>, shape: &Shape) -> Vec<String> {
    let mut words = Vec::new();
    if let Backoff::Decorrelated(form) = case.backoff() {
        words.push(format!(
            "Here s is the wait of the retry before, and {} at first.",
            form.base
        ));
    }
    if let Some(first) = shape.first {
        words.push(format!("The first wait is {first} instead, exactly."));
    }
    if let (CapOrder::BeforeJitter, Some(cap)) = (&shape.cap_order, case.backoff().cap())
        && shape.jitter.range(cap).1 > cap
    {
        words.push("The cap bounds the wait before its jitter, so a wait may be longer.".into());
    }
    if shape.cap_order == CapOrder::AfterJitter && case.backoff().cap().is_some() {
        words.push(
            "The cap bounds the wait after its jitter, so many waits are exactly the cap.".into(),
        );
    }
    match shape.rounding {
        Rounding::None => {}
        Rounding::FloorMs => words.push("Waits are cut to whole milliseconds.".into()),
    }
    match shape.state {
        StateOwner::Request => {}
        StateOwner::Client(Client { reset }) => words.push(format!(
            "The count n lives on in the client from request to request, and {}.",
            match reset {
                Reset::Success => "starts anew when an attempt succeeds",
                Reset::Never => "never starts anew: once long, its waits stay long",
            }
        )),
    }
    if case.strategy.generators > 0 {
        words.push(format!(
            "All clients draw from {}: those that share one wait alike.",
            counted(case.strategy.generators, "generator", "generators")
        ));
    }
    match words.is_empty() {
        true => Vec::new(),
        false => vec![words.join(" ")],
    }
}
