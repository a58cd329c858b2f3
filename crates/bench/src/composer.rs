//! The agents of a window: keys beside eight streams, long transcripts and lists, and agents that outlive their window.
//!
//! `window`: a whole window without a screen. `reattach`: a background process with eight sessions, each of which waits
//! for its user. `BURIN_BENCH_PARTS` selects one.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::record::SessionMode;
use agent::session::UserPrompt;
use agent::{AgentEvent, SessionCommand, SessionRecord};
use agent_service::{AgentService as _, NewSession, SessionConnection};
use background::{BackgroundAgents, EngineServices, ServerProgram};
use base::AbsPath;
use futures::StreamExt as _;
use futures::executor::block_on;
use futures::future::join_all;
use host::Dirs;
use runtime::indexes::IndexRegistry;

use crate::figure::Figure;
use crate::interleave::quantile;
use crate::is_wanted;
use crate::typing::of_window;

const SESSIONS: usize = 8;
const TRIALS: usize = 40;
/// Time after which the process ends when nothing uses it.
const IDLE_TIME: Duration = Duration::from_secs(60);
/// Goal for the time until the window shows all sessions again, in milliseconds.
const GOAL: f64 = 200.0;
/// The argument with which this program is the background process; the folder of its files follows.
const SERVER: &str = "composer-server";

/// Runs the background process if the arguments ask for it.
pub(crate) fn run_server() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let is_server = arguments.next().is_some_and(|it| it == SERVER);
    let folder = is_server.then(|| arguments.next().and_then(AbsPath::new))??;
    Some(match background::serve(&Dirs::under(&folder), IDLE_TIME) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    if is_wanted("reattach") {
        figures.extend(reattach()?);
    }
    if is_wanted("window") {
        figures.extend(of_window("workbench", "window", &["sessions"])?);
    }
    Ok(figures)
}

/// Measures the time in which a new window knows all running sessions and their records.
fn reattach() -> Result<Vec<Figure>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let real = folder.path().canonicalize();
    let real = real.map_err(|error| error.to_string())?;
    let real = AbsPath::new(real).ok_or("the temporary folder has no absolute path")?;
    let window = client(&real)?;
    let mut ids = Vec::new();
    for _ in 0..SESSIONS {
        let session = NewSession {
            root: real.clone(),
            model: "demo".to_owned(),
            mode: SessionMode::Build,
        };
        let started = block_on(window.start(session));
        let mut session = started.map_err(|error| error.to_string())?;
        (session.send)(SessionCommand::Prompt(UserPrompt {
            text: "Fix the failing test".to_owned(),
            images: Vec::new(),
        }));
        block_on(until_question(&mut session))?;
        ids.push(session.id.clone());
    }
    drop(window);
    let (mut times, mut records) = (Vec::new(), 0);
    for _ in 0..TRIALS {
        let window = client(&real)?;
        let start = Instant::now();
        let opened = join_all(ids.iter().map(|id| {
            let session = window.open(real.clone(), id.clone());
            async {
                let mut session = session.await.map_err(|error| error.to_string())?;
                until_question(&mut session).await
            }
        }));
        let counts: Result<Vec<usize>, String> = block_on(opened).into_iter().collect();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let count = counts?.iter().sum();
        if records > 0 && count != records {
            return Err(format!("{count} records came, {records} before"));
        }
        records = count;
    }
    let dirs = dirs(&real);
    let stopping = background::ask_to_stop(&dirs, true);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let stopped = runtime
        .map_err(|error| error.to_string())?
        .block_on(stopping);
    stopped.map_err(|error| error.to_string())?;
    let name = "a new window to all records of 8 waiting sessions";
    let figure = |label: &str, share: f64, goal| {
        let value = quantile(times.iter().copied(), share);
        Figure::alone(format!("{name} {label}"), value, "ms", TRIALS, goal)
    };
    Ok(vec![
        figure("p50", 0.5, None),
        figure("p99", 0.99, Some(GOAL)),
    ])
}

/// Returns the folders of the background process.
fn dirs(folder: &AbsPath) -> Dirs {
    Dirs::under(&folder.join("served"))
}

/// A window's engines, which start the process if none runs.
fn client(folder: &AbsPath) -> Result<BackgroundAgents, String> {
    let own = Dirs::under(&folder.join("window"));
    own.create().map_err(|error| error.to_string())?;
    let served = folder.join("served");
    let dirs = Dirs::under(&served);
    dirs.create().map_err(|error| error.to_string())?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = ServerProgram {
        path: AbsPath::new(program).ok_or("this program has no absolute path")?,
        arguments: vec![SERVER.into(), served.to_string().into()],
    };
    let local = EngineServices::new(own.clone(), Arc::default(), IndexRegistry::new(&own));
    Ok(BackgroundAgents::new(
        dirs,
        program,
        Arc::new(local),
        Arc::default(),
    ))
}

/// Receives events until the session asks its user, and returns the number of records.
async fn until_question(session: &mut SessionConnection) -> Result<usize, String> {
    let mut records = 0;
    while let Some(event) = session.events.next().await {
        let AgentEvent::Recorded(stored) = event else {
            continue;
        };
        records += 1;
        if matches!(stored.record, SessionRecord::LeaveAsked { .. }) {
            return Ok(records);
        }
    }
    Err("the session ended before its question".to_owned())
}
