//! Memory of sessions: sixteen in one process, each after fifty calls.

use std::sync::Arc;

use serde_json::json;

use super::world::World;
use crate::figure::Figure;

/// Number of sessions in the process.
const SESSIONS: usize = 16;
/// Number of calls in each session.
const CALLS: usize = 50;
/// Maximum memory of one session, in megabytes.
const GOAL: f64 = 10.0;

pub(super) async fn run() -> Result<Vec<Figure>, String> {
    let plan = |step: usize| {
        if step < CALLS {
            vec![match step % 3 {
                0 => (
                    "read",
                    json!({ "path": "file.txt", "offset": step * 40 + 1, "limit": 200 }),
                ),
                1 => (
                    "exec_command",
                    json!({ "command": format!("seq {step} {}", step + 1_500) }),
                ),
                _ => (
                    "grep",
                    json!({ "pattern": format!("line {step}"), "path": "." }),
                ),
            }]
        } else {
            Vec::new()
        }
    };
    let world = World::new(Arc::new(plan))?;
    let lines: String = (0..4_000)
        .map(|line| format!("this is line {line} of a file\n"))
        .collect();
    world.write("file.txt", &lines)?;
    // An uncounted session loads everything that sessions share.
    world.session().turn().await?;
    let before = resident()?;
    let mut tasks = Vec::new();
    for _ in 0..SESSIONS {
        let mut session = world.session();
        tasks.push(tokio::spawn(async move {
            let done = session.turn().await;
            done.map(|()| session)
        }));
    }
    let mut sessions = Vec::new();
    for task in tasks {
        let session = task
            .await
            .map_err(|error| format!("a session broke off: {error}"))?;
        sessions.push(session?);
    }
    let each = (resident()? - before) / SESSIONS as f64;
    drop(sessions);
    let name = "memory of a session with 50 calls, of 16";
    Ok(vec![Figure::alone(name, each, "MB", SESSIONS, Some(GOAL))])
}

/// Returns the resident memory of this process, in megabytes.
fn resident() -> Result<f64, String> {
    let status = std::fs::read_to_string("/proc/self/status");
    let status = status.map_err(|error| format!("this process cannot be measured: {error}"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    let number: Option<f64> = number.and_then(|number| number.parse().ok());
    number
        .map(|kilobytes| kilobytes / 1_024.0)
        .ok_or_else(|| "VmRSS is missing".to_owned())
}
