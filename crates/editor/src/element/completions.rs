//! The completion list and the documentation of its selected item, drawn over the window.
//!
//! The list lies below the word, or above it where there is more room. It never takes the focus.

use std::ops::Range;

use base::Bias;
use gpui_kit::component::text::TextView;
use gpui_kit::{
    AnyElement, App, AvailableSpace, Bounds, Div, Entity, FontWeight, Hsla,
    InteractiveElement as _, IntoElement as _, MouseButton, ParentElement as _, Pixels, Point,
    Role, SharedString, Size, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _,
    Window, deferred, div, point, prelude::FluentBuilder as _, px, size, uniform_list,
};
use ui::{ActiveTheme as _, Label, dp};

use super::layout::TextLayout;
use crate::completion::{CompletionItem, CompletionKind, matched_bytes};
use crate::editor::Editor;
use crate::editor::completing::{MAX_ROWS, accepting};

/// Width of the list, in design pixels.
const WIDTH: f32 = 420.0;
/// Width of the documentation, in design pixels.
const DOCUMENTATION_WIDTH: f32 = 340.0;
/// Maximum height of the documentation, in design pixels.
const DOCUMENTATION_HEIGHT: f32 = 260.0;
/// Height of a row, in design pixels.
const ROW: f32 = 22.0;
/// Space around the rows, in design pixels.
const PADDING: f32 = 3.0;
/// Width of the mark of the kind with its gap, in design pixels.
const MARK: f32 = 22.0;
/// Maximum characters of a label or a detail.
const MAX_CHARS: usize = 120;

/// Lays out the list, if one is shown and its word is in the window. Also returns its area, with that
/// of the documentation.
pub(super) fn prepare(
    editor: &Entity<Editor>,
    layout: &TextLayout,
    window: &mut Window,
    cx: &mut App,
) -> Option<(AnyElement, Bounds<Pixels>)> {
    let word = word_bounds(editor.read(cx), layout)?;
    let rows = editor
        .read(cx)
        .completions
        .session
        .as_ref()?
        .list
        .len()
        .min(MAX_ROWS);
    let placement = Placement::of(word, rows, window);
    let documentation = documentation(editor.read(cx), cx);
    let side = DocumentationSide::of(&placement, window, documentation.is_some());
    let mut element = deferred(popup(editor, &placement, side, documentation, cx))
        .with_priority(1)
        .into_any_element();
    let space = size(AvailableSpace::MinContent, AvailableSpace::MinContent);
    let measured = element.layout_as_root(space, window, cx);
    let origin = placement.origin(side, measured, window);
    element.prepaint_at(origin, window, cx);
    Some((element, Bounds::new(origin, measured)))
}

/// Returns the bounds of the completed word; `None` if it is not in the window, or if no list is
/// shown.
fn word_bounds(editor: &Editor, layout: &TextLayout) -> Option<Bounds<Pixels>> {
    let session = editor.completions.session.as_ref();
    let session = session.filter(|_| editor.shows_completions())?;
    let geometry = &layout.geometry;
    let start = editor.display.to_display(session.start, Bias::Left);
    let head = editor.selections.primary().head;
    let caret = editor.display.to_display(head, Bias::Left);
    // A wrapped word begins on another row.
    let cell = if start.row == caret.row {
        start.cell
    } else {
        0
    };
    let y = geometry.y_of(editor.display.y_of(caret.row));
    let x = geometry.x_of(cell);
    let is_visible = y + geometry.line_height > geometry.text.top() && y < geometry.text.bottom();
    is_visible.then(|| {
        Bounds::new(
            point(x, y),
            size(geometry.x_of(caret.cell) - x, geometry.line_height),
        )
    })
}

/// Position and size of the list.
struct Placement {
    word: Bounds<Pixels>,
    x: Pixels,
    width: Pixels,
    rows: usize,
    row_height: Pixels,
    padding: Pixels,
    is_above: bool,
}

impl Placement {
    fn of(word: Bounds<Pixels>, rows: usize, window: &Window) -> Self {
        let rem = window.rem_size();
        let pixels = |design: f32| dp(design).to_pixels(rem);
        let viewport = window.viewport_size();
        let (row_height, padding) = (pixels(ROW).round(), pixels(PADDING));
        let frame = padding * 2.0 + px(2.0);
        let below = viewport.height - word.bottom() - frame;
        let above = word.top() - frame;
        let wanted = row_height * rows as f32;
        let is_above = below < wanted && above > below;
        let room = if is_above { above } else { below };
        let fitting = (f32::from(room) / f32::from(row_height)).floor().max(1.0);
        let width = pixels(WIDTH).min(viewport.width);
        let left = word.left() - pixels(MARK) - padding - px(1.0);
        Self {
            word,
            x: left.min(viewport.width - width).max(px(0.0)),
            width,
            rows: rows.min(fitting as usize),
            row_height,
            padding,
            is_above,
        }
    }

