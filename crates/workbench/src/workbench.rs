//! The entity behind one window: its folder, its panes and tabs, and the modal layer above them.
//!
//! Connects the parts of a window; each part owns its own state. Must not know: how text is edited,
//! how files are read.
//! Invariant: every item of `layout` has an entry in `items` and vice versa.
//! Start at `Workbench::new` and `render`.

pub(crate) mod agent_access;
mod agent_machine;
mod agent_terminals;
mod agents;
mod blame;
mod changed_words;
mod close;
mod code_lenses;
mod conflicts;
mod dialogs;
pub(crate) mod editor_terminals;
mod excerpts;
mod external_agents;
mod failed_commands;
mod folders;
mod formatting;
mod git_changes;
mod grid;
pub(crate) mod help;
mod hierarchy;
mod history;
pub(crate) mod inline_edit;
mod install;
mod language;
mod links;
pub(crate) mod locations;
mod mentions;
mod navigate;
mod open;
mod panes;
pub(crate) mod peek;
mod pick;
mod previews;
mod problems;
mod program;
mod prompt_selection;
pub(crate) mod quitting;
pub(crate) mod refactor;
mod removed_lines;
mod render;
mod restore;
mod review;
mod save;
mod search;
mod shown_problems;
mod snippets;
mod suggestions;
mod tasks;
mod terminals;
mod test_runs;
pub(crate) mod updates;
mod vim_keys;
mod watch;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use agents::AgentsDock;
use base::{AbsPath, path_text};
use close::ClosedTabs;
use composer_panel::AgentCounts;
use composer_panel::agents::OpenFiles;
use gpui_kit::{
    AnyWindowHandle, App, AppContext as _, Context, Entity, EntityId, FocusHandle, Focusable,
    Pixels, SharedString, Subscription, Task, WeakEntity, Window, px,
};
use host::Files;
use text::Snapshot;
use ui::{ModalLayer, RestTimer};

use crate::awake;
use crate::crumbs::Crumbs;
use crate::drag::DropPlace;
use crate::folder::OpenFolder;
use crate::index_status;
use crate::item::TabItem;
use crate::layout::{ItemId, PaneId, PaneLayout};
use crate::navigation::NavigationHistory;
use crate::notices::Notices;
use crate::prediction::Prediction;
use crate::services::Services;
use crate::session::SavedWindow;
use crate::status_bar::StatusStrip;
use crate::system_notices;
use crate::tab_strip::TabStrip;
use crate::title_bar::TitleStrip;
use crate::tree_panel::TreePanel;
pub(crate) use navigate::NavigationEntry;

/// Number of recently used files passed to agents.
const MAX_RECENT_FOR_AGENTS: usize = 10;

/// The root view of one window.
pub struct Workbench {
    services: Services,
    folder: Option<Entity<OpenFolder>>,
    /// Looks up how the disk spells the path of the next folder.
    opening_folder: Option<Task<()>>,
    layout: PaneLayout,
    items: HashMap<ItemId, ItemEntry>,
    strips: BTreeMap<PaneId, Entity<TabStrip>>,
    tree: TreeDock,
    agents: AgentsDock,
    terminals: terminals::TerminalsDock,
    tests: test_runs::FollowedTests,
    git: git_changes::GitDock,
    history: history::FollowedHistory,
    tasks: tasks::TaskDock,
    review: review::InlineReview,
    conflicts: conflicts::ShownConflicts,
    prediction: Entity<Prediction>,
    title: Entity<TitleStrip>,
    status: Entity<StatusStrip>,
    modal: Entity<ModalLayer>,
    notices: Entity<Notices>,
    pub(crate) drop_place: Option<DropPlace>,
    recent_files: Vec<String>,
    closed: ClosedTabs,
    navigation: NavigationHistory<NavigationEntry>,
    focus: FocusHandle,
    focused_region: WorkbenchRegion,
    /// Title of the window.
    window_title: String,
    /// Whether the text of the active tab is unsaved, and its path, as the window shows them.
    window_document: (bool, Option<AbsPath>),
    window: AnyWindowHandle,
    board_counts: AgentCounts,
    autosaves: HashMap<EntityId, Task<()>>,
    /// The texts of documents before a formatter changed them for the save that runs.
    unformatted: HashMap<EntityId, Snapshot>,
    /// The latest edit of several files, for undoing it.
    applied_edit: Option<crate::refactoring::AppliedEdit>,
    peek: Option<peek::OpenPeek>,
    inline_edit: Option<inline_edit::OpenInlineEdit>,
    problem_report: shown_problems::ProblemReport,
    storing: Option<Task<()>>,
    /// Stores the window when typing and scrolling rest: the recovery journal has the selections
    /// until then.
    store_timer: RestTimer<Workbench>,
    folder_subscriptions: Vec<Subscription>,
    _subscriptions: Vec<Subscription>,
}

