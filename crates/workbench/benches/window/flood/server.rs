//! A language server that reports diagnostics without end and answers requests for completions.

use std::io::{BufRead as _, Read as _, Stdin, Write as _, stdin, stdout};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value, json};

/// Number of diagnostics in a report about the edited file.
const DIAGNOSTICS: usize = 10_000;
const OTHER_FILES: usize = 100;
const DIAGNOSTICS_OF_OTHERS: usize = 100;
/// Number of items in each list of completions.
const ITEMS: usize = 2_000;
/// The start of the labels that match the typed word.
pub(crate) const MATCHING: &str = "alpha_";

/// A task of the thread that writes.
enum WriterTask {
    Answer(Value),
    /// Begins the reports; the address is that of the edited file.
    Flood(String),
}

/// Serves until the input ends.
pub(crate) fn run() {
    let mut input = stdin();
    let (tasks, received) = mpsc::channel();
    thread::spawn(move || write(&received));
    while let Some(message) = read(&mut input) {
        let task = match message["method"].as_str() {
            Some("initialize") => answer(
                &message,
                &json!({ "capabilities": {
                    "textDocumentSync": 2, "completionProvider": {}, "positionEncoding": "utf-8",
                } }),
            ),
            Some("textDocument/didOpen") => {
                let uri = message["params"]["textDocument"]["uri"].as_str();
                let uri = uri.expect("the address of the document").to_owned();
                if !uri.ends_with("typed.rs") {
                    continue;
                }
                WriterTask::Flood(uri)
            }
            Some("textDocument/completion") => answer(&message, &completions()),
            Some("exit") => return,
            _ if message["id"].is_number() => answer(&message, &Value::Null),
            _ => continue,
        };
        tasks.send(task).expect("the thread writes");
    }
}

/// Writes answers, and reports whenever there is no answer. The messages of a report differ from those of the one before.
fn write(tasks: &Receiver<WriterTask>) {
    let mut reports: Option<Box<dyn Iterator<Item = Value>>> = None;
    loop {
        let task = match &mut reports {
            Some(reports) => tasks.try_recv().unwrap_or_else(|_| {
                let report = reports.next();
                WriterTask::Answer(report.expect("reports have no end"))
            }),
            None => match tasks.recv() {
                Ok(task) => task,
                Err(_) => return,
            },
        };
        match task {
            WriterTask::Answer(message) => send(&message),
            WriterTask::Flood(uri) => reports = Some(Box::new(flood(uri))),
        }
    }
}

/// Makes reports without end.
fn flood(uri: String) -> impl Iterator<Item = Value> {
    let folder = uri.rsplit_once('/').map_or("", |(folder, _)| folder);
    let others = (0..OTHER_FILES).map(|file| format!("{folder}/other_{file}.rs"));
    let others = others.map(|uri| (uri, DIAGNOSTICS_OF_OTHERS));
    let mut files = vec![(uri.clone(), DIAGNOSTICS)];
    files.extend(others);
    (0..).flat_map(move |round| {
        let reports = files.iter().map(|(uri, count)| report(uri, *count, round));
        reports.collect::<Vec<_>>()
    })
}

/// Builds a report with diagnostics in the first rows, five in each.
fn report(uri: &str, count: usize, round: usize) -> Value {
    let diagnostic = |ix: usize| {
        json!({
            "range": {
                "start": { "line": ix / 5, "character": ix % 5 * 2 },
                "end": { "line": ix / 5, "character": ix % 5 * 2 + 2 },
            },
            "severity": ix % 4 + 1,
            "source": "flood",
            "message": format!("problem {ix} of round {round}"),
        })
    };
    let diagnostics: Value = (0..count).map(diagnostic).collect();
    json!({
        "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics",
        "params": { "uri": uri, "diagnostics": diagnostics },
    })
}

fn completions() -> Value {
    let item = |ix: usize| {
        let name = ["alpha", "beta", "gamma", "delta"][ix % 4];
        json!({ "label": format!("{name}_{ix}"), "kind": 3 })
    };
    let items: Value = (0..ITEMS).map(item).collect();
    json!({ "isIncomplete": false, "items": items })
}

fn answer(request: &Value, result: &Value) -> WriterTask {
    WriterTask::Answer(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
}

/// Writes a message; ends the program if the client is gone.
fn send(message: &Value) {
    let body = message.to_string();
    let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let mut output = stdout().lock();
    if output
        .write_all(frame.as_bytes())
        .and_then(|()| output.flush())
        .is_err()
    {
        std::process::exit(0);
    }
}

/// Reads the next message; `None` at the end.
fn read(input: &mut Stdin) -> Option<Value> {
    let mut input = input.lock();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                if let Some(value) = header.strip_prefix("Content-Length: ") {
                    length = value.parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
