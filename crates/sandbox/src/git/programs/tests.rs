//! Programs that Git runs by itself, found in configurations and hooks of real repositories.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        fs::create_dir_all(scene.root()).expect("a folder");
        let done = Command::new("git")
            .args(["init", "-q"])
            .current_dir(scene.root())
            .status();
        assert!(done.is_ok_and(|status| status.success()));
        scene
    }

    fn root(&self) -> PathBuf {
        let real = fs::canonicalize(self.folder.path()).expect("a real path");
        real.join("work")
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("written");
    }

    fn make_executable(&self, path: &str) {
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.root().join(path), mode).expect("a mode");
    }

    fn programs(&self) -> GitPrograms {
        let home = AbsPath::new(self.root().join("../home")).expect("absolute");
        let root = AbsPath::new(self.root()).expect("absolute");
        GitPrograms::of(&root, Some(&home))
    }

    /// The paths below the working folder, sorted.
    fn paths(&self) -> Vec<String> {
        let root = self.root();
        let paths = self.programs().paths;
        let path = |path: &PathBuf| path.strip_prefix(&root).map(|it| it.display().to_string());
        paths.keys().filter_map(|it| path(it).ok()).collect()
    }
}

/// A configuration, and the paths of the working folder that it has Git run.
fn check_config(text: &str, expected: &[&str]) {
    let scene = Scene::new();
    scene.put("tools/x", "#!/bin/sh\n");
    scene.make_executable("tools/x");
    scene.put("tools/y.sh", "");
    scene.put("README.md", "");
    scene.put("lib/data.json", "");
    let config = scene.root().join(".git/config");
    let root = scene.root().display().to_string();
    let text = format!(
        "{}{}",
        fs::read_to_string(&config).expect("a configuration"),
        text.replace("$ROOT", &root)
    );
    fs::write(config, &text).expect("written");
    assert_eq!(scene.paths(), expected, "{text}");
}

#[test]
fn programs_of_the_configuration_are_found() {
    check_config("", &[]);
    check_config("[core]\n fsmonitor = tools/x\n", &["tools/x"]);
    check_config("[core]\n fsmonitor = true\n", &[]);
    check_config("[core]\n sshCommand = sh tools/y.sh -v\n", &["tools/y.sh"]);
    check_config("[core]\n pager = ./tools/x | less\n", &["tools/x"]);
    check_config("[core]\n editor = $ROOT/tools/x\n", &["tools/x"]);
    check_config("[sequence]\n editor = tools/x\n", &["tools/x"]);
    check_config("[filter \"e\"]\n clean = tools/x %f\n", &["tools/x"]);
    check_config(
        "[filter \"e\"]\n process = python3 tools/y.sh\n",
        &["tools/y.sh"],
    );
    check_config("[diff \"e\"]\n textconv = tools/x\n", &["tools/x"]);
    check_config("[diff]\n external = tools/x\n", &["tools/x"]);
    check_config("[merge \"e\"]\n driver = tools/x %A %O %B\n", &["tools/x"]);
    check_config("[alias]\n st = status\n l = log tools/x\n", &[]);
    check_config(
        "[alias]\n x = \"!tools/x && cat README.md\"\n",
        &["tools/x"],
    );
    check_config("[credential]\n helper = \"!tools/x\"\n", &["tools/x"]);
    check_config("[gpg]\n program = tools/x\n", &["tools/x"]);
    check_config(
        "[gpg \"ssh\"]\n defaultKeyCommand = tools/x\n",
        &["tools/x"],
    );
    check_config("[remote \"o\"]\n uploadpack = tools/x\n", &["tools/x"]);
    check_config("[uploadpack]\n packObjectsHook = tools/x\n", &["tools/x"]);
    check_config("[pager]\n log = tools/x\n", &["tools/x"]);
    check_config("[interactive]\n diffFilter = tools/x\n", &["tools/x"]);
    check_config("[mergetool \"m\"]\n cmd = tools/x $MERGED\n", &["tools/x"]);
    check_config("[hook \"h\"]\n command = tools/x\n", &["tools/x"]);
    check_config("[trailer \"t\"]\n cmd = tools/x\n", &["tools/x"]);
    check_config("[core]\n attributesFile = .attributes\n", &[".attributes"]);
    // A missing program is run as soon as it exists.
    check_config("[core]\n fsmonitor = tools/later\n", &["tools/later"]);
    check_config("[core]\n hooksPath = tools/hooks\n", &["tools/hooks"]);
    check_config("[include]\n path = ../team.config\n", &["team.config"]);
    check_config(
        "[includeIf \"onbranch:x\"]\n path = ../team.config\n",
        &["team.config"],
    );
    check_config("[core]\n editor = vim\n[user]\n name = tools/x\n", &[]);
    check_config(
        "[commit]\n template = README.md\n[blame]\n ignoreRevsFile = tools/x\n",
        &[],
    );
}

