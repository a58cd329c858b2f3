//! Passes the problems of the window to the agents' engines, for `@problems` in prompts.
//!
//! Invariant: the window's thread copies no message; texts are made in the background.
//! Start at `problems_changed`.

use std::time::Duration;

use base::path_text;
use composer_panel::agents::ShownProblems;
use gpui_kit::{AppContext as _, Context, Task};
use ui::RestTimer;

use super::Workbench;
use super::problems::read_problems;
use crate::pickers::problems::listing::{Problem, is_visited};

/// Pause in the reports of servers after which the problems are passed on.
const REPORT_REST: Duration = Duration::from_millis(150);
/// Maximum number of problems that are passed on.
const MAX_SHOWN: usize = 200;

/// The problems as the engines have them.
pub(super) struct ProblemReport {
    pub(super) latest: Option<ShownProblems>,
    timer: RestTimer<Workbench>,
    task: Option<Task<()>>,
}

impl ProblemReport {
    /// Creates a report without problems.
    pub(super) fn new() -> Self {
        Self {
            latest: None,
            timer: RestTimer::new(REPORT_REST, |it| &mut it.problem_report.timer, report),
            task: None,
        }
    }
}

/// Passes the problems on after a pause.
pub(super) fn problems_changed(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    workbench.problem_report.timer.put_off(cx);
}

fn report(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    let Some(root) = workbench.root(cx) else {
        return;
    };
    let sources = read_problems(workbench, cx);
    let reading = cx.background_spawn(async move {
        let problems = sources.problems().into_iter();
        let visited = problems.filter(|problem| is_visited(problem.severity));
        let inside = visited.filter_map(|problem| {
            let path = problem.path.relative_to(&root).map(path_text)?;
            Some((path, problem))
        });
        shown(inside.collect())
    });
    workbench.problem_report.task = Some(cx.spawn(async move |this, cx| {
        let shown = reading.await;
        // The window may be gone by then.
        this.update(cx, |this, cx| {
            this.problem_report.latest = Some(shown);
            this.note_open_files(cx);
        })
        .ok();
    }));
}

fn shown(problems: Vec<(String, Problem)>) -> ShownProblems {
    let more = problems.len().saturating_sub(MAX_SHOWN);
    let listed = problems.into_iter().take(MAX_SHOWN);
    ShownProblems {
        listed: listed
            .map(|(path, problem)| (path, problem.prompt_line()))
            .collect(),
        more,
    }
}
