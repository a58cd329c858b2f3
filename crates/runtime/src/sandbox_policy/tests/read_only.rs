//! Read-only commands in a real sandbox.

use super::*;
use host::TempFolder;
use host::process::{LaunchRequest, spawn};

const PATIENCE: Duration = Duration::from_secs(60);

struct Scene {
    folder: TempFolder,
    root: AbsPath,
    dirs: Dirs,
    sandbox: Arc<dyn CommandSandbox>,
}

/// A command and its output.
struct Script {
    spawned: SpawnedProcess,
    output: mpsc::Receiver<Vec<u8>>,
}

struct Outcome {
    exit: ProcessExit,
    text: String,
    denials: Vec<Denial>,
    /// The paths that were put aside.
    aside: Vec<AbsPath>,
}

impl Scene {
    /// Makes a folder `work`, and the sandbox of a session in it under these settings.
    fn new(settings: impl Fn(&AbsPath) -> String) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("work");
        RealFiles.create_folder(&root).expect("a folder");
        let dirs = dirs(&folder);
        dirs.create().expect("folders");
        let text = settings(folder.path());
        let path = dirs.config.join("permissions.json");
        RealFiles
            .write_private(&path, text.as_bytes())
            .expect("written");
        let session_root = SessionRoot::for_user_folder(&root);
        let (sandbox, problems) = sandbox(&dirs, session_root, &Confinement::default());
        assert_eq!(problems, Vec::<String>::new());
        Self {
            sandbox: sandbox.expect("a sandbox"),
            folder,
            root,
            dirs,
        }
    }

    fn start(&self, bounds: Arc<dyn SandboxSpawner>, script: &str) -> Script {
        let launch = LaunchRequest {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
            folder: self.root.clone(),
            variables: command_variables(&self.dirs),
            terminal: None,
            sandbox: Some(bounds),
        };
        let (sender, output) = mpsc::channel();
        let sink = Box::new(move |bytes: &[u8]| {
            // The receiver is gone if the test has failed.
            sender.send(bytes.to_vec()).ok();
        });
        let spawned = spawn(&launch, sink).expect("it starts");
        Script { spawned, output }
    }

    fn start_writing(&self, script: &str) -> Script {
        let bounds = self.sandbox.bounds(&[]).expect("a sandbox");
        self.start(bounds, script)
    }

    fn start_reading(&self, script: &str) -> Script {
        let bounds = self.sandbox.read_only_bounds().expect("a sandbox");
        self.start(bounds, script)
    }

    /// Runs a command that can write.
    #[track_caller]
    fn write(&self, script: &str) {
        let outcome = self.start_writing(script).finish();
        assert_eq!(outcome.exit, ProcessExit::Exited(0), "{}", outcome.text);
    }

    fn read(&self, script: &str) -> Outcome {
        self.start_reading(script).finish()
    }

    fn put(&self, name: &str) {
        let path = self.root.join(name);
        let above = path.parent().expect("a folder");
        RealFiles.create_folder(&above).expect("a folder");
        RealFiles.write_private(&path, b"x").expect("written");
    }

    fn has(&self, name: &str) -> bool {
        RealFiles.exists(&self.root.join(name))
    }
}

impl Script {
    fn wait_for_output(&self) {
        self.output.recv().expect("output");
    }

    fn finish(self) -> Outcome {
        let exit = wait(&self.spawned, PATIENCE).expect("it ends");
        let bytes: Vec<u8> = self.output.iter().flatten().collect();
        let planted = self.spawned.planted().into_iter();
        let aside = planted.filter(|it| it.quarantine.is_some());
        Outcome {
            exit,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            denials: self.spawned.denials(),
            aside: aside.map(|it| it.path).collect(),
        }
    }
}

fn no_settings(_: &AbsPath) -> String {
    "{}".to_owned()
}

const REPOSITORY: [&str; 2] = [
    "git init -q -b main .",
    "echo x > stale && echo x > changed && git add . && \
     git -c user.name=A -c user.email=a@b commit -qm one && \
     echo y > changed && touch -d 2001-01-01 stale",
];

