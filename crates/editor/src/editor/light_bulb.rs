//! The light bulb in the gutter, shown while a source offers code actions for the caret.
//!
//! Invariant: at most one request is under way. A move of the caret or an edit cancels it, so that the
//! view never shows an answer about an older text or another selection.
//! Start at `carets_moved`, which every change of the selections calls; `element::light_bulb` draws the
//! bulb.

use std::rc::Rc;

use base::{Revision, Row, Span};
use gpui_kit::{AnyWindowHandle, Context, Task, Window};
use text::Snapshot;

use super::caret_rest::when_caret_rests;
use super::{Editor, folding};

/// A source of code actions, such as a language server.
pub trait CodeActionSource {
    /// Returns whether there are fixes for a span of the snapshot, or refactorings if it is not empty.
    /// Dropping the task cancels the request.
    fn has_actions(&self, snapshot: &Snapshot, span: Span, cx: &mut Context<Editor>) -> Task<bool>;
}

/// The light bulb of a view, with the request that shows or hides it.
pub(crate) struct LightBulb {
    source: Option<Rc<dyn CodeActionSource>>,
    shown: Option<ShownBulb>,
    /// Waits until the caret rests, then for the answer.
    request: Option<Task<()>>,
    window: AnyWindowHandle,
}

/// Place of a shown bulb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShownBulb {
    pub(crate) row: Row,
    pub(crate) column: BulbColumn,
}

/// Column of the gutter with the bulb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BulbColumn {
    /// That of the fold arrows.
    Folds,
    /// That of the line numbers, in a row with a fold arrow: the arrow appears under the pointer, and
    /// the bulb must not move then.
    Numbers,
}

impl LightBulb {
    /// Creates the state of a view in `window`, without a source.
    pub(super) fn new(window: &Window) -> Self {
        Self {
            source: None,
            shown: None,
            request: None,
            window: window.window_handle(),
        }
    }
}

/// Sets the source of code actions, and hides the bulb.
pub(super) fn set_source(editor: &mut Editor, source: Option<Rc<dyn CodeActionSource>>) {
    hide(editor);
    editor.light_bulb.source = source;
}

/// Hides the bulb and cancels the request, such as when the view loses the focus.
pub(super) fn hide(editor: &mut Editor) {
    let bulb = &mut editor.light_bulb;
    (bulb.shown, bulb.request) = (None, None);
}

/// Returns the bulb if it is shown: it stays while the caret moves within its row.
pub(crate) fn shown(editor: &Editor) -> Option<ShownBulb> {
    let is_wanted = |bulb: &ShownBulb| {
        let span = asked_span(editor);
        span.is_some_and(|_| bulb.row == caret_row(editor))
    };
    editor.light_bulb.shown.filter(is_wanted)
}

/// Hides the bulb if the caret left its row, and asks for the caret's present place when it rests.
pub(super) fn carets_moved(editor: &mut Editor, cx: &mut Context<Editor>) {
    editor.light_bulb.request = None;
    if editor.light_bulb.shown.is_some() && shown(editor).is_none() {
        editor.light_bulb.shown = None;
    }
    let source = editor.light_bulb.source.clone();
    if let Some(source) = source.filter(|_| asked_span(editor).is_some()) {
        editor.light_bulb.request = Some(ask_at_rest(source, editor.light_bulb.window, cx));
    }
}

/// Returns the selection; `None` with several, and while text is composed.
fn asked_span(editor: &Editor) -> Option<Span> {
    let is_wanted = editor.settings.light_bulb && editor.excerpts.is_none();
    let is_single = editor.selections.len() == 1 && editor.marked.is_empty();
    (is_wanted && is_single).then(|| editor.selections.primary().span())
}

fn caret_row(editor: &Editor) -> Row {
    let head = editor.selections.primary().head;
    editor.snapshot.point_at(head).row
}

fn ask_at_rest(
    source: Rc<dyn CodeActionSource>,
    window: AnyWindowHandle,
    cx: &Context<Editor>,
) -> Task<()> {
    cx.spawn(async move |this, cx| {
        let asked = when_caret_rests(&this, window, cx, |editor, cx| {
            let span = asked_span(editor)?;
            let answer = source.has_actions(&editor.snapshot, span, cx);
            Some((editor.snapshot.revision(), span, answer))
        });
        let Some((revision, span, answer)) = asked.await.flatten() else {
            return;
        };
        let has_actions = answer.await;
        // The view may have been closed.
        this.update(cx, |editor, cx| {
            take_answer(editor, (revision, span), has_actions, cx);
        })
        .ok();
    })
}

/// Shows or hides the bulb after an answer for a span of a revision, unless either changed.
fn take_answer(
    editor: &mut Editor,
    asked: (Revision, Span),
    has_actions: bool,
    cx: &mut Context<Editor>,
) {
    editor.sync(cx);
    let now = asked_span(editor).map(|span| (editor.snapshot.revision(), span));
    if now != Some(asked) {
        return;
    }
    let shown = has_actions.then(|| {
        let row = caret_row(editor);
        let has_arrow = editor.settings.fold_arrows
            && (folding::fold_starting_at(editor, row).is_some()
                || folding::foldable_at(editor, row, cx).is_some());
        let column = if has_arrow || !editor.settings.fold_arrows {
            BulbColumn::Numbers
        } else {
            BulbColumn::Folds
        };
        ShownBulb { row, column }
    });
    if shown != editor.light_bulb.shown {
        editor.light_bulb.shown = shown;
        cx.notify();
    }
}
