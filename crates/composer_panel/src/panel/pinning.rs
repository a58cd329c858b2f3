//! Pins items of the transcript, which are then sent again word for word after each compaction.

use agent::SessionCommand;
use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, div,
};
use ui::{ActiveTheme as _, Icon, Label, dp};

use super::ComposerPanel;
use crate::actions::PinMessage;

impl ComposerPanel {
    /// Pins the selected item, or unpins it; without a selection the last item that can be pinned.
    pub fn pin_message(&mut self, _: &PinMessage, _: &mut Window, cx: &mut Context<Self>) {
        let Some(open) = self.addressed_session() else {
            return;
        };
        let transcript = &open.transcript;
        let count = transcript.items().len();
        let at = match open.selected {
            Some(at) => Some(at),
            None => (0..count)
                .rev()
                .find(|at| transcript.pinnable(*at).is_some()),
        };
        let found = at.and_then(|at| Some((transcript.pinnable(at)?, transcript.is_pinned(at))));
        let Some((record, is_pinned)) = found else {
            return self.report_session_problem(
                "Only messages, answers and results of calls that have ended can be pinned: select one in the transcript.",
                cx,
            );
        };
        (open.live.send)(SessionCommand::Pin {
            record,
            is_pinned: !is_pinned,
        });
    }
}

/// Renders the mark of a pinned item.
pub(super) fn mark(at: usize, cx: &Context<ComposerPanel>) -> AnyElement {
    let colors = cx.theme().colors;
    div()
        .id(("agent-pinned", at))
        .role(Role::Status)
        .aria_label("Pinned: sent again after each compaction")
        .test_support()
        .flex()
        .items_center()
        .gap(dp(4.0))
        .px(dp(4.0))
        .child(Icon::Pin.color(colors.accent))
        .child(Label::new("Pinned").tiny().muted())
        .into_any_element()
}
