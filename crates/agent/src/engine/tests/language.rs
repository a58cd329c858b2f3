//! Errors after edits, and calls whose edits a service computes.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, pending};
use model::{Profile, ResponseScript, ToolSpec};

use super::super::{SessionOptions, start};
use super::fakes::{FakeTool, Talk, assert_whole, world};
use crate::language::scripted::{ScriptedLanguage, errors};
use crate::outcome::CallOutcome;
use crate::record::TurnEnd;
use crate::session::{AgentEvent, SessionCommand};
use crate::tool::{LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

#[tokio::test(start_paused = true)]
async fn errors_follow_edits_and_files_that_are_read_are_opened() {
    let world = world([
        ResponseScript::calls(&[("1", "look", r#"{"reads": ["a.rs", "/etc/x"]}"#)]),
        ResponseScript::calls(&[("2", "edit", r#"{"say": "edited", "writes": ["a.rs"]}"#)]),
        ResponseScript::calls(&[("3", "exec", r#"{"say": "ran", "writes": ["a.rs"]}"#)]),
        ResponseScript::text("done"),
    ]);
    let language = Arc::new(ScriptedLanguage::default());
    let reports = [errors(&[("b.rs", &[])]), errors(&[("b.rs", &[(2, "bad")])])];
    *language.reports.lock().expect("the reports") = reports.into();
    let mut talk = Talk::new(start(SessionOptions {
        edit_diagnostics: Some(language.clone()),
        ..world.begin()
    }));
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let texts: Vec<String> = talk.ends().into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(
        texts,
        ["done", "edited\n1 new error:\nb.rs:2: bad\n", "ran"]
    );
    assert_eq!(
        language.log(),
        ["open a.rs", "diagnostics ", "diagnostics "]
    );
}

/// A tool whose edits are computed at once, or never.
struct PlannedTool {
    fake: FakeTool,
    is_endless: bool,
}

impl Tool for PlannedTool {
    fn name(&self) -> &str {
        self.fake.name()
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        self.fake.spec(profile)
    }

    fn class(&self) -> ToolClass {
        ToolClass::Edit
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        self.fake.access(call, context)
    }

    fn planned_access<'a>(
        &'a self,
        _: &'a ToolCall,
        _: &'a ToolContext,
    ) -> Option<BoxFuture<'a, Result<ToolAccess, ToolResult>>> {
        if self.is_endless {
            return Some(pending().boxed());
        }
        let access = ToolAccess {
            writes: vec![LockScope::Path("planned.rs".to_owned())],
            title: "planned".to_owned(),
            ..ToolAccess::default()
        };
        Some(std::future::ready(Ok(access)).boxed())
    }

    fn run<'a>(
        &'a self,
        _: &'a ToolCall,
        access: &'a ToolAccess,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        std::future::ready(ToolResult::ok(format!("{:?}", access.writes))).boxed()
    }
}

fn planned(world: &super::fakes::World, name: &'static str, is_endless: bool) -> Arc<dyn Tool> {
    let (class, log) = (ToolClass::Edit, world.log.clone());
    Arc::new(PlannedTool {
        fake: FakeTool { name, class, log },
        is_endless,
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_with_its_planned_access() {
    let world = world([
        ResponseScript::calls(&[("1", "rename", "{}")]),
        ResponseScript::text("done"),
    ]);
    let mut talk = Talk::new(start(SessionOptions {
        tools: vec![planned(&world, "rename", false)],
        ..world.begin()
    }));
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let (_, outcome, text) = talk.ends().remove(0);
    assert_eq!(
        (outcome, text.as_str()),
        (CallOutcome::Ok, r#"[Path("planned.rs")]"#)
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_planning_of_a_call_and_answers_all_calls() {
    let world = world([
        ResponseScript::calls(&[
            ("1", "look", "{}"),
            ("2", "rename", "{}"),
            ("3", "look", "{}"),
        ]),
        ResponseScript::text("again"),
    ]);
    let mut talk = Talk::new(start(SessionOptions {
        tools: vec![planned(&world, "rename", true)],
        ..world.begin()
    }));
    talk.say("go").await;
    talk.until(
        |event| matches!(event, AgentEvent::Recorded(stored) if stored.record.kind() == "answered"),
    )
    .await;
    talk.tell(SessionCommand::Stop).await;
    assert_eq!(talk.end().await, TurnEnd::Stopped);
    let ended: Vec<String> = talk.ends().into_iter().map(|(call, ..)| call).collect();
    assert_eq!(ended, ["1", "2", "3"]);
    assert_eq!(world.log(), Vec::<String>::new());
    assert_eq!(talk.ask("go on").await, TurnEnd::Done);
    assert_whole(&talk.records());
}
