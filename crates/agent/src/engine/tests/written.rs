//! Nothing happens before it is written down.

use std::sync::{Arc, Mutex, OnceLock};

use futures::FutureExt;
use futures::future::BoxFuture;
use model::{Profile, Script, ToolInput, ToolSpec};
use serde_json::json;

use super::super::{Harness, HarnessParts, Limits, NoContext, PlainCompactor, Start, start};
use super::fakes::{AllowAll, RuleMind, Talk, last, world};
use crate::record::{Mode, Record, TurnEnd};
use crate::store::Store;
use crate::tool::{Access, Answer, Call, Tool, ToolClass, ToolContext};

/// What the disk holds of a session at this moment, without waiting for anything.
fn on_disk(store: &OnceLock<Store>, session: &str) -> Vec<Record> {
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

/// A tool that looks whether its own beginning is on the disk.
struct Witness(Arc<OnceLock<Store>>);

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

    fn access(&self, _call: &Call, _context: &ToolContext) -> Result<Access, Answer> {
        Ok(Access::default())
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        let records = on_disk(&self.0, &context.session);
        let is_there = records
            .iter()
            .any(|record| matches!(record, Record::CallBegan { call: it, .. } if *it == call.id));
        std::future::ready(Answer::ok(if is_there { "written" } else { "missing" })).boxed()
    }
}

#[tokio::test]
async fn questions_and_calls_are_on_the_disk_before_they_are_made() {
    let plain = world([]);
    let store = Arc::new(OnceLock::new());
    assert!(store.set(plain.harness.store().clone()).is_ok());
    let unwritten = Arc::new(Mutex::new(0));
    let mind = {
        let (store, unwritten) = (store.clone(), unwritten.clone());
        RuleMind(move |request: &model::Request| {
            let session = request.conversation.as_deref().expect("a session");
            let last_record = on_disk(&store, session).pop();
            if !matches!(last_record, Some(Record::Asked { .. })) {
                *unwritten.lock().expect("a count") += 1;
            }
            match last(request) {
                (_, 0) => Script::calls(&[("1", "witness", "{}"), ("2", "witness", "{}")]),
                _ => Script::text("done"),
            }
        })
    };
    let harness = Harness::new(HarnessParts {
        store: plain.harness.store().clone(),
        sources: plain.harness.parts.sources.clone(),
        mind: Arc::new(mind),
        tools: vec![Arc::new(Witness(store))],
        contexts: Arc::new(NoContext("You are a test.".to_owned())),
        compactor: Arc::new(PlainCompactor),
        limits: Limits::default(),
        farewell: Arc::new(|_| {}),
    });
    let mut talk = Talk::new(start(Start {
        harness,
        judge: Arc::new(AllowAll),
        mode: Mode::Build,
        ..plain.begin()
    }));
    assert_eq!(talk.ask("go").await, TurnEnd::Done);
    let said: Vec<String> = talk.ends().into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(said, ["written", "written"]);
    assert_eq!(*unwritten.lock().expect("a count"), 0);
}
