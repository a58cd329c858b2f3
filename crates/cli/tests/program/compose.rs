//! Three parallel agents on the sample project, as a new user would try them: forecast, review,
//! landing, undo.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::home::{Home, Left};

/// Returns whether the programs that the demo model runs are installed.
pub(super) fn has_python() -> bool {
    let asked = std::process::Command::new("python3")
        .arg("--version")
        .output();
    asked.is_ok_and(|asked| asked.status.success())
}

pub(super) struct Story {
    pub(super) home: Home,
    pub(super) hub: PathBuf,
}

impl Story {
    /// Runs `compose` with these arguments and the demo model; `None` if its programs are not
    /// installed.
    pub(super) fn of(arguments: &[&str]) -> Option<Self> {
        if !has_python() {
            test_support::skip("the demo model's tasks need python3");
            return None;
        }
        let home = Home::new(&json!([{ "reply": [{ "text": "-" }] }]));
        let mut all = vec!["compose", "--model", "demo", "--yes"];
        all.extend(arguments);
        let run = home.run(&all);
        assert_eq!(run.code, Some(0), "{run:?}");
        let hub = run
            .errors
            .lines()
            .find_map(|line| line.split_once("sample project in ").map(|(_, path)| path));
        let hub = PathBuf::from(hub.expect("where it is"));
        Some(Self { home, hub })
    }

    /// Runs a command of `compose` in the sample project.
    pub(super) fn compose(&self, arguments: &[&str]) -> Left {
        let hub = self.hub.to_str().expect("a name");
        let (what, rest) = arguments.split_first().expect("a command");
        let mut all = vec!["compose", *what, "--root", hub];
        all.extend(rest);
        self.home.run(&all)
    }

    pub(super) fn good(&self, arguments: &[&str]) -> String {
        let left = self.compose(arguments);
        assert_eq!(left.code, Some(0), "{arguments:?}: {left:?}");
        left.output
    }

    pub(super) fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.good(arguments);
        let lines = output.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().expect("lines of JSON")
    }

    /// Writes a file of the checkout and commits it.
    pub(super) fn commit(&self, path: &str, text: &str) {
        let file = self.hub.join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, text).expect("a file");
        for arguments in [&["add", path][..], &["commit", "-qm", "change"]] {
            let git = std::process::Command::new("git")
                .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
                .args(arguments)
                .current_dir(&self.hub)
                .status();
            assert!(git.expect("git").success(), "{arguments:?}");
        }
    }

    pub(super) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.hub.join(path)).expect("a file")
    }

    /// Returns the names of the leases and of the archives.
    fn trees(&self) -> (Vec<String>, Vec<String>) {
        let hub = self.hub.to_str().expect("a name");
        let left = self
            .home
            .run(&["worktree", "list", "--json", "--root", hub]);
        let listed: Value = serde_json::from_str(&left.output).expect("JSON");
        let names = |what: &str, name: &str| {
            let all = listed[what].as_array().expect("a list").iter();
            all.map(|it| it[name].as_str().expect("a name").to_owned())
                .collect()
        };
        (names("leases", "id"), names("archives", "name"))
    }

    /// Returns the lease of each agent.
    fn trees_of_agents(&self) -> Vec<String> {
        let lines = self.lines(&["list", "--json"]);
        let leases = lines.iter().map(|line| &line["place"]["lease"]);
        leases
            .map(|lease| lease.as_str().expect("a lease").to_owned())
            .collect()
    }

    pub(super) fn states(&self) -> Vec<String> {
        let lines = self.lines(&["list", "--json"]);
        let states = lines.iter().map(|line| &line["state"]["is"]);
        states
            .map(|is| is.as_str().expect("a state").to_owned())
            .collect()
    }

    /// Sets the user's checks.
    pub(super) fn keep_checks(&self, commands: &[&str]) {
        let boards = std::fs::read_dir(self.home.path("state/composer")).expect("boards");
        for board in boards {
            let path = board.expect("a board").path().join("checks.json");
            std::fs::write(path, json!(commands).to_string()).expect("a file");
        }
    }

    /// Returns the hunks of a job: name, path and first added line.
    pub(super) fn hunks(&self, job: &str) -> Vec<(String, String, String)> {
        let lines = self.lines(&["review", job, "--json"]);
        let hunks = lines.iter().map(|hunk| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (
                text(&hunk["hunk"]),
                text(&hunk["path"]),
                text(&hunk["added"][0]),
            )
        });
        hunks.collect()
    }
}

