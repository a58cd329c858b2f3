//! Tools of a single session.

use std::sync::Arc;

use model::ResponseScript;

use super::super::{SessionOptions, prompt_parts, start};
use super::fakes::{FakeTool, Talk, world};
use crate::outcome::CallOutcome;
use crate::record::{PromptOrigin, TurnEnd};
use crate::tool::{Tool, ToolClass};

#[tokio::test(start_paused = true)]
async fn own_tools_are_offered_before_the_agent_tool() {
    let world = world([
        ResponseScript::calls(&[("1", "mine", r#"{"say": "from mine"}"#)]),
        ResponseScript::text("done"),
        ResponseScript::text("again"),
    ]);
    let tool = |name| {
        let log = world.log.clone();
        let class = ToolClass::Foreign;
        Arc::new(FakeTool { name, class, log }) as Arc<dyn Tool>
    };
    let begin = SessionOptions {
        // One of them has the name of an existing tool.
        tools: vec![tool("mine"), tool("look"), tool("another")],
        ..world.begin()
    };
    let listed = prompt_parts(&begin, &[]).into_iter();
    let names: Vec<String> = listed
        .filter_map(|(origin, _)| match origin {
            PromptOrigin::ToolSpec { tool } => Some(tool),
            _ => None,
        })
        .collect();
    let expected = ["look", "edit", "exec", "mine", "another", "spawn_agent"];
    assert_eq!(names, expected);
    let mut talk = Talk::new(start(begin));
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    let (_, outcome, text) = talk.ends().remove(0);
    assert_eq!((outcome, text.as_str()), (CallOutcome::Ok, "from mine"));
    let requests = world.client.requests();
    assert_eq!(requests.len(), 3);
    for request in &requests {
        let names: Vec<_> = request.tools.iter().map(|tool| &tool.name).collect();
        assert_eq!(names, expected.iter().collect::<Vec<_>>());
    }
    // Another session of the same harness has none of them.
    let other = prompt_parts(&world.begin(), &[]);
    assert!(other.iter().all(|(_, text)| !text.contains("mine")));
}
