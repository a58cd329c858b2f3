//! The command `mcp`: lists MCP servers and stores the user's decisions about them.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use agent::access::{KeptRule, RuleList, RuleOrigin};
use base::{AbsPath, LineFeeds, count_of, printable};
use clap::{Args, Subcommand};
use connect::mcp::{Approval, BrowserPage, McpTool, ServerEntry, ServerOrigin, ServerStatus};
use host::{Dirs, Files, RealFiles};
use runtime::mcp_pool::{self, FolderServers, ListedServer};
use runtime::permissions::{add_rule, remove_rule};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{Streams, error_text, write_error};

/// Pages that may wait to be shown.
const PAGES: usize = 4;

/// List MCP servers, approve those of a project, sign in
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
    /// Stop offering a tool to new sessions in the folder, by a rule that denies it
    TurnOff {
        /// Name of the tool, as `list` prints it
        tool: String,
    },
    /// Offer a tool to new sessions in the folder again
    TurnOn {
        /// Name of the tool, as `list` prints it
        tool: String,
    },
}

/// The inputs of all `mcp` commands.
struct McpContext<'a> {
    dirs: &'a Dirs,
    root: AbsPath,
    servers: FolderServers,
}

impl McpCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        dirs.create().map_err(|error| error.to_string())?;
        let files: Arc<dyn Files> = Arc::new(RealFiles);
        let root = crate::folder(self.root.as_deref(), files.as_ref())?;
        let servers = FolderServers::read(files, dirs, &root);
        for problem in &servers.problems {
            crate::print_notice(streams, problem);
        }
        let world = McpContext {
            dirs,
            root,
            servers,
        };
        match &self.what {
            McpAction::Approve { name } => world.approve(name, streams),
            McpAction::Revoke { name } => world.revoke(name, streams),
            McpAction::List { json } => on_runtime(world.list(*json, streams)),
            McpAction::SignIn { name } => on_runtime(world.sign_in(name, streams)),
            McpAction::TurnOff { tool } => world.set_tool(tool, false),
            McpAction::TurnOn { tool } => world.set_tool(tool, true),
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
        self.servers.entry(name).map_err(error_text)
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
        self.servers.decide(entry, approval).map_err(error_text)
    }

    /// Starts all servers, waits for them, and prints their status and tools. Returns a failing exit
    /// code if the configuration has problems.
    async fn list(&self, is_json: bool, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let listed = self.servers.list().await;
        let text = if is_json {
            let all = listed.iter().map(|server| self.json(server));
            format!("{}\n", Value::Array(all.collect()))
        } else if listed.is_empty() {
            format!(
                "there are no MCP servers; write them into {}/mcp.json, or into .mcp.json of the project\n",
                self.dirs.config
            )
        } else {
            listed
                .iter()
                .map(|server| self.server_text(server))
                .collect()
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        Ok(if self.servers.problems.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn server_text(&self, ListedServer { state, tools }: &ListedServer) -> String {
        let mut text = format!(
            "{} {}\n    {}\n    {}\n",
            printable(&state.entry.name, LineFeeds::Escape),
            mcp_pool::describe_status(&state.status),
            mcp_pool::origin(&state.entry, &self.root),
            mcp_pool::transport_text(&state.entry),
        );
        if let Some(advice) = mcp_pool::advice(state) {
            text.push_str(&format!("    {advice}\n"));
        }
        if !tools.is_empty() {
            text.push_str(&format!(
                "    {}: {}\n",
                count_of(tools.len(), "tool"),
                tool_names(tools).join(", ")
            ));
        }
        text
    }

    fn json(&self, ListedServer { state, tools }: &ListedServer) -> Value {
        json!({
            "name": state.entry.name,
            "from": mcp_pool::origin(&state.entry, &self.root),
            "reach": mcp_pool::transport_text(&state.entry),
            "is_ready": matches!(state.status, ServerStatus::Ready { .. }),
            "state": mcp_pool::describe_status(&state.status),
            "advice": mcp_pool::advice(state),
            "tools": tool_names(tools),
        })
    }

    /// Stores whether new sessions of the folder get a tool: a rule denies one that is off.
    fn set_tool(&self, name: &str, is_on: bool) -> Result<ExitCode, String> {
        if !name.starts_with("mcp__") {
            return Err(format!(
                "{name} is no tool of an MCP server; `burin-agent mcp list` prints their names"
            ));
        }
        let rule = KeptRule {
            rule: name.to_owned(),
            list: RuleList::Deny,
            origin: RuleOrigin::Project(self.root.to_string()),
        };
        let changed = if is_on {
            remove_rule(self.dirs, &rule)
        } else {
            add_rule(self.dirs, &rule)
        };
        changed.map_err(error_text)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Signs in to a server and waits until that succeeds or fails. The exit code is 130 if the user
    /// interrupts it.
    async fn sign_in(&self, name: &str, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (pages, mut shown) = mpsc::channel(PAGES);
        let signing_in = self.servers.sign_in(name, pages);
        tokio::pin!(signing_in);
        loop {
            tokio::select! {
                Some(page) = shown.recv() => show(&page, streams),
                done = &mut signing_in => {
                    crate::print_notice(streams, &done.map_err(error_text)?);
                    return Ok(ExitCode::SUCCESS);
                }
                interrupted = tokio::signal::ctrl_c() => {
                    interrupted.map_err(|error| format!("cannot be interrupted: {error}"))?;
                    return Ok(ExitCode::from(130));
                }
            }
        }
    }
}

/// Returns the names of tools for models.
fn tool_names(tools: &[McpTool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
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
