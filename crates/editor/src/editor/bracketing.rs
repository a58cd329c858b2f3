//! The brackets at the caret, searched in the background, because an unclosed one has no partner
//! nearby.

use base::{ByteOffset, Revision, Span};
use gpui_kit::{AppContext as _, Context, Task};

use super::Editor;

/// The pair of brackets at the caret, found in the background, for highlighting.
#[derive(Default)]
pub(crate) struct Brackets {
    /// Result for a text, its tree and an offset; `None` if there is no pair.
    found: Option<(Place, Option<[Span; 2]>)>,
    /// The running search, if any.
    looking: Option<(Place, Task<()>)>,
}

/// Revision of the text, revision of its tree, and an offset.
type Place = (Revision, Option<Revision>, ByteOffset);

impl Brackets {
    /// Returns the spans of both brackets at a caret. Returns `None` if the caret is not at a pair,
    /// or if the search for this revision and caret has not finished.
    pub(crate) fn pair_at(&self, revision: Revision, head: ByteOffset) -> Option<[Span; 2]> {
        let ((known, _, at), pair) = self.found.as_ref()?;
        pair.filter(|_| *known == revision && *at == head)
    }
}

/// Searches for the pair of brackets at a caret in the background, and requests a frame when the
/// result differs. Searches only once for the same offset, text and tree. Does nothing for plain
/// text and large files.
pub(crate) fn look_for_brackets(editor: &mut Editor, head: ByteOffset, cx: &mut Context<Editor>) {
    let Some(syntax) = editor.model.read(cx).syntax().cloned() else {
        return;
    };
    let revision = editor.snapshot.revision();
    let place = (revision, syntax.parsed_revision(), head);
    let is_known = editor
        .brackets
        .found
        .as_ref()
        .is_some_and(|(known, _)| *known == place);
    let is_asked = editor
        .brackets
        .looking
        .as_ref()
        .is_some_and(|(asked, _)| *asked == place);
    if is_known || is_asked {
        return;
    }
    let snapshot = editor.snapshot.clone();
    if !syntax.may_match_bracket(&snapshot, head) {
        editor.brackets = Brackets {
            found: Some((place, None)),
            looking: None,
        };
        return;
    }
    let found = cx.background_spawn(async move {
        let pair = syntax.matching_bracket(&snapshot, head)?;
        Some([pair.open, pair.close])
    });
    let task = cx.spawn(async move |this, cx| {
        let pair = found.await;
        // The view may have been closed.
        this.update(cx, |editor, cx| {
            let revision = place.0;
            let before = editor.brackets.pair_at(revision, head);
            editor.brackets.found = Some((place, pair));
            if pair != before {
                cx.notify();
            }
        })
        .ok();
    });
    editor.brackets.looking = Some((place, task));
}
