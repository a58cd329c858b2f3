//! Rendering of the project tree.

use std::ops::Range;

use base::path_text;
use editor::DiagnosticCounts;
use git::FileStatus;
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    AnyElement, App, AppContext as _, ClickEvent, Context, DragMoveEvent, ExternalPaths, Hsla,
    InteractiveElement as _, IntoElement, MouseButton, ParentElement as _, Render, Role,
    SharedString, StatefulInteractiveElement as _, Styled as _, Window, div,
    prelude::FluentBuilder as _, px, uniform_list,
};
use host::FileKind;
use ui::{
    ActiveTheme as _, Button, EmptyState, Icon, IconButton, IconSize, Label, Menu, MenuExt as _,
    TextField, Tooltip, TreeRow, dp, row_height,
};

use super::state::{NameEdit, ShownRow};
use super::{TreeEvent, TreePanel};
use crate::actions::{file, project_tree as act};
use crate::drag::DraggedPath;
use crate::folder_diagnostics;

/// Drag image of a file.
struct DraggedPathView {
    name: SharedString,
}

/// Display data of one row, read from the folder.
struct TreeRowView {
    path: base::AbsPath,
    name: String,
    depth: usize,
    is_folder: bool,
    is_open: bool,
    is_link: bool,
    is_ignored: bool,
    problem: Option<SharedString>,
    status: Option<FileStatus>,
    /// Errors and warnings in the file, or in all files below the folder.
    diagnostics: DiagnosticCounts,
}

impl TreePanel {
    /// Returns the contents of a row of the tree; `None` if there is no such row.
    fn row_view(&self, index: usize, cx: &App) -> Option<TreeRowView> {
        let folder = self.folder.as_ref()?.read(cx);
        let row = folder.tree().rows().get(index)?;
        let status = folder.status_of(&row.entry.path);
        let servers = folder.language_servers().read(cx);
        Some(TreeRowView {
            name: row.entry.path.printable_name(),
            depth: row.depth,
            is_folder: row.entry.kind == FileKind::Folder,
            is_open: row.is_open,
            is_link: row.entry.is_link,
            is_ignored: row.entry.is_ignored || status == Some(FileStatus::Ignored),
            problem: row.problem.clone().map(ui::foreign::multi_line),
            diagnostics: servers.diagnostics().counts_of(&row.entry.path),
            path: row.entry.path.clone(),
            status,
        })
    }

