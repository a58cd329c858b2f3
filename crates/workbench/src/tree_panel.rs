//! The project tree: what the folder holds, and what can be done to it.
//!
//! Reads `Folder`; its own state is `state`, which is plain data. What it does to files is in
//! `operations`. It tells the window what it wants by `TreeEvent`.

mod actions;
mod names;
mod operations;
mod render;
pub(crate) mod state;

use std::ops::Range;

use base::{AbsPath, path_text};
use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, FocusHandle, Focusable, KeyDownEvent,
    ScrollStrategy, SharedString, Subscription, UniformListScrollHandle, WeakEntity, Window,
};
use host::FileKind;

use self::names::EndBlanks;
use self::operations::Operation;
use self::state::{Done, Editing, ShownRow, TreeState, entry_path};
use crate::folder::{Folder, FolderEvent};
use crate::notices::Notice;
use crate::services::Services;
use crate::workbench::Workbench;

/// What the tree wants of its window.
#[derive(Clone)]
pub enum TreeEvent {
    /// To open a file in a tab that stays.
    Open {
        /// Which file.
        path: AbsPath,
        /// Whether in a pane on the right.
        side: bool,
    },
    /// To show a file without leaving the tree.
    Preview(AbsPath),
    /// A file or folder has another path now.
    Moved {
        /// Where it was.
        from: AbsPath,
        /// Where it is.
        to: AbsPath,
    },
    /// To report something.
    Report(Notice),
    /// To search in a folder.
    Search(AbsPath),
    /// To give the keyboard back to the text.
    Leave,
    /// To choose a folder.
    OpenFolder,
    /// To take files in that were dropped.
    Dropped {
        /// What was dropped.
        paths: Vec<AbsPath>,
        /// Where.
        folder: AbsPath,
    },
}

impl EventEmitter<TreeEvent> for TreePanel {}

/// The project tree of one window.
pub struct TreePanel {
    services: Services,
    workbench: WeakEntity<Workbench>,
    folder: Option<Entity<Folder>>,
    state: TreeState,
    shown: Vec<ShownRow>,
    scroll: UniformListScrollHandle,
    focus: FocusHandle,
    name: Entity<InputState>,
    /// What the field holds, as far as its changes were heard of: Enter means this text, though the field may have
    /// taken the key for a character.
    typed: SharedString,
    name_problem: Option<String>,
    /// What had the keyboard before a name was typed, where that was not the tree.
    before_name: Option<FocusHandle>,
    /// A row to bring into sight as soon as it is there.
    wanted: Option<AbsPath>,
    drop_folder: Option<AbsPath>,
    folder_subscription: Option<Subscription>,
    _subscriptions: Vec<Subscription>,
}

/// Why files are changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Because the user said so; a new file may be opened.
    Do {
        /// Whether it is.
        opens: bool,
    },
    /// To take an earlier change back.
    Undo,
}

