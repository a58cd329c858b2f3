//! Tools that one session has and others have not.

use std::sync::Arc;

use model::Script;

use super::super::{Start, listing, start};
use super::fakes::{FakeTool, Talk, world};
use crate::outcome::Outcome;
use crate::record::{Origin, TurnEnd};
use crate::tool::{Tool, ToolClass};

#[tokio::test(start_paused = true)]
async fn they_stand_between_those_of_all_and_the_one_that_starts_agents() {
    let world = world([
        Script::calls(&[("1", "mine", r#"{"say": "from mine"}"#)]),
        Script::text("done"),
        Script::text("again"),
    ]);
    let tool = |name| {
        let log = world.log.clone();
        let class = ToolClass::Foreign;
        Arc::new(FakeTool { name, class, log }) as Arc<dyn Tool>
    };
    let begin = Start {
        // One of them has the name of a tool that is there already.
        tools: vec![tool("mine"), tool("look"), tool("another")],
        ..world.begin()
    };
    let listed = listing(&begin, &[]).into_iter();
    let names: Vec<String> = listed
        .filter_map(|(origin, _)| match origin {
            Origin::ToolSpec { tool } => Some(tool),
            _ => None,
        })
        .collect();
    let expected = ["look", "edit", "exec", "mine", "another", "spawn_agent"];
    assert_eq!(names, expected);
    let mut talk = Talk::new(start(begin));
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    let (_, outcome, text) = talk.ends().remove(0);
    assert_eq!((outcome, text.as_str()), (Outcome::Ok, "from mine"));
    let requests = world.client.requests();
    assert_eq!(requests.len(), 3);
    for request in &requests {
        let names: Vec<_> = request.tools.iter().map(|tool| &tool.name).collect();
        assert_eq!(names, expected.iter().collect::<Vec<_>>());
    }
    // Another session of the same harness has none of them.
    let other = listing(&world.begin(), &[]);
    assert!(other.iter().all(|(_, text)| !text.contains("mine")));
}
