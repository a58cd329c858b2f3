//! The part of a command that a lasting decision covers: by default the exact command, and for
//! known programs the program with its subcommand.

use syntax::shell::ShellWord;

/// Programs with subcommands that each do one kind of thing.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "add", "blame", "branch", "checkout", "commit", "diff", "fetch", "log", "merge",
            "pull", "push", "restore", "show", "stash", "status", "switch", "tag",
        ],
    ),
    (
        "cargo",
        &[
            "bench", "build", "check", "clippy", "doc", "fetch", "fmt", "metadata", "nextest",
            "run", "test", "tree",
        ],
    ),
    ("go", &["build", "fmt", "test", "vet", "list"]),
    ("npm", &["test", "run"]),
    ("pnpm", &["test", "run"]),
    ("yarn", &["test", "run"]),
    ("bun", &["test", "run"]),
    ("deno", &["check", "fmt", "lint", "test"]),
    ("dotnet", &["build", "format", "test"]),
    ("mvn", &["compile", "test", "verify"]),
    ("gradle", &["build", "check", "test"]),
    ("swift", &["build", "test"]),
    ("mix", &["compile", "format", "test"]),
    ("terraform", &["fmt", "plan", "validate"]),
    ("ruff", &["check", "format"]),
    ("uv", &["lock", "sync"]),
    ("zig", &["build", "test", "fmt"]),
    ("flutter", &["analyze", "test"]),
    ("dart", &["analyze", "format", "test"]),
];

/// Programs that do one kind of thing with any arguments.
const TOOLS: &[&str] = &[
    "black",
    "clang-format",
    "clang-tidy",
    "ctest",
    "eslint",
    "flake8",
    "gofmt",
    "golangci-lint",
    "isort",
    "jest",
    "mocha",
    "mypy",
    "phpunit",
    "prettier",
    "pylint",
    "pyright",
    "pytest",
    "rspec",
    "rubocop",
    "rustfmt",
    "shellcheck",
    "stylelint",
    "tsc",
    "vitest",
    "vulture",
];

/// Python modules that are such programs.
const MODULES: &[&str] = &[
    "unittest", "pytest", "mypy", "black", "flake8", "pylint", "isort", "ruff", "doctest",
];

/// Returns the prefix shared by all similar commands; `None` if only the exact command is covered.
pub(super) fn prefix(words: &[ShellWord]) -> Option<String> {
    let certain: Vec<&str> = words
        .iter()
        .map_while(|word| word.is_certain().then_some(word.text.as_str()))
        .collect();
    let (name, rest) = certain.split_first()?;
    if TOOLS.contains(&base(name)) {
        return Some((*name).to_owned());
    }
    if base(name) == "python" {
        return match rest {
            ["-m", module, ..] if MODULES.contains(module) => Some(format!("{name} -m {module}")),
            _ => None,
        };
    }
    let (_, subcommands) = SUBCOMMANDS.iter().find(|(program, _)| program == name)?;
    match rest {
        // The script's name determines what it does.
        ["run", script, ..] if *name != "cargo" => {
            is_word(script).then(|| format!("{name} run {script}"))
        }
        ["run", ..] if *name != "cargo" => None,
        [subcommand, ..] if subcommands.contains(subcommand) => {
            Some(format!("{name} {subcommand}"))
        }
        _ => None,
    }
}

/// Returns a program's name without its version: `python` of `python3.11`, `gcc` of `gcc-12`.
pub(super) fn base(name: &str) -> &str {
    let is_version = |sign: char| sign.is_ascii_digit() || sign == '.';
    let base = name.trim_end_matches(is_version);
    let base = base
        .strip_suffix('-')
        .filter(|_| base.len() < name.len())
        .unwrap_or(base);
    if base.is_empty() { name } else { base }
}

/// Returns whether a text begins with an ASCII letter and consists of ASCII letters, digits and
/// `-_:.`.
fn is_word(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte);
    text.starts_with(|sign: char| sign.is_ascii_alphabetic()) && text.bytes().all(is_part)
}
