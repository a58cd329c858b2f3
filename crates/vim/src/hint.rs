//! Hints: the keys that can follow those of an unfinished command.
//!
//! The tables list what is worth looking up, not every key; a test holds them against the parser. Start at `after`.

use crate::key::Key;

/// A key that can follow, and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHint {
    /// Key in Vim's notation; the remaining keys of a mapping.
    pub keys: String,
    /// Meaning, or the keys that a mapping presses.
    pub label: String,
}

type Table = &'static [(&'static str, &'static str)];

const REGISTERS: Table = &[
    ("+", "clipboard"),
    ("*", "primary selection"),
    ("0", "last yank"),
    ("1", "last deleted lines"),
    ("-", "last small deletion"),
    ("_", "no register"),
    ("/", "last search"),
    (":", "last command line"),
    (".", "last insertion"),
    ("%", "name of the file"),
    ("a", "register a, and so on to z"),
    ("A", "append to register a"),
];

const G: Table = &[
    ("g", "first line"),
    ("e", "end of the previous word"),
    ("E", "end of the previous WORD"),
    ("_", "last character that is no blank"),
    ("j", "down by a row of the view"),
    ("k", "up by a row of the view"),
    ("0", "start of the row of the view"),
    ("$", "end of the row of the view"),
    ("m", "middle of the row of the view"),
    ("*", "next text like the word"),
    ("#", "previous text like the word"),
    (";", "older change"),
    (",", "newer change"),
    ("d", "definition"),
    ("D", "declaration"),
    ("y", "type definition"),
    ("r", "references, rename, actions"),
    ("f", "file at the caret"),
    ("x", "link at the caret"),
    ("O", "symbols"),
    ("v", "select again"),
    ("n", "select the next match"),
    ("N", "select the previous match"),
    ("i", "insert where insert mode ended"),
    ("I", "insert in the first column"),
    ("R", "replace cells"),
    ("u", "make lower case"),
    ("U", "make upper case"),
    ("~", "swap case"),
    ("?", "rot13"),
    ("q", "format"),
    ("w", "format, the caret stays"),
    ("c", "comment"),
    ("J", "join without blanks"),
    ("p", "put, caret behind"),
    ("P", "put before, caret behind"),
    ("&", "repeat the substitution everywhere"),
    ("-", "older text"),
    ("+", "newer text"),
    ("t", "next tab"),
    ("T", "previous tab"),
    ("b", "caret at the next match of the word"),
    ("B", "caret at the previous match of the word"),
    ("a", "code of the character"),
    ("<C-a>", "count up progressively"),
    ("<C-x>", "count down progressively"),
];

const GR: Table = &[
    ("r", "references"),
    ("i", "implementations"),
    ("t", "type definition"),
    ("n", "rename"),
    ("a", "code actions"),
];

const Z: Table = &[
    ("t", "line to the top"),
    ("z", "line to the middle"),
    ("b", "line to the bottom"),
    ("<CR>", "line to the top, first character"),
    (".", "line to the middle, first character"),
    ("-", "line to the bottom, first character"),
    ("s", "caret to the left edge"),
    ("e", "caret to the right edge"),
    ("a", "open or close the fold"),
    ("A", "open or close the fold with inner ones"),
    ("o", "open the fold"),
    ("O", "open the fold with inner ones"),
    ("c", "close the fold"),
    ("C", "close the fold with outer ones"),
    ("R", "open all folds"),
    ("M", "close all folds"),
    ("r", "open one more level"),
    ("m", "close one more level"),
    ("v", "open folds around the caret"),
    ("f", "fold a text"),
    ("F", "fold lines"),
    ("d", "remove the fold"),
    ("j", "next fold"),
    ("k", "end of the previous fold"),
];

const OPEN_BRACKET: Table = &[
    ("(", "unmatched ("),
    ("{", "unmatched {"),
    ("[", "previous section"),
    ("]", "end of the previous section"),
    ("*", "start of the comment"),
    ("z", "start of the fold"),
    ("d", "previous diagnostic"),
    ("c", "previous change"),
    ("q", "previous result"),
    ("b", "previous tab"),
    ("p", "put above with indentation"),
    ("<Space>", "blank line above"),
];

