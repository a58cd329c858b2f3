//! The line below the prompt: the meter of the context, the cost, and the list of what fills the
//! context.

use agent::SessionCommand;
use gpui_kit::base::ObservedElement;
use gpui_kit::{
    AnyElement, Context, Div, FocusHandle, InteractiveElement as _, IntoElement as _,
    ParentElement as _, Role, Stateful, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, deferred, div, px, relative,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Icon, IconButton, Label, dp};

use super::ComposerPanel;
use super::session_rows::dollars;
use crate::actions::{Cancel, CompactSession, NewSession, ShowContext};
use crate::context_meter::ContextMeter;

/// The list of what fills the context.
pub(super) struct ContextPane {
    focus: FocusHandle,
    is_open: bool,
}

impl ContextPane {
    pub(super) fn new(focus: FocusHandle) -> Self {
        Self {
            focus,
            is_open: false,
        }
    }

    /// Hides the list, because the panel turns to another session.
    pub(super) fn leave_session(&mut self) {
        self.is_open = false;
    }
}

/// Registers the actions of this module.
pub(super) fn with_actions(
    element: ObservedElement<Stateful<Div>>,
    cx: &mut Context<ComposerPanel>,
) -> ObservedElement<Stateful<Div>> {
    element
        .on_action(cx.listener(ComposerPanel::show_context))
        .on_action(cx.listener(ComposerPanel::compact_session))
        .on_action(cx.listener(ComposerPanel::edit_summary_action))
        .on_action(cx.listener(ComposerPanel::pin_message))
        .on_action(cx.listener(ComposerPanel::choose_effort))
        .on_action(cx.listener(ComposerPanel::show_spending))
        .on_action(cx.listener(ComposerPanel::show_quality))
        .on_action(cx.listener(ComposerPanel::show_automations))
        .on_action(cx.listener(ComposerPanel::trust_automation))
        .on_action(cx.listener(ComposerPanel::turn_off_automation))
        .on_action(cx.listener(ComposerPanel::run_automation))
        .on_action(cx.listener(ComposerPanel::build_plan))
        .on_action(cx.listener(ComposerPanel::open_terminal))
}

impl ComposerPanel {
    /// The meter of the session that the prompt addresses. `None` without a session, and before its
    /// first answer.
    fn context_meter(&self) -> Option<ContextMeter> {
        let open = self.addressed_session()?;
        ContextMeter::of(open.transcript.fill()?, self.next_window())
    }

    /// Shows what fills the context of the open session, or hides it.
    pub fn show_context(&mut self, _: &ShowContext, window: &mut Window, cx: &mut Context<Self>) {
        if self.meter.is_open {
            self.hide_context(window, cx);
            return;
        }
        if self.context_meter().is_none() {
            self.error = Some(
                "The context is measured with the first answer of a session. There is none yet."
                    .to_owned(),
            );
            cx.notify();
            return;
        }
        self.meter.is_open = true;
        self.meter.focus.focus(window, cx);
        cx.notify();
    }

    fn hide_context(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.meter.is_open = false;
        self.focus_prompt(window, cx);
        cx.notify();
    }

    /// Compacts the conversation of the open session.
    pub fn compact_session(
        &mut self,
        _: &CompactSession,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.meter.is_open {
            self.hide_context(window, cx);
        }
        match self.addressed_session() {
            Some(open) => (open.live.send)(SessionCommand::Compact),
            None => self.error = Some("There is no conversation to compact yet.".to_owned()),
        }
        cx.notify();
    }

    /// Prepares a session with the settings of this one and without its conversation, which stays as
    /// it is.
    fn start_without_history(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let (model, mode, effort) = (self.model().to_owned(), self.mode(), self.effort());
        self.new_session(&NewSession, window, cx);
        self.model = Some(model);
        self.mode = mode;
        self.effort = effort;
    }

    /// Renders the line below the prompt: the fill of the context, the reason for a pause, the cost.
    pub(super) fn render_footer(&self, cx: &mut Context<Self>) -> Option<AnyElement> {
        let transcript = &self.addressed_session()?.transcript;
        let meter = self.context_meter();
        let cost = transcript.cost_nano().filter(|cost| *cost > 0);
        let texts = [transcript.waiting().map(str::to_owned), cost.map(dollars)];
        let text = texts.into_iter().flatten().collect::<Vec<_>>();
        if meter.is_none() && text.is_empty() {
            return None;
        }
        let text = text.join(" \u{b7} ");
        let list = meter
            .as_ref()
            .and_then(|it| self.render_context_list(it, cx));
        Some(
            div()
                .relative()
                .flex()
                .flex_none()
                .items_center()
                .gap(dp(8.0))
                .children(meter.map(|meter| render_meter(&meter, cx)))
                .child(div().min_w_0().child(Label::new(text).tiny().muted()))
                .children(list)
                .into_any_element(),
        )
    }

