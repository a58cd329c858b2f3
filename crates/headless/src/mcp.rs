//! The command `mcp`: which servers there are, and what the person says about them.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, LineFeeds, count_of, printable};
use clap::{Args, Subcommand};
use connect::mcp::{
    Approval, Event, Filled, Form, Origin, Page, Person, ServerEntry, ServerState, Status,
};
use futures::future::{BoxFuture, ready};
use host::{Dirs, Files, RealFiles};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::foreign::{self, Consents, Desks, Servers};
use crate::{Streams, form, unwritten};

/// How long servers may take to be ready.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pages that may wait to be shown.
const PAGES: usize = 4;

/// List MCP servers, and approve those of a project
#[derive(Args)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    what: What,
    /// The folder of the project; the working directory without it
    #[arg(long, global = true)]
    root: Option<PathBuf>,
}

#[derive(Subcommand)]
enum What {
    /// List the servers: where each is configured, its state, its tools, what to do
    List {
        /// Print an array of objects
        #[arg(long)]
        json: bool,
    },
    /// Let a server of the project run, as its entry is now
    Approve {
        /// The server
        name: String,
    },
    /// Stop letting a server of the project run
    Revoke {
        /// The server
        name: String,
    },
    /// Sign in to a server that wants it
    SignIn {
        /// The server
        name: String,
    },
}

/// What the commands work on.
struct World<'a> {
    files: Arc<dyn Files>,
    dirs: &'a Dirs,
    root: AbsPath,
    entries: Vec<ServerEntry>,
    problems: Vec<String>,
}

impl Mcp {
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        dirs.create().map_err(|error| error.to_string())?;
        let files: Arc<dyn Files> = Arc::new(RealFiles);
        let root = crate::folder(self.root.as_deref(), files.as_ref())?;
        let (entries, problems) = foreign::gather(files.as_ref(), dirs, &root);
        for problem in &problems {
            crate::tell(streams, problem);
        }
        let world = World {
            files,
            dirs,
            root,
            entries,
            problems,
        };
        match &self.what {
            What::Approve { name } => world.approve(name, streams),
            What::Revoke { name } => world.revoke(name, streams),
            What::List { json } => on_runtime(world.list(*json, streams)),
            What::SignIn { name } => on_runtime(world.sign_in(name, streams)),
        }
    }
}

fn on_runtime(work: impl Future<Output = Result<ExitCode, String>>) -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(work)
}

