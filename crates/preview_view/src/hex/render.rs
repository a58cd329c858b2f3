//! Rendering of the bytes. A row is one text: the offset, the digits of sixteen bytes with a gap in the middle, and their
//! characters.

use std::ops::Range;

use gpui_kit::{
    AnyElement, App, Context, HighlightStyle, InteractiveElement as _, IntoElement, KeyContext,
    MouseButton, ParentElement as _, Pixels, Render, Role, StatefulInteractiveElement as _,
    Styled as _, StyledText, TestSupportExt as _, Window, div,
};
use preview::{BYTES_PER_ROW, HexRow};
use ui::{ActiveTheme as _, Icon, Menu, MenuExt as _, TextField, dp};

use super::HexPreview;
use crate::actions::{Copy, CopyRecord, GoToOffset, OpenText};
use crate::loading::render_absent;
use crate::row_list::render_rows;

/// Distance of the offsets from the edge, in design pixels.
const INSET: f32 = 12.0;
/// Cells of the digits of a byte, with the gap behind them.
const BYTE_CELLS: usize = 3;
const HALF: usize = BYTES_PER_ROW as usize / 2;

/// Returns the distance of the offsets from the edge.
pub(super) fn inset(window: &Window) -> Pixels {
    dp(INSET).to_pixels(window.rem_size())
}

/// Returns the width of a character of code.
pub(super) fn cell_width(window: &Window, cx: &App) -> Pixels {
    let (font, size) = (cx.theme().code_font(), cx.theme().code_size());
    let system = window.text_system();
    let id = system.resolve_font(&font);
    // A font without a zero is unusable for code; any width will do.
    system.ch_advance(id, size).unwrap_or(size * 0.6)
}

/// Returns the column of the first digit of the first byte of a row.
fn first_column(row: u64) -> usize {
    let digits = format!("{:08x}", row.saturating_mul(BYTES_PER_ROW)).len();
    digits + 2
}

/// Returns the column of the first digit of a byte, counted from that of the first byte.
fn digit_column(ix: usize) -> usize {
    ix * BYTE_CELLS + usize::from(ix >= HALF)
}

/// Returns the byte of a row that a column belongs to, as digits or as character.
pub(super) fn byte_of_column(row: u64, column: usize) -> u64 {
    let column = column.saturating_sub(first_column(row));
    let characters = digit_column(BYTES_PER_ROW as usize) + 1;
    let ix = match column.checked_sub(characters) {
        Some(ix) => ix,
        None if column > HALF * BYTE_CELLS => (column - 1) / BYTE_CELLS,
        None => column / BYTE_CELLS,
    };
    (ix as u64).min(BYTES_PER_ROW - 1)
}

/// The text of a row.
struct RowText {
    text: String,
    bytes: Vec<ByteText>,
}

/// The parts of a row's text that show a byte, as ranges of bytes.
struct ByteText {
    digits: Range<usize>,
    character: Range<usize>,
}

fn row_text(row: &HexRow) -> RowText {
    let mut text = format!("{}  ", row.offset_text());
    let mut digits = Vec::new();
    for ix in 0..BYTES_PER_ROW as usize {
        if ix == HALF {
            text.push(' ');
        }
        let start = text.len();
        text.push_str(row.hex(ix).as_deref().unwrap_or("  "));
        digits.push(start..text.len());
        text.push(' ');
    }
    text.push(' ');
    let bytes = digits.into_iter().enumerate().map_while(|(ix, digits)| {
        let character = row.character(ix)?;
        let start = text.len();
        text.push(character);
        Some(ByteText {
            digits,
            character: start..text.len(),
        })
    });
    let bytes = bytes.collect();
    RowText { text, bytes }
}

impl HexPreview {
    pub(super) fn render_bytes(&self, row: u64, cx: &Context<Self>) -> AnyElement {
        let Some(row) = self
            .content
            .ready()
            .and_then(|content| content.reader.row(row))
        else {
            return div().into_any_element();
        };
        let colors = cx.theme().colors;
        let RowText { text, bytes } = row_text(&row);
        let style = |color| HighlightStyle {
            color: Some(color),
            ..HighlightStyle::default()
        };
        let mut highlights = vec![(0..row.offset_text().len(), style(colors.line_number))];
        let selected = self.selected();
        let mut characters = Vec::new();
        for (ix, ByteText { digits, character }) in bytes.into_iter().enumerate() {
            let offset = row.offset + ix as u64;
            let background = if selected.contains(&offset) {
                Some(colors.selection)
            } else {
                None
            };
            let is_visible = matches!(row.bytes.get(ix), Some(b' '..=b'~'));
            let color = if is_visible {
                colors.text
            } else {
                colors.muted
            };
            let style = HighlightStyle {
                background_color: background,
                ..style(color)
            };
            highlights.push((digits, style));
            characters.push((character, style));
        }
        highlights.extend(characters);
        div()
            .px(dp(INSET))
            .whitespace_nowrap()
            .child(StyledText::new(text).with_highlights(highlights))
            .into_any_element()
    }

