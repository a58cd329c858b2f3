//! The problems of the open folder: their list, and keys that go from one to the next across files.
//!
//! Start at `go_to_problem`.

use base::{AbsPath, Span};
use editor::{DocumentModel, Editor, NextDiagnostic, PreviousDiagnostic, ShowHover};
use gpui_kit::{Action, App, Context, Div, Entity, InteractiveElement as _, Stateful, Window};

use super::Workbench;
use crate::actions::language::{NextProblem, PreviousProblem, ShowProblems};
use crate::item::TabItem;
use crate::language_servers::LanguageServers;
use crate::open_options::GoToPosition;
use crate::pickers::problems::ProblemPicker;
use crate::pickers::problems::listing::is_visited;
use crate::pickers::problems::sources::ProblemSources;

/// The direction in which keys go from one problem to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProblemStep {
    Next,
    Previous,
}

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(show_problems))
        .on_action(cx.listener(|this, _: &NextProblem, window, cx| {
            go_to_problem(this, ProblemStep::Next, window, cx);
        }))
        .on_action(cx.listener(|this, _: &PreviousProblem, window, cx| {
            go_to_problem(this, ProblemStep::Previous, window, cx);
        }))
}

fn show_problems(
    workbench: &mut Workbench,
    _: &ShowProblems,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(servers) = workbench.language_servers(cx) else {
        return;
    };
    let picker = ProblemPicker::new(servers, workbench, read_problems, cx);
    workbench.pick(picker, window, cx);
}

/// Returns the diagnostics of the folder, in open and closed files.
pub(super) fn read_problems(workbench: &Workbench, cx: &App) -> ProblemSources {
    let mut sources = ProblemSources::default();
    let Some(servers) = workbench.language_servers(cx) else {
        return sources;
    };
    let servers = servers.read(cx);
    for (path, model) in servers.documents() {
        let name = workbench.display_path(&path, cx);
        let model = model.read(cx);
        sources.add_open(path, name, model.snapshot(), model.diagnostics().collect());
    }
    for (path, items) in servers.diagnostics().closed() {
        let name = workbench.display_path(path, cx);
        sources.add_closed(path.clone(), name, items.clone());
    }
    sources
}

/// Goes to the next or previous problem of the active text; past the last one, to another file with problems.
fn go_to_problem(
    workbench: &mut Workbench,
    step: ProblemStep,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let editor = workbench.active_item().and_then(TabItem::editor).cloned();
    let is_within = editor
        .as_ref()
        .is_some_and(|editor| has_more(editor, step, cx));
    let here = workbench.active_item().and_then(|item| item.path(cx));
    let servers = workbench.language_servers(cx);
    // Among excerpts, the keys stay in their tab.
    let is_excerpts = matches!(workbench.active_item(), Some(TabItem::Excerpts(..)));
    let other = servers
        .filter(|_| !is_within && !is_excerpts)
        .and_then(|servers| neighbour(servers.read(cx), here.as_ref(), step, cx));
    match other {
        Some((path, position)) if here.as_ref() != Some(&path) => {
            workbench.leave_place(cx);
            workbench.open_at(path.clone(), Some(position), false, window, cx);
            let is_shown = workbench.active_item().and_then(|item| item.path(cx)) == Some(path);
            // A file that is still loading has no diagnostics to show.
            if is_shown {
                window.dispatch_action(ShowHover.boxed_clone(), cx);
            }
        }
        _ => {
            workbench.focus_active(window, cx);
            let action = match step {
                ProblemStep::Next => NextDiagnostic.boxed_clone(),
                ProblemStep::Previous => PreviousDiagnostic.boxed_clone(),
            };
            window.dispatch_action(action, cx);
        }
    }
}

/// Returns whether a view has another problem after, or before, its caret.
fn has_more(editor: &Entity<Editor>, step: ProblemStep, cx: &mut App) -> bool {
    let head = editor.update(cx, |editor, cx| editor.selections(cx).primary().head);
    let model = editor.read(cx).model().read(cx);
    let mut visited = model
        .diagnostics()
        .filter(|it| is_visited(it.diagnostic.severity));
    match step {
        ProblemStep::Next => visited.any(|it| it.span.start > head),
        ProblemStep::Previous => visited.next().is_some_and(|it| it.span.start < head),
    }
}

/// Returns the first problem of the next file with problems, in the order of paths, or the last problem of the file
/// before; wraps around.
fn neighbour(
    servers: &LanguageServers,
    here: Option<&AbsPath>,
    step: ProblemStep,
    cx: &App,
) -> Option<(AbsPath, GoToPosition)> {
    let open = servers.documents().into_iter().filter_map(|(path, model)| {
        let position = position_in(model.read(cx), step)?;
        Some((path, position))
    });
    let mut candidates: Vec<_> = open.collect();
    let diagnostics = servers.diagnostics();
    let closed = |(path, items): (&AbsPath, &std::sync::Arc<[lsp::UnopenedDiagnostic]>)| {
        let mut visited = items.iter().filter(|item| is_visited(item.severity));
        let item = match step {
            ProblemStep::Next => visited.next(),
            ProblemStep::Previous => visited.next_back(),
        };
        Some((path.clone(), GoToPosition::StartOf(item?.range)))
    };
    // Of the closed files, the nearest and the one at the other end are enough.
    match (step, here) {
        (ProblemStep::Next, here) => {
            let after = here.and_then(|here| diagnostics.closed_after(here).find_map(closed));
            candidates.extend(after);
            candidates.extend(diagnostics.closed().find_map(closed));
        }
        (ProblemStep::Previous, here) => {
            let before = here.and_then(|here| diagnostics.closed_before(here).find_map(closed));
            candidates.extend(before);
            candidates.extend(diagnostics.closed().rev().find_map(closed));
        }
    }
    candidates.sort_by(|(a, _), (b, _)| a.cmp(b));
    let wrapped = match step {
        ProblemStep::Next => candidates.first(),
        ProblemStep::Previous => candidates.last(),
    };
    let nearest = match (step, here) {
        (_, None) => None,
        (ProblemStep::Next, Some(here)) => candidates.iter().find(|(path, _)| path > here),
        (ProblemStep::Previous, Some(here)) => {
            candidates.iter().rev().find(|(path, _)| path < here)
        }
    };
    nearest.or(wrapped).cloned()
}

/// Returns the place of the first or last problem of a document.
fn position_in(model: &DocumentModel, step: ProblemStep) -> Option<GoToPosition> {
    let visited = model
        .diagnostics()
        .filter(|it| is_visited(it.diagnostic.severity));
    let placed = match step {
        ProblemStep::Next => visited.min_by_key(|it| it.span.start),
        ProblemStep::Previous => visited.max_by_key(|it| it.span.start),
    };
    Some(GoToPosition::Span(Span::at(placed?.span.start)))
}
