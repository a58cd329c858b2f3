//! Draws the rows of the list.

use std::ops::Range;

use base::AbsPath;
use git::changes::{Change, ChangeKind, LineCounts};
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    AnyElement, ClickEvent, Context, Hsla, InteractiveElement as _, IntoElement,
    ParentElement as _, Role, SharedString, StatefulInteractiveElement as _, Styled as _, Toggled,
    Window, div, prelude::FluentBuilder as _, px,
};
use ui::{ActiveTheme as _, Icon, IconSize, Label, TreeRow, dp};

use super::ChangesPanel;
use crate::rows::{PanelRow, RowKey, kind_words, shown_bytes};
use crate::state::{SelectionMode, StagedState};

impl ChangesPanel {
    pub(super) fn render_rows(
        &mut self,
        range: Range<usize>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Vec<AnyElement> {
        let is_focused = self.focus.is_focused(window);
        let selected = self.state.selected_ixs();
        let rows = self.state.rows().get(range.clone()).unwrap_or_default();
        let rows: Vec<_> = rows.iter().cloned().zip(range).collect();
        let rows = rows.into_iter().map(|(row, ix)| {
            let is_selected = selected.contains(&ix);
            self.render_row(&row, ix, (is_selected, is_focused), cx)
        });
        rows.collect()
    }

    fn render_row(
        &self,
        row: &PanelRow,
        ix: usize,
        (is_selected, is_focused): (bool, bool),
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let change = self.state.change_at(&row.key).cloned();
        let name = match &change {
            Some(change) => self.file_label(row, change),
            None => format!("{}, {}", row.name, files_words(row.count)),
        };
        let key = row.key.clone();
        let element = TreeRow::new(("git-row", ix), name, row.depth)
            .expanded(row.is_open)
            .selected(is_selected)
            .focused(is_focused)
            .on_click(cx.listener(move |this, event: &ClickEvent, window, cx| {
                this.clicked(&key, ix, event, window, cx);
            }));
        let element = match change {
            Some(change) => self.fill_file(element, row, change, cx),
            None => element
                .child(Label::new(row.name.clone()).strong())
                .child(Label::new(row.count.to_string()).tiny().muted())
                .child(div().flex_1())
                .children(render_counts(row.lines, cx)),
        };
        div().w_full().px(dp(4.0)).child(element).into_any_element()
    }

    fn fill_file(
        &self,
        element: TreeRow,
        row: &PanelRow,
        change: Change,
        cx: &mut Context<Self>,
    ) -> TreeRow {
        let root = row.key.root().clone();
        let color = change_color(&change, cx);
        let is_pending = self.state.is_pending(&root, &change.path);
        let letter = kind_words(change.kind).0;
        let folder = (!self.state.is_tree).then(|| shown_bytes(change.path.folder()));
        let note = change.note.as_ref().map(|note| note.to_string());
        let gone = change.kind == ChangeKind::Deleted;
        let checkbox = self.render_checkbox(root, change, row, cx);
        element
            .child(checkbox)
            .child(
                div()
                    .flex_none()
                    .child(Label::new(letter).tiny().color(color)),
            )
            .child(
                div()
                    .min_w_0()
                    .truncate()
                    .text_color(color)
                    .when(gone, |it| it.line_through())
                    .when(is_pending, |it| it.opacity(0.6))
                    .child(row.name.clone()),
            )
            .child(
                div()
                    .flex_1()
                    .min_w_0()
                    .truncate()
                    .text_size(dp(12.0))
                    .text_color(cx.theme().colors.muted)
                    .children(note.or(folder)),
            )
            .children(render_counts(row.lines, cx))
    }

    fn render_checkbox(
        &self,
        root: AbsPath,
        change: Change,
        row: &PanelRow,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let state = self.state.staged_state(&root, &change.path);
        let (toggled, icon) = match state {
            StagedState::Staged => (Toggled::True, Some(Icon::Check)),
            StagedState::Partly => (Toggled::Mixed, Some(Icon::Minus)),
            StagedState::Unstaged => (Toggled::False, None),
        };
        let is_on = icon.is_some();
        let id = format!("git-check-{:?}-{}", change.group, change.path);
        div()
            .id(SharedString::from(id))
            .test_support()
            .role(Role::CheckBox)
            .aria_label(format!("Staged: {}", row.name))
            .aria_toggled(toggled)
            .flex()
            .flex_none()
            .items_center()
            .justify_center()
            .size(dp(14.0))
            .rounded(px(3.0))
            .border_1()
            .border_color(if is_on {
                colors.accent
            } else {
                colors.border_strong
            })
            .when(is_on, |it| it.bg(colors.accent))
            .children(icon.map(|icon| icon.size(IconSize::Small).color(colors.accent_text)))
            .on_click(cx.listener(move |this, _, window, cx| {
                cx.stop_propagation();
                this.toggle_change(root.clone(), change.clone(), window, cx);
            }))
            .into_any_element()
    }

    /// Returns the name of a row for screen readers.
    fn file_label(&self, row: &PanelRow, change: &Change) -> String {
        let root = row.key.root();
        let mut label = format!("{}, {}", row.name, kind_words(change.kind).1);
        if let Some(old_path) = &change.old_path {
            label = format!("{label} from {}", shown_bytes(old_path.as_bytes()));
        }
        let folder = shown_bytes(change.path.folder());
        if !folder.is_empty() {
            label = format!("{label}, in {folder}");
        }
        if let Some(note) = &change.note {
            label = format!("{label}, {note}");
        }
        if let Some(lines) = change.lines {
            label = format!("{label}, {} added, {} removed", lines.added, lines.removed);
        }
        let state = match self.state.staged_state(root, &change.path) {
            StagedState::Staged => "staged",
            StagedState::Partly => "partly staged",
            StagedState::Unstaged => "not staged",
        };
        label = format!("{label}, {state}");
        if self.state.is_pending(root, &change.path) {
            label.push_str(", pending");
        }
        label
    }

    fn clicked(
        &mut self,
        key: &RowKey,
        ix: usize,
        event: &ClickEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.focus.focus(window, cx);
        let mode = if event.modifiers().shift {
            SelectionMode::Extend
        } else {
            SelectionMode::Single
        };
        self.state.select(ix, mode);
        cx.emit(super::ChangesPanelEvent::SelectionChanged);
        if mode == SelectionMode::Single {
            if !key.is_file() {
                self.toggle_fold(key, cx);
            } else if event.click_count() > 1 {
                self.open_selected(cx);
            }
        }
        cx.notify();
    }
}

fn files_words(count: usize) -> String {
    match count {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    }
}

/// Draws the numbers of added and removed lines; nothing if both are zero.
fn render_counts(lines: LineCounts, cx: &Context<ChangesPanel>) -> Vec<Label> {
    let colors = cx.theme().colors;
    let added = (lines.added > 0).then(|| {
        Label::new(format!("+{}", lines.added))
            .tiny()
            .color(colors.added)
    });
    let removed = (lines.removed > 0).then(|| {
        Label::new(format!("\u{2212}{}", lines.removed))
            .tiny()
            .color(colors.removed)
    });
    added.into_iter().chain(removed).collect()
}

fn change_color(change: &Change, cx: &Context<ChangesPanel>) -> Hsla {
    let colors = cx.theme().colors;
    match change.kind {
        ChangeKind::Added | ChangeKind::Untracked => colors.added,
        ChangeKind::Deleted => colors.removed,
        ChangeKind::Conflicted(_) => colors.conflict,
        ChangeKind::Modified
        | ChangeKind::Renamed
        | ChangeKind::TypeChanged
        | ChangeKind::ModeChanged
        | ChangeKind::Submodule => colors.changed,
    }
}
