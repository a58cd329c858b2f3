//! The history of the window's repository: its tab, the changes of its commits, and commands at them.
//!
//! Invariant: a command that discards something asks first, and says what is lost.
//! Start at `FollowedHistory`.

mod reflog;
mod stepping;
mod versions;

use std::path::PathBuf;
use std::sync::Arc;

use base::AbsPath;
use futures::channel::oneshot;
use git_history::actions::git::{ShowFileHistory, ShowHistory, ShowLineHistory, UndoLastAction};
use git_history::{
    CommitCommand, HistoryEvent, HistoryService, HistoryView, file_filter, lines_filter,
};
use git_program::{LogRow, ResetMode, UndoPlan, UndoStep};
use gpui_kit::{
    AppContext as _, Context, Div, Entity, InteractiveElement as _, Stateful, Task, Window,
};
use ui::ButtonStyle;

use super::{Workbench, blame, git_changes};
use crate::item::TabItem;
use crate::layout::{ItemId, TabOpenMode};
use crate::pickers::commit_name::CommitNamePicker;
use crate::question::QuestionSpec;

/// Key of the notices of this module.
const NOTICE: &str = "history";
/// Characters of a commit id that people read.
const SHORT_ID: usize = 8;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(show_history))
        .on_action(cx.listener(show_file_history))
        .on_action(cx.listener(show_line_history))
        .on_action(cx.listener(undo_last_action))
        .on_action(cx.listener(reflog::show))
        .on_action(cx.listener(stepping::show_older))
        .on_action(cx.listener(stepping::show_newer))
}

/// The history of the window's folder, and the blame of its texts.
#[derive(Default)]
pub(super) struct FollowedHistory {
    pub(super) service: Option<Arc<dyn HistoryService>>,
    /// The commit at HEAD; `None` until it is known, and before the first commit.
    pub(super) head: Option<String>,
    pub(super) blame: blame::BlameState,
    /// The tabs in which the user steps through the versions of a file.
    stepped: Vec<stepping::SteppedVersions>,
    /// Asks for HEAD.
    look: Option<Task<()>>,
}

/// Opens the history of the window's folder after that folder was opened, replaced or closed.
pub(super) fn follow_folder(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    let root = workbench.root(cx);
    let open = workbench.services.history.clone();
    let has_margin = workbench.history.blame.has_margin;
    workbench.history = FollowedHistory {
        service: root.zip(open).map(|(root, open)| open(&root)),
        ..FollowedHistory::default()
    };
    workbench.history.blame.has_margin = has_margin;
    blame::show_everywhere(workbench, cx);
    look_at_head(workbench, cx);
}

/// Asks for the commit at HEAD. Only if it is another one, the history and the blame are read again.
pub(super) fn look_at_head(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    let Some(service) = &workbench.history.service else {
        return;
    };
    let head = service.head();
    workbench.history.look = Some(cx.spawn(async move |this, cx| {
        let head = head.await;
        // The window may have been closed.
        this.update(cx, |this, cx| head_is(this, head, cx)).ok();
    }));
}

fn head_is(workbench: &mut Workbench, head: Option<String>, cx: &mut Context<Workbench>) {
    if workbench.history.head == head {
        return;
    }
    let before = std::mem::replace(&mut workbench.history.head, head);
    blame::head_moved(workbench, cx);
    if before.is_none() {
        // A view that is open has read this HEAD.
        return;
    }
    let now = now(workbench);
    for entry in workbench.items.values() {
        if let TabItem::History(view) = &entry.item {
            view.update(cx, |view, cx| view.refresh(now, cx));
        }
    }
}

