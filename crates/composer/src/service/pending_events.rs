//! The events that a view needs besides the session's own records: subagents and open questions.
//!
//! Invariant: a view that is attached late shows every request that a view attached earlier shows.

use agent::{AgentEvent, SessionCommand};

/// Events of a session's running turn that are not among its records.
#[derive(Clone, Default)]
pub(super) struct PendingEvents {
    /// Records of subagents, in order. Grows until the turn ends.
    subagents: Vec<AgentEvent>,
    /// Unanswered questions of the session and of its subagents.
    questions: Vec<AgentEvent>,
}

impl PendingEvents {
    /// Applies an event of the session.
    pub(super) fn apply(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Idle(_) | AgentEvent::Closed => self.clear(),
            event => match innermost(event) {
                AgentEvent::Asking { .. } => self.questions.push(event.clone()),
                AgentEvent::Recorded(_) if matches!(event, AgentEvent::Child { .. }) => {
                    self.subagents.push(event.clone());
                }
                _ => {}
            },
        }
    }

    /// Drops the question that a command answers.
    pub(super) fn forget_answered(&mut self, command: &SessionCommand) {
        self.questions.retain(|event| !answers(command, event));
    }

    /// Drops all events: the turn has ended.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The events, to be sent to a view after the session's own records.
    pub(super) fn events(self) -> impl Iterator<Item = AgentEvent> {
        self.subagents.into_iter().chain(self.questions)
    }
}

/// The event of the session itself or of the subagent from which it comes.
fn innermost(event: &AgentEvent) -> &AgentEvent {
    match event {
        AgentEvent::Child { event, .. } => innermost(event),
        event => event,
    }
}

/// Whether a command answers the question in an event.
fn answers(command: &SessionCommand, event: &AgentEvent) -> bool {
    match (command, event) {
        (
            SessionCommand::Child {
                session: target,
                command,
            },
            AgentEvent::Child { session, event },
        ) => **target == **session && answers(command, event),
        (SessionCommand::Reply { question, .. }, AgentEvent::Asking { number, .. }) => {
            question == number
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent::record::TurnEnd;
    use agent::user_prompts::UserQuestion;
    use agent::{SessionRecord, Stored};

    use super::*;

    fn of_child(session: &str, event: AgentEvent) -> AgentEvent {
        AgentEvent::Child {
            session: session.into(),
            event: Box::new(event),
        }
    }

    fn note(text: &str) -> AgentEvent {
        AgentEvent::Recorded(Arc::new(Stored {
            seq: 0,
            at_ms: 0,
            record: SessionRecord::Noted {
                text: text.to_owned(),
            },
        }))
    }

    fn asking(number: u64) -> AgentEvent {
        AgentEvent::Asking {
            number,
            question: UserQuestion {
                text: "Which?".to_owned(),
                options: Vec::new(),
            },
        }
    }

    fn reply(question: u64) -> SessionCommand {
        SessionCommand::Reply {
            question,
            text: None,
        }
    }

    #[track_caller]
    fn check(events: &[AgentEvent], commands: &[SessionCommand], expected: &[AgentEvent]) {
        let mut pending = PendingEvents::default();
        for event in events {
            pending.apply(event);
        }
        for command in commands {
            pending.forget_answered(command);
        }
        let pending: Vec<AgentEvent> = pending.events().collect();
        assert_eq!(format!("{pending:?}"), format!("{expected:?}"));
    }

    #[test]
    fn records_of_subagents_and_questions_wait_for_a_view() {
        let nested = of_child("s1", of_child("s2", note("deep")));
        let streamed = of_child("s1", AgentEvent::Text("a".to_owned()));
        let asked = of_child("s1", asking(1));
        check(
            &[note("own"), asked.clone(), nested.clone(), streamed],
            &[],
            &[nested, asked],
        );
        let over = AgentEvent::Idle(TurnEnd::Done);
        check(&[of_child("s1", note("a")), asking(1), over], &[], &[]);
        let of_child_over = of_child("s1", AgentEvent::Idle(TurnEnd::Done));
        check(&[asking(1), of_child_over], &[], &[asking(1)]);
    }

    #[test]
    fn a_reply_drops_the_question_it_answers() {
        let events = [asking(1), of_child("s1", asking(1)), asking(2)];
        let of_session = |session: &str| SessionCommand::Child {
            session: session.to_owned(),
            command: Box::new(reply(1)),
        };
        let [own, nested, other] = events.clone();
        check(&events, &[reply(1)], &[nested.clone(), other.clone()]);
        check(&events, &[of_session("s1")], &[own, other]);
        check(&events, &[of_session("s2")], &events);
    }
}
