//! The state machine of a hosted agent's turn, without time and pipes.

use crate::acp::protocol::PromptStop;

/// The state of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TurnState {
    /// No turn is running.
    #[default]
    Idle,
    /// A turn is running.
    Running,
    /// A stop was requested, without a response yet.
    Stopping,
    /// The agent has not stopped in time; the host knows.
    Overdue,
}

/// An input of the state machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TurnEvent {
    /// A prompt is queued.
    Prompt,
    /// The user wants to stop.
    Stop,
    /// The agent responded to the prompt.
    Answered(PromptStop),
    /// A deadline for stopping passed: that of the notice, then that of the kill.
    Late,
    /// The agent ended, with its last error output.
    Gone(String),
}

/// An action to execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TurnAction {
    /// Send the next prompt.
    Send,
    /// Keep the prompt in the queue.
    Keep,
    /// Send the cancellation, cancel pending requests, and set the deadline.
    Cancel,
    /// Report that the agent has not stopped, and set the deadline of the kill.
    Warn,
    /// Kill the agent's process group.
    Kill,
    /// Report the turn's end; a queued prompt is next.
    End(PromptStop),
}

impl TurnState {
    /// Returns the next state, and the actions in order.
    pub(super) fn after(self, event: TurnEvent) -> (Self, Vec<TurnAction>) {
        use TurnState::{Idle, Overdue, Running, Stopping};
        match (self, event) {
            (Idle, TurnEvent::Prompt) => (Running, vec![TurnAction::Send]),
            (turn, TurnEvent::Prompt) => (turn, vec![TurnAction::Keep]),
            (Running, TurnEvent::Stop) => (Stopping, vec![TurnAction::Cancel]),
            (turn @ (Idle | Stopping | Overdue), TurnEvent::Stop) => (turn, Vec::new()),
            (Running | Stopping | Overdue, TurnEvent::Answered(end)) => {
                (Idle, vec![TurnAction::End(end)])
            }
            (Stopping, TurnEvent::Late) => (Overdue, vec![TurnAction::Warn]),
            (Overdue, TurnEvent::Late) => {
                let why = "it did not stop on request and was killed".to_owned();
                (
                    Idle,
                    vec![TurnAction::Kill, TurnAction::End(PromptStop::Failed(why))],
                )
            }
            (Running | Stopping | Overdue, TurnEvent::Gone(why)) => {
                (Idle, vec![TurnAction::End(PromptStop::Failed(why))])
            }
            // Responses after the end, and deadlines of a finished turn.
            (turn, TurnEvent::Answered(_) | TurnEvent::Late | TurnEvent::Gone(_)) => {
                (turn, Vec::new())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(turn: TurnState, event: TurnEvent, next: TurnState, actions: &[TurnAction]) {
        assert_eq!(turn.after(event), (next, actions.to_vec()));
    }

    #[test]
    fn every_turn_state_handles_every_event() {
        use TurnState::{Idle, Overdue, Running, Stopping};
        let gone = || TurnEvent::Gone("it ended with code 1".to_owned());
        let failed = |why: &str| TurnAction::End(PromptStop::Failed(why.to_owned()));
        let done = || TurnEvent::Answered(PromptStop::Done);
        check(Idle, TurnEvent::Prompt, Running, &[TurnAction::Send]);
        check(Idle, TurnEvent::Stop, Idle, &[]);
        check(Idle, done(), Idle, &[]);
        check(Idle, TurnEvent::Late, Idle, &[]);
        check(Idle, gone(), Idle, &[]);
        check(Running, TurnEvent::Prompt, Running, &[TurnAction::Keep]);
        check(Running, TurnEvent::Stop, Stopping, &[TurnAction::Cancel]);
        check(Running, done(), Idle, &[TurnAction::End(PromptStop::Done)]);
        check(Running, TurnEvent::Late, Running, &[]);
        check(Running, gone(), Idle, &[failed("it ended with code 1")]);
        check(Stopping, TurnEvent::Prompt, Stopping, &[TurnAction::Keep]);
        check(Stopping, TurnEvent::Stop, Stopping, &[]);
        check(
            Stopping,
            TurnEvent::Answered(PromptStop::Stopped),
            Idle,
            &[TurnAction::End(PromptStop::Stopped)],
        );
        let late = "it did not stop on request and was killed";
        check(Stopping, TurnEvent::Late, Overdue, &[TurnAction::Warn]);
        check(
            Overdue,
            TurnEvent::Late,
            Idle,
            &[TurnAction::Kill, failed(late)],
        );
        check(Overdue, TurnEvent::Prompt, Overdue, &[TurnAction::Keep]);
        check(Overdue, TurnEvent::Stop, Overdue, &[]);
        check(
            Overdue,
            TurnEvent::Answered(PromptStop::Stopped),
            Idle,
            &[TurnAction::End(PromptStop::Stopped)],
        );
        check(Overdue, gone(), Idle, &[failed("it ended with code 1")]);
        check(Stopping, gone(), Idle, &[failed("it ended with code 1")]);
    }

    #[test]
    fn a_turn_ends_exactly_once() {
        // All sequences of five inputs; every turn that begins ends exactly once, and none ends
        // without having begun.
        let all = [
            TurnEvent::Prompt,
            TurnEvent::Stop,
            TurnEvent::Answered(PromptStop::Done),
            TurnEvent::Late,
            TurnEvent::Gone("gone".to_owned()),
        ];
        for way in 0..5usize.pow(5) {
            let (mut turn, mut open) = (TurnState::Idle, 0);
            for step in 0..5u32 {
                let event = all[way / 5usize.pow(step) % 5].clone();
                let actions;
                (turn, actions) = turn.after(event);
                for action in actions {
                    match action {
                        TurnAction::Send => open += 1,
                        TurnAction::End(_) => open -= 1,
                        TurnAction::Keep
                        | TurnAction::Cancel
                        | TurnAction::Warn
                        | TurnAction::Kill => {}
                    }
                }
                assert_eq!(
                    open,
                    i32::from(turn != TurnState::Idle),
                    "way {way}, step {step}"
                );
            }
        }
    }
}
