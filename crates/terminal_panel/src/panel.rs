//! The panel: tabs of terminals, with splits inside a tab.
//!
//! Start at `TerminalPanel::open` (`panel/tabs.rs`).

mod closing;
mod editor_area;
mod mentions;
mod naming;
mod render;
mod saving;
mod tabs;
mod tasks;

use std::sync::Arc;

use base::AbsPath;
use gpui_kit::{
    App, Context, Entity, EntityId, EventEmitter, FocusHandle, Focusable, SharedString,
    Subscription, Task, Window,
};

pub use closing::{KEEP_OPEN, STOP_AND_CLOSE, closing_question};
pub use editor_area::DraggedTerminal;
pub use mentions::{MentionedOutput, TerminalMention};
pub use tasks::LaunchedTerminal;

use crate::service::{TerminalRequest, TerminalService};
use crate::view::{FailedCommand, FailureRequest, TerminalView, TerminalViewEvent};

/// The panel with the terminals of a window. It owns those that the window shows among its texts as well.
///
/// The window calls `set_visible` when it shows or hides the panel, `set_folder` when its folder changes, and handles
/// `TerminalPanelEvent`. The actions `terminal::TogglePanel` and `terminal::FocusPanel` are the window's.
pub struct TerminalPanel {
    service: Arc<dyn TerminalService>,
    folder: Option<AbsPath>,
    tabs: Vec<PanelTab>,
    /// The index of the shown tab.
    active: usize,
    next_id: u64,
    /// The terminals that the window shows among its texts.
    in_editor: Vec<TabPane>,
    next_editor_id: u64,
    /// The terminal that got the focus last.
    last_focused: Option<EntityId>,
    focus: FocusHandle,
    is_visible: bool,
    naming: Option<naming::TabNaming>,
    closing: Option<closing::ClosingQuestion>,
    saving: saving::SavedPanes,
    _load: Option<Task<()>>,
}

/// A request of the panel to its window.
#[derive(Clone, Debug, PartialEq)]
pub enum TerminalPanelEvent {
    /// Open a file; line and column count from 1.
    OpenFile {
        /// The file or folder.
        path: AbsPath,
        /// The line.
        line: Option<u32>,
        /// The column.
        column: Option<u32>,
    },
    /// Open an address of the web. The user saw it before the click.
    OpenUrl(String),
    /// Notify the user: a program sent a notification, or rang the bell, in a terminal without the focus.
    Notify {
        /// The title.
        title: SharedString,
        /// The text.
        text: SharedString,
    },
    /// Add a text to the prompt for the agent.
    SendToAgent(String),
    /// Ask the agent about a failed command.
    AskAgent(FailureRequest, FailedCommand),
    /// A tab was closed whose command goes on, because an agent runs it. The title of the tab.
    Detached(SharedString),
    /// Run the task with this name again: the user asked for that in its terminal.
    RerunRequested(String),
    /// Hide the panel: its last terminal was closed, or the user hides it. The focus returns to the editor.
    CloseRequested,
    /// A terminal among the texts was closed.
    ClosedInEditor(Entity<TerminalView>),
    /// Number, titles or states of the terminals changed.
    Changed,
}

/// A tab: one or more terminals side by side.
struct PanelTab {
    id: u64,
    /// The name that the user or the request gave.
    name: Option<String>,
    panes: Vec<TabPane>,
    /// The index of the pane that has or had the focus.
    active: usize,
}

/// A terminal of a tab.
struct TabPane {
    view: Entity<TerminalView>,
    _events: Subscription,
}

impl EventEmitter<TerminalPanelEvent> for TerminalPanel {}

impl Focusable for TerminalPanel {
    fn focus_handle(&self, cx: &App) -> FocusHandle {
        match self.active_view() {
            Some(view) => view.read(cx).focus_handle(cx),
            None => self.focus.clone(),
        }
    }
}

