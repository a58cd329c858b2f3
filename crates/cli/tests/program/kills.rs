//! Kills the program with `kill -9` at any moment, alone or with all its children, while agents
//! work and while their work lands: the next start continues, and nothing is lost, half done,
//! locked, mounted or left running.
//!
//! The default is a few kills; `BURIN_KILLS` sets the number, half of them during runs and half
//! during landings.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::home::{Home, Left};

/// The jobs on the sample project; the first and the third conflict.
const JOBS: [&str; 3] = ["a1", "a2", "a3"];
const TASK: &str = "Improve the sample project";
/// A variable that every process of a home inherits.
const MARK: &str = "BURIN_STORY_MARK";
/// The maximum time for the processes of a killed program to end.
const LINGERS: Duration = Duration::from_secs(10);

#[test]
fn a_board_whose_program_is_killed_goes_on() {
    if !super::compose::has_python() {
        return test_support::skip("the demo model's tasks need python3");
    }
    let start = Instant::now();
    let whole = World::new();
    whole.good(&whole.begin());
    let length = start.elapsed();
    whole.assert_sound("without a kill");
    let mut dice = Dice(0x5eed_0011);
    let kills = kills(2);
    let (mut early, mut late) = (0, 0);
    for number in 0..kills {
        let world = World::new();
        let after = dice.within(length);
        let what = format!("kill {number} of a run after {after:?}");
        let mut going = world.start(&world.begin());
        std::thread::sleep(after);
        late += usize::from(kill(&mut going, number));
        world.assert_nothing_runs(&what);
        let jobs = if world.has_begun() {
            world.jobs()
        } else {
            Vec::new()
        };
        let open: Vec<&str> = jobs
            .iter()
            .filter(|(_, state)| state != "done")
            .map(|(job, _)| job.as_str())
            .collect();
        if jobs.is_empty() {
            early += 1;
            world.good(&world.begin());
        } else if !open.is_empty() {
            let mut again = vec!["compose", "--model", "demo", "--yes"];
            open.iter().for_each(|job| again.extend(["--go-on", job]));
            world.good(&world.at_hub(&again));
        }
        let jobs = world.jobs();
        assert!(
            jobs.iter().all(|(_, state)| state == "done"),
            "{what}: {jobs:?}"
        );
        world.assert_sound(&what);
        assert_eq!(
            world.commits().len(),
            1,
            "{what}: the branch moved by itself"
        );
        world.assert_all_lands(&jobs, &what);
        world.assert_sound(&what);
    }
    eprintln!("{kills} kills within {length:?}: {early} before there was a job, {late} too late");
}

#[test]
fn a_landing_whose_program_is_killed_is_before_or_after() {
    if !super::compose::has_python() {
        return test_support::skip("the demo model's tasks need python3");
    }
    let world = World::new();
    world.good(&world.begin());
    let first = world.commits();
    let start = Instant::now();
    world.land(&world.jobs());
    let length = start.elapsed();
    world.take_all_back(&first);
    let mut dice = Dice(0x5eed_0012);
    let kills = kills(4);
    let (mut between, mut late) = (0, 0);
    for number in 0..kills {
        let after = dice.within(length);
        let what = format!("kill {number} of a landing after {after:?}");
        let mut all = vec!["compose", "land"];
        all.extend(JOBS);
        let mut going = world.start(&world.at_hub(&all));
        std::thread::sleep(after);
        late += usize::from(kill(&mut going, number));
        world.assert_nothing_runs(&what);
        let moved = world.commits().len() - first.len();
        between += usize::from(moved == 1);
        // The next program that reads the landings completes or rolls back the interrupted one.
        let jobs = world.jobs();
        world.assert_sound(&what);
        assert_eq!(
            world.commits().len() - first.len(),
            moved,
            "{what}: it moved by itself"
        );
        world.land(&jobs);
        assert_eq!(world.states(), ["landed", "landed", "conflict"], "{what}");
        assert_eq!(
            world.commits().len(),
            first.len() + 2,
            "{what}: landed twice or not at all"
        );
        world.assert_sound(&what);
        world.take_all_back(&first);
        world.assert_sound(&what);
    }
    eprintln!("{kills} kills within {length:?}: {between} between two landings, {late} too late");
}

struct World {
    home: Home,
}

impl World {
    fn new() -> Self {
        Self {
            home: Home::new(&json!([{ "reply": [{ "text": "-" }] }])),
        }
    }

