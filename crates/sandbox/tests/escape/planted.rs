//! Files that commands leave and the user's own tools then follow: links in git folders, programs
//! that git runs, targets of protected names, further writable folders. Each case first runs
//! without a sandbox, where it must have its effect; inside it must have none, and something must
//! be reported.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::AbsPath;
use sandbox::scan::Quarantine;
use sandbox::{Policy, ScanBaseline, ScanScope};

use crate::battery::in_parts;
use crate::policies::{inside, outside, usual};
use crate::scene::{Ground, Kind, PATH, SECRET, Scene};

mod list;

/// One case. The texts are shell scripts run in the workspace, with the variables of every attempt.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    name: &'static str,
    home: Kind,
    /// The user's preparation.
    before: &'static str,
    /// The commands, each run in its own sandbox.
    attacks: &'static [&'static str],
    /// The user's actions afterwards. `$X` leaves a trace.
    after: &'static str,
    /// Grants and protections beyond the default policy, below the scene.
    writable: &'static [&'static str],
    protected: &'static [&'static str],
    hidden: &'static [&'static str],
    /// The writable folder, below the scene; the scene's own if empty.
    workspace: &'static str,
    /// Whether nothing is reported because nothing can be done.
    fails: bool,
}

/// Returns a case in a plain repository.
pub(crate) const fn case(
    name: &'static str,
    before: &'static str,
    attacks: &'static [&'static str],
    after: &'static str,
) -> Case {
    Case {
        name,
        home: Kind::Plain,
        before,
        attacks,
        after,
        writable: &[],
        protected: &[],
        hidden: &[],
        workspace: "",
        fails: false,
    }
}

impl Case {
    pub(crate) const fn at(self, home: Kind) -> Self {
        Self { home, ..self }
    }

    pub(crate) const fn writable(self, writable: &'static [&'static str]) -> Self {
        Self { writable, ..self }
    }

    pub(crate) const fn protected(self, protected: &'static [&'static str]) -> Self {
        Self { protected, ..self }
    }

    pub(crate) const fn hidden(self, hidden: &'static [&'static str]) -> Self {
        Self { hidden, ..self }
    }

    pub(crate) const fn within(self, workspace: &'static str) -> Self {
        Self { workspace, ..self }
    }

    pub(crate) const fn fails(self) -> Self {
        Self {
            fails: true,
            ..self
        }
    }
}

#[test]
fn files_left_by_commands_run_nothing() {
    in_parts("planted::files_left_by_commands_run_nothing", part);
}