    fn render_rows(
        &mut self,
        range: Range<usize>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Vec<AnyElement> {
        let has_keyboard = self.focus.contains_focused(window, cx);
        let rows = range.filter_map(|at| match self.shown.get(at)?.clone() {
            ShownRow::Entry(index) => {
                let look = self.row_view(index, cx)?;
                let is_renamed = self.state.editing == Some(NameEdit::Rename(look.path.clone()));
                Some(if is_renamed {
                    self.render_name(look.depth, look.is_folder, cx)
                } else {
                    self.render_row(look, has_keyboard, cx)
                })
            }
            ShownRow::NewName { depth, is_folder } => Some(self.render_name(depth, is_folder, cx)),
        });
        rows.collect()
    }

    fn render_row(
        &self,
        look: TreeRowView,
        has_keyboard: bool,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let color = status_color(&look, cx);
        let diagnosed = folder_diagnostics::color(look.diagnostics, &colors);
        let selected = self.state.selected.as_ref() == Some(&look.path);
        let is_marked = self
            .state
            .marked
            .as_ref()
            .is_some_and(|marked| marked.moves && marked.path == look.path);
        let icon = match (look.is_folder, look.is_link) {
            (true, _) => ui::folder_icon(&look.name, look.is_open, cx),
            (false, true) => Icon::FileSymlink.size(IconSize::Medium).color(colors.muted),
            (false, false) => ui::file_icon(&look.name, cx),
        };
        let letter = look.status.and_then(status_letter);
        let (path, clicked, dragged) = (look.path.clone(), look.path.clone(), look.path.clone());
        let is_folder = look.is_folder;
        let drop_folder = if is_folder {
            Some(look.path.clone())
        } else {
            look.path.parent()
        };
        let is_drop_target = is_folder && self.drop_folder.as_ref() == Some(&look.path);
        let problem = look.problem.clone();
        let row = TreeRow::new(
            SharedString::from(format!("row-{}", path_text(&look.path))),
            accessible_label(&look),
            look.depth,
        )
        .expanded(is_folder.then_some(look.is_open))
        .selected(selected)
        .focused(has_keyboard)
        .on_click(cx.listener(move |this, event: &ClickEvent, window, cx| {
            this.clicked(&clicked, is_folder, event, window, cx);
        }))
        .child(icon)
        .child(
            div()
                .flex_1()
                .min_w_0()
                .truncate()
                .text_color(diagnosed.unwrap_or(color))
                .when(is_marked, |this| this.opacity(0.5))
                .child(look.name.clone()),
        )
        .children(
            problem
                .clone()
                .map(|_| Icon::Warning.size(IconSize::Small).color(colors.warning)),
        )
        .children(diagnosed.map(|color| Label::new(diagnostic_text(&look)).tiny().color(color)))
        .children(letter.map(|letter| Label::new(letter).tiny().color(color)));
        let name = look.name.clone();
        div()
            .id(SharedString::from(format!("frame-{}", path_text(path))))
            .w_full()
            .px(dp(4.0))
            .when(is_drop_target, |this| this.bg(colors.selected))
            .when_some(problem, |this, problem| {
                this.tooltip(Tooltip::text(problem))
            })
            .on_drag(DraggedPath { path: dragged }, move |_, _, _, cx| {
                let name = name.clone().into();
                cx.new(|_| DraggedPathView { name })
            })
            .on_drag_move(self.drag_listener::<DraggedPath>(drop_folder.clone(), cx))
            .on_drag_move(self.drag_listener::<ExternalPaths>(drop_folder, cx))
            .on_mouse_down(MouseButton::Right, {
                let path = look.path.clone();
                cx.listener(move |this, _, window, cx| {
                    this.focus.focus(window, cx);
                    this.select(path.clone(), cx);
                })
            })
            .child(row)
            .into_any_element()
    }

    /// Returns the listener that marks `folder` as the target of a drop while the pointer is over
    /// the element.
    fn drag_listener<T: 'static>(
        &self,
        folder: Option<base::AbsPath>,
        cx: &mut Context<Self>,
    ) -> impl Fn(&DragMoveEvent<T>, &mut Window, &mut App) + 'static + use<T> {
        let this = cx.weak_entity();
        move |event, _, cx| {
            if !event.bounds.contains(&event.event.position) {
                return;
            }
            let changed = this.update(cx, |this, cx| {
                if this.drop_folder != folder {
                    this.drop_folder = folder.clone();
                    cx.notify();
                }
            });
            // The tree may be gone during a drag.
            changed.ok();
        }
    }

    fn clicked(
        &mut self,
        path: &base::AbsPath,
        is_folder: bool,
        event: &ClickEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.focus.focus(window, cx);
        self.select(path.clone(), cx);
        match (
            is_folder,
            event.click_count(),
            event.modifiers().secondary(cx),
        ) {
            (true, _, _) => self.toggle(path, cx),
            (false, _, true) => cx.emit(TreeEvent::Open {
                path: path.clone(),
                side: true,
            }),
            (false, 2.., false) => cx.emit(TreeEvent::Open {
                path: path.clone(),
                side: false,
            }),
            (false, _, false) => cx.emit(TreeEvent::Preview(path.clone())),
        }
    }

    fn render_name(&self, depth: usize, is_folder: bool, cx: &App) -> AnyElement {
        let icon = if is_folder { Icon::Folder } else { Icon::File };
        let depth = u16::try_from(depth.min(64)).unwrap_or(64);
        let colors = cx.theme().colors;
        div()
            .id("name-row")
            .w_full()
            .h(row_height(true, cx))
            .px(dp(4.0))
            .flex()
            .items_center()
            .child(
                div()
                    .flex()
                    .w_full()
                    .items_center()
                    .gap(dp(4.0))
                    .pl(dp(24.0 + 12.0 * f32::from(depth)))
                    .rounded(px(4.0))
                    .border_1()
                    .border_color(if self.name_problem.is_some() {
                        colors.error
                    } else {
                        colors.focus
                    })
                    .child(icon.size(IconSize::Medium))
                    .child(TextField::new(&self.name, "Name").bare()),
            )
            .into_any_element()
    }

    fn menu(&self) -> Menu {
        let has_mark = self.state.marked.is_some();
        let has_selection = self.state.selected.is_some();
        Menu::new()
            .focus(self.focus.clone())
            .action_with_icon("New file", Icon::FilePlus, Box::new(act::NewFile))
            .action_with_icon("New folder", Icon::FolderPlus, Box::new(act::NewFolder))
            .separator()
            .action_if(
                "Open to the side",
                Box::new(act::OpenToTheSide),
                has_selection,
            )
            .action_if("Open with\u{2026}", Box::new(act::OpenWith), has_selection)
            .action("Find in folder\u{2026}", Box::new(act::FindInFolder))
            .action_if(
                "Show in file manager",
                Box::new(act::RevealInFileManager),
                has_selection,
            )
            .separator()
            .action_if("Cut", Box::new(act::Cut), has_selection)
            .action_if("Copy", Box::new(act::Copy), has_selection)
            .action_if("Paste", Box::new(act::Paste), has_mark)
            .action_if("Duplicate", Box::new(act::Duplicate), has_selection)
            .separator()
            .action_if("Copy path", Box::new(act::CopyPath), has_selection)
            .action_if(
                "Copy relative path",
                Box::new(act::CopyRelativePath),
                has_selection,
            )
            .separator()
            .action_if("Rename", Box::new(act::Rename), has_selection)
            .action_if("Move to trash", Box::new(act::Delete), has_selection)
            .separator()
            .toggle(
                "Hide ignored",
                Box::new(act::ToggleIgnored),
                self.state.hides_ignored,
            )
            .action("Collapse all", Box::new(act::CollapseAll))
    }

    fn render_header(&self, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let name = self
            .folder
            .as_ref()
            .map(|folder| folder.read(cx).name())
            .unwrap_or_default();
        let filter = &self.state.filter;
        let title = if filter.is_empty() {
            div()
                .flex_1()
                .min_w_0()
                .child(Label::new(name.to_uppercase()).tiny().strong().muted())
        } else {
            div()
                .flex()
                .flex_1()
                .min_w_0()
                .items_center()
                .gap(dp(4.0))
                .child(Icon::Filter.size(IconSize::Small).color(colors.accent))
                .child(Label::new(filter.clone()).small())
        };
        let button =
            |id: &'static str, icon, name: &'static str, action: Box<dyn gpui_kit::Action>| {
                IconButton::new(id, icon, name)
                    .small()
                    .tab_stop(false)
                    .on_click(cx.listener(move |this, _, window, cx| {
                        this.focus.focus(window, cx);
                        let action = action.boxed_clone();
                        window.defer(cx, move |window, cx| window.dispatch_action(action, cx));
                    }))
            };
        div()
            .flex()
            .flex_none()
            .items_center()
            .h(dp(32.0))
            .pl(dp(12.0))
            .pr(dp(6.0))
            .gap(dp(2.0))
            .child(title)
            .child(button(
                "new-file",
                Icon::FilePlus,
                "New file",
                Box::new(act::NewFile),
            ))
            .child(button(
                "new-folder",
                Icon::FolderPlus,
                "New folder",
                Box::new(act::NewFolder),
            ))
            .child(button(
                "collapse-all",
                Icon::CollapseAll,
                "Collapse all folders",
                Box::new(act::CollapseAll),
            ))
            .into_any_element()
    }

    fn render_empty(&self, cx: &Context<Self>) -> AnyElement {
        let Some(folder) = &self.folder else {
            return EmptyState::new("No folder is open")
                .icon(Icon::Folder)
                .child(
                    Button::new("open-folder", "Open a folder").action(Box::new(file::OpenFolder)),
                )
                .into_any_element();
        };
        let tree = folder.read(cx).tree();
        if let Some(problem) = tree.problem() {
            return EmptyState::new("This folder cannot be read")
                .detail(ui::foreign::multi_line(problem.to_owned()))
                .into_any_element();
        }
        if !self.state.filter.is_empty() {
            return EmptyState::new("No matching files or folders")
                .detail("Press Escape to clear the filter. Only expanded folders are searched.")
                .into_any_element();
        }
        if tree.is_loaded() {
            EmptyState::new("This folder is empty")
                .icon(Icon::FolderOpen)
                .into_any_element()
        } else {
            EmptyState::new("Reading\u{2026}").into_any_element()
        }
    }

    fn with_actions(
        &self,
        element: gpui_kit::Stateful<gpui_kit::Div>,
        cx: &mut Context<Self>,
    ) -> gpui_kit::Stateful<gpui_kit::Div> {
        element
            .on_action(cx.listener(Self::select_previous))
            .on_action(cx.listener(Self::select_next))
            .on_action(cx.listener(Self::select_first))
            .on_action(cx.listener(Self::select_last))
            .on_action(cx.listener(Self::select_page_up))
            .on_action(cx.listener(Self::select_page_down))
            .on_action(cx.listener(Self::expand))
            .on_action(cx.listener(Self::collapse))
            .on_action(cx.listener(Self::collapse_all))
            .on_action(cx.listener(Self::open))
            .on_action(cx.listener(Self::preview))
            .on_action(cx.listener(Self::open_to_the_side))
            .on_action(cx.listener(Self::open_with))
            .on_action(cx.listener(Self::new_file))
            .on_action(cx.listener(Self::new_folder))
            .on_action(cx.listener(Self::rename))
            .on_action(cx.listener(Self::duplicate))
            .on_action(cx.listener(Self::delete))
            .on_action(cx.listener(Self::cut))
            .on_action(cx.listener(Self::copy))
            .on_action(cx.listener(Self::paste))
            .on_action(cx.listener(Self::copy_path))
            .on_action(cx.listener(Self::copy_relative_path))
            .on_action(cx.listener(Self::reveal_in_file_manager))
            .on_action(cx.listener(Self::find_in_folder))
            .on_action(cx.listener(Self::toggle_ignored))
            .on_action(cx.listener(Self::refresh))
            .on_action(cx.listener(Self::show_menu))
            .on_action(cx.listener(Self::undo))
            .on_action(cx.listener(Self::cancel))
    }
}