    /// Returns the latest sample project of the demo model.
    fn hub(&self) -> PathBuf {
        let place = self.home.path("state/demo");
        let numbers = std::fs::read_dir(&place).into_iter().flatten().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        place.join(numbers.max().unwrap_or(1).to_string())
    }

    /// Returns whether the sample project has its commit.
    fn has_begun(&self) -> bool {
        let asked = Command::new("git")
            .arg("-C")
            .arg(self.hub())
            .args(["rev-parse", "--quiet", "--verify", "HEAD"])
            .output();
        asked.is_ok_and(|asked| asked.status.success())
    }

    fn begin(&self) -> Vec<String> {
        let words = ["compose", "--model", "demo", "--yes", "--agents", "3", TASK];
        words.map(str::to_owned).to_vec()
    }

    fn at_hub(&self, words: &[&str]) -> Vec<String> {
        let hub = self.hub().display().to_string();
        let words = words.iter().map(|it| (*it).to_owned());
        words.chain(["--root".to_owned(), hub]).collect()
    }

    /// Starts the program in a new process group.
    fn start(&self, words: &[String]) -> Child {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = self.home.command(&words);
        command
            .process_group(0)
            .env(MARK, self.home.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().expect("the program")
    }

    fn run(&self, words: &[String]) -> Left {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.home.run(&words)
    }

    #[track_caller]
    fn good(&self, words: &[String]) -> String {
        let left = self.run(words);
        assert_eq!(left.code, Some(0), "{words:?}: {left:?}");
        left.output
    }

    /// Returns the jobs of the board with their states.
    fn jobs(&self) -> Vec<(String, String)> {
        let told = self.good(&self.at_hub(&["compose", "list", "--json"]));
        let lines = told.lines().map(|line| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let text = |value: &Value| value.as_str().expect("text").to_owned();
            (text(&line["job"]), text(&line["state"]["is"]))
        });
        lines.collect()
    }

    fn states(&self) -> Vec<String> {
        self.jobs().into_iter().map(|(_, state)| state).collect()
    }

    /// Lands all remaining work, and asserts that work which does not land is in a conflict.
    fn land(&self, jobs: &[(String, String)]) {
        let open = jobs.iter().filter(|(_, state)| state != "landed");
        let open: Vec<&str> = open.map(|(job, _)| job.as_str()).collect();
        let left = self.run(&self.at_hub(&[&["compose", "land"][..], &open].concat()));
        let is_named = left.output.contains("todo/dates.py") || !open.contains(&"a3");
        assert!(is_named, "{open:?}: {left:?}");
    }

    /// Asserts that all work is on the branch or in a named conflict. An agent that was killed
    /// before its first change may have nothing to do.
    fn assert_all_lands(&self, jobs: &[(String, String)], what: &str) {
        let words: Vec<&str> = jobs.iter().map(|(job, _)| job.as_str()).collect();
        let lines: Vec<Vec<(PathBuf, String)>> = words.iter().map(|job| self.lines(job)).collect();
        let left = self.run(&self.at_hub(&[&["compose", "land"][..], &words].concat()));
        let mut landed = 0;
        for (job, lines) in words.iter().zip(lines) {
            let line = left
                .output
                .lines()
                .find(|line| line.starts_with(&format!("{job}: ")));
            let line = line.unwrap_or_else(|| panic!("{what}: nothing is said of {job}: {left:?}"));
            match line {
                line if line.contains("landed as") => landed += 1,
                line if line.contains("nothing to land") && lines.is_empty() => continue,
                line if line.contains("conflicts in todo/dates.py") => continue,
                line => panic!("{what}: {line}"),
            }
            for (path, line) in lines {
                let text = std::fs::read_to_string(self.hub().join(&path)).expect("a file");
                let is_there = text.lines().any(|it| it == line.trim_end());
                assert!(
                    is_there,
                    "{what}: {job} lost {line:?} of {}",
                    path.display()
                );
            }
        }
        assert_eq!(self.commits().len(), 1 + landed, "{what}");
    }

    /// Returns the lines that a job adds.
    fn lines(&self, job: &str) -> Vec<(PathBuf, String)> {
        let told = self
            .run(&self.at_hub(&["compose", "review", job, "--json"]))
            .output;
        let hunks = told
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let lines = hunks.flat_map(|hunk| {
            let path = PathBuf::from(hunk["path"].as_str().expect("a path"));
            let added = hunk["added"].as_array().cloned().unwrap_or_default();
            let added = added
                .into_iter()
                .filter_map(|line| Some(line.as_str()?.to_owned()));
            added
                .map(move |line| (path.clone(), line))
                .collect::<Vec<_>>()
        });
        lines.collect()
    }