    fn list_height(&self) -> Pixels {
        self.row_height * self.rows as f32 + self.padding * 2.0 + px(2.0)
    }

    /// Returns the upper left corner of the list and the documentation together.
    fn origin(
        &self,
        side: DocumentationSide,
        measured: Size<Pixels>,
        window: &Window,
    ) -> Point<Pixels> {
        let x = match side {
            DocumentationSide::Left => self.x - (measured.width - self.width),
            DocumentationSide::Right | DocumentationSide::Below => self.x,
        };
        let y = if self.is_above {
            self.word.top() - measured.height
        } else {
            let last = window.viewport_size().height - self.list_height();
            self.word.bottom().min(last)
        };
        point(x.max(px(0.0)).round(), y.max(px(0.0)).round())
    }
}

/// Position of the documentation relative to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentationSide {
    Right,
    Left,
    Below,
}

impl DocumentationSide {
    fn of(placement: &Placement, window: &Window, is_needed: bool) -> Self {
        let width = dp(DOCUMENTATION_WIDTH).to_pixels(window.rem_size());
        let right = window.viewport_size().width - placement.x - placement.width;
        if !is_needed || right >= width {
            Self::Right
        } else if placement.x >= width {
            Self::Left
        } else {
            Self::Below
        }
    }
}

/// Documentation of the selected item.
fn documentation(editor: &Editor, cx: &App) -> Option<AnyElement> {
    let session = editor.completions.session.as_ref()?;
    let documentation = session.documentation.as_ref()?;
    let panel = framed(cx)
        .id("completion-documentation")
        .test_support()
        .role(Role::Note)
        .aria_label("Documentation")
        .w(dp(DOCUMENTATION_WIDTH))
        .max_h(dp(DOCUMENTATION_HEIGHT))
        .overflow_y_scroll()
        .track_scroll(&documentation.scroll)
        .px(dp(8.0))
        .py(dp(6.0))
        .whitespace_normal()
        .on_mouse_down(MouseButton::Left, |_, window, _| {
            // The text keeps the focus, and with it the list.
            window.prevent_default();
        })
        .child(TextView::new(&documentation.text));
    Some(panel.into_any_element())
}

/// A raised box in the font of the interface.
fn framed(cx: &App) -> Div {
    let theme = cx.theme();
    div()
        .rounded(dp(6.0))
        .border_1()
        .border_color(theme.colors.border_strong)
        .bg(theme.colors.raised)
        .shadow_md()
        .text_color(theme.colors.text)
        .font_family(theme.fonts.ui_family.clone())
        .text_size(dp(13.0))
        .cursor_default()
}

fn popup(
    editor: &Entity<Editor>,
    placement: &Placement,
    side: DocumentationSide,
    documentation: Option<AnyElement>,
    cx: &App,
) -> Div {
    let list = list(editor, placement, cx);
    let whole = div().occlude().flex().gap(px(2.0));
    // The list stays beside the word, whichever is higher.
    let whole = if placement.is_above {
        whole.items_end()
    } else {
        whole.items_start()
    };
    match side {
        DocumentationSide::Right => whole.child(list).children(documentation),
        DocumentationSide::Left => whole.children(documentation).child(list),
        DocumentationSide::Below => {
            let column = whole.flex_col().items_start();
            if placement.is_above {
                column.children(documentation).child(list)
            } else {
                column.child(list).children(documentation)
            }
        }
    }
}

fn list(editor: &Entity<Editor>, placement: &Placement, cx: &App) -> AnyElement {
    let session = editor.read(cx).completions.session.as_ref();
    let count = session.map_or(0, |session| session.list.len());
    let row_height = placement.row_height;
    let rows_of = editor.clone();
    let rows = uniform_list(
        "completion-rows",
        count,
        move |range: Range<usize>, _, cx| {
            range
                .filter_map(|row| render_row(&rows_of, row, row_height, cx))
                .collect::<Vec<_>>()
        },
    );
    let rows = match session {
        Some(session) => rows.track_scroll(&session.scroll),
        None => rows,
    };
    framed(cx)
        .id("completion-list")
        .test_support()
        .role(Role::ListBox)
        .aria_label("Completions")
        .flex_none()
        .w(placement.width)
        .h(placement.list_height())
        .p(placement.padding)
        .relative()
        .child(rows.size_full())
        .children(scroll_bar(editor.read(cx), placement, cx))
        .into_any_element()
}