/// Returns the text behind a name with errors or warnings: their number for a file, a dot for a folder.
fn diagnostic_text(look: &TreeRowView) -> String {
    if look.is_folder {
        "\u{2022}".to_owned()
    } else {
        (look.diagnostics.errors + look.diagnostics.warnings).to_string()
    }
}

fn accessible_label(look: &TreeRowView) -> String {
    let mut spoken = look.name.clone();
    if let Some(status) = look.status.and_then(status_word) {
        spoken = format!("{spoken}, {status}");
    }
    let diagnostics = folder_diagnostics::phrase(look.diagnostics);
    if !diagnostics.is_empty() {
        spoken = format!("{spoken}, {diagnostics}");
    }
    match &look.problem {
        Some(problem) => format!("{spoken}, {problem}"),
        None => spoken,
    }
}

fn status_color(look: &TreeRowView, cx: &App) -> Hsla {
    let colors = cx.theme().colors;
    if look.is_ignored {
        return colors.ignored;
    }
    match look.status {
        Some(FileStatus::Untracked | FileStatus::Added) => colors.added,
        Some(FileStatus::Renamed | FileStatus::Modified) => colors.changed,
        Some(FileStatus::Deleted) => colors.removed,
        Some(FileStatus::Conflicted) => colors.conflict,
        Some(FileStatus::Ignored) => colors.ignored,
        None => colors.text,
    }
}

