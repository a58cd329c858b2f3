//! The observer of tool calls.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use host::{FakeClock, FakeFiles};
use model::ResponseScript;

use super::super::{Harness, HarnessParts, SessionLimits, SessionOptions, start};
use super::doubles::{NoContext, PlainCompactor};
use super::fakes::{FakeTool, Log, Talk, world};
use crate::call_observer::{CallObserver, ObservedCall, PossibleChanges};
use crate::record::TurnEnd;
use crate::tool::{CallInput, LockScope, ToolAccess, ToolCall, ToolClass, ToolResult};
use crate::tools::tests::context_of;

/// Notes the beginning and the end of each call, with the paths that it writes.
struct Notes(Log);

impl CallObserver for Notes {
    fn observe<'a>(
        &'a self,
        call: ObservedCall<'a>,
        run: BoxFuture<'a, ToolResult>,
    ) -> BoxFuture<'a, ToolResult> {
        let note = |text: String| self.0.lock().expect("the log").push(text);
        async move {
            note(format!("before {} {:?}", call.call.id, call.access.writes));
            tokio::task::yield_now().await;
            let result = run.await;
            note(format!("after {}: {}", call.call.id, result.text()));
            result
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn observer_runs_around_calls_of_all_tools() {
    let plain = world([
        ResponseScript::calls(&[("1", "edit", r#"{"say": "one", "writes": ["a"]}"#)]),
        ResponseScript::calls(&[("2", "mine", r#"{"say": "two"}"#)]),
        ResponseScript::text("done"),
    ]);
    let parts = &plain.harness.parts;
    let harness = Harness::new(HarnessParts {
        store: parts.store.clone(),
        sources: parts.sources.clone(),
        models: parts.models.clone(),
        tools: parts.tools.clone(),
        observer: Some(Arc::new(Notes(plain.log.clone()))),
        contexts: Arc::new(NoContext("You are a test.".to_owned())),
        compactor: Arc::new(PlainCompactor),
        limits: SessionLimits::default(),
        on_session_end: Arc::new(|_| {}),
    });
    let own = FakeTool {
        name: "mine",
        class: ToolClass::Foreign,
        log: plain.log.clone(),
    };
    let mut talk = Talk::new(start(SessionOptions {
        harness,
        tools: vec![Arc::new(own)],
        ..plain.begin()
    }));
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let writes = [LockScope::Path("a".to_owned())];
    assert_eq!(
        plain.log(),
        [
            format!("before 1 {writes:?}").as_str(),
            "+1",
            "-1",
            "after 1: one",
            "before 2 []",
            "+2",
            "-2",
            "after 2: two",
        ]
    );
}

#[test]
fn calls_that_may_write_change_files() {
    let files = Arc::new(FakeFiles::new());
    let context = context_of(files, Arc::new(FakeClock::at(0)), "/root");
    let call = ToolCall {
        id: "1".to_owned(),
        tool: "tool".to_owned(),
        input: CallInput::Json(serde_json::json!({})),
        waits: false,
    };
    let of = |class: ToolClass, writes: &[LockScope]| {
        let access = ToolAccess {
            writes: writes.to_vec(),
            ..ToolAccess::default()
        };
        let observed = ObservedCall {
            class,
            call: &call,
            access: &access,
            context: &context,
        };
        observed.possible_changes()
    };
    let path = |path: &str| LockScope::Path(path.to_owned());
    let tree = || LockScope::Tree(String::new());
    let paths = PossibleChanges::Paths(vec!["a".to_owned()]);
    for class in [ToolClass::Execute, ToolClass::Foreign] {
        assert_eq!(of(class, &[]), Some(PossibleChanges::All), "{class:?}");
    }
    for class in [ToolClass::Read, ToolClass::Interact, ToolClass::Delegate] {
        assert_eq!(of(class, &[tree()]), None, "{class:?}");
    }
    assert_eq!(of(ToolClass::Edit, &[path("a"), path("/b")]), Some(paths));
    assert_eq!(
        of(ToolClass::Edit, &[path("a"), tree()]),
        Some(PossibleChanges::All)
    );
    assert_eq!(of(ToolClass::Network, &[path("/b")]), None);
}
