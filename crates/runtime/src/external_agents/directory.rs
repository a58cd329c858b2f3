//! The external agents that can be hosted: the known ones, and those of the user's settings.

use base::AbsPath;
use connect::Variables;
use connect::acp::host::catalog::{self, AgentCommand, AgentEntry};
use host::environment::{Recipient, Variable, named_variables, variables};
use host::{Dirs, FileKind, Files};
use settings::{ExternalAgentSetting, SettingsSource};

use crate::Error;
use crate::models::setup::read_text;

/// The settings file in the config folder.
const USER_SETTINGS: &str = "settings.json";

/// An external agent, installed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalAgent {
    /// The id, as written in settings and on the command line.
    pub id: String,
    /// The name for display.
    pub name: String,
    /// The command that starts it; `None` if it is not installed.
    pub command: Option<AgentCommand>,
    /// The packages of npm that install it; empty if there are none.
    pub packages: Vec<String>,
    /// A condition or instruction for the installation, as a sentence.
    pub install: String,
    /// The usual way to sign in, as a sentence; may be empty.
    pub sign_in: String,
    /// The environment of its process.
    pub(crate) environment: Variables,
    /// Hosts that it may reach from its sandbox.
    pub(crate) hosts: Vec<String>,
    /// Folders of its own, which it may write from its sandbox.
    pub(crate) folders: Vec<String>,
    /// Files of its own, which it may write from its sandbox if they exist.
    pub(crate) files: Vec<String>,
}

/// Returns the folder into which Burin installs an agent.
pub(crate) fn install_folder(dirs: &Dirs, id: &str) -> AbsPath {
    dirs.state.join("agents").join(id)
}

/// Returns all agents: the known ones, then those of the user's settings, with a sentence for each
/// problem of the settings. Blocks on the disk.
pub fn list(files: &dyn Files, dirs: &Dirs) -> (Vec<ExternalAgent>, Vec<String>) {
    let mut problems = Vec::new();
    let text = read_text(files, &dirs.config.join(USER_SETTINGS), &mut problems);
    let text = text.unwrap_or_default();
    // Each program reports the problems of the whole file elsewhere.
    let (settings, _) = settings::parse(&[(SettingsSource::User, USER_SETTINGS, &text)]);
    let mut own = settings.agents.external.0;
    let known = catalog::known_agents().into_iter();
    let mut agents: Vec<ExternalAgent> = known
        .map(|entry| {
            let setting = own.remove(&entry.id).unwrap_or_default();
            known_agent(files, dirs, entry, setting)
        })
        .collect();
    for (id, setting) in own {
        match own_agent(files, &id, setting) {
            Some(agent) => agents.push(agent),
            None => problems.push(format!(
                "the agent \"{id}\" in agents.external has no \"command\"; add one"
            )),
        }
    }
    (agents, problems)
}

/// Returns the agent that `name` names: an id, or the path of a program that speaks ACP. The agent
/// is installed. Blocks on the disk.
///
/// # Errors
/// There is no such agent, or it is not installed.
pub fn find(files: &dyn Files, dirs: &Dirs, name: &str) -> Result<ExternalAgent, Error> {
    let (agents, _) = list(files, dirs);
    if let Some(agent) = agents.iter().find(|agent| agent.id == name) {
        return match &agent.command {
            Some(_) => Ok(agent.clone()),
            None => Err(Error::NotInstalled {
                agent: agent.name.clone(),
                advice: agent.advice(dirs),
            }),
        };
    }
    if !name.contains('/') {
        let ids: Vec<_> = agents.iter().map(|agent| agent.id.as_str()).collect();
        let ids = ids.join(", ");
        return Err(Error::Unknown(format!(
            "there is no agent \"{name}\"; there are {ids}, or the path of a program that speaks ACP"
        )));
    }
    program(files, name)
}

