//! Line endings that a regular expression names.
//!
//! Invariant: an expression that names no line feed matches none, so that it means the same in one row, in a file of many
//! rows and in a file with the other line ending.

use std::convert::Infallible;
use std::ops::Range;

use regex_syntax::ast::{self, Ast, ClassSetItem, Flag, Flags, GroupKind};
use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
    Repetition,
};

/// The line endings that an expression names, by character (`\n`, `\x0A`) or by the flag `s`.
#[derive(Debug, Default)]
pub(super) struct NamedEndings {
    has_feed: bool,
    has_return: bool,
    /// Bytes of the pattern that match a line feed outside character classes, left to right.
    feeds: Vec<Range<usize>>,
}

impl NamedEndings {
    /// Returns the endings named by `pattern`; none if it cannot be parsed.
    pub(super) fn of(pattern: &str) -> Self {
        let parsed = ast::parse::Parser::new().parse(pattern);
        let named = parsed.map(|ast| ast::visit(&ast, Self::default()));
        match named {
            Ok(Ok(named)) => named,
            Err(_) => Self::default(),
        }
    }

    /// Lets a line feed outside of character classes match `\r\n` too.
    pub(super) fn match_either(&self, pattern: &str) -> String {
        let mut translated = String::with_capacity(pattern.len());
        let mut at = 0;
        for feed in &self.feeds {
            translated.push_str(&pattern[at..feed.start]);
            translated.push_str(r"(?:\r?\n)");
            at = feed.end;
        }
        translated.push_str(&pattern[at..]);
        translated
    }

    /// Removes line endings that the pattern does not name from the classes of `hir`.
    pub(super) fn keep_in_row(&self, hir: Hir) -> Hir {
        match (self.has_feed, self.has_return) {
            (true, true) => hir,
            // `[^\n]` matches all of a row, so it must not match the `\r` of a `\r\n` that ends the
            // row.
            (true, false) => without(&hir, &|has_feed| if has_feed { &[] } else { &['\r'] }),
            (false, true) => without(&hir, &|_| &['\n']),
            (false, false) => without(&hir, &|_| &['\n', '\r']),
        }
    }

    fn take(&mut self, char: char) {
        self.has_feed |= char == '\n';
        self.has_return |= char == '\r';
    }

    fn take_flags(&mut self, flags: &Flags) {
        self.has_feed |= flags.flag_state(Flag::DotMatchesNewLine) == Some(true);
    }
}

impl ast::Visitor for NamedEndings {
    type Output = Self;
    type Err = Infallible;

    fn finish(self) -> Result<Self, Infallible> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        match ast {
            Ast::Literal(literal) => {
                self.take(literal.c);
                if literal.c == '\n' {
                    let span = &literal.span;
                    self.feeds.push(span.start.offset..span.end.offset);
                }
            }
            Ast::Flags(set) => self.take_flags(&set.flags),
            Ast::Group(group) => {
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    self.take_flags(flags);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        match item {
            ClassSetItem::Literal(literal) => self.take(literal.c),
            ClassSetItem::Range(range) => {
                self.take(range.start.c);
                self.take(range.end.c);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The characters, all ASCII, to take out of a class; the argument is whether it holds a line feed.
type ExcludedChars = dyn Fn(bool) -> &'static [char];

/// The same expression without some characters in its classes.
fn without(hir: &Hir, unwanted: &ExcludedChars) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(|part| without(part, unwanted)).collect();
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            let has_feed = |range: &ClassUnicodeRange| range.start() <= '\n' && '\n' <= range.end();
            let chars = unwanted(class.iter().any(has_feed));
            let ranges = chars
                .iter()
                .map(|char| ClassUnicodeRange::new(*char, *char));
            class.difference(&ClassUnicode::new(ranges));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            let has_feed = |range: &ClassBytesRange| range.start() <= b'\n' && b'\n' <= range.end();
            let chars = unwanted(class.iter().any(has_feed));
            let bytes = chars.iter().filter_map(|char| u8::try_from(*char).ok());
            let ranges = bytes.map(|byte| ClassBytesRange::new(byte, byte));
            class.difference(&ClassBytes::new(ranges));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            min: repetition.min,
            max: repetition.max,
            greedy: repetition.greedy,
            sub: Box::new(without(&repetition.sub, unwanted)),
        }),
        HirKind::Capture(capture) => Hir::capture(Capture {
            index: capture.index,
            name: capture.name.clone(),
            sub: Box::new(without(&capture.sub, unwanted)),
        }),
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) => hir.clone(),
    }
}

#[cfg(test)]
mod tests;