fn part() {
    let ground = Ground::new("planted");
    let cases = list::all();
    assert!(cases.len() >= 90, "{} cases", cases.len());
    let only = std::env::var("BX_ONLY").ok();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if only
                        .as_ref()
                        .is_some_and(|only| !case.name.contains(only.as_str()))
                    {
                        continue;
                    }
                    if let Err(why) = try_case(&ground, case) {
                        let mut failures = failures.lock().expect("the list");
                        failures.push(format!("{}: {why}", case.name));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("the list");
    println!("{} cases, {} of them failed", cases.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

const PATIENCE: Duration = Duration::from_secs(20);

fn try_case(ground: &Ground, case: &Case) -> Result<(), String> {
    let scene = ground.scene(case.home);
    let world = World::of(&scene, case);
    let mut said = String::new();
    for attack in case.attacks {
        said += &outside(&scene, "/bin/sh", &["-c", attack], PATIENCE).output;
    }
    let effects = world.effects(&scene, case, &said);
    if effects.is_empty() {
        return Err(format!("without a sandbox it has no effect: {said}"));
    }
    drop((world, scene));

    let scene = ground.scene(case.home);
    let world = World::of(&scene, case);
    let policy = policy(&scene, case);
    let control = ScanBaseline::for_scope(&scope(&scene, &policy));
    let (mut said, mut is_told) = (String::new(), false);
    for attack in case.attacks {
        let left = inside(&policy, &scene, "/bin/sh", &["-c", attack], PATIENCE);
        let left = left.map_err(|refused| refused.to_string())?;
        said += &left.output;
        is_told |= !left.denials.is_empty();
    }
    let findings = control.changes();
    is_told |= !findings.is_empty();
    let armed: Vec<_> = findings.into_iter().filter(|it| it.is_armed()).collect();
    let aside = AbsPath::new(scene.base.join("aside")).expect("an absolute path");
    let put = Quarantine::isolate(&armed, &policy.workspace, &aside, &host::RealFiles);
    put.map_err(|error| format!("it cannot be put aside: {error}"))?;
    let effects = world.effects(&scene, case, &said);
    match (effects.is_empty(), is_told || case.fails) {
        (true, true) => Ok(()),
        (true, false) => Err(format!("nothing was told; the command said {said:?}")),
        (false, _) => Err(format!("{}; the command said {said:?}", effects.join("; "))),
    }
}

fn policy(scene: &Scene, case: &Case) -> Policy {
    let path = |name: &&str| AbsPath::new(scene.base.join(name)).expect("an absolute path");
    let mut policy = usual(scene);
    if !case.workspace.is_empty() {
        policy.workspace = path(&case.workspace);
    }
    policy.writable.extend(case.writable.iter().map(path));
    policy
        .protected
        .paths
        .extend(case.protected.iter().map(path));
    policy.hidden.extend(case.hidden.iter().map(path));
    policy
}

fn scope(scene: &Scene, policy: &Policy) -> ScanScope {
    let roots = [&policy.workspace].into_iter().chain(&policy.writable);
    let folders = roots.filter(|path| path.as_path().is_dir()).cloned();
    ScanScope {
        roots: folders.collect(),
        git_folders: Vec::new(),
        home: AbsPath::new(scene.base.join("home")),
    }
}

/// The surroundings of the workspace, and a listener in it.
struct World {
    tree: BTreeMap<String, String>,
    listener: UnixListener,
}

impl World {
    /// Runs after the user's own preparation.
    fn of(scene: &Scene, case: &Case) -> Self {
        let work = scene.work();
        let listener = UnixListener::bind(work.join("host.sock")).expect("a listener");
        listener.set_nonblocking(true).expect("a listener");
        let prepared = person(scene, case.before);
        assert!(prepared.0, "{}: {}", case.name, prepared.1);
        Self {
            tree: tree(scene),
            listener,
        }
    }

    /// The observations after the user's actions.
    fn effects(&self, scene: &Scene, case: &Case, said: &str) -> Vec<String> {
        let mut effects = Vec::new();
        let after = person(scene, case.after).1;
        let now = tree(scene);
        // If the home folder is writable, its contents may change.
        let is_own = |path: &str| {
            let is_home = case.workspace == "home" || case.writable.contains(&"home");
            is_home && path.starts_with("home/")
        };
        for path in self.tree.keys().chain(now.keys()) {
            if self.tree.get(path) != now.get(path) && !is_own(path) {
                effects.push(format!("{path} changed"));
            }
        }
        effects.dedup();
        if scene.base.join("fired").exists() {
            effects.push(format!("something was run: {after}"));
        }
        if said.contains(SECRET) {
            effects.push("a secret was read".to_owned());
        }
        if self.listener.accept().is_ok() {
            effects.push("the listener in the workspace was called".to_owned());
        }
        effects
    }
}

/// Runs a script as the user, in the workspace.
fn person(scene: &Scene, script: &str) -> (bool, String) {
    // A process that waits forever for an answer is not an effect, so it is ended.
    let done = Command::new("timeout")
        .args(["-k", "1", "20", "/bin/sh", "-c", script])
        .current_dir(scene.work())
        .env_clear()
        .envs(scene.variables().iter().cloned())
        .env("PATH", PATH)
        .env("EDITOR", "true")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    (done.status.success(), text)
}

/// Returns the contents of the home folder and outside, except for git's own files there.
fn tree(scene: &Scene) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for name in ["home", "outside"] {
        picture(&scene.base, Path::new(name), &mut found);
    }
    found
}

fn picture(base: &Path, path: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(base.join(path))
        .into_iter()
        .flatten()
        .flatten()
    {
        let path = path.join(entry.file_name());
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            picture(base, &path, found);
        } else {
            let content = fs::read(base.join(&path)).unwrap_or_default();
            let content = String::from_utf8_lossy(&content).into_owned();
            found.insert(path.display().to_string(), content);
        }
    }
}
