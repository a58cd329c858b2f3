//! Environments of folders, with scripts in place of direnv and mise.

use std::os::unix::fs::PermissionsExt as _;

use host::{RealFiles, TempFolder};

use super::*;

/// A folder with a script in place of direnv, which is in the `PATH`.
struct World {
    folder: TempFolder,
}

impl World {
    fn new(script: &str) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let world = Self { folder };
        world.write("bin/direnv", &format!("#!/bin/sh\n{script}\n"));
        let program = world.folder.path().join("bin/direnv");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(program.as_path(), mode).expect("a program");
        world
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        let parent = path.parent().expect("a folder");
        RealFiles.create_folder(&parent).expect("a folder");
        let written = RealFiles.write_private(&path, text.as_bytes());
        written.expect("a file");
    }

    fn load(&self) -> (Vec<Variable>, Vec<String>) {
        let bin = self.folder.path().join("bin");
        let path = format!("{bin}:/usr/bin:/bin");
        let variables = vec![("PATH".into(), path.into()), ("OLD".into(), "old".into())];
        load_onto(variables, &RealFiles, &self.folder.path().join("p"))
    }

    fn value(&self, name: &str) -> Option<String> {
        let (variables, problems) = self.load();
        assert_eq!(problems, Vec::<String>::new());
        let value = path_lookup::value(&variables, name)?;
        Some(value.to_str().expect("text").to_owned())
    }
}

#[test]
fn direnv_sets_and_unsets_variables() {
    let world = World::new(r#"echo '{ "NEW": "1", "OLD": null, "DYLD_INSERT_LIBRARIES": "x" }'"#);
    world.write("p/a", "");
    assert_eq!(world.value("OLD").as_deref(), Some("old"));
    world.write("p/.envrc", "");
    assert_eq!(world.value("NEW").as_deref(), Some("1"));
    assert_eq!(world.value("OLD"), None);
    assert_eq!(world.value("DYLD_INSERT_LIBRARIES"), None);
}

#[test]
fn direnv_runs_again_when_its_file_changes() {
    let world =
        World::new(r#"echo x >> ../runs; echo "{ \"RUNS\": \"$(wc -l < ../runs | tr -d ' ')\" }""#);
    world.write("p/.envrc", "a");
    assert_eq!(world.value("RUNS").as_deref(), Some("1"));
    assert_eq!(world.value("RUNS").as_deref(), Some("1"));
    world.write("p/.envrc", "a longer text");
    assert_eq!(world.value("RUNS").as_deref(), Some("2"));
}

#[test]
fn a_failing_tool_is_named_with_its_reason() {
    let world = World::new("echo '.envrc is blocked' >&2; exit 1");
    world.write("p/.envrc", "");
    let (_, problems) = world.load();
    assert!(
        problems[0].contains("direnv failed: .envrc is blocked"),
        "{problems:?}"
    );
    world.write("p/mise.toml", "");
    let (_, problems) = world.load();
    assert!(
        problems[1].contains("mise is not installed"),
        "{problems:?}"
    );
}
