//! The names that every theme gives a colour.

/// Declares the colours once: the struct, the list of names, and the ways to build one from the other.
macro_rules! colors {
    ($( $(#[doc = $doc:literal])+ $name:ident, )+) => {
        /// Colours by meaning, in whatever form the reader needs them.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Colors<C> {
            $( $(#[doc = $doc])+ pub $name: C, )+
        }

        /// The name of each colour and what it is for, in the order of the manual.
        pub const COLOR_TOKENS: &[(&str, &str)] = &[ $( (stringify!($name), concat!($($doc),+)), )+ ];

        impl<C> Colors<C> {
            /// Asks for each colour by its name.
            pub fn build(mut color: impl FnMut(&'static str) -> C) -> Self {
                Self { $( $name: color(stringify!($name)), )+ }
            }

            /// The same colours in another form.
            pub fn map<D>(self, mut change: impl FnMut(C) -> D) -> Colors<D> {
                Colors { $( $name: change(self.$name), )+ }
            }

            /// The colour of that name.
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
    /// Ground of the text area and of whatever lies flat.
    surface,
    /// Ground of panels, menus and other things above the surface.
    raised,
    /// Ground of the title bar, the tab bar, and fields.
    sunken,
    /// Laid over the window behind a dialog; needs alpha.
    scrim,
    /// Lines between things.
    border,
    /// Lines around fields and buttons.
    border_strong,
    /// The ring around what has the keyboard.
    focus,
    /// Ground of a row or button under the pointer.
    hover,
    /// Ground of the chosen row.
    selected,
    /// Letters.
    text,
    /// Letters of less weight.
    muted,
    /// Letters of what cannot be used now.
    disabled,
    /// The one colour that draws the eye: the main button, the active tab's mark.
    accent,
    /// Letters on the accent.
    accent_text,
    /// Letters of a link, and letters that match a query.
    link,
    /// Ground of selected text.
    selection,
    /// Ground of selected text without the keyboard.
    selection_inactive,
    /// Ground of the line with the caret.
    current_line,
    /// The caret.
    caret,
    /// Numbers in the gutter.
    line_number,
    /// The number of the line with the caret.
    line_number_active,
    /// Lines at each step of indentation.
    indent_guide,
    /// The one around the caret.
    indent_guide_active,
    /// Marks for spaces and tabs.
    whitespace,
    /// Vertical lines at chosen columns.
    ruler,
    /// Ground of a bracket's partner.
    bracket_match,
    /// Ground of what was found.
    find_match,
    /// Ground of the match one stands at.
    find_match_active,
    /// Ground of other places with the selected text.
    occurrence,
    /// Ground of the sign for folded text.
    fold,
    /// The handle of a scrollbar.
    scrollbar,
    /// The same under the pointer.
    scrollbar_hover,
    /// Added lines and files.
    added,
    /// Changed lines and files.
    changed,
    /// Removed lines and files.
    removed,
    /// Files with conflicts.
    conflict,
    /// Files that version control ignores.
    ignored,
    /// Ground of added lines.
    added_ground,
    /// Ground of removed lines.
    removed_ground,
    /// Something went wrong.
    error,
    /// Something may go wrong.
    warning,
    /// Something to know.
    info,
    /// Something went well.
    success,
}

/// The kinds of syntax that a theme gives a style, which are the highlighter's; a kind such as
/// `function.method` that a theme leaves out looks like its first part.
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

/// Whether a theme must style this kind itself, having no more general kind to take it from.
pub(crate) fn stands_alone(name: &str) -> bool {
    name.rsplit_once('.')
        .is_none_or(|(general, _)| !SYNTAX_NAMES.contains(&general))
}
