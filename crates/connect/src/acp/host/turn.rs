//! A turn of a hosted agent, as a machine without time and pipes.

use crate::acp::words::TurnEnd;

/// Where a turn is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Turn {
    /// None runs.
    #[default]
    Idle,
    /// One runs.
    Running,
    /// It was told to stop and has not answered.
    Stopping,
}

/// What happens to a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Happening {
    /// A prompt is there.
    Prompt,
    /// The person wants it to stop.
    Stop,
    /// The agent answered the prompt.
    Answered(TurnEnd),
    /// It had its time to stop.
    Late,
    /// The agent is gone: what it said last.
    Gone(String),
}

/// What is to be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Send the prompt.
    Send,
    /// Keep the prompt for later.
    Keep,
    /// Tell the agent to stop, take questions back, and look at the clock.
    Cancel,
    /// End the agent with its group.
    Kill,
    /// Tell that the turn ended; a kept prompt is next.
    End(TurnEnd),
}

impl Turn {
    /// The next state, and what is to be done, in order.
    pub(super) fn after(self, happening: Happening) -> (Self, Vec<Deed>) {
        use Turn::{Idle, Running, Stopping};
        match (self, happening) {
            (Idle, Happening::Prompt) => (Running, vec![Deed::Send]),
            (turn, Happening::Prompt) => (turn, vec![Deed::Keep]),
            (Running, Happening::Stop) => (Stopping, vec![Deed::Cancel]),
            (turn @ (Idle | Stopping), Happening::Stop) => (turn, Vec::new()),
            (Running | Stopping, Happening::Answered(end)) => (Idle, vec![Deed::End(end)]),
            (Stopping, Happening::Late) => {
                let why = "it did not stop when it was told to, and was ended".to_owned();
                (Idle, vec![Deed::Kill, Deed::End(TurnEnd::Failed(why))])
            }
            (Running | Stopping, Happening::Gone(why)) => {
                (Idle, vec![Deed::End(TurnEnd::Failed(why))])
            }
            // Answers that come after the end, and the clock of a turn that is over.
            (turn, Happening::Answered(_) | Happening::Late | Happening::Gone(_)) => {
                (turn, Vec::new())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(turn: Turn, happening: Happening, next: Turn, deeds: &[Deed]) {
        assert_eq!(turn.after(happening), (next, deeds.to_vec()));
    }

    #[test]
    fn every_state_knows_what_to_do() {
        use Turn::{Idle, Running, Stopping};
        let gone = || Happening::Gone("it ended with code 1".to_owned());
        let failed = |why: &str| Deed::End(TurnEnd::Failed(why.to_owned()));
        let done = || Happening::Answered(TurnEnd::Done);
        check(Idle, Happening::Prompt, Running, &[Deed::Send]);
        check(Idle, Happening::Stop, Idle, &[]);
        check(Idle, done(), Idle, &[]);
        check(Idle, Happening::Late, Idle, &[]);
        check(Idle, gone(), Idle, &[]);
        check(Running, Happening::Prompt, Running, &[Deed::Keep]);
        check(Running, Happening::Stop, Stopping, &[Deed::Cancel]);
        check(Running, done(), Idle, &[Deed::End(TurnEnd::Done)]);
        check(Running, Happening::Late, Running, &[]);
        check(Running, gone(), Idle, &[failed("it ended with code 1")]);
        check(Stopping, Happening::Prompt, Stopping, &[Deed::Keep]);
        check(Stopping, Happening::Stop, Stopping, &[]);
        check(
            Stopping,
            Happening::Answered(TurnEnd::Stopped),
            Idle,
            &[Deed::End(TurnEnd::Stopped)],
        );
        let late = "it did not stop when it was told to, and was ended";
        check(Stopping, Happening::Late, Idle, &[Deed::Kill, failed(late)]);
        check(Stopping, gone(), Idle, &[failed("it ended with code 1")]);
    }

    #[test]
    fn whatever_happens_a_turn_ends_once() {
        // All ways of five happenings each; a turn that began has one end at most, and none comes without.
        let all = [
            Happening::Prompt,
            Happening::Stop,
            Happening::Answered(TurnEnd::Done),
            Happening::Late,
            Happening::Gone("gone".to_owned()),
        ];
        for way in 0..5usize.pow(5) {
            let (mut turn, mut open) = (Turn::Idle, 0);
            for step in 0..5u32 {
                let happening = all[way / 5usize.pow(step) % 5].clone();
                let deeds;
                (turn, deeds) = turn.after(happening);
                for deed in deeds {
                    match deed {
                        Deed::Send => open += 1,
                        Deed::End(_) => open -= 1,
                        Deed::Keep | Deed::Cancel | Deed::Kill => {}
                    }
                }
                assert_eq!(
                    open,
                    i32::from(turn != Turn::Idle),
                    "way {way}, step {step}"
                );
            }
        }
    }
}
