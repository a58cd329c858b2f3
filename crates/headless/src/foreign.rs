//! Tools of others in sessions: which MCP servers there are for a folder, whether they may run, what they offer.
//!
//! Knows: `connect::mcp`, `agent`. Must not know: how a session is shown.
//! Invariant: a session's list of tools is taken once, at its beginning, and does not change while it is open: what
//! comes later, or changes, is there for the next session. So the beginning of its prompts stays as it is.
//! Invariant: a server that a project names runs only where the person approved its very entry, in that file.
//! Start at `Pool::open`; a server's tool as a session sees it is in `tool`.

mod consent;
mod desks;
mod pool;
mod tokens;
mod tool;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::tool::Tool;
use agent::tools::Rooms;
use base::{AbsPath, LineFeeds, count_of, printable};
use connect::Variables;
use connect::mcp::{
    Approval, Approvals, Hub, Origin, Person, ServerEntry, ServerState, Start, Status, config,
};
use host::{Dirs, Files};
use serde_json::Value;

pub(crate) use consent::Consents;
pub(crate) use desks::Desks;
pub(crate) use pool::Pool;
pub(crate) use tokens::TokenFolder;

/// The person's own servers, in the folder of settings.
const OWN: &str = "mcp.json";
/// The largest such file that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// How long a session that begins waits for its servers without a word.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// How long one waits in all that has no next session: on the command line.
const LONG_PATIENCE: Duration = Duration::from_secs(30);
/// The most tools of others in a session: models choose badly among more, and some providers refuse them.
const MOST_TOOLS: usize = 100;

/// The servers of one folder.
pub(crate) struct Servers {
    hub: Hub,
    /// What they were started from.
    entries: Vec<ServerEntry>,
    consents: Arc<Consents>,
    desks: Arc<Desks>,
}

/// How long a session that begins waits for servers that are being reached, and who is told.
#[derive(Clone)]
pub(crate) struct Waiting {
    /// Until somebody is told.
    brief: Duration,
    /// In all, where a server's entry says nothing else.
    longest: Duration,
    tell: Arc<dyn Fn(String) + Send + Sync>,
}

impl Default for Waiting {
    /// Briefly: servers that need longer are there for the next session of this program.
    fn default() -> Self {
        Self {
            brief: PATIENCE,
            longest: PATIENCE,
            tell: Arc::new(|_| {}),
        }
    }
}

impl Waiting {
    /// For a program that runs one session and ends: it waits longer, and says so.
    pub(crate) fn telling(tell: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self {
            brief: PATIENCE,
            longest: LONG_PATIENCE,
            tell: Arc::new(tell),
        }
    }
}

/// The tools of others that a session begins with.
#[derive(Default)]
pub(crate) struct Offer {
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// What the person should know of servers that offer nothing, in sentences.
    pub(crate) notices: Vec<String>,
}

/// The servers that there are for a folder, in the order of their names, and what cannot be read of them. Blocks on
/// the disk.
pub(crate) fn gather(
    files: &dyn Files,
    dirs: &Dirs,
    root: &AbsPath,
) -> (Vec<ServerEntry>, Vec<String>) {
    let path = dirs.config.join(OWN);
    let mut problems = Vec::new();
    let own = match files.read(&path, LARGEST) {
        Ok(bytes) => match own_servers(&bytes) {
            Ok(servers) => Some(servers),
            Err(why) => {
                problems.push(format!("{path} {why}; none of your own servers is used"));
                None
            }
        },
        Err(error) if error.is_not_found() => None,
        Err(error) => {
            problems.push(error.to_string());
            None
        }
    };
    let (entries, complaints) = config::gather(own.as_ref(), root, files, &environment());
    problems.extend(complaints.into_iter().map(|problem| problem.0));
    (entries, problems)
}

/// The object below `mcpServers`.
fn own_servers(bytes: &[u8]) -> Result<Value, String> {
    let text = String::from_utf8_lossy(bytes);
    let value: Value =
        serde_json::from_str(&text).map_err(|error| format!("is not JSON ({error})"))?;
    match value.get("mcpServers") {
        Some(servers) => Ok(servers.clone()),
        None => Err("has no `mcpServers`".to_owned()),
    }
}

/// Our environment, for what entries refer to as `${NAME}`.
pub(crate) fn environment() -> Variables {
    host::environment::all().collect()
}

impl Servers {
    /// Starts those of the entries that may run, for people who sit at desks. Must be called on a tokio runtime.
    pub(crate) fn start(
        entries: Vec<ServerEntry>,
        files: &Arc<dyn Files>,
        dirs: &Dirs,
        root: &AbsPath,
    ) -> Self {
        let desks = Arc::new(Desks::default());
        Self::start_for(entries, files, dirs, root, desks.clone(), desks)
    }

