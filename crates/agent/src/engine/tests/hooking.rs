//! Hooks in a turn: blocking, deciding and adding text.

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use futures::FutureExt;
use futures::future::BoxFuture;
use model::ResponseScript;
use serde_json::json;

use super::super::{SessionOptions, start};
use super::ask_by_tool_class::AskByToolClass;
use super::fakes::{Talk, World, assert_whole, world};
use crate::hooks::{HookOutput, HookRunner, Hooks, parse};
use crate::outcome::{CallOutcome, Detail};
use crate::record::{PromptOrigin, SessionRecord, TurnEnd};
use crate::session::AgentEvent;

/// Answers with the command itself.
struct Echo;

impl HookRunner for Echo {
    fn run(
        &self,
        command: &str,
        _folder: &AbsPath,
        _input: Vec<u8>,
        _patience: Duration,
    ) -> BoxFuture<'static, Result<HookOutput, crate::Error>> {
        let ran = HookOutput {
            code: Some(0),
            output: command.to_owned(),
            errors: String::new(),
        };
        std::future::ready(Ok(ran)).boxed()
    }
}

fn begin(world: &World, event: &str, answer: &str) -> Talk {
    let settings = json!({ "hooks": { event: [{ "hooks": [{ "command": answer }] }] } });
    let (hooks, problems) = parse(&settings.to_string());
    assert_eq!(problems, Vec::<String>::new());
    Talk::new(start(SessionOptions {
        hooks: Some(Arc::new(Hooks::new(hooks, Arc::new(Echo)))),
        ..world.begin_with(Arc::new(AskByToolClass::default()))
    }))
}

fn call(tool: &str) -> ResponseScript {
    ResponseScript::calls(&[("1", tool, "{}")])
}

#[tokio::test(start_paused = true)]
async fn hooks_block_calls_before_they_start() {
    let world = world([call("look"), ResponseScript::text("done")]);
    let mut talk = begin(
        &world,
        "PreToolUse",
        r#"{"decision":"block","reason":"not here"}"#,
    );
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let (_, outcome, text) = talk.ends().remove(0);
    assert_eq!(outcome, CallOutcome::UserAborted);
    assert!(text.contains("blocked by a hook: not here"), "{text}");
    assert!(world.log().is_empty());
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn hooks_grant_permission_instead_of_the_user() {
    let world = world([call("edit"), ResponseScript::text("done")]);
    let answer = r#"{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}"#;
    let mut talk = begin(&world, "PermissionRequest", answer);
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    assert_eq!(world.log(), ["+1", "-1"]);
    let kinds = super::fakes::kinds(&talk.records());
    assert!(kinds.contains(&"leave_asked") && kinds.contains(&"leave_given"));
}

#[tokio::test(start_paused = true)]
async fn hook_output_is_added_after_the_results() {
    let world = world([call("look"), ResponseScript::text("done")]);
    let answer = r#"{"hookSpecificOutput":{"additionalContext":"lint: fine"}}"#;
    let mut talk = begin(&world, "PostToolUse", answer);
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let is_hook = |record: &SessionRecord| matches!(record, SessionRecord::Joined { origin: PromptOrigin::Hook { .. }, text, .. } if text == "lint: fine");
    assert!(talk.records().iter().any(|stored| is_hook(&stored.record)));
    let last = world
        .client
        .requests()
        .remove(1)
        .messages
        .pop()
        .expect("a message");
    assert_eq!(last.parts.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn blocked_prompts_are_returned() {
    let world = world([]);
    let mut talk = begin(
        &world,
        "UserPromptSubmit",
        r#"{"decision":"block","reason":"rude"}"#,
    );
    let end = talk.ask("go").await;
    assert!(
        matches!(&end, TurnEnd::Failed { class, what } if class == "hook" && what.contains("rude"))
    );
    assert!(
        talk.told
            .iter()
            .any(|event| matches!(event, AgentEvent::GivenBack(prompt) if prompt.text == "go"))
    );
    assert!(world.client.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn stop_hooks_continue_the_turn_a_limited_number_of_times() {
    let world = world((0..9).map(|_| ResponseScript::text("done")));
    let mut talk = begin(
        &world,
        "Stop",
        r#"{"decision":"block","reason":"the tests fail"}"#,
    );
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    assert_eq!(world.client.requests().len(), 4);
    let last = format!("{:?}", world.client.requests()[1].messages.last());
    assert!(last.contains("the tests fail"), "{last}");
    let denied = talk.records().iter().any(|stored| {
        matches!(
            &stored.record,
            SessionRecord::CallEnded {
                detail: Some(Detail::Denied),
                ..
            }
        )
    });
    assert!(!denied);
}

#[tokio::test(start_paused = true)]
async fn hooks_that_do_not_work_are_noted_in_the_session() {
    for event in ["SessionStart", "UserPromptSubmit", "Stop"] {
        let world = world([ResponseScript::text("done")]);
        let mut talk = begin(&world, event, "{oops");
        assert_eq!(talk.ask("go").await, TurnEnd::Done);
        let records = talk.records();
        let is_note = |record: &SessionRecord| matches!(record, SessionRecord::Noted { text } if text.contains(event) && text.contains("cannot be read"));
        let notes = records.iter().filter(|stored| is_note(&stored.record));
        assert_eq!(notes.count(), 1, "{event}: {records:?}");
        assert_whole(&records);
    }
}
