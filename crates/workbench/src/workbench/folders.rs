//! The folder of a window and its tree: opening and closing it, focusing it, following the active
//! text.

use base::AbsPath;
use gpui_kit::{
    App, AppContext as _, ClipboardItem, Context, Div, Entity, Focusable as _,
    InteractiveElement as _, Stateful, Window,
};
use ui::{ActiveSettings as _, Tone};

use super::shown_problems::ProblemReport;
use super::{
    Workbench, conflicts, git_changes, history, is_narrow, language, previews, tasks, terminals,
    test_runs,
};
use crate::actions::file::{
    CloseFolder, CopyPath, CopyRelativePath, RevealInFileManager, RevealInTree,
};
use crate::actions::view::{FocusEditor, FocusProjectTree, ToggleProjectTree};
use crate::folder::{FolderEvent, OpenFolder};
use crate::item::TabItem;
use crate::menus;
use crate::notices::Notice;
use crate::open_options::OpenOptions;
use crate::path_entry::clipboard_text;
use crate::tree_panel::TreeEvent;
use crate::window_registry;
use crate::workbench::search;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(toggle_tree))
        .on_action(cx.listener(focus_tree_action))
        .on_action(cx.listener(focus_editor))
        .on_action(cx.listener(close_folder))
        .on_action(cx.listener(copy_path))
        .on_action(cx.listener(copy_relative_path))
        .on_action(cx.listener(reveal_in_file_manager))
        .on_action(cx.listener(reveal_in_tree))
}

impl Workbench {
    /// Opens a folder in this window in place of the current one; texts stay open. The disk is asked
    /// in the background how it spells the path. A folder that is opened or closed meanwhile takes
    /// precedence.
    pub(crate) fn open_folder_here(
        &mut self,
        folder: AbsPath,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let files = self.services.files.clone();
        let spelled = cx.background_spawn(async move { files.stored_path(&folder) });
        self.opening_folder = Some(cx.spawn_in(window, async move |this, cx| {
            let folder = spelled.await;
            let opened = this.update_in(cx, |this, window, cx| {
                this.open_stored_folder(folder, window, cx);
            });
            // A window that closed opens nothing.
            opened.ok();
        }));
    }

    fn open_stored_folder(&mut self, folder: AbsPath, window: &mut Window, cx: &mut Context<Self>) {
        if self.root(cx).as_ref() == Some(&folder) {
            return;
        }
        // A window that already shows something keeps it; the folder opens in a new window.
        if self.folder.is_some() && !self.items.is_empty() {
            cx.defer(move |cx| window_registry::open_folder(folder, cx));
            return;
        }
        self.set_folder(Some(folder), window, cx);
    }

    /// Sets the folder of this window, whose path is spelled as it is stored, or closes it, and updates
    /// the panels. Tabs stay open.
    pub(crate) fn set_folder(
        &mut self,
        root: Option<AbsPath>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.opening_folder = None;
        self.folder_subscriptions.clear();
        self.recent_files.clear();
        self.problem_report = ProblemReport::new();
        self.folder = root.map(|root| OpenFolder::open(root, cx));
        if let Some(folder) = self.folder.clone() {
            for model in crate::documents::Documents::all(cx) {
                OpenFolder::serve_document(&model, cx);
            }
            self.folder_subscriptions = vec![
                cx.subscribe_in(&folder, window, folder_event),
                language::follow(&folder, window, cx),
            ];
            let root = folder.read(cx).root().clone();
            window_registry::note_folder(&root, cx);
            cx.add_recent_document(root.as_path());
            menus::refresh(cx);
        }
        let folder = self.folder.clone();
        self.tree
            .panel
            .update(cx, |tree, cx| tree.set_folder(folder, window, cx));
        let folder = self.folder.clone();
        self.title
            .update(cx, |title, cx| title.set_folder(folder.clone(), cx));
        self.status
            .update(cx, |status, cx| status.set_folder(folder, cx));
        let root = self.root(cx);
        self.agents
            .local
            .update(cx, |panel, cx| panel.set_root(root.clone(), window, cx));
        terminals::follow_folder(self, cx);
        test_runs::follow_folder(self, window, cx);
        git_changes::follow_folder(self, window, cx);
        history::follow_folder(self, cx);
        tasks::follow_folder(self);
        self.prediction.update(cx, |prediction, cx| {
            prediction.set_folder(self.folder.clone(), window, cx);
        });
        for entry in self.items.values() {
            if let Some(crumbs) = &entry.crumbs {
                crumbs.update(cx, |crumbs, cx| crumbs.set_root(root.clone(), cx));
            }
            if let TabItem::Search(panel) = &entry.item {
                panel.update(cx, |panel, cx| panel.set_root(root.clone(), window, cx));
            }
        }
        load_project_settings(self, cx);
        self.layout_changed(cx);
        self.watch_visible(cx);
        // The index of the former folder no longer counts.
        self.note_work(cx);
    }

