//! Lines for a shell, into which values are inserted as one word each.
//!
//! `ShellLine` follows the quotes of the line as the shell reads them. Where it cannot follow them, only values without
//! special characters are inserted.
//! Invariant: a value of `ValueOrigin::Project` never ends a word, a quote or a command.
//! Start at `ShellLine::push_template`.

use crate::context::TaskContext;
use crate::definition::TaskDialect;
use crate::error::VariableError;
use crate::template::{TemplatePiece, ValueOrigin, pieces, value_of};

/// Shells with equal rules for quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellFamily {
    /// `sh`, bash, zsh and their relatives.
    Posix,
    /// fish, which has escapes within single quotes.
    Fish,
    /// Others: only values without special characters are inserted.
    Other,
}

impl ShellFamily {
    /// Returns the family of a program by its name.
    pub(crate) fn of(program: &str) -> Self {
        let name = program.rsplit('/').next().unwrap_or(program);
        match name {
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "busybox" | "yash" => {
                Self::Posix
            }
            "fish" => Self::Fish,
            _ => Self::Other,
        }
    }
}

/// The state of the quotes at the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuoteState {
    Bare,
    Single,
    Double,
    /// Within a construct that is not followed, up to the end of the line.
    Opaque,
}

/// A line of a shell under construction.
pub(crate) struct ShellLine {
    family: ShellFamily,
    text: String,
    state: QuoteState,
    /// Whether a backslash escapes the next character.
    is_escaped: bool,
    /// The character before, unless it was escaped or is of a value.
    last: Option<char>,
}

impl ShellLine {
    /// Creates an empty line.
    pub(crate) fn new(family: ShellFamily) -> Self {
        Self {
            family,
            text: String::new(),
            state: QuoteState::Bare,
            is_escaped: false,
            last: None,
        }
    }

    /// Returns the text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Appends a template with its values.
    pub(crate) fn push_template(
        &mut self,
        template: &str,
        dialect: TaskDialect,
        context: &TaskContext,
    ) -> Result<(), VariableError> {
        for piece in pieces(template, dialect) {
            match piece {
                TemplatePiece::Text(text) => self.push_text(text),
                TemplatePiece::Variable(variable) => {
                    let (value, origin) = value_of(&variable, context)?;
                    self.push_value(&value, origin)
                        .ok_or_else(|| VariableError::Unquotable(variable.written.to_owned()))?;
                }
            }
        }
        Ok(())
    }

    /// Appends a template as one word within double quotes: the shell inserts its variables, and nothing else is
    /// special.
    pub(crate) fn push_weak(
        &mut self,
        template: &str,
        dialect: TaskDialect,
        context: &TaskContext,
    ) -> Result<(), VariableError> {
        self.push_text("\"");
        for piece in pieces(template, dialect) {
            match piece {
                TemplatePiece::Text(text) => {
                    for letter in text.chars() {
                        if matches!(letter, '"' | '\\' | '`') {
                            self.push_text("\\");
                        }
                        self.push_char(letter);
                    }
                }
                TemplatePiece::Variable(variable) => {
                    let (value, origin) = value_of(&variable, context)?;
                    self.push_value(&value, origin)
                        .ok_or_else(|| VariableError::Unquotable(variable.written.to_owned()))?;
                }
            }
        }
        self.push_text("\"");
        Ok(())
    }

    /// Appends a value as one word of its own.
    pub(crate) fn push_word(&mut self, value: &str) -> Option<()> {
        self.push_value(value, ValueOrigin::Project)
    }

    /// Appends text as it is.
    pub(crate) fn push_text(&mut self, text: &str) {
        text.chars().for_each(|letter| self.push_char(letter));
    }

    fn push_char(&mut self, letter: char) {
        self.text.push(letter);
        if std::mem::take(&mut self.is_escaped) {
            self.last = None;
            return;
        }
        self.state = match self.state {
            QuoteState::Bare => self.after_bare(letter),
            QuoteState::Single if self.family == ShellFamily::Fish && letter == '\\' => {
                self.is_escaped = true;
                QuoteState::Single
            }
            QuoteState::Single if letter == '\'' => QuoteState::Bare,
            QuoteState::Double => self.after_double(letter),
            state @ (QuoteState::Single | QuoteState::Opaque) => state,
        };
        self.last = Some(letter);
    }

    fn after_bare(&mut self, letter: char) -> QuoteState {
        let begins_word = self
            .last
            .is_none_or(|last| last.is_whitespace() || matches!(last, ';' | '&' | '|' | '('));
        match (letter, self.last) {
            // `$'…'`, `$(`, `<(`, `>(`, `((`, `[[` and here-documents.
            ('\'' | '(', Some('$'))
            | ('(', Some('<' | '>' | '('))
            | ('[', Some('['))
            | ('<', Some('<'))
            | ('`', _) => QuoteState::Opaque,
            ('#', _) if begins_word => QuoteState::Opaque,
            ('\'', _) => QuoteState::Single,
            ('"', _) => QuoteState::Double,
            ('\\', _) => {
                self.is_escaped = true;
                QuoteState::Bare
            }
            _ => QuoteState::Bare,
        }
    }

    fn after_double(&mut self, letter: char) -> QuoteState {
        match (letter, self.last) {
            ('"', _) => QuoteState::Bare,
            ('`', _) | ('(' | '{', Some('$')) => QuoteState::Opaque,
            ('\\', _) => {
                self.is_escaped = true;
                QuoteState::Double
            }
            _ => QuoteState::Double,
        }
    }

    /// Appends a value; `None` if it cannot be quoted here.
    fn push_value(&mut self, value: &str, origin: ValueOrigin) -> Option<()> {
        let is_plain = !value.is_empty() && value.chars().all(is_plain);
        let is_typed = origin == ValueOrigin::Typed && self.state == QuoteState::Bare;
        let follows_sign = self.is_escaped || self.last == Some('$');
        if is_plain && !follows_sign || is_typed {
            self.text.push_str(value);
        } else {
            let is_followed = self.state != QuoteState::Opaque && !follows_sign;
            if !is_followed || self.family == ShellFamily::Other || value.contains('\0') {
                return None;
            }
            let quoted = self.quoted(value);
            self.text.push_str(&quoted);
        }
        self.last = Some('a');
        Some(())
    }

    /// Returns a value with the quotes or escapes that the state needs.
    fn quoted(&self, value: &str) -> String {
        let is_fish = self.family == ShellFamily::Fish;
        let single = |value: &str| {
            if is_fish {
                value.replace('\\', "\\\\").replace('\'', "\\'")
            } else {
                value.replace('\'', "'\\''")
            }
        };
        match self.state {
            QuoteState::Bare | QuoteState::Opaque => format!("'{}'", single(value)),
            QuoteState::Single => single(value),
            QuoteState::Double => {
                let mut quoted = String::with_capacity(value.len());
                for letter in value.chars() {
                    let is_special = matches!(letter, '"' | '\\' | '$' | '`');
                    if is_special && !(is_fish && letter == '`') {
                        quoted.push('\\');
                    }
                    quoted.push(letter);
                }
                quoted
            }
        }
    }
}

/// Returns whether a character has no meaning for any shell.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ':' | '@' | '+')
}

#[cfg(test)]
mod tests;
