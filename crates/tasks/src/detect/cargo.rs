//! Cargo: packages, programs and examples.

use super::{DetectedFolder, DetectedProject, MAX_NAMES, matchers};
use crate::definition::{TaskDefinition, TaskGroup};

/// The parts of a manifest that tasks are made of.
#[derive(Debug, Default, PartialEq, Eq)]
struct CargoManifest {
    package: Option<String>,
    is_workspace: bool,
    programs: Vec<String>,
    examples: Vec<String>,
}

impl CargoManifest {
    /// Reads names from a manifest; the values of other keys are not read.
    fn parse(text: &str) -> Self {
        let mut manifest = Self::default();
        let mut section = String::new();
        for line in text.lines() {
            let line = line.trim();
            if line.starts_with('[') {
                section = line.trim_matches(['[', ']']).trim().to_owned();
                manifest.is_workspace |= section == "workspace";
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            let Some(value) = quoted(value).filter(|_| key.trim() == "name") else {
                continue;
            };
            match section.as_str() {
                "package" => manifest.package = Some(value),
                "bin" => manifest.programs.push(value),
                "example" => manifest.examples.push(value),
                _ => {}
            }
        }
        manifest
    }
}

/// Returns the text in quotes at the start of a value.
fn quoted(value: &str) -> Option<String> {
    let value = value.trim_start();
    let quote = value.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    let inner = &value[1..];
    Some(inner[..inner.find(quote)?].to_owned())
}

pub(super) fn detect(project: &DetectedProject<'_>, tasks: &mut Vec<TaskDefinition>) {
    let with_manifest = project.folders.iter().filter(|it| it.has("Cargo.toml"));
    for folder in with_manifest.take(MAX_NAMES) {
        let Some(text) = project.read(&folder.path.join("Cargo.toml")) else {
            continue;
        };
        let mut manifest = CargoManifest::parse(&text);
        add_files(project, folder, &mut manifest);
        // Packages below another manifest belong to its workspace.
        if project.is_below(folder, "Cargo.toml") && !manifest.is_workspace {
            add_package(folder, &manifest, tasks);
        } else {
            add_workspace(folder, &manifest, tasks);
        }
    }
}

/// Adds the programs and examples that have no entry in the manifest.
fn add_files(project: &DetectedProject<'_>, folder: &DetectedFolder, manifest: &mut CargoManifest) {
    let sources = project.folder(&folder.path.join("src"));
    if sources.is_some_and(|sources| sources.has("main.rs")) {
        manifest.programs.extend(manifest.package.clone());
    }
    for (inner, names) in [
        ("src/bin", &mut manifest.programs),
        ("examples", &mut manifest.examples),
    ] {
        let Some(listed) = project.folder(&folder.path.join(inner)) else {
            continue;
        };
        let files = listed.files.iter();
        names.extend(files.filter_map(|file| Some(file.strip_suffix(".rs")?.to_owned())));
        let folders = listed.folders.iter().filter(|name| {
            let inner = project.folder(&listed.path.join(name.as_str()));
            inner.is_some_and(|inner| inner.has("main.rs"))
        });
        names.extend(folders.cloned());
    }
    for names in [&mut manifest.programs, &mut manifest.examples] {
        names.sort();
        names.dedup();
        names.truncate(MAX_NAMES);
    }
}

/// Adds the tasks of a whole workspace, or of a package of its own.
fn add_workspace(
    folder: &DetectedFolder,
    manifest: &CargoManifest,
    tasks: &mut Vec<TaskDefinition>,
) {
    for (command, group) in [
        ("build", Some(TaskGroup::Build)),
        ("check", Some(TaskGroup::Build)),
        ("clippy", Some(TaskGroup::Build)),
        ("test", Some(TaskGroup::Test)),
        ("bench", None),
    ] {
        let mut task = cargo(folder, &[command]);
        task.group = group;
        task.is_default = matches!(command, "build" | "test") && folder.relative.is_empty();
        tasks.push(task);
    }
    match manifest.programs.as_slice() {
        [] => {}
        [_] => tasks.push(cargo(folder, &["run"])),
        several => {
            for program in several {
                tasks.push(cargo(folder, &["run", "--bin", program.as_str()]));
            }
        }
    }
    for example in &manifest.examples {
        tasks.push(cargo(folder, &["run", "--example", example.as_str()]));
    }
}

/// Adds the tasks of a package of a workspace.
fn add_package(folder: &DetectedFolder, manifest: &CargoManifest, tasks: &mut Vec<TaskDefinition>) {
    let Some(package) = manifest.package.as_deref() else {
        return;
    };
    // The package is named, so the folder is not.
    let mut add = |arguments: &[&str], group| {
        let label = format!("cargo {}", arguments.join(" "));
        let mut task = cargo(folder, arguments);
        task.label = label;
        task.group = group;
        tasks.push(task);
    };
    add(&["build", "-p", package], Some(TaskGroup::Build));
    add(&["test", "-p", package], Some(TaskGroup::Test));
    for program in &manifest.programs {
        add(&["run", "-p", package, "--bin", program.as_str()], None);
    }
    for example in &manifest.examples {
        add(&["run", "-p", package, "--example", example.as_str()], None);
    }
}

fn cargo(folder: &DetectedFolder, arguments: &[&str]) -> TaskDefinition {
    let command = [&["cargo"][..], arguments].concat();
    let mut task = folder.task("cargo", "Cargo.toml", &command.join(" "), &command);
    task.matchers = matchers(&["$rustc"]);
    task
}

#[cfg(test)]
mod tests {
    use super::CargoManifest;

    #[test]
    fn names_are_read_from_a_manifest() {
        let text = "[package]\nname = \"a\" # name = \"no\"\nversion = '1'\n\n[workspace]\nmembers = [\"b\"]\n\
                    [[bin]]\nname='tool'\npath = \"x.rs\"\n[[ example ]]\nname = \"show\"\n[dependencies]\nname = \"1\"\n";
        let expected = CargoManifest {
            package: Some("a".to_owned()),
            is_workspace: true,
            programs: vec!["tool".to_owned()],
            examples: vec!["show".to_owned()],
        };
        assert_eq!(CargoManifest::parse(text), expected);
        assert_eq!(
            CargoManifest::parse("name = \"a\n[["),
            CargoManifest::default()
        );
    }
}