/// Returns the letter shown for a Git status; `None` for ignored files.
fn status_letter(status: FileStatus) -> Option<&'static str> {
    match status {
        FileStatus::Ignored => None,
        FileStatus::Untracked => Some("U"),
        FileStatus::Added => Some("A"),
        FileStatus::Renamed => Some("R"),
        FileStatus::Modified => Some("M"),
        FileStatus::Deleted => Some("D"),
        FileStatus::Conflicted => Some("!"),
    }
}

/// Returns the word that describes a Git status; `None` for ignored files.
fn status_word(status: FileStatus) -> Option<&'static str> {
    match status {
        FileStatus::Ignored => None,
        FileStatus::Untracked => Some("new"),
        FileStatus::Added => Some("added"),
        FileStatus::Renamed => Some("renamed"),
        FileStatus::Modified => Some("changed"),
        FileStatus::Deleted => Some("deleted"),
        FileStatus::Conflicted => Some("in conflict"),
    }
}

impl Render for TreePanel {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let is_editing = self.state.editing.is_some();
        let context = if is_editing {
            "ProjectTree editing"
        } else {
            "ProjectTree"
        };
        let root = self
            .folder
            .as_ref()
            .map(|folder| folder.read(cx).root().clone());
        let (header, is_empty) = (
            self.folder.is_some().then(|| self.render_header(cx)),
            self.shown.is_empty(),
        );
        let problem = self.name_problem.clone();
        let colors = cx.theme().colors;
        let this = cx.entity().downgrade();
        let body = div()
            .id("project-tree")
            .role(Role::Tree)
            .aria_label("Project files")
            .track_focus(&self.focus)
            .key_context(context)
            .capture_key_down(cx.listener(Self::key_before_field))
            .on_key_down(cx.listener(Self::key))
            .flex()
            .flex_col()
            .size_full();
        let body = self.with_actions(body, cx).test_support();
        let list = if is_empty {
            self.render_empty(cx)
        } else {
            uniform_list(
                "tree-rows",
                self.shown.len(),
                cx.processor(Self::render_rows),
            )
            .track_scroll(&self.scroll)
            .size_full()
            .into_any_element()
        };
        let dropped_root = root.clone();
        let list = div()
            .id("tree-list")
            .flex_1()
            .min_h_0()
            .w_full()
            .on_drop(cx.listener(move |this, dragged: &DraggedPath, window, cx| {
                let folder = this.drop_folder.take().or_else(|| dropped_root.clone());
                if let Some(folder) = folder {
                    this.import_paths(vec![dragged.path.clone()], folder, window, cx);
                }
            }))
            .on_drop(cx.listener(move |this, paths: &ExternalPaths, window, cx| {
                let paths: Vec<_> = paths
                    .paths()
                    .iter()
                    .filter_map(base::AbsPath::new)
                    .collect();
                let folder = this.drop_folder.take().or_else(|| root.clone());
                if let Some(folder) = folder {
                    this.import_paths(paths, folder, window, cx);
                }
            }))
            .child(list)
            .menu_on_right_click(move |_, cx| {
                this.upgrade()
                    .map(|this| this.read(cx).menu())
                    .unwrap_or_default()
            });
        body.children(header)
            .child(list)
            .children(problem.map(|problem| {
                div()
                    .flex_none()
                    .px(dp(12.0))
                    .py(dp(6.0))
                    .text_size(dp(12.0))
                    .text_color(colors.error)
                    .child(problem)
            }))
    }
}

impl Render for DraggedPathView {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        div()
            .px(dp(10.0))
            .py(dp(4.0))
            .rounded(px(4.0))
            .border_1()
            .border_color(colors.border_strong)
            .bg(colors.raised)
            .text_color(colors.text)
            .text_size(dp(13.0))
            .child(self.name.clone())
    }
}