struct ItemEntry {
    item: TabItem,
    /// Title of the tab of an untitled text, as it was shown last.
    title: SharedString,
    crumbs: Option<Entity<Crumbs>>,
    _subscriptions: Vec<Subscription>,
}

/// A part of the window that can have the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkbenchRegion {
    Panes,
    Tree,
    Agents,
    Terminals,
}

/// The project tree at the side of the window.
struct TreeDock {
    panel: Entity<TreePanel>,
    is_shown: bool,
    width: Pixels,
}

/// Maximum number of recent files per folder.
const MAX_RECENT_FILES: usize = 200;
/// Delay before storing the window, to gather further changes.
const STORE_AFTER: Duration = Duration::from_millis(400);
/// Pause in typing and scrolling before the window is stored.
const STORE_REST: Duration = Duration::from_secs(1);
/// Window width, in pixels, below which the tree overlays the text.
const NARROW: f32 = 640.0;

/// Whether the window is so narrow that the tree overlays the text.
fn is_narrow(window: &Window) -> bool {
    f32::from(window.viewport_size().width) < NARROW
}

/// Initial state of a window.
#[derive(Clone, Debug, Default)]
pub struct WindowStart {
    /// Folder to open, if any.
    pub folder: Option<AbsPath>,
    /// Stored state to restore, if any.
    pub saved: Option<SavedWindow>,
    /// Whether the window is opened only for files from the command line.
    pub for_files: bool,
}

impl WindowStart {
    /// Spells the folder as the disk stores it, which may have changed since it was saved. Blocks on
    /// the disk.
    pub(crate) fn with_stored_folder(mut self, files: &dyn Files) -> Self {
        self.folder = self.folder.map(|folder| files.stored_path(&folder));
        self
    }
}

impl Workbench {
    /// Creates the workbench from `opening`.
    pub fn new(opening: WindowStart, window: &mut Window, cx: &mut Context<Self>) -> Self {
        let modal = ModalLayer::new(cx);
        let tree = cx.new(|cx| TreePanel::new(modal.clone(), window, cx));
        let notices = cx.new(|_| Notices::default());
        let agents = AgentsDock::new(window, cx);
        let prediction = cx.new(Prediction::new);
        let mut workbench = Self {
            services: Services::of(cx),
            folder: None,
            opening_folder: None,
            layout: PaneLayout::default(),
            items: HashMap::new(),
            strips: BTreeMap::new(),
            tree: TreeDock {
                panel: tree,
                is_shown: true,
                width: px(240.0),
            },
            review: review::InlineReview::default(),
            conflicts: conflicts::ShownConflicts::default(),
            status: cx.new(|_| StatusStrip::new(prediction.clone(), agents.local.clone())),
            title: cx.new(TitleStrip::new),
            prediction,
            agents,
            terminals: terminals::TerminalsDock::new(),
            tests: test_runs::FollowedTests::default(),
            git: git_changes::GitDock::default(),
            history: history::FollowedHistory::default(),
            tasks: tasks::TaskDock::default(),
            modal,
            notices,
            drop_place: None,
            recent_files: Vec::new(),
            closed: ClosedTabs::default(),
            navigation: NavigationHistory::default(),
            focus: cx.focus_handle(),
            focused_region: WorkbenchRegion::Panes,
            window_title: String::new(),
            window_document: (false, None),
            window: window.window_handle(),
            board_counts: AgentCounts::default(),
            autosaves: HashMap::new(),
            unformatted: HashMap::new(),
            applied_edit: None,
            peek: None,
            inline_edit: None,
            problem_report: shown_problems::ProblemReport::new(),
            storing: None,
            store_timer: RestTimer::new(STORE_REST, |it| &mut it.store_timer, Self::store_rested),
            folder_subscriptions: Vec::new(),
            _subscriptions: Vec::new(),
        };
        watch::watch_window(&mut workbench, window, cx);
        workbench.follow_layout(cx);
        match opening.folder {
            Some(folder) => workbench.set_folder(Some(folder), window, cx),
            None => workbench.follow_title(cx),
        }
        if let Some(saved) = opening.saved {
            restore::restore(&mut workbench, saved, window, cx);
        }
        workbench
    }

