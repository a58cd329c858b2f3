//! What the tests of this crate share, and the tests that take it as a whole.

mod cost;
mod edited;
mod robustness;
mod samples;
mod trace;

use base::{ByteOffset, Span};
use text::{Buffer, Snapshot};

use crate::{Budget, ParseStatus, SyntaxSnapshot, SyntaxTree, language_named};

pub(crate) use edited::{Edited, random_seed};
pub(crate) use samples::{SAMPLES, sample};

/// A parsed text with carets `ˇ` and selections `«…»` taken out.
pub(crate) struct Marked {
    pub(crate) text: Snapshot,
    pub(crate) syntax: SyntaxSnapshot,
    /// The places of `ˇ`.
    pub(crate) carets: Vec<ByteOffset>,
    /// The places of `«…»`.
    pub(crate) spans: Vec<Span>,
}

impl Marked {
    /// Parses `marked` in a language; `plain` means no language.
    pub(crate) fn new(language: &str, marked: &str) -> Marked {
        let (plain, carets, spans) = unmark(marked);
        let text = Snapshot::new(&plain);
        Marked {
            syntax: parsed(language, &text).snapshot(),
            text,
            carets,
            spans,
        }
    }

    pub(crate) fn caret(&self) -> ByteOffset {
        self.carets[0]
    }

    /// The caret or selection.
    pub(crate) fn span(&self) -> Span {
        self.spans
            .first()
            .copied()
            .unwrap_or_else(|| Span::at(self.carets[0]))
    }
}

/// A tree of a text, parsed to its end.
pub(crate) fn parsed(language: &str, text: &Snapshot) -> SyntaxTree {
    let language = language_named(language).expect("a known language");
    let mut tree = SyntaxTree::new(language);
    parse_all(&mut tree, text);
    tree
}

/// Parses to the end, and says whether the tree is settled.
pub(crate) fn parse_all(tree: &mut SyntaxTree, text: &Snapshot) -> bool {
    tree.language().prepare();
    match tree.parse(text, &mut Budget::unlimited()) {
        ParseStatus::Done => true,
        ParseStatus::Unsettled => false,
        other => panic!("an unlimited parse ended as {other:?}"),
    }
}

/// A text and the marks that were in it.
pub(crate) fn unmark(marked: &str) -> (String, Vec<ByteOffset>, Vec<Span>) {
    let (mut plain, mut carets, mut spans, mut start) = (String::new(), Vec::new(), Vec::new(), 0);
    for c in marked.chars() {
        match c {
            'ˇ' => carets.push(ByteOffset(plain.len())),
            '«' => start = plain.len(),
            '»' => spans.push(Span::from(start..plain.len())),
            c => plain.push(c),
        }
    }
    (plain, carets, spans)
}

/// A text with spans marked as `«…»`.
pub(crate) fn mark(text: &str, spans: &[Span]) -> String {
    let mut marks: Vec<(usize, char)> = Vec::new();
    for span in spans {
        marks.push((span.start.0, '«'));
        marks.push((span.end.0, '»'));
    }
    marks.sort_by_key(|mark| mark.0);
    let mut marked = String::new();
    let mut at = 0;
    for (offset, c) in marks {
        marked.push_str(&text[at..offset]);
        marked.push(c);
        at = offset;
    }
    marked + &text[at..]
}

/// A buffer with a text.
pub(crate) fn buffer(text: &str) -> Buffer {
    Buffer::new(text)
}
