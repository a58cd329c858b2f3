//! Passes the problems of the window to the agents' engines, for `@problems` in prompts, and lists the files with
//! problems for the prompt's suggestions.
//!
//! Invariant: the window's thread copies no message; texts are made in the background.
//! Start at `problems_changed`.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base::path_text;
use composer_panel::agents::ShownProblems;
use editor::DiagnosticCounts;
use gpui_kit::{AppContext as _, Context, Task};
use lsp::DiagnosticSeverity;
use ui::RestTimer;

use super::Workbench;
use super::problems::read_problems;
use crate::folder_diagnostics::phrase;
use crate::pickers::problems::listing::{Problem, is_visited};

/// Pause in the reports of servers after which the problems are passed on.
const REPORT_REST: Duration = Duration::from_millis(150);
/// Maximum number of problems that are passed on.
const MAX_SHOWN: usize = 200;
/// Maximum number of files that are listed for suggestions.
const MAX_FILES: usize = 30;

/// The problems as the engines have them.
pub(super) struct ProblemReport {
    pub(super) latest: Option<ShownProblems>,
    /// The files with errors or warnings, the worst first: the path relative to the folder, and the counts of its errors
    /// and warnings as text.
    pub(super) files: Arc<[(String, String)]>,
    timer: RestTimer<Workbench>,
    task: Option<Task<()>>,
}

impl ProblemReport {
    /// Creates a report without problems.
    pub(super) fn new() -> Self {
        Self {
            latest: None,
            files: Arc::default(),
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
        let problems: Vec<_> = inside.collect();
        (worst_files(&problems), shown(problems))
    });
    workbench.problem_report.task = Some(cx.spawn(async move |this, cx| {
        let (files, shown) = reading.await;
        // The window may be gone by then.
        this.update(cx, |this, cx| {
            this.problem_report.latest = Some(shown);
            this.problem_report.files = files;
            this.note_open_files(cx);
        })
        .ok();
    }));
}

fn worst_files(problems: &[(String, Problem)]) -> Arc<[(String, String)]> {
    let mut counts: HashMap<&str, DiagnosticCounts> = HashMap::new();
    for (path, problem) in problems {
        match problem.severity {
            DiagnosticSeverity::Error => counts.entry(path).or_default().errors += 1,
            DiagnosticSeverity::Warning => counts.entry(path).or_default().warnings += 1,
            DiagnosticSeverity::Information | DiagnosticSeverity::Hint => {}
        }
    }
    let mut files: Vec<_> = counts.into_iter().collect();
    files.sort_by_key(|(path, counts)| (Reverse(counts.errors), Reverse(counts.warnings), *path));
    let worst = files.into_iter().take(MAX_FILES);
    worst
        .map(|(path, counts)| (path.to_owned(), phrase(counts)))
        .collect()
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
