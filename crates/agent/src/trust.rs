//! The agent configuration found in a folder, as shown to the user before the folder is trusted.

use base::AbsPath;
use serde::{Deserialize, Serialize};

/// The agent configuration found in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderTrust {
    /// Instruction, rule and skill files and folders, relative to the folder.
    pub guides: Vec<String>,
    /// Whether the user trusts the folder. The guides of an untrusted folder are not read.
    pub is_trusted: bool,
    /// Hooks that await the user's approval, by file.
    pub hooks: Vec<PendingHooks>,
    /// MCP servers that await the user's approval.
    pub servers: Vec<PendingMcpServer>,
    /// Problems with the user's stored decisions: rules and approvals that cannot be read, as
    /// sentences.
    pub problems: Vec<String>,
}

/// Hooks of one file that await approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingHooks {
    /// The file that defines them.
    pub path: AbsPath,
    /// The commands they would run.
    pub commands: Vec<String>,
    /// A fingerprint of the file's contents.
    pub mark: String,
}

/// An MCP server, defined by the folder, that awaits the user's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingMcpServer {
    /// The name of the server.
    pub name: String,
    /// The file that defines it.
    pub path: AbsPath,
    /// The entry as written in the file.
    pub written: String,
    /// A fingerprint of the entry's exact text.
    pub mark: String,
}