const CLOSE_BRACKET: Table = &[
    (")", "unmatched )"),
    ("}", "unmatched }"),
    ("]", "next section"),
    ("[", "end of the section"),
    ("*", "end of the comment"),
    ("z", "end of the fold"),
    ("d", "next diagnostic"),
    ("c", "next change"),
    ("q", "next result"),
    ("b", "next tab"),
    ("p", "put below with indentation"),
    ("<Space>", "blank line below"),
];

const WINDOW: Table = &[
    ("h", "pane to the left"),
    ("j", "pane below"),
    ("k", "pane above"),
    ("l", "pane to the right"),
    ("w", "next pane"),
    ("p", "previous pane"),
    ("s", "split below"),
    ("v", "split beside"),
    ("q", "close"),
    ("o", "close the others"),
    ("=", "same size for all"),
    ("H", "move to the left"),
    ("J", "move down"),
    ("K", "move up"),
    ("L", "move to the right"),
    ("n", "new tab"),
];

const QUIT: Table = &[("Z", "save and close"), ("Q", "close without saving")];

const OBJECTS: Table = &[
    ("w", "word"),
    ("W", "WORD"),
    ("s", "sentence"),
    ("p", "paragraph"),
    ("(", "( )"),
    ("[", "[ ]"),
    ("{", "{ }"),
    ("<lt>", "< >"),
    ("\"", "\" \""),
    ("'", "' '"),
    ("`", "` `"),
    ("t", "tag"),
    ("a", "argument"),
    ("i", "indentation"),
    ("e", "whole text"),
    ("f", "function"),
    ("c", "class"),
    ("h", "changed hunk"),
];

const OPERANDS: Table = &[
    ("i", "inside an object"),
    ("a", "around an object"),
    ("w", "to the next word"),
    ("e", "to the end of the word"),
    ("b", "back to the start of the word"),
    ("$", "to the end of the line"),
    ("0", "to the start of the line"),
    ("^", "to the first character"),
    ("f", "to a character"),
    ("t", "up to a character"),
    ("/", "to a match"),
    ("j", "this line and the next"),
    ("k", "this line and the previous"),
    ("G", "to the last line"),
    ("}", "to the end of the paragraph"),
    ("%", "to the matching bracket"),
    ("`", "to a mark"),
];

/// Returns the hints after the keys of an unfinished command; none where any character may follow.
pub(crate) fn after(keys: &[Key], is_visual: bool) -> Vec<KeyHint> {
    let hint = |(keys, label): &(&str, &str)| KeyHint {
        keys: (*keys).to_owned(),
        label: (*label).to_owned(),
    };
    table(behind_prefix(keys), is_visual)
        .iter()
        .map(hint)
        .collect()
}

/// The keys behind registers and counts.
fn behind_prefix(keys: &[Key]) -> &[Key] {
    match keys {
        [Key::Char('"'), _, rest @ ..] | [Key::Char('0'..='9'), rest @ ..] => behind_prefix(rest),
        _ => keys,
    }
}

fn table(keys: &[Key], is_visual: bool) -> Table {
    match keys {
        [Key::Char('"')] => REGISTERS,
        [Key::Char('g')] => G,
        [Key::Char('g'), Key::Char('r')] => GR,
        [Key::Char('z')] => Z,
        [Key::Char('[')] => OPEN_BRACKET,
        [Key::Char(']')] => CLOSE_BRACKET,
        [Key::Char('Z')] => QUIT,
        [Key::Ctrl('w')] => WINDOW,
        [Key::Char('i' | 'a')] if is_visual => OBJECTS,
        _ if is_visual => &[],
        [
            Key::Char('d' | 'c' | 'y' | '<' | '>' | '=' | '!'),
            rest @ ..,
        ] => operands(rest),
        [
            Key::Char('g'),
            Key::Char('u' | 'U' | '~' | '?' | 'q' | 'w' | 'c'),
            rest @ ..,
        ] => operands(rest),
        _ => &[],
    }
}

fn operands(keys: &[Key]) -> Table {
    match behind_prefix(keys) {
        [] => OPERANDS,
        [Key::Char('i' | 'a')] => OBJECTS,
        _ => &[],
    }
}

#[cfg(test)]
mod tests;
