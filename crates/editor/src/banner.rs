//! Banner above a text that reports a problem of its document and offers actions.

use gpui_kit::{AnyElement, Context, IntoElement as _, ParentElement as _};
use project::DocumentState;
use ui::{Banner, Button, ButtonStyle, Tone};

use crate::editor::Editor;

/// Returns the banner above the text for a document that is in conflict, deleted, read-only or
/// large. Returns `None` in all other states.
pub(crate) fn of(editor: &Editor, cx: &Context<Editor>) -> Option<AnyElement> {
    let document = editor.model.read(cx).document();
    match document.state() {
        DocumentState::Conflict => Some(conflict(editor, cx)),
        DocumentState::DeletedOnDisk => {
            let text = "This file was deleted from disk. Save to restore it from this text.";
            Some(Banner::new("deleted", Tone::Warning, text).into_any_element())
        }
        DocumentState::ReadOnly(reason) => {
            let text = format!("Read-only: {reason}");
            Some(Banner::new("read-only", Tone::Info, text).into_any_element())
        }
        _ if document.is_large() => {
            let text = "This file is large: colours, folds and brackets are off.";
            Some(Banner::new("large", Tone::Info, text).into_any_element())
        }
        DocumentState::Untitled | DocumentState::Clean | DocumentState::Dirty => None,
    }
}

fn conflict(editor: &Editor, cx: &Context<Editor>) -> AnyElement {
    let document = editor.model.read(cx).document();
    let has_theirs = document
        .conflict()
        .is_some_and(|conflict| conflict.theirs.is_some());
    let text = if has_theirs {
        "Both the file on disk and this text have changed."
    } else {
        "The file on disk has changed and is no longer text."
    };
    let model = editor.model.clone();
    let keep = Button::new("keep-mine", "Keep mine").on_click({
        let model = model.clone();
        move |_, _, cx| model.update(cx, |model, cx| model.keep_mine(cx))
    });
    let mut banner = Banner::new("conflict", Tone::Warning, text);
    if has_theirs {
        let (label, comparing) = if editor.comparison.is_shown {
            ("Back to the text", false)
        } else {
            ("Compare", true)
        };
        let compare = Button::new("compare", label)
            .style(ButtonStyle::Primary)
            .on_click(cx.listener(move |editor, _, _, cx| editor.set_comparing(comparing, cx)));
        let take = Button::new("take-theirs", "Reload from disk")
            .on_click(move |_, _, cx| model.update(cx, |model, cx| model.take_theirs(cx)));
        banner = banner.child(compare).child(take);
    }
    banner.child(keep).into_any_element()
}