/// Returns the current time in seconds since 1970.
pub(super) fn now(workbench: &Workbench) -> i64 {
    let seconds = workbench.services.clock.wall_ms() / 1000;
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

/// Returns the first characters of a commit id.
pub(super) fn short(id: &str) -> &str {
    id.get(..SHORT_ID).unwrap_or(id)
}

/// Returns the service; reports if the window has no folder.
pub(super) fn service_or_tell(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<Arc<dyn HistoryService>> {
    let service = workbench.history.service.clone();
    if service.is_none() {
        workbench.tell(NOTICE, "The history needs an open folder", window, cx);
    }
    service
}

fn show_history(
    workbench: &mut Workbench,
    _: &ShowHistory,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    open_view(workbench, "", window, cx);
}

/// Shows the history with a filter, in its tab or a new one.
pub(super) fn open_view(
    workbench: &mut Workbench,
    filter: &str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<Entity<HistoryView>> {
    let service = service_or_tell(workbench, window, cx)?;
    workbench.leave_place(cx);
    if let Some((id, view)) = shown_view(workbench) {
        view.update(cx, |view, cx| view.set_filter(filter, window, cx));
        workbench.activate(id, window, cx);
        workbench.layout_changed(cx);
        return Some(view);
    }
    let now = now(workbench);
    let view = cx.new(|cx| HistoryView::new(service, filter, now, window, cx));
    let pane = workbench.layout.active_pane();
    let item = TabItem::History(view.clone());
    workbench.add_item(item, pane, TabOpenMode::Lasting, window, cx);
    workbench.focus_active(window, cx);
    Some(view)
}

/// Returns the tab with the history, if there is one.
fn shown_view(workbench: &Workbench) -> Option<(ItemId, Entity<HistoryView>)> {
    let mut items = workbench.layout.items().into_iter();
    items.find_map(|id| match workbench.item(id) {
        Some(TabItem::History(view)) => Some((id, view.clone())),
        _ => None,
    })
}

/// Returns the path of the active text in the repository; reports if there is none.
fn active_path(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<PathBuf> {
    let service = service_or_tell(workbench, window, cx)?;
    let path = workbench.active_item().and_then(|item| item.path(cx));
    let path = path.and_then(|path: AbsPath| service.path_in_repository(&path));
    if path.is_none() {
        let sentence = "The history of a file needs an open file of this repository";
        workbench.tell(NOTICE, sentence, window, cx);
    }
    path
}

fn show_file_history(
    workbench: &mut Workbench,
    _: &ShowFileHistory,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(path) = active_path(workbench, window, cx) {
        open_view(workbench, &file_filter(&path), window, cx);
    }
}

fn show_line_history(
    workbench: &mut Workbench,
    _: &ShowLineHistory,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(path) = active_path(workbench, window, cx) else {
        return;
    };
    let Some(editor) = workbench.active_item().and_then(TabItem::editor).cloned() else {
        return;
    };
    let lines = editor.update(cx, |editor, cx| {
        let span = editor.selections(cx).primary().span();
        let snapshot = editor.model().read(cx).snapshot();
        let row = |offset| snapshot.point_at(offset).row.0 + 1;
        row(span.start)..=row(span.end)
    });
    open_view(workbench, &lines_filter(&path, lines), window, cx);
}

/// Handles a request of the view.
pub(super) fn view_event(
    workbench: &mut Workbench,
    view: &Entity<HistoryView>,
    event: &HistoryEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        HistoryEvent::OpenChange { id, change } => {
            let commits = view.read(cx).file_versions();
            let commits = commits.unwrap_or_default();
            let shown = (id.clone(), (**change).clone());
            versions::open(workbench, shown, commits, window, cx);
        }
        HistoryEvent::NameWanted { commit, is_tag } => {
            ask_name(workbench, commit, *is_tag, window, cx);
        }
        HistoryEvent::Run { commit, command } => {
            ask_and_run(workbench, commit, command.clone(), window, cx);
        }
        HistoryEvent::Compare { before, after } => {
            let versions = (before.clone(), after.clone());
            git_changes::compare_commits(workbench, versions, window, cx);
        }
        HistoryEvent::RebaseFrom(id) => {
            git_changes::rebase_from(workbench, id.clone(), window, cx);
        }
        HistoryEvent::OpenPage(page) => cx.open_url(page),
        HistoryEvent::Tell(sentence) => workbench.tell(NOTICE, sentence.clone(), window, cx),
        HistoryEvent::Cancelled => workbench.focus_active(window, cx),
    }
}

/// Asks for the name of a branch or tag, and creates it.
fn ask_name(
    workbench: &mut Workbench,
    commit: &LogRow,
    is_tag: bool,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let (reply, answer) = oneshot::channel();
    let picker = CommitNamePicker::new(is_tag, commit.subject.clone(), reply);
    workbench.pick_with(picker, "", window, cx);
    let id = commit.id.clone();
    cx.spawn_in(window, async move |this, cx| {
        // Without an answer, the user dismissed the picker.
        let Ok(name) = answer.await else {
            return;
        };
        let command = if is_tag {
            CommitCommand::Tag(name)
        } else {
            CommitCommand::Branch(name)
        };
        let run = this.update_in(cx, |this, window, cx| run(this, id, command, window, cx));
        // The window may be gone by then.
        run.ok();
    })
    .detach();
}

/// Runs a command, after a question if it moves the branch.
fn ask_and_run(
    workbench: &mut Workbench,
    commit: &LogRow,
    command: CommitCommand,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let id = commit.id.clone();
    let Some(spec) = question_before(commit, &command) else {
        return run(workbench, id, command, window, cx);
    };
    let answer = workbench.ask(spec, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        if let Ok(0) = answer.await {
            let run = this.update_in(cx, |this, window, cx| run(this, id, command, window, cx));
            // The window may be gone by then.
            run.ok();
        }
    })
    .detach();
}

/// Returns the question before a command that moves the branch, with a sentence on what is lost.
fn question_before(commit: &LogRow, command: &CommitCommand) -> Option<QuestionSpec> {
    let CommitCommand::Reset(mode) = command else {
        return None;
    };
    let (detail, answer, style) = match mode {
        ResetMode::Soft => (
            "Later commits leave the branch; their changes stay staged. Nothing in your files changes.",
            "Reset",
            ButtonStyle::Primary,
        ),
        ResetMode::Mixed => (
            "Later commits leave the branch; their changes stay in your files, and nothing stays staged.",
            "Reset",
            ButtonStyle::Primary,
        ),
        ResetMode::Keep => (
            "Later commits leave the branch with their changes. Git refuses if your own changes would be lost.",
            "Reset",
            ButtonStyle::Danger,
        ),
        ResetMode::Hard => (
            "Later commits leave the branch, and all changes that are not committed are lost. The commits can be found again by \u{201c}Undo last action\u{201d}; changes that are not committed cannot.",
            "Discard and reset",
            ButtonStyle::Danger,
        ),
    };
    let title = format!(
        "Move the branch to {} \u{201c}{}\u{201d}?",
        short(&commit.id),
        commit.subject
    );
    Some(QuestionSpec {
        title: title.into(),
        detail: detail.into(),
        answers: vec![
            (answer.into(), style),
            ("Cancel".into(), ButtonStyle::Plain),
        ],
        safest: 1,
    })
}

/// Runs a command at a commit, and reports its result.
fn run(
    workbench: &mut Workbench,
    id: String,
    command: CommitCommand,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(service) = service_or_tell(workbench, window, cx) else {
        return;
    };
    let answer = service.run(id, command);
    cx.spawn_in(window, async move |this, cx| {
        let answer = answer.await;
        let told = this.update_in(cx, |this, window, cx| {
            match answer {
                Ok(sentence) => this.tell(NOTICE, sentence, window, cx),
                Err(error) => this.report_error(base::sentence(&error.to_string()), window, cx),
            }
            this.refresh_git(cx);
            look_at_head(this, cx);
        });
        // The window may be gone by then.
        told.ok();
    })
    .detach();
}

/// Shows the way back from the last action of Git, and goes it if the user agrees.
fn undo_last_action(
    workbench: &mut Workbench,
    _: &UndoLastAction,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(service) = service_or_tell(workbench, window, cx) else {
        return;
    };
    let plan = service.undo_plan();
    cx.spawn_in(window, async move |this, cx| {
        let plan = plan.await;
        let asked = this.update_in(cx, |this, window, cx| match plan {
            Ok(Some(plan)) => Some((this.ask(undo_question(&plan), window, cx), plan)),
            Ok(None) => {
                let sentence = "The last action of Git cannot be undone";
                this.tell(NOTICE, sentence, window, cx);
                None
            }
            Err(error) => {
                this.report_error(base::sentence(&error.to_string()), window, cx);
                None
            }
        });
        let Ok(Some((answer, plan))) = asked else {
            return;
        };
        if let Ok(0) = answer.await {
            let started = this.update_in(cx, |this, window, cx| {
                carry_out(this, plan, "The last action of Git is undone", window, cx);
            });
            // The window may be gone by then.
            started.ok();
        }
    })
    .detach();
}

/// Carries out a plan, and reports its result; `done` is the sentence about its success.
fn carry_out(
    workbench: &mut Workbench,
    plan: UndoPlan,
    done: &'static str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(service) = service_or_tell(workbench, window, cx) else {
        return;
    };
    let undoing = service.undo(plan);
    cx.spawn_in(window, async move |this, cx| {
        let undone = undoing.await;
        let told = this.update_in(cx, |this, window, cx| {
            match undone {
                Ok(()) => this.tell(NOTICE, done, window, cx),
                Err(error) => this.report_error(base::sentence(&error.to_string()), window, cx),
            }
            this.refresh_git(cx);
            look_at_head(this, cx);
        });
        // The window may be gone by then.
        told.ok();
    })
    .detach();
}

/// Returns the question that shows a plan.
fn undo_question(plan: &UndoPlan) -> QuestionSpec {
    let effect = match &plan.step {
        UndoStep::ResetSoft(id) => format!(
            "The branch moves back to {}. The changes of the commit stay staged.",
            short(id)
        ),
        UndoStep::ResetKeep(id) => format!(
            "Branch and files move back to {}. Git refuses if changes that are not committed would be lost.",
            short(id)
        ),
        UndoStep::SwitchBranch(name) => format!("Switches back to the branch {name}."),
        UndoStep::SwitchDetached(id) => {
            format!("Checks out {} again, without a branch.", short(id))
        }
    };
    let command = plan.step.arguments().join(" ");
    QuestionSpec {
        title: format!("Undo \u{201c}{}\u{201d}?", plan.action).into(),
        detail: format!("{effect}\nThis runs: git {command}").into(),
        answers: vec![
            ("Undo".into(), ButtonStyle::Primary),
            ("Cancel".into(), ButtonStyle::Plain),
        ],
        safest: 1,
    }
}
