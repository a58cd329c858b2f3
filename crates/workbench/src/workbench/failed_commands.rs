//! Failed commands of terminals in prompts for agents.
//!
//! Invariant: nothing is sent by itself; the user sees the prompt with the quote of the command, and sends it.
//! Start at `ask_agent`.

use composer_panel::DraftMode;
use gpui_kit::{Context, Window};
use terminal_panel::actions::{ExplainLastFailure, FixLastFailure};
use terminal_panel::{FailedCommand, FailureRequest};

use super::{Workbench, agent_terminals, agents, mentions};

/// Key of the notices of this module.
const NOTICE: &str = "failed-commands";

/// Handler of an action, for a window whose terminal does not have the focus.
pub(super) fn explain_last_failure(
    workbench: &mut Workbench,
    _: &ExplainLastFailure,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    ask_about_last(workbench, FailureRequest::Explain, window, cx);
}

/// Handler of an action, as `explain_last_failure`.
pub(super) fn fix_last_failure(
    workbench: &mut Workbench,
    _: &FixLastFailure,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    ask_about_last(workbench, FailureRequest::Fix, window, cx);
}

fn ask_about_last(
    workbench: &mut Workbench,
    request: FailureRequest,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let dock = workbench.terminals.panel();
    let failed = dock.and_then(|dock| dock.read(cx).last_failure(cx));
    match failed {
        Some(failed) => ask_agent(workbench, request, &failed, window, cx),
        None => workbench.tell(NOTICE, "No command failed in a terminal.", window, cx),
    }
}

/// Shows the panel with a new session whose prompt asks about a failed command.
pub(super) fn ask_agent(
    workbench: &mut Workbench,
    request: FailureRequest,
    failed: &FailedCommand,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if workbench.agents.panel.read(cx).service().is_none() {
        return workbench.tell(NOTICE, "This window has no agents.", window, cx);
    }
    agent_terminals::keep_quote(workbench, failed.id.clone(), failed.quote.clone(), cx);
    let name = mentions::terminal_name(&failed.command, &failed.id);
    let (sentence, mode) = match request {
        FailureRequest::Explain => ("Explain why this command failed.", DraftMode::Ask),
        FailureRequest::Fix => (
            "Find out why this command failed and fix it.",
            DraftMode::Chosen,
        ),
    };
    agents::show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.draft_with_mention(sentence, &name, mode, window, cx);
    });
}