const DAYS: &str = "    days = (weekday - today.weekday()) % 7\n";

#[test]
fn three_agents_are_foreseen_reviewed_landed_and_taken_back() {
    let Some(story) = Story::of(&["--agents", "3", "Improve the sample project"]) else {
        return;
    };

    // The user's checkout has none of the work.
    assert_eq!(story.states(), ["done", "done", "done"]);
    for (path, text) in mockllm::demo::SAMPLE {
        assert_eq!(story.read(path), *text, "{path}");
    }

    // The first and the third agent conflict in one place.
    let forecast = story.lines(&["forecast", "--json"]);
    let conflicts = forecast[0]["conflicts"].as_array().expect("conflicts");
    assert_eq!(conflicts.len(), 1, "{forecast:?}");
    assert_eq!(conflicts[0]["path"], "todo/dates.py");
    for side in ["one", "two"] {
        let name = conflicts[0][side].as_str().expect("a name");
        assert!(name.starts_with("session:"), "{name}");
    }

    // Every hunk names its agent.
    let hunks = story.lines(&["review", "--json"]);
    let is_agents = |hunk: &Value| {
        let by = hunk["by"].as_array().expect("authors");
        by.len() == 1 && by[0].as_str().is_some_and(|by| by.starts_with("the agent"))
    };
    assert!(hunks.iter().all(is_agents), "{hunks:?}");

    // A turn is undone in the worktree, then redone.
    story.good(&["undo", "a2", "--file", "todo/cli.py"]);
    assert_eq!(story.hunks("a2").len(), 1);
    story.good(&["undo", "a2", "--operation", "1"]);
    assert_eq!(story.hunks("a2").len(), 3);
    story.good(&["restore", "a2", "1"]);
    assert_eq!(story.hunks("a2").len(), 0);
    story.good(&["undo", "a2", "--operation", "3"]);
    assert_eq!(story.hunks("a2").len(), 3);

    let mut trees = story.trees_of_agents();
    story.good(&["land", "a1", "a2"]);
    assert_eq!(story.states(), ["landed", "landed", "done"]);
    assert!(story.read("todo/cli.py").contains("def run_count"));
    assert!(!story.read("todo/dates.py").contains(DAYS));
    // A worktree goes back to the pool when all its work has landed, and is leased again on demand.
    // Which agent gets which worktree depends on timing.
    let held = trees.pop().expect("the third one's");
    trees.sort();
    assert_eq!(story.trees(), (vec![held.clone()], trees));
    let shown = story.good(&["show", "a1"]);
    assert!(shown.contains("todo/"), "{shown}");
    assert_eq!(story.trees().0, [held], "it was only looked at");

    // The third agent is in conflict; without the conflicting hunk, its work lands.
    let refused = story.compose(&["land", "a3"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert_eq!(story.states(), ["landed", "landed", "conflict"]);
    let hunks = story.hunks("a3");
    let wrong = hunks.iter().find(|(_, _, added)| added.contains("or 7"));
    let wrong = &wrong.expect("the hunk").0;
    story.good(&["review", "a3", "--reject", wrong]);
    story.good(&["land", "a3"]);
    assert!(story.read("todo/dates.py").contains("name[:3]"));
    assert_eq!(story.states(), ["landed", "landed", "landed"]);

    // One command undoes the last landing.
    let undone = story.good(&["land", "--undo"]);
    assert!(undone.contains("was undone by"), "{undone}");
    assert!(!undone.contains("landed as"), "{undone}");
    assert_eq!(story.states(), ["landed", "landed", "done"]);
    assert!(!story.read("todo/dates.py").contains("name[:3]"));
    assert!(story.read("todo/cli.py").contains("def run_count"));
    // Another agent, whose worktree was released, also lands again from the retired work.
    story.good(&["land", "--undo"]);
    assert_eq!(story.states(), ["landed", "done", "done"]);
    assert_eq!(story.hunks("a2").len(), 3);
    story.good(&["land", "a2"]);
    assert_eq!(story.states(), ["landed", "landed", "done"]);
}

#[test]
fn the_best_of_several_is_compared_and_handed_over() {
    let task = "Add a count command";
    let Some(story) = Story::of(&["--agents", "2", "--best-of", task]) else {
        return;
    };
    let table = story.good(&["compare"]);
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.contains("+14 -0"), "{table}");
    // The user's checks run; an agent that fails them ranks last.
    let none = story.compose(&["compare", "--check"]);
    assert!(none.errors.contains("no checks yet"), "{none:?}");
    story.keep_checks(&["python3 -c 'import todo.cli'", "test -e todo/cli.py"]);
    let table = story.good(&["compare", "--check"]);
    assert_eq!(table.matches(" 2/2 ").count(), 2, "{table}");
    story.keep_checks(&["echo no good; exit 3"]);
    let table = story.good(&["compare", "--check"]);
    assert!(table.contains("a1 does not pass echo no good"), "{table}");
    story.keep_checks(&[]);
    let over = story.good(&["hand-over", "a2"]);
    assert!(over.starts_with("2 files were handed over"), "{over}");
    assert!(story.read("todo/cli.py").contains("def run_count"));
    // Changes by the user in the worktree can be handed over to the checkout.
    std::fs::write(story.hub.join("NOTES.md"), "mine\n").expect("a file");
    let over = story.good(&["hand-over", "a2", "--to-agent"]);
    assert!(over.contains("NOTES.md"), "{over}");
}

#[test]
fn landing_conflict_is_resolved_or_abandoned() {
    let Some(story) = Story::of(&["--agents", "3", "Improve the sample project"]) else {
        return;
    };
    story.good(&["land", "a1"]);
    let early = story.compose(&["land", "--settle", "a3:todo/dates.py=agent"]);
    assert!(early.output.contains("no landing of a3"), "{early:?}");
    assert_eq!(story.compose(&["land", "a3"]).code, Some(1));
    let given_up = story.good(&["land", "--give-up", "a3"]);
    assert!(given_up.contains("abandoned"), "{given_up}");
    assert_eq!(story.states(), ["landed", "done", "done"]);

    assert_eq!(story.compose(&["land", "a3"]).code, Some(1));
    let before = story.read("todo/dates.py");
    let marked = story.home.path("marked.py");
    std::fs::write(&marked, "<<<<<<< master\n").expect("a file");
    let marked = format!("a3:todo/dates.py={}", marked.display());
    let refused = story.compose(&["land", "--settle", &marked]);
    assert!(
        refused.output.contains("still has conflict markers"),
        "{refused:?}"
    );
    story.good(&["land", "--settle", "a3:todo/dates.py=branch"]);
    assert_eq!(story.states(), ["landed", "done", "landed"]);
    assert_eq!(story.read("todo/dates.py"), before);
}

#[test]
fn work_that_language_servers_cannot_check_lands_on_request() {
    let Some(story) = Story::of(&["Add a count command"]) else {
        return;
    };
    // Nothing says whether the check is wanted.
    story.home.write("config/settings.json", r#"{ "lsp": {"#);
    let refused = story.compose(&["land", "a1"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.output.contains("settings.json:1:"), "{refused:?}");
    assert!(refused.errors.contains("--allow-errors"), "{refused:?}");
    let script = test_support::data("language-server.sh");
    let server = json!({ "command": script, "args": ["pull"], "languages": ["Python"] });
    let servers = json!({ "check_landings": true, "servers": { "script": server } });
    let settings = json!({ "lsp": servers }).to_string();
    story.home.write("config/settings.json", &settings);
    // No server starts in a folder that is not trusted.
    let refused = story.compose(&["land", "a1"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let reason = "language servers did not check it for new errors";
    assert!(refused.output.contains(reason), "{refused:?}");
    assert_eq!(story.states(), ["done"]);
    story.good(&["land", "a1", "--allow-errors"]);
    assert_eq!(story.states(), ["landed"]);
}

#[test]
fn another_agent_goes_on_from_where_one_stands() {
    let Some(story) = Story::of(&["Add a count command"]) else {
        return;
    };
    let hub = story.hub.to_str().expect("a name").to_owned();
    let task = "Add a count command";
    let fork = ["compose", "fork", "--root", &hub, "--yes", "a1", task];
    let left = story.home.run(&fork);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert_eq!(story.states(), ["done", "done"]);
    // It began with the work of the other agent.
    let first = story.hunks("a1");
    let second = story.hunks("a2");
    assert!(!first.is_empty());
    for (_, path, added) in first {
        assert!(
            second.iter().any(|it| it.1 == path && it.2 == added),
            "{path} {added}: {second:?}"
        );
    }
}
