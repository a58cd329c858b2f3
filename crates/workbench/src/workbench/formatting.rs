//! Formatting of texts by language servers and other programs, on request and before a save.
//!
//! Invariant: an answer about a text that has changed since is dropped; no typed character is lost.
//! Invariant: each step before a save works on the text that the step before it left.
//! Start at `format` and `steps_before_save`; formatting as the user types is in `on_type`.

mod on_type;

use std::time::Duration;

use base::{AbsPath, Span};
use editor::{DocumentModel, Editor};
use futures::future::{Either, select};
use gpui_kit::{
    App, AppContext as _, AsyncApp, Context, Div, Entity, InteractiveElement as _, Stateful, Task,
    Window,
};
use language::{DocumentServer, ServerRole};
use lsp::{DocumentEdits, FormatOptions};
use project::DocumentState;
use settings::EditorSettings;
use text::Author;
use ui::ActiveSettings as _;

use super::Workbench;
use super::refactor::first_of_kind;
use crate::actions::language::{FormatDocument, FormatSelection};
use crate::error::Error;
use crate::folder::OpenFolder;
use crate::item::TabItem;
use crate::refactoring::{CommitOptions, FormattingEdits, apply_formatting, commit, prepare};

pub(super) use on_type::ServerTypeFormatter;

/// Key of the notifications of this module.
const NOTICE: &str = "formatting";
/// Time for all steps before a save; the text is saved as it is afterwards.
const MAX_TIME_BEFORE_SAVE: Duration = Duration::from_secs(1);

/// The steps before the save of a document.
struct SaveSteps {
    /// Kinds of code actions that run first, in order.
    actions: Vec<String>,
    /// The style, if the text is formatted.
    format: Option<FormatOptions>,
}

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(|this, _: &FormatDocument, window, cx| {
            format(this, false, window, cx);
        }))
        .on_action(cx.listener(|this, _: &FormatSelection, window, cx| {
            format(this, true, window, cx);
        }))
}

/// Formats the active text or its selected rows, and reports a failure.
fn format(
    workbench: &mut Workbench,
    only_selection: bool,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let editor = workbench.active_item().and_then(TabItem::editor).cloned();
    let Some(editor) = editor else {
        return;
    };
    let document = editor.read(cx).model().clone();
    if let DocumentState::ReadOnly(reason) = document.read(cx).document().state() {
        let sentence = format!("This text cannot be formatted: {reason}");
        return workbench.tell(NOTICE, sentence, window, cx);
    }
    let span = only_selection.then(|| selected_rows(&editor, cx));
    let options = format_options(&editor, cx);
    let Some(formatting) = start_formatting(&document, span, options, cx) else {
        let sentence = if only_selection {
            "No language server of this text formats a selection"
        } else {
            "No language server of this text formats it; the setting \"editor.formatter\" names another program"
        };
        return workbench.tell(NOTICE, sentence, window, cx);
    };
    cx.spawn_in(window, async move |this, cx| {
        let formatted = match formatting.await {
            Ok(edits) => cx.update(|_, cx| apply_formatting(&document, edits, cx)),
            Err(error) => Ok(Err(error)),
        };
        if let Ok(Err(error)) = formatted {
            let shown = this.update_in(cx, |this, window, cx| {
                this.report_error(error.to_string(), window, cx);
            });
            // The window may have been closed.
            shown.ok();
        }
    })
    .detach();
}

/// Returns the rows of the main selection.
fn selected_rows(editor: &Entity<Editor>, cx: &mut App) -> Span {
    let selected = editor.update(cx, |editor, cx| editor.selections(cx).primary().span());
    let text = editor.read(cx).model().read(cx).snapshot();
    let start = text.row_start(text.point_at(selected.start).row);
    Span::new(start, text.row_end(text.point_at(selected.end).row))
}

fn format_options(editor: &Entity<Editor>, cx: &App) -> FormatOptions {
    let (hard_tabs, tab_size) = editor.read(cx).indentation();
    FormatOptions {
        tab_size,
        inserts_spaces: !hard_tabs,
    }
}

/// Returns the servers of a text, those for formatting first, and the path under which they know it.
fn servers(document: &Entity<DocumentModel>, cx: &App) -> Option<(AbsPath, Vec<DocumentServer>)> {
    let (servers, path) = OpenFolder::servers_of(document, cx)?;
    let mut servers = servers.read(cx).servers_of(&path);
    servers.sort_by_key(rank);
    Some((path, servers))
}

/// Returns the position of a server among those of a text for formatting.
fn rank(server: &DocumentServer) -> u8 {
    match server.role {
        ServerRole::Formatter => 0,
        ServerRole::Primary => 1,
        ServerRole::Linter | ServerRole::Extra => 2,
    }
}

/// Starts to format the text or a part of it; `None` if nothing formats it.
fn start_formatting(
    document: &Entity<DocumentModel>,
    span: Option<Span>,
    options: FormatOptions,
    cx: &App,
) -> Option<Task<Result<FormattingEdits, Error>>> {
    if span.is_none()
        && let Some(formatting) = start_external_formatter(document, cx)
    {
        return Some(formatting);
    }
    let (path, servers) = servers(document, cx)?;
    let request = servers.iter().find_map(|server| match span {
        Some(span) => server.connection.format_range(&path, span, options),
        None => server.connection.format(&path, options),
    })?;
    let ending = document.read(cx).document().buffer().line_ending();
    Some(cx.background_spawn(async move { Ok(FormattingEdits::of(request.await?, ending)) }))
}

