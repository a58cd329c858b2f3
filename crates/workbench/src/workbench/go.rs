//! Navigation: Back and Forward, and the pickers that open a location.

use base::{AbsPath, path_text};
use editor::DocumentModel;
use futures::channel::oneshot;
use gpui_kit::{App, AppContext as _, Context, Entity, SharedString, Window};
use ui::picker::{Picker, PickerDelegate};

use super::{Focus, GoToPosition, OpenOptions, Workbench};
use crate::actions::app::SelectTheme;
use crate::actions::file::{
    Open, OpenFolder, OpenRecent, ReopenWithEncoding, SaveWithEncoding, SelectIndentation,
    SelectLanguage, SelectLineEnding,
};
use crate::actions::go::{
    Back, FindFile, FindProjectSymbol, FindSymbol, Forward, Search, ShowCommands, ShowIndex, ToLine,
};
use crate::actions::pane::{SwitchTab, SwitchTabBack};
use crate::item::TabItem;
use crate::layout::ItemId;
use crate::notices::Notice;
use crate::pickers::{
    choices, commands, everything, files, go_to_line, index_menu, paths, recent, symbols, tabs,
    themes,
};

/// A location in the navigation history.
#[derive(Clone, Debug)]
pub(crate) struct NavigationEntry {
    item: ItemId,
    path: Option<AbsPath>,
    /// Byte offset of the caret, and its row when the location was recorded.
    offset: base::ByteOffset,
    row: base::Row,
}

/// Jumps within this many rows count as the same location.
const NEAR: u32 = 8;

fn is_same(a: &NavigationEntry, b: &NavigationEntry) -> bool {
    let is_same_text = a.item == b.item || (a.path.is_some() && a.path == b.path);
    is_same_text && a.row.0.abs_diff(b.row.0) < NEAR
}

impl Workbench {
    fn here(&self, cx: &mut Context<Self>) -> Option<NavigationEntry> {
        let item = self.layout.active_item()?;
        let editor = self.item(item)?.editor()?.clone();
        let (point, offset) = editor.update(cx, |editor, cx| {
            (editor.caret_point(cx), editor.selections(cx).primary().head)
        });
        let path = self.item(item)?.path(cx);
        Some(NavigationEntry {
            item,
            path,
            offset,
            row: point.row,
        })
    }

    /// Records the current location before a jump.
    pub(crate) fn leave_place(&mut self, cx: &mut Context<Self>) {
        if let Some(here) = self.here(cx) {
            self.trail.push(here, is_same);
        }
    }

    pub(super) fn go_back(&mut self, _: &Back, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(place) = self
            .here(cx)
            .and_then(|here| self.trail.back(here, is_same))
        {
            self.return_to(place, window, cx);
        }
    }

    pub(super) fn go_forward(&mut self, _: &Forward, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(place) = self.trail.forward() {
            self.return_to(place, window, cx);
        }
    }

    fn return_to(&mut self, place: NavigationEntry, window: &mut Window, cx: &mut Context<Self>) {
        let goal = GoToPosition::Span(base::Span::at(place.offset));
        if let Some(editor) = self.item(place.item).and_then(TabItem::editor).cloned() {
            super::go_to(&editor, goal, cx);
            self.activate(place.item, window, cx);
        } else if let Some(path) = place.path {
            let trail = std::mem::take(&mut self.trail);
            self.open_path(path, OpenOptions::lasting().at(Some(goal)), window, cx);
            // Opening a file records a location; Back and Forward must not.
            self.trail = trail;
        }
    }

    /// Shows a picker in the modal layer.
    pub(crate) fn pick<D: PickerDelegate>(
        &mut self,
        delegate: D,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.pick_with(delegate, "", window, cx);
    }

    /// Shows a picker with an initial query.
    pub(crate) fn pick_with<D: PickerDelegate>(
        &mut self,
        delegate: D,
        query: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let name: SharedString = delegate.name();
        let picker = cx.new(|cx| {
            let mut picker = Picker::new(delegate, window, cx);
            if !query.is_empty() {
                picker.set_query(query, window, cx);
            }
            picker
        });
        self.modal
            .update(cx, |modal, cx| modal.show(name, picker, window, cx));
    }

    pub(super) fn find_file(&mut self, _: &FindFile, window: &mut Window, cx: &mut Context<Self>) {
        match self.folder.clone() {
            Some(folder) => {
                let delegate = files::FileFinder::new(folder, self, cx);
                self.pick(delegate, window, cx);
            }
            None => self.open_by_path(&Open, window, cx),
        }
    }

