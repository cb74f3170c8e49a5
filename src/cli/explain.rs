//! `explain`: what each strategy does, without a run.

use super::reading::{keep_only, read_telling};
use super::terminal::{Look, print, tell};
use super::{ExplainArguments, Failure};
use crate::experiment::border;
use crate::explain::{Section, explain as explain_strategy, explain_service};
use crate::report::{Style, border_lines, figures, heading, paragraphs, title};
use crate::scenario::{Plan, Scenario};

pub(super) fn explain(arguments: &ExplainArguments) -> Result<(), Failure> {
    // What is suspicious about a strategy stands with the strategy, and there is no run to be suspicious about.
    let elsewhere = |path: &str| !path.starts_with("strategy[") && !path.starts_with("run");
    let (scenario, plan) = read_telling(&arguments.file, &arguments.set, |problem| {
        elsewhere(&problem.path)
    })
    .and_then(|(scenario, mut plan)| {
        keep_only(&scenario, &mut plan, &arguments.only)?;
        Some((scenario, plan))
    })
    .ok_or(Failure::Input)?;
    plan.notes.iter().for_each(|note| tell(note));
    let strategies: Vec<usize> = match arguments.only.is_empty() {
        true => (0..plan.strategies.len()).collect(),
        false => plan.compared.clone(),
    };
    let page = Page::of_stdout();
    let mut parts = vec![page.question(&scenario)];
    let strategies_told = strategies
        .iter()
        .map(|&i| page.strategy(&scenario, &plan, i));
    parts.extend(strategies_told);
    parts.extend(page.service(&plan, &strategies));
    print(&format!("{}\n", parts.join("\n\n\n")))
}

/// A terminal to lay text out for.
#[derive(Clone, Copy, Debug)]
struct Page {
    width: usize,
    style: Style,
}

impl Page {
    fn of_stdout() -> Self {
        let look = Look::of_stdout();
        Self {
            width: look.width,
            style: Style {
                colour: look.colour,
                unicode: look.unicode,
            },
        }
    }

    /// What the scenario is and asks.
    fn question(self, scenario: &Scenario) -> String {
        let text = match scenario.question.as_str() {
            "" => scenario.name.clone(),
            question => format!("{}: {question}", scenario.name),
        };
        paragraphs(&[text], self.width, self.style)
    }

    fn strategy(self, scenario: &Scenario, plan: &Plan, strategy: usize) -> String {
        let name = &plan.strategies[strategy].name;
        let sections = explain_strategy(scenario, plan, strategy);
        let mut parts = vec![title(name, self.width, self.style)];
        parts.extend(sections.iter().map(|section| self.section(section)));
        // What is said first belongs to the title.
        let first = parts.drain(..2).collect::<Vec<_>>().join("\n");
        parts.insert(0, first);
        parts.join("\n\n")
    }

    fn section(self, section: &Section) -> String {
        let mut parts = Vec::new();
        if !section.title.is_empty() {
            parts.push(heading(section.title, self.style));
        }
        parts.push(paragraphs(&section.lines, self.width, self.style));
        if let Some(table) = &section.figures {
            parts.push(String::new());
            parts.push(figures(
                &table.headings,
                &table.rows,
                self.width,
                self.style,
            ));
        }
        parts.join("\n")
    }

    /// What the service does for itself, and up to which load it comes back by itself; nothing where neither is known.
    fn service(self, plan: &Plan, strategies: &[usize]) -> Option<String> {
        let mut section = explain_service(plan);
        let compared = strategies.iter().filter(|i| plan.compared.contains(i));
        let borders: Vec<_> = compared
            .map(|&i| (plan.strategies[i].name.as_str(), border(plan, i)))
            .collect();
        if borders.iter().any(|(_, border)| border.is_ok()) {
            let borders = borders.iter().map(|(name, border)| (*name, border));
            section.lines.extend(border_lines(borders));
        }
        let name = format!("service {}", plan.world.service.name);
        (!section.lines.is_empty()).then(|| {
            let lines = paragraphs(&section.lines, self.width, self.style);
            format!("{}\n{lines}", title(&name, self.width, self.style))
        })
    }
}
