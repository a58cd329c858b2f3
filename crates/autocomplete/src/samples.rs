//! Editor states and suggestions for tests.

use base::{AbsPath, ByteOffset, Row, Span};
use syntax::{Budget, SyntaxTree, language_named};
use text::Buffer;

use crate::{EditorState, SuggestedEdit, Suggestion, SuggestionId, SuggestionSource};

/// Returns an editor state of `text` with the caret at `ˇ`; an empty `language` means plain text.
pub(crate) fn state(language: &str, text: &str) -> EditorState {
    let caret = text.find('ˇ').unwrap_or(text.len());
    let buffer = Buffer::new(&text.replacen('ˇ', "", 1));
    state_of(&buffer, language, ByteOffset(caret))
}

/// Returns an editor state of a buffer, parsed if `language` is known, with all rows visible.
pub(crate) fn state_of(buffer: &Buffer, language: &str, caret: ByteOffset) -> EditorState {
    let snapshot = buffer.snapshot();
    let language = language_named(language);
    let syntax = language.map(|language| {
        language.prepare();
        let mut tree = SyntaxTree::new(language);
        // The result of the parse does not matter here.
        drop(tree.parse(&snapshot, &mut Budget::unlimited()));
        tree.snapshot()
    });
    EditorState {
        path: AbsPath::new("/p/a"),
        rows: (Row(0), Row(snapshot.row_count())),
        snapshot,
        syntax,
        language,
        caret,
        indent: "    ".to_owned(),
    }
}

/// Returns a suggestion that replaces `span` of the state's text by `new`.
pub(crate) fn suggestion(state: &EditorState, span: Span, new: &str) -> Suggestion {
    Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: state.snapshot.revision(),
        edits: vec![SuggestedEdit::new(span, new, &state.snapshot)],
        source: SuggestionSource::Continuation,
        confidence: 0.5,
    }
}
