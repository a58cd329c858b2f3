//! Code actions: fixes and refactorings at the caret, and those of a kind for the whole text.

use base::{LineFeeds, printable};
use futures::future::join_all;
use gpui_kit::{AsyncWindowContext, Context, WeakEntity, Window};
use lsp::{CodeAction, LanguageServer, Request, ServerCommand, WorkspaceEdit};

use super::super::Workbench;
use super::{EditReview, NOTICE, active_servers, apply_answer};
use crate::pickers::code_actions::{CodeActionPicker, OfferedAction};

/// Notification about a code action without an edit and without a command.
const NO_EFFECT: &str = "The language server has no edit for this action";

/// Asks all servers of the active text for actions at the selection, and lists them.
pub(in crate::workbench) fn show_code_actions(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((editor, path, servers)) = active_servers(workbench, window, cx) else {
        return;
    };
    let selection = editor.update(cx, |editor, cx| editor.selections(cx).primary().span());
    let requests = servers.into_iter().filter_map(|server| {
        let request = server.connection.code_actions(&path, selection, &[])?;
        Some(async move { (server, request.await) })
    });
    let requests: Vec<_> = requests.collect();
    cx.spawn_in(window, async move |this, cx| {
        let answers = join_all(requests).await;
        let mut failure = None;
        let mut offered = Vec::new();
        for (server, answer) in answers {
            match answer {
                Ok(actions) => offered.extend(actions.into_iter().map(|action| OfferedAction {
                    server: server.connection.clone(),
                    server_id: server.id.clone(),
                    action,
                })),
                Err(error) => failure = Some(error),
            }
        }
        let shown = this.update_in(cx, |this, window, cx| match failure {
            Some(error) if offered.is_empty() => this.report_error(error.to_string(), window, cx),
            _ if offered.is_empty() => {
                this.tell(NOTICE, "No code actions here", window, cx);
            }
            _ => {
                let picker = CodeActionPicker::new(cx.weak_entity(), offered);
                this.pick(picker, window, cx);
            }
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Runs the first action of a kind for the whole text.
pub(super) fn run_source_action(
    workbench: &mut Workbench,
    kind: &'static str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((editor, path, servers)) = active_servers(workbench, window, cx) else {
        return;
    };
    let span = editor.read(cx).model().read(cx).snapshot().full_span();
    cx.spawn_in(window, async move |this, cx| {
        for server in servers {
            let connection = server.connection;
            let Some(request) = connection.code_actions(&path, span, &[kind]) else {
                continue;
            };
            let actions = request.await.unwrap_or_default();
            if let Some(action) = first_of_kind(actions, kind) {
                run_action(&this, &connection, action, cx).await;
                return;
            }
        }
        let shown = this.update_in(cx, |this, window, cx| {
            let sentence = format!("The language servers of this text do not offer {kind}");
            this.tell(NOTICE, sentence, window, cx);
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Returns the first action of a kind, or of a kind below it, that can be applied.
pub(in crate::workbench) fn first_of_kind(
    actions: Vec<CodeAction>,
    kind: &str,
) -> Option<CodeAction> {
    actions.into_iter().find(|action| {
        let rest = action.kind.as_deref().and_then(|it| it.strip_prefix(kind));
        let is_of_kind = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        is_of_kind && action.disabled_reason.is_none()
    })
}

impl Workbench {
    /// Runs a code action of a server.
    pub(crate) fn run_code_action(
        &mut self,
        server: LanguageServer,
        action: CodeAction,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        cx.spawn_in(window, async move |this, cx| {
            run_action(&this, &server, action, cx).await;
        })
        .detach();
    }
}

/// The effects of a code action.
pub(crate) struct ActionEffects {
    /// The title, which is safe to display.
    pub(crate) title: String,
    /// The edit, which is applied first.
    pub(crate) edit: Option<WorkspaceEdit>,
    /// The command, which is executed after the edit.
    pub(crate) command: Option<ServerCommand>,
}

/// Completes a code action and performs it.
async fn run_action(
    this: &WeakEntity<Workbench>,
    server: &LanguageServer,
    action: CodeAction,
    cx: &mut AsyncWindowContext,
) {
    let title = printable(&action.title, LineFeeds::Escape).into_owned();
    let resolved = match server.resolve_code_action(&action) {
        Some(request) if action.needs_resolve() => request.await,
        _ => Ok(action),
    };
    let action = match resolved {
        Ok(action) => action,
        Err(error) => {
            apply_answer(this, &title, Err(error), EditReview::IfNeeded, cx).await;
            return;
        }
    };
    let effects = ActionEffects {
        title,
        edit: action.edit,
        command: action.command,
    };
    perform(this, effects, |it| server.execute_command(it), cx).await;
}

/// Applies the edit of a code action, then executes its command. Reports a failure, and an action without both.
pub(crate) async fn perform(
    this: &WeakEntity<Workbench>,
    effects: ActionEffects,
    execute: impl FnOnce(&ServerCommand) -> Option<Request<()>>,
    cx: &mut AsyncWindowContext,
) {
    let ActionEffects {
        title,
        edit,
        command,
    } = effects;
    if edit.is_none() && command.is_none() {
        let shown = this.update_in(cx, |this, window, cx| {
            this.tell(NOTICE, NO_EFFECT, window, cx);
        });
        // The window may have been closed.
        shown.ok();
        return;
    }
    if let Some(edit) = edit
        && !apply_answer(this, &title, Ok(edit), EditReview::IfNeeded, cx).await
    {
        return;
    }
    let Some(command) = command else {
        return;
    };
    let failure = match execute(&command) {
        Some(request) => request.await.err().map(|error| error.to_string()),
        None => Some(format!(
            "\u{201c}{title}\u{201d} needs the command {} of another editor",
            printable(command.name(), LineFeeds::Escape)
        )),
    };
    if let Some(sentence) = failure {
        let shown = this.update_in(cx, |this, window, cx| {
            this.report_error(sentence, window, cx);
        });
        // The window may have been closed.
        shown.ok();
    }
}