impl World<'_> {
    fn entry(&self, name: &str) -> Result<&ServerEntry, String> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = self
                .entries
                .iter()
                .map(|it| printable(&it.name, LineFeeds::Escape))
                .collect();
            match names.is_empty() {
                true => format!("there is no MCP server for {}", self.root),
                false => format!(
                    "there is no MCP server \"{name}\" for {}; there are {}",
                    self.root,
                    names.join(", ")
                ),
            }
        })
    }

    fn approve(&self, name: &str, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let entry = self.entry(name)?;
        let Origin::Project { file } = &entry.origin else {
            return Err(format!(
                "the server \"{name}\" is your own: it needs no approval"
            ));
        };
        let written = format!("{:#}", entry.written);
        let shown = format!(
            "The server \"{}\" of {file}, with your rights and variables:\n{written}\n",
            printable(name, LineFeeds::Escape)
        );
        streams
            .output
            .write_all(shown.as_bytes())
            .map_err(unwritten)?;
        if std::io::stdin().is_terminal() && !self.agrees(streams)? {
            return Ok(ExitCode::FAILURE);
        }
        self.say(entry, Approval::Allowed)?;
        let done = "It may run from now on, as it is written now.\n";
        streams
            .output
            .write_all(done.as_bytes())
            .map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Asks at the terminal.
    fn agrees(&self, streams: &mut Streams<'_>) -> Result<bool, String> {
        // Where standard error is closed there is nobody to ask.
        streams.errors.write_all(b"May it run? [y/N]: ").ok();
        streams.errors.flush().ok();
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"\n") {
            match streams.input.read(&mut byte) {
                Ok(0) => break,
                Ok(_) => line.push(byte[0]),
                Err(error) => return Err(format!("cannot read the answer: {error}")),
            }
        }
        Ok(form::truth(&String::from_utf8_lossy(&line)) == Some(true))
    }

    fn revoke(&self, name: &str, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        self.say(self.entry(name)?, Approval::Refused)?;
        let done = "It does not run any more; sessions that are open keep it until they end.\n";
        streams
            .output
            .write_all(done.as_bytes())
            .map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }

    fn say(&self, entry: &ServerEntry, approval: Approval) -> Result<(), String> {
        Consents::new(self.files.clone(), &self.dirs.state).set(entry, approval)
    }

    async fn list(&self, is_json: bool, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let servers = Servers::start(self.entries.clone(), &self.files, self.dirs, &self.root);
        servers.hub().settled(PATIENCE).await;
        let states = servers.hub().servers();
        let tools = servers.hub().tools();
        servers.hub().close().await;
        let names = |server: &str| -> Vec<&str> {
            let of = tools.iter().filter(|tool| tool.server == server);
            of.map(|tool| tool.name.as_str()).collect()
        };
        let text = match is_json {
            true => {
                let all = states
                    .iter()
                    .map(|state| self.json(state, &names(&state.entry.name)));
                format!("{}\n", Value::Array(all.collect()))
            }
            false if states.is_empty() => format!(
                "there are no MCP servers; write them into {}/mcp.json, or into .mcp.json of the project\n",
                self.dirs.config
            ),
            false => {
                let all = states
                    .iter()
                    .map(|state| self.lines(state, &names(&state.entry.name)));
                all.collect()
            }
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(unwritten)?;
        Ok(match self.problems.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }

    fn lines(&self, state: &ServerState, tools: &[&str]) -> String {
        let mut text = format!(
            "{} {}\n    {}\n    {}\n",
            printable(&state.entry.name, LineFeeds::Escape),
            foreign::told(&state.status),
            foreign::origin(&state.entry, &self.root),
            reach(&state.entry),
        );
        if let Some(advice) = foreign::advice(state) {
            text.push_str(&format!("    {advice}\n"));
        }
        if !tools.is_empty() {
            text.push_str(&format!(
                "    {}: {}\n",
                count_of(tools.len(), "tool"),
                tools.join(", ")
            ));
        }
        text
    }

    fn json(&self, state: &ServerState, tools: &[&str]) -> Value {
        json!({
            "name": state.entry.name,
            "from": foreign::origin(&state.entry, &self.root),
            "reach": reach(&state.entry),
            "is_ready": matches!(state.status, Status::Ready { .. }),
            "state": foreign::told(&state.status),
            "advice": foreign::advice(state),
            "tools": tools,
        })
    }

    async fn sign_in(&self, name: &str, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let entry = self.entry(name)?.clone();
        let (pages, mut shown) = mpsc::channel(PAGES);
        let person = Arc::new(Pages(pages));
        let desks = Arc::new(Desks::default());
        let servers = Servers::start_for(
            vec![entry],
            &self.files,
            self.dirs,
            &self.root,
            person,
            desks,
        );
        let hub = servers.hub();
        let mut events = hub.events();
        hub.settled(PATIENCE).await;
        let state = hub.servers().pop();
        let state = state.ok_or_else(|| format!("the server \"{name}\" is gone"))?;
        let how = format!(
            "the server \"{}\" {}",
            printable(name, LineFeeds::Escape),
            foreign::told(&state.status)
        );
        match &state.status {
            Status::NeedsSignIn { .. } => {}
            Status::Ready { .. } => {
                crate::tell(streams, &how);
                hub.close().await;
                return Ok(ExitCode::SUCCESS);
            }
            _ => return Err(how),
        }
        hub.sign_in(name).await.map_err(|error| error.message)?;
        let status = loop {
            tokio::select! {
                Some(page) = shown.recv() => show(&page, streams),
                event = events.recv() => match event {
                    Ok(Event::Status { status: Status::Starting, .. }) => {}
                    Ok(Event::Status { status: Status::NeedsSignIn { why: None }, .. }) => {}
                    Ok(Event::Status { status, .. }) => break status,
                    Ok(_) => {}
                    Err(_) => return Err("the server's end was not heard".to_owned()),
                },
                interrupted = tokio::signal::ctrl_c() => match interrupted {
                    Ok(()) => return Ok(ExitCode::from(130)),
                    Err(error) => return Err(format!("cannot be interrupted: {error}")),
                },
            }
        };
        hub.close().await;
        let how = format!(
            "the server \"{}\" {}",
            printable(name, LineFeeds::Escape),
            foreign::told(&status)
        );
        match status {
            Status::Ready { .. } => {
                crate::tell(streams, &how);
                Ok(ExitCode::SUCCESS)
            }
            _ => Err(how),
        }
    }
}

/// How a server is reached, in a line, as it is written: no variable of the person's is shown.
fn reach(entry: &ServerEntry) -> String {
    let text = |key: &str| entry.written.get(key).and_then(Value::as_str);
    let command = text("command").map(|command| {
        let arguments = entry.written.get("args").and_then(Value::as_array);
        let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
        let words: Vec<_> = std::iter::once(command).chain(arguments).collect();
        words.join(" ")
    });
    let line = command.or_else(|| text("url").or_else(|| text("serverUrl")).map(str::to_owned));
    printable(&line.unwrap_or_default(), LineFeeds::Escape).into_owned()
}

fn show(page: &Page, streams: &mut Streams<'_>) {
    let text = format!(
        "{}\nOpen this page in your browser:\n\n  {}\n",
        printable(&page.why, LineFeeds::Keep),
        printable(&page.url, LineFeeds::Escape)
    );
    // Where standard error is closed there is nobody to show it to.
    writeln!(streams.errors, "{text}").ok();
}

/// Shows pages to whoever typed the command, and nothing else.
struct Pages(mpsc::Sender<Page>);

impl Person for Pages {
    fn fill(&self, _: &str, _: Form) -> BoxFuture<'static, Filled> {
        Box::pin(ready(Filled::Declined))
    }

    fn open(&self, page: Page) -> BoxFuture<'static, bool> {
        let pages = self.0.clone();
        Box::pin(async move { form::is_page(&page.url) && pages.send(page).await.is_ok() })
    }
}