    pub(super) fn search_everything(
        &mut self,
        _: &Search,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.search_in_scope("", window, cx);
    }

    pub(super) fn find_project_symbol(
        &mut self,
        _: &FindProjectSymbol,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.search_in_scope("@", window, cx);
    }

    fn search_in_scope(&mut self, query: &str, window: &mut Window, cx: &mut Context<Self>) {
        match self.folder.clone() {
            Some(folder) => {
                self.leave_place(cx);
                let delegate = everything::EverythingPicker::new(folder, self, cx);
                self.pick_with(delegate, query, window, cx);
            }
            None => self.open_by_path(&Open, window, cx),
        }
    }

    pub(super) fn show_index(
        &mut self,
        _: &ShowIndex,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let folder = self.folder.as_ref();
        match folder.and_then(|folder| folder.read(cx).index().cloned()) {
            Some(index) => self.pick(index_menu::IndexMenu::new(index), window, cx),
            None => {
                let sentence = "There is no index here: open a folder first";
                self.report(Notice::new(ui::Tone::Info, sentence), window, cx);
            }
        }
    }

    pub(super) fn show_commands(
        &mut self,
        _: &ShowCommands,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let delegate = commands::CommandPalette::new(window, cx);
        self.pick(delegate, window, cx);
    }

    pub(super) fn find_symbol(
        &mut self,
        _: &FindSymbol,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(TabItem::Text(editor)) = self.active_item().cloned() {
            self.leave_place(cx);
            let delegate = symbols::SymbolPicker::new(editor, cx);
            self.pick(delegate, window, cx);
        }
    }

    pub(super) fn go_to_line(&mut self, _: &ToLine, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(TabItem::Text(editor)) = self.active_item().cloned() {
            self.leave_place(cx);
            let delegate = go_to_line::LinePicker::new(editor, cx);
            self.pick(delegate, window, cx);
        }
    }

    pub(super) fn open_by_path(&mut self, _: &Open, window: &mut Window, cx: &mut Context<Self>) {
        let base = self.path_base(cx);
        let this = cx.weak_entity();
        let delegate = paths::PathPicker::new(
            paths::PathPurpose::File,
            base.clone(),
            move |path, taken, window, cx| {
                this.update(cx, |this, cx| match taken {
                    paths::PathSelection::File(place) => {
                        let goal = place.map(GoToPosition::Place);
                        this.open_path(path, OpenOptions::lasting().at(goal), window, cx);
                    }
                    paths::PathSelection::Folder => this.open_folder_here(path, window, cx),
                    paths::PathSelection::New => {
                        let document = crate::documents::Documents::new_at(path, cx);
                        let pane = this.layout.active_pane();
                        this.open_document_in(document, pane, OpenOptions::lasting(), window, cx);
                    }
                })
                .ok();
            },
            cx,
        );
        let start = self.services.display(&base);
        self.pick_with(delegate, &with_slash(&start), window, cx);
    }

    pub(super) fn open_folder_by_path(
        &mut self,
        _: &OpenFolder,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let base = self
            .root(cx)
            .and_then(|root| root.parent())
            .unwrap_or_else(|| self.path_base(cx));
        let this = cx.weak_entity();
        let delegate = paths::PathPicker::new(
            paths::PathPurpose::Folder,
            base.clone(),
            move |path, _, window, cx| {
                this.update(cx, |this, cx| this.open_folder_here(path, window, cx))
                    .ok();
            },
            cx,
        );
        let start = self.services.display(&base);
        self.pick_with(delegate, &with_slash(&start), window, cx);
    }

