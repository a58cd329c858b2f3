//! Settings of the agents in the window, and of external agents.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::lsp::{object, read, replace, within};
use crate::document::{Member, SpannedValue};
use crate::section::{Limits, SettingValue, ValueError, section};
use crate::suggest;

section! {
    /// Agents in the window.
    AgentSettings {
        /// Notifies you by the system when a session that you do not look at ends its turn or waits for you.
        notifications: bool = true;
        /// Rings the system's bell with such a notice.
        sound: bool = false;
        /// Model that plans, chosen when the mode changes to Plan: `panel` for the model of the agents panel, `auto`, or a model written `provider/model`.
        planner_model: String = "panel".to_owned();
        /// Model that builds, chosen when the mode changes to Build: `panel` for the model of the agents panel, `auto`, or a model written `provider/model`.
        builder_model: String = "panel".to_owned();
        /// Runs agents in a process of their own, which goes on when the windows are closed. Takes effect when
        /// Burin starts.
        background: bool = false;
        /// The most that automations may cost in a day, in US dollars. The next one that is due does not start then; 0 sets no limit.
        automation_budget_day: f32 = 5.0, 0..=1000000;
        /// The most that a run of an automation may cost, in US dollars, if its file sets no `budget`; 0 sets no limit.
        automation_budget_run: f32 = 1.0, 0..=1000000;
        /// External agents of your own, which speak the Agent Client Protocol, and changes to known ones, by id: `name`, `command`, `args`, `env` with variables to set, and for the sandbox `hosts` to reach and `folders` to write.
        external: ExternalAgentSettings = ExternalAgentSettings::default();
        /// Other machines whose agents you use over SSH, by name: `host`, `folder` on the machine, and if necessary `program` there, the `ssh` command and its `ssh_options`.
        machines: MachineSettings = MachineSettings::default();
    }
}

/// External agents by id. A later layer of settings changes the members that it names.
#[derive(Clone, Debug, Default, PartialEq, Eq, schemars::JsonSchema)]
pub struct ExternalAgentSettings(pub BTreeMap<String, ExternalAgentSetting>);

/// An external agent, or changes to a known one. An agent that Burin does not know needs `command`.
#[derive(Clone, Debug, Default, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct ExternalAgentSetting {
    /// The name for display.
    pub name: Option<String>,
    /// Program: a name that is looked up in `PATH`, or a path; `~` is the home folder.
    pub command: Option<String>,
    /// Arguments of the program, in place of the known ones.
    pub args: Option<Vec<String>>,
    /// Variables that are set in its environment.
    pub env: Option<Map<String, Value>>,
    /// Hosts that it may reach from its sandbox, written `example.com` or `127.0.0.1:8080`, besides
    /// the known ones.
    pub hosts: Option<Vec<String>>,
    /// Folders outside of the worktree that it may write, besides the known ones; `~` is the home
    /// folder.
    pub folders: Option<Vec<String>>,
}

/// Other machines by name. A later layer of settings replaces a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, schemars::JsonSchema)]
pub struct MachineSettings(pub BTreeMap<String, MachineSetting>);

/// Another machine with agents, reached over SSH.
#[derive(Clone, Debug, Default, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct MachineSetting {
    /// The host as `ssh` takes it: a name of its configuration, `host` or `user@host`.
    pub host: String,
    /// Absolute path of the folder on the machine in which agents work.
    pub folder: String,
    /// Path of `burin-agent` on the machine; `~/` is the home folder there.
    pub program: Option<String>,
    /// The command that connects, in place of `ssh`.
    pub ssh: Option<String>,
    /// Options of that command, before those of Burin.
    pub ssh_options: Option<Vec<String>>,
}

/// The members of a machine in a settings file.
const MACHINE_MEMBERS: &[&str] = &["host", "folder", "program", "ssh", "ssh_options"];

/// The members of an agent in a settings file.
const MEMBERS: &[&str] = &["name", "command", "args", "env", "hosts", "folders"];

impl SettingValue for ExternalAgentSettings {
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        let members = object(node, "an object with the ids of agents")?;
        let read = |member: &Member| {
            let setting = ExternalAgentSetting::read(&member.value, limits);
            let setting = setting.map_err(|error| within(&member.key, &error))?;
            Ok((member.key.clone(), setting))
        };
        members.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    fn merge(&mut self, later: Self) {
        for (id, later) in later.0 {
            self.0.entry(id).or_default().merge(later);
        }
    }
}

