//! The project tree: the contents of the folder and the operations on them.
//!
//! Reads `Folder`; its own state is `state`, which is plain data. File operations are in
//! `file_operations`. It sends requests to the window as `TreeEvent`.

mod actions;
mod render;
pub(crate) mod state;

use std::ops::Range;

use base::{AbsPath, path_text};
use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, FocusHandle, Focusable, KeyDownEvent,
    ScrollStrategy, SharedString, Subscription, UniformListScrollHandle, Window,
};
use host::FileKind;
use ui::ModalLayer;

use self::state::{NameEdit, ShownRow, TreeState, entry_path};
use crate::error::Error;
use crate::file_names::{self, EndBlanks};
use crate::file_operations::{FileChange, FileOperation};
use crate::folder::{FolderEvent, OpenFolder};
use crate::language_servers::LanguageServersEvent;
use crate::notices::Notice;
use crate::refactoring::{counts_text, update_references};
use crate::services::Services;

/// A request of the tree to its window.
#[derive(Clone)]
pub enum TreeEvent {
    /// Opens a file in a permanent tab.
    Open {
        /// Path of the file.
        path: AbsPath,
        /// Whether to open it in a pane on the right.
        side: bool,
    },
    /// Previews a file, keeping the focus in the tree.
    Preview(AbsPath),
    /// Asks how to open a file.
    OpenWith(AbsPath),
    /// A file or folder was moved or renamed.
    Moved {
        /// Path before the move.
        from: AbsPath,
        /// Path after the move.
        to: AbsPath,
    },
    /// Shows a notification in the window.
    Report(Notice),
    /// Opens the search panel for a folder.
    Search(AbsPath),
    /// Returns the focus to the editor.
    Leave,
    /// Asks the user for a folder to open.
    OpenFolder,
    /// Imports dropped files into a folder.
    Dropped {
        /// Paths of the dropped files.
        paths: Vec<AbsPath>,
        /// Folder to import them into.
        folder: AbsPath,
    },
}

impl EventEmitter<TreeEvent> for TreePanel {}

/// The project tree of one window.
pub struct TreePanel {
    services: Services,
    modal: Entity<ModalLayer>,
    folder: Option<Entity<OpenFolder>>,
    state: TreeState,
    shown: Vec<ShownRow>,
    scroll: UniformListScrollHandle,
    focus: FocusHandle,
    name: Entity<InputState>,
    /// Last text reported by the field. Enter confirms this text, even if the field consumed the
    /// key as a character.
    typed: SharedString,
    name_problem: Option<String>,
    /// Focus before the name field opened, if it was not the tree.
    before_name: Option<FocusHandle>,
    /// A row to scroll to as soon as it exists.
    wanted: Option<AbsPath>,
    drop_folder: Option<AbsPath>,
    folder_subscription: Option<Subscription>,
    diagnostics_subscription: Option<Subscription>,
    _subscriptions: Vec<Subscription>,
}

/// Reason for a file operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperationMode {
    /// Requested by the user.
    Do {
        /// Whether to open a created file.
        opens: bool,
    },
    /// Undoes an earlier operation.
    Undo,
}

impl TreePanel {
    /// Creates the tree of a window without a folder.
    pub fn new(modal: Entity<ModalLayer>, window: &mut Window, cx: &mut Context<Self>) -> Self {
        let name = cx.new(|cx| InputState::new(window, cx));
        let typed =
            cx.subscribe_in(
                &name,
                window,
                |this, _, event: &InputEvent, window, cx| match event {
                    InputEvent::PressEnter { .. } => this.take_name(window, cx),
                    InputEvent::Change => this.check_name(cx),
                    InputEvent::Blur => this.leave_name(window, cx),
                    InputEvent::Focus => {}
                },
            );
        Self {
            services: Services::of(cx),
            modal,
            folder: None,
            state: TreeState::default(),
            shown: Vec::new(),
            scroll: UniformListScrollHandle::new(),
            focus: cx.focus_handle().tab_stop(true),
            name,
            typed: SharedString::default(),
            name_problem: None,
            before_name: None,
            wanted: None,
            drop_folder: None,
            folder_subscription: None,
            diagnostics_subscription: None,
            _subscriptions: vec![typed],
        }
    }

    /// Switches to another folder; `None` means no folder. Resets the view's state.
    pub fn set_folder(
        &mut self,
        folder: Option<Entity<OpenFolder>>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.state = TreeState::default();
        self.folder_subscription = folder.as_ref().map(|folder| {
            cx.subscribe_in(
                folder,
                window,
                |this, _, event: &FolderEvent, _, cx| match event {
                    FolderEvent::Tree => {
                        this.open_towards_wanted(cx);
                        this.rows_changed(cx);
                    }
                    FolderEvent::Git => cx.notify(),
                    _ => {}
                },
            )
        });
        self.diagnostics_subscription = folder.as_ref().map(|folder| {
            let servers = folder.read(cx).language_servers().clone();
            cx.subscribe(&servers, |_, _, event, cx| {
                if matches!(event, LanguageServersEvent::DiagnosticsChanged) {
                    cx.notify();
                }
            })
        });
        self.folder = folder;
        self.rows_changed(cx);
    }

