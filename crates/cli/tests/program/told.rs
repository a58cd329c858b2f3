//! Git in an agent's sandboxed worktree learns the agent's changes from the file monitor.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::home::Home;

/// The agent's script: git's view of each file, its monitor status, the status after some work, and
/// after a commit. `=1=` separates the outputs and does not occur in the script itself.
const SCRIPT: &str = "git ls-files -f; echo =$((1))=; \
    GIT_TRACE_FSMONITOR=1 git status --porcelain 2>&1; echo =$((1))=; \
    echo two >> a.txt; mkdir new; echo x > new/b.txt; git add new; git status --porcelain; echo =$((1))=; \
    git commit -qam more && git status --porcelain; echo =$((1))=";

#[test]
fn git_in_an_agents_sandbox_is_told_what_changed() {
    let home = Home::new(&json!([
        { "match": { "step": 1 },
          "reply": [{ "call": { "tool": "exec_command", "arguments": { "command": SCRIPT } } }] },
        { "reply": [{ "text": "Done." }] }
    ]));
    home.write("project/a.txt", "one\n");
    home.write("project/folder/c.txt", "one\n");
    let hub = home.path("project");
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@localhost"],
        &["add", "-A"],
        &["commit", "-q", "-m", "begin"],
    ] {
        let mut git = Command::new("git");
        let done = git.current_dir(&hub).args(words).output().expect("git");
        assert!(done.status.success(), "git {words:?}: {done:?}");
    }
    let left = home.run(&["compose", "--model", "mock/m", "--yes", "look"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    let asked = home.asked();
    let said = asked.last().expect("two requests").to_string();
    let parts: Vec<&str> = said.split("=1=").collect();
    let [noted, first, second, third] = [0, 1, 2, 3].map(|ix| parts.get(ix).copied().unwrap_or(""));
    let rung = list_rung(&home, &hub);
    if rung != "overlay" {
        return test_support::skip(format_args!("worktrees are made by {rung} here"));
    }
    let version = Command::new("git").arg("version").output().expect("git");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let old = (0..37).any(|minor| version.contains(&format!(" 2.{minor}.")));
    if old {
        return test_support::skip(format_args!(
            "{} takes no folders from a monitor",
            version.trim()
        ));
    }
    assert!(noted.contains("h a.txt"), "git has noted the base: {said}");
    assert!(
        first.contains("--what-changed-in") && first.contains("returned success"),
        "{said}"
    );
    assert!(second.contains(" M a.txt\\nA  new/b.txt"), "{said}");
    assert_eq!(third, "\\n", "{said}");
}

fn list_rung(home: &Home, hub: &Path) -> String {
    let hub = hub.to_str().expect("a name");
    let left = home.run(&["worktree", "list", "--json", "--root", hub]);
    let listed: serde_json::Value = serde_json::from_str(&left.output).expect("JSON");
    let rung = listed["rung"].as_str();
    rung.unwrap_or_default().to_owned()
}