impl SettingValue for ExternalAgentSetting {
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        let mut setting = Self::default();
        for Member { key, value, .. } in object(node, "an object")? {
            let result = match key.as_str() {
                "name" => read(value, limits, &mut setting.name),
                "command" => read(value, limits, &mut setting.command),
                "args" => read(value, limits, &mut setting.args),
                "env" => read_variables(value, limits, &mut setting.env),
                "hosts" => read(value, limits, &mut setting.hosts),
                "folders" => read(value, limits, &mut setting.folders),
                _ => {
                    let hint = suggest::hint(key, MEMBERS.iter().copied());
                    let message = format!("an agent has no \"{key}\"{hint}");
                    return Err(ValueError::Invalid(message));
                }
            };
            result.map_err(|error| within(key, &error))?;
        }
        match setting.command.as_deref() {
            Some("") => Err(ValueError::Invalid("\"command\" is empty".to_owned())),
            _ => Ok(setting),
        }
    }

    fn merge(&mut self, later: Self) {
        replace(&mut self.name, later.name);
        replace(&mut self.command, later.command);
        replace(&mut self.args, later.args);
        replace(&mut self.env, later.env);
        replace(&mut self.hosts, later.hosts);
        replace(&mut self.folders, later.folders);
    }
}

impl SettingValue for MachineSettings {
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        let members = object(node, "an object with the names of machines")?;
        let read = |member: &Member| {
            let setting = MachineSetting::read(&member.value, limits);
            let setting = setting.map_err(|error| within(&member.key, &error))?;
            Ok((member.key.clone(), setting))
        };
        members.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    fn merge(&mut self, later: Self) {
        self.0.extend(later.0);
    }
}

impl SettingValue for MachineSetting {
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        let (mut host, mut folder, mut setting) = (None, None, Self::default());
        for Member { key, value, .. } in object(node, "an object")? {
            let result = match key.as_str() {
                "host" => read(value, limits, &mut host),
                "folder" => read(value, limits, &mut folder),
                "program" => read(value, limits, &mut setting.program),
                "ssh" => read(value, limits, &mut setting.ssh),
                "ssh_options" => read(value, limits, &mut setting.ssh_options),
                _ => {
                    let hint = suggest::hint(key, MACHINE_MEMBERS.iter().copied());
                    let message = format!("a machine has no \"{key}\"{hint}");
                    return Err(ValueError::Invalid(message));
                }
            };
            result.map_err(|error| within(key, &error))?;
        }
        setting.host = host.unwrap_or_default();
        setting.folder = folder.unwrap_or_default();
        setting.check()?;
        Ok(setting)
    }
}

impl MachineSetting {
    /// Fails if a member is missing or could be read as something else by the command that connects.
    fn check(&self) -> Result<(), ValueError> {
        let is_word = |text: &str| !text.chars().any(|it| it.is_whitespace() || it.is_control());
        let is_safe = |text: &str| !text.is_empty() && !text.starts_with('-');
        let program = self.program.as_deref().unwrap_or("burin-agent");
        let problem = if !is_safe(&self.host) || !is_word(&self.host) {
            "\"host\" must be a host such as \"user@host\", without spaces and not beginning with \"-\""
        } else if !self.folder.starts_with('/') || self.folder.chars().any(char::is_control) {
            "\"folder\" must be an absolute path on the machine, such as \"/home/me/project\""
        } else if !is_safe(program) || program.chars().any(char::is_control) {
            "\"program\" must be the path of burin-agent on the machine, not beginning with \"-\""
        } else if self.ssh.as_deref() == Some("") {
            "\"ssh\" is empty"
        } else {
            return Ok(());
        };
        Err(ValueError::Invalid(problem.to_owned()))
    }
}