/// Returns the program at a path as an agent.
fn program(files: &dyn Files, path: &str) -> Result<ExternalAgent, Error> {
    let not_there = || Error::Unknown(format!("{path} does not exist; give the whole path"));
    let path = match AbsPath::new(path) {
        Some(path) => path,
        None => {
            let here = std::env::current_dir().ok().and_then(AbsPath::new);
            here.ok_or_else(not_there)?.join(path)
        }
    };
    let path = files.canonicalize(&path)?;
    match files.stat(&path)?.kind {
        FileKind::File => Ok(ExternalAgent {
            id: path.to_string(),
            name: path.name(),
            command: Some(AgentCommand {
                program: path.to_string(),
                arguments: Vec::new(),
            }),
            environment: foreign_environment(),
            packages: Vec::new(),
            install: String::new(),
            sign_in: String::new(),
            hosts: Vec::new(),
            folders: Vec::new(),
            files: Vec::new(),
        }),
        _ => Err(Error::Unknown(format!("{path} is not a program"))),
    }
}

impl ExternalAgent {
    /// Returns the sentences that say how to install it.
    pub fn advice(&self, dirs: &Dirs) -> String {
        match self.install_command(dirs) {
            Some(command) => format!("Install it with `{}`. {}", command.join(" "), self.install),
            None if self.install.is_empty() => {
                "Correct its \"command\" in agents.external.".to_owned()
            }
            None => self.install.clone(),
        }
    }

    /// Adds variables that the worktree needs.
    pub(crate) fn with_variables(mut self, variables: Vec<Variable>) -> Self {
        self.environment.extend(to_texts(variables));
        self
    }

    /// Returns the command that installs it, as words; `None` if it has no package.
    pub fn install_command(&self, dirs: &Dirs) -> Option<Vec<String>> {
        if self.packages.is_empty() {
            return None;
        }
        let folder = install_folder(dirs, &self.id).to_string();
        let words = ["npm", "install", "--no-fund", "--no-audit", "--prefix"];
        let words = words.map(str::to_owned).into_iter().chain([folder]);
        Some(words.chain(self.packages.iter().cloned()).collect())
    }
}

fn known_agent(
    files: &dyn Files,
    dirs: &Dirs,
    entry: AgentEntry,
    setting: ExternalAgentSetting,
) -> ExternalAgent {
    let mut environment = foreign_environment();
    // Burin's own installation wins: its version was confirmed by the user.
    let installed = install_folder(dirs, &entry.id).join("node_modules/.bin");
    let path = environment.get("PATH").cloned().unwrap_or_default();
    environment.insert("PATH".to_owned(), format!("{installed}:{path}"));
    let found = entry.find(files, &environment);
    environment.extend(to_texts(named_variables(&entry.keys)));
    environment.extend(entry.environment);
    let mut agent = ExternalAgent {
        id: entry.id,
        name: entry.name,
        command: found,
        packages: entry.packages,
        install: entry.install,
        sign_in: entry.sign_in,
        environment,
        hosts: entry.hosts,
        folders: entry.folders,
        files: entry.files,
    };
    agent.apply(files, setting);
    agent
}

/// Returns an agent of the user's settings; `None` if it has no command.
fn own_agent(files: &dyn Files, id: &str, setting: ExternalAgentSetting) -> Option<ExternalAgent> {
    setting.command.as_ref()?;
    let mut agent = ExternalAgent {
        id: id.to_owned(),
        name: id.to_owned(),
        command: None,
        packages: Vec::new(),
        install: String::new(),
        sign_in: String::new(),
        environment: foreign_environment(),
        hosts: Vec::new(),
        folders: Vec::new(),
        files: Vec::new(),
    };
    agent.apply(files, setting);
    Some(agent)
}

impl ExternalAgent {
    /// Applies the user's settings.
    fn apply(&mut self, files: &dyn Files, setting: ExternalAgentSetting) {
        let texts = setting.env.into_iter().flatten();
        let texts = texts.filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
        self.environment.extend(texts);
        if let Some(name) = setting.name {
            self.name = name;
        }
        if let Some(command) = setting.command {
            self.command = find_program(files, &command, &self.environment);
        }
        if let (Some(command), Some(arguments)) = (&mut self.command, setting.args) {
            command.arguments = arguments;
        }
        self.hosts.extend(setting.hosts.into_iter().flatten());
        self.folders.extend(setting.folders.into_iter().flatten());
    }
}

