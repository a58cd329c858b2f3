//! The command `mcp`: lists MCP servers and stores the user's decisions about them.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, LineFeeds, count_of, printable};
use clap::{Args, Subcommand};
use connect::mcp::{
    Approval, BrowserPage, ElicitationForm, Filled, McpEvent, McpUser, ServerEntry, ServerOrigin,
    ServerState, ServerStatus,
};
use futures::future::{BoxFuture, ready};
use host::{Dirs, Files, RealFiles};
use runtime::form;
use runtime::mcp_pool::{self, Consents, ElicitationRouter, McpServers};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{Streams, error_text, write_error};

/// The maximum time for servers to become ready.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pages that may wait to be shown.
const PAGES: usize = 4;

/// List MCP servers, and approve those of a project
#[derive(Args)]
pub(crate) struct McpCommand {
    #[command(subcommand)]
    what: McpAction,
    /// The folder of the project; the working directory without it
    #[arg(long, global = true)]
    root: Option<PathBuf>,
}

#[derive(Subcommand)]
enum McpAction {
    /// List the servers: where each is configured, its state, its tools, next steps
    List {
        /// Print an array of objects
        #[arg(long)]
        json: bool,
    },
    /// Let a server of the project run, as its entry is now
    Approve {
        /// Name of the server to approve
        name: String,
    },
    /// Stop letting a server of the project run
    Revoke {
        /// Name of the server to revoke
        name: String,
    },
    /// Sign in to a server that wants it
    SignIn {
        /// Name of the server
        name: String,
    },
}

/// The inputs of all `mcp` commands.
struct McpContext<'a> {
    files: Arc<dyn Files>,
    dirs: &'a Dirs,
    root: AbsPath,
    entries: Vec<ServerEntry>,
    problems: Vec<String>,
}

impl McpCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        dirs.create().map_err(|error| error.to_string())?;
        let files: Arc<dyn Files> = Arc::new(RealFiles);
        let root = crate::folder(self.root.as_deref(), files.as_ref())?;
        let (entries, problems) = mcp_pool::gather(files.as_ref(), dirs, &root);
        for problem in &problems {
            crate::print_notice(streams, problem);
        }
        let world = McpContext {
            files,
            dirs,
            root,
            entries,
            problems,
        };
        match &self.what {
            McpAction::Approve { name } => world.approve(name, streams),
            McpAction::Revoke { name } => world.revoke(name, streams),
            McpAction::List { json } => on_runtime(world.list(*json, streams)),
            McpAction::SignIn { name } => on_runtime(world.sign_in(name, streams)),
        }
    }
}

/// Runs `work` on a runtime with several threads; fails only if there can be none, or as `work`
/// does.
fn on_runtime(work: impl Future<Output = Result<ExitCode, String>>) -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(work)
}