    /// Selects a path and expands its parent folders. Ignores paths outside of the folder.
    pub fn reveal(&mut self, path: &AbsPath, cx: &mut Context<Self>) {
        let Some(folder) = self.folder.clone() else {
            return;
        };
        if !path.is_within(folder.read(cx).root()) || self.state.selected.as_ref() == Some(path) {
            return;
        }
        self.state.selected = Some(path.clone());
        self.wanted = Some(path.clone());
        folder.update(cx, |folder, cx| folder.reveal(path, cx));
        self.rows_changed(cx);
    }

    /// Returns the rows as drawn.
    pub fn visible_rows(&self) -> &[ShownRow] {
        &self.shown
    }

    /// Returns the selection, the filter and the name being typed.
    pub fn state(&self) -> &TreeState {
        &self.state
    }

    fn rows_changed(&mut self, cx: &mut Context<Self>) {
        self.shown = match &self.folder {
            Some(folder) => self.state.visible_rows(folder.read(cx).tree()),
            None => Vec::new(),
        };
        if let Some(at) = self
            .wanted
            .as_ref()
            .and_then(|wanted| self.place_of(wanted, cx))
        {
            self.wanted = None;
            self.scroll.scroll_to_item(at, ScrollStrategy::Nearest);
        }
        cx.notify();
    }

    /// Expands the next collapsed folder on the way to the wanted row: a new row appears only after
    /// its parent folder was read again.
    fn open_towards_wanted(&mut self, cx: &mut Context<Self>) {
        let (Some(wanted), Some(folder)) = (self.wanted.clone(), self.folder.clone()) else {
            return;
        };
        let mut closed = None;
        let mut above = wanted.parent();
        let tree = folder.read(cx).tree();
        while let Some(path) = above.filter(|path| path != tree.root()) {
            let row = tree.row_of(&path).and_then(|index| tree.rows().get(index));
            if row.is_some_and(|row| !row.is_open) {
                closed = Some(path.clone());
            }
            above = path.parent();
        }
        if let Some(closed) = closed {
            folder.update(cx, |folder, cx| folder.expand(&closed, cx));
        }
    }

    /// Returns the index of an entry among the shown rows. Returns `None` if it is not shown or no
    /// folder is open.
    fn place_of(&self, path: &AbsPath, cx: &App) -> Option<usize> {
        let folder = self.folder.as_ref()?.read(cx);
        self.shown
            .iter()
            .position(|row| entry_path(folder.tree(), row) == Some(path))
    }

    fn show_selected(&mut self, cx: &mut Context<Self>) {
        if let Some(at) = self
            .state
            .selected
            .clone()
            .and_then(|path| self.place_of(&path, cx))
        {
            self.scroll.scroll_to_item(at, ScrollStrategy::Nearest);
        }
        cx.notify();
    }

    fn select(&mut self, path: AbsPath, cx: &mut Context<Self>) {
        self.state.selected = Some(path);
        self.show_selected(cx);
    }

    fn select_by(&mut self, step: isize, cx: &mut Context<Self>) {
        if let Some(folder) = &self.folder {
            self.state.select_by(folder.read(cx).tree(), step);
            self.show_selected(cx);
        }
    }

    /// Returns the kind of an entry. Returns `None` if it is in no row of the tree or no folder is
    /// open.
    fn kind_of(&self, path: &AbsPath, cx: &App) -> Option<FileKind> {
        let tree = self.folder.as_ref()?.read(cx).tree();
        let row = tree.rows().get(tree.row_of(path)?)?;
        Some(row.entry.kind)
    }

    /// Returns the folder for a new file; `None` if no folder is open.
    fn target_folder(&self, cx: &App) -> Option<AbsPath> {
        let folder = self.folder.as_ref()?.read(cx);
        Some(self.state.target_folder(folder.tree()))
    }

    /// Cancels the name field on Escape, before the field handles the key itself.
    fn key_before_field(
        &mut self,
        event: &KeyDownEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.state.editing.is_some() && event.keystroke.key == "escape" {
            cx.stop_propagation();
            self.cancel_editing(window, cx);
        }
    }

