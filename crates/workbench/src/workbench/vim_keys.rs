//! Commands of Vim's keys that concern the window: files, panes, tabs, places of the language.
//!
//! Most are actions of the window, which have their handlers elsewhere. Start at `carry_out`.

use base::{AbsPath, Row};
use editor::{DocumentModel, Editor};
use gpui_kit::{
    Action, AppContext as _, Context, Div, Entity, InteractiveElement as _, Stateful, Task, Window,
};
use serde_json::Value;
use text::{Author, Edit};
use ui::ActiveSettings as _;
use vim::{
    BufferCommand, CompletionCommand, Effect, LookUpKind, NavigationTarget, OpenTarget,
    WindowCommand, WriteCondition,
};

use super::{Workbench, close};
use crate::actions::pane::{
    ActivateTab, CloseOtherTabs, EvenOut, FocusDown, FocusLeft, FocusNext, FocusPrevious,
    FocusRight, FocusUp, LastTab, SplitDown, SplitRight, SwitchTab,
};
use crate::actions::vim::{ShowVimrcProblems, ToggleVimMode};
use crate::actions::{app, file, go, language};
use crate::configuration::{ConfigSource, Configuration};
use crate::documents::Documents;
use crate::layout::{CloseScope, ItemId, PaneSide};
use crate::open_options::{GoToPosition, MissingFile, OpenOptions};
use crate::path_entry;
use crate::target::{LineColumn, Target};
use crate::workbench::{panes, program};

/// Largest file that `:read` inserts, in bytes.
const MAX_READ: u64 = 16 << 20;

/// Maximum number of places that one command goes back.
const MAX_TRAVEL: u32 = 100;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(toggle))
        .on_action(cx.listener(show_problems))
}

/// Switches the keys of Vim on or off in the user's settings.
fn toggle(_: &mut Workbench, _: &ToggleVimMode, _: &mut Window, cx: &mut Context<Workbench>) {
    let is_enabled = cx.settings().vim.enabled;
    Configuration::of(cx).update(cx, |configuration, cx| {
        let value = Value::from(!is_enabled);
        configuration
            .write_setting(&["vim", "enabled"], value, cx)
            .detach();
    });
}

/// Lists the lines of the `.vimrc` that have no effect.
fn show_problems(
    workbench: &mut Workbench,
    _: &ShowVimrcProblems,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let configuration = Configuration::of(cx).read(cx);
    let problems = configuration.problems_of(ConfigSource::Vimrc);
    let mut text = "Lines of the .vimrc without an effect\n\n".to_owned();
    for problem in problems {
        text += &format!("{}:{}: {}\n", problem.source, problem.line, problem.message);
    }
    if problems.is_empty() {
        text += "None.\n";
    }
    program::show_builtin(workbench, "vimrc problems.txt", text, window, cx);
}

/// Carries out commands of a view, in order. Those behind a command that writes wait until the text
/// is saved.
pub(super) fn carry_out(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    commands: &[Effect],
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    for (ix, command) in commands.iter().enumerate() {
        let saving = match command {
            Effect::Write { path, condition } => {
                write(workbench, editor, path.as_deref(), *condition, window, cx)
            }
            Effect::WriteAll => write_all(workbench, window, cx),
            _ => {
                run(workbench, editor, command, window, cx);
                continue;
            }
        };
        let (rest, editor) = (commands[ix + 1..].to_vec(), editor.clone());
        cx.spawn_in(window, async move |this, cx| {
            if saving.await {
                // The window may be gone by then.
                this.update_in(cx, |this, window, cx| {
                    carry_out(this, &editor, &rest, window, cx)
                })
                .ok();
            }
        })
        .detach();
        return;
    }
}

