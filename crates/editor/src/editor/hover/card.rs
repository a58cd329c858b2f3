//! Drawing of the card.

use base::{Bias, LineFeeds, printable};
use gpui_kit::base::{Align, POPUP_PRIORITY, Placement, Positioner};
use gpui_kit::component::text::TextView;
use gpui_kit::{
    AnyElement, Bounds, Context, InteractiveElement as _, IntoElement, ParentElement as _, Pixels,
    Role, SharedString, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _,
    deferred, div, point, px, size,
};
use lsp::{Diagnostic, DiagnosticSeverity};
use ui::{ActiveTheme as _, Icon, Label, dp};

use super::HoverCard;
use crate::editor::Editor;

/// Maximum width of a card, in design pixels.
const MAX_WIDTH: f32 = 560.0;
/// Maximum height of a card, in design pixels.
const MAX_HEIGHT: f32 = 320.0;

/// Renders the open card beside its text. Returns `None` without one, and if its text is not visible.
pub(crate) fn render_card(editor: &Editor, cx: &Context<Editor>) -> Option<AnyElement> {
    let card = editor.hover.card.as_ref()?;
    if card.revision != editor.snapshot.revision() {
        return None;
    }
    let place = bounds_of(card, editor)?;
    let theme = cx.theme();
    let colors = theme.colors;
    let items = div()
        .id("hover-items")
        .flex()
        .flex_col()
        .gap(dp(8.0))
        .max_h(dp(MAX_HEIGHT))
        .px(dp(10.0))
        .py(dp(8.0))
        .overflow_y_scroll()
        .children(
            card.diagnostics
                .iter()
                .map(|it| diagnostic(&it.diagnostic, cx)),
        )
        .children(
            card.texts
                .iter()
                .map(|state| div().child(TextView::new(state).selectable(true))),
        );
    let frame = div()
        .id("hover")
        .test_support()
        .role(Role::Tooltip)
        .aria_label(accessible_text(card))
        .max_w(dp(MAX_WIDTH))
        .rounded(dp(6.0))
        .border_1()
        .border_color(colors.border_strong)
        .bg(colors.raised)
        .shadow_lg()
        .font_family(theme.fonts.ui_family.clone())
        .text_size(dp(13.0))
        .text_color(colors.text)
        .cursor_default()
        .on_hover(cx.listener(|editor, is_over: &bool, _, cx| {
            editor.hover.is_over_card = *is_over;
            super::pointer_moved(editor, true, cx);
        }))
        .child(items);
    let placed = Positioner::side(place)
        .placement(Placement::Top)
        .align(Align::Start)
        .margin(px(4.0))
        .occlude()
        .child(frame);
    Some(
        deferred(placed)
            .with_priority(POPUP_PRIORITY)
            .into_any_element(),
    )
}

/// Returns the area of the first row of the card's text in window pixels.
fn bounds_of(card: &HoverCard, editor: &Editor) -> Option<Bounds<Pixels>> {
    let geometry = editor.geometry.as_ref()?;
    let start = editor.display.to_display(card.span.start, Bias::Right);
    let y = geometry.y_of(editor.display.y_of(start.row));
    let x = geometry.x_of(start.cell);
    let sight = geometry.text;
    let is_visible = sight.top() - geometry.line_height < y
        && y < sight.bottom()
        && sight.left() <= x
        && x < sight.right();
    let bounds = Bounds::new(point(x, y), size(px(1.0), geometry.line_height));
    is_visible.then_some(bounds)
}

fn diagnostic(item: &Diagnostic, cx: &Context<Editor>) -> impl IntoElement {
    let colors = cx.theme().colors;
    let (icon, color) = match item.severity {
        DiagnosticSeverity::Error => (Icon::CircleAlert, colors.error),
        DiagnosticSeverity::Warning => (Icon::Warning, colors.warning),
        DiagnosticSeverity::Information => (Icon::Info, colors.info),
        DiagnosticSeverity::Hint => (Icon::Info, colors.muted),
    };
    let lines = message(item)
        .split('\n')
        .map(str::to_owned)
        .collect::<Vec<_>>();
    div()
        .flex()
        .gap(dp(8.0))
        .child(div().flex_none().pt(dp(2.0)).child(icon.color(color)))
        .child(
            div()
                .flex()
                .flex_col()
                .min_w_0()
                .children(
                    lines
                        .into_iter()
                        .map(|line| div().child(SharedString::from(line))),
                )
                .children(origin(item).map(|origin| Label::new(origin).tiny().muted())),
        )
}

/// Returns the printable message of a diagnostic.
fn message(item: &Diagnostic) -> String {
    printable(item.message.trim(), LineFeeds::Keep).into_owned()
}

/// Returns the tool that found a diagnostic and its code, such as "rustc E0308".
fn origin(item: &Diagnostic) -> Option<String> {
    let parts: Vec<&str> = [&item.source, &item.code]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let text = printable(&parts.join(" "), LineFeeds::Escape).into_owned();
    (!text.is_empty()).then_some(text)
}

fn accessible_text(card: &HoverCard) -> SharedString {
    let messages: Vec<String> = card
        .diagnostics
        .iter()
        .map(|it| message(&it.diagnostic))
        .collect();
    if messages.is_empty() {
        "Information".into()
    } else {
        messages.join("\n").into()
    }
}
