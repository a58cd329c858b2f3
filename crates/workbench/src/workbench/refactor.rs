//! Edits of language servers in the window: renaming a symbol, code actions, and edits that servers ask for.
//!
//! Start at `apply_edit`.

mod code_actions;
mod rename;

use std::cell::RefCell;
use std::rc::Rc;

use base::{LineFeeds, Row, printable};
use futures::channel::oneshot;
use gpui_kit::{
    AsyncWindowContext, Context, Div, Entity, InteractiveElement as _, Stateful, WeakEntity, Window,
};
use lsp::{EditRequest, RequestError, WorkspaceEdit};
use text::{Author, RowSpan};
use ui::{ActiveSettings as _, Tone};

use super::Workbench;
use crate::actions::language::{FixAll, OrganizeImports, ShowCodeActions, UndoRefactoring};
use crate::error::Error;
use crate::excerpt_rows::{expanded_rows, gather};
use crate::folder::OpenFolder;
use crate::item::TabItem;
use crate::notices::Notice;
use crate::pickers::edit_preview::EditPreview;
use crate::refactoring::{
    AppliedEdit, CommitOptions, EditPlan, commit, counts_text, prepare, prepare_undo,
};
#[cfg(test)]
pub(crate) use code_actions::{ActionEffects, perform};
pub(super) use code_actions::{first_of_kind, show_code_actions};

/// Key of the notifications about edits of servers.
const NOTICE: &str = "refactoring";
/// Rows shown around each change.
const CONTEXT: u32 = 3;

/// The treatment of an edit before it is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditReview {
    /// The user confirms it if the server wants that, or if it concerns files outside of the folder.
    IfNeeded,
    /// The user sees all changes first.
    Always,
}

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(rename::rename_symbol))
        .on_action(cx.listener(|this, _: &ShowCodeActions, window, cx| {
            show_code_actions(this, window, cx);
        }))
        .on_action(cx.listener(|this, _: &OrganizeImports, window, cx| {
            code_actions::run_source_action(this, "source.organizeImports", window, cx);
        }))
        .on_action(cx.listener(|this, _: &FixAll, window, cx| {
            code_actions::run_source_action(this, "source.fixAll", window, cx);
        }))
        .on_action(cx.listener(undo_refactoring))
}

