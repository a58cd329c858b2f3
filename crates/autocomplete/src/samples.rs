//! Scenes and suggestions for tests.

use base::{AbsPath, ByteOffset, Row, Span};
use syntax::{Budget, SyntaxTree, language_named};
use text::Buffer;

use crate::{Replacement, Scene, Source, Suggestion, SuggestionId};

/// A scene of `text` with the caret at `ˇ`, in a language unless that is empty.
pub(crate) fn scene(language: &str, text: &str) -> Scene {
    let caret = text.find('ˇ').unwrap_or(text.len());
    let buffer = Buffer::new(&text.replacen('ˇ', "", 1));
    scene_of(&buffer, language, ByteOffset(caret))
}

pub(crate) fn scene_of(buffer: &Buffer, language: &str, caret: ByteOffset) -> Scene {
    let snapshot = buffer.snapshot();
    let language = language_named(language);
    let syntax = language.map(|language| {
        language.prepare();
        let mut tree = SyntaxTree::new(language);
        // How well it is settled does not matter here.
        drop(tree.parse(&snapshot, &mut Budget::unlimited()));
        tree.snapshot()
    });
    Scene {
        path: AbsPath::new("/p/a"),
        rows: (Row(0), Row(snapshot.row_count())),
        snapshot,
        syntax,
        language,
        caret,
        indent: "    ".to_owned(),
    }
}

pub(crate) fn offer(scene: &Scene, span: Span, new: &str) -> Suggestion {
    Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: scene.snapshot.revision(),
        edits: vec![Replacement::new(span, new, &scene.snapshot)],
        source: Source::Continuation,
        confidence: 0.5,
    }
}
