//! Expanding selections by the syntax that a source knows, for texts without a syntax tree.
//!
//! Invariant: at most one request is under way. The next command does not wait for it: the text alone
//! then decides how the selections expand.
//! Start at `expand`.

use std::rc::Rc;

use base::{ByteOffset, Revision, Span};
use caret::Command;
use gpui_kit::{AnyWindowHandle, Context, Task, Window};
use text::{SelectionSet, Snapshot};

use super::Editor;

/// A source of the pieces of syntax around offsets, such as a language server.
pub trait SelectionRangeSource {
    /// Requests the spans around each offset of the snapshot, from the smallest to the largest. `None`
    /// if there is no server to ask. Dropping the task cancels the request.
    fn ranges(
        &self,
        snapshot: &Snapshot,
        offsets: Vec<ByteOffset>,
        cx: &mut Context<Editor>,
    ) -> Option<Task<Vec<Vec<Span>>>>;
}

/// The source of a view, with the request under way.
pub(crate) struct SelectionRanges {
    source: Option<Rc<dyn SelectionRangeSource>>,
    request: Option<Task<()>>,
    window: AnyWindowHandle,
}

impl SelectionRanges {
    /// Creates the state of a view in `window`, without a source.
    pub(super) fn new(window: &Window) -> Self {
        Self {
            source: None,
            request: None,
            window: window.window_handle(),
        }
    }
}

/// Sets the source of selection ranges.
pub(super) fn set_source(editor: &mut Editor, source: Option<Rc<dyn SelectionRangeSource>>) {
    editor.selection_ranges.source = source;
    editor.selection_ranges.request = None;
}

/// Starts to expand the selections by the ranges of the source. Returns false if `command` is another
/// one, if the text has a tree, or if no server can be asked.
pub(super) fn expand(editor: &mut Editor, command: &Command, cx: &mut Context<Editor>) -> bool {
    let source = editor.selection_ranges.source.clone();
    let Some(source) = source.filter(|_| *command == Command::ExpandSelection) else {
        return false;
    };
    let syntax = editor.model.read(cx).syntax();
    if syntax.is_some_and(|syntax| syntax.has_tree()) || editor.excerpts.is_some() {
        return false;
    }
    let offsets = editor.selections.iter().map(|it| it.start()).collect();
    let Some(answer) = source.ranges(&editor.snapshot, offsets, cx) else {
        return false;
    };
    let asked = (editor.snapshot.revision(), editor.selections.clone());
    let window = editor.selection_ranges.window;
    editor.selection_ranges.request = Some(cx.spawn(async move |this, cx| {
        let spans = answer.await;
        // The window or the view may have been closed.
        window
            .update(cx, |_, window, cx| {
                this.update(cx, |editor, cx| {
                    take_answer(editor, &asked, &spans, window, cx);
                })
                .ok()
            })
            .ok();
    }));
    true
}

/// Expands the selections without the answer that is under way, before another command.
pub(super) fn expand_without_answer(
    editor: &mut Editor,
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    if editor.selection_ranges.request.take().is_some() {
        expand_within(editor, &[], window, cx);
    }
}

/// Expands the selections by an answer for those of a revision, unless either changed.
fn take_answer(
    editor: &mut Editor,
    asked: &(Revision, SelectionSet),
    spans: &[Vec<Span>],
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    editor.selection_ranges.request = None;
    editor.sync(cx);
    let (revision, selections) = asked;
    if editor.snapshot.revision() == *revision && editor.selections == *selections {
        expand_within(editor, spans, window, cx);
    }
}

fn expand_within(
    editor: &mut Editor,
    spans: &[Vec<Span>],
    window: &mut Window,
    cx: &mut Context<Editor>,
) {
    let plan = editor.plan(|ctx| caret::expand_within(ctx, spans), cx);
    editor.apply(plan, window, cx);
}
