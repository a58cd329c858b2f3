//! Makes foreign text safe to display: characters that hide, move or reorder text become visible.
//!
//! Terminals obey control characters, and both terminals and windows obey direction marks, so text
//! from models, commands, servers and files passes through [`printable`] before the user reads it
//! or decides on it.
//! Invariant: the result contains no control character except kept `\n` and `\t`, and no invisible
//! or reordering one.
//! Invariant: text that is already printable is returned unchanged and unallocated.

use std::borrow::Cow;
use std::fmt::Write;

/// The treatment of line feeds by [`printable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFeeds {
    /// Line feeds and tabs stay, for text shown over several lines.
    Keep,
    /// Line feeds and tabs become `␊` and `␉`, for text shown on one line.
    Escape,
}

/// Returns `text` with control, direction and invisible characters replaced by visible ones.
///
/// ASCII control characters become their control pictures (`␛`), the others their code points (`<U+202E>`).
/// A `\r` before a kept `\n` is dropped. Joiners and variation selectors behind a non-ASCII character stay, because
/// emoji and several scripts are written with them.
pub fn printable(text: &str, line_feeds: LineFeeds) -> Cow<'_, str> {
    let Some((start, _)) = text.char_indices().find(|(_, it)| is_suspect(*it)) else {
        return Cow::Borrowed(text);
    };
    let (clean, rest) = text.split_at(start);
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(clean);
    let mut previous = clean.chars().next_back();
    let mut chars = rest.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' | '\t' if line_feeds == LineFeeds::Keep => shown.push(char),
            '\r' if line_feeds == LineFeeds::Keep && chars.peek() == Some(&'\n') => {}
            _ if is_hidden(previous, char) => push_escaped(&mut shown, char),
            _ => shown.push(char),
        }
        previous = Some(char);
    }
    Cow::Owned(shown)
}

/// Returns whether `char` after `previous` is invisible, a control character, or one that reorders
/// text, so that it must be escaped. A joiner within an emoji or a script that needs it is not.
pub(crate) fn is_hidden(previous: Option<char>, char: char) -> bool {
    is_suspect(char) && !(joins(char) && previous.is_some_and(carries_joiner))
}

/// Returns whether `char` may be anything but a visible character that keeps its position.
fn is_suspect(char: char) -> bool {
    char.is_control() || is_format(char) || is_blank_lookalike(char) || joins(char)
}

/// Returns whether `char` is in Unicode category Cf, ignored in display
/// (`Default_Ignorable_Code_Point`), or a line or paragraph separator. Excludes joiners and
/// variation selectors.
fn is_format(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether `char` looks like a blank but is none to a shell, which would disguise how a
/// line is split.
fn is_blank_lookalike(char: char) -> bool {
    matches!(
        char,
        '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{205f}' | '\u{2800}' | '\u{3000}'
    )
}

/// Returns whether `char` is a joiner, a variation selector or the ideographic space: misleading
/// alone, meaningful after a character of its script.
fn joins(char: char) -> bool {
    matches!(
        char,
        '\u{200c}' | '\u{200d}' | '\u{3000}' | '\u{fe00}'..='\u{fe0f}'
    )
}

/// Returns whether a joiner or variation selector (see `joins`) is meaningful after this character.
fn carries_joiner(previous: char) -> bool {
    !previous.is_ascii() && !is_suspect(previous)
        || previous == '\u{fe0f}'
        || matches!(previous, '#' | '*' | '0'..='9')
}

fn push_escaped(shown: &mut String, char: char) {
    match u32::from(char) {
        code @ 0..=0x1f => shown.extend(char::from_u32(0x2400 + code)),
        0x7f => shown.push('\u{2421}'),
        code => write!(shown, "<U+{code:04X}>").unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
