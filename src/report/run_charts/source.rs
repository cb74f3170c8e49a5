//! What the charts of a run are made of: the rows of its CSV files and the shaded faults, and nothing else of a run.
//!
//! A chart that can be drawn from the files can be drawn again without a run.

use super::super::chart::{Axis, Curves, Form, Panel, Scale, Series, Shade, Words};
use super::super::{ranked_places, replications_words};
use crate::experiment::{FaultSpan, RunResult};
use crate::metrics::{LatencyRow, SummaryRow, TimelineRow, latency_rows, timeline_rows};

/// A run, as its charts see it.
#[derive(Clone, Debug)]
pub(super) struct Source<'a> {
    /// The scenario's name.
    pub(super) name: &'a str,
    /// Its question, or nothing.
    pub(super) question: &'a str,
    /// Replications behind the numbers.
    pub(super) replications: u32,
    /// Width of a bin of time, s.
    pub(super) bin_s: f64,
    /// The scheduled faults in order, in seconds.
    pub(super) faults: Vec<Shade>,
    /// The strategies, best first.
    pub(super) strategies: Vec<Rows<'a>>,
}

/// The rows of a strategy.
#[derive(Clone, Debug)]
pub(super) struct Rows<'a> {
    /// Its place among the compared strategies, in the order of the files.
    pub(super) place: usize,
    /// Its row of `summary.csv`.
    pub(super) summary: &'a SummaryRow,
    /// Its rows of `timeline.csv`, in order of time.
    pub(super) timeline: Vec<TimelineRow<'a>>,
    /// Its rows of `latency.csv`, from the lowest quantile.
    pub(super) latency: Vec<LatencyRow<'a>>,
}

impl Rows<'_> {
    /// The strategy with its place.
    pub(super) fn name(&self) -> String {
        format!("{}. {}", self.summary.rank, self.summary.strategy)
    }
}

impl<'a> Source<'a> {
    /// The rows that the files of a run hold.
    pub(super) fn of(result: &'a RunResult) -> Self {
        let strategies = ranked_places(result).into_iter().map(|(place, strategy)| {
            let (name, total) = (&strategy.summary.strategy[..], &strategy.total);
            Rows {
                place,
                summary: &strategy.summary,
                timeline: timeline_rows(name, total, result.replications, result.horizon).collect(),
                latency: latency_rows(name, &total.latency).collect(),
            }
        });
        let first = result.strategies.first();
        let bin = first.map(|strategy| strategy.total.timeline.width());
        let shade = |fault: &FaultSpan| Shade {
            from: fault.from.as_secs_f64(),
            to: fault.to.as_secs_f64(),
            label: fault.label.clone(),
        };
        Self {
            name: &result.name,
            question: result.question.trim(),
            replications: result.replications,
            bin_s: bin.map_or(0.0, |width| width.as_secs_f64()),
            faults: result.faults.iter().map(shade).collect(),
            strategies: strategies.collect(),
        }
    }

    /// What stands around a chart with this title and note.
    pub(super) fn words(&self, title: &str, note: &str) -> Words {
        let subtitle = match self.question {
            "" => self.name.to_owned(),
            question => format!("{}: {question}", self.name),
        };
        Words {
            title: title.into(),
            subtitle,
            note: note.into(),
        }
    }

    /// A chart of lines over time with the faults shaded.
    pub(super) fn over_time(&self, words: Words, y: Axis, panels: Vec<Panel>) -> Curves {
        Curves {
            words,
            x: axis("time, s", Form::Plain),
            y,
            panels,
            shades: self.faults.clone(),
            stacked: false,
        }
    }

    /// "mean over 20 replications", or that there is only one.
    pub(super) fn mean_over(&self) -> String {
        match self.replications {
            1 => "a single replication".into(),
            n => format!("mean over {}", replications_words(n)),
        }
    }

    /// A panel with a line for each strategy that `points` gives any points for; `None` when there is no line.
    pub(super) fn panel(
        &self,
        title: &str,
        points: impl Fn(&Rows<'_>) -> Vec<(f64, f64)>,
    ) -> Option<Panel> {
        let lines = self.strategies.iter().filter_map(|rows| {
            let points = points(rows);
            (!points.is_empty()).then(|| Series::line(rows.name(), &points))
        });
        let series: Vec<Series> = lines.collect();
        (!series.is_empty()).then(|| Panel {
            title: title.into(),
            series,
            references: Vec::new(),
        })
    }
}

/// An even axis.
pub(super) fn axis(label: &str, form: Form) -> Axis {
    Axis {
        label: label.into(),
        scale: Scale::Linear,
        form,
    }
}

/// An axis that is logarithmic when the values above zero span more than two decades.
pub(super) fn axis_for(label: &str, form: Form, values: impl Iterator<Item = f64>) -> Axis {
    let ends = values.filter(|&value| value > 0.0);
    let (low, high) = ends.fold((f64::INFINITY, 0.0f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let scale = if high > 100.0 * low {
        Scale::Log
    } else {
        Scale::Linear
    };
    Axis {
        scale,
        ..axis(label, form)
    }
}
