//! Hooks: which ones run, their input, and the parsing of their replies.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::AbsPath;
use futures::FutureExt;
use futures::future::BoxFuture;
use host::{FakeFiles, TempFolder};
use serde_json::{Map, Value, json};

use super::{
    HookEvent, HookInput, HookOutput, HookPermission, HookReply, HookRunner, Hooks,
    ProcessHookRunner, consent, parse,
};
use crate::record::SessionMode;

/// Replies as the command says: `CODE OUTPUT`, `CODE` and `!ERRORS`.
#[derive(Default)]
struct FakeHooks {
    inputs: Mutex<Vec<Value>>,
}

impl HookRunner for FakeHooks {
    fn run(
        &self,
        command: &str,
        _folder: &AbsPath,
        input: Vec<u8>,
        _patience: Duration,
    ) -> BoxFuture<'static, Result<HookOutput, crate::Error>> {
        let input = serde_json::from_slice(&input).expect("JSON");
        self.inputs.lock().expect("inputs").push(input);
        let (code, rest) = command.split_once(' ').unwrap_or((command, ""));
        let (output, errors) = rest.split_once('!').unwrap_or((rest, ""));
        let ran = HookOutput {
            code: code.parse().ok(),
            output: output.to_owned(),
            errors: errors.to_owned(),
        };
        std::future::ready(Ok(ran)).boxed()
    }
}

fn facts(root: &AbsPath) -> HookInput {
    HookInput {
        session: "s".into(),
        root: root.clone(),
        mode: SessionMode::Build,
    }
}

fn root() -> AbsPath {
    AbsPath::new("/work").expect("absolute")
}

fn one(event: &str, matcher: &str, command: &str) -> String {
    json!({ "hooks": { event: [
        { "matcher": matcher, "hooks": [{ "type": "command", "command": command, "timeout": 5 }] }
    ] } })
    .to_string()
}

async fn ask(settings: &str, event: HookEvent, more: Value) -> (HookReply, Vec<Value>) {
    let (hooks, problems) = parse(settings);
    assert_eq!(problems, Vec::<String>::new());
    let runner = Arc::new(FakeHooks::default());
    let hooks = Hooks::new(hooks, runner.clone());
    let more = more.as_object().cloned().unwrap_or_default();
    let told = hooks.run(event, facts(&root()), more).await;
    let inputs = runner.inputs.lock().expect("inputs").clone();
    (told, inputs)
}

#[tokio::test]
async fn hooks_are_matched_by_either_name_of_a_tool() {
    for (matcher, tool, is_asked) in [
        ("Bash", "exec_command", true),
        ("exec_command", "exec_command", true),
        ("Edit|Write", "edit", true),
        ("Edit|Write", "rename", true),
        ("Edit|Write", "read", false),
        ("Rea", "read", false),
        ("*", "anything", true),
        ("", "anything", true),
        ("mcp__.*", "mcp__x__y", true),
    ] {
        let settings = one("PreToolUse", matcher, "0");
        let more = json!({ "tool_name": tool, "tool_input": { "a": 1 } });
        let (_, inputs) = ask(&settings, HookEvent::PreToolUse, more).await;
        assert_eq!(!inputs.is_empty(), is_asked, "{matcher} and {tool}");
    }
    let more = json!({ "tool_name": "exec_command", "tool_input": { "cmd": "ls" } });
    let (_, inputs) = ask(&one("PreToolUse", "Bash", "0"), HookEvent::PreToolUse, more).await;
    assert_eq!(inputs[0]["tool_name"], "Bash");
    assert_eq!(inputs[0]["tool_input"]["cmd"], "ls");
    assert_eq!(inputs[0]["hook_event_name"], "PreToolUse");
    assert_eq!(inputs[0]["cwd"], "/work");
    assert_eq!(inputs[0]["session_id"], "s");
}