/// Saves the texts of a view. The task yields whether they are saved.
fn write(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    path: Option<&str>,
    condition: WriteCondition,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Task<bool> {
    if path.is_some() {
        dispatch(file::SaveAs, window, cx);
        return Task::ready(false);
    }
    let item = item_of(workbench, editor).and_then(|item| workbench.item(item));
    let documents = item.map_or_else(Vec::new, |item| item.documents(cx));
    let saves_unchanged = documents.len() == 1 && condition != WriteCondition::IfChanged;
    let is_wanted = |document: &Entity<DocumentModel>| {
        saves_unchanged || document.read(cx).document().is_dirty()
    };
    let wanted: Vec<_> = documents.into_iter().filter(is_wanted).collect();
    save_each(workbench, wanted, window, cx)
}

/// Saves all changed texts that have a file.
fn write_all(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Task<bool> {
    let is_unsaved = |document: &Entity<DocumentModel>| {
        let document = document.read(cx).document();
        document.is_dirty() && document.path().is_some()
    };
    let unsaved = Documents::all(cx).into_iter().filter(is_unsaved);
    let unsaved: Vec<_> = unsaved.collect();
    save_each(workbench, unsaved, window, cx)
}

fn save_each(
    workbench: &mut Workbench,
    documents: Vec<Entity<DocumentModel>>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Task<bool> {
    let mut saving = Vec::new();
    for document in documents {
        saving.push(workbench.save_document(document, window, cx));
    }
    cx.spawn(async move |_, _| {
        let mut is_saved = true;
        for saving in saving {
            is_saved &= saving.await;
        }
        is_saved
    })
}

/// Returns the tab of a view; `None` if it was closed.
fn item_of(workbench: &Workbench, editor: &Entity<Editor>) -> Option<ItemId> {
    let mut items = workbench.items.iter();
    let found = items.find(|(_, entry)| entry.item.editor() == Some(editor));
    found.map(|(item, _)| *item)
}

fn dispatch(action: impl Action, window: &mut Window, cx: &mut Context<Workbench>) {
    window.dispatch_action(Box::new(action), cx);
}

fn run(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    command: &Effect,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match command {
        Effect::Quit { is_forced } => quit(workbench, editor, *is_forced, window, cx),
        Effect::QuitAll { .. } => dispatch(app::CloseWindow, window, cx),
        Effect::Open {
            path: None,
            is_forced,
            ..
        } => go_back(workbench, *is_forced, window, cx),
        Effect::Open {
            path: Some(path),
            target,
            ..
        } => open(workbench, path, *target, window, cx),
        Effect::ReadFile { path, below } => read(workbench, editor, path, *below, window, cx),
        Effect::Filter { .. } | Effect::Shell(_) => {
            let sentence = "programs run in a terminal or as a task, not from Vim's command line";
            workbench.report_error(sentence, window, cx);
        }
        Effect::Window(command) => arrange(workbench, editor, *command, window, cx),
        Effect::Buffer(command) => choose(workbench, editor, command, window, cx),
        Effect::Navigate { target, .. } => navigate(workbench, editor, *target, window, cx),
        Effect::TravelJumps { is_forward, count } => {
            for _ in 0..(*count).min(MAX_TRAVEL) {
                if *is_forward {
                    dispatch(go::Forward, window, cx);
                } else {
                    dispatch(go::Back, window, cx);
                }
            }
        }
        Effect::OpenMark { path, point } => {
            let path = resolve(workbench, path, cx);
            let place = LineColumn {
                line: point.row.0 + 1,
                column: point.column.0 + 1,
            };
            let options = OpenOptions::lasting().at(Some(GoToPosition::Place(place)));
            workbench.open_path(path, options, window, cx);
        }
        Effect::Completion(command) => match command {
            CompletionCommand::Next | CompletionCommand::Previous => {
                dispatch(editor::ShowCompletions, window, cx);
            }
            CompletionCommand::Accept => dispatch(editor::AcceptCompletion, window, cx),
            CompletionCommand::Cancel => dispatch(editor::HideCompletions, window, cx),
        },
        Effect::LookUp { kind, .. } => match kind {
            LookUpKind::Documentation => dispatch(editor::ShowHover, window, cx),
            LookUpKind::Rename => dispatch(language::RenameSymbol, window, cx),
            LookUpKind::Actions => dispatch(language::ShowCodeActions, window, cx),
        },
        Effect::Palette(_) => dispatch(go::ShowCommands, window, cx),
        // The view carries these out, and `carry_out` writes.
        Effect::Message { .. }
        | Effect::Bell
        | Effect::Listing(_)
        | Effect::Write { .. }
        | Effect::WriteAll
        | Effect::Scroll(_)
        | Effect::Fold(_)
        | Effect::HighlightSearch(_)
        | Effect::Yanked(_)
        | Effect::SetOption { .. } => {}
    }
}

/// Returns the name of a file or page at the caret: what is neither blank, quote nor bracket.
fn name_at_caret(editor: &Entity<Editor>, cx: &mut Context<Workbench>) -> String {
    let is_part = |char: char| !char.is_whitespace() && !"\"'`<>()[]{},;|".contains(char);
    editor.update(cx, |editor, cx| {
        let point = editor.caret_point(cx);
        let text = editor.model().read(cx).snapshot();
        let row = text.row_text(point.row);
        let at = (point.column.0 as usize).min(row.len());
        let before = row[..at].char_indices().rev();
        let start = before.take_while(|(_, char)| is_part(*char)).last();
        let behind = row[at..].chars().take_while(|char| is_part(*char));
        let end = at + behind.map(char::len_utf8).sum::<usize>();
        let name = &row[start.map_or(at, |(ix, _)| ix)..end];
        name.trim_end_matches(['.', ':']).to_owned()
    })
}

/// Closes the tab of a view; with `is_forced`, its unsaved text is given up.
fn quit(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    is_forced: bool,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(item) = item_of(workbench, editor) else {
        return;
    };
    if is_forced {
        close::give_up(workbench, item, window, cx);
    } else {
        workbench.close(CloseScope::One(item), window, cx);
    }
}

/// Resolves a typed path against the folder of the window.
fn resolve(workbench: &Workbench, path: &str, cx: &Context<Workbench>) -> AbsPath {
    let services = &workbench.services;
    let base = workbench
        .root(cx)
        .unwrap_or_else(|| services.working_folder.clone());
    path_entry::resolve(path, &base, services.home.as_ref())
}

/// Returns to the text of the last save; without `is_forced`, only if nothing is lost.
fn go_back(
    workbench: &mut Workbench,
    is_forced: bool,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let document = workbench.active_document(cx);
    let is_dirty = document.is_some_and(|it| it.read(cx).document().is_dirty());
    if is_dirty && !is_forced {
        let sentence = "E37: the text has unsaved changes; :e! gives them up";
        workbench.report_error(sentence, window, cx);
    } else {
        dispatch(file::Revert, window, cx);
    }
}

/// Opens a file, a new one too.
fn open(
    workbench: &mut Workbench,
    path: &str,
    target: OpenTarget,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let path = resolve(workbench, path, cx);
    let side = match target {
        OpenTarget::Here | OpenTarget::NewTab => None,
        OpenTarget::Below => Some(PaneSide::Down),
        OpenTarget::Beside => Some(PaneSide::Right),
    };
    let active = workbench.layout.active_pane();
    let pane = side.and_then(|side| workbench.layout.split(active, side));
    if pane.is_some() {
        workbench.layout_changed(cx);
    }
    let options = OpenOptions {
        missing: MissingFile::Create,
        ..OpenOptions::lasting()
    };
    workbench.open_path_in(path, pane.unwrap_or(active), options, window, cx);
}

/// Inserts a file below a row, or above the first.
fn read(
    workbench: &Workbench,
    editor: &Entity<Editor>,
    path: &str,
    below: Option<u32>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let path = resolve(workbench, path, cx);
    let files = workbench.services.files.clone();
    let reading = cx.background_spawn(async move { files.read(&path, MAX_READ) });
    let editor = editor.clone();
    cx.spawn_in(window, async move |this, cx| {
        let read = reading.await;
        let done = this.update_in(cx, |this, window, cx| match read {
            Ok(bytes) => insert_rows(&editor, &String::from_utf8_lossy(&bytes), below, cx),
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        done.ok();
    })
    .detach();
}

fn insert_rows(
    editor: &Entity<Editor>,
    rows: &str,
    below: Option<u32>,
    cx: &mut Context<Workbench>,
) {
    let rows = rows.strip_suffix('\n').unwrap_or(rows);
    let model = editor.read(cx).model().clone();
    model.update(cx, |model, cx| {
        let text = model.snapshot();
        let edit = match below {
            Some(row) => {
                let end = text.row_end(Row(row).min(text.last_row()));
                Edit::new(base::Span::at(end), format!("\n{rows}"))
            }
            None => Edit::new(base::Span::at(base::ByteOffset(0)), format!("{rows}\n")),
        };
        model.edit(&[edit], Author::User, cx);
    });
}

fn arrange(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    command: WindowCommand,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match command {
        WindowCommand::FocusLeft => dispatch(FocusLeft, window, cx),
        WindowCommand::FocusDown => dispatch(FocusDown, window, cx),
        WindowCommand::FocusUp => dispatch(FocusUp, window, cx),
        WindowCommand::FocusRight => dispatch(FocusRight, window, cx),
        WindowCommand::FocusNext => dispatch(FocusNext, window, cx),
        WindowCommand::FocusPrevious => dispatch(FocusPrevious, window, cx),
        WindowCommand::MoveLeft => move_tab(workbench, PaneSide::Left, window, cx),
        WindowCommand::MoveDown => move_tab(workbench, PaneSide::Down, window, cx),
        WindowCommand::MoveUp => move_tab(workbench, PaneSide::Up, window, cx),
        WindowCommand::MoveRight => move_tab(workbench, PaneSide::Right, window, cx),
        WindowCommand::SplitBelow => dispatch(SplitDown, window, cx),
        WindowCommand::SplitBeside => dispatch(SplitRight, window, cx),
        WindowCommand::Close | WindowCommand::CloseTab => {
            quit(workbench, editor, false, window, cx)
        }
        WindowCommand::Only | WindowCommand::OnlyTab => dispatch(CloseOtherTabs, window, cx),
        WindowCommand::Equalize => dispatch(EvenOut, window, cx),
        WindowCommand::NextTab(count) => step(workbench, i64::from(count), window, cx),
        WindowCommand::PreviousTab(count) => step(workbench, -i64::from(count), window, cx),
        WindowCommand::GoToTab(number) => dispatch(ActivateTab(number as usize), window, cx),
        WindowCommand::NewTab => dispatch(file::New, window, cx),
    }
}

/// Moves the active tab to the pane at a side, or to a new pane there.
fn move_tab(
    workbench: &mut Workbench,
    side: PaneSide,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(item) = workbench.layout.active_item() else {
        return;
    };
    let active = workbench.layout.active_pane();
    match workbench.layout.tree().neighbour(active, side) {
        Some(pane) => {
            workbench.layout.move_to_pane(item, pane, usize::MAX);
        }
        None => {
            workbench.layout.move_to_side(item, active, side);
        }
    }
    workbench.layout_changed(cx);
    workbench.focus_active(window, cx);
}

fn step(workbench: &mut Workbench, by: i64, window: &mut Window, cx: &mut Context<Workbench>) {
    panes::step_tab(workbench, by as isize, window, cx);
}

fn choose(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    command: &BufferCommand,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match command {
        BufferCommand::Next(count) => step(workbench, i64::from(*count), window, cx),
        BufferCommand::Previous(count) => step(workbench, -i64::from(*count), window, cx),
        BufferCommand::First => dispatch(ActivateTab(1), window, cx),
        BufferCommand::Last => dispatch(LastTab, window, cx),
        BufferCommand::Alternate | BufferCommand::List => dispatch(SwitchTab, window, cx),
        BufferCommand::Delete { is_forced } => quit(workbench, editor, *is_forced, window, cx),
        BufferCommand::Named(name) => {
            let mut items = workbench.items.iter();
            let found = items.find(|(_, entry)| entry.item.title(cx).contains(name.as_str()));
            match found.map(|(item, _)| *item) {
                Some(item) => workbench.activate(item, window, cx),
                None => {
                    let sentence = format!("E94: no text is named {name}");
                    workbench.report_error(sentence, window, cx);
                }
            }
        }
    }
}

fn navigate(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    target: NavigationTarget,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match target {
        NavigationTarget::Definition => dispatch(language::GoToDefinition, window, cx),
        NavigationTarget::Declaration => dispatch(language::GoToDeclaration, window, cx),
        NavigationTarget::TypeDefinition => dispatch(language::GoToTypeDefinition, window, cx),
        NavigationTarget::Implementation => dispatch(language::GoToImplementation, window, cx),
        NavigationTarget::References => dispatch(language::FindReferences, window, cx),
        NavigationTarget::Symbols => dispatch(go::FindSymbol, window, cx),
        NavigationTarget::NextDiagnostic => dispatch(editor::NextDiagnostic, window, cx),
        NavigationTarget::PreviousDiagnostic => dispatch(editor::PreviousDiagnostic, window, cx),
        NavigationTarget::NextChange => dispatch(editor::NextHunk, window, cx),
        NavigationTarget::PreviousChange => dispatch(editor::PreviousHunk, window, cx),
        NavigationTarget::NextResult => dispatch(language::NextProblem, window, cx),
        NavigationTarget::PreviousResult => dispatch(language::PreviousProblem, window, cx),
        NavigationTarget::File => {
            let target = Target::parse(&name_at_caret(editor, cx));
            let path = resolve(workbench, &target.path, cx);
            let options = OpenOptions::lasting().at(target.place.map(GoToPosition::Place));
            workbench.open_path(path, options, window, cx);
        }
        NavigationTarget::Link => {
            let link = name_at_caret(editor, cx);
            if link.starts_with("https://") || link.starts_with("http://") {
                cx.open_url(&link);
            } else {
                workbench.report_error(format!("“{link}” is no link to a page"), window, cx);
            }
        }
    }
}
