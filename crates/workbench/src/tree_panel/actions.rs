//! Action handlers of the project tree.

use gpui_kit::{ClipboardItem, Context, Window, point, px};
use host::FileKind;
use ui::{ActiveSettings as _, ButtonStyle, open_menu_at, row_height};

use super::state::{ListEdge, MarkedPath, NameEdit};
use super::{TreeEvent, TreePanel};
use crate::actions::project_tree as act;
use crate::file_operations::FileOperation;
use crate::path_entry::clipboard_text;
use crate::question;
use crate::question::QuestionSpec;

/// Rows per page, roughly the height of the list.
const PAGE: isize = 20;

impl TreePanel {
    pub(super) fn select_previous(
        &mut self,
        _: &act::SelectPrevious,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.select_by(-1, cx);
    }

    pub(super) fn select_next(
        &mut self,
        _: &act::SelectNext,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.select_by(1, cx);
    }

    pub(super) fn select_first(
        &mut self,
        _: &act::SelectFirst,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.select_edge(ListEdge::First, cx);
    }

    pub(super) fn select_last(
        &mut self,
        _: &act::SelectLast,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.select_edge(ListEdge::Last, cx);
    }

    fn select_edge(&mut self, edge: ListEdge, cx: &mut Context<Self>) {
        if let Some(folder) = &self.folder {
            self.state.select_edge(folder.read(cx).tree(), edge);
            self.show_selected(cx);
        }
    }

    pub(super) fn select_page_up(
        &mut self,
        _: &act::SelectPageUp,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.select_by(-PAGE, cx);
    }

    pub(super) fn select_page_down(
        &mut self,
        _: &act::SelectPageDown,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.select_by(PAGE, cx);
    }

    pub(super) fn expand(&mut self, _: &act::Expand, _: &mut Window, cx: &mut Context<Self>) {
        let (Some(folder), Some(path)) = (self.folder.clone(), self.state.selected.clone()) else {
            return;
        };
        if self.kind_of(&path, cx) != Some(FileKind::Folder) {
            return;
        }
        if self.is_open(&path, cx) {
            self.select_by(1, cx);
        } else {
            folder.update(cx, |folder, cx| folder.expand(&path, cx));
        }
    }

    pub(super) fn collapse(&mut self, _: &act::Collapse, _: &mut Window, cx: &mut Context<Self>) {
        let (Some(folder), Some(path)) = (self.folder.clone(), self.state.selected.clone()) else {
            return;
        };
        if self.is_open(&path, cx) {
            folder.update(cx, |folder, cx| folder.collapse(&path, cx));
        } else if let Some(parent) = path
            .parent()
            .filter(|parent| parent != folder.read(cx).root())
        {
            self.select(parent, cx);
        }
    }

    /// Whether an entry is in the tree and is an open folder.
    fn is_open(&self, path: &base::AbsPath, cx: &Context<Self>) -> bool {
        let Some(folder) = &self.folder else {
            return false;
        };
        let tree = folder.read(cx).tree();
        tree.row_of(path)
            .and_then(|index| tree.rows().get(index))
            .is_some_and(|row| row.is_open)
    }

    pub(crate) fn collapse_all(
        &mut self,
        _: &act::CollapseAll,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(folder) = self.folder.clone() {
            folder.update(cx, |folder, cx| folder.collapse_all(cx));
        }
    }

    /// Expands a folder of the tree, or collapses it if it is expanded.
    pub(super) fn toggle(&mut self, path: &base::AbsPath, cx: &mut Context<Self>) {
        let Some(folder) = self.folder.clone() else {
            return;
        };
        let is_open = self.is_open(path, cx);
        folder.update(cx, |folder, cx| {
            if is_open {
                folder.collapse(path, cx)
            } else {
                folder.expand(path, cx)
            }
        });
    }

    pub(super) fn open(&mut self, _: &act::Open, _: &mut Window, cx: &mut Context<Self>) {
        let Some(path) = self.state.selected.clone() else {
            return;
        };
        if self.kind_of(&path, cx) == Some(FileKind::Folder) {
            self.toggle(&path, cx);
        } else {
            cx.emit(TreeEvent::Open { path, side: false });
        }
    }

