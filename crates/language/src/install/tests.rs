//! Plans, records, and installations that fail or are killed, with a script in place of npm.

use std::os::unix::fs::PermissionsExt as _;

use host::{FakeFiles, RealFiles, TempFolder};

use super::*;
use crate::table::ServerTable;

/// A folder with a script in place of npm, which gets the target as `$3`.
struct World {
    folder: TempFolder,
    servers: InstalledServers,
}

/// Installs a program as npm does.
const GOOD: &str = "echo added; mkdir -p $3/node_modules/.bin; cd $3/node_modules/.bin; \
                    echo '#!/bin/sh' > pyright-langserver; chmod +x pyright-langserver";

impl World {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let servers = InstalledServers::new(folder.path().join("servers"));
        Self { folder, servers }
    }

    fn server() -> ServerDefinition {
        let table = ServerTable::builtin();
        table.server("pyright").expect("known").clone()
    }

    fn plan(&self, script: &str) -> InstallPlan {
        let npm = self.folder.path().join("bin/npm");
        let parent = npm.parent().expect("a folder");
        RealFiles.create_folder(&parent).expect("a folder");
        let text = format!("#!/bin/sh\n{script}\n");
        RealFiles
            .write_private(&npm, text.as_bytes())
            .expect("a file");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(npm.as_path(), mode).expect("a program");
        let path = format!("{parent}:/usr/bin:/bin");
        let environment = vec![("PATH".into(), path.into())];
        let mut plan = InstallPlan {
            environment,
            ..self.any_plan()
        };
        let recipe = Self::server().install.expect("a recipe");
        let place = self.servers.folder.join("pyright/1.1.414");
        plan.steps = steps::steps(&RealFiles, &plan.environment, "pyright", &recipe, &place)
            .expect("npm is there");
        plan
    }

    /// A plan whose steps are not meant to run.
    fn any_plan(&self) -> InstallPlan {
        InstallPlan {
            id: "pyright".to_owned(),
            steps: Vec::new(),
            target: Some(InstallTarget {
                folder: self.servers.folder.join("pyright/1.1.414"),
                version: "1.1.414".to_owned(),
                program: "node_modules/.bin/pyright-langserver".to_owned(),
            }),
            environment: Vec::new(),
        }
    }

    fn install(&self, script: &str) -> (Result<(), Error>, Vec<String>) {
        let plan = self.plan(script);
        let mut lines = Vec::new();
        let mut progress = |line: &str| lines.push(line.to_owned());
        let result = self.servers.install(&RealFiles, &plan, &mut progress);
        (result, lines)
    }

    fn version(&self) -> Option<String> {
        let (_, version) = self.servers.find(&RealFiles, &Self::server())?;
        version
    }
}

#[test]
fn an_installed_server_is_found_with_its_version() {
    let world = World::new();
    assert_eq!(world.version(), None);
    let (result, lines) = world.install(GOOD);
    result.expect("installed");
    assert_eq!(lines, ["added"]);
    assert_eq!(world.version().as_deref(), Some("1.1.414"));
    world.install(GOOD).0.expect("installed again");
}

#[test]
fn a_failure_shows_the_last_lines_and_leaves_nothing() {
    let world = World::new();
    let (result, _) = world.install("echo one; echo E404 >&2; exit 7");
    let error = result.expect_err("failed").to_string();
    assert!(error.contains("npm install --prefix"), "{error}");
    assert!(
        error.contains("exit code 7") && error.ends_with("\n  E404"),
        "{error}"
    );
    let folder = world.servers.folder.join("pyright/1.1.414");
    assert!(!RealFiles.exists(&folder) && world.version().is_none());
    let (result, _) = world.install("exit 0");
    let error = result.expect_err("no program").to_string();
    assert!(error.contains("pyright-langserver"), "{error}");
}

#[test]
fn leftovers_of_a_killed_installation_are_unused_and_removed() {
    let world = World::new();
    let own = world.servers.folder.join("pyright");
    let half = own.join("1.1.0/node_modules/.bin/pyright-langserver");
    RealFiles.create_folder(&half).expect("a folder");
    assert_eq!(world.version(), None);
    world.install(GOOD).0.expect("installed");
    assert!(!RealFiles.exists(&own.join("1.1.0")));
}

#[test]
fn one_process_installs_a_server_at_a_time() {
    let world = World::new();
    let own = world.servers.folder.join("pyright");
    RealFiles.create_folder(&own).expect("a folder");
    let lock = RealFiles.lock(&own.join("lock")).expect("a lock");
    let (result, _) = world.install(GOOD);
    assert!(matches!(result, Err(Error::InstallRunning(_))));
    drop(lock);
}

#[test]
fn a_record_cannot_lead_out_of_the_folder() {
    let world = World::new();
    let own = world.servers.folder.join("pyright");
    let files = FakeFiles::new();
    files.write(&own.join(RECORD), r#"{ "version": "../x" }"#);
    let program = world
        .servers
        .folder
        .join("x/node_modules/.bin/pyright-langserver");
    files.write(&program, "");
    files.set_mode(&program, 0o755);
    assert_eq!(world.servers.find(&files, &World::server()), None);
}

#[test]
fn commands_of_every_recipe_are_complete() {
    let files = FakeFiles::new();
    for name in ["npm", "python3", "cargo", "rustup"] {
        let path = AbsPath::new(format!("/bin/{name}")).expect("absolute");
        files.write(&path, "");
        files.set_mode(&path, 0o755);
    }
    let variables = [("PATH".into(), "/bin".into())];
    let folder = AbsPath::new("/s/a b").expect("absolute");
    let check = |id: &str, expected: &[&str]| {
        let table = ServerTable::builtin();
        let recipe = table.server(id).expect("known").install.clone();
        let recipe = recipe.expect("a recipe");
        let steps = steps::steps(&files, &variables, id, &recipe, &folder).expect("tools");
        let texts: Vec<_> = steps.iter().map(InstallStep::shell_text).collect();
        assert_eq!(texts, expected);
    };
    check(
        "pyright",
        &[
            "/bin/npm install --prefix '/s/a b' --ignore-scripts --no-audit --no-fund -- pyright@1.1.414",
        ],
    );
    check(
        "pyrefly",
        &[
            "/bin/python3 -m venv '/s/a b'",
            "'/s/a b/bin/python' -m pip install --no-input --disable-pip-version-check --only-binary :all: -- pyrefly==1.4.1",
        ],
    );
    check(
        "texlab",
        &["/bin/cargo install --locked --root '/s/a b' texlab"],
    );
    check(
        "rust-analyzer",
        &["/bin/rustup component add rust-analyzer rust-src"],
    );
}
