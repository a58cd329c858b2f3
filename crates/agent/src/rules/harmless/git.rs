//! Git commands that only read.
//!
//! Excluded are options that run programs (`--ext-diff`, `--textconv`, `-O`), write files
//! (`--output`) or read files outside the repository (`--no-index`, `--contents`).

use syntax::shell::ShellWord;

use super::options::{Operands, ReadOnlyOptions};

const DIFF: &str = "stat? numstat shortstat dirstat? summary compact-summary name-only name-status raw patch no-patch \
    patch-with-stat unified= color? no-color word-diff? word-diff-regex= color-words? color-moved? \
    no-color-moved ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines \
    ignore-cr-at-eol cached staged merge-base find-renames? find-copies? find-copies-harder no-renames \
    diff-filter= minimal patience histogram diff-algorithm= exit-code quiet check full-index binary abbrev? \
    relative? function-context inter-hunk-context= src-prefix= dst-prefix= no-prefix default-prefix \
    no-ext-diff no-textconv text pickaxe-regex pickaxe-all submodule? ignore-submodules? stat-width= \
    stat-name-width= stat-count= diff-merges= root no-commit-id cc combined-all-paths ws-error-highlight= \
    indent-heuristic no-indent-heuristic ita-invisible-in-index";

const LOG: &str = "oneline graph no-graph decorate? no-decorate all branches? tags? remotes? max-count= skip= since= after= \
    until= before= author= committer= grep= grep-reflog= all-match invert-grep regexp-ignore-case \
    extended-regexp fixed-strings perl-regexp basic-regexp merges no-merges first-parent reverse \
    date-order author-date-order topo-order follow no-follow format= pretty? date= abbrev-commit no-abbrev-commit \
    relative-date left-right left-only right-only cherry-pick cherry-mark cherry boundary \
    simplify-by-decoration simplify-merges full-history dense sparse show-pulls ancestry-path? no-walk? \
    do-walk walk-reflogs parents children notes? no-notes log-size source mailmap no-mailmap use-mailmap \
    no-use-mailmap min-parents= max-parents= no-min-parents no-max-parents encoding= expand-tabs? \
    no-expand-tabs count glob= exclude= reflog decorate-refs= decorate-refs-exclude= \
    clear-decorations show-linear-break? remove-empty full-diff not merge objects timestamp header \
    numbered summary email group=";

const BRANCHES: &str = "all remotes list verbose show-current contains~ no-contains~ merged~ no-merged~ sort= format= color? \
    no-color column? no-column points-at= abbrev? no-abbrev ignore-case count= omit-empty exclude=";

const HISTORY: ReadOnlyOptions = ReadOnlyOptions {
    flags: "pusizEFPgwbRmcqarlWt",
    valued: "nLSGU",
    attached: "MCB",
    long: &[LOG, DIFF],
    has_numbers: true,
    ..ReadOnlyOptions::NONE
};

const CHANGES: ReadOnlyOptions = ReadOnlyOptions {
    flags: "pusRabwzWrtmcqv",
    valued: "USG",
    attached: "MCB",
    long: &[DIFF],
    has_numbers: true,
    ..ReadOnlyOptions::NONE
};