#[test]
fn git_does_without_refreshing_the_index() {
    let scene = Scene::new(no_settings);
    for script in REPOSITORY {
        scene.write(script);
    }
    for (script, code, text) in [
        ("git status --porcelain", 0, " M changed\n"),
        ("git diff --name-only", 0, "changed\n"),
        ("git diff --name-only --exit-code", 1, "changed\n"),
        ("git log --format=%s", 0, "one\n"),
        ("git describe --all --dirty", 0, "heads/main-dirty\n"),
        // The index was not written: what it says about this file is still old.
        ("git diff-files --name-only", 0, "changed\nstale\n"),
        ("echo $GIT_OPTIONAL_LOCKS", 0, "0\n"),
    ] {
        let outcome = scene.read(script);
        assert_eq!(outcome.exit, ProcessExit::Exited(code), "{script}");
        assert_eq!(outcome.text, text, "{script}");
        assert_eq!(outcome.denials, [], "{script}");
    }
}

#[test]
fn read_only_commands_change_nothing() {
    let scene = Scene::new(no_settings);
    for script in REPOSITORY {
        scene.write(script);
    }
    let outcome = scene.read("touch new");
    assert_ne!(outcome.exit, ProcessExit::Exited(0), "{}", outcome.text);
    assert_eq!(outcome.denials, [Denial::Write(scene.root.join("new"))]);
    for script in [
        "echo z > changed",
        "rm changed",
        "mkdir sub",
        "git branch two",
        "git config core.fsmonitor ./x",
        "git init -q sub",
    ] {
        let outcome = scene.read(script);
        assert_ne!(outcome.exit, ProcessExit::Exited(0), "{script}");
        assert!(!outcome.denials.is_empty(), "{script}");
    }
    assert!(!scene.has("new") && !scene.has("sub"));
    let outcome =
        scene.read("cat changed && echo own > /tmp/own && echo x > /dev/null && cat /tmp/own");
    assert_eq!(outcome.text, "y\nown\n");
    assert_eq!(outcome.denials, []);
    // Other commands of the session still can.
    scene.write("touch new && git branch two");
}

#[test]
fn other_granted_folders_are_read_only_and_their_links_grant_nothing() {
    let scene = Scene::new(|folder| {
        let at = |name: &str| folder.join(name).to_string();
        RealFiles
            .create_folder(&folder.join("wide"))
            .expect("a folder");
        RealFiles
            .create_folder(&folder.join("secret"))
            .expect("a folder");
        let key = folder.join("secret/key");
        RealFiles.write_private(&key, b"4711").expect("written");
        let policy = serde_json::json!({
            "writable": [at("wide")],
            "readable": [at("wide/link")],
            "hidden": [at("secret")],
        });
        serde_json::json!({ "sandbox": { "policy": policy } }).to_string()
    });
    scene.write("ln -s ../secret ../wide/link && echo mine > ../wide/file");
    let outcome = scene.read("cat ../wide/file ../secret/key ../wide/link/key");
    assert!(outcome.text.contains("mine"), "{}", outcome.text);
    assert!(!outcome.text.contains("4711"), "{}", outcome.text);
    let outcome = scene.read("touch ../wide/new");
    let new = scene.folder.path().join("wide/new");
    assert_eq!(outcome.denials, [Denial::Write(new)]);
}

#[test]
fn the_end_of_a_read_only_command_hides_no_other_command() {
    let scene = Scene::new(no_settings);
    let wait = "echo ready; until [ -e done ]; do sleep 0.02; done";
    let script = format!("mkdir sub && echo x > sub/.envrc; {wait}");
    let writing = scene.start_writing(&script);
    writing.wait_for_output();
    assert_eq!(scene.read("ls").aside, []);
    scene.put("done");
    assert_eq!(writing.finish().aside, [scene.root.join("sub/.envrc")]);
    assert!(!scene.has("sub/.envrc"));
}

#[test]
fn user_changes_during_a_read_only_command_stay() {
    let scene = Scene::new(no_settings);
    scene.write("true");
    let wait = "echo ready; until [ -e done ]; do sleep 0.02; done";
    let reading = scene.start_reading(wait);
    reading.wait_for_output();
    scene.put("sub/.envrc");
    scene.put("done");
    assert_eq!(reading.finish().aside, []);
    scene.write("true");
    assert!(scene.has("sub/.envrc"));
}
