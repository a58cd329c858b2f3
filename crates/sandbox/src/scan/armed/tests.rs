//! Tests of harmless and of armed configurations.

use super::is_plain;

#[test]
fn configuration_written_by_git_is_harmless() {
    for text in [
        "",
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
        "[core]\r\n\tbare = true\r\n",
        "# mine\n[user]\n name = Ada\n email = ada@example.org\n",
        "[remote \"origin\"]\n url = https://example.org/x.git\n fetch = +refs/heads/*:refs/remotes/origin/*\n",
        "[branch \"main\"]\n remote = origin\n merge = refs/heads/main\n[advice]\n detachedHead = false\n",
    ] {
        assert!(is_plain(text.as_bytes()), "{text:?}");
    }
}

#[test]
fn configuration_that_may_run_something_is_armed() {
    for text in [
        "[core]\n fsmonitor = x\n",
        "[CORE]\n HooksPath = x\n",
        "[core] fsmonitor = x\n",
        "[core]\n bare = false\\\n fsmonitor = x\n",
        "[core]\n bare = true\r fsmonitor = x\n",
        "[core]\n worktree = /\n",
        "[core]\n sshCommand = x\n",
        "[include]\n path = x\n",
        "[includeIf \"gitdir:/\"]\n path = x\n",
        "[filter \"e\"]\n clean = x\n",
        "[diff]\n external = x\n",
        "[diff \"e\"]\n textconv = x\n",
        "[gpg]\n program = x\n",
        "[remote \"o\"]\n url = ext::sh -c x\n",
        "[remote \"o\"]\n url = --upload-pack=x\n",
        "[remote \"o\"]\n uploadpack = x\n",
        "[remote \"o\"]\n promisor = true\n",
        "[remote \"a\"] url = \"x\"]\n",
        "[remote \"a\\\"]\n[core]\n bare = true\n",
        "[core.x]\n bare = true\n",
        "[alias]\n x = !y\n",
        "bare = true\n",
        "\u{feff}[core]\n bare = true\n",
        "[core]\n bare = \"true\"\n",
        "[core]\n bare = true\0\n",
    ] {
        assert!(!is_plain(text.as_bytes()), "{text:?}");
    }
    assert!(!is_plain(b"[user]\n name = \xff\n"));
}
