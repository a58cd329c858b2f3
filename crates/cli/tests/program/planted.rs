//! Files that an agent plants for the user's tools are quarantined before any tool reads them.

use std::process::{Command, Stdio};

use serde_json::json;

use super::home::{Home, is_there};

/// Plants files that git, a shell and an editor run by themselves; `$1` leaves a trace.
const PLANT: &str = r#"
arm() { printf '[core]\n\tfsmonitor = %s\n' "$1" >> "$2"; }
git init -q sub && echo x > sub/f && git -C sub add f && arm "$1" sub/.git/config
git init -q hooked && mkdir -p hooked/.git/hooks && printf '#!/bin/sh\nexec %s\n' "$1" > hooked/.git/hooks/post-index-change && chmod +x hooked/.git/hooks/post-index-change
git init -q t && mv t/.git look && arm "$1" look/config && rm -r t
git init -q plain && echo x > plain/f && git -C plain add f
mkdir -p deep/er/.vscode && echo '{}' > deep/er/.vscode/tasks.json
echo "$1" > deep/.envrc
git add sub 2>/dev/null
echo planted
"#;

fn git(home: &Home, folder: &str, arguments: &[&str]) {
    Command::new("git")
        .args(arguments)
        .current_dir(home.path(folder))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").expect("a PATH"))
        .env("HOME", home.path(""))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .output()
        .expect("git");
}

/// Runs an agent that plants files; returns the home and the output.
fn planted(more: &[&str]) -> (Home, super::home::Left) {
    let folder = host::TempFolder::new().expect("a folder");
    let canary = folder.path().as_path().canonicalize().expect("real");
    drop(folder);
    let command = format!("set -- {}.sh\n{PLANT}", canary.display());
    let home = Home::new(&json!([
        { "match": { "step": 1 }, "reply": [{ "call": { "tool": "exec_command", "arguments": { "command": command } } }] },
        { "reply": [{ "text": "Done." }] }
    ]));
    // Sandboxed commands cannot write there, but the user's git can.
    let trace = home.path("fired");
    let script = format!("#!/bin/sh\necho fired >> {}\n", trace.display());
    let path = format!("{}.sh", canary.display());
    std::fs::write(&path, script).expect("a canary");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("permissions");
    home.write("project/a.txt", "one\n");
    home.write(
        ".gitconfig",
        "[user]\n name = Ada\n email = a@example.org\n",
    );
    git(&home, "project", &["init", "-q"]);
    let arguments = [&["run", "--model", "mock/m", "--yes"], more, &["plant"]].concat();
    let left = home.run(&arguments);
    assert_eq!(left.code, Some(0), "{left:?}");
    for folder in ["", "/sub", "/hooked", "/look", "/plain", "/deep"] {
        let folder = format!("project{folder}");
        // A file quarantined with its folder is gone.
        if !is_there(&home.path(&folder)) {
            continue;
        }
        for arguments in [&["status"][..], &["add", "-A"], &["diff", "HEAD"]] {
            git(&home, &folder, arguments);
        }
    }
    std::fs::remove_file(path).expect("the canary");
    (home, left)
}

#[test]
fn planted_files_are_quarantined_and_git_runs_nothing() {
    let (home, left) = planted(&[]);
    assert!(!is_there(&home.path("fired")), "{left:?}");
    let asked = home.asked();
    let told = asked.last().expect("a second request").to_string();
    assert!(told.contains("planted"), "{told}");
    assert!(
        told.contains("put aside, because other programs would run it"),
        "{told}"
    );
    assert!(
        left.output
            .contains("Put aside before anything could run it"),
        "{left:?}"
    );
    for gone in [
        "sub/.git",
        "hooked/.git",
        "look",
        "deep/.envrc",
        "deep/er/.vscode/tasks.json",
    ] {
        assert!(
            !is_there(&home.path(&format!("project/{gone}"))),
            "{gone}: {left:?}"
        );
    }
    for stays in ["sub/f", "plain/.git/config", "plain/f"] {
        assert!(
            is_there(&home.path(&format!("project/{stays}"))),
            "{stays}: {left:?}"
        );
    }
    // The user can restore the quarantined files.
    let aside = std::fs::read_dir(home.path("state/aside")).expect("a folder");
    let aside: Vec<_> = aside.map(|entry| entry.expect("an entry").path()).collect();
    let [aside] = &aside[..] else {
        panic!("{aside:?}");
    };
    let back = home.run(&["sandbox", "--restore", aside.to_str().expect("a name")]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert!(is_there(&home.path("project/sub/.git/config")));
}

#[test]
fn without_a_sandbox_the_same_runs() {
    let (home, left) = planted(&["--no-sandbox"]);
    assert!(is_there(&home.path("fired")), "{left:?}");
}
