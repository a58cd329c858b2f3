//! Tests of sessions: moving between tab stops while text changes.

use base::{ByteOffset, Span};
use text::{Buffer, Edit, EditOrigin, SelectionSet, Timestamp};

use crate::{ExpansionOptions, Snippet, SnippetSession};

/// A text with a snippet in it.
struct Typist {
    buffer: Buffer,
    selections: SelectionSet,
    session: Option<SnippetSession>,
}

impl Typist {
    /// Inserts `body` in place of each `|` of `before`.
    fn insert(before: &str, body: &str) -> Self {
        let options = ExpansionOptions {
            indent: "",
            indent_unit: "    ",
            line_ending: "\n",
            variable: &|_| None,
        };
        let expansion = Snippet::parse(body).expand(&options);
        let mut text = String::new();
        let mut expansions = Vec::new();
        for (ix, part) in before.split('|').enumerate() {
            if ix > 0 {
                expansions.push((ByteOffset(text.len()), expansion.clone()));
                text.push_str(&expansion.text);
            }
            text.push_str(part);
        }
        let (selections, session) = SnippetSession::begin(&expansions, 0);
        Self {
            buffer: Buffer::new(&text),
            selections,
            session,
        }
    }

    /// Types a text over the selections.
    fn type_text(&mut self, text: &str) -> &mut Self {
        let spans = self.selections.iter().map(|it| it.span());
        let edits: Vec<Edit> = spans.map(|span| Edit::new(span, text)).collect();
        self.edit(&edits)
    }

    fn edit(&mut self, edits: &[Edit]) -> &mut Self {
        let change = self.buffer.edit(edits, &EditOrigin::user(Timestamp(0)));
        self.selections = self.selections.map(&change);
        if let Some(session) = &mut self.session {
            session.follow(&change);
        }
        self
    }

    fn next(&mut self) -> &mut Self {
        if let Some(session) = &mut self.session {
            let edits = session.transforms(&self.buffer.snapshot());
            self.edit(&edits);
        }
        if let Some(session) = &mut self.session {
            self.selections = session.next_stop();
        }
        self
    }

    fn previous(&mut self) -> &mut Self {
        if let Some(session) = &mut self.session {
            self.selections = session.previous_stop();
        }
        self
    }

    /// Returns the text with its selections in brackets.
    fn marked(&self) -> String {
        let snapshot = self.buffer.snapshot();
        let mut text = snapshot
            .text(Span::new(ByteOffset(0), snapshot.len()))
            .into_owned();
        for selection in self.selections.as_slice().iter().rev() {
            text.insert(selection.end().0, ']');
            text.insert(selection.start().0, '[');
        }
        text
    }
}

fn check(typist: &Typist, expected: &str) {
    assert_eq!(typist.marked(), expected);
}

#[test]
fn stops_are_visited_in_order_and_follow_typing() {
    let mut typist = Typist::insert("a |", "for ${1:i} in ${2:0}..$3 {$0}");
    check(&typist, "a for [i] in 0.. {}");
    typist.type_text("index").next();
    check(&typist, "a for index in [0].. {}");
    typist.next().type_text("10").next();
    check(&typist, "a for index in 0..10 {[]}");
    assert!(typist.session.as_ref().unwrap().is_at_end());
    typist.previous();
    check(&typist, "a for index in 0..[10] {}");
}

#[test]
fn repeated_stops_are_typed_together() {
    let mut typist = Typist::insert("|", "${1:a} $1");
    check(&typist, "[a] [a]");
    typist.type_text("name").next();
    check(&typist, "name name[]");
}

#[test]
fn several_carets_have_one_session() {
    let mut typist = Typist::insert("|, |", "f(${1:x}, $2)");
    check(&typist, "f([x], ), f([x], )");
    typist.type_text("y").next().type_text("z");
    check(&typist, "f(y, z[]), f(y, z[])");
}

#[test]
fn adjacent_and_nested_stops_keep_apart() {
    let mut typist = Typist::insert("|", "$1$2");
    typist.type_text("a").next().type_text("b").previous();
    check(&typist, "[a]b");
    let mut typist = Typist::insert("|", "${1:f($2)}");
    typist.next().type_text("x").previous();
    check(&typist, "[f(x)]");
    let mut typist = Typist::insert("|", "${1:f$2}");
    typist.next().type_text("x").previous();
    check(&typist, "[fx]");
}

#[test]
fn leaving_a_stop_applies_its_transform() {
    let mut typist = Typist::insert("|", "${1:name} ${1/(.*)/${1:/upcase}/}$2");
    typist.type_text("other").next();
    check(&typist, "other OTHER[]");
}

#[test]
fn a_session_ends_outside_of_its_text() {
    let typist = Typist::insert("a | b", "x$1");
    let session = typist.session.unwrap();
    let caret = |at: usize| SelectionSet::single(text::Selection::caret(ByteOffset(at)));
    assert!(session.contains(&caret(3)));
    assert!(!session.contains(&caret(0)));
}

#[test]
fn a_snippet_without_stops_has_no_session() {
    let typist = Typist::insert("|!", "text");
    assert!(typist.session.is_none());
    check(&typist, "text[]!");
}
