//! The parser of snippets.
//!
//! Invariant: takes time in proportion to the text, whatever it contains.
//! Start at `Snippet::parse`.

use crate::syntax::{Snippet, SnippetPart, StopPart, VariablePart};
use crate::transform::Transform;

/// Maximum depth of nested placeholders; deeper ones are literal text.
const MAX_DEPTH: usize = 32;

impl Snippet {
    /// Parses a snippet. A construct that is not complete, such as `${1:`, is literal text.
    pub fn parse(body: &str) -> Self {
        let mut parser = Parser {
            body,
            at: 0,
            open: Vec::new(),
            parts: Vec::new(),
        };
        parser.run();
        Self {
            parts: parser.finish(),
        }
    }

    /// Returns the snippet that inserts `text` literally.
    pub fn literal(text: &str) -> Self {
        Self {
            parts: vec![SnippetPart::Text(text.to_owned())],
        }
    }
}

struct Parser<'a> {
    body: &'a str,
    /// Offset of the next byte to read.
    at: usize,
    /// Placeholders that are not closed yet, the innermost last.
    open: Vec<OpenPlaceholder>,
    /// The parts of the innermost open placeholder, or of the snippet.
    parts: Vec<SnippetPart>,
}

/// A placeholder `${…:` whose end was not reached yet.
struct OpenPlaceholder {
    /// Offset of its `$`.
    start: usize,
    /// Offset of its default.
    default: usize,
    name: StopName,
    /// The parts before it.
    before: Vec<SnippetPart>,
}

/// The number of a tab stop or the name of a variable.
enum StopName {
    Number(u32),
    Variable(String),
}

impl<'a> Parser<'a> {
    fn remaining(&self) -> &'a str {
        &self.body[self.at..]
    }

    fn run(&mut self) {
        while let Some(ch) = self.remaining().chars().next() {
            match ch {
                '\\' => self.read_escape(),
                '}' if !self.open.is_empty() => self.close(),
                '$' if self.read_stop() => {}
                _ => self.push_text(self.at, self.at + ch.len_utf8()),
            }
        }
    }

    /// Reads a backslash and the character it escapes.
    fn read_escape(&mut self) {
        let is_escaped = matches!(
            self.remaining().as_bytes().get(1),
            Some(b'$' | b'}' | b'\\')
        );
        let start = self.at + usize::from(is_escaped);
        self.push_text(start, start + 1);
    }

    /// Adds the bytes from `start` to `end` as text, and continues behind them.
    fn push_text(&mut self, start: usize, end: usize) {
        let text = &self.body[start..end];
        match self.parts.last_mut() {
            Some(SnippetPart::Text(before)) => before.push_str(text),
            _ => self.parts.push(SnippetPart::Text(text.to_owned())),
        }
        self.at = end;
    }

    /// Reads a tab stop or a variable at a `$`. Returns `false`, and reads nothing, if there is none.
    fn read_stop(&mut self) -> bool {
        let behind = &self.remaining()[1..];
        if let Some((name, len)) = stop_name(behind) {
            self.parts
                .push(name.into_part(Vec::new(), Vec::new(), None));
            self.at += 1 + len;
            return true;
        }
        let Some((name, len)) = behind.strip_prefix('{').and_then(stop_name) else {
            return false;
        };
        self.read_braced(name, self.at + 2 + len)
    }

    /// Reads the part of `${name…` behind the name, which ends at `at`.
    fn read_braced(&mut self, name: StopName, at: usize) -> bool {
        let rest = &self.body[at..];
        match (rest.as_bytes().first(), &name) {
            (Some(b'}'), _) => {
                self.parts
                    .push(name.into_part(Vec::new(), Vec::new(), None));
                self.at = at + 1;
                true
            }
            (Some(b':'), _) if self.open.len() < MAX_DEPTH => {
                self.open.push(OpenPlaceholder {
                    start: self.at,
                    default: at + 1,
                    name,
                    before: std::mem::take(&mut self.parts),
                });
                self.at = at + 1;
                true
            }
            (Some(b'|'), StopName::Number(_)) => {
                let Some((choices, len)) = choices(&rest[1..]) else {
                    return false;
                };
                self.parts.push(name.into_part(Vec::new(), choices, None));
                self.at = at + 1 + len;
                true
            }
            (Some(b'/'), _) => {
                let Some((transform, len)) = Transform::parse(&rest[1..]) else {
                    return false;
                };
                self.parts
                    .push(name.into_part(Vec::new(), Vec::new(), Some(transform)));
                self.at = at + 1 + len;
                true
            }
            _ => false,
        }
    }

    /// Closes the innermost placeholder at a `}`.
    fn close(&mut self) {
        if let Some(placeholder) = self.open.pop() {
            let default = std::mem::replace(&mut self.parts, placeholder.before);
            self.parts
                .push(placeholder.name.into_part(default, Vec::new(), None));
        }
        self.at += 1;
    }

    /// Returns the parts; placeholders without an end become text.
    fn finish(mut self) -> Vec<SnippetPart> {
        while let Some(placeholder) = self.open.pop() {
            let parts = std::mem::replace(&mut self.parts, placeholder.before);
            self.push_text(placeholder.start, placeholder.default);
            self.parts.extend(parts);
        }
        self.parts
    }
}

impl StopName {
    fn into_part(
        self,
        default: Vec<SnippetPart>,
        choices: Vec<String>,
        transform: Option<Transform>,
    ) -> SnippetPart {
        match self {
            Self::Number(number) => SnippetPart::Stop(StopPart {
                number,
                default,
                choices,
                transform,
            }),
            Self::Variable(name) => SnippetPart::Variable(VariablePart {
                name,
                default,
                transform,
            }),
        }
    }
}

/// Reads a number or a name, and returns its length in bytes.
fn stop_name(text: &str) -> Option<(StopName, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        return Some((StopName::Number(text[..digits].parse().ok()?), digits));
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let len = text.bytes().take_while(is_part).count();
    (len > 0).then(|| (StopName::Variable(text[..len].to_owned()), len))
}

/// Reads choices up to and including `|}`, and returns the length read in bytes.
fn choices(text: &str) -> Option<(Vec<String>, usize)> {
    let mut choices = vec![String::new()];
    let mut chars = text.char_indices().peekable();
    while let Some((at, ch)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let last = choices.last_mut()?;
        match (ch, next) {
            ('|', Some('}')) => return Some((choices, at + 2)),
            (',', _) => choices.push(String::new()),
            ('\\', Some(escaped @ (',' | '|' | '\\' | '$' | '}'))) => {
                last.push(escaped);
                chars.next();
            }
            _ => last.push(ch),
        }
    }
    None
}

#[cfg(test)]
mod tests;
