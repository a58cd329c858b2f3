//! Taking over running commands of a turn, tested with real processes.

use host::TempFolder;
use model::ResponseScript;
use serde_json::json;

use super::super::{SessionOptions, start};
use super::fakes::{Talk, assert_whole, last, world};
use crate::command_feed::{CommandFeedEvent, CommandInput, CommandWatch};
use crate::record::{SessionRecord, TurnEnd};
use crate::session::AgentEvent;
use crate::tools::{self, ToolOptions};

/// Waits until the output of a command contains `wanted`.
async fn printed(watch: &mut CommandWatch, wanted: &str) {
    let mut output = Vec::new();
    while !String::from_utf8_lossy(&output).contains(wanted) {
        match watch.next().await {
            Some(CommandFeedEvent::Output { bytes, .. }) => output.extend(bytes),
            Some(_) => {}
            None => panic!("{:?} is all", String::from_utf8_lossy(&output)),
        }
    }
}

/// Waits for the record of a change of control, and returns the number of typed keys.
async fn control(talk: &mut Talk, wanted: bool) -> u64 {
    loop {
        if let AgentEvent::Recorded(stored) = talk.next().await
            && let SessionRecord::TerminalControl {
                call,
                is_taken,
                typed,
                ..
            } = &stored.record
        {
            assert_eq!((call.as_str(), *is_taken), ("c1", wanted));
            return *typed;
        }
    }
}

#[tokio::test]
async fn taking_over_is_recorded_and_the_keys_reach_the_model() {
    let folder = TempFolder::new().expect("a folder");
    let command = "echo up; read line; echo \"got $line\"; read line; echo end";
    let arguments = json!({ "command": command, "tty": true, "yield_time_ms": 600_000 });
    let arguments = arguments.to_string();
    let world = world([
        ResponseScript::calls(&[("c1", "exec_command", arguments.as_str())]),
        ResponseScript::text("done"),
    ]);
    let options = ToolOptions::new(&world.harness.parts.sources);
    let tools = tools::all(&options).into_iter();
    let begin = SessionOptions {
        tools: tools.filter(|tool| tool.name() == "exec_command").collect(),
        root: folder.path().clone(),
        ..world.begin()
    };
    let mut talk = Talk::new(start(begin));
    talk.say("go").await;
    let feeds = options.states.feeds();
    let mut list = feeds.running();
    let first = list.wait_for(|running| !running.is_empty()).await;
    let running = first.expect("the feeds").clone();
    assert_eq!(running[0].command, command);
    assert_eq!(running[0].sandbox, "outside the sandbox");
    assert_eq!(running[0].id.session, talk.id.as_ref());
    let mut watch = feeds.watch(&running[0].id, 0).expect("it runs");
    printed(&mut watch, "up").await;
    let input = watch.sender();
    // The first key takes the command over.
    input(CommandInput::Typed(b"yes\r".to_vec()));
    assert_eq!(control(&mut talk, true).await, 0);
    printed(&mut watch, "got yes").await;
    input(CommandInput::GiveBack);
    assert_eq!(control(&mut talk, false).await, 4);
    // The end of the command gives it back as well.
    input(CommandInput::Typed(b"\r".to_vec()));
    assert_eq!(control(&mut talk, true).await, 0);
    assert_eq!(control(&mut talk, false).await, 1);
    assert_eq!(talk.end().await, TurnEnd::Done);
    assert!(feeds.running().borrow().is_empty());
    let (_, _, result) = talk.ends().remove(0);
    assert!(
        result.contains("got yes") && result.contains("[exit code 0"),
        "{result}"
    );
    let request = world.client.requests().remove(1);
    let (text, results) = last(&request);
    assert_eq!(results, 1);
    assert!(
        text.contains("yes<Enter>") && text.contains(command),
        "{text}"
    );
    assert_whole(&talk.records());
    assert_eq!(world.kept(&talk.id).await, talk.records());
    talk.close().await;
}
