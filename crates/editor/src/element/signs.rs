//! Signs over the text: the direction of a suggestion outside the window, and a note on a visible
//! one.
//!
//! A sign shows its key binding; clicking it has the same effect.

use display::{DisplayPoint, DisplayRow};
use gpui_kit::{
    Action, AnyElement, App, AvailableSpace, Entity, InteractiveElement as _, IntoElement as _,
    MouseButton, ParentElement as _, Pixels, Point, Role, SharedString, Size,
    StatefulInteractiveElement as _, Styled as _, Window, div, point, px, size,
};
use ui::{ActivePlatform as _, ActiveTheme as _, Icon, IconSize, KeyHint, dp};

use super::layout::TextLayout;
use crate::actions::{AcceptSuggestion, ExpandWord};
use crate::editor::{Editor, expanding};
use crate::suggestion::{JumpSuggestion, Presentation};

/// Pixels between a sign and the edge of the text.
const EDGE: f32 = 10.0;

/// Lays out the signs over the text.
pub(super) fn prepare(
    editor: &Entity<Editor>,
    layout: &TextLayout,
    window: &mut Window,
    cx: &mut App,
) -> Vec<AnyElement> {
    let view = editor.read(cx);
    let Some(shown) = view.suggestion.shown_presentation().cloned() else {
        return prepare_word_note(editor, layout, window, cx);
    };
    let key = editor.update(cx, |view, cx| key_of(view, &AcceptSuggestion, window, cx));
    let sign = match &shown {
        Presentation::Jump(jump) => Some(jump_sign(jump, key, editor, layout, cx)),
        Presentation::Portal => portal_sign(key, editor, layout, cx),
        Presentation::InText(_) => suggestion_note(key, editor, cx),
    };
    let Some(mut sign) = sign else {
        return Vec::new();
    };
    let room = room_of(&mut sign, layout, window, cx);
    let place = match &shown {
        Presentation::Jump(jump) => Some(at_edge(jump.is_below, room, layout)),
        // If it would cover text, or the caret is not visible, it goes to the half of the window
        // without the caret.
        Presentation::Portal => {
            let row = caret_display_row(editor.read(cx));
            at_row_end(row, room, layout)
                .or_else(|| Some(at_edge(!is_in_lower_half(row, layout), room, layout)))
        }
        // A note has no background, so it is hidden where it would cover text.
        Presentation::InText(shown) => {
            at_row_end(first_display_row(editor.read(cx), shown.row), room, layout)
        }
    };
    placed(sign, place, layout, window, cx)
}

/// Lays out the position of the expanded word, if there is no suggestion.
fn prepare_word_note(
    editor: &Entity<Editor>,
    layout: &TextLayout,
    window: &mut Window,
    cx: &mut App,
) -> Vec<AnyElement> {
    let Some(words) = expanding::written_word(editor.read(cx)) else {
        return Vec::new();
    };
    let key = editor.update(cx, |view, cx| key_of(view, &ExpandWord, window, cx));
    let mut sign = note(key, Some(words), cx);
    let room = room_of(&mut sign, layout, window, cx);
    let place = at_row_end(caret_display_row(editor.read(cx)), room, layout);
    placed(sign, place, layout, window, cx)
}

/// Measures the size of a sign.
fn room_of(
    sign: &mut AnyElement,
    layout: &TextLayout,
    window: &mut Window,
    cx: &mut App,
) -> Size<Pixels> {
    let height = AvailableSpace::Definite(layout.geometry.line_height);
    sign.layout_as_root(size(AvailableSpace::MinContent, height), window, cx)
}

/// Positions the sign; `None` if it has no place.
fn placed(
    mut sign: AnyElement,
    place: Option<Point<Pixels>>,
    layout: &TextLayout,
    window: &mut Window,
    cx: &mut App,
) -> Vec<AnyElement> {
    let Some(place) = place else {
        return Vec::new();
    };
    let bounds = layout.geometry.text;
    window.with_content_mask(Some(gpui_kit::ContentMask { bounds }), |window| {
        sign.prepaint_at(place, window, cx);
    });
    vec![sign]
}

/// Returns the middle of the upper or lower edge.
fn at_edge(is_below: bool, room: Size<Pixels>, layout: &TextLayout) -> Point<Pixels> {
    let (geometry, text) = (&layout.geometry, layout.geometry.text);
    let x = (text.left() + (text.size.width - room.width) / 2.0).max(text.left());
    let headers = geometry.line_height * geometry.sticky_rows as f32;
    let y = if is_below {
        text.bottom() - room.height - px(EDGE)
    } else {
        text.top() + headers + px(EDGE)
    };
    point(x.round(), y.round())
}

/// Returns the position after the text of a display row, vertically centred; `None` if the row is
/// not visible or the sign does not fit.
fn at_row_end(row: DisplayRow, room: Size<Pixels>, layout: &TextLayout) -> Option<Point<Pixels>> {
    let geometry = &layout.geometry;
    let visible = layout.rows.iter().find(|visible| visible.row == row)?;
    let x = geometry.x_of(visible.shape.end_cell? + 3).round();
    let y = geometry.y_of(visible.y) + (geometry.line_height - room.height) / 2.0;
    let text = geometry.text;
    let fits = text.left() <= x && x + room.width <= text.right() - px(EDGE);
    fits.then(|| point(x, y.round()))
}

/// Returns whether a display row is visible and in the lower half of the text.
fn is_in_lower_half(row: DisplayRow, layout: &TextLayout) -> bool {
    let geometry = &layout.geometry;
    let visible = layout.rows.iter().find(|visible| visible.row == row);
    visible.is_some_and(|visible| geometry.y_of(visible.y) > geometry.text.center().y)
}

