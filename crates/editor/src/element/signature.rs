//! The card with the signature of the call around the caret, drawn over the window.
//!
//! Invariant: the card covers neither the row of the caret nor the completion list.

use std::ops::Range;

use base::{Bias, LineFeeds, printable};
use gpui_kit::component::text::TextView;
use gpui_kit::{
    AnyElement, App, AvailableSpace, Bounds, Entity, FontWeight, HighlightStyle,
    InteractiveElement as _, IntoElement, ParentElement as _, Pixels, Point, Role, SharedString,
    Size, StatefulInteractiveElement as _, Styled as _, StyledText, TestSupportExt as _, Window,
    deferred, div, point, prelude::FluentBuilder as _, px, size,
};
use ui::{ActiveTheme as _, Label, dp};

use super::layout::TextLayout;
use crate::editor::Editor;
use crate::editor::signature::{self, SignatureCard};

/// Maximum width of the card, in design pixels.
const MAX_WIDTH: f32 = 560.0;
/// Maximum height of the card, in design pixels.
const MAX_HEIGHT: f32 = 240.0;
/// Maximum length of a label, in bytes.
const MAX_LABEL: usize = 4 << 10;

/// Lays out the card, if one is open and fits beside the row of the caret. `list` is the area of the
/// completion list.
pub(super) fn prepare(
    editor: &Entity<Editor>,
    layout: &TextLayout,
    list: Option<Bounds<Pixels>>,
    window: &mut Window,
    cx: &mut App,
) -> Option<AnyElement> {
    let view = editor.read(cx);
    let card = signature::card(view)?;
    let caret = caret_bounds(view, card, layout)?;
    let viewport = window.viewport_size();
    let room = caret.top().max(viewport.height - caret.bottom());
    let max_height = dp(MAX_HEIGHT).to_pixels(window.rem_size()).min(room);
    let mut element = deferred(div().flex().child(render(card, max_height, cx)))
        .with_priority(1)
        .into_any_element();
    let space = size(AvailableSpace::MaxContent, AvailableSpace::MaxContent);
    let measured = element.layout_as_root(space, window, cx);
    let origin = place(caret, measured, list, viewport)?;
    element.prepaint_at(origin, window, cx);
    Some(element)
}

/// Returns the row of the caret from the place where the card opened; `None` if the caret is not in
/// the window.
fn caret_bounds(
    editor: &Editor,
    card: &SignatureCard,
    layout: &TextLayout,
) -> Option<Bounds<Pixels>> {
    let geometry = &layout.geometry;
    let head = editor.selections.primary().head;
    let caret = editor.display.to_display(head, Bias::Left);
    let anchor = editor.display.to_display(card.anchor, Bias::Left);
    let cell = if anchor.row == caret.row {
        anchor.cell
    } else {
        caret.cell
    };
    let y = geometry.y_of(editor.display.y_of(caret.row));
    let is_visible = y + geometry.line_height > geometry.text.top() && y < geometry.text.bottom();
    let origin = point(geometry.x_of(cell), y);
    is_visible.then(|| Bounds::new(origin, size(px(1.0), geometry.line_height)))
}

/// Returns the upper left corner of the card: above the row of the caret, else above the list, below
/// the row or below the list. `None` if it fits nowhere without covering one of them.
fn place(
    caret: Bounds<Pixels>,
    card: Size<Pixels>,
    list: Option<Bounds<Pixels>>,
    viewport: Size<Pixels>,
) -> Option<Point<Pixels>> {
    let x = caret.left().min(viewport.width - card.width).max(px(0.0));
    let tops = [
        Some(caret.top() - card.height),
        list.map(|list| list.top() - card.height),
        Some(caret.bottom()),
        list.map(|list| list.bottom()),
    ];
    let origins = tops.into_iter().flatten().map(|y| point(x, y));
    let mut origins = origins.filter(|origin| {
        let bounds = Bounds::new(*origin, card);
        let is_inside = bounds.top() >= px(0.0) && bounds.bottom() <= viewport.height;
        let covers_row = bounds.top() < caret.bottom() && caret.top() < bounds.bottom();
        is_inside && !covers_row && list.is_none_or(|list| !list.intersects(&bounds))
    });
    origins.next()
}