    /// Shows the picker for a path to save to. The receiver gets the path, or `None` if the picker
    /// is dismissed.
    pub(super) fn ask_for_path(
        &mut self,
        document: &Entity<DocumentModel>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> oneshot::Receiver<AbsPath> {
        let (reply, answer) = oneshot::channel();
        let base = self.path_base(cx);
        let reply = std::cell::Cell::new(Some(reply));
        let wanted = paths::PathPurpose::NewFile;
        let delegate = paths::PathPicker::new(
            wanted,
            base.clone(),
            move |path, _, _, _| {
                if let Some(reply) = reply.take() {
                    // If the receiver is gone, the answer is not needed.
                    reply.send(path).ok();
                }
            },
            cx,
        );
        let name = match document.read(cx).path() {
            Some(path) => self.services.display(path),
            None => with_slash(&self.services.display(&base)),
        };
        self.pick_with(delegate, &name, window, cx);
        answer
    }

    /// Returns the base folder for a typed path: that of the active text, or the open folder.
    fn path_base(&self, cx: &Context<Self>) -> AbsPath {
        let beside = self
            .active_item()
            .and_then(|item| item.path(cx))
            .and_then(|path| path.parent());
        beside
            .or_else(|| self.root(cx))
            .unwrap_or_else(|| self.services.working_folder.clone())
    }

    pub(super) fn open_recent(
        &mut self,
        _: &OpenRecent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let delegate = recent::RecentFolders::new(cx.weak_entity(), cx);
        self.pick(delegate, window, cx);
    }

    pub(super) fn select_theme(
        &mut self,
        _: &SelectTheme,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let delegate = themes::Themes::new(cx);
        self.pick(delegate, window, cx);
    }

    pub(super) fn select_language(
        &mut self,
        _: &SelectLanguage,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(document) = self.active_document(cx) {
            let delegate = choices::languages(document, cx);
            self.pick(delegate, window, cx);
        }
    }

    pub(super) fn select_line_ending(
        &mut self,
        _: &SelectLineEnding,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(document) = self.active_document(cx) {
            let delegate = choices::line_endings(document, cx);
            self.pick(delegate, window, cx);
        }
    }

    pub(super) fn select_indentation(
        &mut self,
        _: &SelectIndentation,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(TabItem::Text(editor)) = self.active_item().cloned() {
            let delegate = choices::indentations(editor, cx);
            self.pick(delegate, window, cx);
        }
    }

    pub(super) fn reopen_with_encoding(
        &mut self,
        _: &ReopenWithEncoding,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(document) = self.active_document(cx) {
            let delegate = choices::reopen_encodings(document, cx.weak_entity(), cx);
            self.pick(delegate, window, cx);
        }
    }

    pub(super) fn save_with_encoding(
        &mut self,
        _: &SaveWithEncoding,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(document) = self.active_document(cx) {
            let delegate = choices::save_encodings(document, cx.weak_entity(), cx);
            self.pick(delegate, window, cx);
        }
    }

    pub(super) fn switch_tab(
        &mut self,
        _: &SwitchTab,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.show_tab_switcher(1, window, cx);
    }

    pub(super) fn switch_tab_back(
        &mut self,
        _: &SwitchTabBack,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.show_tab_switcher(-1, window, cx);
    }

    fn show_tab_switcher(&mut self, step: isize, window: &mut Window, cx: &mut Context<Self>) {
        // Pressing the keys again while the list is open advances the selection.
        let open = self.modal.read(cx).active_view::<Picker<tabs::TabPicker>>();
        if let Some(picker) = open {
            picker.update(cx, |picker, cx| {
                let count = picker.delegate().count() as isize;
                let at = picker.selected().unwrap_or(0) as isize;
                let next = (at + step).rem_euclid(count.max(1));
                picker.select(usize::try_from(next).unwrap_or(0), window, cx);
            });
            return;
        }
        let delegate = tabs::TabPicker::new(self, step, cx);
        if delegate.count() > 0 {
            self.pick(delegate, window, cx);
        }
    }

    /// Returns the recently used files, newest first, as text forms of paths relative to the
    /// folder.
    pub(crate) fn files_by_use(&self, root: &AbsPath, cx: &App) -> Vec<String> {
        // The current file is the least likely target, so it moves behind the previous one.
        let mut recent = self.recent_files().to_vec();
        let at_hand = self.active_item().and_then(|item| item.path(cx));
        let at_hand = at_hand.and_then(|path| path.relative_to(root).map(path_text));
        if recent.len() > 1 && recent.first() == at_hand.as_ref() {
            recent.swap(0, 1);
        }
        recent
    }

    /// Opens a file selected in a picker.
    pub(crate) fn open_found(
        &mut self,
        path: AbsPath,
        place: Option<crate::target::LineColumn>,
        to_side: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.open_goal(path, place.map(GoToPosition::Place), to_side, window, cx);
    }

    /// Opens a file at a location selected in a picker.
    pub(crate) fn open_goal(
        &mut self,
        path: AbsPath,
        goal: Option<GoToPosition>,
        to_side: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let how = OpenOptions {
            focus: Focus::Take,
            ..OpenOptions::lasting()
        }
        .at(goal);
        if to_side {
            let pane = self.layout.active_pane();
            if let Some(new) = self.layout.split(pane, crate::layout::PaneSide::Right) {
                self.layout_changed(cx);
                self.open_path_in(path, new, how, window, cx);
                return;
            }
        }
        self.open_path(path, how, window, cx);
    }
}

fn with_slash(path: &str) -> String {
    if path.ends_with('/') {
        path.to_owned()
    } else {
        format!("{path}/")
    }
}
