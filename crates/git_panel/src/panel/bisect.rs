//! A bisection in the panel: its start, the verdicts, and the steps that are left.

use base::AbsPath;
use git::changes::{Operation, OperationKind};
use git_program::{BisectState, BisectVerdict};
use gpui_kit::{Action, AnyElement, Context, IntoElement as _, ParentElement as _, Window};
use ui::{Banner, Button, ButtonStyle, Tone};

use super::call::AfterCall;
use super::{ChangesPanel, ChangesPanelEvent};
use crate::actions as act;
use crate::service::GitCommand;

/// Characters of a commit id that people read.
const SHORT_ID: usize = 8;

/// A step of a bisection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BisectStep {
    /// Judges the commit that is checked out.
    Mark(BisectVerdict),
    /// Ends the bisection.
    Reset,
    /// Shows the first commit with the error in the history.
    ShowFound,
}

/// Returns the repository in which a bisection is in progress.
fn bisected(panel: &ChangesPanel) -> Option<AbsPath> {
    let repository = panel.state.current()?;
    let operation = repository.changes.as_ref()?.operation.as_ref()?;
    let is_bisect = operation.kind == OperationKind::Bisect;
    is_bisect.then(|| repository.info.root.clone())
}

/// Reads the state of a bisection after the changes of its repository were read.
pub(super) fn follow(panel: &mut ChangesPanel, cx: &mut Context<ChangesPanel>) {
    let Some(root) = bisected(panel) else {
        panel.bisect = None;
        return;
    };
    let reading = panel.service.bisect_state(&root);
    cx.spawn(async move |this, cx| {
        let state = reading.await;
        this.update(cx, |this, cx| {
            // The panel still shows that a bisection is in progress.
            this.bisect = state.ok().map(|state| (root, state));
            cx.notify();
        })
        // The panel may be gone.
        .ok();
    })
    .detach();
}

/// Begins a bisection.
pub(super) fn start(
    panel: &mut ChangesPanel,
    root: AbsPath,
    (bad, good): (String, String),
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    let command = GitCommand::BisectStart { bad, good };
    run(panel, root, "Starting the bisection", command, window, cx);
}

/// Carries out a step of the bisection in progress.
pub(super) fn step(
    panel: &mut ChangesPanel,
    step: BisectStep,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    let Some(root) = bisected(panel) else {
        return panel.note(Tone::Info, "No bisection is in progress", cx);
    };
    match step {
        BisectStep::Mark(verdict) => {
            let command = GitCommand::BisectMark(verdict);
            run(panel, root, "Bisecting", command, window, cx);
        }
        BisectStep::Reset => {
            let command = GitCommand::BisectReset;
            run(panel, root, "Ending the bisection", command, window, cx);
        }
        BisectStep::ShowFound => match &panel.bisect {
            Some((_, BisectState::Found(id))) => {
                cx.emit(ChangesPanelEvent::ShowCommit(id.clone()));
            }
            _ => panel.note(Tone::Info, "The bisection has not found a commit yet", cx),
        },
    }
}

fn run(
    panel: &mut ChangesPanel,
    root: AbsPath,
    label: &'static str,
    command: GitCommand,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    if panel.is_busy(cx) {
        return;
    }
    let run = panel.service.run(&root, command);
    panel.follow_call(root, label, run, AfterCall::Show, window, cx);
}

/// Draws the bisection in progress with its buttons; `None` for another operation.
pub(super) fn render(panel: &ChangesPanel, operation: &Operation) -> Option<AnyElement> {
    if operation.kind != OperationKind::Bisect {
        return None;
    }
    let root = panel.state.current().map(|it| &it.info.root);
    let known = panel.bisect.as_ref().filter(|(of, _)| Some(of) == root);
    let state = known.map(|(_, state)| state);
    let button = |id: &'static str, label: &'static str, action: Box<dyn Action>| {
        Button::new(id, label).action(action)
    };
    let banner = Banner::new("git-operation", Tone::Info, words(state));
    let end = button("git-bisect-reset", "End", Box::new(act::BisectReset));
    let banner = if matches!(state, Some(BisectState::Found(_))) {
        let show = button("git-bisect-show", "Show", Box::new(act::ShowFirstBadCommit));
        banner.child(end).child(show.style(ButtonStyle::Primary))
    } else {
        banner
            .child(button("git-bisect-good", "Good", Box::new(act::BisectGood)))
            .child(button("git-bisect-bad", "Bad", Box::new(act::BisectBad)))
            .child(button("git-bisect-skip", "Skip", Box::new(act::BisectSkip)))
            .child(end)
    };
    Some(banner.into_any_element())
}

/// Returns the state of a bisection in words.
fn words(state: Option<&BisectState>) -> String {
    match state {
        None => "Bisecting".to_owned(),
        Some(BisectState::Waiting) => {
            "Bisecting: mark one commit as good and one as bad".to_owned()
        }
        Some(BisectState::Testing { revisions, steps }) => {
            let commits = base::count_of(*revisions as usize, "commit");
            let steps = base::count_of(*steps as usize, "step");
            format!("Bisecting: is this commit good or bad? {commits} in about {steps} are left")
        }
        Some(BisectState::Found(id)) => {
            let short = id.get(..SHORT_ID).unwrap_or(id);
            format!("{short} is the first bad commit")
        }
        Some(BisectState::OnlySkipped) => "Bisecting: only skipped commits are left".to_owned(),
    }
}
