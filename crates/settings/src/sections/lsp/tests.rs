//! Language servers in settings files.

use crate::{Settings, SettingsSource, parse};

fn check(user: &str, project: &str) -> (Settings, Vec<String>) {
    let (settings, problems) = parse(&[
        (SettingsSource::User, "settings.json", user),
        (SettingsSource::Project, "project", project),
    ]);
    (settings, problems.iter().map(ToString::to_string).collect())
}

#[test]
fn a_later_layer_changes_the_members_it_names() {
    let (settings, problems) = check(
        r#"{ "lsp": { "servers": { "ty": { "command": "~/ty", "args": ["server"] } } } }"#,
        r#"{ "lsp": { "servers": { "ty": { "enabled": false }, "own": { "command": "x" } } } }"#,
    );
    assert_eq!(problems, Vec::<String>::new());
    let ty = &settings.lsp.servers.0["ty"];
    assert_eq!(ty.command.as_deref(), Some("~/ty"));
    assert_eq!(
        (ty.enabled, ty.args.clone()),
        (Some(false), Some(vec!["server".into()]))
    );
    assert_eq!(settings.lsp.servers.0["own"].command.as_deref(), Some("x"));
}

#[test]
fn invalid_members_are_named() {
    for (text, words) in [
        (
            r#"{ "ty": { "comand": "x" } }"#,
            "a server has no \"comand\"",
        ),
        (
            r#"{ "ty": { "args": "x" } }"#,
            "\"ty\": \"args\": expected a list",
        ),
        (r#"{ "ty": { "command": "" } }"#, "\"command\" is empty"),
        (r#"{ "ty": 5 }"#, "\"ty\": expected an object"),
        (
            r#"{ "ty": { "settings": [] } }"#,
            "\"settings\": expected an object",
        ),
    ] {
        let (settings, problems) = check(&format!(r#"{{ "lsp": {{ "servers": {text} }} }}"#), "");
        assert!(problems[0].contains(words), "{problems:?}");
        assert!(settings.lsp.servers.0.is_empty());
    }
}

#[test]
fn a_project_cannot_turn_servers_or_environments_on() {
    let (settings, problems) = check(
        r#"{ "lsp": { "enabled": false, "load_environment": false } }"#,
        r#"{ "lsp": { "enabled": true, "load_environment": true } }"#,
    );
    assert!(!settings.lsp.enabled && !settings.lsp.load_environment);
    assert_eq!(problems.len(), 2, "{problems:?}");
}

#[test]
fn a_language_orders_its_servers() {
    let (settings, problems) = check(
        r#"{ "languages": { "Python": { "language_servers": ["ty", "!ruff", "..."] } } }"#,
        "",
    );
    assert_eq!(problems, Vec::<String>::new());
    let python = settings.for_language(Some("Python"));
    assert_eq!(python.language_servers, ["ty", "!ruff", "..."]);
    assert_eq!(settings.editor.language_servers, ["..."]);
}