    /// Updates the window title after the current call.
    pub(super) fn follow_title(&self, cx: &mut Context<Self>) {
        let (this, window) = (cx.weak_entity(), self.window);
        cx.defer(move |cx| {
            let named = window.update(cx, |_, window, cx| {
                this.update(cx, |this, cx| set_title(this, window, cx))
            });
            // The window may have been closed.
            named.ok();
        });
    }

    /// Returns whether the tree is visible. In a narrow window it overlays the text, so it is shown
    /// only while it has the focus or no text is open.
    pub(crate) fn is_tree_visible(&self, window: &Window, cx: &App) -> bool {
        self.tree.is_shown
            && (!is_narrow(window)
                || self.active_item().is_none()
                || self.tree_has_focus(window, cx)
                || git_changes::has_focus(self, window, cx))
    }

    /// Whether the tree or anything in it has the focus.
    fn tree_has_focus(&self, window: &Window, cx: &App) -> bool {
        let focus = self.tree.panel.read(cx).focus_handle(cx);
        focus.contains_focused(window, cx)
    }

    /// Shows the tree and focuses it.
    pub(super) fn focus_tree(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.tree.is_shown = true;
        self.git.hide();
        self.tree.panel.read(cx).focus_handle(cx).focus(window, cx);
        self.layout_changed(cx);
    }

    /// Sets the width of the tree.
    pub(crate) fn set_tree_width(&mut self, width: gpui_kit::Pixels, cx: &mut Context<Self>) {
        self.tree.width = width;
        self.store_soon(cx);
        cx.notify();
    }

    /// Selects the active text in the tree, if the settings ask for it.
    pub(super) fn tree_follows(&mut self, cx: &mut Context<Self>) {
        if cx.settings().window.file_tree_follows {
            show_in_tree(self, cx);
        }
    }
}

fn close_folder(
    workbench: &mut Workbench,
    _: &CloseFolder,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.set_folder(None, window, cx);
}

fn folder_event(
    workbench: &mut Workbench,
    folder: &Entity<OpenFolder>,
    event: &FolderEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        FolderEvent::Tree => workbench.store_soon(cx),
        FolderEvent::Files => {}
        FolderEvent::Index => {
            workbench.status.update(cx, |_, cx| cx.notify());
            workbench.note_work(cx);
        }
        FolderEvent::Git => {
            workbench.title.update(cx, |_, cx| cx.notify());
            workbench.status.update(cx, |_, cx| cx.notify());
            workbench.load_heads(cx);
            conflicts::refresh_all(workbench, cx);
            history::look_at_head(workbench, cx);
        }
        FolderEvent::Changed(paths) => {
            workbench.check_documents(|path| paths.contains(path), window, cx);
            let settings = folder.read(cx).root().join(".burin/settings.json");
            if paths.contains(&settings) {
                load_project_settings(workbench, cx);
            }
            git_changes::files_changed(workbench, Some(paths.clone()), cx);
            previews::files_changed(workbench, |path| paths.contains(path), cx);
        }
        FolderEvent::Rescan => {
            workbench.check_documents(|_| true, window, cx);
            git_changes::files_changed(workbench, None, cx);
            previews::files_changed(workbench, |_| true, cx);
        }
        FolderEvent::Problem(sentence) => {
            workbench.report(
                Notice::new(Tone::Warning, sentence.clone()).key("watch"),
                window,
                cx,
            );
        }
    }
}

fn set_title(workbench: &mut Workbench, window: &mut Window, cx: &Context<Workbench>) {
    let title = window_title(workbench, cx);
    if workbench.window_title != title {
        window.set_window_title(&title);
        workbench.window_title = title;
    }
    // macOS marks the close button of an unsaved text and shows the path of its file.
    let active = workbench.active_item();
    let is_dirty = active.is_some_and(|item| item.is_dirty(cx));
    let shown = (is_dirty, active.and_then(|item| item.path(cx)));
    if workbench.window_document != shown {
        window.set_window_edited(shown.0);
        window.set_document_path(shown.1.as_ref().map(AbsPath::as_path));
        workbench.window_document = shown;
    }
}

/// Returns the window title: the active file, preceded by a dot if unsaved, the folder and the
/// application.
fn window_title(workbench: &Workbench, cx: &App) -> String {
    let item = workbench.active_item().map(|item| {
        let dot = if item.is_dirty(cx) { "\u{25cf} " } else { "" };
        format!("{dot}{}", item.title(cx))
    });
    let folder = workbench.root(cx).map(|root| root.printable_name());
    let parts = item.into_iter().chain(folder);
    let parts: Vec<String> = parts.chain(["Burin".to_owned()]).collect();
    parts.join(" \u{2014} ")
}

