//! The time from the last byte of a long completion answer to its items.

use std::io::Write as _;
use std::thread;
use std::time::Instant;

use base::ByteOffset;
use lsp::CompletionTrigger;
use serde_json::json;
use text::Snapshot;

use super::server::{PipeServer, TIME, connect, frame, path};
use crate::figure::Figure;
use crate::interleave::quantile;

/// Number of items; with their documentation they take about 10 MB, as basedpyright's do.
const ITEMS: usize = 12_245;
const BYTES_PER_ITEM: usize = 830;
const ROUNDS: usize = 15;

pub(super) fn run() -> Result<Vec<Figure>, String> {
    let items = items();
    let (client, _events, mut server) = connect(&json!({
        "textDocumentSync": 2, "completionProvider": {}, "positionEncoding": "utf-16",
    }))?;
    let document = path("/w/a.py");
    client.open_document(&document, "python", &Snapshot::new("c"));
    server.expect("textDocument/didOpen")?;
    let (mut sent, mut read) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let request = client.completion(&document, ByteOffset(1), CompletionTrigger::Invoked);
        sent.push(start.elapsed().as_secs_f64() * 1e3);
        let request = request.ok_or("completions are not offered")?;
        let asked = server.expect("textDocument/completion")?;
        let body = format!(
            r#"{{"id":{},"result":{{"isIncomplete":false,"items":{items}}}}}"#,
            asked["id"]
        );
        bytes = body.len();
        let (list, last) = thread::scope(|scope| {
            let last = scope.spawn(|| write(&mut server, &body));
            let list = request.wait(TIME).map_err(|error| error.to_string());
            let done = Instant::now();
            let last = last.join().map_err(|_| "the server panicked".to_owned());
            (list, last.map(|last| done.saturating_duration_since(last)))
        });
        let count = list?.items.len();
        if count != ITEMS {
            return Err(format!("{count} items arrived"));
        }
        read.push(last?.as_secs_f64() * 1e3);
    }
    let median = |values: &[f64]| quantile(values.iter().copied(), 0.5);
    let name = format!("answer of {:.1} MB, last byte to items", bytes as f64 / 1e6);
    Ok(vec![
        Figure::alone(name, median(&read), "ms", ROUNDS, Some(60.0)),
        Figure::alone(
            "completion request, time on the UI thread",
            median(&sent),
            "ms",
            ROUNDS,
            Some(1.0),
        ),
    ])
}

/// Writes a message and returns the time before its last byte was written.
fn write(server: &mut PipeServer, body: &str) -> Instant {
    let bytes = frame(body);
    let (last, most) = bytes.split_last().expect("it is not empty");
    let written = server.output.write_all(most);
    let now = Instant::now();
    if written
        .and_then(|()| server.output.write_all(&[*last]))
        .is_err()
    {
        eprintln!("the client closed its input");
    }
    now
}

fn items() -> String {
    let item = |ix: usize| {
        let documentation =
            "A function of a module, with a text that explains it. ".repeat(BYTES_PER_ITEM / 56);
        let label = format!("c_{}_{ix}", ["alpha", "beta", "gamma", "delta"][ix % 4]);
        json!({
            "label": label, "kind": 3, "sortText": format!("09.9999.{label}"), "detail": "Auto-import",
            "documentation": documentation, "data": { "uri": "file:///w/a.py", "symbolLabel": label },
        })
    };
    let items: serde_json::Value = (0..ITEMS).map(item).collect();
    items.to_string()
}