    fn take_all_back(&self, first: &[String]) {
        while self.commits() != first {
            let before = self.commits();
            self.good(&self.at_hub(&["compose", "land", "--undo"]));
            assert_ne!(self.commits(), before, "nothing was taken back");
        }
    }

    fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.hub()).args(words);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        let done = command.output().expect("git");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "git {words:?}: {said}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Returns the commits of the branch, latest first.
    fn commits(&self) -> Vec<String> {
        let told = self.git(&["rev-list", "HEAD"]);
        told.lines().map(str::to_owned).collect()
    }

    /// Asserts that no process of a killed program is running.
    fn assert_nothing_runs(&self, what: &str) {
        let place = self.home.path("").display().to_string();
        let end = Instant::now() + LINGERS;
        loop {
            let living = living(&place);
            if living.is_empty() {
                return;
            }
            assert!(Instant::now() < end, "{what}: still there: {living:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Asserts, while nothing runs, that the checkout equals its commit, that `git fsck` succeeds, and that no lock,
    /// draft or mount is left.
    fn assert_sound(&self, what: &str) {
        self.git(&["fsck", "--strict", "--no-dangling"]);
        assert_eq!(self.git(&["status", "--porcelain"]), "", "{what}");
        for line in self.git(&["reflog", "--format=%H"]).lines() {
            self.git(&["cat-file", "-e", line]);
        }
        let mut left = Vec::new();
        find_leavings(&self.hub(), &mut left);
        left.retain(|path| !path.ends_with("burin/landing.lock"));
        assert!(left.is_empty(), "{what}: left behind: {left:?}");
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
        let place = self.home.path("").display().to_string();
        let mounts: Vec<&str> = mounts
            .lines()
            .filter(|line| line.contains(&place))
            .collect();
        assert!(mounts.is_empty(), "{what}: still mounted: {mounts:?}");
    }
}

/// Collects lock files and drafts of saves.
fn find_leavings(folder: &Path, left: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find_leavings(&entry.path(), left);
        } else if name.ends_with(".lock") || name.starts_with(".burin-") {
            left.push(entry.path());
        }
    }
}

/// Kills the whole process group if `number` is even, otherwise only the program. Returns whether it
/// had ended before.
fn kill(going: &mut Child, number: usize) -> bool {
    let had_ended = going.try_wait().expect("its state").is_some();
    let group = format!("-{}", going.id());
    if number.is_multiple_of(2) && !had_ended {
        let killed = Command::new("kill").args(["-9", "--", &group]).status();
        assert!(killed.is_ok_and(|killed| killed.success()));
    } else {
        // It may have ended already.
        going.kill().ok();
    }
    going.wait().expect("its end");
    had_ended
}

/// Returns the running processes whose environment, command line or working directory names a path.
fn living(place: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").expect("the processes");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbers = names.filter(|name| name.bytes().all(|it| it.is_ascii_digit()) && *name != own);
    numbers
        .filter_map(|pid| {
            let file = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).ok();
            let stat = String::from_utf8_lossy(&file("stat")?).into_owned();
            let is_dead = stat.rsplit_once(") ")?.1.starts_with(['Z', 'X']);
            let line = file("cmdline")?;
            let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            let all = [
                file("environ").unwrap_or_default(),
                line.clone(),
                folder.into_os_string().into_encoded_bytes(),
            ];
            let is_ours = all
                .concat()
                .windows(place.len())
                .any(|it| it == place.as_bytes());
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (is_ours && !is_dead).then(|| format!("{pid}: {line}"))
        })
        .collect()
}

/// Returns half of the configured number of kills, or the default.
fn kills(usual: usize) -> usize {
    let asked = std::env::var("BURIN_KILLS").ok();
    let asked = asked.and_then(|it| it.parse::<usize>().ok());
    asked.map_or(usual, |it| it / 2)
}

/// A random number generator (xorshift64*) with the same numbers in each run.
struct Dice(u64);

impl Dice {
    fn within(&mut self, bound: Duration) -> Duration {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bound = u64::try_from(bound.as_micros())
            .expect("a short time")
            .max(1);
        Duration::from_micros((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound)
    }
}
