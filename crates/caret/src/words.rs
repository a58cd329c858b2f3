//! What belongs to a word, and where words and their parts begin and end.
//!
//! Must not know: selections. Start at `Words::next` and `Words::previous`.

use base::{ByteOffset, Span};
use text::Snapshot;
use unicode_segmentation::UnicodeSegmentation;

use crate::context::Context;

/// Characters of one class that a motion passes at once; a longer run is gone through in parts.
const LONGEST_RUN: usize = 100_000;

/// What a character is to a word motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Blank,
    LineEnding,
    Word,
    Other,
}

/// Where word motions stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stops {
    /// At words.
    Words,
    /// At the parts of camelCase and snake_case words too.
    Parts,
}

/// The words of a text in some language.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    snapshot: &'a Snapshot,
    extra: &'a str,
}

impl<'a> Words<'a> {
    pub(crate) fn of(ctx: &Context<'a>) -> Self {
        Words {
            snapshot: ctx.snapshot,
            extra: ctx
                .language
                .map_or("", |language| language.config().word_chars),
        }
    }

    pub(crate) fn class(&self, char: char) -> Class {
        match char {
            '\n' | '\r' => Class::LineEnding,
            '_' => Class::Word,
            _ if char.is_whitespace() => Class::Blank,
            _ if char.is_alphanumeric() || self.extra.contains(char) => Class::Word,
            _ => Class::Other,
        }
    }

    /// Where a motion to the right stops: behind the blanks, then behind the run of one class. A
    /// line ending is a stop of its own.
    pub(crate) fn next(&self, from: ByteOffset, stops: Stops) -> ByteOffset {
        let mut at = self.skip_forward(from, Class::Blank);
        let Some(first) = self.snapshot.chars_at(at).next() else {
            return at;
        };
        match self.class(first) {
            Class::LineEnding if at == from => return self.snapshot.next_grapheme(at),
            Class::LineEnding => return at,
            Class::Word if stops == Stops::Parts => at = self.part_end(at),
            class => at = self.skip_forward(at, class),
        }
        self.settle_forward(at)
    }

    /// Where a motion to the left stops.
    pub(crate) fn previous(&self, from: ByteOffset, stops: Stops) -> ByteOffset {
        let at = self.skip_backward(from, Class::Blank);
        let Some(last) = self.snapshot.chars_before(at).next() else {
            return at;
        };
        let class = match self.class(last) {
            // A combining mark belongs to the letter before it.
            Class::Other if is_mark(last) => Class::Word,
            class => class,
        };
        let at = match class {
            Class::LineEnding if at == from => return self.snapshot.previous_grapheme(at),
            Class::LineEnding => return at,
            Class::Word if stops == Stops::Parts => self.part_start(at),
            class => self.skip_backward(at, class),
        };
        self.settle_backward(at)
    }

    /// The run of one class around an offset, the word before it where it stands behind one.
    pub(crate) fn around(&self, offset: ByteOffset) -> Span {
        let after = self
            .snapshot
            .chars_at(offset)
            .next()
            .map(|char| self.class(char));
        let before = self
            .snapshot
            .chars_before(offset)
            .next()
            .map(|char| self.class(char));
        let class = match (before, after) {
            (_, Some(Class::Word)) | (Some(Class::Word), _) => Class::Word,
            (_, Some(class)) if class != Class::LineEnding => class,
            (Some(class), _) if class != Class::LineEnding => class,
            _ => return Span::at(offset),
        };
        let start = self.settle_backward(self.skip_backward(offset, class));
        let end = self.settle_forward(self.skip_forward(offset, class));
        Span::new(start, end)
    }

    /// The word around or right before an offset; empty where there is none.
    pub(crate) fn word_at(&self, offset: ByteOffset) -> Span {
        let span = self.around(offset);
        let is_word = self
            .snapshot
            .chars_at(span.start)
            .next()
            .is_some_and(|char| self.class(char) == Class::Word);
        if is_word { span } else { Span::at(offset) }
    }