    pub(super) fn open_to_the_side(
        &mut self,
        _: &act::OpenToTheSide,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(path) = self.state.selected.clone() {
            cx.emit(TreeEvent::Open { path, side: true });
        }
    }

    pub(super) fn open_with(&mut self, _: &act::OpenWith, _: &mut Window, cx: &mut Context<Self>) {
        let Some(path) = self.state.selected.clone() else {
            return;
        };
        if self.kind_of(&path, cx) != Some(FileKind::Folder) {
            cx.emit(TreeEvent::OpenWith(path));
        }
    }

    pub(super) fn preview(&mut self, _: &act::Preview, _: &mut Window, cx: &mut Context<Self>) {
        let Some(path) = self.state.selected.clone() else {
            return;
        };
        if self.kind_of(&path, cx) == Some(FileKind::Folder) {
            self.toggle(&path, cx);
        } else {
            cx.emit(TreeEvent::Preview(path));
        }
    }

    pub(crate) fn new_file(
        &mut self,
        _: &act::NewFile,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(folder) = self.target_folder(cx) {
            self.start_editing(NameEdit::NewFile(folder), window, cx);
        }
    }

    pub(crate) fn new_folder(
        &mut self,
        _: &act::NewFolder,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(folder) = self.target_folder(cx) {
            self.start_editing(NameEdit::NewFolder(folder), window, cx);
        }
    }

    pub(super) fn rename(&mut self, _: &act::Rename, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(path) = self.state.selected.clone() {
            self.start_editing(NameEdit::Rename(path), window, cx);
        }
    }

    pub(super) fn duplicate(
        &mut self,
        _: &act::Duplicate,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(from) = self.state.selected.clone() else {
            return;
        };
        if let Some(folder) = from.parent() {
            self.run(FileOperation::CopyInto { from, folder }, false, window, cx);
        }
    }

    pub(super) fn delete(&mut self, _: &act::Delete, window: &mut Window, cx: &mut Context<Self>) {
        let Some(path) = self.state.selected.clone() else {
            return;
        };
        if !cx.settings().files.confirm_delete {
            self.delete_now(path, window, cx);
            return;
        }
        let is_folder = self.kind_of(&path, cx) == Some(FileKind::Folder);
        let what = if is_folder {
            "The folder with everything in it"
        } else {
            "The file"
        };
        let spec = QuestionSpec {
            title: format!(
                "Move \u{201c}{}\u{201d} to the trash?",
                path.printable_name()
            )
            .into(),
            detail: format!(
                "{what} goes to the trash of the desktop, from where it can come back."
            )
            .into(),
            answers: vec![
                ("Cancel".into(), ButtonStyle::Plain),
                ("Move to trash".into(), ButtonStyle::Danger),
            ],
            safest: 0,
        };
        let modal = self.modal.clone();
        cx.spawn_in(window, async move |this, cx| {
            let Ok(answer) = cx.update(|window, cx| question::ask(&modal, spec, window, cx)) else {
                return;
            };
            if answer.await == Ok(1) {
                this.update_in(cx, |this, window, cx| this.delete_now(path, window, cx))
                    .ok();
            }
        })
        .detach();
    }

    fn delete_now(&mut self, path: base::AbsPath, window: &mut Window, cx: &mut Context<Self>) {
        // Selects the row below, or the row above if there is none.
        self.select_by(1, cx);
        if self
            .state
            .selected
            .as_ref()
            .is_some_and(|selected| selected.is_within(&path))
        {
            self.state.selected = Some(path.clone());
            self.select_by(-1, cx);
        }
        self.run(FileOperation::Trash(path), false, window, cx);
    }

    pub(super) fn cut(&mut self, _: &act::Cut, _: &mut Window, cx: &mut Context<Self>) {
        self.mark(true, cx);
    }

    pub(super) fn copy(&mut self, _: &act::Copy, _: &mut Window, cx: &mut Context<Self>) {
        self.mark(false, cx);
    }

