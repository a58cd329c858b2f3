//! Profiles that change in one session: by an experiment, and after alarms about tools.

use std::sync::Arc;

use model::{EditTool, Profile, ResponseScript, ScriptedClient};
use quality::outcomes::MeasuredCall;
use quality::{ExperimentSet, ExposureRecord, QualityRecord};

use super::super::{ScriptedGateway, SessionLimits, SessionOptions, SessionVariant, start};
use super::fakes::{FakeTool, Talk, assert_whole, world, world_with};
use crate::record::SessionRecord;
use crate::tool::{Tool, ToolClass};
use crate::tools::{self, ToolOptions};

const HOUR: u64 = 3_600_000;

/// A history in which the tool always works, and then fails in every call.
fn broken(tool: &str) -> Vec<MeasuredCall> {
    let call = |ix: u64| MeasuredCall {
        at_ms: ix * HOUR,
        millis: 100.0,
        tool: tool.to_owned(),
        model: "test/model".to_owned(),
        outcome: if ix < 400 { "ok" } else { "timeout" }.to_owned(),
        session: "earlier".to_owned(),
        call: format!("c{ix}"),
    };
    (0..420).map(call).collect()
}

fn notes(talk: &Talk) -> Vec<String> {
    let records = talk.records().into_iter();
    records
        .filter_map(|stored| match stored.record {
            SessionRecord::Noted { text } => Some(text),
            _ => None,
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_foreign_tool_with_an_alarm_is_rested() {
    let world = world([ResponseScript::text("one"), ResponseScript::text("two")]);
    let log = world.log.clone();
    let foreign = FakeTool {
        name: "mcp__weather",
        class: ToolClass::Foreign,
        log,
    };
    let begin = SessionOptions {
        tools: vec![Arc::new(foreign) as Arc<dyn Tool>],
        ..world.begin()
    };
    let mut talk = Talk::new(start(begin));
    talk.ask("first").await;
    world.harness.tool_health().load(broken("mcp__weather"));
    talk.ask("second").await;
    let requests = world.client.requests();
    let offers = |ix: usize| {
        let mut tools = requests[ix].tools.iter();
        tools.any(|tool| tool.name == "mcp__weather")
    };
    assert!(offers(0) && !offers(1));
    let notes = notes(&talk);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].starts_with("The tool mcp__weather fails more often than usual (timeout: "),
        "{notes:?}"
    );
    let told = format!("{:?}", requests[1].messages.last());
    assert!(told.contains("Your tools changed"), "{told}");
    assert_whole(&talk.records());
}

#[tokio::test(start_paused = true)]
async fn an_edit_tool_with_an_alarm_gives_way_to_its_fallback() {
    let client = ScriptedClient::new([ResponseScript::text("one")]);
    let mut mind = ScriptedGateway::new(client);
    mind.profile = Arc::new(Profile {
        edit: EditTool::Hashline,
        ..(*mind.profile).clone()
    });
    let world = world_with(mind, SessionLimits::default());
    world.harness.tool_health().load(broken("edit_lines"));
    let options = ToolOptions::new(&world.harness.parts.sources);
    let begin = SessionOptions {
        tools: tools::all(&options),
        ..world.begin()
    };
    let mut talk = Talk::new(start(begin));
    talk.ask("first").await;
    let request = world.client.requests().remove(0);
    let names: Vec<&str> = request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert!(!names.contains(&"edit_lines"), "{names:?}");
    let notes = notes(&talk);
    assert!(
        notes.len() == 1 && notes[0].contains("files are edited with edit until it works again"),
        "{notes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_keeps_the_variant_of_its_experiment() {
    let variant = |name: &str, size: u64| {
        format!(r#"{{"name": "{name}", "profiles": [{{"match": ["*"], "max_output": {size}}}]}}"#)
    };
    let file = format!(
        r#"{{"experiments": [{{"id": "short", "unit": "session", "metric": "kept_hour", "variants": [{}, {}]}}]}}"#,
        variant("usual", 111),
        variant("tried", 222)
    );
    let (experiments, problems) = ExperimentSet::parse(&file);
    assert_eq!(problems, Vec::<String>::new());
    let experiment = Arc::new(experiments.of_sessions().expect("an experiment").clone());
    let world = world((0..8).map(|_| ResponseScript::text("done")));
    for _ in 0..4 {
        let begin = SessionOptions {
            variant: Some(SessionVariant::new(experiment.clone())),
            ..world.begin()
        };
        let mut talk = Talk::new(start(begin));
        talk.ask("first").await;
        talk.ask("second").await;
        let expected = match experiment.variant_of(&talk.id).name.as_str() {
            "usual" => 111,
            _ => 222,
        };
        let requests = world.client.requests();
        for request in &requests[requests.len() - 2..] {
            assert_eq!(request.max_output.0, expected);
        }
        talk.close().await;
    }
    world.harness.store().flush().await.expect("flushed");
    let rows = world.harness.store().quality(0).expect("rows").records;
    let exposures: Vec<ExposureRecord> = rows
        .into_iter()
        .filter_map(|row| match row {
            QualityRecord::Exposure(row) => Some(row),
            _ => None,
        })
        .collect();
    assert_eq!(exposures.len(), 4);
    for row in exposures {
        assert_eq!(row.variant, experiment.variant_of(&row.subject).name);
    }
}