/// Returns the command of a program, a name in `PATH` or a path; `None` if there is no such file.
fn find_program(files: &dyn Files, program: &str, variables: &Variables) -> Option<AgentCommand> {
    if program.contains('/') {
        let path = in_home(program)?;
        let is_file = files.stat(&path).ok()?.kind == FileKind::File;
        return is_file.then(|| AgentCommand {
            program: path.to_string(),
            arguments: Vec::new(),
        });
    }
    let path = variables.get("PATH")?;
    let mut folders = path.split(':').filter_map(AbsPath::new);
    folders.find_map(|folder| {
        let path = folder.join(program);
        let is_file = files.stat(&path).ok()?.kind == FileKind::File;
        is_file.then(|| AgentCommand {
            program: path.to_string(),
            arguments: Vec::new(),
        })
    })
}

/// Returns a path in which `~` is the home folder; `None` if it is not absolute.
pub(crate) fn in_home(path: &str) -> Option<AbsPath> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(std::env::var_os("HOME").and_then(AbsPath::new)?.join(rest)),
        None => AbsPath::new(path),
    }
}

fn foreign_environment() -> Variables {
    to_texts(variables(Recipient::Foreign)).collect()
}

fn to_texts(variables: Vec<Variable>) -> impl Iterator<Item = (String, String)> {
    let texts = variables.into_iter();
    texts.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

#[cfg(test)]
mod tests {
    use host::{FakeFiles, RealFiles};

    use super::*;

    fn dirs() -> Dirs {
        Dirs::under(&AbsPath::new("/burin").expect("absolute"))
    }

    #[test]
    fn known_agents_are_listed_with_the_way_to_install_them() {
        let (agents, problems) = list(&FakeFiles::new(), &dirs());
        assert_eq!(problems, Vec::<String>::new());
        let ids: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
        assert_eq!(ids, ["claude", "codex", "gemini", "opencode"]);
        for agent in &agents {
            assert_eq!(agent.command, None);
            let command = agent.install_command(&dirs()).expect("a package");
            assert_eq!(command[0], "npm");
            assert!(command.contains(&format!("/burin/state/agents/{}", agent.id)));
        }
    }

    #[test]
    fn an_agent_that_burin_installed_is_found() {
        let files = FakeFiles::new();
        let folder = AbsPath::new("/burin/state/agents/codex/node_modules/.bin").expect("absolute");
        files.folder(&folder);
        files.write(&folder.join("codex-acp"), "");
        let found = find(&files, &dirs(), "codex").expect("it is installed");
        let program = found.command.expect("a command").program;
        assert_eq!(
            program,
            "/burin/state/agents/codex/node_modules/.bin/codex-acp"
        );
        let missing = find(&files, &dirs(), "gemini").expect_err("it is not");
        assert!(
            matches!(&missing, Error::NotInstalled { advice, .. } if advice.contains("npm install"))
        );
    }

    #[test]
    fn settings_add_agents_and_change_known_ones() {
        let files = FakeFiles::new();
        let dirs = dirs();
        files.folder(&dirs.config);
        files.folder(&AbsPath::new("/bin").expect("absolute"));
        files.write(&AbsPath::new("/bin/own").expect("absolute"), "");
        let text = r#"{ "agents": { "external": {
            "own": { "name": "Own", "command": "/bin/own", "args": ["--acp"], "env": { "A": "b" } },
            "claude": { "hosts": ["127.0.0.1:9"] },
            "empty": {}
        } } }"#;
        files.write(&dirs.config.join("settings.json"), text);
        let (agents, problems) = list(&files, &dirs);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("\"empty\""), "{problems:?}");
        let own = find(&files, &dirs, "own").expect("it is there");
        let command = own.command.expect("a command");
        assert_eq!(
            (command.program.as_str(), own.name.as_str()),
            ("/bin/own", "Own")
        );
        assert_eq!(command.arguments, ["--acp"]);
        assert_eq!(own.environment.get("A").map(String::as_str), Some("b"));
        assert!(agents[0].hosts.contains(&"127.0.0.1:9".to_owned()));
    }

    #[test]
    fn a_path_names_a_program() {
        let found = find(&RealFiles, &dirs(), "/bin/sh").expect("a program");
        assert!(found.command.expect("a command").program.starts_with('/'));
        let check = |name: &str, part: &str| {
            let refused = find(&RealFiles, &dirs(), name).expect_err("none");
            assert!(refused.to_string().contains(part), "{refused}");
        };
        check("nobody", "there are claude, codex, gemini, opencode");
        check("/", "is not a program");
        check("./burin-no-such-agent", "burin-no-such-agent");
    }
}
