//! Options that commands depend on, with the defaults of Neovim.
//!
//! Start at `VimOptions`; `:set` changes them by name.

/// Options that commands depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VimOptions {
    /// Cells between tab stops.
    pub tab_width: u32,
    /// Cells of an indentation level; 0 for those between tab stops.
    pub shift_width: u32,
    /// Whether to indent with spaces.
    pub expand_tab: bool,
    /// Whether `>` rounds to a multiple of the level.
    pub shift_round: bool,
    /// Whether a new line starts with the indentation of the previous one.
    pub auto_indent: bool,
    /// Cells at which inserted text and `gq` break lines; 0 for none when inserting, 79 for `gq`.
    pub text_width: u32,
    /// Whether searches ignore case.
    pub ignore_case: bool,
    /// Whether a capital in a pattern makes a search respect case.
    pub smart_case: bool,
    /// Whether searches wrap around the ends of the text.
    pub wrap_scan: bool,
    /// Whether matches of the last search are highlighted.
    pub highlight_search: bool,
    /// Whether the match of a pattern is shown while it is typed.
    pub incremental_search: bool,
    /// Whether `:s` replaces all matches of a line without the flag `g`.
    pub global_default: bool,
    /// Whether `~` is an operator.
    pub tilde_operator: bool,
    /// Whether motions over many lines go to the first non-blank column.
    pub start_of_line: bool,
    /// Lines kept between the caret and the edges of the view.
    pub scroll_offset: u32,
    /// Whether `Ctrl-A` counts numbers with a leading zero in octal.
    pub octal_numbers: bool,
    /// Whether `Ctrl-A` counts up single letters.
    pub alphabetic_numbers: bool,
    /// Whether the unnamed register is that of the clipboard.
    pub unnamed_clipboard: bool,
    /// Whether `Y` yanks to the end of the line instead of the whole line.
    pub yank_to_end: bool,
    /// Whether `gr` replaces text by a register instead of finding references.
    pub replace_with_register: bool,
    /// Whether backspace deletes text from before the insertion and joins lines.
    pub backspace_anywhere: bool,
    /// The character that `<leader>` means in mappings.
    pub leader: char,
    /// Milliseconds after which an unfinished mapping is taken as it is.
    pub timeout: u32,
}

impl VimOptions {
    /// Returns Neovim's defaults.
    pub fn new() -> Self {
        Self {
            tab_width: 8,
            shift_width: 8,
            expand_tab: false,
            shift_round: false,
            auto_indent: true,
            text_width: 0,
            ignore_case: false,
            smart_case: false,
            wrap_scan: true,
            highlight_search: true,
            incremental_search: true,
            global_default: false,
            tilde_operator: false,
            start_of_line: false,
            scroll_offset: 0,
            octal_numbers: false,
            alphabetic_numbers: false,
            unnamed_clipboard: false,
            yank_to_end: true,
            replace_with_register: false,
            backspace_anywhere: true,
            leader: '\\',
            timeout: 1000,
        }
    }

    /// The cells of an indentation level.
    pub(crate) fn level(&self) -> u32 {
        let level = if self.shift_width == 0 {
            self.tab_width
        } else {
            self.shift_width
        };
        level.max(1)
    }

    /// The text that indents by a number of cells.
    pub(crate) fn indent_text(&self, cells: u32) -> String {
        if self.expand_tab {
            return " ".repeat(cells as usize);
        }
        let tab_width = self.tab_width.max(1);
        let tabs = (cells / tab_width) as usize;
        "\t".repeat(tabs) + &" ".repeat((cells % tab_width) as usize)
    }
}

impl Default for VimOptions {
    fn default() -> Self {
        Self::new()
    }
}
