//! The known agents: a data file that users can extend.

use base::AbsPath;
use host::{FileKind, Files};
use serde::Deserialize;

use crate::variables::Variables;

/// The agents known to work.
const KNOWN: &str = include_str!("../../../../../assets/agents/agents.json");

/// An agent that can be hosted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentEntry {
    /// The id of the agent.
    pub id: String,
    /// The name for display.
    pub name: String,
    /// Commands that start it, best first.
    pub commands: Vec<AgentCommand>,
    /// The packages of npm that install it; empty if there are none.
    #[serde(default)]
    pub packages: Vec<String>,
    /// A condition or instruction for the installation, as a sentence.
    pub install: String,
    /// The usual way to sign in, as a sentence; may be empty.
    #[serde(default)]
    pub sign_in: String,
    /// Variables of our environment that it may receive: the keys of its own provider.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Additional variables of its environment.
    #[serde(default)]
    pub environment: Variables,
    /// Hosts that it reaches, written `example.com` or `127.0.0.1:8080`.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Folders of its own that it writes outside of its root: `~` is the home folder.
    #[serde(default)]
    pub folders: Vec<String>,
    /// Files of its own that it writes outside of its root, as far as they exist.
    #[serde(default)]
    pub files: Vec<String>,
}

/// A command that starts an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentCommand {
    /// The program to start.
    pub program: String,
    /// The arguments of the program.
    #[serde(default)]
    pub arguments: Vec<String>,
}

/// Returns the agents known to work, installed or not, from a built-in list.
pub fn known_agents() -> Vec<AgentEntry> {
    match serde_json::from_str(KNOWN) {
        Ok(entries) => entries,
        Err(error) => {
            base::never!("the list of agents is invalid: {error}");
            Vec::new()
        }
    }
}

impl AgentEntry {
    /// Returns the first command whose program is in a folder of the variable `PATH`, with the
    /// program's absolute path. Returns `None` if no such program is found. Blocks on the disk.
    pub fn find(&self, files: &dyn Files, variables: &Variables) -> Option<AgentCommand> {
        let path = variables.get("PATH")?;
        self.commands.iter().find_map(|command| {
            let found = path.split(':').find_map(|folder| {
                let program = AbsPath::new(folder)?.join(&command.program);
                let stat = files.stat(&program).ok()?;
                (stat.kind == FileKind::File).then_some(program)
            })?;
            Some(AgentCommand {
                program: found.as_path().display().to_string(),
                arguments: command.arguments.clone(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use host::FakeFiles;

    use super::*;

    #[test]
    fn every_known_agent_can_be_started() {
        let all = known_agents();
        let ids: BTreeSet<_> = all.iter().map(|agent| agent.id.as_str()).collect();
        assert_eq!(
            ids,
            BTreeSet::from(["claude", "codex", "gemini", "opencode"])
        );
        for agent in &all {
            assert!(!agent.commands.is_empty(), "{}", agent.id);
            assert!(agent.install.ends_with('.'), "{}", agent.id);
            assert!(agent.sign_in.ends_with('.'), "{}", agent.id);
            assert!(!agent.hosts.is_empty() && !agent.folders.is_empty());
        }
    }

    #[test]
    fn first_installed_command_is_chosen() {
        let files = FakeFiles::new();
        let path = |text: &str| AbsPath::new(text).expect("absolute");
        for folder in ["/a", "/b"] {
            files.folder(&path(folder));
        }
        files.write(&path("/b/npx"), "");
        let command = |program: &str| AgentCommand {
            program: program.to_owned(),
            arguments: vec!["acp".to_owned()],
        };
        let entry = AgentEntry {
            id: "x".to_owned(),
            name: "X".to_owned(),
            commands: vec![command("x"), command("npx")],
            packages: Vec::new(),
            install: String::new(),
            sign_in: String::new(),
            keys: Vec::new(),
            environment: Variables::new(),
            hosts: Vec::new(),
            folders: Vec::new(),
            files: Vec::new(),
        };
        let variables = Variables::from([("PATH".to_owned(), "/a::/b".to_owned())]);
        assert_eq!(entry.find(&files, &variables), Some(command("/b/npx")));
        files.write(&path("/a/x"), "");
        assert_eq!(entry.find(&files, &variables), Some(command("/a/x")));
        assert_eq!(entry.find(&files, &Variables::new()), None);
    }
}