    /// Renders what fills the context. Returns `None` if it is hidden.
    fn render_context_list(
        &self,
        meter: &ContextMeter,
        cx: &mut Context<Self>,
    ) -> Option<AnyElement> {
        if !self.meter.is_open {
            return None;
        }
        let colors = cx.theme().colors;
        let rows: Vec<_> = meter
            .parts()
            .into_iter()
            .map(|it| part_row(&it, cx))
            .collect();
        let head = div()
            .flex()
            .items_center()
            .child(
                div()
                    .flex_1()
                    .min_w_0()
                    .child(Label::new(meter.label()).strong()),
            )
            .child(
                IconButton::new("agent-context-close", Icon::Close, "Close")
                    .small()
                    .on_click(cx.listener(|this, _, window, cx| this.hide_context(window, cx))),
            );
        let buttons = div()
            .flex()
            .flex_wrap()
            .gap(dp(8.0))
            .child(
                Button::new("agent-compact", "Compact now")
                    .action(Box::new(CompactSession))
                    .with_keys(),
            )
            .child(
                Button::new("agent-without-history", "New session without history")
                    .style(ButtonStyle::Ghost)
                    .on_click(cx.listener(|this, _, window, cx| {
                        this.start_without_history(window, cx);
                    })),
            );
        let note = "The parts are in proportion to the sizes of their texts, scaled to the total.";
        let list = div()
            .id("agent-context-list")
            .role(Role::Dialog)
            .aria_label("Contents of the context")
            .test_support()
            .track_focus(&self.meter.focus)
            .key_context("Composer context")
            .on_action(cx.listener(|this, _: &Cancel, window, cx| this.hide_context(window, cx)))
            // The list is drawn over the window, outside of the panel's own actions.
            .on_action(cx.listener(Self::show_context))
            .on_action(cx.listener(Self::compact_session))
            .absolute()
            .left_0()
            .right_0()
            .bottom(relative(1.0))
            .mb(dp(4.0))
            .occlude()
            .flex()
            .flex_col()
            .gap(dp(6.0))
            .p(dp(12.0))
            .rounded(px(6.0))
            .border_1()
            .border_color(colors.border_strong)
            .bg(colors.surface)
            .shadow_lg()
            .child(head)
            .child(prose(meter.summary(), cx))
            .children(rows)
            .child(prose(note.to_owned(), cx))
            .child(buttons);
        Some(deferred(list).into_any_element())
    }
}

/// The meter with its text; a press shows what fills the context.
fn render_meter(meter: &ContextMeter, cx: &mut Context<ComposerPanel>) -> AnyElement {
    let colors = cx.theme().colors;
    let color = if meter.is_full() {
        colors.warning
    } else {
        colors.accent
    };
    let bar = div()
        .relative()
        .flex_none()
        .w(dp(64.0))
        .h(dp(6.0))
        .rounded(px(3.0))
        .overflow_hidden()
        .bg(colors.border)
        .child(div().h_full().w(relative(meter.share())).bg(color))
        .child(
            div()
                .absolute()
                .top_0()
                .bottom_0()
                .left(relative(meter.line()))
                .w(px(1.0))
                .bg(colors.text),
        );
    div()
        .id("agent-meter")
        .role(Role::Button)
        .aria_label(meter.name())
        .test_support()
        .tab_index(0)
        .flex()
        .flex_none()
        .items_center()
        .gap(dp(6.0))
        .px(dp(4.0))
        .h(dp(20.0))
        .rounded(px(4.0))
        .border_1()
        .border_color(colors.raised.opacity(0.0))
        .focus_visible(|style| style.border_color(colors.focus))
        .hover(|style| style.bg(colors.hover))
        .cursor_pointer()
        .tooltip(ui::Tooltip::for_action(meter.name(), &ShowContext))
        .on_click(cx.listener(|this, _, window, cx| this.show_context(&ShowContext, window, cx)))
        .child(bar)
        .child(Label::new(meter.label()).tiny().muted())
        .into_any_element()
}

fn part_row(
    (part, tokens, share): &(agent::fill::FillPart, String, f32),
    cx: &Context<ComposerPanel>,
) -> AnyElement {
    let colors = cx.theme().colors;
    let percent = (share * 100.0).round();
    div()
        .id(("agent-context-part", *part as usize))
        .role(Role::ListItem)
        .aria_label(format!("{}: {tokens} tokens, {percent} %", part.name()))
        .test_support()
        .flex()
        .items_center()
        .gap(dp(8.0))
        .child(
            div()
                .flex_none()
                .w(dp(112.0))
                .child(Label::new(part.name()).small()),
        )
        .child(
            div()
                .flex_1()
                .h(dp(6.0))
                .rounded(px(3.0))
                .overflow_hidden()
                .bg(colors.border)
                .child(div().h_full().w(relative(*share)).bg(colors.accent)),
        )
        .child(
            div().flex_none().w(dp(80.0)).flex().justify_end().child(
                Label::new(format!("{tokens} \u{b7} {percent} %"))
                    .tiny()
                    .muted(),
            ),
        )
        .into_any_element()
}

/// A sentence that wraps.
fn prose(text: String, cx: &Context<ComposerPanel>) -> Div {
    div()
        .text_size(dp(12.0))
        .text_color(cx.theme().colors.muted)
        .child(text)
}