/// Returns the active text with its servers and the path under which they know it. Tells the user if there are none.
fn active_servers(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<(
    Entity<editor::Editor>,
    base::AbsPath,
    Vec<language::DocumentServer>,
)> {
    let editor = workbench.active_item().and_then(TabItem::editor).cloned()?;
    let model = editor.read(cx).model().clone();
    let served = OpenFolder::servers_of(&model, cx);
    let served = served.map(|(servers, path)| (servers.read(cx).servers_of(&path), path));
    match served {
        Some((servers, path)) if !servers.is_empty() => Some((editor, path, servers)),
        _ => {
            let sentence = "No language server of this text runs";
            workbench.tell(NOTICE, sentence, window, cx);
            None
        }
    }
}

/// Applies the edit of an answer and reports a failure. Returns whether the edit was applied.
async fn apply_answer(
    this: &WeakEntity<Workbench>,
    title: &str,
    answer: Result<WorkspaceEdit, RequestError>,
    review: EditReview,
    cx: &mut AsyncWindowContext,
) -> bool {
    let applied = match answer {
        Ok(edit) => apply_edit(this, title, edit, review, cx).await,
        Err(error) => Err(error.into()),
    };
    match applied {
        Ok(is_applied) => is_applied,
        Err(error) => {
            let shown = this.update_in(cx, |this, window, cx| {
                this.report_error(error.to_string(), window, cx);
            });
            // The window may have been closed.
            shown.ok();
            false
        }
    }
}

/// Applies an edit of several files as a whole, after the user has seen it where that is needed. Returns whether it was
/// applied.
async fn apply_edit(
    this: &WeakEntity<Workbench>,
    title: &str,
    edit: WorkspaceEdit,
    review: EditReview,
    cx: &mut AsyncWindowContext,
) -> Result<bool, Error> {
    let closed = |_| Error::WindowClosed;
    let preparing = cx.update(|_, cx| prepare(edit, cx)).map_err(closed)?;
    let plan = preparing.await?;
    if plan.is_empty() {
        let told = this.update_in(cx, |this, window, cx| {
            this.tell(NOTICE, format!("{title}: nothing to change"), window, cx);
        });
        told.map_err(closed)?;
        return Ok(true);
    }
    let asked = this.update_in(cx, |this, window, cx| {
        let root = this.root(cx);
        let is_inside = root.is_some_and(|root| plan.is_within(&root));
        let is_plain = review == EditReview::IfNeeded && is_inside && !plan.needs_confirmation;
        (!is_plain).then(|| ask_to_apply(this, title, &plan, window, cx))
    });
    if let Some(answer) = asked.map_err(closed)?
        && answer.await.is_err()
    {
        return Ok(false);
    }
    let counts = plan.counts();
    let committing = this.update_in(cx, |this, _, cx| {
        let options = CommitOptions {
            author: Author::User,
            saves: saves(this, &plan, cx),
        };
        commit(plan, options, cx)
    });
    let applied = committing.map_err(closed)?.await?;
    let told = this.update_in(cx, |this, window, cx| {
        report_applied(this, title, counts, applied, window, cx);
    });
    told.map_err(closed)?;
    Ok(true)
}

/// Returns whether to save the texts of an edit: not if it concerns the active text alone, like one that the user types.
fn saves(workbench: &Workbench, plan: &EditPlan, cx: &Context<Workbench>) -> bool {
    let active = workbench.active_document(cx);
    let is_here = plan.steps.is_empty()
        && plan
            .files
            .iter()
            .all(|file| Some(&file.document) == active.as_ref());
    cx.settings().files.save_refactored && !is_here
}

fn ask_to_apply(
    workbench: &mut Workbench,
    title: &str,
    plan: &EditPlan,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> oneshot::Receiver<()> {
    let (reply, answer) = oneshot::channel();
    let display = |path: &base::AbsPath| workbench.display_path(path, cx);
    let preview = EditPreview::new(title, plan, &display, reply);
    workbench.pick(preview, window, cx);
    answer
}

/// Reports an edit that was applied, keeps it for undoing, and shows the changes that were not saved.
fn report_applied(
    workbench: &mut Workbench,
    title: &str,
    counts: (usize, usize),
    applied: AppliedEdit,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let active = workbench.active_document(cx);
    let active = active.and_then(|model| model.read(cx).path().cloned());
    let unsaved: Vec<_> = applied.files.iter().filter(|it| !it.is_saved).collect();
    let is_here = unsaved
        .iter()
        .all(|file| Some(&file.path) == active.as_ref());
    if !is_here {
        let places = unsaved.iter().flat_map(|file| {
            let hunks = file.before.diff_rows(&file.after);
            let rows = hunks.into_iter().map(|hunk| nonempty(hunk.after));
            rows.map(|rows| (file.path.clone(), expanded_rows(rows, CONTEXT)))
        });
        let places = gather(places);
        workbench.open_excerpts(title.to_owned(), places, window, cx);
    }
    if counts.1 > 1 || !is_here || applied.files.is_empty() {
        let sentence = format!("{title}: {}", counts_text(counts));
        let notice = Notice::new(Tone::Success, sentence)
            .key(NOTICE)
            .action("Undo", UndoRefactoring);
        workbench.report(notice, window, cx);
    }
    workbench.applied_edit = Some(applied);
}

/// Returns the rows of a hunk; of an empty one, the row at its place.
fn nonempty(rows: RowSpan) -> RowSpan {
    RowSpan {
        end: rows.end.max(Row(rows.start.0 + 1)),
        ..rows
    }
}

fn undo_refactoring(
    workbench: &mut Workbench,
    _: &UndoRefactoring,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(applied) = workbench.applied_edit.take() else {
        return workbench.tell(NOTICE, "There is no edit to undo", window, cx);
    };
    let preparing = prepare_undo(applied, cx);
    cx.spawn_in(window, async move |this, cx| {
        let undone = async {
            let (plan, options) = preparing.await?;
            let counts = plan.counts();
            let committing = cx.update(|_, cx| commit(plan, options, cx));
            committing.map_err(|_| Error::WindowClosed)?.await?;
            Ok(counts)
        };
        let undone: Result<(usize, usize), Error> = undone.await;
        let shown = this.update_in(cx, |this, window, cx| match undone {
            Ok(counts) => {
                let sentence = format!("Undid {}", counts_text(counts));
                let notice = Notice::new(Tone::Success, sentence).key(NOTICE);
                this.report(notice, window, cx);
            }
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Applies the edit that a server asks for, and answers the server. Of several windows, the first applies it.
pub(super) fn apply_requested(
    request: &Rc<RefCell<Option<EditRequest>>>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(request) = request.borrow_mut().take() else {
        return;
    };
    cx.spawn_in(window, async move |this, cx| {
        let label = request.label().unwrap_or("Edit of a language server");
        let title = printable(label, LineFeeds::Escape).into_owned();
        let edit = request.edit().clone();
        match apply_edit(&this, &title, edit, EditReview::IfNeeded, cx).await {
            Ok(true) => request.accept(),
            Ok(false) => request.refuse("the user declined it"),
            Err(error) => {
                request.refuse(&error.to_string());
                let shown = this.update_in(cx, |this, window, cx| {
                    this.report_error(error.to_string(), window, cx);
                });
                // The window may have been closed.
                shown.ok();
            }
        }
    })
    .detach();
}
