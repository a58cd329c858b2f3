//! Commands that only look: programs, and the options with which they do no more than that.
//!
//! Conservative on purpose: what is not known to be harmless is asked for. A configuration of git that runs
//! programs by itself is beyond what can be seen from here.

use project::is_secret;
use syntax::shell::{self, Redirect, ShellLine, SimpleCommand, Word};

use super::places::{holds_keys, home};

/// Whether a line only looks, below the root and at nothing secret. A line that does not parse does not.
pub fn is_read_only(line: &str) -> bool {
    shell::read(line).is_some_and(|line| is_harmless(&line))
}

/// What redirections may do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    Never,
    /// Files below the root that are neither secret nor steer anything.
    Below,
}

pub(super) fn is_harmless(line: &ShellLine) -> bool {
    !line.commands.is_empty()
        && line.assignments.is_empty()
        && are_redirects_harmless(line, Writing::Never)
        && line.commands.iter().all(is_harmless_command)
}

pub(super) fn are_redirects_harmless(line: &ShellLine, writing: Writing) -> bool {
    line.redirects.iter().all(|Redirect { is_write, target }| {
        let is_nothing = target.text == "/dev/null";
        let is_fine = is_below_and_plain(target);
        let is_steering = super::places::is_steering(&target.text);
        match is_write {
            _ if is_nothing => true,
            false => is_fine,
            true => writing == Writing::Below && is_fine && !is_steering,
        }
    })
}

/// Whether a command does no more than look.
pub(super) fn is_harmless_command(command: &SimpleCommand) -> bool {
    let Some((name, rest)) = command.words.split_first() else {
        return false;
    };
    let is_plain = command.assignments.is_empty() && name.is_known && !name.has_globs;
    is_plain && rest.iter().all(is_below_and_plain) && is_harmless_call(&name.text, &texts(rest))
}

fn texts(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

/// Whether a word, if it is a path, leads to something below the root that is no secret.
fn is_below_and_plain(word: &Word) -> bool {
    if !word.is_known {
        return false;
    }
    let text = word.text.as_str();
    let value = match text.starts_with('-') {
        true => text.split_once('=').map_or("", |(_, value)| value),
        false => text,
    };
    // An option with its value attached, such as `-f/etc/passwd`.
    let is_attached =
        text.starts_with('-') && (text.contains("/") || text.contains('~')) && value.is_empty();
    let leads_out = value.starts_with(['/', '~'])
        || value.split('/').any(|part| part == "..")
        || home().is_some_and(|home| value.contains(&home.to_string()));
    // A glob that may come to a name that begins with a dot.
    let hides = word.has_globs
        && value
            .rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with('.') || name.starts_with('{'));
    // `HEAD:.env` names a file too.
    let holds_secrets = value.split(':').any(is_secret) || holds_keys(value);
    !(is_attached || leads_out || hides || holds_secrets)
}

