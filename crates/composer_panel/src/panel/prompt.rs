//! The prompt box with its controls: model, mode, number of agents, cost.

use agent::user_prompts::{PermissionDecision, join_rules};
use base::{LineFeeds, printable};
use gpui_kit::component::input::{Enter, Textarea};
use gpui_kit::{
    AnyElement, Context, ExternalPaths, InteractiveElement as _, IntoElement as _,
    ParentElement as _, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, div, px, relative,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Icon, IconButton, Label, Tone, dp};

use super::card::card;
use super::{ComposerPanel, PanelPage};
use crate::actions::{AllowForSession, AllowOnce, NextCount, Refuse, Send, Stop};
use crate::transcript::CallItemState;

impl ComposerPanel {
    /// Renders the prompt box and its controls.
    pub(super) fn render_prompt(&self, window: &mut Window, cx: &mut Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let error = self.error.clone();
        let error = error.filter(|sentence| !self.is_link_problem(sentence));
        let trouble = error.map(|sentence| {
            ui::Banner::new("agent-trouble", Tone::Error, sentence).into_any_element()
        });
        let queue = self.render_queue(window, cx);
        let mut cards = self.render_trust_cards(cx);
        cards.extend(self.render_plan(cx));
        cards.extend(self.render_approval(cx));
        cards.extend(self.render_question(cx));
        cards.extend(self.render_summary_edit(cx));
        cards.extend(self.render_terminal_quotes(cx));
        cards.extend(trouble);
        cards.extend(self.render_fork());
        cards.extend(self.render_external());
        div()
            .id("agent-composer")
            .flex()
            .flex_col()
            // In a low window the cards scroll while the box stays visible.
            .max_h(relative(0.85))
            .gap(dp(8.0))
            .p(dp(8.0))
            .border_t_1()
            .border_color(colors.border)
            .children((!cards.is_empty()).then(|| {
                div()
                    .id("agent-cards")
                    .flex()
                    .flex_col()
                    .min_h_0()
                    .gap(dp(8.0))
                    .overflow_y_scroll()
                    .children(cards.into_iter().map(|card| div().flex_none().child(card)))
            }))
            // A request for permission is long; the queue below it is always visible.
            .children(queue.map(|queue| div().flex_none().child(queue)))
            .child(div().flex_none().child(self.render_field(window, cx)))
            .children(self.render_footer(cx))
            .into_any_element()
    }

    /// Renders the box: images, text, and the controls below it.
    fn render_field(&self, window: &Window, cx: &mut Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let name = match self.open_question() {
            Some(asked) => printable(&asked.question.text, LineFeeds::Escape).into_owned(),
            None => "Prompt".to_owned(),
        };
        let is_running = self.is_running() || self.starts.shown_prompt().is_some();
        let is_empty = self.prompt.read(cx).value().trim().is_empty() && self.images.is_empty();
        let this = cx.entity();
        let send = match (is_running, is_empty) {
            (true, true) => {
                IconButton::new("agent-stop", Icon::Stop, "Stop").action(Box::new(Stop))
            }
            _ => IconButton::new("agent-send", Icon::ArrowUp, "Send")
                .disabled(is_empty)
                .action(Box::new(Send)),
        };
        let has_focus = {
            use gpui_kit::Focusable as _;
            self.prompt.read(cx).focus_handle(cx).is_focused(window)
        };
        div()
            .relative()
            .flex()
            .flex_col()
            .gap(dp(4.0))
            .p(dp(8.0))
            .rounded(px(6.0))
            .bg(colors.surface)
            .border_1()
            .border_color(if has_focus {
                colors.focus
            } else {
                colors.border_strong
            })
            .on_drop(cx.listener(|this, paths: &ExternalPaths, window, cx| {
                this.drop_files(paths, window, cx);
            }))
            .children(self.render_images(cx))
            .child(
                div()
                    .key_context(if self.is_completing() {
                        "Composer prompt completing"
                    } else {
                        "Composer prompt"
                    })
                    // The field leaves the key to others, and a key that nothing takes is typed.
                    .on_action(|_: &Enter, _, _| {})
                    .child(
                        Textarea::new(&self.prompt)
                            .on_paste(move |item, window, cx| {
                                this.update(cx, |this, cx| this.paste_images(item, window, cx))
                            })
                            .appearance(false)
                            .bordered(false)
                            .aria_label(name),
                    ),
            )
            .child(
                div()
                    .flex()
                    .items_center()
                    .gap(dp(4.0))
                    .child(self.render_mode())
                    .child(self.render_model())
                    .children(self.render_effort())
                    .children(self.render_count())
                    .child(div().flex_1())
                    .child(send),
            )
            .children(self.render_completion(cx))
            .into_any_element()
    }

