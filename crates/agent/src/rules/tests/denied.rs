//! Rules that forbid commands, and attempts to bypass them.

use super::*;

/// Ways to run `git push`.
const PUSHES: &[&str] = &[
    "git push",
    "git push origin main",
    "git  push",
    " git push",
    "git\tpush",
    "git -C . push",
    "git -C sub push origin",
    "git -c a.b=c push",
    "git --no-pager push",
    "git --git-dir=.git push",
    "git --git-dir .git push",
    "git --work-tree . push",
    "git --exec-path=/x push",
    "git -P -C . --no-replace-objects push",
    "git 'push'",
    "git \"push\"",
    "git pu''sh",
    "git p\\ush",
    "g'i't push",
    "gi\\t push",
    "\\git push",
    "\"git\" push",
    "$'git' push",
    "git $'push'",
    "git $'\\x70ush'",
    "git $'\\160ush'",
    "git $\"push\"",
    "gi\\\nt push",
    "git \\\n push",
    "/usr/bin/git push",
    "./git push",
    "~/bin/git push",
    "../../usr/bin/git push",
    "git-push",
    "/usr/lib/git-core/git-push origin",
    "git push; ls",
    "ls; git push",
    "ls && git push",
    "ls || git push",
    "ls | git push",
    "ls & git push",
    "ls\ngit push",
    "(git push)",
    "{ git push; }",
    "! git push",
    "time git push",
    "time -p git push",
    "if true; then git push; fi",
    "while git push; do break; done",
    "for x in a; do git push; done",
    "case x in *) git push;; esac",
    "f() { git push; }; f",
    "function f { git push; }; f",
    "f() { git \"$@\"; }; f push",
    "f() { \"$@\"; }; f git push",
    "echo $(git push)",
    "echo `git push`",
    "echo \"$(git push)\"",
    "cat <(git push)",
    "ls >(git push)",
    "cat <<E\n$(git push)\nE",
    "cat <<E\n`git push`\nE",
    "echo ${x:-$(git push)}",
    "[[ -n $(git push) ]]",
    "x=$(git push)",
    "export X=$(git push)",
    "a=(x $(git push))",
    "A=1 git push",
    "GIT_TRACE=1 git push",
    "PATH=. git push",
    "g=git; $g push",
    "p=push; git $p",
    "c='git push'; $c",
    "c='git push'; eval $c",
    "c='git push'; bash -c \"$c\"",
    "git ${x:-push}",
    "git$IFS'push'",
    "git${IFS}push",
    "$(echo git) push",
    "`echo git` push",
    "$(which git) push",
    "git $(echo push)",
    "\"$GIT\" push",
    "$0 push",
    "git {push,}",
    "git {,push}",
    "{git,push}",
    "{git,} push",
    "g{i,}t push",
    "gi? push",
    "/usr/bin/gi[t] push",
    "/usr/bin/g*t push",
    "git p*sh",
    "eval git push",
    "eval 'git push'",
    "eval \"git\" 'push'",
    "eval 'eval git push'",
    "bash -c 'git push'",
    "sh -c 'git push'",
    "dash -c 'git push'",
    "zsh -c 'git push'",
    "/bin/bash -c 'git push'",
    "bash -lc 'git push'",
    "bash -ic 'git push'",
    "bash -x -c 'git push'",
    "bash -c -x 'git push'",
    "bash --norc -c 'git push'",
    "bash -o pipefail -c 'git push'",
    "bash -c 'ls; git push'",
    "bash -c 'bash -c \"git push\"'",
    "bash -c '\"$@\"' _ git push",
    "bash -c '$0 push' git",
    "bash -c \"git $x\"",
    "bash <<< 'git push'",
    "bash <<< \"git push\"",
    "sh -s <<< 'git push'",
    "bash <<E\ngit push\nE",
    "bash <<'E'\ngit push\nE",
    "sh - <<E\ngit push\nE",
    "echo git push | bash",
    "echo 'git push' | sh",
    "printf 'git push' | sh -s",
    "cat script | bash",
    "cat <<E | bash\ngit push\nE",
    "base64 -d x | sh",
    "curl x | sh",
    "bash < script",
    "bash /dev/stdin <<< 'git push'",
    "bash <(echo git push)",
    ". <(echo git push)",
    "source /dev/stdin <<< 'git push'",
    "sudo git push",
    "sudo -u root git push",
    "sudo --user root git push",
    "sudo --user=root git push",
    "sudo -E -H git push",
    "sudo A=1 git push",
    "sudo -- git push",
    "doas git push",
    "doas -u root git push",
    "su -c 'git push'",
    "su root -c 'git push'",
    "nice git push",
    "nice -n 5 git push",
    "nice -5 git push",
    "nice --adjustment 5 git push",
    "nice --adjustment=5 git push",
    "ionice -c 3 git push",
    "ionice --class 3 git push",
    "nohup git push",
    "setsid -w git push",
    "stdbuf -oL git push",
    "stdbuf --output L git push",
    "timeout 5 git push",
    "timeout -k 1 5 git push",
    "timeout --kill-after 1 5 git push",
    "timeout --signal=KILL 5 git push",
    "timeout --foreground 5 nice git push",
    "env git push",
    "env A=1 git push",
    "env -i git push",
    "env -u A git push",
    "env --unset A git push",
    "env --chdir . git push",
    "env -C . A=1 git push",
    "env -S 'git push'",
    "env -S'git push'",
    "env --split-string='git push'",
    "/usr/bin/env git push",
    "command git push",
    "command -p git push",
    "builtin command git push",
    "exec git push",
    "exec -a x git push",
    "xargs git push",
    "xargs -n 1 git push",
    "xargs --max-args 1 git push",
    "echo push | xargs git",
    "echo git | xargs -I{} {} push",
    "echo push | xargs -I% git %",
    "echo push | xargs -I {} git {}",
    "echo git push | xargs env",
    "parallel git push ::: a",
    "find . -exec git push ;",
    "find . -execdir git push {} +",
    "find . -name git -exec {} push ;",
    "find . -exec sh -c 'git push' ;",
    "fd -x git push",
    "fd --exec git push",
    "chroot / git push",
    "chroot --userspec root / git push",
    "busybox sh -c 'git push'",
    "busybox git push",
    "flock lock git push",
    "flock lock -c 'git push'",
    "watch git push",
    "watch 'git push'",
    "script -c 'git push'",
    "script -qc 'git push' out",
    "strace -f git push",
    "unshare -r git push",
    "setpriv --reuid 0 git push",
    "systemd-run --user git push",
    "tmux new-session -d 'git push'",
    "npx git push",
    "uv run git push",
    "poetry run git push",
    "git -c alias.p=push p",
    "git -c 'alias.p=!git push' p",
    "git -c alias.p='push' -C . p",
    "git bisect run git push",
    "git submodule foreach 'git push'",
    "git rebase --exec 'git push' main",
    "git rebase -x 'git push' main",
    "alias g='git push'; g",
    "trap 'git push' EXIT",
    "trap 'A=1 git push' EXIT",
    "perl -e 'system(\"gi\" . \"t push\")'",
    "python3 -c 'import subprocess; subprocess.run([\"gi\" + \"t\", \"push\"])'",
    "vim -c ':!gi\\t push'",
    "hash -p /usr/bin/git foo; foo push",
    "GIT_EDITOR='git push' git commit",
    "BASH_ENV='git push' bash -c ls",
    "export PAGER='git push'; man ls",
    "python3 -c 'import os; os.system(\"git push\")'",
    "python3.11 -c 'import os; os.system(\"git push\")'",
    "perl -e 'system(\"git push\")'",
    "ruby -e 'exec \"git push\"'",
    "node -e 'require(\"child_process\").execSync(\"git push\")'",
    "awk 'BEGIN { system(\"git push\") }'",
    "vim -c '!git push' -c q",
    "python3 <<E\nimport os; os.system('git push')\nE",
    "cat x | python3",
    "printf -v 'a[$(git push)]' x",
    "[[ 1 -eq 'a[$(git push)]' ]]",
    "test -v 'a[$(git push)]'",
    "let 'a[$(git push)]'",
    "x='a[$(git push)]'; echo $((x))",
    "(( x = 1 )); git push",
    "echo git push > s.sh; bash s.sh",
    "cat > s.sh <<E\ngit push\nE\nsh ./s.sh",
    "printf 'git push' > s && . ./s",
    "echo 'git push' > s; chmod +x s; ./s",
    "echo git push | tee >(bash)",
    "exec 3<<<'git push'; bash <&3",
    "bash 0< script",
    "{ echo git push; } | bash",
    "set -- git push; \"$@\"",
    "c=(git push); \"${c[@]}\"",
    "read c <<< 'git push'; $c",
    "printf -v c 'git push'; $c",
    "echo git push | at now",
    "at now <<E\ngit push\nE",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p",
    "env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p",
    "export GIT_CONFIG_PARAMETERS=\"'alias.p=push'\"; git p",
    "git --config-env=alias.p=P p",
    "find . -maxdepth 0 -exec git -C {} push ;",
    "ssh localhost git push",
    "git -C . --namespace=x push -f",
    "git push (",
    "git push 'x",
    "for ((;;)); do git push; done",
];

