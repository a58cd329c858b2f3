//! The authors of lines: names and ages in the gutter, and one text behind the line with the caret.
//!
//! Invariant: the cost depends on the visible rows.

use std::sync::Arc;

use gpui_kit::{
    AnyElement, App, AvailableSpace, Bounds, Context, Entity, InteractiveElement as _,
    IntoElement as _, MouseButton, ParentElement as _, Pixels, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, div, fill, point,
    px, size,
};
use ui::{ActiveTheme as _, Label, Tooltip, dp};

use super::layout::{Decorator, TextLayout};
use super::row_messages::shape_message;
use crate::editor::{Editor, EditorEvent, line_authors};
use crate::frame::Palette;
use crate::model::LineAuthor;

/// Width of the column, in digits of line numbers.
const WIDTH: f32 = 26.0;
/// Width of the bar that shows the age, in pixels.
const BAR: f32 = 2.0;
/// Opacity of the bar of the oldest lines; that of the newest is 1.
const FAINTEST: f32 = 0.12;
/// Text behind a line that is not committed.
const NOT_COMMITTED: &str = "Not committed yet";

/// Returns the width of the column of authors.
pub(super) fn margin_width(editor: &Editor, palette: &Palette, cx: &App) -> Pixels {
    if is_shown(editor, cx) {
        px((WIDTH * palette.number_advance).round())
    } else {
        px(0.0)
    }
}

fn is_shown(editor: &Editor, cx: &App) -> bool {
    line_authors::has_margin(editor) && editor.model.read(cx).has_line_authors()
}

impl Decorator<'_> {
    /// Adds the author of the line with the caret behind it, unless a message is there.
    pub(super) fn add_line_author(&mut self, window: &Window, cx: &Context<Editor>) {
        let Some(row) = line_authors::inline_row(self.editor) else {
            return;
        };
        let model = self.editor.model.read(cx);
        let author = model.line_author(row);
        let text = match &author {
            Some(author) => &*author.inline,
            None if model.has_all_line_authors() => NOT_COMMITTED,
            None => return,
        };
        let mut rows = self.layout.rows.iter();
        let visible = rows.find(|it| it.shape.is_last && it.buffer_row == row);
        let Some(visible) = visible else {
            return;
        };
        let y = self.layout.geometry.y_of(visible.y);
        if self.layout.messages.iter().any(|it| it.origin.y == y) {
            return;
        }
        let color = cx.theme().colors.muted;
        let metrics = (&self.layout.geometry, &*self.layout.palette);
        let shaped = shape_message(text, color, visible, metrics, window);
        self.layout.messages.extend(shaped);
    }

    /// Adds a bar beside each visible row whose strength shows how new the line is.
    pub(super) fn add_author_ages(&mut self, cx: &Context<Editor>) {
        if self.layout.geometry.authors.is_empty() {
            return;
        }
        let accent = cx.theme().colors.accent;
        let model = self.editor.model.read(cx);
        let geometry = &self.layout.geometry;
        let mut bars = Vec::new();
        for visible in &self.layout.rows {
            let Some(author) = model.line_author(visible.buffer_row) else {
                continue;
            };
            let strength = 1.0 - author.share * (1.0 - FAINTEST);
            let corner = point(geometry.authors.end - px(BAR), geometry.y_of(visible.y));
            let bar = Bounds::new(corner, size(px(BAR), geometry.line_height));
            bars.push(fill(bar, accent.opacity(strength)));
        }
        self.layout.grounds.append(&mut bars);
    }
}

/// Lays out the names beside the visible rows: each at the first of its consecutive rows.
pub(super) fn prepare(
    editor: &Entity<Editor>,
    layout: &TextLayout,
    window: &mut Window,
    cx: &mut App,
) -> Vec<AnyElement> {
    let geometry = &layout.geometry;
    if geometry.authors.is_empty() {
        return Vec::new();
    }
    let model = editor.read(cx).model.clone();
    let mut elements = Vec::new();
    let mut above: Option<usize> = None;
    for visible in layout.rows.iter().filter(|row| row.begins) {
        let author = model.read(cx).line_author(visible.buffer_row);
        let key = author.as_ref().map(|author| author.key);
        let is_first = key != above;
        above = key;
        let y = geometry.y_of(visible.y);
        let Some(author) = author.filter(|_| is_first && !layout.is_covered(y)) else {
            continue;
        };
        let row = visible.buffer_row.0 as usize;
        let mut element = render(&author, row, editor, cx);
        let width = geometry.authors.end - geometry.authors.start - px(BAR);
        let space = size(
            AvailableSpace::Definite(width),
            AvailableSpace::Definite(geometry.line_height),
        );
        element.layout_as_root(space, window, cx);
        element.prepaint_at(point(geometry.authors.start, y), window, cx);
        elements.push(element);
    }
    elements
}

fn render(author: &Arc<LineAuthor>, row: usize, editor: &Entity<Editor>, cx: &App) -> AnyElement {
    let colors = cx.theme().colors;
    let (view, key) = (editor.downgrade(), author.key);
    div()
        .id(("line-author", row))
        .test_support()
        .role(Role::Button)
        .aria_label(format!("{}, {}", author.name, author.age))
        .flex()
        .items_center()
        .gap(dp(6.0))
        .size_full()
        .px(dp(4.0))
        .rounded(dp(4.0))
        .overflow_hidden()
        .hover(|style| style.bg(colors.hover))
        .cursor_pointer()
        .occlude()
        .tooltip(Tooltip::text(author.description.clone()))
        .child(
            div()
                .flex_1()
                .min_w_0()
                .child(Label::new(author.name.clone()).tiny().muted()),
        )
        .child(
            div()
                .flex_none()
                .child(Label::new(author.age.clone()).tiny().muted()),
        )
        .on_mouse_down(MouseButton::Left, move |_, window, cx| {
            // The text keeps the focus and the selection.
            window.prevent_default();
            cx.stop_propagation();
            // A closed view has nothing to do.
            view.update(cx, |_, cx| cx.emit(EditorEvent::LineAuthorClicked(key)))
                .ok();
        })
        .into_any_element()
}