/// Starts the formatter of the settings; `None` if there is none.
fn start_external_formatter(
    document: &Entity<DocumentModel>,
    cx: &App,
) -> Option<Task<Result<FormattingEdits, Error>>> {
    let command = settings_of(document, cx).formatter.clone();
    if command.is_empty() {
        return None;
    }
    let (servers, path) = OpenFolder::servers_of(document, cx)?;
    let folder = servers.read(cx).folder()?;
    let text = document.read(cx).snapshot();
    let ending = document.read(cx).document().buffer().line_ending();
    Some(cx.background_spawn(async move {
        let new = folder.format_with(&command, &path, &text.to_string())?;
        let edits = DocumentEdits {
            edits: vec![(text.full_span(), new)],
            text,
        };
        Ok(FormattingEdits::of(edits, ending))
    }))
}

fn settings_of<'a>(document: &Entity<DocumentModel>, cx: &'a App) -> &'a EditorSettings {
    let language = document.read(cx).language();
    cx.settings()
        .for_language(language.map(|language| language.name()))
}

/// Runs the steps that the settings want before a save; `None` if there are none. The task yields the sentence about a
/// step that failed, after which the text is saved all the same.
pub(super) fn steps_before_save(
    workbench: &Workbench,
    document: &Entity<DocumentModel>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<Task<Option<String>>> {
    if !document.read(cx).document().can_edit() {
        return None;
    }
    let steps = save_steps(workbench, document, cx)?;
    // Without a server and a formatter, there is nothing to wait for.
    let (_, servers) = servers(document, cx)?;
    if servers.is_empty() && settings_of(document, cx).formatter.is_empty() {
        return None;
    }
    let document = document.clone();
    Some(cx.spawn_in(window, async move |_, cx| {
        let name = document.read_with(cx, |model, _| model.document().title());
        let working = cx.spawn(async move |cx| run_steps(&document, steps, cx).await);
        let timer = cx.background_executor().timer(MAX_TIME_BEFORE_SAVE);
        match select(Box::pin(working), Box::pin(timer)).await {
            // The user typed while the formatter worked; the next save formats the text.
            Either::Left((Ok(()) | Err(Error::EditOutdated(_)), _)) => None,
            Either::Left((Err(error), _)) => Some(format!("{name} was saved as it was: {error}")),
            Either::Right(_) => Some(format!(
                "{name} was saved as it was: formatting it took more than a second"
            )),
        }
    }))
}

fn save_steps(
    workbench: &Workbench,
    document: &Entity<DocumentModel>,
    cx: &App,
) -> Option<SaveSteps> {
    let settings = settings_of(document, cx);
    let view = workbench.items_of(document.entity_id(), cx);
    let view = view.into_iter().find_map(|id| match workbench.item(id)? {
        TabItem::Text(editor) => Some(editor),
        _ => None,
    });
    let style = || match view {
        Some(editor) => format_options(editor, cx),
        None => FormatOptions {
            tab_size: settings.tab_size,
            inserts_spaces: !settings.hard_tabs,
        },
    };
    let steps = SaveSteps {
        actions: settings.code_actions_on_save.clone(),
        format: settings.format_on_save.then(style),
    };
    (!steps.actions.is_empty() || steps.format.is_some()).then_some(steps)
}

async fn run_steps(
    document: &Entity<DocumentModel>,
    steps: SaveSteps,
    cx: &mut AsyncApp,
) -> Result<(), Error> {
    for kind in &steps.actions {
        run_action(document, kind, cx).await?;
    }
    let Some(options) = steps.format else {
        return Ok(());
    };
    let formatting = cx.update(|cx| start_formatting(document, None, options, cx));
    let Some(formatting) = formatting else {
        return Ok(());
    };
    let edits = formatting.await?;
    cx.update(|cx| apply_formatting(document, edits, cx))
}

/// Applies the first code action of a kind for the whole text, if its edit concerns this text alone.
async fn run_action(
    document: &Entity<DocumentModel>,
    kind: &str,
    cx: &mut AsyncApp,
) -> Result<(), Error> {
    let served = cx.update(|cx| servers(document, cx));
    let Some((path, servers)) = served else {
        return Ok(());
    };
    for server in servers {
        let span = document.read_with(cx, |model, _| model.snapshot().full_span());
        let Some(request) = server.connection.code_actions(&path, span, &[kind]) else {
            continue;
        };
        let Some(mut action) = first_of_kind(request.await?, kind) else {
            continue;
        };
        if action.needs_resolve()
            && let Some(request) = server.connection.resolve_code_action(&action)
        {
            action = request.await?;
        }
        let Some(edit) = action.edit else {
            continue;
        };
        let plan = cx.update(|cx| prepare(edit, cx)).await?;
        let is_own = plan.files.iter().all(|file| file.document == *document);
        if plan.steps.is_empty() && is_own && !plan.needs_confirmation {
            let options = CommitOptions {
                author: Author::Formatter,
                saves: false,
            };
            cx.update(|cx| commit(plan, options, cx)).await?;
            return Ok(());
        }
    }
    Ok(())
}