/// Commands that resemble `git push` without running it.
const NO_PUSHES: &[&str] = &[
    "git status",
    "git log --grep push",
    "git stash push",
    "git commit -m 'push it'",
    "git add push",
    "echo git push",
    "echo 'git push' > notes.txt",
    "grep 'git push' README.md",
    "timeout 5 git status",
    "sudo git status",
    "bash -c 'git status'",
    "bash build.sh",
    "git status && bash build.sh",
    "./build.sh",
    "command -v git",
    "python3 script.py",
    "python3 -c 'cursor.execute(\"select 1\") if a != b else empty'",
    "node -e 'x.map(y => `a ${y}`)'",
    "awk '$1 != 2 { print }' a",
    "env A=1 make",
    "npm run push",
    "x=1; git status",
    "find . -exec cat {} ;",
];

fn with_yes(rules: &PermissionRules, command: &str) -> &'static str {
    let judge = RulePolicy::new(rules.clone(), UnmatchedCalls::Ordinary, |_, _| Ok(()));
    let tool = Fake("exec_command", ToolClass::Execute);
    let verdict = crate::permission::PermissionPolicy::evaluate(
        &judge,
        &tool,
        &call(),
        &run_access(command),
        SessionMode::Build,
    );
    match verdict {
        crate::permission::PermissionVerdict::Allow => "allow",
        crate::permission::PermissionVerdict::Ask { .. } => "ask",
        crate::permission::PermissionVerdict::Deny { .. } => "deny",
    }
}

