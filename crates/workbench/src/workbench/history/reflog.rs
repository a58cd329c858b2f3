//! The reflog as a list of states to which the user returns: each with what it brings back and what is lost.

use git_history::actions::git::ShowReflog;
use git_history::state_effect;
use git_program::ReflogState;
use gpui_kit::{Context, Window};
use ui::ButtonStyle;

use super::{NOTICE, carry_out, now, service_or_tell};
use crate::pickers::choices::repositories;
use crate::question::QuestionSpec;
use crate::workbench::Workbench;

/// Shows the former states of HEAD to choose from.
pub(super) fn show(
    workbench: &mut Workbench,
    _: &ShowReflog,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(service) = service_or_tell(workbench, window, cx) else {
        return;
    };
    let states = service.reflog_states();
    cx.spawn_in(window, async move |this, cx| {
        let states = states.await;
        let shown = this.update_in(cx, |this, window, cx| match states {
            Ok(states) if states.is_empty() => {
                this.tell(NOTICE, "There is no former state", window, cx);
            }
            Ok(states) => pick(this, states, window, cx),
            Err(error) => this.report_error(base::sentence(&error.to_string()), window, cx),
        });
        // The window may be gone by then.
        shown.ok();
    })
    .detach();
}

fn pick(
    workbench: &mut Workbench,
    states: Vec<ReflogState>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let this = cx.weak_entity();
    let items = states.clone();
    let picker = repositories::reflog_states(&items, now(workbench), move |index, window, cx| {
        let Some(state) = states.get(index).cloned() else {
            return;
        };
        let this = this.clone();
        // After this list has closed: a question follows.
        window.defer(cx, move |window, cx| {
            // The window may be closing.
            this.update(cx, |this, cx| ask(this, state, window, cx))
                .ok();
        });
    });
    workbench.pick(picker, window, cx);
}

/// Asks whether to return to a state, and returns to it.
fn ask(
    workbench: &mut Workbench,
    state: ReflogState,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let command = state.plan.step.arguments().join(" ");
    let spec = QuestionSpec {
        title: format!(
            "Return to the state after \u{201c}{}\u{201d}?",
            state.entry.description
        )
        .into(),
        detail: format!("{}\nThis runs: git {command}", state_effect(&state)).into(),
        answers: vec![
            ("Return".into(), ButtonStyle::Primary),
            ("Cancel".into(), ButtonStyle::Plain),
        ],
        safest: 1,
    };
    let answer = workbench.ask(spec, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        if let Ok(0) = answer.await {
            let started = this.update_in(cx, |this, window, cx| {
                carry_out(this, state.plan, "The former state is restored", window, cx);
            });
            // The window may be gone by then.
            started.ok();
        }
    })
    .detach();
}
