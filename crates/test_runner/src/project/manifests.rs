//! Facts from the files that describe projects. Only the needed lines of TOML and INI files are read.

use serde_json::Value;

use crate::framework::TestFramework;

/// Returns whether a TOML or INI file has a section, or one below it: `[workspace]`, `[workspace.package]`.
pub(super) fn has_section(text: &str, section: &str) -> bool {
    text.lines().any(|line| {
        let heading = line.trim_start().strip_prefix('[');
        let rest = heading.and_then(|it| it.trim_start_matches(['[', ' ']).strip_prefix(section));
        rest.is_some_and(|rest| rest.starts_with([']', '.', ' ']))
    })
}

/// Returns the name of a package of Cargo.
pub(super) fn package_name(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| *line == "[package]")?;
    let lines = lines.take_while(|line| !line.starts_with('['));
    let mut names = lines.filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().strip_prefix(['"', '\''])?;
        let end = value.find(['"', '\''])?;
        (key.trim() == "name").then(|| value[..end].to_owned())
    });
    names.next()
}

/// Returns the runner on which a package of npm depends; Vitest if it depends on both.
pub(super) fn javascript_runner(text: &str) -> Option<TestFramework> {
    let package: Value = serde_json::from_str(text).ok()?;
    let depends_on = |name: &str| {
        ["dependencies", "devDependencies", "peerDependencies"]
            .iter()
            .any(|list| package[list].get(name).is_some())
    };
    if depends_on("vitest") {
        Some(TestFramework::Vitest)
    } else if depends_on("jest") || package.get("jest").is_some() {
        Some(TestFramework::Jest)
    } else {
        None
    }
}

/// Returns the path of a module of Go.
pub(super) fn go_module(text: &str) -> Option<String> {
    let mut modules = text.lines().filter_map(|line| {
        let name = line.trim().strip_prefix("module ")?;
        let name = name.split("//").next()?.trim();
        Some(name.trim_matches('"').to_owned())
    });
    modules.next()
}
