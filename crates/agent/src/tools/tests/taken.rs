//! Commands that the user takes over.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;

use super::commands::listen;
use super::*;
use crate::command_feed::{CommandFeedEvent, CommandInput, CommandWatch, ControlChange};

/// Starts a command in a terminal, and watches it.
async fn start(command: &str) -> (World, CommandWatch, mpsc::UnboundedReceiver<ControlChange>) {
    let (sender, changes) = mpsc::unbounded_channel();
    let mut world = World::real();
    world.context.control_changes = sender;
    let input = json!({ "command": command, "tty": true, "yield_time_ms": 300 });
    let answer = world.call("exec_command", input).await;
    listen(&world, answer, "up\n").await;
    let feeds = world.options.states.feeds();
    let running = feeds.running().borrow().clone();
    let watch = feeds.watch(&running[0].id, 0).expect("it runs");
    (world, watch, changes)
}

async fn printed(watch: &mut CommandWatch, wanted: &str) {
    let mut output = Vec::new();
    while !String::from_utf8_lossy(&output).contains(wanted) {
        if let CommandFeedEvent::Output { bytes, .. } = watch.next().await.expect("it runs") {
            output.extend(bytes);
        }
    }
}

#[tokio::test]
async fn a_taken_command_takes_no_input_of_the_agent() {
    let (world, mut watch, mut changes) =
        start("echo up; read line; echo \"got $line\"; cat").await;
    watch.sender()(CommandInput::TakeOver);
    for input in [
        json!({ "terminal": 1, "chars": "no\n" }),
        json!({ "terminal": 1, "stop": true }),
    ] {
        let answer = world.call("write_stdin", input).await;
        let says = "The user has taken over this terminal; wait until it is given back";
        assert_says(&answer, CallOutcome::UnexpectedEnvironment, says);
    }
    // A call that waits goes on waiting, whatever its limit.
    let more = json!({ "terminal": 1, "yield_time_ms": 200 });
    let waiting = world.call("write_stdin", more);
    tokio::pin!(waiting);
    tokio::time::pause();
    for _ in 0..5 {
        assert!(futures::poll!(&mut waiting).is_pending());
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    assert!(futures::poll!(&mut waiting).is_pending());
    tokio::time::resume();
    watch.sender()(CommandInput::Typed(b"hello\r".to_vec()));
    printed(&mut watch, "got hello").await;
    watch.sender()(CommandInput::GiveBack);
    let answer = waiting.await;
    assert_says(&answer, CallOutcome::Ok, "got hello");
    assert!(changes.try_recv().expect("taken").given_back.is_none());
    let typed = changes.try_recv().expect("given back").given_back;
    let typed = typed.expect("what was typed");
    assert_eq!(typed.count, 6);
    assert!(typed.text.ends_with("hello<Enter>"), "{}", typed.text);
    let input = json!({ "terminal": 1, "chars": "again\n", "yield_time_ms": 300 });
    let answer = world.call("write_stdin", input).await;
    listen(&world, answer, "again\n").await;
}

#[tokio::test]
async fn a_time_limit_stops_while_the_user_has_the_command() {
    let (sender, mut changes) = mpsc::unbounded_channel();
    let mut world = World::real();
    world.context.control_changes = sender;
    let feeds = Arc::clone(world.options.states.feeds());
    let input = json!({ "command": "echo up; cat", "tty": true, "timeout_ms": 60_000 });
    let call = world.call("exec_command", input);
    tokio::pin!(call);
    let mut list = feeds.running();
    let id = tokio::select! {
        answer = &mut call => panic!("it was to run: {}", answer.text()),
        running = list.wait_for(|running| !running.is_empty()) => {
            running.expect("the feeds")[0].id.clone()
        }
    };
    let mut watch = feeds.watch(&id, 0).expect("it runs");
    printed(&mut watch, "up").await;
    watch.sender()(CommandInput::TakeOver);
    tokio::time::pause();
    for _ in 0..5 {
        assert!(futures::poll!(&mut call).is_pending());
        tokio::time::advance(Duration::from_secs(60)).await;
    }
    assert!(futures::poll!(&mut call).is_pending());
    tokio::time::resume();
    // Its terminal ends the input of `cat`.
    watch.sender()(CommandInput::Typed(vec![4]));
    assert_says(&call.await, CallOutcome::Ok, "[exit code 0");
    let typed = std::iter::from_fn(|| changes.try_recv().ok()).last();
    let typed = typed.and_then(|it| it.given_back).expect("given back");
    assert!(typed.text.ends_with("<Ctrl+D>"), "{}", typed.text);
}

#[tokio::test]
async fn a_password_is_not_passed_on() {
    let command = "stty -echo; echo up; read line; stty echo; echo read; read line; echo end";
    let (_world, mut watch, mut changes) = start(command).await;
    watch.sender()(CommandInput::Typed(b"secret\r".to_vec()));
    printed(&mut watch, "read").await;
    watch.sender()(CommandInput::Typed(b"y".to_vec()));
    watch.sender()(CommandInput::GiveBack);
    let typed = std::iter::from_fn(|| changes.try_recv().ok()).last();
    let typed = typed.and_then(|it| it.given_back).expect("given back");
    assert_eq!(typed.count, 8);
    assert!(!typed.text.contains("secret"), "{}", typed.text);
    assert!(typed.text.contains("\ny\n[7 keys"), "{}", typed.text);
}

#[tokio::test]
async fn a_command_without_a_terminal_is_only_watched() {
    let world = World::real();
    let command = "echo up; sleep 300";
    let input = json!({ "command": command, "background": true, "yield_time_ms": 300 });
    let answer = world.call("exec_command", input).await;
    listen(&world, answer, "up\n").await;
    let feeds = world.options.states.feeds();
    let running = feeds.running().borrow().clone();
    assert!(!running[0].has_terminal);
    let mut watch = feeds.watch(&running[0].id, 0).expect("it runs");
    watch.sender()(CommandInput::Typed(b"x".to_vec()));
    watch.sender()(CommandInput::TakeOver);
    printed(&mut watch, "up").await;
    let input = json!({ "terminal": 1, "stop": true });
    let answer = world.call("write_stdin", input).await;
    assert_says(&answer, CallOutcome::Ok, "ended by signal");
    while let Some(event) = watch.next().await {
        assert!(!matches!(event, CommandFeedEvent::Control(_)), "{event:?}");
    }
}
