//! Other coding agents on this machine that speak the Agent Client Protocol.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// An agent on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledAgent {
    /// Its name for people.
    pub name: &'static str,
    /// The path of the agent's program.
    pub program: PathBuf,
    /// The program to install before the agent can be hosted, if any.
    pub lacks: Option<&'static str>,
}

/// An agent that can be hosted, and the programs that show its presence.
struct KnownAgent {
    name: &'static str,
    speaks: &'static [&'static str],
    /// The agent's own program, if it does not speak the protocol, and the adapter to install.
    own: Option<(&'static str, &'static str)>,
}

const KNOWN: &[KnownAgent] = &[
    KnownAgent {
        name: "Claude Code",
        speaks: &["claude-agent-acp", "claude-code-acp"],
        own: Some((
            "claude",
            "the npm package @agentclientprotocol/claude-agent-acp",
        )),
    },
    KnownAgent {
        name: "Codex",
        speaks: &["codex-acp"],
        own: Some(("codex", "the npm package @agentclientprotocol/codex-acp")),
    },
    KnownAgent {
        name: "Gemini CLI",
        speaks: &["gemini"],
        own: None,
    },
    KnownAgent {
        name: "opencode",
        speaks: &["opencode"],
        own: None,
    },
];

/// Returns the agents whose programs are in the folders of `path`, a search path like `PATH`. Starts
/// no program.
pub fn find(path: &OsStr) -> Vec<InstalledAgent> {
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    let place = |program: &str| {
        let places = folders.iter().map(|folder| folder.join(program));
        places.into_iter().find(|place| is_program(place))
    };
    let found = KNOWN.iter().filter_map(|known| {
        let speaker = known.speaks.iter().find_map(|program| place(program));
        let (program, lacks) = match (speaker, known.own) {
            (Some(program), _) => (program, None),
            (None, Some((own, lacks))) => (place(own)?, Some(lacks)),
            (None, None) => return None,
        };
        Some(InstalledAgent {
            name: known.name,
            program,
            lacks,
        })
    });
    found.collect()
}

/// Whether a path leads to a file that someone may execute.
fn is_program(place: &std::path::Path) -> bool {
    let metadata = place.metadata();
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests;