    /// Renders a banner while the next prompt is a fork.
    fn render_fork(&self) -> Option<AnyElement> {
        let pane = self
            .board
            .as_ref()
            .filter(|_| self.page == PanelPage::Board)?;
        let job = pane.board.job(pane.fork_from.as_deref()?)?;
        let text = format!(
            "New agent forked from {} ({}). Esc cancels.",
            crate::board::agent_letter(job.mark),
            job.title()
        );
        Some(ui::Banner::new("agent-fork", Tone::Info, text).into_any_element())
    }

    /// Renders the number of agents that the prompt starts, if it starts any.
    fn render_count(&self) -> Option<Button> {
        let starts = self.page == PanelPage::Board || !self.has_session();
        let is_forking = self.board.as_ref().is_some_and(|it| it.fork_from.is_some());
        (starts && !is_forking).then(|| {
            // On the board, no agent works in the user's own folder.
            let count = match self.page {
                PanelPage::Board => self.count.in_worktrees(),
                _ => self.count,
            };
            Button::new("agent-count", count.label())
                .icon(Icon::GitBranch)
                .style(ButtonStyle::Ghost)
                .action(Box::new(NextCount))
        })
    }

    /// Renders a permission request: the exact effect of the call, and the narrowest approval.
    fn render_approval(&self, cx: &mut Context<Self>) -> Option<AnyElement> {
        let colors = cx.theme().colors;
        let asking = self.transcript()?.pending_approval()?;
        let CallItemState::NeedsApproval(reason) = &asking.call.state else {
            return None;
        };
        let reason = base::sentence(&printable(reason, LineFeeds::Escape));
        let rules = join_rules(&asking.call.rules);
        let can_keep = !rules.is_empty();
        let details = asking.call.details.clone();
        let obstacle = self
            .revealed(&details)
            .approval_obstacle()
            .map(SharedString::from);
        let who = if asking.subagents.is_empty() {
            "Permission request"
        } else {
            "A subagent requests permission"
        };
        let button = |id, label, style, decision: PermissionDecision| {
            Button::new(id, label)
                .style(style)
                .disabled(obstacle.clone())
                .on_click(
                    cx.listener(move |this, _, _, _| this.answer_permission(decision.clone())),
                )
        };
        let keeping = can_keep.then(|| {
            let session = Button::new("agent-session", "For this session")
                .style(ButtonStyle::Ghost)
                .disabled(obstacle.clone())
                .action(Box::new(AllowForSession))
                .with_keys();
            let kept = [
                (
                    "agent-always",
                    "Always in this project",
                    PermissionDecision::Always,
                ),
                (
                    "agent-everywhere",
                    "Always everywhere",
                    PermissionDecision::Everywhere,
                ),
            ];
            let kept = kept.map(|(id, label, it)| button(id, label, ButtonStyle::Ghost, it));
            std::iter::once(session).chain(kept)
        });
        let keeping = keeping.into_iter().flatten();
        let buttons = div()
            .flex()
            .flex_wrap()
            .gap(dp(8.0))
            .child(
                Button::new("agent-refuse", "Refuse")
                    .style(ButtonStyle::Primary)
                    .action(Box::new(Refuse))
                    .with_keys(),
            )
            .child(
                Button::new("agent-once", "Allow once")
                    .style(ButtonStyle::Plain)
                    .disabled(obstacle.clone())
                    .action(Box::new(AllowOnce))
                    .with_keys(),
            )
            .children(keeping);
        let kept = can_keep.then(|| {
            let text = format!("A lasting approval allows {rules}");
            let text = printable(&text, LineFeeds::Escape).into_owned();
            div()
                .id("agent-rules")
                .test_support()
                .role(Role::Status)
                .aria_label(text.clone())
                .text_size(dp(12.0))
                .font_family(cx.theme().fonts.code_family.clone())
                .child(text)
        });
        Some(
            card("agent-approval", Role::Alert, colors.warning, colors.raised)
                .aria_label(format!(
                    "The agent requests permission: {}",
                    printable(&asking.call.title, LineFeeds::Escape)
                ))
                .child(Label::new(who).small().color(colors.warning))
                .child(self.render_revealed("agent-approval-text", &details, cx))
                .child(
                    div()
                        .text_size(dp(12.0))
                        .text_color(colors.muted)
                        .child(reason),
                )
                .children(kept)
                .child(buttons)
                .into_any_element(),
        )
    }
}