    /// Returns the layout of panes and tabs.
    pub fn layout(&self) -> &PaneLayout {
        &self.layout
    }

    /// Returns the content of a tab, or `None` if the id is unknown or the tab is closed.
    pub fn item(&self, item: ItemId) -> Option<&TabItem> {
        self.items.get(&item).map(|entry| &entry.item)
    }

    /// Returns the item shown in the active pane, or `None` if the pane is empty.
    pub fn active_item(&self) -> Option<&TabItem> {
        self.item(self.layout.active_item()?)
    }

    /// Returns the open folder, if any.
    pub fn folder(&self) -> Option<&Entity<OpenFolder>> {
        self.folder.as_ref()
    }

    /// Returns the path of the open folder.
    pub fn root(&self, cx: &App) -> Option<AbsPath> {
        self.folder
            .as_ref()
            .map(|folder| folder.read(cx).root().clone())
    }

    /// Returns the project tree panel.
    pub fn tree(&self) -> &Entity<TreePanel> {
        &self.tree.panel
    }

    /// Returns the layer for pickers and questions.
    pub fn modal(&self) -> &Entity<ModalLayer> {
        &self.modal
    }

    /// Returns the Tab suggestions of this window.
    #[cfg(test)]
    pub(crate) fn prediction(&self) -> &Entity<Prediction> {
        &self.prediction
    }

    /// Returns the notifications of this window.
    pub fn notices(&self) -> &Entity<Notices> {
        &self.notices
    }

    /// Returns the tab bar of a pane, or `None` if there is no such pane.
    pub(crate) fn strip(&self, pane: PaneId) -> Option<Entity<TabStrip>> {
        self.strips.get(&pane).cloned()
    }

    /// Returns the recently used files of this folder, newest first.
    pub(crate) fn recent_files(&self) -> &[String] {
        &self.recent_files
    }

    /// Returns a path for display on one line: relative to the folder, or with `~`.
    pub(crate) fn display_path(&self, path: &AbsPath, cx: &App) -> String {
        self.services.display_in(self.root(cx).as_ref(), path)
    }

    /// Returns every item that shows a document, alone or among excerpts.
    pub(crate) fn items_of(&self, document: EntityId, cx: &App) -> Vec<ItemId> {
        let shows = |entry: &ItemEntry| {
            let shown = entry.item.documents(cx);
            shown.iter().any(|shown| shown.entity_id() == document)
        };
        let items = self.items.iter().filter(|(_, entry)| shows(entry));
        items.map(|(item, _)| *item).collect()
    }

    /// Updates the tab bars to match the panes, then redraws and stores the window.
    fn layout_changed(&mut self, cx: &mut Context<Self>) {
        self.follow_layout(cx);
        self.store_soon(cx);
        cx.notify();
    }

    fn follow_layout(&mut self, cx: &mut Context<Self>) {
        let panes = self.layout.tree().panes();
        self.strips.retain(|pane, _| panes.contains(pane));
        let this: WeakEntity<Self> = cx.weak_entity();
        for pane in panes {
            let this = this.clone();
            self.strips
                .entry(pane)
                .or_insert_with(|| cx.new(|_| TabStrip::new(pane, this)));
        }
        for strip in self.strips.values() {
            strip.update(cx, |_, cx| cx.notify());
        }
        editor_terminals::follow_layout(self, cx);
        self.title.update(cx, |_, cx| cx.notify());
        let editor = self.active_item().and_then(TabItem::editor).cloned();
        self.status
            .update(cx, |status, cx| status.follow(editor, cx));
        self.sync_focused_view(cx);
        self.follow_title(cx);
        self.note_open_files(cx);
        blame::follow_layout(self, cx);
        previews::follow_layout(self, cx);
    }