    fn render_field(&self) -> Option<AnyElement> {
        let problem = self.field.clone()?;
        let field = TextField::new(&self.offset, "Offset")
            .icon(Icon::Hash)
            .mono()
            .error(problem);
        Some(div().flex_none().p(dp(8.0)).child(field).into_any_element())
    }

    fn key_context(&self) -> KeyContext {
        let mut context = KeyContext::default();
        context.add("Preview");
        context.add("bytes");
        context
    }

    fn menu(&self) -> Menu {
        Menu::new()
            .focus(self.focus.clone())
            .action("Copy as hex", Box::new(Copy))
            .action("Copy as text", Box::new(CopyRecord))
            .separator()
            .action("Go to offset\u{2026}", Box::new(GoToOffset))
            .action("Open as text", Box::new(OpenText))
    }
}

impl Render for HexPreview {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let name = self.source.path.printable_name();
        let content = match render_absent(&self.content, &name, Icon::Binary) {
            Some(absent) => absent,
            None => {
                let height = cx.theme().code_line_height();
                render_rows(self, height, window, cx)
            }
        };
        let theme = cx.theme();
        let this = cx.weak_entity();
        div()
            .id("hex-preview")
            .role(Role::Document)
            .test_support()
            .aria_label(format!("Bytes of {name}"))
            .key_context(self.key_context())
            .track_focus(&self.focus)
            .on_action(cx.listener(Self::up))
            .on_action(cx.listener(Self::down))
            .on_action(cx.listener(Self::left))
            .on_action(cx.listener(Self::right))
            .on_action(cx.listener(Self::page_up))
            .on_action(cx.listener(Self::page_down))
            .on_action(cx.listener(Self::start))
            .on_action(cx.listener(Self::end))
            .on_action(cx.listener(Self::select_up))
            .on_action(cx.listener(Self::select_down))
            .on_action(cx.listener(Self::select_left))
            .on_action(cx.listener(Self::select_right))
            .on_action(cx.listener(Self::copy))
            .on_action(cx.listener(Self::copy_text))
            .on_action(cx.listener(Self::go_to_offset))
            .on_action(cx.listener(Self::reload))
            .on_action(cx.listener(Self::cancel))
            .flex()
            .flex_col()
            .size_full()
            .bg(theme.colors.surface)
            .text_color(theme.colors.text)
            .children(self.render_field())
            .child(
                div()
                    .id("hex-bytes")
                    .flex()
                    .flex_col()
                    .flex_1()
                    .min_h_0()
                    .font(theme.code_font())
                    .text_size(theme.code_size())
                    .line_height(theme.code_line_height())
                    .on_mouse_down(MouseButton::Left, cx.listener(Self::pressed))
                    .on_mouse_move(cx.listener(Self::moved))
                    .child(content)
                    .menu_on_right_click(move |_, cx| match this.upgrade() {
                        Some(view) => view.read(cx).menu(),
                        None => Menu::new(),
                    }),
            )
    }
}

#[cfg(test)]
mod tests {
    use preview::HexRow;

    use super::{ByteText, RowText, byte_of_column, row_text};

    #[test]
    fn each_column_belongs_to_its_byte() {
        let row = HexRow {
            offset: 32,
            bytes: (0x41..0x51).collect(),
        };
        let RowText { text, bytes } = row_text(&row);
        assert_eq!(
            text,
            "00000020  41 42 43 44 45 46 47 48  49 4a 4b 4c 4d 4e 4f 50  ABCDEFGHIJKLMNOP"
        );
        for (ix, ByteText { digits, character }) in bytes.iter().enumerate() {
            assert_eq!(byte_of_column(2, digits.start), ix as u64, "digits of {ix}");
            assert_eq!(
                byte_of_column(2, character.start),
                ix as u64,
                "character of {ix}"
            );
        }
        assert_eq!((byte_of_column(2, 0), byte_of_column(2, 500)), (0, 15));
    }

    #[test]
    fn the_last_row_has_no_characters_behind_the_end() {
        let row = HexRow {
            offset: 0,
            bytes: vec![b'a', 0],
        };
        let RowText { text, bytes } = row_text(&row);
        assert!(text.ends_with("a\u{b7}"), "{text}");
        assert_eq!(bytes.len(), 2);
    }
}
