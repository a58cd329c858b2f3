//! Every effect is recorded before it happens.

use std::sync::{Arc, Mutex, OnceLock};

use futures::FutureExt;
use futures::future::BoxFuture;
use model::{Profile, ResponseScript, ToolInput, ToolSpec};
use serde_json::json;

use super::super::{Harness, HarnessParts, SessionLimits, SessionOptions, start};
use super::doubles::{NoContext, PlainCompactor};
use super::fakes::{AllowAll, RuleMind, Talk, last, world};
use crate::record::{SessionMode, SessionRecord, TurnEnd};
use crate::store::SessionStore;
use crate::tool::{Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

/// Returns the session's records on the disk at this moment, without waiting for pending writes.
fn on_disk(store: &OnceLock<SessionStore>, session: &str) -> Vec<SessionRecord> {
    let past = store
        .get()
        .expect("a store")
        .read(session)
        .expect("it has begun");
    past.records
        .into_iter()
        .map(|stored| stored.record)
        .collect()
}

/// A tool that checks whether its own start is on the disk.
struct Witness(Arc<OnceLock<SessionStore>>);

impl Tool for Witness {
    fn name(&self) -> &str {
        "witness"
    }

    fn spec(&self, _profile: &Profile) -> Option<ToolSpec> {
        Some(ToolSpec {
            name: "witness".to_owned(),
            description: "Looks.".to_owned(),
            input: ToolInput::Json(json!({ "type": "object" })),
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn access(&self, _call: &ToolCall, _context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        Ok(ToolAccess::default())
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        let records = on_disk(&self.0, &context.session);
        let is_there = records.iter().any(
            |record| matches!(record, SessionRecord::CallBegan { call: it, .. } if *it == call.id),
        );
        std::future::ready(ToolResult::ok(if is_there { "written" } else { "missing" })).boxed()
    }
}

#[tokio::test]
async fn requests_and_calls_are_recorded_first() {
    let plain = world([]);
    let store = Arc::new(OnceLock::new());
    assert!(store.set(plain.harness.store().clone()).is_ok());
    let unwritten = Arc::new(Mutex::new(0));
    let mind = {
        let (store, unwritten) = (store.clone(), unwritten.clone());
        RuleMind(move |request: &model::ModelRequest| {
            let session = request.conversation.as_deref().expect("a session");
            let last_record = on_disk(&store, session).pop();
            if !matches!(last_record, Some(SessionRecord::Asked { .. })) {
                *unwritten.lock().expect("a count") += 1;
            }
            match last(request) {
                (_, 0) => ResponseScript::calls(&[("1", "witness", "{}"), ("2", "witness", "{}")]),
                _ => ResponseScript::text("done"),
            }
        })
    };
    let harness = Harness::new(HarnessParts {
        store: plain.harness.store().clone(),
        sources: plain.harness.parts.sources.clone(),
        models: Arc::new(mind),
        tools: vec![Arc::new(Witness(store))],
        observer: None,
        contexts: Arc::new(NoContext("You are a test.".to_owned())),
        compactor: Arc::new(PlainCompactor),
        limits: SessionLimits::default(),
        on_session_end: Arc::new(|_| {}),
    });
    let mut talk = Talk::new(start(SessionOptions {
        harness,
        call_judge: Arc::new(AllowAll),
        mode: SessionMode::Build,
        ..plain.begin()
    }));
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let said: Vec<String> = talk.ends().into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(said, ["written", "written"]);
    assert_eq!(*unwritten.lock().expect("a count"), 0);
}
