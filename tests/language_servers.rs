//! `burin-agent lsp` with a scripted language server: trust, checks, logs, and processes that are left.

mod editing;
mod installed;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use host::TempFolder;
use host::environment::Variable;
use serde_json::{Value, json};

use crate::agent::{ARGUMENTS, mode};

/// Time after which a story has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// A project with a file in SQL, and a scripted server for it in the user's settings.
struct World {
    home: TempFolder,
    /// The environment of the program, apart from its folders.
    variables: Vec<Variable>,
}

/// The result of a command.
#[derive(Debug)]
struct CommandResult {
    code: Option<i32>,
    output: String,
    errors: String,
}

impl World {
    fn new(behaviour: &str) -> Self {
        let home = TempFolder::new().expect("a folder");
        let bin = home.path().as_path().join("bin");
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let variables = vec![("PATH".into(), path.into())];
        let world = Self { home, variables };
        for folder in ["p", "config", "state", "cache"] {
            fs::create_dir(world.path(folder)).expect("a folder");
        }
        fs::write(world.path("p/a.sql"), "aé🙂b\n").expect("a file");
        let script = test_support::data("language-server.sh");
        let server = json!({
            "command": script.canonicalize().expect("the script"),
            "args": [behaviour],
            "languages": ["SQL"],
        });
        let settings = json!({ "lsp": { "servers": { "script": server } } });
        fs::write(world.path("config/settings.json"), settings.to_string()).expect("a file");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().as_path().join(name)
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let test = ["agent::is_burin_agent", "--exact", "--nocapture"];
        Command::new(std::env::current_exe().expect("the path of this program"))
            .args(test)
            .arg("--test-threads=1")
            .current_dir(self.path("p"))
            .env_clear()
            .envs(self.variables.iter().cloned())
            .env("HOME", self.path("."))
            .env(ARGUMENTS, arguments.join("\n"))
            .env("BURIN_CONFIG_DIR", self.path("config"))
            .env("BURIN_STATE_DIR", self.path("state"))
            .env("BURIN_CACHE_DIR", self.path("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process")
    }

    fn run(&self, arguments: &[&str]) -> CommandResult {
        let output = self.start(arguments).wait_with_output().expect("its end");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let output_text = text(&output.stdout);
        // The test harness announces the test first.
        let own = output_text.split_once("test agent::is_burin_agent ... ");
        CommandResult {
            code: output.status.code(),
            output: own.map_or(output_text.clone(), |(_, own)| own.to_owned()),
            errors: text(&output.stderr),
        }
    }

    /// The ids of the server's processes.
    fn pids(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("p/server-pids")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn living(&self) -> Vec<String> {
        let is_alive = |pid: &String| {
            let mut kill = Command::new("kill");
            let status = kill.args(["-0", pid]).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        self.pids().into_iter().filter(is_alive).collect()
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_check_prints_diagnostics_and_leaves_no_process() {
    let world = World::new("push");
    let result = world.run(&["lsp", "check", "--trust", "a.sql"]);
    assert_eq!(
        result.output, "a.sql:1:2: error: it is wrong [script S1]\n",
        "{result:?}"
    );
    assert_eq!(result.code, Some(1), "{result:?}");
    assert_eq!((world.pids().len(), world.living().len()), (1, 0));

    let log = world.run(&["lsp", "log", "script"]);
    assert!(
        log.output.contains("textDocument/publishDiagnostics"),
        "{log:?}"
    );

    let result = world.run(&["lsp", "check", "--trust", "--json", "."]);
    let report: Value = serde_json::from_str(&result.output).expect("JSON");
    assert_eq!(
        report["diagnostics"][0]["start"],
        json!({ "line": 1, "column": 2 })
    );
    assert_eq!(report["diagnostics"][0]["server"], "script");
    assert_eq!(report["checked"], 1);
}

#[test]
fn warnings_alone_are_a_success() {
    let world = World::new("pull");
    let result = world.run(&["lsp", "check", "--trust", "a.sql"]);
    assert_eq!(result.output, "a.sql:1:2: warning: it is odd [script S1]\n");
    assert_eq!(result.code, Some(0), "{result:?}");
}

#[test]
fn hints_are_printed_only_on_request() {
    let world = World::new("hint");
    let error = "a.sql:1:2: error: it is wrong [script S1]\n";
    let result = world.run(&["lsp", "check", "--trust", "a.sql"]);
    assert_eq!(result.output, error, "{result:?}");
    let result = world.run(&["lsp", "check", "--trust", "--all", "a.sql"]);
    let hint = "a.sql:1:2: hint: it is long [script S1]\n";
    assert_eq!(result.output, format!("{error}{hint}"), "{result:?}");
}

#[test]
fn an_untrusted_folder_gets_no_server() {
    let world = World::new("push");
    let result = world.run(&["lsp", "check", "a.sql"]);
    assert!(result.errors.contains("is not trusted"), "{result:?}");
    assert_eq!((result.code, result.output.as_str()), (Some(2), ""));
    assert_eq!(world.pids(), Vec::<String>::new());

    // A project cannot bring a command of its own without trust.
    let own =
        json!({ "lsp": { "servers": { "evil": { "command": "./evil", "languages": ["SQL"] } } } });
    fs::create_dir(world.path("p/.burin")).expect("a folder");
    fs::write(world.path("p/.burin/settings.json"), own.to_string()).expect("a file");
    let list = world.run(&["lsp", "list"]);
    assert!(
        list.output.contains("script") && !list.output.contains("evil"),
        "{list:?}"
    );
    let list = world.run(&["lsp", "list", "--trust"]);
    assert!(list.output.contains("evil"), "{list:?}");
}

#[test]
fn a_silent_server_gives_exit_code_two() {
    let world = World::new("silent");
    let result = world.run(&["lsp", "check", "--trust", "--timeout", "2", "a.sql"]);
    assert_eq!(result.code, Some(2), "{result:?}");
    assert!(result.errors.contains("script: the server "), "{result:?}");
    assert_eq!(world.living(), Vec::<String>::new());
}

#[test]
fn a_killed_check_leaves_no_process() {
    let world = World::new("silent");
    let mut check = world.start(&["lsp", "check", "--trust", "a.sql"]);
    wait_until("the server runs", || world.living().len() == 1);
    check.kill().expect("killed");
    check.wait().expect("its end");
    wait_until("the server is gone", || world.living().is_empty());
}

#[test]
fn an_installation_runs_only_after_a_yes() {
    let world = World::new("push");
    // A script in place of npm: nothing may be downloaded here.
    fs::create_dir(world.path("bin")).expect("a folder");
    let script = "#!/bin/sh\nmkdir -p $3/node_modules/.bin; cd $3/node_modules/.bin\n\
                  echo '#!/bin/sh' > pyright-langserver; chmod +x pyright-langserver\n";
    fs::write(world.path("bin/npm"), script).expect("a script");
    fs::set_permissions(world.path("bin/npm"), mode(0o755)).expect("a program");

    let result = world.run(&["lsp", "install", "pyright"]);
    assert!(result.output.contains("npm install --prefix"), "{result:?}");
    assert!(result.output.contains("-- pyright@1.1.414"), "{result:?}");
    assert_eq!(result.code, Some(1), "{result:?}");
    assert!(!world.path("state/servers/pyright").exists());

    let result = world.run(&["lsp", "install", "--yes", "pyright"]);
    assert!(
        result.output.contains("pyright is installed: "),
        "{result:?}"
    );
    let list = world.run(&["lsp", "list", "--all"]);
    let line = list
        .output
        .lines()
        .find(|line| line.starts_with("pyright "));
    assert!(
        line.is_some_and(|line| line.contains("(Burin), 1.1.414")),
        "{list:?}"
    );
}
