//! Reasoning effort in a session's requests.

use model::{Effort, ResponseScript};

use super::fakes::{Talk, world};
use crate::engine::{SessionOptions, start};
use crate::record::TurnEnd;

#[tokio::test(start_paused = true)]
async fn requests_carry_the_effort_of_their_session() {
    for effort in [None, Some(Effort::Low), Some(Effort::High)] {
        let world = world([ResponseScript::text("done")]);
        let begin = SessionOptions {
            effort,
            ..world.begin()
        };
        let mut talk = Talk::new(start(begin));
        assert_eq!(talk.ask("go").await, TurnEnd::Done);
        let requests = world.client.requests();
        assert_eq!(requests[0].effort, effort);
    }
}
