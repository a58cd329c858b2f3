//! Going places: back and forward, and the pickers that lead somewhere.

use base::{AbsPath, path_text};
use editor::DocumentModel;
use futures::channel::oneshot;
use gpui_kit::{App, AppContext as _, Context, Entity, SharedString, Window};
use ui::picker::{Picker, PickerDelegate};

use super::{Focus, Goal, How, Workbench};
use crate::actions::app::SelectTheme;
use crate::actions::file::{
    Open, OpenFolder, OpenRecent, ReopenWithEncoding, SaveWithEncoding, SelectIndentation,
    SelectLanguage, SelectLineEnding,
};
use crate::actions::go::{
    Back, FindFile, FindProjectSymbol, FindSymbol, Forward, Search, ShowCommands, ShowIndex, ToLine,
};
use crate::actions::pane::{SwitchTab, SwitchTabBack};
use crate::item::Item;
use crate::layout::ItemId;
use crate::notices::Notice;
use crate::pickers::{
    choices, commands, everything, files, index_menu, lines, paths, recent, symbols, tabs, themes,
};

/// A place one can come back to.
#[derive(Clone, Debug)]
pub(crate) struct TrailPlace {
    item: ItemId,
    path: Option<AbsPath>,
    /// Byte of the caret, and the row it stood in when the place was left.
    offset: base::ByteOffset,
    row: base::Row,
}

/// Jumps within so many rows are one place.
const NEAR: u32 = 8;

fn is_same(a: &TrailPlace, b: &TrailPlace) -> bool {
    let is_same_text = a.item == b.item || (a.path.is_some() && a.path == b.path);
    is_same_text && a.row.0.abs_diff(b.row.0) < NEAR
}

impl Workbench {
    fn here(&self, cx: &mut Context<Self>) -> Option<TrailPlace> {
        let item = self.layout.active_item()?;
        let editor = self.item(item)?.editor()?.clone();
        let (point, offset) = editor.update(cx, |editor, cx| {
            (editor.caret_point(cx), editor.selections(cx).primary().head)
        });
        let path = self.item(item)?.path(cx);
        Some(TrailPlace {
            item,
            path,
            offset,
            row: point.row,
        })
    }

    /// Notes where one is before jumping away.
    pub(crate) fn leave_place(&mut self, cx: &mut Context<Self>) {
        if let Some(here) = self.here(cx) {
            self.trail.leave(here, is_same);
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

    fn return_to(&mut self, place: TrailPlace, window: &mut Window, cx: &mut Context<Self>) {
        let goal = Goal::Span(base::Span::at(place.offset));
        if let Some(editor) = self.item(place.item).and_then(Item::editor).cloned() {
            super::go_to(&editor, goal, cx);
            self.activate(place.item, window, cx);
        } else if let Some(path) = place.path {
            let trail = std::mem::take(&mut self.trail);
            self.open_path(path, How::lasting().at(Some(goal)), window, cx);
            // Opening notes a place; going back must not.
            self.trail = trail;
        }
    }

    /// Shows a picker.
    pub(crate) fn pick<D: PickerDelegate>(
        &mut self,
        delegate: D,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.pick_with(delegate, "", window, cx);
    }

    /// Shows a picker with something typed already.
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
                let delegate = everything::Everything::new(folder, self, cx);
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
        let delegate = commands::Commands::new(window, cx);
        self.pick(delegate, window, cx);
    }

    pub(super) fn find_symbol(
        &mut self,
        _: &FindSymbol,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(Item::Text(editor)) = self.active_item().cloned() {
            self.leave_place(cx);
            let delegate = symbols::Symbols::new(editor, cx);
            self.pick(delegate, window, cx);
        }
    }

    pub(super) fn go_to_line(&mut self, _: &ToLine, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(Item::Text(editor)) = self.active_item().cloned() {
            self.leave_place(cx);
            let delegate = lines::Lines::new(editor, cx);
            self.pick(delegate, window, cx);
        }
    }

    pub(super) fn open_by_path(&mut self, _: &Open, window: &mut Window, cx: &mut Context<Self>) {
        let base = self.path_base(cx);
        let this = cx.weak_entity();
        let delegate = paths::Paths::new(
            paths::Wanted::File,
            base.clone(),
            move |path, taken, window, cx| {
                this.update(cx, |this, cx| match taken {
                    paths::Chosen::File(place) => {
                        let goal = place.map(Goal::Place);
                        this.open_path(path, How::lasting().at(goal), window, cx);
                    }
                    paths::Chosen::Folder => this.open_folder_here(path, window, cx),
                    paths::Chosen::New => {
                        let document = crate::documents::Documents::new_at(path, cx);
                        let pane = this.layout.active_pane();
                        this.open_document_in(document, pane, How::lasting(), window, cx);
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
        let delegate = paths::Paths::new(
            paths::Wanted::Folder,
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

    /// Asks where to save. The receiver hears the path, or nothing when the picker is left.
    pub(super) fn ask_for_path(
        &mut self,
        document: &Entity<DocumentModel>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> oneshot::Receiver<AbsPath> {
        let (reply, answer) = oneshot::channel();
        let base = self.path_base(cx);
        let reply = std::cell::Cell::new(Some(reply));
        let wanted = paths::Wanted::NewFile;
        let delegate = paths::Paths::new(
            wanted,
            base.clone(),
            move |path, _, _, _| {
                if let Some(reply) = reply.take() {
                    // Whoever asked may be gone; then nobody wants the answer.
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

    /// The folder that a typed path starts from: that of the text at hand, or the open folder.
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
        if let Some(Item::Text(editor)) = self.active_item().cloned() {
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
        // Pressed again while the list is open, the keys walk through it.
        let open = self.modal.read(cx).shown::<Picker<tabs::Tabs>>();
        if let Some(picker) = open {
            picker.update(cx, |picker, cx| {
                let count = picker.delegate().count() as isize;
                let at = picker.selected().unwrap_or(0) as isize;
                let next = (at + step).rem_euclid(count.max(1));
                picker.select(usize::try_from(next).unwrap_or(0), window, cx);
            });
            return;
        }
        let delegate = tabs::Tabs::new(self, step, cx);
        if delegate.count() > 0 {
            self.pick(delegate, window, cx);
        }
    }

    /// The files used lately, the newest first: text forms of paths counted from the folder.
    pub(crate) fn files_by_use(&self, root: &AbsPath, cx: &App) -> Vec<String> {
        // The file at hand is the last one would look for: it goes behind the one before it.
        let mut recent = self.recent_files().to_vec();
        let at_hand = self.active_item().and_then(|item| item.path(cx));
        let at_hand = at_hand.and_then(|path| path.relative_to(root).map(path_text));
        if recent.len() > 1 && recent.first() == at_hand.as_ref() {
            recent.swap(0, 1);
        }
        recent
    }

    /// Opens a file found by a picker.
    pub(crate) fn open_found(
        &mut self,
        path: AbsPath,
        place: Option<crate::target::Place>,
        to_side: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.open_goal(path, place.map(Goal::Place), to_side, window, cx);
    }

    /// Opens a file at a place that a picker found.
    pub(crate) fn open_goal(
        &mut self,
        path: AbsPath,
        goal: Option<Goal>,
        to_side: bool,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let how = How {
            focus: Focus::Take,
            ..How::lasting()
        }
        .at(goal);
        if to_side {
            let pane = self.layout.active_pane();
            if let Some(new) = self.layout.split(pane, crate::layout::Side::Right) {
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