    /// Restores the focus after the focused view disappeared: to the last focused region, or to the
    /// modal view.
    fn keyboard_lost(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.modal.read(cx).is_open() {
            self.modal
                .update(cx, |modal, cx| modal.keep_keyboard(window, cx));
            return;
        }
        match self.focused_region {
            WorkbenchRegion::Tree if self.tree.is_shown => {
                if !git_changes::focus_shown(self, window, cx) {
                    self.tree.panel.read(cx).focus_handle(cx).focus(window, cx);
                }
            }
            WorkbenchRegion::Agents if self.agents.is_shown => {
                let panel = self.agents.panel.read(cx);
                panel.focus_handle(cx).focus(window, cx);
            }
            WorkbenchRegion::Terminals if self.are_terminals_visible() => {
                if let Some(panel) = self.terminals() {
                    panel.read(cx).focus_handle(cx).focus(window, cx);
                }
            }
            _ => self.focus_active(window, cx),
        }
    }

    /// Notes whether agents or the index of this window work, and notifies an absent user.
    fn note_work(&mut self, cx: &mut Context<Self>) {
        let panel = self.agents.local.read(cx);
        let (agents, on_board) = (panel.agent_counts(), panel.board_counts());
        let before = std::mem::replace(&mut self.board_counts, on_board);
        if before != on_board {
            let place = self.root(cx).map(|root| root.printable_name());
            let place = place.unwrap_or_default();
            if system_notices::agents_changed(cx.entity_id(), &place, before, on_board, cx) {
                self.agents.notified = None;
            }
        }
        let folder = self.folder.as_ref().map(|folder| folder.read(cx));
        let index = folder
            .and_then(OpenFolder::index)
            .map(|index| index.status());
        let is_indexing = index.is_some_and(|status| index_status::is_working(&status));
        awake::note(cx.entity_id(), agents.working > 0 || is_indexing, cx);
    }

    /// Passes the files shown in this window to the agents' engines.
    fn note_open_files(&self, cx: &mut Context<Self>) {
        let (Some(engines), Some(root)) = (self.services.agents.as_ref(), self.root(cx)) else {
            return;
        };
        let active = self.layout.active_item();
        let mut items = self.layout.items();
        items.sort_by_key(|item| Some(*item) != active);
        let mut open: Vec<String> = Vec::new();
        for path in items.iter().filter_map(|item| self.item(*item)?.path(cx)) {
            let relative = path.relative_to(&root).map(path_text);
            if let Some(relative) = relative.filter(|it| !open.contains(it)) {
                open.push(relative);
            }
        }
        let recent = self.recent_files.iter().filter(|it| !open.contains(it));
        let recent = recent.take(MAX_RECENT_FOR_AGENTS).cloned().collect();
        let problems = self.problem_report.latest.clone();
        let files = OpenFiles {
            open,
            recent,
            problems,
            terminals: self.terminals.agents.mentioned.clone(),
        };
        engines.set_open_files(root, files);
    }

    /// Restores the focus when the modal layer closes. The previously focused view may be hidden
    /// behind another tab by now.
    fn modal_changed(
        &mut self,
        modal: Entity<ModalLayer>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if modal.read(cx).is_open() || self.focused_region != WorkbenchRegion::Panes {
            return;
        }
        let covered = self.items.iter().any(|(id, entry)| {
            let pane = self.layout.pane_of(*id);
            let shown = pane.and_then(|pane| self.layout.tabs(pane)?.active());
            shown != Some(*id) && entry.item.focus_handle(cx).is_focused(window)
        });
        if covered {
            self.focus_active(window, cx);
        }
    }

    /// Focuses the item shown in the active pane, or the window itself if the pane is empty.
    pub(crate) fn focus_active(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.focused_region = WorkbenchRegion::Panes;
        let focus = match self.active_item() {
            Some(item) => item.focus_handle(cx),
            None => self.focus.clone(),
        };
        focus.focus(window, cx);
    }
}

impl Focusable for Workbench {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}
