//! The rights of agents in a folder, as a user sees and changes them: kept rules, the sandbox, MCP servers, trust,
//! hooks and instructions.
//!
//! Plain data: `runtime` gathers it, programs show it. All texts may come from others and have to be made printable.
//! Start at `FolderAccess` and `AccessChange`.

use base::AbsPath;
use serde::{Deserialize, Serialize};

use crate::trust::{PendingHooks, PendingMcpServer};

/// The rights of agents in a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FolderAccess {
    /// The kept rules: those of the user, of all projects and of running sessions.
    pub rules: Vec<KeptRule>,
    /// The sandbox of commands in this folder.
    pub sandbox: SandboxAccess,
    /// The MCP servers of the folder, sorted by name.
    pub servers: Vec<ServerAccess>,
    /// The folders that the user trusts.
    pub trusted_folders: Vec<AbsPath>,
    /// Whether the user trusts this folder or a folder around it.
    pub is_trusted: bool,
    /// The files with hooks.
    pub hooks: Vec<HookFileAccess>,
    /// The instruction files, rules and skills.
    pub guides: Vec<GuideAccess>,
    /// Problems with stored decisions and configuration, as sentences.
    pub problems: Vec<String>,
}

/// A permission rule that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRule {
    /// The rule as written.
    pub rule: String,
    /// The list that has it.
    pub list: RuleList,
    /// The place where it is kept.
    pub origin: RuleOrigin,
}

/// The list of a permission rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RuleList {
    /// Matching calls are denied.
    Deny,
    /// The user is asked about matching calls.
    Ask,
    /// Matching calls are allowed.
    Allow,
}

/// The place where a permission rule is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RuleOrigin {
    /// The user's rules for all projects.
    User,
    /// The user's rules for the project with this path, as written in the file.
    Project(String),
    /// A running session, which ends with this program at the latest.
    Session,
}

impl RuleList {
    /// All lists, from strict to permissive.
    pub const ALL: [Self; 3] = [Self::Deny, Self::Ask, Self::Allow];

    /// Returns the list's key in the permissions file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}

/// The sandbox of the commands in a folder, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxAccess {
    /// Sentences about its layers and about exceptions that the settings make.
    pub sentences: Vec<String>,
    /// The exceptions that the user granted to commands.
    pub grants: Vec<CommandGrant>,
}

/// An access that the user granted to commands permanently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandGrant {
    /// The rule that matches the commands.
    pub rule: String,
    /// The access, such as `host crates.io:443`.
    pub access: String,
    /// The place where it is kept; never a session.
    pub origin: RuleOrigin,
}

/// An MCP server of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerAccess {
    /// The name, the configuring file and the exact entry.
    pub entry: PendingMcpServer,
    /// Whether the user configures it, so that it needs no approval.
    pub is_own: bool,
    /// The place of its configuration, in words.
    pub origin: String,
    /// Whether it may run.
    pub decision: ServerDecision,
    /// Its state, to follow its name.
    pub status: String,
    /// Whether it waits for the user to sign in.
    pub needs_sign_in: bool,
    /// Whether it was started in this program.
    pub is_started: bool,
    /// Its tools, if it is ready.
    pub tools: Vec<ServerTool>,
    /// Its latest messages and the end of its error output.
    pub log: Vec<String>,
}

/// Whether an MCP server may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerDecision {
    /// It runs with sessions.
    Allowed,
    /// The user refused it.
    Refused,
    /// The user has not decided yet.
    Undecided,
    /// Its entry switches it off.
    Disabled,
}

/// A tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerTool {
    /// The name for models and in rules.
    pub name: String,
    /// The server's title or description.
    pub about: String,
    /// Whether new sessions get it: no deny rule covers it.
    pub is_on: bool,
}

/// A file with hooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookFileAccess {
    /// The file, with its commands and the fingerprint of its text.
    pub file: PendingHooks,
    /// Whether its hooks run: the user allowed exactly this text.
    pub is_allowed: bool,
    /// Its hooks.
    pub hooks: Vec<HookAccess>,
}

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookAccess {
    /// The event on which it runs.
    pub event: String,
    /// The command line.
    pub command: String,
    /// Its latest run in a session of this project; `None` if there is none on record.
    pub last: Option<HookResult>,
}

/// The result of a hook's run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookResult {
    /// The end of the run, in milliseconds since 1970.
    pub at_ms: u64,
    /// The result in words, such as `succeeded`.
    pub result: String,
}

/// An instruction file, a rule or a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuideAccess {
    /// Its name.
    pub name: String,
    /// Its kind and purpose, in a few words.
    pub about: String,
    /// Whether sessions in the folder use it.
    pub is_active: bool,
}

/// A change of the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AccessChange {
    /// Remove a rule; in running sessions as well, if it allows calls.
    RemoveRule(KeptRule),
    /// Withdraw a granted access.
    RemoveGrant(CommandGrant),
    /// Let a server run, exactly as shown.
    AllowServer(PendingMcpServer),
    /// Keep a server from running.
    RefuseServer(PendingMcpServer),
    /// Start or reconnect the server with this name.
    StartServer(String),
    /// Offer the tool with this name to new sessions, or stop offering it.
    SetTool {
        /// The tool's name for models.
        name: String,
        /// Whether it is offered.
        is_on: bool,
    },
    /// Trust a folder, or no longer.
    SetTrusted {
        /// The folder.
        folder: AbsPath,
        /// Whether it is trusted.
        is_trusted: bool,
    },
    /// Let the hooks of a file run, exactly as shown.
    AllowHooks(PendingHooks),
    /// Keep the hooks of a file from running in later sessions.
    RevokeHooks(PendingHooks),
}
