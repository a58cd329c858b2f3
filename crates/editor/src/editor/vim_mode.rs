//! The keys of Vim in a view: passes keys to the modal machine, and shows what it did.
//!
//! Knows: the crate `vim`. Must not know: files, panes; what concerns those is emitted as `EditorEvent::Vim`.
//! Invariant: the carets of the machine and the selections of the view are the same after each key, and after each change
//! that another made.
//! Invariant: without the setting, `Editor::vim` is `None`, and nothing here does any work.
//! Start at `press`.

mod composing;
mod effects;
mod folds;
mod host;
mod inserting;
mod objects;
mod overlay;
mod scrolling;
mod shared;
mod status;
mod timing;

use base::{Bias, Span};
use gpui_kit::{App, Context, Subscription, Window};
use text::{Change, SelectionSet, Snapshot};
use vim::{Effect, Key, Mode, Vim, VimGlobals};

use super::{Editor, EditorEvent, finding, hover};
use crate::model::DocumentModel;
use crate::scroll::ScrollMargin;

use host::EditorHost;
use shared::SharedGlobals;

pub(crate) use composing::{commit, compose, paste};
pub(crate) use inserting::{note_completion, type_text};
pub(crate) use overlay::render_overlay;
pub use shared::configure_vim;
pub(super) use status::key_context;
pub use status::{VimEvent, VimStatus, vim_status};
pub(crate) use status::{caret_shapes, highlights};

/// The modal machine of a view, and what it shows beside the text.
pub(crate) struct VimView {
    machine: Vim,
    globals: SharedGlobals,
    /// Whether selections and text change by a key of the machine, which then knows them already.
    is_own_change: bool,
    /// Whether the next selections belong to the insertion, such as those of composed text. The
    /// machine's carets follow the change instead.
    keeps_insertion: bool,
    /// Text that an input method composes in the command line.
    composed: String,
    /// The match of the search that is being typed.
    preview: Option<Span>,
    /// Yanked text, shown for a moment.
    yanked: Vec<Span>,
    /// The message of the last command.
    message: Option<VimMessage>,
    timers: timing::VimTimers,
    /// Status that was reported last.
    reported: VimStatus,
    _release: Subscription,
}

/// A message over the text until the next key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct VimMessage {
    lines: Vec<String>,
    is_error: bool,
}

impl VimView {
    fn new(cx: &mut Context<Editor>) -> Self {
        Self {
            machine: Vim::new(),
            globals: shared::globals(cx),
            is_own_change: false,
            keeps_insertion: false,
            composed: String::new(),
            preview: None,
            yanked: Vec::new(),
            message: None,
            timers: timing::VimTimers::default(),
            reported: VimStatus::default(),
            _release: cx.on_release(released),
        }
    }
}

/// Switches the keys of Vim on or off as the settings say.
pub(super) fn follow_settings(editor: &mut Editor, cx: &mut Context<Editor>) {
    let is_wanted = editor.settings_source.vim.enabled && !super::options::is_field(editor);
    if is_wanted == editor.vim.is_some() {
        return;
    }
    if is_wanted {
        editor.vim = Some(Box::new(VimView::new(cx)));
        selections_changed(editor);
    } else {
        to_normal(editor, cx);
        editor.vim = None;
    }
    editor.suggestion.invalidate();
    cx.emit(EditorEvent::Vim(VimEvent::StatusChanged));
}

/// Ends an insertion of a view that is closed, so that its step of undo ends.
fn released(editor: &mut Editor, cx: &mut App) {
    if editor.vim.is_some() {
        run(editor, cx, |machine, globals, host| {
            machine.press(Key::Escape, globals, host)
        });
    }
}

/// Begins an insertion, or goes on with one whose text is selected, before the view sets selections of it.
pub(super) fn begin_insertion(editor: &mut Editor) {
    if let Some(view) = &mut editor.vim {
        view.machine.begin_insertion();
    }
}

/// Ends the step of undo of an insertion when the view loses the focus: what is edited elsewhere does not belong to it.
pub(super) fn focus_lost(editor: &mut Editor, cx: &mut Context<Editor>) {
    if editor.vim.is_some() {
        run(editor, cx, |machine, globals, host| {
            machine.break_step(globals, host)
        });
    }
}

/// Returns whether keys of text are commands now, so that input methods stay off.
pub(crate) fn takes_commands(editor: &Editor) -> bool {
    let mode = editor.vim.as_ref().map(|view| view.machine.mode());
    !matches!(
        mode,
        None | Some(Mode::Insert | Mode::Replace | Mode::Prompt(_) | Mode::Select(_))
    )
}

/// Whether input methods may take keys; `None` if the text decides.
pub(super) fn accepts_text(editor: &Editor) -> Option<bool> {
    let mode = editor.vim.as_ref()?.machine.mode();
    if matches!(mode, Mode::Prompt(_)) {
        return Some(true);
    }
    takes_commands(editor).then_some(false)
}

/// Whether the keys that can follow are shown.
#[cfg(test)]
pub(super) fn shows_hints(editor: &Editor) -> bool {
    editor
        .vim
        .as_ref()
        .is_some_and(|view| view.timers.shows_hints)
}

/// Carries out keys in Vim's notation. Handler of the action `vim::Press`.
pub(crate) fn press_keys(
    editor: &mut Editor,
    notation: &str,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    let Some(view) = &editor.vim else {
        return cx.propagate();
    };
    let leader = view.globals.borrow().options.leader;
    for key in Key::parse(notation, leader) {
        press(editor, key, window, cx);
    }
}