fn toggle_tree(
    workbench: &mut Workbench,
    _: &ToggleProjectTree,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if workbench.git.shown().is_some() || !workbench.is_tree_visible(window, cx) {
        workbench.focus_tree(window, cx);
        return;
    }
    // An overlaid tree hides when it loses the focus, and reappears in a wide window.
    workbench.tree.is_shown = is_narrow(window) && workbench.active_item().is_some();
    if workbench.tree_has_focus(window, cx) {
        workbench.focus_active(window, cx);
    }
    workbench.layout_changed(cx);
}

fn focus_tree_action(
    workbench: &mut Workbench,
    _: &FocusProjectTree,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if workbench.tree.is_shown && workbench.tree_has_focus(window, cx) {
        workbench.focus_active(window, cx);
    } else {
        workbench.focus_tree(window, cx);
    }
}

fn focus_editor(
    workbench: &mut Workbench,
    _: &FocusEditor,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.focus_active(window, cx);
}

fn show_in_tree(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    if let Some(path) = workbench.active_item().and_then(|item| item.path(cx)) {
        workbench
            .tree
            .panel
            .update(cx, |tree, cx| tree.reveal(&path, cx));
    }
}

fn reveal_in_tree(
    workbench: &mut Workbench,
    _: &RevealInTree,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_in_tree(workbench, cx);
    workbench.focus_tree(window, cx);
}

pub(super) fn copy_path(
    workbench: &mut Workbench,
    _: &CopyPath,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(path) = workbench.active_item().and_then(|item| item.path(cx)) {
        cx.write_to_clipboard(ClipboardItem::new_string(clipboard_text(path)));
    }
}

pub(super) fn copy_relative_path(
    workbench: &mut Workbench,
    _: &CopyRelativePath,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(path) = workbench.active_item().and_then(|item| item.path(cx)) {
        let root = workbench.root(cx);
        let relative = root.as_ref().and_then(|root| path.relative_to(root));
        let text = relative.map_or_else(|| workbench.services.display(&path), clipboard_text);
        cx.write_to_clipboard(ClipboardItem::new_string(text));
    }
}

pub(super) fn reveal_in_file_manager(
    workbench: &mut Workbench,
    _: &RevealInFileManager,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(path) = workbench.active_item().and_then(|item| item.path(cx)) {
        cx.reveal_path(path.as_path());
    }
}

/// Handles a request of the project tree.
pub(super) fn tree_event(
    workbench: &mut Workbench,
    event: &TreeEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        TreeEvent::Open { path, side: false } => {
            workbench.open_path(path.clone(), OpenOptions::lasting(), window, cx);
        }
        TreeEvent::Open { path, side: true } => {
            workbench.open_found(path.clone(), None, true, window, cx);
        }
        TreeEvent::Preview(path) => {
            let options = OpenOptions::preview(cx);
            workbench.open_path(path.clone(), options, window, cx);
        }
        TreeEvent::OpenWith(path) => previews::choose(workbench, path.clone(), window, cx),
        TreeEvent::Moved { from, to } => {
            crate::documents::Documents::follow_move(from, to, cx);
            workbench.layout_changed(cx);
        }
        TreeEvent::Report(notice) => workbench.report(notice.clone(), window, cx),
        TreeEvent::Search(folder) => {
            let glob = workbench
                .root(cx)
                .and_then(|root| Some(folder.relative_to(&root)?.display().to_string()));
            search::show_search_in(workbench, glob, window, cx);
        }
        TreeEvent::Leave => workbench.focus_active(window, cx),
        TreeEvent::OpenFolder => {
            window.dispatch_action(Box::new(crate::actions::file::OpenFolder), cx);
        }
        TreeEvent::Dropped { paths, folder } => {
            workbench.tree.panel.update(cx, |tree, cx| {
                tree.import_paths(paths.clone(), folder.clone(), window, cx)
            });
        }
    }
}

/// Loads the folder's own settings, which are untrusted.
fn load_project_settings(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    const LIMIT: u64 = 1 << 20;
    let configuration = crate::configuration::Configuration::of(cx);
    let path = workbench
        .root(cx)
        .map(|root| root.join(".burin/settings.json"));
    let files = workbench.services.files.clone();
    let read = cx.background_spawn(async move {
        let bytes = path.and_then(|path| files.read(&path, LIMIT).ok());
        bytes
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    });
    cx.spawn(async move |_, cx| {
        let text = read.await;
        configuration.update(cx, |configuration, cx| {
            configuration.set_project_settings(".burin/settings.json", &text, cx);
        });
    })
    .detach();
}