    fn mark(&mut self, moves: bool, cx: &mut Context<Self>) {
        self.state.marked = self
            .state
            .selected
            .clone()
            .map(|path| MarkedPath { path, moves });
        cx.notify();
    }

    pub(super) fn paste(&mut self, _: &act::Paste, window: &mut Window, cx: &mut Context<Self>) {
        let (Some(marked), Some(folder)) = (self.state.marked.clone(), self.target_folder(cx))
        else {
            return;
        };
        if marked.moves {
            self.state.marked = None;
            let to = folder.join(marked.path.file_name());
            if to != marked.path {
                self.run(
                    FileOperation::Move {
                        from: marked.path,
                        to,
                    },
                    false,
                    window,
                    cx,
                );
            }
        } else {
            self.run(
                FileOperation::CopyInto {
                    from: marked.path,
                    folder,
                },
                false,
                window,
                cx,
            );
        }
    }

    pub(super) fn copy_path(&mut self, _: &act::CopyPath, _: &mut Window, cx: &mut Context<Self>) {
        if let Some(path) = &self.state.selected {
            cx.write_to_clipboard(ClipboardItem::new_string(clipboard_text(path)));
        }
    }

    pub(super) fn copy_relative_path(
        &mut self,
        _: &act::CopyRelativePath,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let root = self
            .folder
            .as_ref()
            .map(|folder| folder.read(cx).root().clone());
        let relative = self
            .state
            .selected
            .as_ref()
            .zip(root)
            .and_then(|(path, root)| Some(clipboard_text(path.relative_to(&root)?)));
        if let Some(relative) = relative {
            cx.write_to_clipboard(ClipboardItem::new_string(relative));
        }
    }

    pub(super) fn reveal_in_file_manager(
        &mut self,
        _: &act::RevealInFileManager,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(path) = &self.state.selected {
            cx.reveal_path(path.as_path());
        }
    }

    pub(super) fn find_in_folder(
        &mut self,
        _: &act::FindInFolder,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(folder) = self.target_folder(cx) {
            cx.emit(TreeEvent::Search(folder));
        }
    }

    pub(crate) fn toggle_ignored(
        &mut self,
        _: &act::ToggleIgnored,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.state.hides_ignored = !self.state.hides_ignored;
        self.rows_changed(cx);
    }

    /// Opens the context menu below the selected row, or in the middle of the tree if none is
    /// selected.
    pub(crate) fn show_menu(
        &mut self,
        _: &act::ShowMenu,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let list = self.scroll.0.borrow().base_handle.clone();
        let bounds = list.bounds();
        let chosen = self.state.selected.clone();
        let row = chosen.and_then(|path| self.place_of(&path, cx));
        let below = row.map(|row| {
            let height = f32::from(row_height(true, cx));
            let top = bounds.top() + list.offset().y + px(height * (row as f32 + 0.8));
            point(bounds.left() + px(height), top)
        });
        let position = below.filter(|place| bounds.contains(place));
        open_menu_at(position.unwrap_or_else(|| bounds.center()), window, cx);
    }

    pub(crate) fn refresh(&mut self, _: &act::Refresh, _: &mut Window, cx: &mut Context<Self>) {
        if let Some(folder) = self.folder.clone() {
            folder.update(cx, |folder, cx| folder.refresh(cx));
        }
    }

    /// Undoes the latest operation of the tree. Also reached from the notification of a deletion.
    pub(crate) fn undo(&mut self, _: &act::Undo, window: &mut Window, cx: &mut Context<Self>) {
        let Some(done) = self.state.done.pop() else {
            return;
        };
        let operation = FileOperation::undoing(&done, &self.services.trash_folder());
        self.undo_with(operation, window, cx);
    }

    pub(super) fn cancel(&mut self, _: &act::Cancel, window: &mut Window, cx: &mut Context<Self>) {
        if self.state.editing.is_some() {
            self.cancel_editing(window, cx);
        } else if !self.state.filter.is_empty() {
            self.clear_filter(cx);
        } else if self.state.marked.take().is_some() {
            cx.notify();
        } else {
            cx.emit(TreeEvent::Leave);
        }
    }
}