fn render(card: &SignatureCard, max_height: Pixels, cx: &App) -> AnyElement {
    let theme = cx.theme();
    let colors = theme.colors;
    let (label, active) = label_of(card);
    let style = HighlightStyle {
        color: Some(colors.accent),
        font_weight: Some(FontWeight::BOLD),
        ..HighlightStyle::default()
    };
    let highlights = Some(active).filter(|range| !range.is_empty());
    let text = StyledText::new(label.clone())
        .with_highlights(highlights.into_iter().map(|range| (range, style)));
    let (number, count) = card.position();
    let heading = div()
        .flex()
        .gap(dp(8.0))
        .when(count > 1, |this| {
            let position = Label::new(format!("{number}/{count}")).small().muted();
            this.child(div().flex_none().child(position))
        })
        .child(
            div()
                .min_w_0()
                .font(theme.code_font())
                .text_size(theme.code_size())
                .child(text),
        );
    div()
        .id("signature-help")
        .test_support()
        .role(Role::Tooltip)
        .aria_label(label)
        .occlude()
        .flex()
        .flex_col()
        .gap(dp(6.0))
        .max_w(dp(MAX_WIDTH))
        .max_h(max_height)
        .overflow_y_scroll()
        .px(dp(10.0))
        .py(dp(6.0))
        .rounded(dp(6.0))
        .border_1()
        .border_color(colors.border_strong)
        .bg(colors.raised)
        .shadow_md()
        .font_family(theme.fonts.ui_family.clone())
        .text_size(dp(13.0))
        .text_color(colors.text)
        .cursor_default()
        .child(heading)
        .children(card.documentation().map(|view| {
            let text = TextView::new(view).selectable(true);
            div().child(text)
        }))
        .into_any_element()
}

/// Returns the printable label of the shown signature with its active parameter, in bytes.
fn label_of(card: &SignatureCard) -> (SharedString, Range<usize>) {
    let label = card.signature().map_or("", |it| it.label.as_str());
    let label = &label[..label.floor_char_boundary(MAX_LABEL)];
    let span = card.active_span();
    let part = |range: Range<usize>| {
        let text = label.get(range).unwrap_or_default();
        printable(text, LineFeeds::Escape).into_owned()
    };
    let start = span.start.min(label.len());
    let end = span.end.min(label.len());
    let (before, active) = (part(0..start), part(start..end));
    let range = before.len()..before.len() + active.len();
    (
        format!("{before}{active}{}", part(end..label.len())).into(),
        range,
    )
}

#[cfg(test)]
mod tests {
    use gpui_kit::{Bounds, point, px, size};

    use super::place;

    /// Places a card of 100 × 60 in a window of 400 × 300; rows and lists are a top and a height.
    fn check(row: (f32, f32), list: Option<(f32, f32)>, expected: Option<f32>) {
        let area = |(top, height): (f32, f32), width| {
            Bounds::new(point(px(20.0), px(top)), size(px(width), px(height)))
        };
        let placed = place(
            area(row, 1.0),
            size(px(100.0), px(60.0)),
            list.map(|list| area(list, 200.0)),
            size(px(400.0), px(300.0)),
        );
        let expected = expected.map(|top| point(px(20.0), px(top)));
        assert_eq!(placed, expected, "{row:?} {list:?}");
    }

    #[test]
    fn the_card_covers_neither_the_row_nor_the_list() {
        check((100.0, 20.0), None, Some(40.0));
        check((40.0, 20.0), None, Some(60.0));
        check((100.0, 20.0), Some((120.0, 100.0)), Some(40.0));
        // No room above: below the list.
        check((40.0, 20.0), Some((60.0, 100.0)), Some(160.0));
        // The list is above: above the list, or below the row.
        check((270.0, 20.0), Some((170.0, 100.0)), Some(110.0));
        check((200.0, 20.0), Some((40.0, 160.0)), Some(220.0));
        check((50.0, 20.0), Some((70.0, 220.0)), None);
    }
}
