//! Waits: the rest of a mapping, hints about the keys that can follow, the highlight of yanked text.
//!
//! Each wait is a task that the next key drops.

use std::time::Duration;

use base::Span;
use gpui_kit::{Context, Task};

use super::{Editor, run_in_view};

/// Time for which yanked text is highlighted.
const YANKED: Duration = Duration::from_millis(150);

/// Tasks of one key.
#[derive(Default)]
pub(super) struct VimTimers {
    mapping: Option<Task<()>>,
    hints: Option<Task<()>>,
    yanked: Option<Task<()>>,
    /// Whether the keys that can follow are shown.
    pub(super) shows_hints: bool,
}

/// Runs `act` on the view after a time.
fn after(
    wait: Duration,
    act: fn(&mut Editor, &mut Context<Editor>),
    cx: &mut Context<Editor>,
) -> Task<()> {
    cx.spawn(async move |this, cx| {
        cx.background_executor().timer(wait).await;
        // The view may have been closed.
        this.update(cx, act).ok();
    })
}

/// Starts the waits that the state after a key asks for, and ends all others.
pub(super) fn restart(editor: &mut Editor, cx: &mut Context<Editor>) {
    let settings = &editor.settings_source.vim;
    let (hints, wait) = (settings.hints, u64::from(settings.hints_after));
    let Some(view) = &mut editor.vim else {
        return;
    };
    let is_waiting = view.machine.is_waiting();
    let timeout = u64::from(view.globals.borrow().options.timeout);
    let needs_timeout = view.machine.needs_timeout();
    view.timers.mapping =
        needs_timeout.then(|| after(Duration::from_millis(timeout), time_out, cx));
    if !is_waiting || !hints {
        view.timers.shows_hints = false;
        view.timers.hints = None;
    } else if wait == 0 {
        view.timers.shows_hints = true;
    } else if !view.timers.shows_hints {
        view.timers.hints = Some(after(Duration::from_millis(wait), show_hints, cx));
    }
}

/// Ends the wait for the rest of a mapping.
fn time_out(editor: &mut Editor, cx: &mut Context<Editor>) {
    run_in_view(editor, cx, |machine, globals, host| {
        machine.time_out(globals, host)
    });
}

fn show_hints(editor: &mut Editor, cx: &mut Context<Editor>) {
    if let Some(view) = &mut editor.vim {
        view.timers.shows_hints = true;
        cx.notify();
    }
}

/// Highlights yanked text for a moment.
pub(super) fn show_yanked(editor: &mut Editor, spans: Vec<Span>, cx: &mut Context<Editor>) {
    let Some(view) = &mut editor.vim else {
        return;
    };
    view.yanked = spans;
    view.timers.yanked = Some(after(YANKED, hide_yanked, cx));
}

fn hide_yanked(editor: &mut Editor, cx: &mut Context<Editor>) {
    if let Some(view) = &mut editor.vim {
        view.yanked.clear();
        cx.notify();
    }
}
