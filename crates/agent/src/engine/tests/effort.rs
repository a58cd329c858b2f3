//! The effort of a session in its requests.

use model::{Effort, Script};

use super::fakes::{Talk, world};
use crate::engine::{Start, start};
use crate::record::TurnEnd;

#[tokio::test(start_paused = true)]
async fn requests_carry_the_effort_of_their_session() {
    for effort in [None, Some(Effort::Low), Some(Effort::High)] {
        let world = world([Script::text("done")]);
        let begin = Start {
            effort,
            ..world.begin()
        };
        let mut talk = Talk::new(start(begin));
        assert_eq!(talk.ask("go").await, TurnEnd::Done);
        let requests = world.client.requests();
        assert_eq!(requests[0].effort, effort);
    }
}
