//! Hooks in a turn: what they block, what they decide, what they add.

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use futures::FutureExt;
use futures::future::BoxFuture;
use model::Script;
use serde_json::json;

use super::super::{Start, start};
use super::fakes::{Talk, World, assert_whole, world};
use crate::hooks::{HookRunner, Hooks, Ran, parse};
use crate::leave::AskFirst;
use crate::outcome::{Detail, Outcome};
use crate::record::{Origin, Record, TurnEnd};
use crate::session::Event;

/// Answers with the command itself.
struct Echo;

impl HookRunner for Echo {
    fn run(
        &self,
        command: &str,
        _folder: &AbsPath,
        _input: Vec<u8>,
        _patience: Duration,
    ) -> BoxFuture<'static, Result<Ran, String>> {
        let ran = Ran {
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
    Talk::new(start(Start {
        hooks: Some(Arc::new(Hooks::new(hooks, Arc::new(Echo)))),
        ..world.begin_with(Arc::new(AskFirst::default()))
    }))
}

fn call(tool: &str) -> Script {
    Script::calls(&[("1", tool, "{}")])
}

#[tokio::test(start_paused = true)]
async fn a_call_is_blocked_before_it_begins() {
    let world = world([call("look"), Script::text("done")]);
    let mut talk = begin(
        &world,
        "PreToolUse",
        r#"{"decision":"block","reason":"not here"}"#,
    );
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let (_, outcome, text) = talk.ends().remove(0);
    assert_eq!(outcome, Outcome::UserAborted);
    assert!(text.contains("a hook forbids it: not here"), "{text}");
    assert!(world.log().is_empty());
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn leave_is_given_in_the_persons_place() {
    let world = world([call("edit"), Script::text("done")]);
    let answer = r#"{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}"#;
    let mut talk = begin(&world, "PermissionRequest", answer);
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    assert_eq!(world.log(), ["+1", "-1"]);
    let kinds = super::fakes::kinds(&talk.records());
    assert!(kinds.contains(&"leave_asked") && kinds.contains(&"leave_given"));
}

#[tokio::test(start_paused = true)]
async fn what_a_hook_adds_joins_behind_the_results() {
    let world = world([call("look"), Script::text("done")]);
    let answer = r#"{"hookSpecificOutput":{"additionalContext":"lint: fine"}}"#;
    let mut talk = begin(&world, "PostToolUse", answer);
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let is_hook = |record: &Record| matches!(record, Record::Joined { origin: Origin::Hook { .. }, text, .. } if text == "lint: fine");
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
async fn a_prompt_that_is_blocked_is_given_back() {
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
            .any(|event| matches!(event, Event::GivenBack(prompt) if prompt.text == "go"))
    );
    assert!(world.client.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_model_is_sent_back_to_work_but_not_for_ever() {
    let world = world((0..9).map(|_| Script::text("done")));
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
            Record::CallEnded {
                detail: Some(Detail::Denied),
                ..
            }
        )
    });
    assert!(!denied);
}
