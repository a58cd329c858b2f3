//! Agent benchmarks: parallel calls, the harness's overhead per call, the memory of a session, and the reduction
//! of logs.
//!
//! The tools, the ledger and the files are real; the model answers at once within this process, so that only
//! Burin's own time is measured.

mod crowd;
mod logs;
mod overhead;
mod parallel;
mod world;

use crate::figure::Figure;

/// Runs all parts and returns their figures.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let say = |part: &str| eprintln!("agent: {part} …");
    let mut figures = Vec::new();
    // Runs first, before other parts leave freed memory that the sessions would reuse.
    say("sixteen sessions");
    figures.extend(runtime.block_on(crowd::run())?);
    say("calls side by side");
    figures.extend(runtime.block_on(parallel::run())?);
    say("what the harness adds to a call");
    figures.extend(runtime.block_on(overhead::run())?);
    say("logs made short");
    figures.extend(logs::run()?);
    Ok(figures)
}