    /// The same for somebody else.
    pub(crate) fn start_for(
        entries: Vec<ServerEntry>,
        files: &Arc<dyn Files>,
        dirs: &Dirs,
        root: &AbsPath,
        person: Arc<dyn Person>,
        desks: Arc<Desks>,
    ) -> Self {
        let consents = Arc::new(Consents::new(files.clone(), &dirs.state));
        let hub = Hub::start(Start {
            servers: entries.clone(),
            roots: vec![root.clone()],
            environment: environment(),
            approvals: consents.clone(),
            person,
            tokens: Arc::new(TokenFolder::new(files.clone(), &dirs.state)),
        });
        Self {
            hub,
            entries,
            consents,
            desks,
        }
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// What they offer to a session that begins now, once they had their time.
    pub(crate) async fn offer(self: &Arc<Self>, rooms: &Arc<Rooms>, waiting: &Waiting) -> Offer {
        self.wait(waiting).await;
        let mut tools = self.hub.tools();
        // Whatever order servers list them in: the same tools make the same prompt.
        tools.sort_by(|one, two| one.name.cmp(&two.name));
        let mut notices = self.notices();
        if tools.len() > MOST_TOOLS {
            let left_out = tools.split_off(MOST_TOOLS);
            notices.push(format!(
                "{} of servers left out, as a session has at most {MOST_TOOLS}: {} to {}",
                count_of(left_out.len(), "tool"),
                left_out.first().map_or("", |tool| &tool.name),
                left_out.last().map_or("", |tool| &tool.name),
            ));
        }
        let tools = tools.into_iter().map(|tool| {
            let foreign = tool::Foreign::new(tool, self.clone(), rooms.clone());
            Arc::new(foreign) as Arc<dyn Tool>
        });
        Offer {
            tools: tools.collect(),
            notices,
        }
    }

    /// Waits until the servers are ready: briefly, then, where some need longer, with a word about it.
    async fn wait(&self, waiting: &Waiting) {
        let limit = |entry: &ServerEntry| entry.startup.unwrap_or(waiting.longest);
        let brief = self.entries.iter().map(limit).max().unwrap_or_default();
        self.hub.settled(brief.min(waiting.brief)).await;
        let states = self.hub.servers();
        let slow = states.iter().filter(|it| it.status == Status::Starting);
        let slow: Vec<&ServerEntry> = slow.map(|state| &state.entry).collect();
        let longest = slow.iter().map(|entry| limit(entry)).max();
        let Some(more) = longest.and_then(|longest| longest.checked_sub(waiting.brief)) else {
            return;
        };
        if more.is_zero() {
            return;
        }
        let names: Vec<String> = slow
            .iter()
            .map(|it| printable(&it.name, LineFeeds::Escape).into_owned())
            .collect();
        (waiting.tell)(format!(
            "waiting up to {} s more for MCP servers that are not ready yet: {}",
            more.as_secs(),
            names.join(", ")
        ));
        self.hub.settled(more).await;
    }

    /// What the person should know of servers that do not work, and of tools that are of no use.
    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        for state in self.hub.servers() {
            let name = printable(&state.entry.name, LineFeeds::Escape);
            if let Some(advice) = advice(&state) {
                let how = told(&state.status);
                notices.push(format!("the MCP server \"{name}\" {how}: {advice}"));
            }
            let left_out = state
                .left_out
                .iter()
                .map(|why| printable(why, LineFeeds::Escape));
            notices.extend(left_out.map(|why| format!("of the MCP server \"{name}\", {why}")));
        }
        notices
    }

    /// Has servers look again whose approval was given or taken since, and those that gave up.
    pub(crate) async fn look_again(&self) {
        for state in self.hub.servers() {
            let is_own = state.entry.origin == Origin::Person;
            let may = is_own || self.consents.approval(&state.entry) == Approval::Allowed;
            let is_due = match state.status {
                Status::Disabled | Status::Closed => false,
                Status::Unapproved | Status::Refused | Status::Broken { again: None, .. } => may,
                Status::Starting
                | Status::Ready { .. }
                | Status::NeedsSignIn { .. }
                | Status::Broken { .. } => !may,
            };
            if is_due && let Err(error) = self.hub.restart(&state.entry.name).await {
                log::warn!("{error}");
            }
        }
    }
}

/// How a server is, behind its name.
pub(crate) fn told(status: &Status) -> String {
    match status {
        Status::Disabled => "is switched off".to_owned(),
        Status::Unapproved => "waits for your approval".to_owned(),
        Status::Refused => "was refused by you".to_owned(),
        Status::Starting => "is not ready yet".to_owned(),
        Status::Ready { protocol, program } => match program {
            Some(program) => format!(
                "is ready ({}, MCP {protocol})",
                printable(program, LineFeeds::Escape)
            ),
            None => format!("is ready (MCP {protocol})"),
        },
        Status::NeedsSignIn { why: None } => "wants you to sign in".to_owned(),
        Status::NeedsSignIn { why: Some(why) } => {
            format!("wants you to sign in ({})", printable(why, LineFeeds::Keep))
        }
        Status::Broken { why, .. } => format!("does not work: {}", printable(why, LineFeeds::Keep)),
        Status::Closed => "is closed".to_owned(),
    }
}

/// What to do about a server that does not work; `None` where nothing is to be done.
pub(crate) fn advice(state: &ServerState) -> Option<String> {
    let name = printable(&state.entry.name, LineFeeds::Escape);
    Some(match &state.status {
        Status::Unapproved => {
            format!("look at it with `burin-agent mcp approve {name}`, which asks before it runs")
        }
        Status::Starting => "this session begins without its tools, and the next one has them if it is ready by then; \
                             `startupTimeout` in its entry gives it more seconds"
            .to_owned(),
        Status::NeedsSignIn { .. } => format!("use `burin-agent mcp sign-in {name}`"),
        Status::Broken { .. } => match &state.entry.origin {
            Origin::Person => format!("correct it in {OWN} beside your settings"),
            Origin::Project { file } => format!("correct it in {file}"),
        },
        Status::Disabled | Status::Refused | Status::Ready { .. } | Status::Closed => return None,
    })
}

/// Who wrote an entry, in words.
pub(crate) fn origin(entry: &ServerEntry, root: &AbsPath) -> String {
    match &entry.origin {
        Origin::Person => format!("yours, in {OWN}"),
        Origin::Project { file } => {
            let inner = file.relative_to(root).unwrap_or(Path::new(file.as_path()));
            format!("of the project, in {}", inner.display())
        }
    }
}