impl McpContext<'_> {
    /// Returns a configured server by its name; the error lists the names.
    fn entry(&self, name: &str) -> Result<&ServerEntry, String> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = self
                .entries
                .iter()
                .map(|it| printable(&it.name, LineFeeds::Escape))
                .collect();
            if names.is_empty() {
                format!("there is no MCP server for {}", self.root)
            } else {
                format!(
                    "there is no MCP server \"{name}\" for {}; there are {}",
                    self.root,
                    names.join(", ")
                )
            }
        })
    }

    /// Shows a server of the project and allows it, after a question if standard input is a
    /// terminal. Returns a failing exit code if the user declines; fails if the server is the
    /// user's own.
    fn approve(&self, name: &str, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let entry = self.entry(name)?;
        let ServerOrigin::Project { file } = &entry.origin else {
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
            .map_err(write_error)?;
        if std::io::stdin().is_terminal() && !crate::agrees("May it run?", streams)? {
            return Ok(ExitCode::FAILURE);
        }
        self.set_approval(entry, Approval::Allowed)?;
        let done = "It may run from now on, as it is written now.\n";
        streams
            .output
            .write_all(done.as_bytes())
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Refuses a server from now on; open sessions keep it.
    fn revoke(&self, name: &str, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        self.set_approval(self.entry(name)?, Approval::Refused)?;
        let done = "It does not run any more; sessions that are open keep it until they end.\n";
        streams
            .output
            .write_all(done.as_bytes())
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Stores the user's decision about a server.
    fn set_approval(&self, entry: &ServerEntry, approval: Approval) -> Result<(), String> {
        let consents = Consents::new(self.files.clone(), &self.dirs.state);
        consents.set(entry, approval).map_err(error_text)
    }

    /// Starts all servers, waits for them at most `PATIENCE`, and prints their status and tools.
    /// Returns a failing exit code if the configuration has problems.
    async fn list(&self, is_json: bool, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let servers = McpServers::start(self.entries.clone(), &self.files, self.dirs, &self.root);
        servers.clients().wait_until_started(PATIENCE).await;
        let states = servers.clients().servers();
        let tools = servers.clients().tools();
        servers.clients().close().await;
        let names = |server: &str| -> Vec<&str> {
            let of = tools.iter().filter(|tool| tool.server == server);
            of.map(|tool| tool.name.as_str()).collect()
        };
        let text = if is_json {
            let all = states
                .iter()
                .map(|state| self.json(state, &names(&state.entry.name)));
            format!("{}\n", Value::Array(all.collect()))
        } else if states.is_empty() {
            format!(
                "there are no MCP servers; write them into {}/mcp.json, or into .mcp.json of the project\n",
                self.dirs.config
            )
        } else {
            let all = states
                .iter()
                .map(|state| self.server_text(state, &names(&state.entry.name)));
            all.collect()
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        Ok(if self.problems.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn server_text(&self, state: &ServerState, tools: &[&str]) -> String {
        let mut text = format!(
            "{} {}\n    {}\n    {}\n",
            printable(&state.entry.name, LineFeeds::Escape),
            mcp_pool::describe_status(&state.status),
            mcp_pool::origin(&state.entry, &self.root),
            transport_text(&state.entry),
        );
        if let Some(advice) = mcp_pool::advice(state) {
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
            "from": mcp_pool::origin(&state.entry, &self.root),
            "reach": transport_text(&state.entry),
            "is_ready": matches!(state.status, ServerStatus::Ready { .. }),
            "state": mcp_pool::describe_status(&state.status),
            "advice": mcp_pool::advice(state),
            "tools": tools,
        })
    }

    /// Signs in to a server and waits until that succeeds or fails. A server that is ready needs
    /// none, which is a success. The exit code is 130 if the user interrupts it.
    async fn sign_in(&self, name: &str, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let entry = self.entry(name)?.clone();
        let (pages, mut shown) = mpsc::channel(PAGES);
        let user = Arc::new(PageSink(pages));
        let router = Arc::new(ElicitationRouter::default());
        let servers = McpServers::start_for(
            vec![entry],
            &self.files,
            self.dirs,
            &self.root,
            user,
            router,
        );
        let clients = servers.clients();
        let mut events = clients.events();
        clients.wait_until_started(PATIENCE).await;
        let state = clients.servers().pop();
        let state = state.ok_or_else(|| format!("the server \"{name}\" is gone"))?;
        let how = format!(
            "the server \"{}\" {}",
            printable(name, LineFeeds::Escape),
            mcp_pool::describe_status(&state.status)
        );
        match &state.status {
            ServerStatus::NeedsSignIn { .. } => {}
            ServerStatus::Ready { .. } => {
                crate::print_notice(streams, &how);
                clients.close().await;
                return Ok(ExitCode::SUCCESS);
            }
            _ => return Err(how),
        }
        clients.sign_in(name).await.map_err(|error| error.message)?;
        let status = loop {
            tokio::select! {
                Some(page) = shown.recv() => show(&page, streams),
                event = events.recv() => match event {
                    Ok(McpEvent::Status { status: ServerStatus::Starting, .. }) => {}
                    Ok(McpEvent::Status { status: ServerStatus::NeedsSignIn { why: None }, .. }) => {}
                    Ok(McpEvent::Status { status, .. }) => break status,
                    Ok(_) => {}
                    Err(_) => return Err("the server's end was not heard".to_owned()),
                },
                interrupted = tokio::signal::ctrl_c() => match interrupted {
                    Ok(()) => return Ok(ExitCode::from(130)),
                    Err(error) => return Err(format!("cannot be interrupted: {error}")),
                },
            }
        };
        clients.close().await;
        let how = format!(
            "the server \"{}\" {}",
            printable(name, LineFeeds::Escape),
            mcp_pool::describe_status(&status)
        );
        match status {
            ServerStatus::Ready { .. } => {
                crate::print_notice(streams, &how);
                Ok(ExitCode::SUCCESS)
            }
            _ => Err(how),
        }
    }
}

/// Describes the server's transport in a line, as configured: variables are not expanded.
fn transport_text(entry: &ServerEntry) -> String {
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

fn show(page: &BrowserPage, streams: &mut Streams<'_>) {
    let text = format!(
        "{}\nOpen this page in your browser:\n\n  {}\n",
        printable(&page.why, LineFeeds::Keep),
        printable(&page.url, LineFeeds::Escape)
    );
    // If standard error is closed, the text cannot be shown.
    writeln!(streams.errors, "{text}").ok();
}

/// Shows pages to the user of the command, and declines everything else.
struct PageSink(mpsc::Sender<BrowserPage>);

impl McpUser for PageSink {
    fn fill(&self, _: &str, _: ElicitationForm) -> BoxFuture<'static, Filled> {
        Box::pin(ready(Filled::Declined))
    }

    fn open(&self, page: BrowserPage) -> BoxFuture<'static, bool> {
        let pages = self.0.clone();
        Box::pin(async move { form::is_page(&page.url) && pages.send(page).await.is_ok() })
    }
}