#[test]
fn an_included_configuration_is_read_too() {
    let scene = Scene::new();
    scene.put(
        "team.config",
        "[core]\n fsmonitor = ./monitor.sh\n[include]\n path = more.config\n",
    );
    scene.put("more.config", "[core]\n hooksPath = .hooks\n");
    scene.put(".hooks/pre-commit", "#!/bin/sh\n./checks/lint\n");
    scene.put("checks/lint", "#!/bin/sh\n");
    scene.make_executable("checks/lint");
    scene.put("../home/.gitconfig", "[diff]\n external = ./show.py\n");
    fs::write(
        scene.root().join(".git/config"),
        "[include]\n path = ../team.config\n",
    )
    .expect("written");
    let expected = [
        ".hooks",
        "checks/lint",
        "monitor.sh",
        "more.config",
        "show.py",
        "team.config",
    ];
    assert_eq!(scene.paths(), expected);
}

/// A hook, and what it has Git run.
fn check_hook(text: &str, expected: &[&str]) {
    let scene = Scene::new();
    for name in ["scripts/a", "scripts/deep/b"] {
        scene.put(name, "#!/bin/sh\n");
        scene.make_executable(name);
    }
    scene.put("scripts/c.sh", ". ./scripts/lib.sh\n");
    scene.put("scripts/lib.sh", "");
    scene.put("check.py", "");
    scene.put("package.json", "{}");
    scene.put("src/main.rs", "");
    scene.put("node_modules/.bin/tool", "#!/usr/bin/env node\n");
    scene.make_executable("node_modules/.bin/tool");
    scene.put(".git/hooks/pre-commit", text);
    assert_eq!(scene.paths(), expected, "{text}");
}

#[test]
fn scripts_that_hooks_call_are_found() {
    check_hook("#!/bin/sh\ntrue\n", &[]);
    check_hook("#!/bin/sh\nscripts/a\n", &["scripts/a"]);
    check_hook(
        "#!/bin/sh\nexec \"$(git rev-parse --show-toplevel)/scripts/a\" \"$@\"\n",
        &["scripts/a"],
    );
    check_hook(
        "#!/bin/sh\nsh scripts/c.sh\n",
        &["scripts/c.sh", "scripts/lib.sh"],
    );
    check_hook("#!/bin/sh\ncd scripts && ./deep/b\n", &["scripts/deep/b"]);
    check_hook(
        "#!/usr/bin/env bash\npython3 -u check.py --fast\n",
        &["check.py"],
    );
    check_hook(
        "#!/bin/sh\ngit diff --name-only | grep -q package.json && cat src/main.rs\n",
        &[],
    );
    check_hook("#!/bin/sh\n# scripts/a is not called\n", &[]);
    check_hook(
        "#!/bin/sh\nnode_modules/.bin/tool\n",
        &["node_modules/.bin/tool"],
    );
    check_hook(
        "#!/bin/sh\n[ -x scripts/local.sh ] && scripts/local.sh\n",
        &["scripts/local.sh"],
    );
    check_hook("#!scripts/a\n", &["scripts/a"]);
}

#[test]
fn a_hook_that_is_a_link_has_its_target_guarded() {
    let scene = Scene::new();
    scene.put("scripts/pre-commit", "#!/bin/sh\n. scripts/lib.sh\n");
    scene.put("scripts/lib.sh", "");
    symlink(
        "../../scripts/pre-commit",
        scene.root().join(".git/hooks/pre-commit"),
    )
    .expect("a link");
    symlink("../../later", scene.root().join(".git/hooks/pre-push")).expect("a link");
    assert_eq!(
        scene.paths(),
        ["later", "scripts/lib.sh", "scripts/pre-commit"]
    );
}

#[test]
fn links_on_the_way_to_a_program_are_guarded() {
    let scene = Scene::new();
    scene.put("tools/hooks/pre-commit", "");
    symlink("tools/hooks", scene.root().join("hooks")).expect("a link");
    fs::write(
        scene.root().join(".git/config"),
        "[core]\n hooksPath = hooks\n",
    )
    .expect("written");
    assert_eq!(scene.paths(), ["hooks", "tools/hooks"]);
}

#[test]
fn husky_hooks_are_found_in_the_parent_folder() {
    let scene = Scene::new();
    scene.put(".husky/pre-commit", "npm test\n");
    scene.put(
        ".husky/_/pre-commit",
        "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n",
    );
    scene.put(".husky/_/h", "sh -e \"$s\" \"$@\"\n");
    fs::write(
        scene.root().join(".git/config"),
        "[core]\n hooksPath = .husky/_\n",
    )
    .expect("written");
    let paths = scene.paths();
    assert!(paths.contains(&".husky".to_owned()), "{paths:?}");
    let notices: Vec<String> = scene.programs().notices().map(str::to_owned).collect();
    assert!(
        notices
            .iter()
            .any(|it| it.contains(".husky/pre-commit") && it.contains("\"npm\"")),
        "{notices:?}"
    );
}

#[test]
fn a_folder_without_a_repository_has_no_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = AbsPath::new(folder.path()).expect("absolute");
    assert_eq!(GitPrograms::of(&root, None), GitPrograms::default());
    let nowhere = AbsPath::new(folder.path().join("none")).expect("absolute");
    assert_eq!(GitPrograms::of(&nowhere, None), GitPrograms::default());
}
