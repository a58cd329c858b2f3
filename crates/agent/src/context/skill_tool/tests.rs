//! The tool that reads skills, over files in memory.

use super::*;
use std::time::Duration;

use crate::ask::Desk;
use crate::sources::Sources;
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
    let sources = Sources {
        files: Arc::new(files),
        clock: Arc::new(FakeClock::at(0)),
        state: path("/state"),
        buffers: None,
        search: None,
        diagnostics: None,
        web: None,
    };
    ToolContext {
        session: "s".into(),
        turn: 1,
        root: path("/p"),
        sources: Arc::new(sources),
        sandbox: None,
        desk: Desk::empty(),
        stop: tokio::sync::watch::channel(false).1,
        profile: Arc::new(Profile::harmless()),
        output_tokens: 10_000,
        progress: tokio::sync::mpsc::channel(1).0,
    }
}

fn call(input: serde_json::Value) -> Call {
    Call {
        id: "c1".into(),
        tool: "skill".into(),
        input: Input::Json(input),
        waits: false,
    }
}

async fn answer(trust: Trust, input: serde_json::Value) -> Answer {
    let tool = SkillTool::new(trust, None);
    let (call, context) = (call(input), context());
    if let Err(answer) = tool.access(&call, &context) {
        return answer;
    }
    let run = tool.run(&call, &context);
    tokio::time::timeout(Duration::from_secs(10), run)
        .await
        .expect("it answers")
}

#[tokio::test]
async fn every_way_of_asking_has_its_answer() {
    let check = async |input: serde_json::Value, outcome: Outcome, words: &str| {
        let answer = answer(Trust::all(), input.clone()).await;
        assert_eq!(answer.outcome, outcome, "{input}");
        assert!(answer.text().contains(words), "{input}: {}", answer.text());
    };
    check(
        json!({"name": "release"}),
        Outcome::Ok,
        "Tag it, see steps.md.\nFiles of this skill: scripts/tag.sh, steps.md\n",
    )
    .await;
    check(
        json!({"name": "release", "file": "steps.md"}),
        Outcome::Ok,
        "1. Tag",
    )
    .await;
    check(
        json!({"name": "release", "file": ""}),
        Outcome::Ok,
        "<skill name=\"release\"",
    )
    .await;
    check(
        json!({"name": "release", "file": null}),
        Outcome::Ok,
        "Tag it",
    )
    .await;
    check(
        json!({"name": "release", "file": "scripts/tag.sh"}),
        Outcome::Ok,
        "is empty",
    )
    .await;
    check(
        json!({"name": "none"}),
        Outcome::InvalidArguments,
        "there are release",
    )
    .await;
    check(
        json!({}),
        Outcome::InvalidArguments,
        "name of the skill is missing",
    )
    .await;
    check(
        json!({"name": "release", "file": 3}),
        Outcome::InvalidArguments,
        "must be a text",
    )
    .await;
    check(
        json!({"name": "release", "file": "x"}),
        Outcome::UnexpectedEnvironment,
        "has no file \"x\"",
    )
    .await;
    check(
        json!({"name": "release", "file": "../../../secret.txt"}),
        Outcome::UnexpectedEnvironment,
        "leads out of",
    )
    .await;
}

#[tokio::test]
async fn an_untrusted_project_has_no_skills() {
    let answer = answer(Trust::none(), json!({"name": "release"})).await;
    assert_eq!(answer.outcome, Outcome::InvalidArguments);
    assert!(
        answer.text().contains("there are none"),
        "{}",
        answer.text()
    );
}

#[test]
fn text_is_no_way_to_ask() {
    let tool = SkillTool::new(Trust::all(), None);
    let call = Call {
        input: Input::Text("release".into()),
        ..call(json!({}))
    };
    let answer = tool.access(&call, &context()).unwrap_err();
    assert_eq!(answer.outcome, Outcome::InvalidArguments);
}
