//! Waiting until the caret of a view rests, to ask sources about the symbol at it.

use std::time::Duration;

use gpui_kit::{AnyWindowHandle, AsyncApp, Context, WeakEntity};

use super::Editor;

/// Time for which the caret rests.
const REST: Duration = Duration::from_millis(75);

/// Calls `ask` once the caret has rested; a move of the caret drops this future. `None` if the view
/// was closed or has no focus, since the caret of another view is in use then.
pub(super) async fn when_caret_rests<R>(
    view: &WeakEntity<Editor>,
    window: AnyWindowHandle,
    cx: &mut AsyncApp,
    ask: impl FnOnce(&mut Editor, &mut Context<Editor>) -> R,
) -> Option<R> {
    cx.background_executor().timer(REST).await;
    let asked = window.update(cx, |_, window, cx| {
        view.update(cx, |editor, cx| {
            editor.sync(cx);
            let has_focus = editor.focus.is_focused(window);
            has_focus.then(|| ask(editor, cx))
        })
    });
    asked.ok()?.ok()?
}
