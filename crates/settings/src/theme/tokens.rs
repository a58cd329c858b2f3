//! The colour tokens of a theme.

/// Declares the tokens once: the struct, the list of names, and conversions between them.
macro_rules! colors {
    ($( $(#[doc = $doc:literal])+ $name:ident, )+) => {
        /// One value of type `C` (a colour in some representation) for each colour token of a
        /// theme.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Colors<C> {
            $( $(#[doc = $doc])+ pub $name: C, )+
        }

        /// Name and purpose of each token, in documentation order.
        pub const COLOR_TOKENS: &[(&str, &str)] = &[ $( (stringify!($name), concat!($($doc),+)), )+ ];

        impl<C> Colors<C> {
            /// Builds the set by calling `color` with the name of each token.
            pub fn build(mut color: impl FnMut(&'static str) -> C) -> Self {
                Self { $( $name: color(stringify!($name)), )+ }
            }

            /// Converts every value with `change`.
            pub fn map<D>(self, mut change: impl FnMut(C) -> D) -> Colors<D> {
                Colors { $( $name: change(self.$name), )+ }
            }

            /// Returns the colour with this name of a token; `None` if there is no such token.
            pub fn get(&self, name: &str) -> Option<&C> {
                match name {
                    $( stringify!($name) => Some(&self.$name), )+
                    _ => None,
                }
            }
        }
    };
}

colors! {
    /// Background of the text area and other flat areas.
    surface,
    /// Background of panels, menus and other raised areas.
    raised,
    /// Background of the title bar, the tab bar and fields.
    sunken,
    /// Overlay over the window behind a dialog; needs alpha.
    scrim,
    /// Borders between areas of the window.
    border,
    /// Borders of fields and buttons.
    border_strong,
    /// Focus ring around the focused element.
    focus,
    /// Background of a hovered row or button.
    hover,
    /// Background of the selected row.
    selected,
    /// Default colour of text.
    text,
    /// Colour of secondary text.
    muted,
    /// Colour of disabled text.
    disabled,
    /// Accent colour: the default button, the mark of the active tab.
    accent,
    /// Text on the accent colour.
    accent_text,
    /// Text of links, and matching characters of a query.
    link,
    /// Background of selected text.
    selection,
    /// Background of selected text without the focus.
    selection_inactive,
    /// Background of the line with the caret.
    current_line,
    /// Colour of the caret.
    caret,
    /// Line numbers in the gutter.
    line_number,
    /// Line number of the line with the caret.
    line_number_active,
    /// Indent guides at each level.
    indent_guide,
    /// Indent guide around the caret.
    indent_guide_active,
    /// Marks for spaces and tabs.
    whitespace,
    /// Vertical rulers at configured columns.
    ruler,
    /// Background of the matching bracket.
    bracket_match,
    /// Background of search matches.
    find_match,
    /// Background of the current search match.
    find_match_active,
    /// Background of other occurrences of the selected text, and of the symbol at the caret.
    occurrence,
    /// Background of occurrences of the symbol at the caret that write it.
    occurrence_write,
    /// Background of inlay hints.
    inlay_hint_ground,
    /// Background of the fold placeholder.
    fold,
    /// Handle of a scrollbar.
    scrollbar,
    /// Handle of a hovered scrollbar.
    scrollbar_hover,
    /// Added lines and files.
    added,
    /// Changed lines and files.
    changed,
    /// Removed lines and files.
    removed,
    /// Files with merge conflicts.
    conflict,
    /// Files ignored by version control.
    ignored,
    /// Background of added lines.
    added_ground,
    /// Background of removed lines.
    removed_ground,
    /// Error messages and marks.
    error,
    /// Warning messages and marks.
    warning,
    /// Informational messages and marks.
    info,
    /// Success messages and marks.
    success,
}

/// Highlight kinds that a theme styles; a kind such as `function.method` without a style inherits
/// that of its first part.
pub const SYNTAX_NAMES: &[&str] = &[
    "attribute",
    "boolean",
    "comment",
    "comment.doc",
    "constant",
    "constant.builtin",
    "constructor",
    "diff.added",
    "diff.removed",
    "diff.header",
    "embedded",
    "emphasis",
    "emphasis.strong",
    "emphasis.strikethrough",
    "error",
    "function",
    "function.builtin",
    "function.definition",
    "function.macro",
    "function.method",
    "keyword",
    "keyword.control",
    "keyword.import",
    "keyword.operator",
    "keyword.directive",
    "label",
    "link.text",
    "link.uri",
    "literal",
    "module",
    "number",
    "operator",
    "property",
    "punctuation",
    "punctuation.bracket",
    "punctuation.delimiter",
    "punctuation.special",
    "string",
    "string.escape",
    "string.regex",
    "string.special",
    "tag",
    "title",
    "type",
    "type.builtin",
    "variable",
    "variable.builtin",
    "variable.parameter",
];

/// Returns whether a theme must style this kind, because it has no more general kind.
pub(crate) fn is_required(name: &str) -> bool {
    name.rsplit_once('.')
        .is_none_or(|(general, _)| !SYNTAX_NAMES.contains(&general))
}