impl TerminalPanel {
    /// Creates a panel for a window over `folder`, and restores the saved terminals of the folder. Their shells start when
    /// they are first seen.
    pub fn new(
        service: Arc<dyn TerminalService>,
        folder: Option<AbsPath>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let mut this = Self {
            service,
            folder,
            tabs: Vec::new(),
            active: 0,
            next_id: 0,
            in_editor: Vec::new(),
            next_editor_id: 0,
            last_focused: None,
            focus: cx.focus_handle(),
            is_visible: false,
            naming: None,
            closing: None,
            saving: saving::SavedPanes::new(),
            _load: None,
        };
        this.load_saved(window, cx);
        this
    }

    /// Sets the folder in which new terminals start.
    pub fn set_folder(&mut self, folder: Option<AbsPath>) {
        self.folder = folder;
    }

    /// Tells the panel whether the window shows it. Hidden terminals are not drawn.
    pub fn set_visible(&mut self, is_visible: bool, cx: &mut Context<Self>) {
        self.is_visible = is_visible;
        self.update_shown(cx);
    }

    /// Opens a terminal in a new tab and shows it. The focus stays where it is: see `focus`.
    pub fn open(
        &mut self,
        request: TerminalRequest,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Entity<TerminalView> {
        let name = request.title.clone();
        let view = self.create_view(request, None, window, cx);
        self.add_tab(view.clone(), name, window, cx);
        view
    }

    /// Focuses the shown terminal; opens one if there is none, once it is known that none was saved.
    pub fn focus(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.tabs.is_empty() && self.saving.is_loaded() {
            self.open(TerminalRequest::default(), window, cx);
        }
        self.focus_handle(cx).focus(window, cx);
    }

    /// Returns the focus of the panel with everything in it: terminals, search bars, questions.
    pub fn region_focus(&self) -> &FocusHandle {
        &self.focus
    }

    /// Returns whether the panel shows no terminal.
    pub fn is_empty(&self) -> bool {
        self.tabs.is_empty()
    }

    /// Returns the number of terminals in which the end of the window would stop a command.
    pub fn running_count(&self, cx: &App) -> usize {
        let ends =
            |view: &TerminalView| view.running_command().is_some() && view.kept_shell().is_none();
        self.views().filter(|view| ends(view.read(cx))).count()
    }

    /// Returns the shown terminal that has or had the focus.
    pub fn active_view(&self) -> Option<&Entity<TerminalView>> {
        let tab = self.tabs.get(self.active)?;
        tab.panes.get(tab.active).map(|pane| &pane.view)
    }

    /// Returns all terminals of the window: those of the tabs, then those among the texts.
    pub fn views(&self) -> impl Iterator<Item = &Entity<TerminalView>> {
        let panes = self.tabs.iter().flat_map(|tab| &tab.panes);
        panes.chain(&self.in_editor).map(|pane| &pane.view)
    }

    fn on_view_event(
        &mut self,
        view: &Entity<TerminalView>,
        event: &TerminalViewEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            TerminalViewEvent::Changed => {
                self.save_soon(cx);
                cx.emit(TerminalPanelEvent::Changed);
                cx.notify();
            }
            TerminalViewEvent::Output => self.save_soon(cx),
            TerminalViewEvent::Focused => self.note_focus(view, cx),
            TerminalViewEvent::CloseRequested => self.close_view(view, window, cx),
            TerminalViewEvent::Notify { title, text } => {
                let (title, text) = (title.clone(), text.clone());
                cx.emit(TerminalPanelEvent::Notify { title, text });
            }
            TerminalViewEvent::OpenFile { path, line, column } => {
                cx.emit(TerminalPanelEvent::OpenFile {
                    path: path.clone(),
                    line: *line,
                    column: *column,
                });
            }
            TerminalViewEvent::OpenUrl(url) => cx.emit(TerminalPanelEvent::OpenUrl(url.clone())),
            TerminalViewEvent::SendToAgent(text) => {
                cx.emit(TerminalPanelEvent::SendToAgent(text.clone()));
            }
            TerminalViewEvent::AskAgent(request, failed) => {
                cx.emit(TerminalPanelEvent::AskAgent(*request, failed.clone()));
            }
            TerminalViewEvent::RerunRequested => {
                let title = view.read(cx).title().to_string();
                cx.emit(TerminalPanelEvent::RerunRequested(title));
            }
        }
    }
}

#[cfg(test)]
mod tests;
