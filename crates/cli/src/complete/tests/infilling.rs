//! Single-line gaps through every family's wire: the server receives, byte for byte, the prompt
//! format that the family's makers published, and its answer becomes the suggestion.
//!
//! The expected prompts are in `families.txt`, each with its source; the tasks, modelled on
//! HumanEval-Infilling, are small functions of our own with one line removed.

use std::time::Duration;

use autocomplete::SuggestionSource;
use autocomplete::engine::CompletionRequest;
use base::AbsPath;
use futures::StreamExt as _;
use host::{Dirs, RealFiles};
use mockllm::{LoggedRequest, ResponseEnd};
use model::{Fim, StreamEvent, TokenCount};
use router::actor::RouterEvent;
use runtime::agent_services::router_request;
use runtime::models::setup::Setup;
use runtime::routing;
use serde_json::{Value, json};

use super::super::{CompleteCommand, remote};
use super::World;
use crate::Streams;
use crate::ask::open_ledger;

/// The families: a line with the model, one with the path, one with the body, in which `⟪P⟫` is the
/// text before the gap and `⟪S⟫` the text after it, both as JSON strings. Lines that start with `#`
/// name the source.
const FAMILIES: &str = include_str!("infilling/families.txt");
/// The tasks: the file's name after `==`, then its text, with the removed line between `⟪` and `⟫`.
const TASKS: &str = include_str!("infilling/tasks.txt");

/// The maximum wait for a socket to close.
const PATIENCE: Duration = Duration::from_secs(30);

struct Family {
    model: &'static str,
    path: &'static str,
    body: &'static str,
}

struct Task {
    file: &'static str,
    prefix: &'static str,
    line: &'static str,
    suffix: &'static str,
}

fn families() -> Vec<Family> {
    let lines = FAMILIES.lines().filter(|line| !line.starts_with('#'));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let families = lines.chunks(3).map(|lines| match lines {
        &[model, path, body] => Family { model, path, body },
        _ => panic!("three lines each: {lines:?}"),
    });
    families.collect()
}

fn tasks() -> Vec<Task> {
    let texts = TASKS.strip_prefix("== ").expect("a task").split("\n== ");
    let task = |text: &'static str| {
        let (file, text) = text.split_once('\n')?;
        let (prefix, text) = text.split_once('⟪')?;
        let (line, suffix) = text.split_once('⟫')?;
        Some(Task {
            file,
            prefix,
            line,
            suffix,
        })
    };
    texts.map(|text| task(text).expect("a task")).collect()
}

/// The position of the gap, in the form of the option `--at`.
fn position(task: &Task) -> String {
    let line = task.prefix.matches('\n').count() + 1;
    let row = task.prefix.rsplit('\n').next().unwrap_or_default();
    format!("{line}:{}", row.chars().count() + 1)
}