    /// Appends typed characters to the filter while the tree has the focus.
    fn key(&mut self, event: &KeyDownEvent, _: &mut Window, cx: &mut Context<Self>) {
        if self.state.editing.is_some() || self.folder.is_none() {
            return;
        }
        let stroke = &event.keystroke;
        let modifiers = stroke.modifiers;
        if modifiers.control || modifiers.alt || modifiers.platform || modifiers.function {
            return;
        }
        if stroke.key == "backspace" && !self.state.filter.is_empty() {
            self.state.filter.pop();
        } else if let Some(typed) = stroke
            .key_char
            .as_ref()
            .filter(|typed| is_text(typed, &self.state.filter))
        {
            self.state.filter.push_str(typed);
        } else {
            return;
        }
        cx.stop_propagation();
        if let Some(folder) = &self.folder {
            self.state.select_first_match(folder.read(cx).tree());
        }
        self.rows_changed(cx);
        self.show_selected(cx);
    }

    fn clear_filter(&mut self, cx: &mut Context<Self>) {
        self.state.filter.clear();
        self.rows_changed(cx);
        self.show_selected(cx);
    }

    fn start_editing(&mut self, editing: NameEdit, window: &mut Window, cx: &mut Context<Self>) {
        let (text, selected): (String, Range<usize>) = match &editing {
            NameEdit::Rename(path) => {
                let (tree, shown) = (self.folder.clone(), path.clone());
                if let Some(tree) = tree {
                    tree.update(cx, |tree, cx| tree.reveal(&shown, cx));
                }
                let name = path_text(path.file_name());
                let stem = file_names::stem_length(&name);
                (name, 0..stem)
            }
            NameEdit::NewFile(folder) | NameEdit::NewFolder(folder) => {
                if let Some(tree) = &self.folder {
                    let folder = folder.clone();
                    tree.update(cx, |tree, cx| {
                        if folder != *tree.root() {
                            tree.expand(&folder, cx);
                        }
                    });
                }
                (String::new(), 0..0)
            }
        };
        if self.state.editing.is_none() {
            let before = window.focused(cx);
            self.before_name = before.filter(|before| !self.focus.contains(before, window));
        }
        self.state.editing = Some(editing);
        self.name_problem = None;
        self.typed = text.clone().into();
        self.name.update(cx, |name, cx| {
            name.set_value(text, window, cx);
            name.set_selected_range(selected, cx);
            name.focus(window, cx);
        });
        self.rows_changed(cx);
    }

    fn check_name(&mut self, cx: &mut Context<Self>) {
        self.typed = self.name.read(cx).value();
        self.name_problem = match self.named() {
            Some(Err(error)) if !self.typed.is_empty() => Some(error.to_string()),
            _ => None,
        };
        cx.notify();
    }

    /// Parses the typed name into a path.
    fn named(&self) -> Option<Result<AbsPath, Error>> {
        let (folder, end_blanks) = match self.state.editing.as_ref()? {
            NameEdit::NewFile(folder) | NameEdit::NewFolder(folder) => {
                (folder.clone(), EndBlanks::Trim)
            }
            NameEdit::Rename(path) => (path.parent()?, EndBlanks::Keep),
        };
        Some(file_names::read_name(&self.typed, &folder, end_blanks))
    }

    fn take_name(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let (Some(editing), Some(named)) = (self.state.editing.clone(), self.named()) else {
            return;
        };
        let path = match named {
            Ok(path) => path,
            Err(error) => {
                self.name_problem = Some(error.to_string());
                cx.notify();
                return;
            }
        };
        let operation = match editing {
            NameEdit::NewFile(_) if self.typed.ends_with('/') => FileOperation::CreateFolder(path),
            NameEdit::NewFile(_) => FileOperation::CreateFile(path),
            NameEdit::NewFolder(_) => FileOperation::CreateFolder(path),
            NameEdit::Rename(from) if from == path => {
                self.stop_editing(window, cx);
                return;
            }
            NameEdit::Rename(from) => FileOperation::Move { from, to: path },
        };
        self.stop_editing(window, cx);
        self.run(operation, true, window, cx);
    }

    /// Sets the focus to restore when the name field is cancelled. With `None`, the tree gets the
    /// focus.
    pub(crate) fn set_focus_return(&mut self, before: Option<FocusHandle>) {
        self.before_name = before;
    }

    /// Cancels the name field and restores the previous focus.
    fn cancel_editing(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let before = self.before_name.take();
        self.stop_editing(window, cx);
        if let Some(before) = before {
            before.focus(window, cx);
        }
    }

    fn stop_editing(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.state.editing.take().is_some() {
            self.name_problem = None;
            self.focus.focus(window, cx);
            self.rows_changed(cx);
        }
    }

    /// Cancels the name field after a click elsewhere.
    fn leave_name(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        // The context menu of the field has the focus while it is open.
        if self.state.editing.is_some() && !self.name.read(cx).has_selection_focus(window, cx) {
            self.state.editing = None;
            self.name_problem = None;
            self.rows_changed(cx);
        }
    }