/// Reads an object whose values are texts.
fn read_variables(
    node: &SpannedValue,
    limits: Limits,
    target: &mut Option<Map<String, Value>>,
) -> Result<(), ValueError> {
    read(node, limits, target)?;
    let not_text = target
        .iter()
        .flatten()
        .find(|(_, value)| !value.is_string());
    match not_text {
        Some((name, _)) => Err(ValueError::Invalid(format!("\"{name}\" is not a text"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Settings, SettingsSource, parse};

    fn read(text: &str) -> (Settings, Vec<String>) {
        let (settings, problems) = parse(&[(SettingsSource::User, "settings.json", text)]);
        (settings, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn an_agent_of_the_user_is_read() {
        let text = r#"{ "agents": { "external": {
            "own": { "command": "~/bin/own", "args": ["--acp"], "env": { "MODE": "fast" }, "hosts": ["127.0.0.1:9"] }
        } } }"#;
        let (settings, problems) = read(text);
        assert_eq!(problems, Vec::<String>::new());
        let own = &settings.agents.external.0["own"];
        assert_eq!(own.command.as_deref(), Some("~/bin/own"));
        assert_eq!(own.args, Some(vec!["--acp".to_owned()]));
        assert_eq!(
            own.env.as_ref().map(|it| it["MODE"].clone()),
            Some("fast".into())
        );
    }

    #[test]
    fn a_project_sets_no_agent() {
        let text = r#"{ "agents": { "external": { "own": { "command": "x" } } } }"#;
        let (settings, _) = parse(&[(SettingsSource::Project, "project", text)]);
        assert!(settings.agents.external.0.is_empty());
    }

    #[test]
    fn budgets_of_automations_are_read_from_the_user_alone() {
        let text =
            r#"{ "agents": { "automation_budget_day": 2.5, "automation_budget_run": 0.5 } }"#;
        let (settings, problems) = read(text);
        assert_eq!(problems, Vec::<String>::new());
        let agents = &settings.agents;
        let budgets = (agents.automation_budget_day, agents.automation_budget_run);
        assert_eq!(budgets, (2.5, 0.5));
        let (settings, _) = parse(&[(SettingsSource::Project, "project", text)]);
        assert_eq!(settings.agents.automation_budget_day, 5.0);
    }

    #[test]
    fn machines_are_read_and_checked() {
        let text =
            |machine: &str| format!(r#"{{ "agents": {{ "machines": {{ "far": {machine} }} }} }}"#);
        let whole = r#"{ "host": "me@far", "folder": "/srv/p", "program": "~/bin/burin-agent",
            "ssh": "/usr/bin/ssh", "ssh_options": ["-p", "2222"] }"#;
        let (settings, problems) = read(&text(whole));
        assert_eq!(problems, Vec::<String>::new());
        let far = &settings.agents.machines.0["far"];
        assert_eq!(
            (far.host.as_str(), far.folder.as_str()),
            ("me@far", "/srv/p")
        );
        let options = far.ssh_options.clone().unwrap_or_default();
        assert_eq!(options, ["-p", "2222"]);
        for (machine, part) in [
            (r#"{ "folder": "/p" }"#, "\"host\" must be"),
            (
                r#"{ "host": "-oProxyCommand=x", "folder": "/p" }"#,
                "\"host\" must be",
            ),
            (r#"{ "host": "a b", "folder": "/p" }"#, "\"host\" must be"),
            (r#"{ "host": "far" }"#, "absolute path"),
            (r#"{ "host": "far", "folder": "p" }"#, "absolute path"),
            (
                r#"{ "host": "far", "folder": "/p", "program": "-x" }"#,
                "\"program\" must be",
            ),
            (
                r#"{ "host": "far", "folder": "/p", "ssh": "" }"#,
                "is empty",
            ),
            (
                r#"{ "host": "far", "folder": "/p", "port": 1 }"#,
                "a machine has no \"port\"",
            ),
        ] {
            let (settings, problems) = read(&text(machine));
            assert!(settings.agents.machines.0.is_empty(), "{machine}");
            let [problem] = problems.as_slice() else {
                panic!("{machine}: {problems:?}");
            };
            assert!(problem.contains(part), "{machine}: {problem}");
        }
        // A project chooses no host and no command.
        let text = text(whole);
        let (settings, _) = parse(&[(SettingsSource::Project, "project", &text)]);
        assert!(settings.agents.machines.0.is_empty());
    }

    #[test]
    fn members_that_do_not_exist_and_wrong_values_are_named() {
        let check = |agent: &str, part: &str| {
            let text = format!(r#"{{ "agents": {{ "external": {{ "own": {agent} }} }} }}"#);
            let (settings, problems) = read(&text);
            assert!(settings.agents.external.0.is_empty());
            assert!(
                problems.len() == 1 && problems[0].contains(part),
                "{problems:?}"
            );
        };
        check(r#"{ "comand": "x" }"#, "an agent has no \"comand\"");
        check(r#"{ "command": "" }"#, "is empty");
        check(r#"{ "env": { "A": 1 } }"#, "\"A\" is not a text");
    }
}
