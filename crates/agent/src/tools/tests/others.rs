//! Optional services, notes, questions and the repository.

use std::sync::Mutex;

use futures::future::BoxFuture;
use model::Profile;
use serde_json::json;

use super::*;
use crate::error::Error;
use crate::record::{TodoItem, TodoState};
use crate::services::{Buffers, CodeMatch as FoundPlace, CodeSearch};
use crate::tool::ToolDisplay;
use crate::user_prompts::{UserPrompts, UserQuestion};

/// Returns one location, or fails on request.
struct Plugged(Result<(), &'static str>);

impl Plugged {
    fn give<T: Send + 'static>(&self, found: Vec<T>) -> BoxFuture<'static, Result<Vec<T>, Error>> {
        let failed = |reason: &str| Error::SearchFailed(reason.to_owned());
        let result = self.0.map(|()| found).map_err(failed);
        Box::pin(std::future::ready(result))
    }
}

fn found(text: &str) -> FoundPlace {
    FoundPlace {
        path: "src/a.rs".to_owned(),
        lines: (3, 4),
        symbol: Some("save".to_owned()),
        text: text.to_owned(),
        score: 1.0,
    }
}

impl CodeSearch for Plugged {
    fn by_meaning(
        &self,
        _: &AbsPath,
        question: String,
        folder: Option<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<FoundPlace>, Error>> {
        let text = format!("{question} {folder:?} {limit}");
        self.give(if question == "nothing" {
            Vec::new()
        } else {
            vec![found(&text)]
        })
    }

    fn symbols(
        &self,
        _: &AbsPath,
        name: String,
        _: usize,
    ) -> BoxFuture<'static, Result<Vec<FoundPlace>, Error>> {
        self.give(if name == "nothing" {
            Vec::new()
        } else {
            vec![found("fn save() {}")]
        })
    }
}

fn plugged(state: Result<(), &'static str>) -> World {
    let plug = Arc::new(Plugged(state));
    World::plugged(|sources| sources.search = Some(plug))
}

#[tokio::test]
async fn optional_services_enable_their_tools() {
    let world = plugged(Ok(()));
    let profile = Profile::harmless();
    for name in ["semantic_search", "symbols"] {
        assert!(world.tool(name).spec(&profile).is_some(), "{name}");
        assert!(
            World::fake().0.tool(name).spec(&profile).is_none(),
            "{name}"
        );
    }
    let text = async |tool: &str, input| world.call(tool, input).await.text();
    let found = text(
        "semantic_search",
        json!({ "query": "where?", "path": "./", "limit": 3 }),
    )
    .await;
    assert_eq!(found, "src/a.rs:3-4 save\nwhere? None 3\n\n");
    let found = text("symbols", json!({ "name": "save" })).await;
    assert_eq!(found, "src/a.rs:3-4 save\nfn save() {}\n\n");
    for (tool, input) in [
        ("semantic_search", json!({ "query": "nothing" })),
        ("symbols", json!({ "name": "nothing" })),
    ] {
        let answer = world.call(tool, input).await;
        assert!(
            answer.outcome == CallOutcome::Ok && answer.text().contains("nothing"),
            "{answer:?}"
        );
    }
}

#[tokio::test]
pub(super) async fn every_way_of_asking_others_to_fail_says_what_to_do() {
    use CallOutcome::{InvalidArguments, ProviderError, UnexpectedEnvironment, UserAborted};
    let inputs = [
        ("semantic_search", json!({ "query": "x" })),
        ("symbols", json!({ "name": "x" })),
    ];
    let broken = plugged(Err("it is down"));
    let (bare, _) = World::fake();
    let mut stopped = plugged(Ok(()));
    let (_sender, stop) = tokio::sync::watch::channel(true);
    stopped.context.stop = stop;
    for (tool, input) in inputs {
        assert_says(
            &broken.call(tool, input.clone()).await,
            ProviderError,
            "it is down",
        );
        assert_says(
            &bare.call(tool, input.clone()).await,
            UnexpectedEnvironment,
            "is not set up",
        );
        assert_says(&stopped.call(tool, input).await, UserAborted, "Stopped");
    }
    let cases = [
        (
            "semantic_search",
            json!({}),
            InvalidArguments,
            "`query` is missing",
        ),
        (
            "semantic_search",
            json!({ "query": " " }),
            InvalidArguments,
            "is empty",
        ),
        (
            "semantic_search",
            json!({ "query": "x", "limit": "many" }),
            InvalidArguments,
            "whole number",
        ),
        ("symbols", json!({}), InvalidArguments, "`name` is missing"),
        (
            "semantic_search",
            json!({ "query": [] }),
            InvalidArguments,
            "must be a string",
        ),
        ("plan", json!({}), InvalidArguments, "`todos` is missing"),
        (
            "plan",
            json!({ "todos": "x" }),
            InvalidArguments,
            "list of steps",
        ),
        (
            "plan",
            json!({ "todos": [{ "state": "open" }] }),
            InvalidArguments,
            "step 1 has no `text`",
        ),
        (
            "plan",
            json!({ "todos": [{ "text": "a", "state": "maybe" }] }),
            InvalidArguments,
            "not \"maybe\"",
        ),
        (
            "plan",
            json!({ "todos": vec!["x"; 101] }),
            InvalidArguments,
            "too many",
        ),
        (
            "ask_user",
            json!({}),
            InvalidArguments,
            "`question` is missing",
        ),
        (
            "ask_user",
            json!({ "question": " " }),
            InvalidArguments,
            "is empty",
        ),
        (
            "ask_user",
            json!({ "question": "a?", "options": 1 }),
            InvalidArguments,
            "list of strings",
        ),
        (
            "ask_user",
            json!({ "question": "a?" }),
            UserAborted,
            "No answer",
        ),
        ("memory", json!({}), InvalidArguments, "`rule` is missing"),
        (
            "memory",
            json!({ "rule": "  " }),
            InvalidArguments,
            "is empty",
        ),
        (
            "memory",
            json!({ "rule": "x".repeat(3000) }),
            InvalidArguments,
            "shorter",
        ),
        ("git", json!({}), InvalidArguments, "`action` is missing"),
        (
            "git",
            json!({ "action": "push" }),
            InvalidArguments,
            "not \"push\"",
        ),
        (
            "git",
            json!({ "action": "blame" }),
            InvalidArguments,
            "`path` is missing",
        ),
        (
            "git",
            json!({ "action": "log", "path": "/etc" }),
            UnexpectedEnvironment,
            "outside",
        ),
        (
            "git",
            json!({ "action": "log", "limit": "x" }),
            InvalidArguments,
            "whole number",
        ),
        (
            "git",
            json!({ "action": "status" }),
            UnexpectedEnvironment,
            "git",
        ),
        (
            "fetch",
            json!({ "url": 1 }),
            InvalidArguments,
            "must be a string",
        ),
    ];
    let world = plugged(Ok(()));
    for (tool, input, outcome, says) in cases {
        let answer = world.call(tool, input.clone()).await;
        assert!(
            answer.outcome == outcome && answer.text().contains(says),
            "{tool} {input}: {answer:?}"
        );
    }
}

#[tokio::test]
async fn a_plan_is_shown() {
    let (world, _) = World::fake();
    let input = json!({ "todos": [
        { "text": "look", "state": "done" },
        { "content": "change", "status": "in_progress" },
        { "step": "test", "status": "pending" },
        "and tell",
        { "text": "no", "state": "dropped" },
    ] });
    let answer = world.call("plan", input).await;
    assert_eq!(answer.text(), "Written down: 1 of 4 done. Next: change");
    let todo = |text: &str, state| TodoItem {
        text: text.to_owned(),
        state,
    };
    let expected = vec![
        todo("look", TodoState::Done),
        todo("change", TodoState::Doing),
        todo("test", TodoState::Open),
        todo("and tell", TodoState::Open),
        todo("no", TodoState::Dropped),
    ];
    assert_eq!(answer.display, [ToolDisplay::Plan(expected)]);
}

#[tokio::test]
async fn ask_user_asks_the_user() {
    let (mut world, _) = World::fake();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    world.context.prompts = UserPrompts::new(move |question: UserQuestion| {
        seen.lock().expect("no panic").push(question);
        Box::pin(std::future::ready(Some("the second".to_owned())))
    });
    let answer = world
        .call(
            "ask_user",
            json!({ "question": "Which?", "options": ["a", { "label": "b" }] }),
        )
        .await;
    assert_eq!(answer.text(), "The user answers: the second");
    let several = json!({ "questions": [{ "question": "First?", "options": [] }, { "question": "Second?" }] });
    world.call("ask_user", several).await;
    let asked = asked.lock().expect("no panic").clone();
    assert_eq!(asked[0].options, ["a", "b"]);
    assert_eq!(asked[1].text, "First?");
}

#[tokio::test]
async fn rules_are_kept_in_the_project() {
    let (world, _) = World::fake();
    let remember = async |rule: &str| world.call("memory", json!({ "rule": rule })).await;
    assert_eq!(
        remember("Run  tests\nwith make.").await.outcome,
        CallOutcome::Ok
    );
    assert_eq!(
        world.text("AGENTS.md").as_deref(),
        Some("## Notes\n\n- Run tests with make.\n")
    );
    assert_eq!(
        remember("Run tests with make.").await.text(),
        "That rule is already saved."
    );
    world.write(
        "AGENTS.md",
        "# Agents\n\n## Notes\n\n- One.\n\n## More\n\ntext\n",
    );
    assert_eq!(remember("Two.").await.outcome, CallOutcome::Ok);
    assert_eq!(
        world.text("AGENTS.md").as_deref(),
        Some("# Agents\n\n## Notes\n\n- One.\n- Two.\n\n## More\n\ntext\n")
    );
    world.write("AGENTS.md", "# Agents\n");
    remember("Three.").await;
    assert_eq!(
        world.text("AGENTS.md").as_deref(),
        Some("# Agents\n\n## Notes\n\n- Three.\n")
    );
}

#[tokio::test]
pub(super) async fn the_repository_is_read() {
    let world = World::real();
    world.write("a.txt", "one\ntwo\n");
    let git = "git -c user.name=Ada -c user.email=ada@example.org";
    let script = format!(
        "git init -q -b main . && git add -A && {git} commit -qm first && echo three >> a.txt && {git} commit -qam second && echo four >> a.txt && echo new > b.txt"
    );
    let answer = world
        .call("exec_command", json!({ "command": script }))
        .await;
    assert_says(&answer, CallOutcome::Ok, "exit code 0");
    let text = async |input| world.call("git", input).await.text();
    assert_eq!(
        text(json!({ "action": "status" })).await,
        "On branch main.\nmodified a.txt\nuntracked b.txt\n"
    );
    assert!(text(json!({ "action": "diff" })).await.contains("+four\n"));
    assert_eq!(
        text(json!({ "action": "diff", "staged": true })).await,
        "No difference."
    );
    assert!(
        text(json!({ "action": "diff", "revision": "HEAD~1..HEAD", "path": "a.txt" }))
            .await
            .contains("+three\n")
    );
    let log = text(json!({ "action": "log", "path": "a.txt" })).await;
    assert!(
        log.lines().count() == 2 && log.contains("Ada <ada@example.org>  second"),
        "{log}"
    );
    let shown = text(json!({ "action": "show", "revision": "HEAD" })).await;
    assert!(
        shown.contains("\nsecond\n") && shown.contains("+three\n"),
        "{shown}"
    );
    assert_eq!(
        text(json!({ "action": "show", "revision": "HEAD~1", "path": "a.txt" })).await,
        "one\ntwo\n"
    );
    let blame = text(json!({ "action": "blame", "path": "a.txt" })).await;
    assert!(
        blame.lines().count() == 3 && blame.contains("    3 three\n"),
        "{blame}"
    );
    for (input, says) in [
        (json!({ "action": "log", "revision": "nowhere" }), "nowhere"),
        (
            json!({ "action": "show", "path": "none" }),
            "There is no file none at HEAD.",
        ),
        (json!({ "action": "blame", "path": "b.txt" }), "b.txt"),
    ] {
        assert_says(
            &world.call("git", input).await,
            CallOutcome::UnexpectedEnvironment,
            says,
        );
    }
}

/// The editor holds one file with this text.
struct Open(&'static str);

impl Buffers for Open {
    fn text(&self, path: &AbsPath) -> Option<String> {
        (path.name() == "open").then(|| self.0.to_owned())
    }

    fn unsaved(&self) -> Vec<AbsPath> {
        vec![AbsPath::new("/r/open").expect("absolute")]
    }
}

#[tokio::test]
pub(super) async fn unsaved_texts_are_read_and_searched_and_not_edited() {
    let world = World::plugged(|sources| sources.buffers = Some(Arc::new(Open("unsaved\n"))));
    world.write("open", "saved\n");
    world.write("closed", "saved\n");
    assert_says(
        &world.call("read", json!({ "path": "open" })).await,
        CallOutcome::Ok,
        "unsaved",
    );
    let found = world
        .call("grep", json!({ "pattern": "saved" }))
        .await
        .text();
    assert_eq!(found, "closed:1:saved\nopen:1:unsaved\n");
    let edit = |path: &str| json!({ "path": path, "old_string": "saved", "new_string": "x" });
    assert_says(
        &world.call("edit", edit("open")).await,
        CallOutcome::UnexpectedEnvironment,
        "unsaved changes in the editor",
    );
    assert_eq!(
        world.call("edit", edit("closed")).await.outcome,
        CallOutcome::Ok
    );
    let saved = World::plugged(|sources| sources.buffers = Some(Arc::new(Open("saved\n"))));
    saved.write("open", "saved\n");
    assert_eq!(
        saved.call("edit", edit("open")).await.outcome,
        CallOutcome::Ok
    );
}