#[test]
fn denied_command_is_denied_in_every_form() {
    assert!(PUSHES.len() >= 150, "{}", PUSHES.len());
    for rule in ["Bash(git push:*)", "Bash(git push *)"] {
        let rules = rules(json!({ "deny": [rule], "allow": ["Bash"] }));
        let run: Vec<&&str> = PUSHES
            .iter()
            .filter(|command| with_yes(&rules, command) == "allow")
            // Without arguments the second rule does not match, but an equal prefix does.
            .collect();
        assert!(run.is_empty(), "{rule}: {} run: {run:#?}", run.len());
    }
}

#[test]
fn other_commands_are_not_forbidden() {
    let rules = rules(json!({ "deny": ["Bash(git push:*)"], "allow": ["Bash"] }));
    for command in NO_PUSHES {
        assert_eq!(with_yes(&rules, command), "allow", "{command}");
    }
}

#[test]
fn options_may_be_written_in_any_way() {
    let forms = [
        "rm -rf x",
        "rm -fr x",
        "rm -r -f x",
        "rm -f -r x",
        "rm -R -f x",
        "rm -Rf x",
        "rm x -rf",
        "rm -rvf x",
        "rm --recursive --force x",
        "rm --force --recursive x",
        "rm --recursive -f x",
        "rm --rec --fo x",
        "rm -r x --force",
        "/bin/rm -fr x",
        "sudo rm -fr x",
        "rm $flags x",
        "rm {-rf,x}",
        "busybox rm -fr x",
        "ls | xargs rm -fr",
        "find . -exec rm -fr {} ;",
    ];
    for rule in [
        "Bash(rm -rf:*)",
        "Bash(rm -rf *)",
        "Bash(rm --recursive --force:*)",
    ] {
        let rules = rules(json!({ "deny": [rule], "allow": ["Bash"] }));
        for command in forms {
            assert_ne!(with_yes(&rules, command), "allow", "{rule}: {command}");
        }
        for command in ["rm x", "rm -f x", "rm -r x", "ls -rf"] {
            assert_eq!(with_yes(&rules, command), "allow", "{rule}: {command}");
        }
    }
}