/// Draws the part of the rows that is visible, if not all are.
fn scroll_bar(editor: &Editor, placement: &Placement, cx: &App) -> Option<Div> {
    let session = editor.completions.session.as_ref()?;
    let (count, shown) = (session.list.len() as f32, placement.rows as f32);
    if count <= shown {
        return None;
    }
    let track = placement.row_height * shown;
    let height = (track * (shown / count)).max(px(16.0));
    let offset = session.scroll.0.borrow().base_handle.offset().y;
    let hidden = placement.row_height * (count - shown);
    let part = (f32::from(-offset) / f32::from(hidden)).clamp(0.0, 1.0);
    let bar = div()
        .absolute()
        .right(px(1.0))
        .top(placement.padding + (track - height) * part)
        .w(dp(4.0))
        .h(height)
        .rounded(dp(2.0))
        .bg(cx.theme().colors.muted.opacity(0.4));
    Some(bar)
}

fn render_row(editor: &Entity<Editor>, row: usize, height: Pixels, cx: &App) -> Option<AnyElement> {
    let session = editor.read(cx).completions.session.as_ref()?;
    let (_, item) = session.list.row(row)?;
    let is_selected = row == session.list.selected_row();
    let colors = cx.theme().colors;
    let clicked = editor.clone();
    let (letter, color) = mark(item.kind, cx);
    let element = div()
        .id(("completion", row))
        .test_support()
        .role(Role::ListBoxOption)
        .aria_label(spoken(item))
        .aria_selected(is_selected)
        .flex()
        .items_center()
        .w_full()
        .h(height)
        .px(dp(4.0))
        .rounded(dp(4.0))
        .when(is_selected, |div| div.bg(colors.selected))
        .when(!is_selected, |div| {
            div.hover(|style| style.bg(colors.hover))
        })
        .on_mouse_down(MouseButton::Left, move |_, window, cx| {
            // The text keeps the focus.
            window.prevent_default();
            cx.stop_propagation();
            clicked.update(cx, |editor, cx| {
                accepting::accept_row(editor, row, window, cx);
            });
        })
        .child(
            div()
                .flex_none()
                .w(dp(MARK - 4.0))
                .text_color(color)
                .font_weight(FontWeight::SEMIBOLD)
                .child(letter),
        )
        .child(label(item, session.list.query()))
        .children(detail(item));
    Some(element.into_any_element())
}

fn label(item: &CompletionItem, query: &str) -> Div {
    let text = one_line(&item.label);
    let matches = matched_bytes(query, &text);
    div()
        .flex_1()
        .min_w_0()
        .when(item.is_deprecated, |div| div.line_through().opacity(0.7))
        .child(Label::new(text).mono().matches(matches))
}

fn detail(item: &CompletionItem) -> Option<Div> {
    let detail = one_line(item.detail.as_ref()?);
    let label = Label::new(detail).small().muted();
    Some(
        div()
            .flex_none()
            .max_w(dp(WIDTH / 2.0))
            .ml(dp(12.0))
            .child(label),
    )
}

/// Returns the name of a row for a screen reader.
fn spoken(item: &CompletionItem) -> SharedString {
    let deprecated = if item.is_deprecated {
        ", deprecated"
    } else {
        ""
    };
    match &item.detail {
        Some(detail) => format!("{}, {}{deprecated}", item.label, one_line(detail)).into(),
        None => format!("{}{deprecated}", item.label).into(),
    }
}

/// Returns the first line of a text, shortened to what a row can show.
fn one_line(text: &SharedString) -> SharedString {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]).into(),
        None if line.len() == text.len() => text.clone(),
        None => line.to_owned().into(),
    }
}

/// Returns the letter of a kind and its colour, that of such names in the text.
fn mark(kind: CompletionKind, cx: &App) -> (&'static str, Hsla) {
    use CompletionKind as Kind;
    let (letter, name) = match kind {
        Kind::Function => ("f", "function"),
        Kind::Method | Kind::Constructor => ("m", "function"),
        Kind::Class => ("C", "type"),
        Kind::Struct => ("S", "type"),
        Kind::Interface => ("I", "type"),
        Kind::Enum => ("E", "type"),
        Kind::TypeParameter => ("T", "type"),
        Kind::EnumMember | Kind::Constant | Kind::Value | Kind::Unit => ("c", "constant"),
        Kind::Field | Kind::Property => ("p", "property"),
        Kind::Variable | Kind::Reference | Kind::Event => ("v", "variable"),
        Kind::Keyword => ("k", "keyword"),
        Kind::Operator => ("o", "operator"),
        Kind::Module => ("M", "namespace"),
        Kind::Snippet => ("s", "string"),
        Kind::Color | Kind::File | Kind::Folder => ("#", "string"),
        Kind::Text => ("w", "comment"),
    };
    let theme = cx.theme();
    let style = theme.syntax(name).and_then(|style| style.color);
    (letter, style.unwrap_or(theme.colors.muted))
}