    fn skip_forward(&self, from: ByteOffset, class: Class) -> ByteOffset {
        let run = self.snapshot.chars_at(from);
        let len: usize = run
            .take(LONGEST_RUN)
            .take_while(|char| self.continues(*char, class))
            .map(char::len_utf8)
            .sum();
        from + len
    }

    fn skip_backward(&self, from: ByteOffset, class: Class) -> ByteOffset {
        let run = self.snapshot.chars_before(from);
        let len: usize = run
            .take(LONGEST_RUN)
            .take_while(|char| self.continues(*char, class))
            .map(char::len_utf8)
            .sum();
        from - len
    }

    /// Whether a run of one class goes on with a character. Combining marks go on with anything.
    fn continues(&self, char: char, class: Class) -> bool {
        self.class(char) == class || class == Class::Word && is_mark(char)
    }

    /// Where the part of a word that starts at or behind `from` ends.
    fn part_end(&self, from: ByteOffset) -> ByteOffset {
        let mut at = from;
        let mut chars = self.snapshot.chars_at(from).take(LONGEST_RUN).peekable();
        while let Some(char) = chars.next_if(|char| *char == '_') {
            at += char.len_utf8();
        }
        let mut previous: Option<char> = None;
        while let Some(char) = chars.next() {
            if char == '_' || !self.continues(char, Class::Word) {
                break;
            }
            if previous.is_some_and(|previous| is_hump(previous, char, chars.peek().copied())) {
                break;
            }
            at += char.len_utf8();
            previous = Some(char);
        }
        at
    }

    /// Where the part of a word that ends at or before `from` starts.
    fn part_start(&self, from: ByteOffset) -> ByteOffset {
        let mut at = from;
        let mut chars = self
            .snapshot
            .chars_before(from)
            .take(LONGEST_RUN)
            .peekable();
        while let Some(char) = chars.next_if(|char| *char == '_') {
            at -= char.len_utf8();
        }
        let mut following: Option<char> = None;
        while let Some(char) = chars.next() {
            if char == '_' || !self.continues(char, Class::Word) {
                break;
            }
            at -= char.len_utf8();
            if chars
                .peek()
                .is_some_and(|previous| is_hump(*previous, char, following))
            {
                break;
            }
            following = Some(char);
        }
        at
    }

    fn settle_forward(&self, at: ByteOffset) -> ByteOffset {
        match at.0 {
            0 => at,
            // The character before `at` may go on: the border behind it is at or after `at`.
            _ => match self.needs_settling(at) {
                true => self
                    .snapshot
                    .next_grapheme(self.snapshot.previous_grapheme(at))
                    .max(at),
                false => at,
            },
        }
    }

    fn settle_backward(&self, at: ByteOffset) -> ByteOffset {
        match at.0 > 0 && self.needs_settling(at) {
            true => {
                let start = self.snapshot.previous_grapheme(at);
                if self.snapshot.next_grapheme(start) > at {
                    start
                } else {
                    at
                }
            }
            false => at,
        }
    }

    /// Between two ASCII characters is always a border, `\r\n` apart, and word motions leave that alone.
    fn needs_settling(&self, at: ByteOffset) -> bool {
        let before = self.snapshot.chars_before(at).next();
        let after = self.snapshot.chars_at(at).next();
        !(before.is_none_or(|char| char.is_ascii()) && after.is_none_or(|char| char.is_ascii()))
    }
}

/// Whether a part of a camelCase word starts between two characters.
fn is_hump(before: char, after: char, following: Option<char>) -> bool {
    if !after.is_uppercase() {
        return false;
    }
    // `aB`, and the last capital of a run such as the `S` of `HTTPServer`.
    !before.is_uppercase() || following.is_some_and(char::is_lowercase)
}

/// Whether a character combines with the one before it.
fn is_mark(char: char) -> bool {
    if char.is_ascii() || char.is_alphanumeric() {
        return false;
    }
    let mut pair = String::from("a");
    pair.push(char);
    pair.graphemes(true).count() == 1
}

#[cfg(test)]
mod tests;
