//! Settings of the text area. Every one may also be set for one language.

use crate::section::{choices, section};

section! {
    /// How text is shown and what typing does.
    EditorSettings {
        /// Family of the font for code.
        font_family: String = "JetBrains Mono".to_owned();
        /// Families tried for characters that the font lacks.
        font_fallbacks: Vec<String> = Vec::new();
        /// Size of the font for code, in pixels at zoom 1.
        font_size: f32 = 14.0, 6.0..=72.0;
        /// Height of a line as a multiple of the font size.
        line_height: f32 = 1.5, 1.0..=3.0;
        /// Joins characters such as `->` into one sign where the font has it.
        ligatures: bool = false;
        /// Columns from one tab stop to the next, and columns of one step of indentation.
        tab_size: u32 = 4, 1..=16;
        /// Indents with tabs instead of spaces.
        hard_tabs: bool = false;
        /// Takes tab size and hard tabs from the file when its own indentation is clear.
        detect_indentation: bool = true;
        /// Continues long lines on the next row: at the window's edge, at a column, or not at all.
        soft_wrap: SoftWrap = SoftWrap::Off;
        /// The column for `"soft_wrap": "column"`.
        wrap_column: u32 = 100, 20..=2000;
        /// Columns at which a vertical line is drawn.
        rulers: Vec<u32> = Vec::new(), 1..=2000;
        /// Which spaces and tabs are shown as marks.
        whitespace: Whitespace = Whitespace::Selection;
        /// Draws a line at each step of indentation.
        indent_guides: bool = true;
        /// How the line with the caret is marked.
        current_line: CurrentLine = CurrentLine::Line;
        /// Numbers in the gutter.
        line_numbers: LineNumbers = LineNumbers::On;
        /// Arrows in the gutter that fold and unfold.
        fold_arrows: bool = true;
        /// Marks lines that differ from the last commit in the gutter.
        change_bars: bool = true;
        /// Marks matches, changes and selections on the scrollbar.
        overview_marks: bool = true;
        /// Keeps the headers of the enclosing blocks at the top while scrolling.
        sticky_scroll: bool = true;
        /// How many headers at most.
        sticky_scroll_rows: u32 = 5, 1..=20;
        /// Types the closing bracket or quote along with the opening one.
        auto_close: bool = true;
        /// Typing a bracket or quote over a selection puts it around the selection.
        auto_surround: bool = true;
        /// Indents a new line as the language asks.
        smart_indent: bool = true;
        /// Indents pasted lines to fit their new place.
        indent_on_paste: bool = true;
        /// Cutting or copying with nothing selected takes the whole line.
        copy_empty_selection: bool = true;
        /// Pastes the primary selection on a middle click.
        middle_click_paste: bool = true;
        /// Removes spaces and tabs at the ends of lines when saving.
        trim_trailing_whitespace: bool = false;
        /// Ends the file with a line ending when saving.
        final_newline: bool = false;
        /// Allows scrolling until the last line stands at the top.
        scroll_beyond_last_line: bool = true;
        /// Rows kept visible above and below the caret.
        scroll_margin: u32 = 3, 0..=50;
        /// Factor for wheel and touchpad.
        scroll_sensitivity: f32 = 1.0, 0.1..=10.0;
        /// Glides when a command scrolls far. Off with reduced motion and without a GPU.
        smooth_scroll: bool = true;
        /// Shape of the caret.
        cursor_style: CursorStyle = CursorStyle::Bar;
        /// Blinks the caret. Off with reduced motion and without a GPU.
        cursor_blink: bool = false;
        /// Marks the bracket that belongs to the one at the caret.
        bracket_match: bool = true;
        /// Marks other places with the selected text.
        selection_highlight: bool = true;
        /// The key that, held during a click, adds a caret.
        multi_cursor_modifier: MultiCursorModifier = MultiCursorModifier::Alt;
    }
}

choices! {
    /// Where long lines continue on the next row.
    SoftWrap {
        /// They do not.
        Off = "off",
        /// At the edge of the text area.
        Window = "window",
        /// At `wrap_column`, or the edge where that is nearer.
        Column = "column",
    }
}

choices! {
    /// Which spaces and tabs are shown.
    Whitespace {
        /// None.
        None = "none",
        /// Those inside a selection.
        Selection = "selection",
        /// All but single spaces between words.
        Boundary = "boundary",
        /// All.
        All = "all",
    }
}

choices! {
    /// How the line with the caret is marked.
    CurrentLine {
        /// Not at all.
        Off = "off",
        /// Behind its number.
        Gutter = "gutter",
        /// Behind its text.
        Line = "line",
        /// Behind both.
        All = "all",
    }
}

choices! {
    /// Numbers in the gutter.
    LineNumbers {
        /// Counted from the top of the file.
        On = "on",
        /// Counted from the caret.
        Relative = "relative",
        /// None.
        Off = "off",
    }
}

choices! {
    /// Shape of the caret.
    CursorStyle {
        /// A thin line before the character.
        Bar = "bar",
        /// A box over the character.
        Block = "block",
        /// A line under the character.
        Underline = "underline",
        /// A frame around the character.
        Hollow = "hollow",
    }
}

choices! {
    /// The key that adds a caret on click; the other one follows links.
    MultiCursorModifier {
        /// Alt, or Option.
        Alt = "alt",
        /// Ctrl, or Command on a Mac.
        Secondary = "secondary",
    }
}
