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
        /// External agents of your own, which speak the Agent Client Protocol, and changes to known ones, by id: `name`, `command`, `args`, `env` with variables to set, and for the sandbox `hosts` to reach and `folders` to write.
        external: ExternalAgentSettings = ExternalAgentSettings::default();
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