/// A text within a string of JSON.
fn quoted(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// A server that knows the line of each task by the file's own function.
fn serve(world: &World, tasks: &[Task]) -> mockllm::MockServer {
    let rule = |task: &Task| {
        let name = task.file.split('.').next().unwrap_or_default();
        json!({
            "match": { "prefix": { "regex": format!("\\b{name}\\b") } },
            "reply": [{ "text": task.line }],
        })
    };
    start_server(
        world,
        &json!({ "rules": tasks.iter().map(rule).collect::<Vec<_>>() }),
    )
}

/// A server that answers on every wire for gaps.
fn start_server(world: &World, script: &Value) -> mockllm::MockServer {
    let script = mockllm::Script::parse("infilling", &script.to_string()).expect("a script");
    let server = mockllm::MockServer::start(script).expect("listens");
    let provider = |(name, below): (&str, &str)| json!({ "name": name, "wire": name, "url": format!("{}{below}", server.url()) });
    let wires = [
        ("vllm", "/v1"),
        ("llama.cpp", "/v1"),
        ("ollama", "/v1"),
        ("mistral", "/v1"),
        ("deepseek", ""),
    ];
    let providers: Vec<Value> = wires.into_iter().map(provider).collect();
    let settings = json!({ "models": { "providers": providers } });
    world.write("own/config/settings.json", &settings.to_string());
    server
}

#[test]
fn every_family_sends_its_published_infill_request() {
    let (families, tasks) = (families(), tasks());
    assert!(tasks.len() >= 20, "{} tasks", tasks.len());
    let world = World::new(&[]);
    for task in &tasks {
        let text = format!("{}{}", task.prefix, task.suffix);
        world.write(&format!("project/{}/{}", task.file, task.file), &text);
    }
    let server = serve(&world, &tasks);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let dirs = Dirs::under(&world.path("own"));
    for family in &families {
        runtime.block_on(ask_all(family, &tasks, &world, (&dirs, &server)));
    }
}

async fn ask_all(
    family: &Family,
    tasks: &[Task],
    world: &World,
    (dirs, server): (&Dirs, &mockllm::MockServer),
) {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut streams = Streams {
        input: &mut std::io::empty(),
        output: &mut output,
        errors: &mut errors,
    };
    let mut setup = Setup::find(&RealFiles, dirs).await;
    let (model, routes) = remote::choose(family.model, &mut setup).expect("the model is known");
    let (usage_store, _) = open_ledger(dirs, &mut streams).expect("a book");
    let router = routing::start(routes, &setup.settings, usage_store);
    for task in tasks {
        let complete = CompleteCommand {
            root: Some(folder(world, task).as_path().to_owned()),
            file: task.file.into(),
            at: position(task).parse().expect("a position"),
            history: None,
            provider: family.model.to_owned(),
            json: true,
        };
        let query = complete.query(&RealFiles).expect("a query");
        let before = server.requests().len();
        let outcome = remote::drive(&router, model.clone(), &query).await;
        let seen = server.requests();
        let asked = seen[before..].iter().map(|seen| {
            let body = String::from_utf8_lossy(&seen.body).into_owned();
            (seen.path.as_str(), body)
        });
        let body = family.body.replace("⟪P⟫", &quoted(task.prefix));
        let body = body.replace("⟪S⟫", &quoted(task.suffix));
        let name = format!("{} of {}", task.file, family.model);
        let mut asked: Vec<_> = asked.collect();
        // The router may repeat a request that is slow on a busy machine.
        asked.dedup();
        assert_eq!(asked, [(family.path, body)], "{name}");
        let [suggestion] = outcome.suggestions.as_slice() else {
            panic!("{name}: {}", outcome.status);
        };
        let [edit] = suggestion.edits.as_slice() else {
            panic!("{name}: {:?}", suggestion.edits);
        };
        assert_eq!((&*edit.old, &*edit.new), ("", task.line), "{name}");
        assert_eq!(edit.span.start.0, task.prefix.len(), "{name}");
        assert_eq!(
            suggestion.source,
            SuggestionSource::Gap(model.id.clone()),
            "{name}"
        );
    }
    router.idle().await;
}

#[test]
fn dropping_a_response_closes_its_socket() {
    let world = World::new(&[]);
    let server = start_server(
        &world,
        &json!({
            "pace": { "tokens_per_second": 200, "tick_ms": 5 },
            "rules": [{ "reply": [{ "repeat": { "text": "on and on ", "times": 4_000 } }] }],
        }),
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let dirs = Dirs::under(&world.path("own"));
    for family in families() {
        runtime.block_on(async {
            let closed = drop_within(family.model, &dirs, &server);
            let closed = tokio::time::timeout(PATIENCE, closed).await;
            closed.unwrap_or_else(|_| panic!("{}: the socket stays open", family.model));
        });
    }
}

/// Asks, drops the answer after its first piece, and waits until the server has lost its client.
async fn drop_within(name: &str, dirs: &Dirs, server: &mockllm::MockServer) {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut streams = Streams {
        input: &mut std::io::empty(),
        output: &mut output,
        errors: &mut errors,
    };
    let mut setup = Setup::find(&RealFiles, dirs).await;
    let (model, routes) = remote::choose(name, &mut setup).expect("the model is known");
    let (usage_store, _) = open_ledger(dirs, &mut streams).expect("a book");
    let router = routing::start(routes, &setup.settings, usage_store);
    server.forget();
    let gap = Fim::gap(model.id, "fn a() {", "}", TokenCount(4_000));
    let mut events = router.submit(router_request(CompletionRequest::Fim(Box::new(gap))));
    loop {
        match events.next().await {
            Some(RouterEvent::Event(StreamEvent::TextDelta(_))) => break,
            Some(RouterEvent::Event(StreamEvent::Failed(failure))) => panic!("{name}: {failure:?}"),
            Some(_) => {}
            None => panic!("{name}: the answer ended by itself"),
        }
    }
    drop(events);
    let has_left = |seen: &[LoggedRequest]| {
        let last = seen.last().and_then(|seen| seen.end);
        last.is_some_and(|(end, _)| end == ResponseEnd::ClientDisconnected)
    };
    server.wait_until(has_left).await;
}

/// Each task has its own project, so that no other file reaches the model.
fn folder(world: &World, task: &Task) -> AbsPath {
    world.path("project").join(task.file)
}