impl TreePanel {
    /// The tree of a window without a folder.
    pub fn new(
        workbench: WeakEntity<Workbench>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
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
            workbench,
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
            _subscriptions: vec![typed],
        }
    }

    /// Shows another folder, or none.
    pub fn set_folder(
        &mut self,
        folder: Option<Entity<Folder>>,
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
        self.folder = folder;
        self.rows_changed(cx);
    }

    /// Selects a path and opens the folders above it.
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

    /// The rows that are drawn.
    pub fn shown(&self) -> &[ShownRow] {
        &self.shown
    }

    /// The selection, the filter and what is being typed.
    pub fn state(&self) -> &TreeState {
        &self.state
    }

    fn rows_changed(&mut self, cx: &mut Context<Self>) {
        self.shown = match &self.folder {
            Some(folder) => self.state.shown(folder.read(cx).tree()),
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

    /// Opens the next closed folder on the way to the row that is wanted: one that is new shows up
    /// only after the folder around it was read again.
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

    fn kind_of(&self, path: &AbsPath, cx: &App) -> Option<FileKind> {
        let tree = self.folder.as_ref()?.read(cx).tree();
        let row = tree.rows().get(tree.row_of(path)?)?;
        Some(row.entry.kind)
    }

    fn target_folder(&self, cx: &App) -> Option<AbsPath> {
        let folder = self.folder.as_ref()?.read(cx);
        Some(self.state.target_folder(folder.tree()))
    }

    /// Escape gives up the name that is being typed; the field would keep it for itself.
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

    /// Letters typed while the tree has the keyboard go into the filter.
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

    fn start_editing(&mut self, editing: Editing, window: &mut Window, cx: &mut Context<Self>) {
        let (text, selected): (String, Range<usize>) = match &editing {
            Editing::Rename(path) => {
                let (tree, shown) = (self.folder.clone(), path.clone());
                if let Some(tree) = tree {
                    tree.update(cx, |tree, cx| tree.reveal(&shown, cx));
                }
                let name = path_text(path.file_name());
                let stem = names::stem_length(&name);
                (name, 0..stem)
            }
            Editing::NewFile(folder) | Editing::NewFolder(folder) => {
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
            Some(Err(problem)) if !self.typed.is_empty() => Some(problem),
            _ => None,
        };
        cx.notify();
    }

    /// What the typed name means.
    fn named(&self) -> Option<Result<AbsPath, String>> {
        let (folder, end_blanks) = match self.state.editing.as_ref()? {
            Editing::NewFile(folder) | Editing::NewFolder(folder) => {
                (folder.clone(), EndBlanks::Trim)
            }
            Editing::Rename(path) => (path.parent()?, EndBlanks::Keep),
        };
        Some(names::read_name(&self.typed, &folder, end_blanks))
    }

    fn take_name(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let (Some(editing), Some(named)) = (self.state.editing.clone(), self.named()) else {
            return;
        };
        let path = match named {
            Ok(path) => path,
            Err(problem) => {
                self.name_problem = Some(problem);
                cx.notify();
                return;
            }
        };
        let operation = match editing {
            Editing::NewFile(_) if self.typed.ends_with('/') => Operation::CreateFolder(path),
            Editing::NewFile(_) => Operation::CreateFile(path),
            Editing::NewFolder(_) => Operation::CreateFolder(path),
            Editing::Rename(from) if from == path => {
                self.stop_editing(window, cx);
                return;
            }
            Editing::Rename(from) => Operation::Move { from, to: path },
        };
        self.stop_editing(window, cx);
        self.run(operation, true, window, cx);
    }

    /// Says what gets the keyboard when the name that is being typed is given up.
    pub(crate) fn give_back_to(&mut self, before: Option<FocusHandle>) {
        self.before_name = before;
    }

    /// Gives up the name that is being typed, and the keyboard back to what had it.
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

    /// A click elsewhere gives up the name that was being typed.
    fn leave_name(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.state.editing.is_some() && !self.name.read(cx).focus_handle(cx).is_focused(window) {
            self.state.editing = None;
            self.name_problem = None;
            self.rows_changed(cx);
        }
    }

    /// Does something to files in the background, and shows what came of it.
    fn run(
        &mut self,
        operation: Operation,
        opens: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.start(operation, Purpose::Do { opens }, window, cx);
    }

    /// Takes a change back, which is not itself taken back by the next undo.
    fn undo_with(&mut self, operation: Operation, window: &mut Window, cx: &mut Context<Self>) {
        self.start(operation, Purpose::Undo, window, cx);
    }

    fn start(
        &mut self,
        operation: Operation,
        purpose: Purpose,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(folder) = self.folder.clone() else {
            return;
        };
        let files = self.services.files.clone();
        let touched = operation.touched();
        let work = cx.background_spawn(async move {
            let result = operation.run(files.as_ref());
            (operation, result)
        });
        cx.spawn_in(window, async move |this, cx| {
            let (operation, result) = work.await;
            let told = this.update(cx, |this, cx| {
                folder.update(cx, |folder, cx| folder.touched(&touched, cx));
                match result {
                    Ok(done) => this.done(&operation, done, purpose, cx),
                    Err(sentence) => {
                        cx.emit(TreeEvent::Report(Notice::new(ui::Tone::Error, sentence)));
                    }
                }
            });
            told.ok();
        })
        .detach();
    }

    fn done(
        &mut self,
        operation: &Operation,
        done: Done,
        purpose: Purpose,
        cx: &mut Context<Self>,
    ) {
        match &done {
            Done::Created(path) => {
                self.reveal(path, cx);
                let opens = matches!(purpose, Purpose::Do { opens: true });
                if opens && matches!(operation, Operation::CreateFile(_)) {
                    cx.emit(TreeEvent::Open {
                        path: path.clone(),
                        side: false,
                    });
                }
            }
            Done::Moved { from, to } => {
                self.reveal(to, cx);
                cx.emit(TreeEvent::Moved {
                    from: from.clone(),
                    to: to.clone(),
                });
            }
            Done::Trashed(path) if purpose != Purpose::Undo => {
                let sentence = format!("\u{201c}{}\u{201d} is in the trash", path.shown_name());
                let notice = Notice::new(ui::Tone::Info, sentence)
                    .key("trash")
                    .action("Undo", crate::actions::project_tree::Undo);
                cx.emit(TreeEvent::Report(notice));
            }
            Done::Trashed(_) => {}
        }
        if purpose != Purpose::Undo {
            self.state.done.push(done);
        }
    }

    /// Copies files dropped from outside, or moves what was dragged within the folder.
    pub(crate) fn take_in(
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
                Operation::Move { from, to }
            } else {
                Operation::CopyInto {
                    from,
                    folder: folder.clone(),
                }
            };
            self.run(operation, false, window, cx);
        }
    }
}

fn is_text(typed: &str, filter: &str) -> bool {
    let is_blank = typed.chars().all(char::is_whitespace);
    // A blank is a key of the tree until something is typed.
    let is_first_blank = is_blank && filter.is_empty();
    !typed.is_empty() && !typed.chars().any(char::is_control) && !is_first_blank
}

impl Focusable for TreePanel {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}
