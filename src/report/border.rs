//! The load up to which a scenario comes back by itself, in words.

use super::number::{short_percent, thousands};
use super::text::{glue, shared_lines};
use crate::experiment::{Border, Divisor};

/// One line for each group of strategies with the same border, in their order. A border that cannot be derived is
/// told with its reason.
pub fn border_lines<'a>(
    borders: impl IntoIterator<Item = (&'a str, &'a Result<Border, String>)>,
) -> Vec<String> {
    let told = borders.into_iter().map(|(name, border)| match border {
        Ok(border) => (name, words(border)),
        Err(why) => (name, format!("no border can be derived, as {why}")),
    });
    shared_lines(told)
}

fn words(border: &Border) -> String {
    let per_s = |rate: f64| glue(&format!("{}/s", thousands(rate)));
    let (limit, offered) = (border.per_s, border.offered_per_s);
    let capacity = per_s(border.capacity_per_s);
    let made_of = match border.divisor {
        Divisor::All(None) => {
            return "comes back by itself from a backlog at no load, as attempts have no limit"
                .into();
        }
        Divisor::All(Some(1)) => "its capacity".into(),
        Divisor::Healthy(1.0) => "its capacity".into(),
        Divisor::Budget(attempts) => glue(&format!(
            "{capacity} ÷ {attempts:.3} attempts that the budget leaves"
        )),
        Divisor::All(Some(k)) => glue(&format!("{capacity} ÷ {k} attempts")),
        Divisor::Healthy(amplification) => {
            let attempts = format!("{capacity} ÷ {amplification:.3} attempts a request");
            glue(&attempts)
        }
    };
    let place = if offered < limit {
        format!(
            "the offered {} is {} of that",
            per_s(offered),
            glue(&short_percent(offered / limit))
        )
    } else if border.is_hidden() {
        format!(
            "the offered {} is {} times that, so a disturbance that is long enough leaves it down",
            per_s(offered),
            glue(&format!("{:.2}", offered / limit)),
        )
    } else {
        format!("the offered {} is above it", per_s(offered))
    };
    format!(
        "comes back by itself up to {} ({made_of}); {place}",
        per_s(limit)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn border(per_s: f64, divisor: Divisor) -> Result<Border, String> {
        Ok(Border {
            per_s,
            offered_per_s: 280.0,
            capacity_per_s: 300.0,
            divisor,
        })
    }

    #[test]
    fn strategies_with_one_border_share_a_line() {
        let (hidden, open) = (
            border(150.0, Divisor::All(Some(2))),
            border(300.0, Divisor::Healthy(1.0)),
        );
        let unknown = Err("workers are unlimited".to_owned());
        let lines = border_lines([
            ("a", &hidden),
            ("b", &open),
            ("c", &hidden),
            ("d", &unknown),
        ]);
        insta::assert_snapshot!(lines.join("\n"), @r"
        a, c: comes back by itself up to 150/s (300/s ÷ 2 attempts); the offered 280/s is 1.87 times that, so a disturbance that is long enough leaves it down
        b: comes back by itself up to 300/s (its capacity); the offered 280/s is 93.33 % of that
        d: no border can be derived, as workers are unlimited
        ");
    }
}