/// Carries out a key.
fn press(editor: &mut Editor, key: Key, window: &mut Window, cx: &mut Context<Editor>) {
    if key == Key::Escape && status::is_idle(editor) {
        // Nothing else ends: what lies over the text closes.
        if editor.find_session.bar.is_some() {
            finding::close_find(editor, window, cx);
        }
        hover::close(editor, cx);
    }
    press_key(editor, key, cx);
    editor.tell_input_method(window);
}

/// Carries out a key without a window.
fn press_key(editor: &mut Editor, key: Key, cx: &mut Context<Editor>) {
    run_in_view(editor, cx, |machine, globals, host| {
        machine.press(key, globals, host)
    });
}

/// Ends what is unfinished, until the machine is in normal mode.
fn to_normal(editor: &mut Editor, cx: &mut Context<Editor>) {
    /// A command line in visual mode, and visual mode itself.
    const MAX_LEVELS: usize = 3;
    for _ in 0..MAX_LEVELS {
        let is_normal = editor
            .vim
            .as_ref()
            .is_none_or(|view| view.machine.mode() == Mode::Normal && !view.machine.is_waiting());
        if is_normal {
            return;
        }
        press_key(editor, Key::Escape, cx);
    }
}

/// Undoes or redoes a step as Vim does. Returns `false` if its keys are off.
pub(super) fn travels(editor: &mut Editor, key: Key, cx: &mut Context<Editor>) -> bool {
    if editor.vim.is_none() {
        return false;
    }
    to_normal(editor, cx);
    press_key(editor, key, cx);
    true
}

/// Lets the machine act on the text, and brings the view up to date.
fn run_in_view(
    editor: &mut Editor,
    cx: &mut Context<Editor>,
    act: impl FnOnce(&mut Vim, &mut VimGlobals, &mut EditorHost) -> Vec<Effect>,
) {
    editor.sync(cx);
    let Some(view) = &mut editor.vim else {
        return;
    };
    view.message = None;
    view.yanked.clear();
    view.is_own_change = true;
    let before = (editor.snapshot.revision(), view.machine.mode());
    let effects = run(editor, cx, act);
    editor.sync(cx);
    inserting::take_indentation(editor, cx);
    show(editor, before, cx);
    if let Some(view) = &mut editor.vim {
        view.is_own_change = false;
    }
    let commands = effects::carry_out(editor, effects, cx);
    timing::restart(editor, cx);
    status::report(editor, cx);
    if !commands.is_empty() {
        cx.emit(EditorEvent::Vim(VimEvent::Commands(commands)));
    }
    cx.notify();
}

/// Lets the machine act on the text in one change of the model.
fn run(
    editor: &mut Editor,
    cx: &mut App,
    act: impl FnOnce(&mut Vim, &mut VimGlobals, &mut EditorHost) -> Vec<Effect>,
) -> Vec<Effect> {
    let Some(mut view) = editor.vim.take() else {
        return Vec::new();
    };
    let shared = view.globals.clone();
    let mut globals = shared.borrow_mut();
    inserting::set_indentation(&mut globals, editor.indentation());
    let model = editor.model.clone();
    let effects = model.update(cx, |model: &mut DocumentModel, cx| {
        let facts = host::HostFacts::of(model, editor);
        model.edit_in_batch(cx, |document, at, cx| {
            let mut host = EditorHost::new(facts, document, at, editor, cx);
            act(&mut view.machine, &mut globals, &mut host)
        })
    });
    editor.vim = Some(view);
    effects
}

/// Shows the carets of the machine in the view.
fn show(editor: &mut Editor, before: (base::Revision, Mode), cx: &mut Context<Editor>) {
    let Some(view) = &editor.vim else {
        return;
    };
    let mode = view.machine.mode();
    let selections = view
        .machine
        .selections(&editor.snapshot, editor.caret_options.tab_width);
    let is_edited = editor.snapshot.revision() != before.0;
    let is_moved = selections != editor.selections;
    if is_moved {
        editor.set_selections(selections, cx);
    } else {
        editor.show_caret(cx);
    }
    if mode != before.1 {
        inserting::mode_changed(editor, before.1, cx);
        editor.suggestion.invalidate();
        editor.refresh_suggestion(cx);
    }
    if is_edited || is_moved {
        editor.unfold_at_carets(cx);
        editor.follow = Some(ScrollMargin::Fit);
    }
    scrolling::preview_search(editor, cx);
    if is_edited {
        cx.emit(EditorEvent::Edited);
    }
}

/// Moves the machine's carets and marks through a change that another made.
pub(super) fn follow(editor: &mut Editor, before: &Snapshot, change: &Change) {
    let tab_width = editor.caret_options.tab_width;
    let Some(view) = &mut editor.vim else {
        return;
    };
    for span in view.yanked.iter_mut().chain(&mut view.preview) {
        *span = change.map_span(*span);
    }
    if !view.is_own_change {
        view.machine
            .follow(before, &editor.snapshot, change, tab_width);
    }
}

/// Passes selections that another made to the machine, and takes those that its mode allows.
pub(super) fn selections_changed(editor: &mut Editor) {
    let tab_width = editor.caret_options.tab_width;
    let Some(view) = &mut editor.vim else {
        return;
    };
    if view.is_own_change || std::mem::take(&mut view.keeps_insertion) {
        return;
    }
    let text = &editor.snapshot;
    let clip = |selection: &text::Selection| {
        let clip = |offset| text.clip(offset, Bias::Left);
        text::Selection::new(clip(selection.anchor), clip(selection.head))
    };
    let own = SelectionSet::new(
        editor.selections.iter().map(clip).collect(),
        editor.selections.primary_ix(),
    );
    view.machine.set_selections(&own, text, tab_width);
    editor.selections = view.machine.selections(text, tab_width);
}
