//! The skill tool over in-memory files.

use super::*;
use std::time::Duration;

use crate::services::SessionServices;
use crate::user_prompts::UserPrompts;
use host::{FakeClock, FakeFiles};

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).unwrap()
}

fn context() -> ToolContext {
    let files = FakeFiles::new();
    let skill = "---\nname: release\ndescription: Makes a release\n---\nTag it, see steps.md.\n";
    files.write(&path("/p/.agents/skills/release/SKILL.md"), skill);
    files.write(&path("/p/.agents/skills/release/steps.md"), "1. Tag\n");
    files.write(&path("/p/.agents/skills/release/scripts/tag.sh"), "");
    files.write(&path("/p/secret.txt"), "s");
    let sources = SessionServices {
        files: Arc::new(files),
        clock: Arc::new(FakeClock::at(0)),
        state: path("/state"),
        buffers: None,
        search: None,
    };
    ToolContext {
        session: "s".into(),
        turn: 1,
        root: path("/p"),
        sources: Arc::new(sources),
        sandbox: None,
        prompts: UserPrompts::empty(),
        stop: tokio::sync::watch::channel(false).1,
        profile: Arc::new(Profile::harmless()),
        output_tokens: 10_000,
        progress: tokio::sync::mpsc::channel(1).0,
        control_changes: tokio::sync::mpsc::unbounded_channel().0,
    }
}

fn call(input: serde_json::Value) -> ToolCall {
    ToolCall {
        id: "c1".into(),
        tool: "skill".into(),
        input: CallInput::Json(input),
        waits: false,
    }
}

async fn answer(trust: TrustedFolders, input: serde_json::Value) -> ToolResult {
    let tool = SkillTool::new(trust, None);
    let (call, context) = (call(input), context());
    let access = match tool.access(&call, &context) {
        Ok(access) => access,
        Err(answer) => return answer,
    };
    let run = tool.run(&call, &access, &context);
    tokio::time::timeout(Duration::from_secs(10), run)
        .await
        .expect("it answers")
}

#[tokio::test]
async fn skill_tool_answers_by_example() {
    let check = async |input: serde_json::Value, outcome: CallOutcome, words: &str| {
        let answer = answer(TrustedFolders::all(), input.clone()).await;
        assert_eq!(answer.outcome, outcome, "{input}");
        assert!(answer.text().contains(words), "{input}: {}", answer.text());
    };
    check(
        json!({"name": "release"}),
        CallOutcome::Ok,
        "Tag it, see steps.md.\nFiles of this skill: scripts/tag.sh, steps.md\n",
    )
    .await;
    check(
        json!({"name": "release", "file": "steps.md"}),
        CallOutcome::Ok,
        "1. Tag",
    )
    .await;
    check(
        json!({"name": "release", "file": ""}),
        CallOutcome::Ok,
        "<skill name=\"release\"",
    )
    .await;
    check(
        json!({"name": "release", "file": null}),
        CallOutcome::Ok,
        "Tag it",
    )
    .await;
    check(
        json!({"name": "release", "file": "scripts/tag.sh"}),
        CallOutcome::Ok,
        "is empty",
    )
    .await;
    check(
        json!({"name": "none"}),
        CallOutcome::InvalidArguments,
        "there are release",
    )
    .await;
    check(
        json!({}),
        CallOutcome::InvalidArguments,
        "name of the skill is missing",
    )
    .await;
    check(
        json!({"name": "release", "file": 3}),
        CallOutcome::InvalidArguments,
        "must be a text",
    )
    .await;
    check(
        json!({"name": "release", "file": "x"}),
        CallOutcome::UnexpectedEnvironment,
        "has no file \"x\"",
    )
    .await;
    check(
        json!({"name": "release", "file": "../../../secret.txt"}),
        CallOutcome::UnexpectedEnvironment,
        "leads out of",
    )
    .await;
}

#[tokio::test]
async fn untrusted_projects_have_no_skills() {
    let answer = answer(TrustedFolders::none(), json!({"name": "release"})).await;
    assert_eq!(answer.outcome, CallOutcome::InvalidArguments);
    assert!(
        answer.text().contains("there are none"),
        "{}",
        answer.text()
    );
}

#[test]
fn plain_text_input_is_rejected() {
    let tool = SkillTool::new(TrustedFolders::all(), None);
    let call = ToolCall {
        input: CallInput::Text("release".into()),
        ..call(json!({}))
    };
    let answer = tool.access(&call, &context()).unwrap_err();
    assert_eq!(answer.outcome, CallOutcome::InvalidArguments);
}