const fn plain(flags: &'static str, long: &'static [&'static str]) -> ReadOnlyOptions {
    ReadOnlyOptions {
        flags,
        long,
        ..ReadOnlyOptions::NONE
    }
}

// tidy: table
const COMMANDS: &[(&str, ReadOnlyOptions)] = &[
    (
        "status",
        ReadOnlyOptions {
            attached: "u",
            ..plain(
                "sbvz",
                &[
                    "short branch show-stash porcelain? long verbose untracked-files? ignored? ignore-submodules? column? \
                   no-column ahead-behind no-ahead-behind renames no-renames find-renames? null",
                ],
            )
        },
    ),
    ("diff diff-tree diff-index diff-files range-diff", CHANGES),
    ("log show whatchanged rev-list", HISTORY),
    ("shortlog", plain("sneco", &[LOG])),
    (
        "blame annotate",
        ReadOnlyOptions {
            valued: "L",
            attached: "CM",
            ..plain(
                "lstefwpcbn",
                &[
                    "line-porcelain porcelain incremental root show-stats date= score-debug show-name show-number \
                   show-email abbrev= since= ignore-rev= color-lines color-by-age first-parent",
                ],
            )
        },
    ),
    (
        "rev-parse",
        plain(
            "q",
            &[
                "show-toplevel git-dir git-common-dir abbrev-ref? short? verify quiet is-inside-work-tree is-inside-git-dir \
               is-bare-repository symbolic symbolic-full-name branches? tags? remotes? all show-prefix \
               show-cdup absolute-git-dir is-shallow-repository revs-only no-revs flags no-flags default= \
               show-object-format? show-superproject-working-tree end-of-options",
            ],
        ),
    ),
    (
        "ls-files",
        ReadOnlyOptions {
            valued: "x",
            ..plain(
                "cdmosiktvufz",
                &[
                    "cached deleted modified others stage ignored killed unmerged exclude= exclude-standard directory \
                   no-empty-directory error-unmatch full-name abbrev? debug eol deduplicate \
                   recurse-submodules with-tree= format=",
                ],
            )
        },
    ),
    (
        "ls-tree",
        plain(
            "drtlz",
            &["name-only name-status object-only full-name full-tree abbrev? long format="],
        ),
    ),
    (
        "describe",
        plain(
            "",
            &[
                "tags all always long abbrev= dirty? broken? match= exclude= candidates= contains first-parent exact-match",
            ],
        ),
    ),
    ("cat-file", plain("tspe", &[])),
    (
        "merge-base",
        plain("a", &["all octopus is-ancestor independent fork-point"]),
    ),
    (
        "name-rev",
        plain(
            "",
            &["tags always name-only all refs= exclude= no-undefined"],
        ),
    ),
    (
        "show-ref",
        plain(
            "hsdq",
            &["heads branches tags hash? verify abbrev? dereference head quiet exists"],
        ),
    ),
    (
        "grep",
        ReadOnlyOptions {
            valued: "eABCm",
            operands: Operands::PatternAndFiles,
            has_numbers: true,
            ..plain(
                "inIwvahHclLEGFPpoWqrz",
                &[
                    "ignore-case line-number word-regexp invert-match text count name-only files-with-matches \
                   files-without-match extended-regexp basic-regexp fixed-strings perl-regexp \
                   show-function function-context context= after-context= before-context= break heading color? \
                   no-color cached untracked recurse-submodules all-match and or not max-depth= max-count= \
                   only-matching column null full-name quiet threads= exclude-standard \
                   no-recursive recursive no-textconv",
                ],
            )
        },
    ),
    (
        "for-each-ref",
        ReadOnlyOptions {
            operands: Operands::Texts,
            ..plain("", &[BRANCHES])
        },
    ),
    (
        "check-ignore",
        plain("vqn", &["verbose quiet non-matching no-index"]),
    ),
    ("check-attr", plain("a", &["all cached"])),
    ("count-objects", plain("vH", &["verbose human-readable"])),
    ("cherry", plain("v", &["abbrev?"])),
    ("version", plain("", &["build-options"])),
];

const LISTS: ReadOnlyOptions = ReadOnlyOptions {
    attached: "n",
    ..plain("alrviq", &[BRANCHES])
};

/// Returns whether a command line `git` with these words, options included, only reads.
pub(super) fn is_looking(words: &[ShellWord]) -> bool {
    let Some(words) = behind_global(words) else {
        return false;
    };
    let Some((subcommand, rest)) = words.split_first() else {
        return false;
    };
    // Formats that check signatures run a program.
    let checks = |word: &ShellWord| word.text.contains("%G");
    if !subcommand.is_certain() || rest.iter().any(checks) {
        return false;
    }
    let name = subcommand.text.as_str();
    let options = COMMANDS.iter().find(|(names, _)| {
        let mut names = names.split_whitespace();
        names.any(|other| other == name)
    });
    match options {
        Some((_, options)) => options.allows(rest),
        None => is_listing(name, rest),
    }
}

/// Returns the words from the subcommand on; `None` if a preceding option does more than choose the
/// folder and the output.
fn behind_global(mut words: &[ShellWord]) -> Option<&[ShellWord]> {
    loop {
        let first = words.first()?;
        words = match (first.text.as_str(), &words[1..]) {
            ("--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs", rest) => rest,
            ("-C", [folder, rest @ ..]) if super::is_below_and_plain(folder) => rest,
            ("--version", []) => return Some(VERSION),
            (text, _) if text.starts_with('-') => return None,
            _ => return Some(words),
        }
    }
}

/// The subcommand that represents `--version`.
const VERSION: &[ShellWord] = &[ShellWord {
    text: String::new(),
    is_known: true,
    has_globs: false,
    has_tilde: false,
}];

/// Returns whether a subcommand that can also change things only lists them here.
fn is_listing(name: &str, rest: &[ShellWord]) -> bool {
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    match (name, &texts[..]) {
        ("", []) => true,
        ("branch" | "tag", _) => match LISTS.operands_of(rest) {
            // An operand creates a branch or tag, except after `--list`, where it is a pattern.
            Some((operands, given)) => {
                let lists = given.iter().any(|it| matches!(*it, "list" | "l"));
                operands.is_empty() || lists && operands.iter().all(|it| it.is_certain())
            }
            None => false,
        },
        ("remote", [] | ["-v" | "--verbose"] | ["get-url", _]) => true,
        ("stash", ["list", ..]) => HISTORY.allows(&rest[1..]),
        ("stash", ["show", ..]) => CHANGES.allows(&rest[1..]),
        ("reflog", ["show", ..]) => HISTORY.allows(&rest[1..]),
        ("reflog", _) => match HISTORY.operands_of(rest) {
            Some((operands, _)) => operands.is_empty(),
            None => false,
        },
        ("worktree", ["list"] | ["list", "--porcelain" | "-v" | "--verbose"]) => true,
        ("submodule", ["status"] | ["status", "--recursive"]) => true,
        ("notes", ["list"] | ["show"] | ["show", "HEAD"]) => true,
        ("symbolic-ref", ["HEAD"] | ["--short", "HEAD"] | ["-q", "HEAD"]) => true,
        ("config", ["--list" | "-l" | "list"] | ["--list", "--show-origin" | "--show-scope"]) => {
            true
        }
        ("config", ["--get" | "--get-all" | "--get-regexp" | "get", key]) => !key.starts_with('-'),
        _ => false,
    }
}