    /// Runs an operation in the background and shows its result.
    fn run(
        &mut self,
        operation: FileOperation,
        opens: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.start(operation, OperationMode::Do { opens }, window, cx);
    }

    /// Undoes a change. The undo itself is not undoable.
    fn undo_with(&mut self, operation: FileOperation, window: &mut Window, cx: &mut Context<Self>) {
        self.start(operation, OperationMode::Undo, window, cx);
    }

    fn start(
        &mut self,
        operation: FileOperation,
        purpose: OperationMode,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(folder) = self.folder.clone() else {
            return;
        };
        let files = self.services.files.clone();
        let touched = operation.touched();
        let updating = match &operation {
            FileOperation::Move { from, to } => update_references(&folder, from, to, cx),
            _ => None,
        };
        cx.spawn_in(window, async move |this, cx| {
            let announced = match updating {
                Some(updating) => {
                    let (announced, updated) = updating.await;
                    let told = this.update(cx, |_, cx| report_updated(updated, cx));
                    told.ok();
                    Some(announced)
                }
                None => None,
            };
            let work = cx.background_spawn(async move {
                let result = operation.run(files.as_ref());
                (operation, result)
            });
            let (operation, result) = work.await;
            if let Some(announced) = announced.filter(|_| result.is_ok()) {
                announced.announce();
            }
            let updated = this.update(cx, |this, cx| {
                folder.update(cx, |folder, cx| folder.touched(&touched, cx));
                match result {
                    Ok(done) => this.on_operation_done(&operation, done, purpose, cx),
                    Err(error) => {
                        let sentence = error.to_string();
                        cx.emit(TreeEvent::Report(Notice::new(ui::Tone::Error, sentence)));
                    }
                }
            });
            updated.ok();
        })
        .detach();
    }

    fn on_operation_done(
        &mut self,
        operation: &FileOperation,
        done: FileChange,
        purpose: OperationMode,
        cx: &mut Context<Self>,
    ) {
        match &done {
            FileChange::Created(path) => {
                self.reveal(path, cx);
                let opens = matches!(purpose, OperationMode::Do { opens: true });
                if opens && matches!(operation, FileOperation::CreateFile(_)) {
                    cx.emit(TreeEvent::Open {
                        path: path.clone(),
                        side: false,
                    });
                }
            }
            FileChange::Moved { from, to } => {
                self.reveal(to, cx);
                cx.emit(TreeEvent::Moved {
                    from: from.clone(),
                    to: to.clone(),
                });
            }
            FileChange::Trashed(path) if purpose != OperationMode::Undo => {
                let sentence = format!("\u{201c}{}\u{201d} is in the trash", path.printable_name());
                let notice = Notice::new(ui::Tone::Info, sentence)
                    .key("trash")
                    .action("Undo", crate::actions::project_tree::Undo);
                cx.emit(TreeEvent::Report(notice));
            }
            FileChange::Trashed(_) => {}
        }
        if purpose != OperationMode::Undo {
            self.state.done.push(done);
        }
    }

    /// Copies `paths` into `folder` if they were dropped from outside, or moves them if they were
    /// dragged within the tree. Runs in the background.
    pub(crate) fn import_paths(
        &mut self,
        paths: Vec<AbsPath>,
        folder: AbsPath,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let root = self
            .folder
            .as_ref()
            .map(|folder| folder.read(cx).root().clone());
        for from in paths {
            let is_ours = root.as_ref().is_some_and(|root| from.is_within(root));
            let operation = if is_ours {
                let to = folder.join(from.file_name());
                if to == from {
                    continue;
                }
                FileOperation::Move { from, to }
            } else {
                FileOperation::CopyInto {
                    from,
                    folder: folder.clone(),
                }
            };
            self.run(operation, false, window, cx);
        }
    }
}

/// Whether typed text belongs to the filter, given the present filter. `false` for control
/// characters and leading blanks.
fn is_text(typed: &str, filter: &str) -> bool {
    let is_blank = typed.chars().all(char::is_whitespace);
    // Space is a key of the tree until a filter is typed.
    let is_first_blank = is_blank && filter.is_empty();
    !typed.is_empty() && !typed.chars().any(char::is_control) && !is_first_blank
}

impl Focusable for TreePanel {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

/// Reports the edit of references to a moved file.
fn report_updated(updated: Result<(usize, usize), Error>, cx: &mut Context<TreePanel>) {
    let notice = match updated {
        Ok((0, _)) => return,
        Ok(counts) => {
            let sentence = format!("Updated references: {}", counts_text(counts));
            Notice::new(ui::Tone::Info, sentence)
        }
        Err(error) => {
            let sentence = format!("The references to the file were not updated: {error}");
            Notice::new(ui::Tone::Warning, sentence)
        }
    };
    cx.emit(TreeEvent::Report(notice));
}