// tidy: table
fn is_harmless_call(name: &str, arguments: &[&str]) -> bool {
    let has = |options: &[&str]| {
        arguments.iter().any(|argument| {
            options.iter().any(|option| {
                let is_short = option.len() == 2 && !option.starts_with("--");
                *argument == *option
                    || argument
                        .strip_prefix(option)
                        .is_some_and(|rest| rest.starts_with('='))
                    || is_short
                        && argument.starts_with('-')
                        && !argument.starts_with("--")
                        && argument.contains(&option[1..])
            })
        })
    };
    let plain = || {
        arguments
            .iter()
            .filter(|argument| !argument.starts_with('-'))
            .count()
    };
    match name {
        "ls" | "cat" | "head" | "tail" | "wc" | "pwd" | "echo" | "printf" | "true" | "false"
        | "which" | "whoami" | "id" | "uname" | "basename" | "dirname" | "realpath"
        | "readlink" | "stat" | "du" | "df" | "cut" | "tr" | "nl" | "rev" | "tac" | "comm"
        | "diff" | "cmp" | "md5sum" | "sha1sum" | "sha256sum" | "sha512sum" | "cksum" | "od"
        | "hexdump" | "strings" | "column" | "expand" | "fold" | "fmt" | "paste" | "join"
        | "seq" | "sleep" | "test" | "[" | "nproc" | "uptime" | "free" | "grep" | "egrep"
        | "fgrep" | "type" | ":" => true,
        "cd" => arguments.len() == 1 && !arguments[0].starts_with('-'),
        "file" => !has(&["-C", "--compile", "-m", "--magic-file"]),
        "tree" => !has(&["-o", "-R"]),
        "sort" => !has(&[
            "-o",
            "--output",
            "-T",
            "--compress-program",
            "--temporary-directory",
        ]),
        "uniq" => plain() <= 1,
        "jq" => !has(&["-f", "--from-file", "-L"]),
        "rg" => !has(&[
            "--pre",
            "--pre-glob",
            "--hostname-bin",
            "-z",
            "--search-zip",
        ]),
        "find" => !arguments.iter().any(|argument| {
            let acts = [
                "-exec",
                "-execdir",
                "-ok",
                "-okdir",
                "-delete",
                "-fprint",
                "-fprint0",
                "-fprintf",
                "-fls",
                "-files0-from",
            ];
            acts.contains(argument)
        }),
        "sed" => is_printing_sed(arguments),
        "date" => arguments
            .iter()
            .all(|argument| argument.starts_with('+') || *argument == "-u"),
        "git" => is_looking_git(arguments),
        "cargo" | "rustc" | "rustup" | "node" | "npm" | "python" | "python3" | "go" | "java"
        | "gcc" | "clang" | "make" | "cmake" | "ruby" | "perl" | "php" | "bash" | "deno"
        | "bun" => {
            matches!(arguments, ["--version" | "-V"])
                || name == "go" && matches!(arguments, ["version"])
        }
        _ => false,
    }
}

/// `sed -n '1,5p' file` and no more.
fn is_printing_sed(arguments: &[&str]) -> bool {
    let [flag, script, files @ ..] = arguments else {
        return false;
    };
    let is_print = script.strip_suffix('p').is_some_and(|range| {
        range
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'$'))
    });
    *flag == "-n" && is_print && files.iter().all(|file| !file.starts_with('-'))
}

fn is_looking_git(arguments: &[&str]) -> bool {
    let Some((subcommand, rest)) = arguments.split_first() else {
        return false;
    };
    let is_bad = |argument: &&str| {
        let bad = [
            "--output",
            "--ext-diff",
            "--textconv",
            "--open-files-in-pager",
            "-O",
            "--paginate",
            "--exec",
            "--upload-pack",
            "--no-index",
            "--contents",
        ];
        bad.iter().any(|bad| argument.starts_with(bad))
    };
    let are_flags = || rest.iter().all(|argument| argument.starts_with('-'));
    if rest.iter().any(is_bad) {
        return false;
    }
    match *subcommand {
        "status" | "diff" | "log" | "show" | "blame" | "rev-parse" | "ls-files" | "ls-tree"
        | "describe" | "cat-file" | "rev-list" | "merge-base" | "name-rev" | "show-ref"
        | "shortlog" | "whatchanged" | "--version" => true,
        "branch" => rest.iter().all(|argument| {
            [
                "-a",
                "-r",
                "-v",
                "-vv",
                "--all",
                "--list",
                "--remotes",
                "--show-current",
                "--verbose",
            ]
            .contains(argument)
        }),
        "tag" => matches!(rest, [] | ["-l" | "--list"]),
        "remote" => matches!(rest, [] | ["-v" | "--verbose"]),
        "stash" => matches!(rest, ["list"]),
        "worktree" => matches!(rest, ["list"]),
        "config" => {
            matches!(rest, ["--get" | "--get-all", name] if !name.starts_with('-'))
                || matches!(rest, ["--list" | "-l"])
        }
        "grep" => true,
        "reflog" => rest.is_empty() || rest == ["show"] && are_flags(),
        _ => false,
    }
}
