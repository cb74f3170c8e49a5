//! An axis that can be even, logarithmic or made of categories, with numbers that do not overlap.
//!
//! Zero has no logarithm, but "no failures" and "no load" are the first things a sweep tries. So what is not above
//! zero has a band of its own at the low end of a logarithmic axis.

use super::canvas::Look;
use super::data::{Axis, Form, Scale};
use super::frame::{TICK_SIZE, ticks};
use super::labels;
use super::number::short_percent;
use super::span::{Side, linear, log, usable};

/// Width of the band of zero, and from its start to the start of the other values.
const ZERO_BAND: (f64, f64) = (30.0, 44.0);
/// The most that a name of a category takes beside a plot.
const LONGEST_NAME: f64 = 120.0;

/// Between names of categories of which some are left out.
const AIR: f64 = 8.0;

/// A number at an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// Its place, as a part of the axis.
    pub(super) at: f64,
    pub(super) text: String,
}

/// An axis of a length: where values are, and what stands beside it.
#[derive(Clone, Debug)]
pub(super) struct Ruler {
    spread: Spread,
    side: Side,
    length: f64,
    pub(super) ticks: Vec<Tick>,
    /// Places of small marks without a number.
    pub(super) minor: Vec<f64>,
    /// The end of the band of zero, if there is one.
    pub(super) zero: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
enum Spread {
    Linear(f64, f64),
    /// Logarithms of the ends, and where the lower one is.
    Log(f64, f64, f64),
    /// The logarithm of the upper end.
    Tail(f64),
    Steps(usize),
}

/// Numbers of an axis for tails, and the fewer ones where there is little room.
const TAILS: [&[f64]; 3] = [
    &[0.0, 0.5, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999],
    &[0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999],
    &[0.0, 0.9, 0.99, 0.999, 0.9999],
];

/// How far along an axis for tails a share is.
fn tail(share: f64) -> f64 {
    -(1.0 - share).max(1e-9).log10()
}

impl Ruler {
    /// An axis of a length that shows all `values`.
    pub(super) fn new(axis: &Axis, values: &[f64], side: Side, length: f64) -> Self {
        let has_zero = values.iter().any(|&v| usable(v) && v <= 0.0);
        let zero = (has_zero && axis.scale == Scale::Log).then_some(ZERO_BAND.0 / length);
        let spread = match &axis.scale {
            Scale::Linear => {
                let (low, high) = linear(values, side, axis.form == Form::Share);
                Spread::Linear(low, high)
            }
            Scale::Log => {
                let (low, high) = log(values, side);
                Spread::Log(low, high, zero.map_or(0.0, |_| ZERO_BAND.1 / length))
            }
            Scale::Tail => Spread::Tail(values.iter().copied().map(tail).fold(1.0, f64::max)),
            Scale::Steps(names) => Spread::Steps(names.len().max(1)),
        };
        let mut ruler = Self {
            spread,
            side,
            length,
            ticks: Vec::new(),
            minor: Vec::new(),
            zero,
        };
        match (&axis.scale, spread) {
            (Scale::Steps(names), _) => ruler.name(names),
            (_, Spread::Log(low, high, _)) => ruler.number_log(axis.form, low, high),
            (_, Spread::Linear(low, high)) => ruler.number(axis.form, low, high),
            (_, Spread::Tail(_)) => ruler.number_tail(),
            (_, Spread::Steps(_)) => {}
        }
        ruler
    }

    /// An even axis from exactly one value to another.
    pub(super) fn between((low, high): (f64, f64), form: Form, length: f64) -> Self {
        let mut ruler = Self {
            spread: Spread::Linear(low, high),
            side: Side::Across,
            length,
            ticks: Vec::new(),
            minor: Vec::new(),
            zero: None,
        };
        ruler.number(form, low, high);
        ruler
    }

