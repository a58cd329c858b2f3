//! Settings of language servers: whether they run, and changes to the servers that Burin knows.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::document::{Member, SpannedValue};
use crate::section::{Limits, SettingValue, ValueError, section};
use crate::suggest;

section! {
    /// Language servers.
    LspSettings {
        /// Starts language servers in folders that you trust.
        enabled: bool = true;
        /// Starts the servers of a trusted folder in the environment that direnv or mise gives it.
        load_environment: bool = true;
        /// Offers agents the language servers of folders that you trust: diagnostics, definitions, references, renames and code actions. Their servers run in the agent's sandbox.
        agents: bool = true;
        /// Tells an agent after each edit which errors are new and which are resolved.
        diagnostics_after_edit: bool = true;
        /// Lands agents' work only if language servers find no new errors in the changed files. If a server fails, the work lands only when you confirm it. Files without an installed server are not checked.
        check_landings: bool = false;
        /// Changes to known servers, and servers of your own, by id: `enabled`, `command`, `args`, `languages`, `environment` with the names of variables to pass on, `initialization_options` and `settings`.
        servers: LanguageServerSettings = LanguageServerSettings::default();
    }
}

/// Language servers by id. A later layer of settings changes the members that it names.
#[derive(Clone, Debug, Default, PartialEq, schemars::JsonSchema)]
pub struct LanguageServerSettings(pub BTreeMap<String, LanguageServerSetting>);

/// Changes to a language server. A server that Burin does not know needs `command` and `languages`.
#[derive(Clone, Debug, Default, PartialEq, schemars::JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct LanguageServerSetting {
    /// Whether it runs by default; `None` keeps what is known of the server.
    pub enabled: Option<bool>,
    /// Program: a name that is looked up in `PATH`, or a path. `~` and `$NAME` are expanded.
    pub command: Option<String>,
    /// Arguments of the program, in place of the known ones.
    pub args: Option<Vec<String>>,
    /// Names of the languages that it serves.
    pub languages: Option<Vec<String>>,
    /// Names of environment variables to pass on to it.
    pub environment: Option<Vec<String>>,
    /// Members of the options for its initialization, on top of the known ones.
    pub initialization_options: Option<Map<String, Value>>,
    /// Sections of its configuration, on top of the known ones.
    pub settings: Option<Map<String, Value>>,
}

/// The members of a server in a settings file.
const MEMBERS: &[&str] = &[
    "enabled",
    "command",
    "args",
    "languages",
    "environment",
    "initialization_options",
    "settings",
];

impl SettingValue for LanguageServerSettings {
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        let members = object(node, "an object with the ids of servers")?;
        let read = |member: &Member| {
            let setting = LanguageServerSetting::read(&member.value, limits);
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

impl SettingValue for LanguageServerSetting {
    fn read(node: &SpannedValue, limits: Limits) -> Result<Self, ValueError> {
        let mut setting = Self::default();
        for Member { key, value, .. } in object(node, "an object")? {
            let result = match key.as_str() {
                "enabled" => read(value, limits, &mut setting.enabled),
                "command" => read(value, limits, &mut setting.command),
                "args" => read(value, limits, &mut setting.args),
                "languages" => read(value, limits, &mut setting.languages),
                "environment" => read(value, limits, &mut setting.environment),
                "initialization_options" => {
                    read(value, limits, &mut setting.initialization_options)
                }
                "settings" => read(value, limits, &mut setting.settings),
                _ => {
                    let hint = suggest::hint(key, MEMBERS.iter().copied());
                    let message = format!("a server has no \"{key}\"{hint}");
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
        replace(&mut self.enabled, later.enabled);
        replace(&mut self.command, later.command);
        replace(&mut self.args, later.args);
        replace(&mut self.languages, later.languages);
        replace(&mut self.environment, later.environment);
        replace(
            &mut self.initialization_options,
            later.initialization_options,
        );
        replace(&mut self.settings, later.settings);
    }
}

impl SettingValue for Map<String, Value> {
    fn read(node: &SpannedValue, _: Limits) -> Result<Self, ValueError> {
        let members = object(node, "an object")?;
        let member = |member: &Member| (member.key.clone(), member.value.to_json());
        Ok(members.iter().map(member).collect())
    }
}

/// Reads a value into `target`.
pub(super) fn read<T: SettingValue>(
    node: &SpannedValue,
    limits: Limits,
    target: &mut Option<T>,
) -> Result<(), ValueError> {
    *target = Some(T::read(node, limits)?);
    Ok(())
}

/// Replaces `old` if there is a later value.
pub(super) fn replace<T>(old: &mut Option<T>, later: Option<T>) {
    if later.is_some() {
        *old = later;
    }
}

/// Returns the members of an object; `expected` names it in the error.
pub(super) fn object<'a>(
    node: &'a SpannedValue,
    expected: &str,
) -> Result<&'a [Member], ValueError> {
    node.as_object().ok_or_else(|| ValueError::Type {
        expected: expected.to_owned(),
        found: node.kind(),
    })
}

/// Names the member whose value is invalid.
pub(super) fn within(key: &str, error: &ValueError) -> ValueError {
    ValueError::Invalid(format!("\"{key}\": {error}"))
}

#[cfg(test)]
mod tests;