#[tokio::test]
async fn hook_answers_block_decide_and_add_context() {
    let told = |command: &'static str, event: &'static str| async move {
        let which = HookEvent::ALL.into_iter().find(|it| it.name() == event);
        ask(
            &one(event, "", command),
            which.expect("it is known"),
            Value::Null,
        )
        .await
        .0
    };
    let block = |told: HookReply| told.block.map(|(_, reason)| reason);
    assert_eq!(
        block(told("2 !not today", "PreToolUse").await).as_deref(),
        Some("not today")
    );
    assert_eq!(
        block(told(r#"0 {"decision":"block","reason":"tests fail"}"#, "Stop").await).as_deref(),
        Some("tests fail")
    );
    assert_eq!(
        block(told(r#"0 {"continue":false}"#, "UserPromptSubmit").await).as_deref(),
        Some("it gave no reason")
    );
    let deny =
        r#"0 {"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    assert_eq!(
        told(deny, "PreToolUse").await.permission,
        Some(HookPermission::Deny("no".to_owned()))
    );
    let allow = r#"0 {"hookSpecificOutput":{"decision":{"behavior":"allow"}}}"#;
    assert_eq!(
        told(allow, "PermissionRequest").await.permission,
        Some(HookPermission::Allow)
    );
    let add = r#"0 {"hookSpecificOutput":{"additionalContext":"it is late"}}"#;
    assert_eq!(told(add, "PostToolUse").await.context[0].1, "it is late");
    assert_eq!(
        told("0 plain words", "UserPromptSubmit").await.context[0].1,
        "plain words"
    );
    assert!(
        told("0 plain words", "PostToolUse")
            .await
            .context
            .is_empty()
    );
    let broken = told("1 !oops", "Stop").await;
    assert!(broken.block.is_none() && broken.problems[0].contains("code 1: oops"));
    assert!(told("0 {oops", "Stop").await.problems[0].contains("cannot be read"));
}

#[tokio::test]
async fn strictest_hook_decision_wins() {
    let allow = r#"0 {"hookSpecificOutput":{"permissionDecision":"allow"}}"#;
    let deny = r#"0 {"hookSpecificOutput":{"permissionDecision":"deny"}}"#;
    let hook = |command: &str| json!({ "type": "command", "command": command });
    let settings = json!({ "hooks": { "PreToolUse": [{ "hooks": [hook(deny), hook(allow)] }] } });
    let (told, _) = ask(&settings.to_string(), HookEvent::PreToolUse, Value::Null).await;
    assert!(
        matches!(told.permission, Some(HookPermission::Deny(_))),
        "{told:?}"
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    assert!(parse("{oops").1[0].contains("cannot be read"));
    let (hooks, problems) = parse(&one("BeforeLunch", "", "0"));
    assert!(
        hooks.is_empty() && problems[0].contains("BeforeLunch"),
        "{problems:?}"
    );
    assert!(parse(&one("Stop", "(", "0")).1[0].contains("matcher"));
    let prompt =
        json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "prompt", "prompt": "hm" }] }] } });
    assert!(parse(&prompt.to_string()).1[0].contains("type prompt"));
}

#[tokio::test]
async fn hook_process_reads_stdin_and_dies_when_dropped() {
    let folder = TempFolder::new().expect("a folder");
    let run = |command: &'static str| {
        ProcessHookRunner.run(
            command,
            folder.path(),
            b"hello".to_vec(),
            Duration::from_secs(20),
        )
    };
    let ran = run("cat; echo \"$CLAUDE_PROJECT_DIR\" >&2; exit 2")
        .await
        .expect("it ran");
    assert_eq!((ran.code, ran.output.as_str()), (Some(2), "hello"));
    assert_eq!(ran.errors.trim(), folder.path().as_path().to_string_lossy());
    let waiting = run("echo $$ > pid; exec sleep 600");
    let files = host::RealFiles;
    let pid = folder.path().join("pid");
    let watch = async {
        while host::Files::read(&files, &pid, 100).map_or(true, |text| text.is_empty()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // The caller drops the future as soon as the hook runs.
    tokio::select! {
        ran = waiting => panic!("it ended by itself: {ran:?}"),
        () = watch => {}
    }
    let text = host::Files::read(&files, &pid, 100).expect("its number");
    let number = String::from_utf8_lossy(&text).trim().to_owned();
    let process = AbsPath::new(format!("/proc/{number}/stat")).expect("absolute");
    if base::Platform::CURRENT == base::Platform::Linux {
        let mut tries = 0;
        while host::Files::exists(&files, &process) && tries < 400 {
            tokio::time::sleep(Duration::from_millis(5)).await;
            tries += 1;
        }
        assert!(tries < 400, "the hook still runs");
    }
}

#[test]
fn hook_approval_is_bound_to_text_and_folder() {
    let (files, state) = (FakeFiles::new(), AbsPath::new("/state").expect("absolute"));
    let other = AbsPath::new("/other").expect("absolute");
    assert!(!consent::is_given(&files, &state, &root(), "text"));
    consent::give(&files, &state, &root(), "text").expect("written");
    assert!(consent::is_given(&files, &state, &root(), "text"));
    assert!(!consent::is_given(&files, &state, &root(), "texts"));
    assert!(!consent::is_given(&files, &state, &other, "text"));
}

#[tokio::test]
async fn no_process_runs_without_hooks() {
    let hooks = Hooks::new(Vec::new(), Arc::new(FakeHooks::default()));
    let told = hooks.run(HookEvent::Stop, facts(&root()), Map::new()).await;
    assert_eq!(told, HookReply::default());
    assert!(!hooks.has(HookEvent::Stop));
}

#[test]
fn discovered_hooks_need_approval() {
    let (files, state) = (FakeFiles::new(), AbsPath::new("/state").expect("absolute"));
    let text = one("Stop", "", "0");
    files.write(&root().join(".claude/settings.json"), &text);
    files.write(&root().join(".burin/settings.json"), "{}");
    let found = super::find(&files, &state, &root());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].hooks.len(), found[0].has_consent), (1, false));
    consent::give(&files, &state, &root(), &found[0].text).expect("written");
    assert!(super::find(&files, &state, &root())[0].has_consent);
    let changed = one("Stop", "", "1");
    files.write(&root().join(".claude/settings.json"), changed);
    assert!(!super::find(&files, &state, &root())[0].has_consent);
}