#[test]
fn versions_and_modules_are_the_same_program() {
    let cases = [
        ("Bash(python:*)", "python3.11 -c x"),
        ("Bash(python3:*)", "python3.12 x.py"),
        ("Bash(gcc:*)", "gcc-12 a.c"),
        ("Bash(pip install:*)", "python3 -m pip install x"),
        ("Bash(pip install:*)", "pip3 install x"),
        ("Bash(pip install:*)", "python3.11 -m pip --quiet install x"),
        ("Bash(npm publish)", "npm publish"),
        ("Bash(npm publish)", "npm --silent publish"),
        ("Bash(curl *example.com*)", "curl -s https://example.com/x"),
        ("Bash(curl *example.com*)", "/usr/bin/curl $url"),
        ("Bash(docker * --privileged:*)", "docker run --privileged x"),
    ];
    for (rule, command) in cases {
        let rules = rules(json!({ "deny": [rule], "allow": ["Bash"] }));
        assert_ne!(with_yes(&rules, command), "allow", "{rule}: {command}");
    }
}

#[test]
fn read_rules_also_apply_to_commands() {
    let rules = rules(json!({
        "deny": ["Read(**/private/**)", "Edit(locked/**)"], "allow": ["Bash"]
    }));
    for (command, expected) in [
        ("cat private/p.txt", "deny"),
        ("cat ./private/p.txt", "deny"),
        ("cat a/../private/p.txt", "deny"),
        ("cd private && cat p.txt", "deny"),
        ("cat < private/p.txt", "deny"),
        ("grep -r x private", "deny"),
        ("grep --file=private/p.txt x", "deny"),
        ("bash -c 'cat private/p.txt'", "deny"),
        ("sudo head /work/private/p.txt", "deny"),
        ("cat public/p.txt", "allow"),
        ("echo x > locked/a", "deny"),
        ("rm -r locked", "deny"),
        ("cat locked/a", "allow"),
        ("make private", "allow"),
    ] {
        assert_eq!(with_yes(&rules, command), expected, "{command}");
    }
}

#[test]
fn yes_does_not_override_deny_rules() {
    let denied = rules(json!({
        "deny": ["Bash(rm:*)", "Read(**/private/**)", "Edit(private/**)"],
        "ask": ["Bash(cargo test:*)"], "edits": "ask"
    }));
    for (command, expected) in [
        ("cargo test", "allow"),
        ("make", "allow"),
        ("ls", "allow"),
        ("rm x", "deny"),
        ("ls; rm x", "deny"),
        ("$x y", "ask"),
    ] {
        assert_eq!(with_yes(&denied, command), expected, "{command}");
    }
    let judge = RulePolicy::new(denied, UnmatchedCalls::Ordinary, |_, _| Ok(()));
    let file = |name: &'static str, class: ToolClass, path: &str| {
        let scopes = vec![LockScope::Path(path.to_owned())];
        let access = match class {
            ToolClass::Read => ToolAccess {
                reads: scopes,
                ..ToolAccess::default()
            },
            _ => ToolAccess {
                writes: scopes,
                ..ToolAccess::default()
            },
        };
        let tool = Fake(name, class);
        match crate::permission::PermissionPolicy::evaluate(
            &judge,
            &tool,
            &call(),
            &access,
            SessionMode::Build,
        ) {
            crate::permission::PermissionVerdict::Allow => "allow",
            crate::permission::PermissionVerdict::Ask { .. } => "ask",
            crate::permission::PermissionVerdict::Deny { .. } => "deny",
        }
    };
    for (name, class, path, expected) in [
        ("read", ToolClass::Read, "src/a.rs", "allow"),
        ("read", ToolClass::Read, "private/p.txt", "deny"),
        ("read", ToolClass::Read, ".env", "ask"),
        ("read", ToolClass::Read, "/etc/hosts", "ask"),
        ("edit", ToolClass::Edit, "src/a.rs", "allow"),
        ("edit", ToolClass::Edit, "private/p.txt", "deny"),
        ("write", ToolClass::Edit, ".git/hooks/pre-commit", "ask"),
        ("write", ToolClass::Edit, ".vscode/tasks.json", "ask"),
        ("write", ToolClass::Edit, ".envrc", "ask"),
        ("write", ToolClass::Edit, "/etc/hosts", "deny"),
        // A patch that was typed as a command.
        (
            "exec_command",
            ToolClass::Execute,
            ".git/hooks/pre-commit",
            "ask",
        ),
        ("exec_command", ToolClass::Execute, "private/p.txt", "deny"),
        ("exec_command", ToolClass::Execute, "src/a.rs", "allow"),
    ] {
        assert_eq!(file(name, class, path), expected, "{name} {path}");
    }
    if let Some(home) = sensitive_paths::home() {
        let key = format!("{home}/.ssh/id_rsa");
        assert_eq!(file("read", ToolClass::Read, &key), "deny");
    }
}

