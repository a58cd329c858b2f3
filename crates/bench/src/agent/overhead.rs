//! Overhead of the harness per call: from the model's answer to the start of the tool, and from the end of the
//! tool to the next request. A record goes to a real ledger on the disk before and after each call.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::world::{Calls, Moment, World};
use crate::figure::Figure;
use crate::interleave::quantile;

/// Number of calls measured, one after the other in one session.
const CALLS: usize = 500;
/// Maximum overhead, in milliseconds.
const GOAL: f64 = 10.0;

pub(super) async fn run() -> Result<Vec<Figure>, String> {
    let plan = |step: usize| if step < CALLS { call(step) } else { Vec::new() };
    let world = World::new(Arc::new(plan))?;
    let lines: String = (0..2_000).map(|line| format!("line {line}\n")).collect();
    world.write("file.txt", &lines)?;
    let mut session = world.session();
    session.turn().await?;
    let (before, after) = added(&world.take());
    if before.len() != CALLS || after.len() != CALLS {
        return Err(format!("{} of {CALLS} calls were measured", before.len()));
    }
    let both: Vec<f64> = before
        .iter()
        .zip(&after)
        .map(|(one, other)| one + other)
        .collect();
    let late = &both[CALLS - 100..];
    let figure = |name: &str, values: &[f64], share: f64, goal| {
        let value = quantile(values.iter().copied(), share);
        Figure::alone(name, value, "ms", values.len(), goal)
    };
    let disk = synced_writes()?;
    Ok(vec![
        figure("added to a call, median", &both, 0.5, Some(GOAL)),
        figure("added to a call, p99", &both, 0.99, Some(GOAL)),
        figure("  answer to beginning, median", &before, 0.5, None),
        figure("  answer to beginning, p99", &before, 0.99, None),
        figure("  end to next question, median", &after, 0.5, None),
        figure("  end to next question, p99", &after, 0.99, None),
        figure("  the last 100 of 500 calls, median", late, 0.5, None),
        figure("  a synced write to this disk, median", &disk, 0.5, None),
    ])
}

/// Measures synced writes of four kilobytes, in milliseconds. A call needs two of them.
fn synced_writes() -> Result<Vec<f64>, String> {
    let failed = |error| format!("the disk cannot be measured: {error}");
    let mut file = tempfile::tempfile().map_err(failed)?;
    let mut times = Vec::new();
    for _ in 0..100 {
        let start = Instant::now();
        file.write_all(&[b'x'; 4_096]).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        times.push(start.elapsed().as_secs_f64() * 1_000.0);
    }
    Ok(times)
}

/// Returns the call of a step; no two steps have the same call.
fn call(step: usize) -> Calls {
    let call = match step % 4 {
        0 => (
            "read",
            json!({ "path": "file.txt", "offset": step + 1, "limit": 60 }),
        ),
        1 => (
            "exec_command",
            json!({ "command": format!("seq {step} {}", step + 100) }),
        ),
        2 => (
            "write",
            json!({ "path": format!("out-{step}.txt"), "content": format!("{step}\n") }),
        ),
        _ => (
            "grep",
            json!({ "pattern": format!("line {step}$"), "path": "." }),
        ),
    };
    vec![call]
}

/// Returns the milliseconds before the start and after the end of each call.
fn added(moments: &[(Moment, Instant)]) -> (Vec<f64>, Vec<f64>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for pair in moments.windows(2) {
        let millis = (pair[1].1 - pair[0].1).as_secs_f64() * 1_000.0;
        match (&pair[0].0, &pair[1].0) {
            (Moment::Answered, Moment::Began) => before.push(millis),
            (Moment::Ended, Moment::Asked) => after.push(millis),
            _ => {}
        }
    }
    (before, after)
}
