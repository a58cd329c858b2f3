//! What a folder has to say about agents' work in it, as it is shown to the person who may let it.

use base::AbsPath;

/// What a folder has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HouseRules {
    /// Its files and folders of instructions, rules and skills, relative to it.
    pub guides: Vec<String>,
    /// Whether the person trusts the folder: without, none of them is read.
    pub is_trusted: bool,
    /// Its hooks that wait for the person's consent, by file.
    pub hooks: Vec<WaitingHooks>,
    /// Its MCP servers that wait for the person's consent.
    pub servers: Vec<WaitingServer>,
    /// What is wrong with the person's permissions file, in sentences.
    pub problems: Vec<String>,
}

/// Hooks that run only once the person consented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingHooks {
    /// Their file.
    pub path: AbsPath,
    /// The commands that they would run.
    pub commands: Vec<String>,
    /// Stands for all that the file says.
    pub mark: String,
}

/// An MCP server that runs only once the person consented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingServer {
    /// Its name.
    pub name: String,
    /// The file that names it.
    pub path: AbsPath,
    /// Its entry as it is written.
    pub written: String,
    /// Stands for the entry, letter by letter.
    pub mark: String,
}