#[test]
fn lines_that_could_run_very_much_are_asked() {
    let rules = rules(json!({ "deny": ["Bash(git push:*)"], "allow": ["Bash"] }));
    let flags = "sudo -x ".repeat(400) + "ls";
    let nested = (0..12).fold("ls".to_owned(), |line, _| {
        format!("env -S {line:?} {line:?}")
    });
    for command in [flags, nested] {
        assert_ne!(with_yes(&rules, &command), "allow");
    }
}

#[test]
fn terminal_input_may_match_deny_rules() {
    let typing = ToolAccess {
        writes: vec![
            LockScope::Tree(String::new()),
            LockScope::Own("terminal 1".to_owned()),
        ],
        ..ToolAccess::default()
    };
    let hearing = ToolAccess {
        writes: vec![LockScope::Own("terminal 1".to_owned())],
        ..ToolAccess::default()
    };
    let tool = Fake("write_stdin", ToolClass::Execute);
    let judged = |rules: &PermissionRules, access: &ToolAccess| match rules.evaluate(
        &tool,
        &call(),
        access,
        SessionMode::Build,
    ) {
        RuleVerdict::Ask { is_firm: true, .. } => "firm",
        verdict => word(&verdict),
    };
    let denied = rules(json!({ "deny": ["Bash(git push:*)"], "allow": ["BashInput"] }));
    assert_eq!(judged(&denied, &typing), "firm");
    assert_eq!(judged(&denied, &hearing), "allow");
    let other = rules(json!({ "deny": ["Read(x)"], "allow": ["BashInput"] }));
    assert_eq!(judged(&other, &typing), "allow");
}

#[test]
fn unparsable_rules_make_every_call_ask() {
    for settings in [
        json!({ "permissions": { "deny": ["Bash(rm"] } }),
        json!({ "permissions": { "deny": "Bash(rm:*)" } }),
        json!({ "permissions": { "deny": [3] } }),
        json!({ "permissions": { "deny": ["Bsh(rm:*)"] } }),
        json!({ "permissions": { "ask": ["Edit({a)"] } }),
        json!({ "permissions": { "denny": ["Bash(rm:*)"] } }),
        json!({ "permissions": {}, "deny": ["Bash(rm:*)"] }),
        json!({ "permission": { "deny": ["Bash(rm:*)"] } }),
        json!({ "projects": { "/p": { "deny": ["Bash("] } } }),
        json!({ "projects": [] }),
        json!([]),
    ] {
        let (rules, problems) = PermissionRules::of(&settings, "/p", NameRules::EXACT);
        assert!(problems.iter().any(|it| it.closes), "{settings}");
        assert_ne!(with_yes(&rules, "ls"), "allow", "{settings}");
        assert_ne!(
            file(&rules, "read", "src/a.rs", SessionMode::Build),
            "allow",
            "{settings}"
        );
        let tool = Fake("exec_command", ToolClass::Execute);
        assert_eq!(
            rules.rules_for(&tool, &run_access("cargo test")),
            Vec::<String>::new()
        );
    }
    let other = json!({ "projects": { "/p": { "deny": ["Bash("] } } });
    assert_eq!(
        PermissionRules::of(&other, "/q", NameRules::EXACT).1,
        [],
        "another project's"
    );
}
