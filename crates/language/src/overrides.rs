//! Changes to the table of servers: those of the user, and those for confined servers.

use serde_json::{Map, Value};
use settings::{LanguageServerSetting, LspSettings, nearest};

use crate::table::{
    ConfinedOptions, ServerDefinition, ServerRole, ServerSharing, ServerTable, SystemPackages,
};

impl ServerTable {
    /// Returns the table with the changes of the settings, and a sentence for each change that cannot
    /// be made.
    pub(crate) fn with_settings(mut self, settings: &LspSettings) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        for (id, setting) in &settings.servers.0 {
            let languages = setting.languages.iter().flatten();
            let unknown = languages.filter(|name| !self.has_language(name));
            problems.extend(
                unknown.map(|it| format!("lsp.servers.{id}: there is no language \"{it}\"")),
            );
            let known = self.servers.iter_mut().find(|server| server.id == *id);
            match known {
                Some(server) => change(server, setting),
                None => match own_server(id, setting) {
                    Some(server) => self.servers.push(server),
                    None => problems.push(self.unknown_server(id)),
                },
            }
        }
        (self, problems)
    }

    /// Applies the options with which servers execute less code of the project; they win over settings.
    pub(crate) fn confine(&mut self) {
        for server in &mut self.servers {
            let ConfinedOptions {
                initialization_options,
                settings,
            } = &server.confined;
            merge(&mut server.initialization_options, initialization_options);
            merge(&mut server.settings, settings);
        }
    }

    fn unknown_server(&self, id: &str) -> String {
        format!(
            "lsp.servers.{id}: there is no such server{}; one of your own needs \"command\" and \"languages\"",
            self.hint(id)
        )
    }

    /// Returns a hint at the id that was probably meant; empty if there is none.
    pub(crate) fn hint(&self, id: &str) -> String {
        let ids = self.servers.iter().map(|server| server.id.as_str());
        nearest(id, ids).map_or_else(String::new, |id| format!("; did you mean \"{id}\"?"))
    }
}

/// Returns a server that only the settings know; `None` without a command or languages.
fn own_server(id: &str, setting: &LanguageServerSetting) -> Option<ServerDefinition> {
    let mut server = ServerDefinition {
        id: id.to_owned(),
        languages: setting.languages.clone()?,
        role: ServerRole::Extra,
        program: setting.command.clone()?,
        arguments: Vec::new(),
        beside: Vec::new(),
        install: None,
        system: SystemPackages::default(),
        roots: Vec::new(),
        needs_root: false,
        initialization_options: Map::new(),
        settings: Map::new(),
        confined: ConfinedOptions::default(),
        sharing: ServerSharing::PerFolder,
        runs_project_code: true,
        reports_progress: false,
        omits_empty: false,
        version: None,
        is_default: true,
        only_installed: false,
        environment: Vec::new(),
        is_configured: true,
    };
    change(&mut server, setting);
    Some(server)
}

fn change(server: &mut ServerDefinition, setting: &LanguageServerSetting) {
    let LanguageServerSetting {
        enabled,
        command,
        args,
        languages,
        environment,
        initialization_options,
        settings,
    } = setting;
    if let Some(command) = command {
        server.program.clone_from(command);
        server.is_configured = true;
    }
    replace(&mut server.is_default, enabled);
    replace(&mut server.arguments, args);
    replace(&mut server.languages, languages);
    replace(&mut server.environment, environment);
    for (ours, theirs) in [
        (&mut server.initialization_options, initialization_options),
        (&mut server.settings, settings),
    ] {
        if let Some(theirs) = theirs {
            merge(ours, theirs);
        }
    }
}

fn replace<T: Clone>(ours: &mut T, theirs: &Option<T>) {
    if let Some(theirs) = theirs {
        ours.clone_from(theirs);
    }
}

/// Adds the members of `theirs`; objects are merged member by member, other values are replaced.
fn merge(ours: &mut Map<String, Value>, theirs: &Map<String, Value>) {
    for (key, value) in theirs {
        match (ours.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => merge(inner, value),
            _ => {
                ours.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use settings::{Settings, SettingsSource};

    use super::*;

    fn with(servers: &str) -> (ServerTable, Vec<String>) {
        let text = format!(r#"{{ "lsp": {{ "servers": {servers} }} }}"#);
        let (settings, problems): (Settings, _) =
            settings::parse(&[(SettingsSource::User, "settings.json", &text)]);
        assert_eq!(problems, []);
        ServerTable::builtin().with_settings(&settings.lsp)
    }

    #[test]
    fn a_setting_changes_what_it_names() {
        let (table, problems) = with(
            r#"{ "json": { "command": "~/json", "settings": { "json": { "format": { "enable": false } } } } }"#,
        );
        assert_eq!(problems, Vec::<String>::new());
        let json = table.server("json").expect("known");
        assert_eq!(
            (json.program.as_str(), json.is_configured),
            ("~/json", true)
        );
        assert_eq!(json.arguments, ["--stdio"]);
        let expected = json!({ "validate": { "enable": true }, "format": { "enable": false } });
        assert_eq!(json.settings["json"], expected);
    }

    #[test]
    fn confined_servers_execute_less_code_whatever_the_settings() {
        let (mut table, _) = with(
            r#"{ "rust-analyzer": { "initialization_options": { "checkOnSave": true, "cargo": { "features": [] } } } }"#,
        );
        table.confine();
        let options = &table
            .server("rust-analyzer")
            .expect("known")
            .initialization_options;
        let cargo = json!({ "features": [], "buildScripts": { "enable": false } });
        assert_eq!(options["cargo"], cargo);
        assert_eq!(options["checkOnSave"], json!(false));
        assert_eq!(options["procMacro"], json!({ "enable": false }));
    }

    #[test]
    fn a_server_of_the_user_needs_command_and_languages() {
        let (table, problems) = with(r#"{ "own": { "command": "x", "languages": ["SQL"] } }"#);
        assert_eq!(problems, Vec::<String>::new());
        assert!(table.server("own").expect("added").serves("SQL"));
        let (table, problems) = with(r#"{ "rust-analyser": { "args": [] } }"#);
        assert!(table.server("rust-analyser").is_none());
        assert!(
            problems[0].contains("did you mean \"rust-analyzer\"?"),
            "{problems:?}"
        );
        let (_, problems) = with(r#"{ "ty": { "languages": ["Pithon"] } }"#);
        assert!(
            problems[0].contains("no language \"Pithon\""),
            "{problems:?}"
        );
    }
}
