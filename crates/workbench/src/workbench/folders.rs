//! The folder of a window and its tree: opening and closing it, focusing it, following the active
//! text.

use base::AbsPath;
use gpui_kit::{App, AppContext as _, ClipboardItem, Context, Entity, Focusable as _, Window};
use ui::{ActiveSettings as _, Tone};

use super::{OpenOptions, Workbench, is_narrow};
use crate::actions::file::{
    CloseFolder, CopyPath, CopyRelativePath, RevealInFileManager, RevealInTree,
};
use crate::actions::view::{FocusEditor, FocusProjectTree, ToggleProjectTree};
use crate::folder::{FolderEvent, OpenFolder};
use crate::item::TabItem;
use crate::notices::Notice;
use crate::path_entry::clipboard_text;
use crate::tree_panel::TreeEvent;
use crate::windows;

impl Workbench {
    /// Opens a folder in this window in place of the current one; texts stay open.
    pub(crate) fn open_folder_here(
        &mut self,
        folder: AbsPath,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.root(cx).as_ref() == Some(&folder) {
            return;
        }
        // A window that already shows something keeps it; the folder opens in a new window.
        if self.folder.is_some() && !self.items.is_empty() {
            cx.defer(move |cx| windows::open_folder(Some(folder), cx));
            return;
        }
        self.set_folder(Some(folder), window, cx);
    }

    /// Sets or closes the folder of this window.
    pub(crate) fn set_folder(
        &mut self,
        root: Option<AbsPath>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.folder_subscription = None;
        self.recent_files.clear();
        self.folder = root.map(|root| OpenFolder::open(root, cx));
        if let Some(folder) = self.folder.clone() {
            let heard = cx.subscribe_in(&folder, window, Self::folder_event);
            self.folder_subscription = Some(heard);
            windows::note_folder(&folder.read(cx).root().clone(), cx);
        }
        let folder = self.folder.clone();
        self.tree
            .update(cx, |tree, cx| tree.set_folder(folder, window, cx));
        let root = self.root(cx);
        self.agents
            .panel
            .update(cx, |panel, cx| panel.set_root(root.clone(), cx));
        self.prediction.update(cx, |prediction, cx| {
            prediction.set_folder(self.folder.clone(), window, cx);
        });
        for entry in self.items.values() {
            if let TabItem::Search(panel) = &entry.item {
                panel.update(cx, |panel, cx| panel.set_root(root.clone(), window, cx));
            }
        }
        self.load_project_settings(cx);
        self.layout_changed(cx);
        self.watch_visible(cx);
    }

    pub(super) fn close_folder(
        &mut self,
        _: &CloseFolder,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.set_folder(None, window, cx);
    }

