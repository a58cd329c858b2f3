//! The pickers of a window: files, symbols, commands, paths, themes, tabs.

use base::{AbsPath, path_text};
use editor::DocumentModel;
use futures::channel::oneshot;
use gpui_kit::{
    App, AppContext as _, Context, Div, Entity, InteractiveElement as _, SharedString, Stateful,
    Window,
};
use ui::picker::{Picker, PickerDelegate};

use super::Workbench;
use crate::actions::app::SelectTheme;
use crate::actions::file::{
    Open, OpenFolder, OpenRecent, ReopenWithEncoding, SaveWithEncoding, SelectIndentation,
    SelectLanguage, SelectLineEnding,
};
use crate::actions::go::{
    FindFile, FindProjectSymbol, FindSymbol, Search, ShowCommands, ShowIndex, ToLine,
};
use crate::actions::pane::{SwitchTab, SwitchTabBack};
use crate::item::TabItem;
use crate::notices::Notice;
use crate::open_options::{GoToPosition, OpenOptions};
use crate::pickers::{
    choices, commands, everything, files, go_to_line, index_menu, paths, recent, symbols, tabs,
    themes,
};
use crate::server_symbols;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(select_theme))
        .on_action(cx.listener(open_by_path))
        .on_action(cx.listener(open_folder_by_path))
        .on_action(cx.listener(open_recent))
        .on_action(cx.listener(reopen_with_encoding))
        .on_action(cx.listener(save_with_encoding))
        .on_action(cx.listener(select_language))
        .on_action(cx.listener(select_line_ending))
        .on_action(cx.listener(select_indentation))
        .on_action(cx.listener(find_file))
        .on_action(cx.listener(find_symbol))
        .on_action(cx.listener(search_everything))
        .on_action(cx.listener(find_project_symbol))
        .on_action(cx.listener(show_index))
        .on_action(cx.listener(show_commands))
        .on_action(cx.listener(go_to_line))
        .on_action(cx.listener(switch_tab))
        .on_action(cx.listener(switch_tab_back))
}

impl Workbench {
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

    /// Shows the search for everything with an initial query, or the picker of paths without a folder.
    pub(crate) fn show_search(&mut self, query: &str, window: &mut Window, cx: &mut Context<Self>) {
        match self.folder.clone() {
            Some(folder) => {
                let delegate = everything::EverythingPicker::new(folder, self, cx);
                self.pick_with(delegate, query, window, cx);
            }
            None => open_by_path(self, &Open, window, cx),
        }
    }

