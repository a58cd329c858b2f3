//! Eight parallel agents, each with a long script of writes, edits, commands and escape attempts:
//! each writes only into its own worktree, the forecast names the conflicts, and every agent lands
//! or is in a named conflict.
//!
//! The default script is short; `BURIN_STEPS` sets the number of steps. With `BURIN_TRACE`, strace
//! also traces every write of every process.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::home::{Home, Left};

const AGENTS: usize = 8;
/// Lines of a file that agents share; each has twelve of its own.
const LINES: usize = AGENTS * 12;
const FILES: usize = 10;

#[test]
fn eight_agents_stay_in_their_worktrees_and_land() {
    let steps = std::env::var("BURIN_STEPS")
        .ok()
        .and_then(|it| it.parse().ok());
    let steps = steps.unwrap_or(10);
    let world = World::new(steps);
    let before = snapshot(&world.hub());
    let prompts: Vec<String> = (0..AGENTS).map(prompt).collect();
    let mut words = vec!["compose", "--model", "mock/m", "--yes"];
    words.extend(prompts.iter().map(String::as_str));
    let left = world.traced(&words);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert_eq!(
        snapshot(&world.hub()),
        before,
        "the person's checkout changed"
    );
    let jobs = world.jobs();
    assert_eq!(jobs.len(), AGENTS);
    world.assert_apart(&jobs);
    world.assert_traced(&jobs);

    let forecast = world.good(&["compose", "forecast", "--json"]);
    let forecast: Value = serde_json::from_str(&forecast).expect("JSON");
    let told: BTreeSet<&str> = forecast["conflicts"]
        .as_array()
        .expect("conflicts")
        .iter()
        .filter_map(|it| it["path"].as_str())
        .collect();
    assert_eq!(told, BTreeSet::from(["f0.txt", "f9.txt"]), "{forecast}");
    let mut landed = 0;
    for step in forecast["order"].as_array().expect("an order") {
        let job = jobs
            .iter()
            .find(|job| step["session"] == job.session.as_str());
        let job = job.expect("a job");
        let paths = step["conflicts"].as_array().expect("paths");
        let left = world.home.run(&["compose", "land", &job.name]);
        assert_eq!(left.code, Some(i32::from(!paths.is_empty())), "{left:?}");
        for path in paths {
            let path = path.as_str().expect("a path");
            assert!(left.output.contains(path), "{path}: {left:?}");
        }
        landed += usize::from(paths.is_empty());
    }
    assert_eq!(landed, AGENTS - 2, "{forecast}");
    world.assert_landed(&world.jobs());
}

struct World {
    home: Home,
    steps: usize,
}

/// An agent's job as the board reports it.
struct Job {
    name: String,
    agent: usize,
    session: String,
    state: String,
    lease: String,
}

fn prompt(agent: usize) -> String {
    format!("the work of agent-{agent}")
}

impl World {
    fn new(steps: usize) -> Self {
        let rules = (0..AGENTS).flat_map(|agent| (1..=steps).map(move |step| (agent, step)));
        let mut rules: Vec<Value> = rules
            .map(|(agent, step)| {
                let calls = calls(agent, step, steps);
                json!({ "match": { "user": { "regex": prompt(agent) }, "step": step }, "reply": [{ "calls": calls }] })
            })
            .collect();
        rules.push(json!({ "reply": [{ "text": "Done." }] }));
        let world = Self {
            home: Home::new(&json!(rules)),
            steps,
        };
        for file in 0..FILES {
            let lines: String = (0..LINES).map(|line| line_of(file, line) + "\n").collect();
            world.home.write(&format!("project/f{file}.txt"), &lines);
        }
        world.git(&["init", "-q", "-b", "main"]);
        world.git(&["config", "user.name", "Ada"]);
        world.git(&["config", "user.email", "ada@localhost"]);
        world.git(&["add", "-A"]);
        world.git(&["commit", "-q", "-m", "begin"]);
        world
    }

    fn hub(&self) -> PathBuf {
        self.home.path("project")
    }

    fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.hub()).args(words);
        let done = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output();
        let done = done.expect("git");
        assert!(done.status.success(), "git {words:?}: {done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    #[track_caller]
    fn good(&self, words: &[&str]) -> String {
        let left = self.home.run(words);
        assert_eq!(left.code, Some(0), "{words:?}: {left:?}");
        left.output
    }

    /// Runs the program, under strace if requested.
    fn traced(&self, words: &[&str]) -> Left {
        if std::env::var_os("BURIN_TRACE").is_none() {
            return self.home.run(words);
        }
        let own = self.home.command(words);
        let mut command = Command::new("strace");
        let calls = "trace=openat,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,symlink,\
                     symlinkat,truncate,ftruncate";
        command
            .args(["-f", "-y", "--seccomp-bpf", "-e", calls, "-o"])
            .arg(self.home.path("trace"))
            .arg(own.get_program())
            .args(own.get_args())
            .env_clear()
            .current_dir(own.get_current_dir().expect("a folder"));
        command.envs(
            own.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        self.home.left(command.spawn().expect("strace"))
    }

    fn jobs(&self) -> Vec<Job> {
        let told = self.good(&["compose", "list", "--json"]);
        let jobs = told.lines().map(|line| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let title = text(&line["task"]["title"]);
            let agent = title.rsplit('-').next().and_then(|it| it.parse().ok());
            Job {
                name: text(&line["job"]),
                agent: agent.expect("its number"),
                session: text(&line["session"]),
                state: text(&line["state"]["is"]),
                lease: text(&line["place"]["lease"]),
            }
        });
        jobs.collect()
    }

    /// Returns the folders with the leases' files, by lease.
    fn trees(&self) -> BTreeMap<String, PathBuf> {
        let mut trees = BTreeMap::new();
        for repository in folders(&self.home.path("state/worktrees")) {
            for lease in folders(&repository.join("leases")) {
                let name = lease
                    .file_name()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned();
                // An overlay is not mounted between runs: its agent's files are in the upper layer.
                let upper = lease.join("upper/tree");
                let files = if upper.is_dir() {
                    upper
                } else {
                    lease.join("mnt/tree")
                };
                trees.insert(name, files);
            }
        }
        trees
    }

    /// Asserts that each worktree holds all of its agent's writes, and none of another agent's.
    fn assert_apart(&self, jobs: &[Job]) {
        let trees = self.trees();
        for job in jobs {
            let files = snapshot(&trees[&job.lease]);
            let own = format!("agent-{}", job.agent);
            for (path, bytes) in &files {
                let text = format!("{path}\n{}", String::from_utf8_lossy(bytes));
                for other in (0..AGENTS).filter(|other| *other != job.agent) {
                    let other = format!("agent-{other}");
                    assert!(!text.contains(&other), "{other} wrote {path} of {own}");
                }
            }
            let written = files.keys().filter(|path| path.starts_with("own/")).count();
            let expected = (1..=self.steps).filter(|step| step % 5 == 1).count();
            assert_eq!(written, expected, "{own}: {:?}", files.keys());
        }
    }

    /// Asserts that every successful write below a tree came from that tree's agent, and that none went into
    /// the checkout.
    fn assert_traced(&self, jobs: &[Job]) {
        let Ok(trace) = std::fs::read(self.home.path("trace")) else {
            return;
        };
        let hub = self.hub().display().to_string();
        let (mut writes, mut outside) = (0, Vec::new());
        // Setting up a sandbox creates folders of these names as mount points, in the sandbox's own root.
        let is_place = |line: &str, path: &str| {
            line.contains("mkdir(") && (path == hub || path == format!("{hub}/.git"))
        };
        for line in whole_calls(&String::from_utf8_lossy(&trace)) {
            if line.contains(" = -1 ") || !is_write(&line) {
                continue;
            }
            for path in places(&line) {
                if is_place(&line, &path) {
                    continue;
                }
                writes += 1;
                let in_hub = path.strip_prefix(&hub);
                let is_git = in_hub.is_some_and(|rest| rest.starts_with("/.git/"));
                let named = (0..AGENTS).find(|agent| path.contains(&format!("agent-{agent}")));
                let lease = path
                    .split("/leases/")
                    .nth(1)
                    .and_then(|rest| rest.split('/').next());
                let is_own = match (named, lease) {
                    (Some(agent), Some(lease)) => jobs
                        .iter()
                        .any(|job| job.agent == agent && job.lease == lease),
                    _ => true,
                };
                if in_hub.is_some() && !is_git || !is_own {
                    outside.push(line.to_owned());
                }
            }
        }
        eprintln!(
            "{writes} writes were traced, {} of them outside",
            outside.len()
        );
        assert!(writes > 0 && outside.is_empty(), "{outside:#?}");
    }

    /// Asserts that the branch has all work of the landed agents, and none of the others'.
    fn assert_landed(&self, jobs: &[Job]) {
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        self.git(&["fsck", "--strict", "--no-dangling"]);
        let files = snapshot(&self.hub());
        let all: Vec<u8> = files.values().flatten().copied().collect();
        let all = String::from_utf8_lossy(&all);
        for job in jobs {
            let own = format!("own/agent-{}-", job.agent);
            let is_there = files.keys().any(|path| path.starts_with(&own));
            assert_eq!(is_there, job.state == "landed", "{} is {}", own, job.state);
            for step in (1..=self.steps).filter(|step| step % 5 == 2) {
                let edited = format!("edited by agent-{} at {step}.", job.agent);
                assert_eq!(all.contains(&edited), job.state == "landed", "{edited}");
            }
        }
        let mut states: Vec<&str> = jobs.iter().map(|job| job.state.as_str()).collect();
        states.sort_unstable();
        states.dedup();
        assert_eq!(states, ["conflict", "landed"]);
    }
}