    /// Where a value is, as a part of the axis; below 0 or above 1 when it lies beyond the ends.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if !usable(value) {
            return None;
        }
        match self.spread {
            Spread::Linear(low, high) => Some((value - low) / (high - low)),
            Spread::Log(low, high, start) if value > 0.0 => {
                Some(start + (value.log10() - low) / (high - low) * (1.0 - start))
            }
            Spread::Log(..) => self.zero.map(|end| end / 2.0),
            Spread::Tail(high) => Some(tail(value) / high),
            Spread::Steps(count) => Some((value + 0.5) / count as f64),
        }
    }

    /// Where an end of an interval is: on the axis, as far as it reaches.
    pub(super) fn place_inside(&self, value: f64) -> Option<f64> {
        let lowest = || usable(value).then_some(0.0);
        Some(self.place(value).or_else(lowest)?.clamp(0.0, 1.0))
    }

    /// The width that the texts of the axis need.
    pub(super) fn widest(&self) -> f64 {
        let width = |tick: &Tick| labels::width(&tick.text, Look::new(TICK_SIZE));
        self.ticks.iter().map(width).fold(0.0, f64::max)
    }

    fn at(&self, values: &[f64], text: impl Fn(f64) -> String) -> Vec<Tick> {
        let start = match self.spread {
            Spread::Log(_, _, start) => start,
            Spread::Linear(..) | Spread::Tail(_) | Spread::Steps(_) => 0.0,
        };
        let tick = |&value: &f64| {
            let at = self
                .place(value)
                .filter(|at| (start - 1e-9..1.0 + 1e-9).contains(at));
            at.map(|at| Tick {
                at,
                text: text(value),
            })
        };
        values.iter().filter_map(tick).collect()
    }

    /// Whether texts stand clear of each other, and have some air between them.
    fn fits(&self, ticks: &[Tick], air: f64) -> bool {
        let look = Look::new(TICK_SIZE);
        ticks.windows(2).all(|pair| {
            let apart = (pair[1].at - pair[0].at) * self.length;
            let needed = match self.side {
                Side::Upwards => TICK_SIZE + 3.0,
                Side::Across => {
                    let widths = pair.iter().map(|tick| labels::width(&tick.text, look));
                    widths.sum::<f64>() / 2.0 + 9.0
                }
            };
            apart >= needed + air
        })
    }

    fn number(&mut self, form: Form, low: f64, high: f64) {
        let pitch = if self.side == Side::Across {
            62.0
        } else {
            36.0
        };
        let most = ((self.length / pitch) as usize).clamp(2, 9);
        let reach = low.abs().max(high.abs());
        // A share just above all is no share.
        let end = if form == Form::Share && high < 1.05 {
            high.min(1.0)
        } else {
            high
        };
        // Fewer numbers than there is room for, or more where a few are less than two.
        for most in (2..=most).rev().chain(most + 1..=9) {
            let mut values = ticks(&(low..high), most);
            let step = values
                .windows(2)
                .map(|pair| pair[1] - pair[0])
                .fold(high - low, f64::min);
            values.retain(|&value| value <= end + step * 1e-6);
            // Sums of steps miss zero by a hair.
            let exact = |value: &f64| {
                if value.abs() < step * 1e-6 {
                    0.0
                } else {
                    *value
                }
            };
            let values: Vec<f64> = values.iter().map(exact).collect();
            self.ticks = self.at(&values, |value| form.tick(value, step, reach));
            if self.ticks.len() > 1 && self.fits(&self.ticks, 0.0) {
                return;
            }
        }
        self.ticks.truncate(1);
    }

    fn number_log(&mut self, form: Form, low: f64, high: f64) {
        let decades = low.floor() as i32..=high.ceil() as i32;
        let all = |factors: &[f64], every: usize| -> Vec<f64> {
            decades
                .clone()
                .filter(|decade| decade.rem_euclid(every as i32) == 0)
                .flat_map(|decade| factors.iter().map(move |f| f * 10f64.powi(decade)))
                .collect()
        };
        let mut choices = vec![all(&[1.0, 2.0, 5.0], 1)];
        choices.extend((1..).map_while(|every| {
            let some = all(&[1.0], every);
            (some.len() > 1 && every < 400).then_some(some)
        }));
        let own = |value: f64| form.tick(value, value, value);
        for choice in choices {
            let found = self.at(&choice, own);
            if found.len() >= 2 && found.len() <= 13 && self.fits(&found, 0.0) {
                self.ticks = found;
                break;
            }
        }
        if self.ticks.is_empty() {
            let (low, high) = (10f64.powf(low), 10f64.powf(high));
            self.number(form, low, high);
        }
        if high - low < 12.0 {
            let small: Vec<f64> = (1..10).map(f64::from).collect();
            self.minor = self
                .at(&all(&small, 1), own)
                .iter()
                .map(|tick| tick.at)
                .collect();
        }
        if let Some(end) = self.zero {
            let at = end / 2.0;
            let text = "0".into();
            self.ticks.insert(0, Tick { at, text });
        }
    }

    fn number_tail(&mut self) {
        for choice in TAILS {
            self.ticks = self.at(choice, short_percent);
            if self.fits(&self.ticks, 0.0) {
                return;
            }
        }
    }

    /// Names of categories; every second or third where there is no room for all.
    fn name(&mut self, names: &[String]) {
        let count = names.len().max(1);
        let room = match self.side {
            Side::Across => (self.length / count as f64 - 9.0).clamp(52.0, 2.0 * LONGEST_NAME),
            Side::Upwards => LONGEST_NAME,
        };
        let look = Look::new(TICK_SIZE);
        let all: Vec<Tick> = names
            .iter()
            .enumerate()
            .map(|(i, name)| Tick {
                at: (i as f64 + 0.5) / count as f64,
                text: labels::fit(name, look, room),
            })
            .collect();
        let strides = (0..6).flat_map(|decade| [1, 2, 5].map(|every| every * 10usize.pow(decade)));
        for every in strides {
            self.ticks = all.iter().step_by(every).cloned().collect();
            // Where some are left out, the others need not be crowded.
            let air = if every == 1 { 0.0 } else { AIR };
            if self.fits(&self.ticks, air) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(scale: Scale, form: Form) -> Axis {
        Axis {
            label: String::new(),
            scale,
            form,
        }
    }

    fn texts(ruler: &Ruler) -> Vec<&str> {
        ruler.ticks.iter().map(|tick| &tick.text[..]).collect()
    }

    #[test]
    fn an_even_axis_has_round_numbers() {
        let axis = axis(Scale::Linear, Form::PerSecond);
        let ruler = Ruler::new(&axis, &[0.0, 2400.0], Side::Upwards, 300.0);
        assert_eq!(
            texts(&ruler),
            ["0", "500", "1,000", "1,500", "2,000", "2,500"]
        );
        assert_eq!(ruler.place(1250.0), Some(0.5));
        assert_eq!(ruler.place(f64::NAN), None);
        assert_eq!(ruler.zero, None);
    }

    #[test]
    fn a_logarithmic_axis_marks_decades_and_what_is_between() {
        let axis = axis(Scale::Log, Form::Share);
        let ruler = Ruler::new(&axis, &[0.001, 1.0], Side::Across, 600.0);
        let expected = [
            "0.1 %", "0.2 %", "0.5 %", "1 %", "2 %", "5 %", "10 %", "20 %", "50 %", "100 %",
        ];
        assert_eq!(texts(&ruler), expected);
        let narrow = Ruler::new(&axis, &[0.001, 1.0], Side::Across, 150.0);
        assert_eq!(texts(&narrow), ["0.1 %", "1 %", "10 %", "100 %"]);
        // From 0.09 %, which the axis reaches too, to 100 %.
        assert_eq!(narrow.minor.len(), 29);
        let steps = [0.001, 0.01, 0.1].map(|v| ruler.place(v).unwrap());
        assert!((2.0 * steps[1] - steps[0] - steps[2]).abs() < 1e-12);
    }

    #[test]
    fn zeros_have_a_band_of_their_own_on_a_logarithmic_axis() {
        let axis = axis(Scale::Log, Form::Plain);
        let ruler = Ruler::new(&axis, &[0.0, -1.0, 1.0, 1000.0], Side::Across, 500.0);
        let end = ruler.zero.unwrap();
        assert_eq!(ruler.ticks[0].text, "0");
        assert_eq!(ruler.place(0.0), Some(end / 2.0));
        assert_eq!(ruler.place(-1.0), ruler.place(0.0));
        assert!(ruler.place(1.0).unwrap() > end);
        let without = Ruler::new(&axis, &[1.0, 1000.0], Side::Across, 500.0);
        assert_eq!((without.zero, without.place(0.0)), (None, None));
        assert_eq!(without.place_inside(0.0), Some(0.0));
    }

    #[test]
    fn a_narrow_or_a_vast_logarithmic_axis_still_has_numbers() {
        for values in [[2.2, 2.9], [3.0, 3.0], [1e-90, 1e90], [40.0, 70.0]] {
            for length in [120.0, 600.0] {
                for side in [Side::Across, Side::Upwards] {
                    let ruler = Ruler::new(&axis(Scale::Log, Form::Plain), &values, side, length);
                    let count = ruler.ticks.len();
                    assert!((2..=13).contains(&count), "{values:?} {length}: {count}");
                    assert!(ruler.fits(&ruler.ticks, 0.0));
                }
            }
        }
    }

    #[test]
    fn an_axis_for_tails_gives_each_nine_the_same_room() {
        let axis = axis(Scale::Tail, Form::Share);
        let ruler = Ruler::new(&axis, &[0.01, 0.5, 0.9999], Side::Across, 600.0);
        let at = [0.0, 0.9, 0.99, 0.999, 0.9999].map(|share| ruler.place(share).unwrap());
        for (i, at) in at.into_iter().enumerate() {
            assert!((at - i as f64 / 4.0).abs() < 1e-6, "{i}: {at}");
        }
        assert_eq!(texts(&ruler)[..4], ["0 %", "50 %", "90 %", "95 %"]);
        assert_eq!(texts(&ruler).last(), Some(&"99.99 %"));
        let narrow = Ruler::new(&axis, &[0.9999], Side::Across, 200.0);
        assert_eq!(texts(&narrow), ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
        assert!(narrow.fits(&narrow.ticks, 0.0));
    }

    #[test]
    fn names_of_categories_are_thinned_and_cut_until_they_fit() {
        let names: Vec<String> = (0..100).map(|i| format!("{i} ms")).collect();
        let ruler = Ruler::new(
            &axis(Scale::Steps(names), Form::Plain),
            &[],
            Side::Across,
            500.0,
        );
        assert!((5..40).contains(&ruler.ticks.len()));
        assert!(ruler.fits(&ruler.ticks, 0.0));
        assert_eq!(ruler.ticks[0].text, "0 ms");
        assert_eq!(ruler.place(0.0), Some(0.005));
        let long = vec!["a name that is far too long".repeat(9); 3];
        let ruler = Ruler::new(
            &axis(Scale::Steps(long), Form::Plain),
            &[],
            Side::Across,
            300.0,
        );
        assert!(ruler.ticks.len() == 3 && ruler.widest() <= 100.0);
        let none = Ruler::new(
            &axis(Scale::Steps(vec![]), Form::Plain),
            &[],
            Side::Across,
            300.0,
        );
        assert!(none.ticks.is_empty());
    }
}
