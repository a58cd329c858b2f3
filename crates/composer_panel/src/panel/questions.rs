//! The questions of an agent and of its subagents.
//!
//! Invariant: each question stays until the user answers it or the turn of its agent ends.
//! Start at `ComposerPanel::open_question`.

use std::sync::Arc;

use agent::user_prompts::UserQuestion;
use agent::{AgentEvent, SessionCommand};
use base::{LineFeeds, printable};
use gpui_kit::{
    AnyElement, Context, IntoElement as _, ParentElement as _, Role, SharedString,
    StatefulInteractiveElement as _, Styled as _, div,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Label, dp};

use super::card::card;
use super::{ComposerPanel, OpenSession};
use crate::revealed_text::RevealedText;

/// A question that waits for the user's answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenQuestion {
    /// The subagents on the way to the one that asks, outermost first.
    subagents: Vec<Arc<str>>,
    number: u64,
    pub(super) question: UserQuestion,
}

impl OpenQuestion {
    fn reply(self, text: String) -> SessionCommand {
        let reply = SessionCommand::Reply {
            question: self.number,
            text: Some(text),
        };
        through_subagents(self.subagents.iter().map(AsRef::as_ref), reply)
    }
}

/// Wraps a command for a subagent in commands for its parents; `subagents` is the way to it,
/// outermost first.
pub(super) fn through_subagents<'a>(
    subagents: impl DoubleEndedIterator<Item = &'a str>,
    command: SessionCommand,
) -> SessionCommand {
    subagents
        .rev()
        .fold(command, |command, session| SessionCommand::Child {
            session: session.to_owned(),
            command: Box::new(command),
        })
}

impl OpenSession {
    /// Adds the question in an event, or drops the questions of a turn that has ended.
    pub(super) fn apply_question(&mut self, event: &AgentEvent) {
        let (mut subagents, mut inner) = (Vec::new(), event);
        while let AgentEvent::Child { session, event } = inner {
            subagents.push(session.clone());
            inner = &**event;
        }
        match inner {
            AgentEvent::Asking { number, question } => self.questions.push(OpenQuestion {
                subagents,
                number: *number,
                question: question.clone(),
            }),
            AgentEvent::Idle(_) | AgentEvent::Closed => {
                let is_over = |it: &OpenQuestion| it.subagents.starts_with(&subagents);
                self.questions.retain(|it| !is_over(it));
            }
            _ => {}
        }
    }
}

impl ComposerPanel {
    /// Returns the question that the panel shows: the oldest one of the open session.
    pub(super) fn open_question(&self) -> Option<&OpenQuestion> {
        self.open.as_ref()?.questions.first()
    }

    /// Answers the shown question. Does nothing without one.
    pub(super) fn answer_question(&mut self, text: String, cx: &mut Context<Self>) {
        if let Some(open) = &mut self.open
            && !open.questions.is_empty()
        {
            (open.live.send)(open.questions.remove(0).reply(text));
            cx.notify();
        }
    }

    /// Renders the agent's question with a button for each answer. The buttons are disabled until
    /// the whole question has been shown. Returns `None` if no question is open.
    pub(super) fn render_question(&self, cx: &mut Context<Self>) -> Option<AnyElement> {
        let colors = cx.theme().colors;
        let question = self.open_question()?.question.clone();
        let obstacle = self
            .revealed(&question.text)
            .approval_obstacle()
            .map(SharedString::from);
        let options = question.options.iter().enumerate().map(|(at, option)| {
            let answer = option.clone();
            Button::new(("agent-option", at), option.clone())
                .style(ButtonStyle::Plain)
                .disabled(obstacle.clone())
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.answer_question(answer.clone(), cx);
                }))
        });
        let options: Vec<_> = options.collect();
        let text = printable(&question.text, LineFeeds::Keep).into_owned();
        let body = match RevealedText::new(&text, 0).hidden() {
            0 => div().child(text.clone()).into_any_element(),
            _ => self.render_revealed("agent-question-text", &question.text, cx),
        };
        Some(
            card("agent-question", Role::Alert, colors.accent, colors.raised)
                .aria_label(text)
                .child(body)
                .child(div().flex().flex_wrap().gap(dp(8.0)).children(options))
                .child(Label::new("Or type an answer below.").small().muted())
                .into_any_element(),
        )
    }
}