    fn folder_event(
        &mut self,
        folder: &Entity<OpenFolder>,
        event: &FolderEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            FolderEvent::Tree => self.store_soon(cx),
            FolderEvent::Files => {}
            FolderEvent::Index => self.status.update(cx, |_, cx| cx.notify()),
            FolderEvent::Git => {
                self.title.update(cx, |_, cx| cx.notify());
                self.status.update(cx, |_, cx| cx.notify());
                self.load_heads(cx);
            }
            FolderEvent::Changed(paths) => {
                self.check_documents(|path| paths.contains(path), window, cx);
                let settings = folder.read(cx).root().join(".burin/settings.json");
                if paths.contains(&settings) {
                    self.load_project_settings(cx);
                }
            }
            FolderEvent::Rescan => self.check_documents(|_| true, window, cx),
            FolderEvent::Problem(sentence) => {
                self.report(
                    Notice::new(Tone::Warning, sentence.clone()).key("watch"),
                    window,
                    cx,
                );
            }
        }
    }

    /// Updates the window title after the current call.
    pub(super) fn follow_title(&self, cx: &mut Context<Self>) {
        let (this, window) = (cx.weak_entity(), self.window);
        cx.defer(move |cx| {
            let named = window.update(cx, |_, window, cx| {
                this.update(cx, |this, cx| this.set_title(window, cx))
            });
            // The window may have been closed.
            named.ok();
        });
    }

    fn set_title(&mut self, window: &mut Window, cx: &Context<Self>) {
        let title = self.window_title(cx);
        if self.window_title != title {
            window.set_window_title(&title);
            self.window_title = title;
        }
    }

    /// Returns the window title: the active file, preceded by a dot if unsaved, the folder and the
    /// application.
    fn window_title(&self, cx: &App) -> String {
        let item = self.active_item().map(|item| {
            let dot = if item.is_dirty(cx) { "\u{25cf} " } else { "" };
            format!("{dot}{}", item.title(cx))
        });
        let folder = self.root(cx).map(|root| root.printable_name());
        let parts = item.into_iter().chain(folder);
        let parts: Vec<String> = parts.chain(["Burin".to_owned()]).collect();
        parts.join(" \u{2014} ")
    }

    pub(super) fn toggle_tree(
        &mut self,
        _: &ToggleProjectTree,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if !self.is_tree_visible(window, cx) {
            self.focus_tree(window, cx);
            return;
        }
        // An overlaid tree hides when it loses the focus, and reappears in a wide window.
        self.tree_shown = is_narrow(window) && self.active_item().is_some();
        if self.tree_has_focus(window, cx) {
            self.focus_active(window, cx);
        }
        self.layout_changed(cx);
    }

    /// Returns whether the tree is visible. In a narrow window it overlays the text, so it is shown
    /// only while it has the focus or no text is open.
    pub(crate) fn is_tree_visible(&self, window: &Window, cx: &App) -> bool {
        self.tree_shown
            && (!is_narrow(window)
                || self.active_item().is_none()
                || self.tree_has_focus(window, cx))
    }

    fn tree_has_focus(&self, window: &Window, cx: &App) -> bool {
        let focus = self.tree.read(cx).focus_handle(cx);
        focus.contains_focused(window, cx)
    }

    pub(super) fn focus_tree_action(
        &mut self,
        _: &FocusProjectTree,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.tree_shown && self.tree_has_focus(window, cx) {
            self.focus_active(window, cx);
        } else {
            self.focus_tree(window, cx);
        }
    }

    pub(super) fn focus_tree(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.tree_shown = true;
        self.tree.read(cx).focus_handle(cx).focus(window, cx);
        self.layout_changed(cx);
    }

    pub(super) fn focus_editor(
        &mut self,
        _: &FocusEditor,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.focus_active(window, cx);
    }

    /// Sets the width of the tree.
    pub(crate) fn set_tree_width(&mut self, width: gpui_kit::Pixels, cx: &mut Context<Self>) {
        self.tree_width = width;
        self.store_soon(cx);
        cx.notify();
    }

    /// Selects the active text in the tree, if the settings ask for it.
    pub(super) fn tree_follows(&mut self, cx: &mut Context<Self>) {
        if cx.settings().window.file_tree_follows {
            self.show_in_tree(cx);
        }
    }

    fn show_in_tree(&mut self, cx: &mut Context<Self>) {
        if let Some(path) = self.active_item().and_then(|item| item.path(cx)) {
            self.tree.update(cx, |tree, cx| tree.reveal(&path, cx));
        }
    }

    pub(super) fn reveal_in_tree(
        &mut self,
        _: &RevealInTree,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.show_in_tree(cx);
        self.focus_tree(window, cx);
    }

    pub(super) fn copy_path(&mut self, _: &CopyPath, _: &mut Window, cx: &mut Context<Self>) {
        if let Some(path) = self.active_item().and_then(|item| item.path(cx)) {
            cx.write_to_clipboard(ClipboardItem::new_string(clipboard_text(path)));
        }
    }

    pub(super) fn copy_relative_path(
        &mut self,
        _: &CopyRelativePath,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(path) = self.active_item().and_then(|item| item.path(cx)) {
            let root = self.root(cx);
            let relative = root.as_ref().and_then(|root| path.relative_to(root));
            let text = relative.map_or_else(|| self.services.display(&path), clipboard_text);
            cx.write_to_clipboard(ClipboardItem::new_string(text));
        }
    }

    pub(super) fn reveal_in_file_manager(
        &mut self,
        _: &RevealInFileManager,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(path) = self.active_item().and_then(|item| item.path(cx)) {
            cx.reveal_path(path.as_path());
        }
    }

    /// Handles a request of the project tree.
    pub(super) fn tree_event(
        &mut self,
        event: &TreeEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            TreeEvent::Open { path, side: false } => {
                self.open_path(path.clone(), OpenOptions::lasting(), window, cx);
            }
            TreeEvent::Open { path, side: true } => {
                self.open_found(path.clone(), None, true, window, cx);
            }
            TreeEvent::Preview(path) => {
                let how = OpenOptions::preview(cx);
                self.open_path(path.clone(), how, window, cx);
            }
            TreeEvent::Moved { from, to } => self.follow_move(from, to, cx),
            TreeEvent::Report(notice) => self.report(notice.clone(), window, cx),
            TreeEvent::Search(folder) => {
                let glob = self
                    .root(cx)
                    .and_then(|root| Some(folder.relative_to(&root)?.display().to_string()));
                self.show_search_in(glob, window, cx);
            }
            TreeEvent::Leave => self.focus_active(window, cx),
            TreeEvent::OpenFolder => {
                window.dispatch_action(Box::new(crate::actions::file::OpenFolder), cx);
            }
            TreeEvent::Dropped { paths, folder } => {
                self.tree.update(cx, |tree, cx| {
                    tree.import_paths(paths.clone(), folder.clone(), window, cx)
                });
            }
        }
    }

    /// Updates the paths of open texts after their files moved.
    fn follow_move(&mut self, from: &AbsPath, to: &AbsPath, cx: &mut Context<Self>) {
        for document in crate::documents::Documents::all(cx) {
            let moved = document.read(cx).path().and_then(|path| {
                let rest = path.relative_to(from)?;
                Some(if rest.as_os_str().is_empty() {
                    to.clone()
                } else {
                    to.join(rest)
                })
            });
            if let Some(path) = moved {
                document.update(cx, |document, cx| document.set_path(path, cx));
            }
        }
        self.layout_changed(cx);
    }

    /// Loads the folder's own settings, which are untrusted.
    fn load_project_settings(&mut self, cx: &mut Context<Self>) {
        const LIMIT: u64 = 1 << 20;
        let configuration = crate::configuration::Configuration::of(cx);
        let path = self.root(cx).map(|root| root.join(".burin/settings.json"));
        let files = self.services.files.clone();
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
}