    /// Shows the symbols of the active text with an initial query. Does nothing if the active tab shows no text.
    pub(crate) fn show_symbols(
        &mut self,
        query: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if let Some(TabItem::Text(editor)) = self.active_item().cloned() {
            let model = editor.read(cx).model().clone();
            let server = server_symbols::document_symbols(&model, cx);
            let delegate = symbols::SymbolPicker::new(editor, server, cx.weak_entity(), cx);
            self.pick_with(delegate, query, window, cx);
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
}

fn find_file(
    workbench: &mut Workbench,
    _: &FindFile,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match workbench.folder.clone() {
        Some(folder) => {
            let delegate = files::FileFinder::new(folder, workbench, cx);
            workbench.pick(delegate, window, cx);
        }
        None => open_by_path(workbench, &Open, window, cx),
    }
}

fn search_everything(
    workbench: &mut Workbench,
    _: &Search,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.leave_place(cx);
    workbench.show_search("", window, cx);
}

fn find_project_symbol(
    workbench: &mut Workbench,
    _: &FindProjectSymbol,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.leave_place(cx);
    workbench.show_search("#", window, cx);
}

fn show_index(
    workbench: &mut Workbench,
    _: &ShowIndex,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let folder = workbench.folder.as_ref();
    match folder.and_then(|folder| folder.read(cx).index().cloned()) {
        Some(index) => workbench.pick(index_menu::IndexMenu::new(index), window, cx),
        None => {
            let sentence = "There is no index here: open a folder first";
            workbench.report(Notice::new(ui::Tone::Info, sentence), window, cx);
        }
    }
}

fn show_commands(
    workbench: &mut Workbench,
    _: &ShowCommands,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let delegate = commands::CommandPalette::new(window, cx);
    workbench.pick(delegate, window, cx);
}

fn find_symbol(
    workbench: &mut Workbench,
    _: &FindSymbol,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.leave_place(cx);
    workbench.show_symbols("", window, cx);
}

fn go_to_line(
    workbench: &mut Workbench,
    _: &ToLine,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(TabItem::Text(editor)) = workbench.active_item().cloned() {
        workbench.leave_place(cx);
        let delegate = go_to_line::LinePicker::new(editor, cx);
        workbench.pick(delegate, window, cx);
    }
}

fn open_by_path(
    workbench: &mut Workbench,
    _: &Open,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let base = path_base(workbench, cx);
    let this = cx.weak_entity();
    let delegate = paths::PathPicker::new(
        paths::PathPurpose::File,
        base.clone(),
        move |path, kind, window, cx| {
            this.update(cx, |this, cx| match kind {
                paths::PathSelection::File(place) => {
                    let position = place.map(GoToPosition::Place);
                    this.open_path(path, OpenOptions::lasting().at(position), window, cx);
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
    let start = workbench.services.display(&base);
    workbench.pick_with(delegate, &with_slash(&start), window, cx);
}

fn open_folder_by_path(
    workbench: &mut Workbench,
    _: &OpenFolder,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let base = workbench
        .root(cx)
        .and_then(|root| root.parent())
        .unwrap_or_else(|| path_base(workbench, cx));
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
    let start = workbench.services.display(&base);
    workbench.pick_with(delegate, &with_slash(&start), window, cx);
}

/// Shows the picker for a path to save to. The receiver yields the path, or an error if the user
/// dismisses the picker.
pub(super) fn ask_for_path(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> oneshot::Receiver<AbsPath> {
    let (reply, answer) = oneshot::channel();
    let base = path_base(workbench, cx);
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
        Some(path) => workbench.services.display(path),
        None => with_slash(&workbench.services.display(&base)),
    };
    workbench.pick_with(delegate, &name, window, cx);
    answer
}

/// Returns the base folder for a typed path: that of the active text, or the open folder.
fn path_base(workbench: &Workbench, cx: &Context<Workbench>) -> AbsPath {
    let beside = workbench
        .active_item()
        .and_then(|item| item.path(cx))
        .and_then(|path| path.parent());
    beside
        .or_else(|| workbench.root(cx))
        .unwrap_or_else(|| workbench.services.working_folder.clone())
}

fn open_recent(
    workbench: &mut Workbench,
    _: &OpenRecent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let delegate = recent::RecentFolders::new(cx.weak_entity(), cx);
    workbench.pick(delegate, window, cx);
}

fn select_theme(
    workbench: &mut Workbench,
    _: &SelectTheme,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let delegate = themes::Themes::new(cx);
    workbench.pick(delegate, window, cx);
}

fn select_language(
    workbench: &mut Workbench,
    _: &SelectLanguage,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(document) = workbench.active_document(cx) {
        let delegate = choices::languages(document, cx);
        workbench.pick(delegate, window, cx);
    }
}

fn select_line_ending(
    workbench: &mut Workbench,
    _: &SelectLineEnding,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(document) = workbench.active_document(cx) {
        let delegate = choices::line_endings(document, cx);
        workbench.pick(delegate, window, cx);
    }
}

fn select_indentation(
    workbench: &mut Workbench,
    _: &SelectIndentation,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(TabItem::Text(editor)) = workbench.active_item().cloned() {
        let delegate = choices::indentations(editor, cx);
        workbench.pick(delegate, window, cx);
    }
}

fn reopen_with_encoding(
    workbench: &mut Workbench,
    _: &ReopenWithEncoding,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(document) = workbench.active_document(cx) {
        let delegate = choices::reopen_encodings(document, cx.weak_entity(), cx);
        workbench.pick(delegate, window, cx);
    }
}

fn save_with_encoding(
    workbench: &mut Workbench,
    _: &SaveWithEncoding,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(document) = workbench.active_document(cx) {
        let delegate = choices::save_encodings(document, cx.weak_entity(), cx);
        workbench.pick(delegate, window, cx);
    }
}

fn switch_tab(
    workbench: &mut Workbench,
    _: &SwitchTab,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_tab_switcher(workbench, 1, window, cx);
}

fn switch_tab_back(
    workbench: &mut Workbench,
    _: &SwitchTabBack,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_tab_switcher(workbench, -1, window, cx);
}

fn show_tab_switcher(
    workbench: &mut Workbench,
    step: isize,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    // Pressing the keys again while the list is open advances the selection.
    let open = workbench
        .modal
        .read(cx)
        .active_view::<Picker<tabs::TabPicker>>();
    if let Some(picker) = open {
        picker.update(cx, |picker, cx| {
            let count = picker.delegate().count() as isize;
            let at = picker.selected().unwrap_or(0) as isize;
            let next = (at + step).rem_euclid(count.max(1));
            picker.select(usize::try_from(next).unwrap_or(0), window, cx);
        });
        return;
    }
    let delegate = tabs::TabPicker::new(workbench, step, cx);
    if delegate.count() > 0 {
        workbench.pick(delegate, window, cx);
    }
}

fn with_slash(path: &str) -> String {
    if path.ends_with('/') {
        path.to_owned()
    } else {
        format!("{path}/")
    }
}