fn line_of(file: usize, line: usize) -> String {
    format!("file {file}, line {line}.")
}

/// Returns an agent's calls in a step.
fn calls(agent: usize, step: usize, steps: usize) -> Vec<Value> {
    let write = |path: &str, content: String| json!({ "tool": "write", "arguments": { "path": path, "content": content } });
    let run =
        |command: String| json!({ "tool": "exec_command", "arguments": { "command": command } });
    let edit = |file: usize, line: usize, new: String| {
        let old = line_of(file, line);
        json!({ "tool": "edit", "arguments": { "path": format!("f{file}.txt"), "old_string": old, "new_string": new } })
    };
    if step == steps {
        // Two agents edit the same line, and one removes a line that another one edits.
        return match agent {
            2 => vec![run("rm f9.txt".to_owned())],
            3 => vec![edit(9, 1, "kept by agent-3".to_owned())],
            6 | 7 => vec![edit(0, LINES - 3, format!("wanted by agent-{agent}"))],
            _ => vec![run("git status --short".to_owned())],
        };
    }
    match step % 5 {
        1 => vec![write(
            &format!("own/agent-{agent}-{step}.txt"),
            format!("agent-{agent} at {step}\n"),
        )],
        2 => vec![edit(
            1 + step % 7,
            agent * 12 + step / 5,
            format!("edited by agent-{agent} at {step}."),
        )],
        3 => vec![run(format!(
            "echo agent-{agent} at {step} >> log-agent-{agent}.txt; git add -A"
        ))],
        4 => vec![
            run(format!(
                "for it in ../../../wt-*/mnt/tree ../../../wt-*/upper/tree ../../../../../../../project; do \
                 echo x > $it/escaped-agent-{agent}; done 2>/dev/null; rm -f escaped-agent-{agent}"
            )),
            write(
                &format!("../../../wt-1/mnt/tree/escaped-{step}.txt"),
                format!("agent-{agent}\n"),
            ),
            write(
                &format!("../../../../../../../project/escaped-{step}.txt"),
                format!("agent-{agent}\n"),
            ),
        ],
        _ => vec![run("cat f1.txt | head -3".to_owned())],
    }
}

/// Returns the calls of a trace, with interrupted calls joined.
fn whole_calls(trace: &str) -> Vec<String> {
    let mut open: BTreeMap<&str, &str> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let Some((process, told)) = line.split_once(' ') else {
            continue;
        };
        if let Some((begin, _)) = told.split_once("<unfinished ...>") {
            open.insert(process, begin);
        } else if let Some((_, end)) = told.split_once(" resumed>") {
            let begin = open.remove(process).unwrap_or_default();
            calls.push(format!("{process} {begin}{end}"));
        } else {
            calls.push(line.to_owned());
        }
    }
    // A process killed within a call may have completed it.
    calls.extend(
        open.into_iter()
            .map(|(process, begin)| format!("{process} {begin}")),
    );
    calls
}

/// Returns whether a traced call changes something.
fn is_write(line: &str) -> bool {
    let is_open = line.contains("openat(");
    !is_open
        || ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
            .iter()
            .any(|it| line.contains(it))
}

/// Returns the absolute paths in a traced call.
fn places(line: &str) -> Vec<String> {
    let mut folder = String::new();
    let mut places = Vec::new();
    for (ix, part) in line.split('"').enumerate() {
        match ix % 2 {
            // The text between strings ends with the folder that the next path is relative to.
            0 => {
                let named = part
                    .rsplit_once('<')
                    .and_then(|(_, rest)| rest.split_once('>'));
                folder = named
                    .map(|(folder, _)| folder.to_owned())
                    .unwrap_or_default();
            }
            _ if part.starts_with('/') => places.push(part.to_owned()),
            _ => places.push(plain(&format!("{folder}/{part}"))),
        }
    }
    places
}

/// Returns a path with `..` resolved.
fn plain(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".")
    {
        match name {
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    // The folder of leases also contains a folder for ports, which has no leases.
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    folders.collect()
}

/// Returns every file of a folder except git's own, by name.
fn snapshot(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder").flatten() {
            let kind = entry.file_type().expect("its kind");
            if entry.file_name() == ".git" {
            } else if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_file() {
                let path = entry.path();
                let name = path
                    .strip_prefix(folder)
                    .expect("a name")
                    .display()
                    .to_string();
                files.insert(name, std::fs::read(&path).expect("its bytes"));
            }
        }
    }
    files
}
