//! The input handler of a text: the toolkit's, with the user's choice for held letters on macOS.

use std::ops::Range;

use gpui_kit::{
    App, Bounds, ClipboardItem, ElementInputHandler, Entity, InputHandler, Pixels, Point,
    TextInputConfiguration, UTF16Selection, Window,
};

use crate::editor::Editor;

/// Passes text input to an editor.
pub(crate) struct EditorInput {
    inner: ElementInputHandler<Editor>,
    /// Whether macOS shows the accents of a held letter; otherwise the letter repeats.
    press_and_hold: bool,
}

impl EditorInput {
    /// Creates the handler for the editor's text in `area`, in window coordinates.
    pub(crate) fn new(area: Bounds<Pixels>, editor: Entity<Editor>, cx: &App) -> Self {
        Self {
            press_and_hold: editor.read(cx).settings.press_and_hold,
            inner: ElementInputHandler::new(area, editor),
        }
    }
}

macro_rules! hand_through {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $answer:ty)?;)*) => {
        $(fn $name(
            &mut self,
            $($argument: $kind,)*
            window: &mut Window,
            cx: &mut App,
        ) $(-> $answer)? {
            self.inner.$name($($argument,)* window, cx)
        })*
    };
}

impl InputHandler for EditorInput {
    fn apple_press_and_hold_enabled(&mut self) -> bool {
        self.press_and_hold
    }

    hand_through! {
        fn selected_text_range(ignore_disabled_input: bool) -> Option<UTF16Selection>;
        fn marked_text_range() -> Option<Range<usize>>;
        fn text_for_range(
            range: Range<usize>,
            adjusted: &mut Option<Range<usize>>
        ) -> Option<String>;
        fn replace_text_in_range(range: Option<Range<usize>>, text: &str);
        fn replace_and_mark_text_in_range(
            range: Option<Range<usize>>,
            text: &str,
            selected: Option<Range<usize>>
        );
        fn unmark_text();
        fn paste(item: ClipboardItem);
        fn bounds_for_range(range: Range<usize>) -> Option<Bounds<Pixels>>;
        fn selection_bounds_for_range(range: Range<usize>) -> Vec<Bounds<Pixels>>;
        fn character_index_for_point(point: Point<Pixels>) -> Option<usize>;
        fn set_selected_text_range(range: Range<usize>);
        fn element_bounds() -> Option<Bounds<Pixels>>;
        fn text_length_utf16() -> Option<usize>;
        fn accepts_text_input() -> bool;
        fn prefers_ime_for_printable_keys() -> bool;
        fn text_input_configuration() -> TextInputConfiguration;
        fn text_input_editable_range() -> Option<Range<usize>>;
    }
}
