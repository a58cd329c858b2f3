//! Boundaries of words and their parts.
//!
//! Must not know: selections. Start at `WordScanner::next` and `WordScanner::previous`.

use base::{ByteOffset, Span};
use text::Snapshot;
use unicode_segmentation::UnicodeSegmentation;

use crate::context::CommandContext;

/// Maximum run of one class that a motion passes at once; a longer run is passed in parts.
const LONGEST_RUN: usize = 100_000;

/// Class of a character for word motions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharClass {
    Blank,
    LineEnding,
    Word,
    Other,
}

/// Stops of word motions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordStops {
    /// At word boundaries only.
    Words,
    /// Also at the parts of camelCase and snake_case words.
    Parts,
}

/// Finds word boundaries in a text, by the word characters of its language.
#[derive(Clone, Copy)]
pub(crate) struct WordScanner<'a> {
    snapshot: &'a Snapshot,
    extra: &'a str,
}

impl<'a> WordScanner<'a> {
    /// Creates a scanner for the text and the language of a context.
    pub(crate) fn of(ctx: &CommandContext<'a>) -> Self {
        WordScanner {
            snapshot: ctx.snapshot,
            extra: ctx
                .language
                .map_or("", |language| language.config().word_chars),
        }
    }

    /// Returns the class of a character. The language may define further word characters.
    pub(crate) fn class(&self, char: char) -> CharClass {
        match char {
            '\n' | '\r' => CharClass::LineEnding,
            '_' => CharClass::Word,
            _ if char.is_whitespace() => CharClass::Blank,
            _ if char.is_alphanumeric() || self.extra.contains(char) => CharClass::Word,
            _ => CharClass::Other,
        }
    }

    /// Returns the stop of a motion to the right: after the blanks, then after the run of one
    /// class. A line ending is its own stop.
    pub(crate) fn next(&self, from: ByteOffset, stops: WordStops) -> ByteOffset {
        let mut at = self.skip_forward(from, CharClass::Blank);
        let Some(first) = self.snapshot.chars_at(at).next() else {
            return at;
        };
        match self.class(first) {
            CharClass::LineEnding if at == from => return self.snapshot.next_grapheme(at),
            CharClass::LineEnding => return at,
            CharClass::Word if stops == WordStops::Parts => at = self.part_end(at),
            class => at = self.skip_forward(at, class),
        }
        self.settle_forward(at)
    }

    /// Returns the offset at which a word motion to the left stops: after skipping blanks and then
    /// a run of characters of one class. The motion also stops at every line ending. At the start
    /// of the text, returns 0.
    pub(crate) fn previous(&self, from: ByteOffset, stops: WordStops) -> ByteOffset {
        let at = self.skip_backward(from, CharClass::Blank);
        let Some(last) = self.snapshot.chars_before(at).next() else {
            return at;
        };
        let class = match self.class(last) {
            // A combining mark belongs to the letter before it.
            CharClass::Other if is_mark(last) => CharClass::Word,
            class => class,
        };
        let at = match class {
            CharClass::LineEnding if at == from => return self.snapshot.previous_grapheme(at),
            CharClass::LineEnding => return at,
            CharClass::Word if stops == WordStops::Parts => self.part_start(at),
            class => self.skip_backward(at, class),
        };
        self.settle_backward(at)
    }

    /// Returns the run of characters of one class around an offset, preferring a word that begins
    /// or ends there. Between line endings, returns an empty span.
    pub(crate) fn run_around(&self, offset: ByteOffset) -> Span {
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
            (_, Some(CharClass::Word)) | (Some(CharClass::Word), _) => CharClass::Word,
            (_, Some(class)) if class != CharClass::LineEnding => class,
            (Some(class), _) if class != CharClass::LineEnding => class,
            _ => return Span::at(offset),
        };
        let start = self.settle_backward(self.skip_backward(offset, class));
        let end = self.settle_forward(self.skip_forward(offset, class));
        Span::new(start, end)
    }

    /// Returns the word around or right before an offset. Without a word there, returns an empty
    /// span at the offset.
    pub(crate) fn word_at(&self, offset: ByteOffset) -> Span {
        let span = self.run_around(offset);
        let is_word = self
            .snapshot
            .chars_at(span.start)
            .next()
            .is_some_and(|char| self.class(char) == CharClass::Word);
        if is_word { span } else { Span::at(offset) }
    }

    fn skip_forward(&self, from: ByteOffset, class: CharClass) -> ByteOffset {
        let run = self.snapshot.chars_at(from);
        let len: usize = run
            .take(LONGEST_RUN)
            .take_while(|char| self.continues(*char, class))
            .map(char::len_utf8)
            .sum();
        from + len
    }

    fn skip_backward(&self, from: ByteOffset, class: CharClass) -> ByteOffset {
        let run = self.snapshot.chars_before(from);
        let len: usize = run
            .take(LONGEST_RUN)
            .take_while(|char| self.continues(*char, class))
            .map(char::len_utf8)
            .sum();
        from - len
    }

    /// Returns whether a character continues a run of one class. Combining marks continue any run.
    fn continues(&self, char: char, class: CharClass) -> bool {
        self.class(char) == class || class == CharClass::Word && is_mark(char)
    }

    /// Returns the end of the word part that starts at or after `from`.
    fn part_end(&self, from: ByteOffset) -> ByteOffset {
        let mut at = from;
        let mut chars = self.snapshot.chars_at(from).take(LONGEST_RUN).peekable();
        while let Some(char) = chars.next_if(|char| *char == '_') {
            at += char.len_utf8();
        }
        let mut previous: Option<char> = None;
        while let Some(char) = chars.next() {
            if char == '_' || !self.continues(char, CharClass::Word) {
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

    /// Returns the start of the word part that ends at or before `from`.
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
            if char == '_' || !self.continues(char, CharClass::Word) {
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
            // The grapheme before `at` may extend beyond it; its end is at or after `at`.
            _ => {
                if self.needs_settling(at) {
                    self.snapshot
                        .next_grapheme(self.snapshot.previous_grapheme(at))
                        .max(at)
                } else {
                    at
                }
            }
        }
    }

    fn settle_backward(&self, at: ByteOffset) -> ByteOffset {
        if at.0 > 0 && self.needs_settling(at) {
            let start = self.snapshot.previous_grapheme(at);
            if self.snapshot.next_grapheme(start) > at {
                start
            } else {
                at
            }
        } else {
            at
        }
    }

    /// Returns whether an offset may not be a border. Between two ASCII characters there is always
    /// one, except `\r\n`, which word motions never split.
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
