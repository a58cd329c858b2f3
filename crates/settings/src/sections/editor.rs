//! Settings of the text area. Every one may also be set for one language.

use crate::section::{choices, section};

section! {
    /// Display of text and behaviour of typing.
    EditorSettings {
        /// Font family for code.
        font_family: String = "JetBrains Mono".to_owned();
        /// Fallback font families for missing characters.
        font_fallbacks: Vec<String> = Vec::new();
        /// Font size for code, in pixels at zoom 1.
        font_size: f32 = 14.0, 6.0..=72.0;
        /// Height of a line as a multiple of the font size.
        line_height: f32 = 1.5, 1.0..=3.0;
        /// Enables ligatures such as `->` if the font has them.
        ligatures: bool = false;
        /// Columns between tab stops, and columns of one indentation level.
        tab_size: u32 = 4, 1..=16;
        /// Indents with tabs instead of spaces.
        hard_tabs: bool = false;
        /// Detects tab size and hard tabs from the file's own indentation.
        detect_indentation: bool = true;
        /// Wraps long lines: at the edge of the text area, at a column, or not at all.
        soft_wrap: SoftWrap = SoftWrap::Off;
        /// The column for `"soft_wrap": "column"`.
        wrap_column: u32 = 100, 20..=2000;
        /// Columns at which a vertical line is drawn.
        rulers: Vec<u32> = Vec::new(), 1..=2000;
        /// Selects the spaces and tabs to show as marks.
        whitespace: Whitespace = Whitespace::Selection;
        /// Draws a guide at each indentation level.
        indent_guides: bool = true;
        /// Shows the messages of diagnostics after the ends of their lines.
        inline_diagnostics: InlineDiagnostics = InlineDiagnostics::Off;
        /// Highlights the line with the caret.
        current_line: CurrentLine = CurrentLine::Line;
        /// Line numbers in the gutter.
        line_numbers: LineNumbers = LineNumbers::On;
        /// Shows arrows in the gutter for folding and unfolding.
        fold_arrows: bool = true;
        /// Marks lines that differ from the last commit in the gutter.
        change_bars: bool = true;
        /// Shows a light bulb in the gutter if a language server offers code actions for the caret.
        light_bulb: bool = true;
        /// Marks matches, changes and selections on the scrollbar.
        overview_marks: bool = true;
        /// Keeps the headers of the enclosing blocks at the top while scrolling.
        sticky_scroll: bool = true;
        /// Maximum number of sticky headers.
        sticky_scroll_rows: u32 = 5, 1..=20;
        /// Inserts the closing bracket or quote together with the opening one.
        auto_close: bool = true;
        /// Shows the accents of a held letter on macOS, instead of repeating the letter.
        press_and_hold: bool = false;
        /// Surrounds the selection when a bracket or quote is typed.
        auto_surround: bool = true;
        /// Indents new lines according to the language.
        smart_indent: bool = true;
        /// Adjusts the indentation of pasted lines to their context.
        indent_on_paste: bool = true;
        /// Cuts or copies the whole line if nothing is selected.
        copy_empty_selection: bool = true;
        /// Pastes the primary selection on a middle click.
        middle_click_paste: bool = true;
        /// Removes spaces and tabs at the ends of lines when saving.
        trim_trailing_whitespace: bool = false;
        /// Formats the text when you save it, with `formatter` or else with a language server.
        format_on_save: bool = false;
        /// Formats the text around a typed character, such as a semicolon or a new line, if a language server offers it.
        format_on_type: bool = false;
        /// Program that formats a text from standard input to standard output, and its arguments, in which `{path}` is replaced by the path of the file. Runs only in trusted folders.
        formatter: Vec<String> = Vec::new();
        /// Kinds of code actions that run when you save, in order, such as `source.organizeImports` and `source.fixAll`.
        code_actions_on_save: Vec<String> = Vec::new();
        /// Adds a line ending at the end of the file when saving.
        final_newline: bool = false;
        /// Allows scrolling until the last line is at the top.
        scroll_beyond_last_line: bool = true;
        /// Rows kept visible above and below the caret.
        scroll_margin: u32 = 3, 0..=50;
        /// Speed factor for wheel and touchpad.
        scroll_sensitivity: f32 = 1.0, 0.1..=10.0;
        /// Animates scrolling over long distances. Off with reduced motion and without a GPU.
        smooth_scroll: bool = true;
        /// Shape of the caret.
        cursor_style: CursorStyle = CursorStyle::Bar;
        /// Blinks the caret. Off with reduced motion and without a GPU.
        cursor_blink: bool = false;
        /// Highlights the bracket that matches the one at the caret.
        bracket_match: bool = true;
        /// Highlights other occurrences of the selected text.
        selection_highlight: bool = true;
        /// Highlights the occurrences of the symbol at the caret, if a language server knows them.
        document_highlights: bool = true;
        /// Shows the parameters of a call while its arguments are typed.
        signature_help: bool = true;
        /// Edits the opening and the closing tag together, if a language server knows that they belong together.
        linked_edits: bool = true;
        /// Shows types and parameter names of language servers within the text.
        inlay_hints: bool = false;
        /// Colours names by the types that a language server knows, over the colours of the grammar.
        semantic_highlighting: bool = true;
        /// Shows a swatch before each colour in the text that a language server knows.
        document_colors: bool = true;
        /// Shows the commands of language servers, such as the references of a function, above their lines.
        code_lens: bool = false;
        /// Modifier key that adds a caret on click.
        multi_cursor_modifier: MultiCursorModifier = MultiCursorModifier::Alt;
        /// Language servers in order of preference: an id adds a server, `!id` removes one, and `...` means the other servers that run by default.
        language_servers: Vec<String> = vec!["...".to_owned()];
    }
}

choices! {
    /// Position at which long lines wrap.
    SoftWrap {
        /// Lines do not wrap.
        Off = "off",
        /// At the edge of the text area.
        Window = "window",
        /// At `wrap_column`, or at the edge if that is nearer.
        Column = "column",
    }
}

choices! {
    /// Spaces and tabs shown as marks.
    Whitespace {
        /// No marks are shown.
        None = "none",
        /// Those inside a selection.
        Selection = "selection",
        /// All but single spaces between words.
        Boundary = "boundary",
        /// All of them are shown.
        All = "all",
    }
}

choices! {
    /// Highlights the line with the caret.
    CurrentLine {
        /// No highlight at all.
        Off = "off",
        /// Behind the line number.
        Gutter = "gutter",
        /// Behind the line's text.
        Line = "line",
        /// Behind number and text.
        All = "all",
    }
}

choices! {
    /// Shows the messages of diagnostics after the ends of their lines.
    InlineDiagnostics {
        /// No messages in the text.
        Off = "off",
        /// Those of errors.
        Errors = "errors",
        /// Those of errors, warnings and remarks.
        All = "all",
    }
}

choices! {
    /// Line numbers in the gutter.
    LineNumbers {
        /// Counted from the top of the file.
        On = "on",
        /// Counted from the caret.
        Relative = "relative",
        /// No line numbers at all.
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
    /// Modifier key that adds a caret on click; the other one follows links.
    MultiCursorModifier {
        /// Alt, or Option on a Mac.
        Alt = "alt",
        /// Ctrl, or Command on a Mac.
        Secondary = "secondary",
    }
}