/// Builds the sign for a suggestion elsewhere in this text.
fn jump_sign(
    jump: &JumpSuggestion,
    key: Option<SharedString>,
    editor: &Entity<Editor>,
    layout: &TextLayout,
    cx: &App,
) -> AnyElement {
    let icon = if jump.is_below {
        Icon::ArrowDown
    } else {
        Icon::ArrowUp
    };
    let words = format!("to line {}", jump.row.0 + 1);
    pill(
        SignLabel {
            key,
            icon,
            words: words.into(),
            preview: jump.preview.clone().into(),
        },
        (editor, layout),
        cx,
    )
}

/// Builds the sign for a suggestion in another file.
fn portal_sign(
    key: Option<SharedString>,
    editor: &Entity<Editor>,
    layout: &TextLayout,
    cx: &App,
) -> Option<AnyElement> {
    let view = editor.read(cx);
    let file = view.suggestion()?.file.as_ref()?;
    let name = file
        .as_path()
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let place = view.suggestion.place.clone();
    let words = match place.as_ref().and_then(|place| place.row) {
        Some(row) => format!("{name}:{}", row.0 + 1),
        None => name,
    };
    let preview = place.map(|place| place.preview).unwrap_or_default();
    Some(pill(
        SignLabel {
            key,
            icon: Icon::ArrowRight,
            words: words.into(),
            preview,
        },
        (editor, layout),
        cx,
    ))
}

/// Content of a sign.
struct SignLabel {
    key: Option<SharedString>,
    icon: Icon,
    words: SharedString,
    preview: SharedString,
}

fn pill(
    leads: SignLabel,
    (editor, layout): (&Entity<Editor>, &TextLayout),
    cx: &App,
) -> AnyElement {
    let widest = (layout.geometry.text.size.width - px(2.0 * EDGE)).max(px(0.0));
    let theme = cx.theme();
    let colors = &theme.colors;
    let (view, name) = (editor.downgrade(), format!("Suggestion: {}", leads.words));
    let preview = (!leads.preview.is_empty()).then(|| {
        div()
            .min_w_0()
            .overflow_hidden()
            .text_ellipsis()
            .pl(dp(8.0))
            .border_l_1()
            .border_color(colors.border)
            .text_color(colors.muted)
            .font(theme.code_font())
            .child(leads.preview)
    });
    div()
        .id("suggestion-sign")
        .role(Role::Button)
        .aria_label(name)
        .flex()
        .items_center()
        .gap(dp(6.0))
        .h(dp(24.0))
        .max_w(widest)
        .px(dp(8.0))
        .whitespace_nowrap()
        .rounded(px(6.0))
        .border_1()
        .border_color(colors.border_strong)
        .bg(colors.raised)
        .shadow_md()
        .text_size(dp(12.0))
        .text_color(colors.text)
        .font_family(theme.fonts.ui_family.clone())
        .cursor_pointer()
        .children(leads.key.map(KeyHint::text))
        .child(leads.words)
        .child(leads.icon.size(IconSize::Small).color(colors.accent))
        .children(preview)
        .occlude()
        .on_mouse_down(MouseButton::Left, move |_, window, cx| {
            cx.stop_propagation();
            // A closed view has nothing to do.
            view.update(cx, |editor, cx| {
                editor.accept(autocomplete::AcceptGranularity::All, window, cx)
            })
            .ok();
        })
        .into_any_element()
}

/// Builds the note with the position among several suggestions, and the key binding if it is not
/// Tab.
fn suggestion_note(
    key: Option<SharedString>,
    editor: &Entity<Editor>,
    cx: &App,
) -> Option<AnyElement> {
    let words = editor.read(cx).suggestion.note.clone();
    let key = key.filter(|key| !matches!(key.as_ref(), "Tab" | "⇥"));
    (words.is_some() || key.is_some()).then(|| note(key, words, cx))
}

/// Builds an unobtrusive note with a key binding.
fn note(key: Option<SharedString>, words: Option<SharedString>, cx: &App) -> AnyElement {
    let theme = cx.theme();
    let element = div()
        .flex()
        .items_center()
        .gap(dp(6.0))
        .whitespace_nowrap()
        .text_size(dp(11.0))
        .text_color(theme.colors.muted)
        .font_family(theme.fonts.ui_family.clone())
        .children(key.map(KeyHint::text))
        .children(words);
    element.into_any_element()
}

/// Returns the display form of an action's key binding in the current context.
fn key_of(
    editor: &Editor,
    action: &dyn Action,
    window: &Window,
    cx: &gpui_kit::Context<Editor>,
) -> Option<SharedString> {
    let context = editor.key_context(cx);
    let binding = window.highest_precedence_binding_for_action_in_context(action, context)?;
    Some(ui::keys_text(&binding, cx.platform()))
}

/// Returns the display row of the newest caret.
fn caret_display_row(editor: &Editor) -> DisplayRow {
    let head = editor.selections.primary().head;
    editor.display.to_display(head, base::Bias::Left).row
}

/// Returns the first display row of a buffer row.
fn first_display_row(editor: &Editor, row: base::Row) -> DisplayRow {
    let shown = editor.suggestion.in_text();
    let first = shown.and_then(|shown| shown.pieces.first().map(|piece| piece.at));
    let at = first.unwrap_or_else(|| editor.snapshot.row_start(row));
    let place: DisplayPoint = editor.display.to_display(at, base::Bias::Left);
    place.row
}
