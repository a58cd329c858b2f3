//! The programs of a release: how they are built, and the texts that they print for packages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cargo_metadata::Metadata;
use serde_json::Value;

use crate::error::Error;
use crate::help_text::HelpText;
use crate::release::Release;
use crate::{tools, workspace};

/// The profile of packages in the manifest of the workspace, and the name of its folder.
const PROFILE: &str = "dist";

/// Replacements of paths in the programs: a path of this machine, and the name that messages show in its place. The later
/// ones win.
fn path_names(metadata: &Metadata) -> Vec<(String, &'static str)> {
    let home = std::env::var("HOME").unwrap_or_default();
    let cargo_home = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
    vec![
        (cargo_home, "/cargo"),
        (metadata.workspace_root.to_string(), "/burin"),
        (metadata.target_directory.to_string(), "/target"),
    ]
}

/// Returns the flags of the compiler, which replace those of the user's environment: two machines with the same compiler
/// then make the same programs.
fn compiler_flags(names: &[(String, &'static str)]) -> Vec<String> {
    let remap = names.iter();
    let mut flags: Vec<String> = remap
        .map(|(path, name)| format!("--remap-path-prefix={path}={name}"))
        .collect();
    if std::env::consts::OS == "linux" {
        // The hash of the content identifies a program in crash notes.
        flags.push("-Clink-arg=-Wl,--build-id=sha1".to_owned());
    }
    flags
}

/// Builds both programs in the profile of packages. Returns their folder.
pub(crate) fn build(metadata: &Metadata, release: &Release) -> Result<PathBuf, Error> {
    let names = path_names(metadata);
    let c_flags = names.iter();
    let c_flags: Vec<String> = c_flags
        .map(|(path, name)| format!("-ffile-prefix-map={path}={name}"))
        .collect();
    let mut build = tools::command(workspace::cargo());
    build.current_dir(&metadata.workspace_root);
    build.args(["build", "--locked", "--profile", PROFILE]);
    build.args(["--package", "burin", "--package", "cli"]);
    // Arguments are separated by the character for units.
    build.env(
        "CARGO_ENCODED_RUSTFLAGS",
        compiler_flags(&names).join("\u{1f}"),
    );
    build.env_remove("RUSTFLAGS").env("CARGO_INCREMENTAL", "0");
    build
        .env("CFLAGS", c_flags.join(" "))
        .env("CXXFLAGS", c_flags.join(" "));
    build.env("SOURCE_DATE_EPOCH", release.epoch.to_string());
    build.env("MACOSX_DEPLOYMENT_TARGET", &release.oldest_macos);
    tools::run(&mut build, "Install Rust")?;
    Ok(metadata.target_directory.join(PROFILE).into_std_path_buf())
}

/// Returns sentences about the paths of this machine that a program contains: with them, another machine makes another
/// program.
pub(crate) fn leaked_paths(metadata: &Metadata, name: &str, program: &[u8]) -> Vec<String> {
    let names = path_names(metadata).into_iter();
    let counts = names.map(|(path, _)| (occurrences(program, path.as_bytes()), path));
    counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, path)| format!("{name} contains {count} paths below {path}"))
        .collect()
}

/// Returns how often `pattern` and a slash occur. Never finds an empty pattern.
fn occurrences(content: &[u8], pattern: &[u8]) -> usize {
    let pattern = [pattern, &b"/"[..]].concat();
    let windows = content.windows(pattern.len());
    windows
        .filter(|window| pattern.len() > 1 && *window == pattern)
        .count()
}

/// Returns the manual pages and completions of both programs by `man/NAME`, `bash/NAME`, `zsh/NAME` and `fish/NAME`. Starts
/// the programs.
pub(crate) fn texts(folder: &Path, release: &Release) -> Result<BTreeMap<String, String>, Error> {
    let ask = |name: &str, option: &str| {
        let mut program = tools::command(folder.join(name));
        let program = program.arg(option);
        program.env("SOURCE_DATE_EPOCH", release.epoch.to_string());
        tools::output(program, "Build it first")
    };
    let mut texts = parse_texts(&ask("burin-agent", "--package-files")?)?;
    let help = HelpText::parse("burin", &ask("burin", "--help")?)?;
    for (name, text) in [
        ("man/burin.1", help.manual_page(&release.version)),
        ("bash/burin", help.bash()),
        ("zsh/_burin", help.zsh()),
        ("fish/burin.fish", help.fish()),
    ] {
        texts.insert(name.to_owned(), text);
    }
    Ok(texts)
}

/// Parses the object of texts that `burin-agent --package-files` prints.
fn parse_texts(output: &str) -> Result<BTreeMap<String, String>, Error> {
    let problem = |problem: String| Error::Output {
        program: "burin-agent --package-files",
        problem,
    };
    let value: Value = serde_json::from_str(output).map_err(|error| problem(error.to_string()))?;
    let Value::Object(files) = value else {
        return Err(problem("it is no object".to_owned()));
    };
    let mut texts = BTreeMap::new();
    for (name, text) in files {
        let Value::String(text) = text else {
            return Err(problem(format!("{name} is no text")));
        };
        texts.insert(name, text);
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::{compiler_flags, occurrences, parse_texts, texts};
    use crate::fixture;
    use crate::release::Release;

    #[test]
    fn texts_come_from_both_programs() {
        let folder = tempfile::tempdir().expect("a folder");
        let usage = "Usage: burin [PATH]\n\n  -h, --help  print this\n";
        for (name, script) in [
            (
                "burin",
                format!("cat <<'END'\nBurin, an editor\n\n{usage}END\n"),
            ),
            (
                "burin-agent",
                "echo '{\"man/burin-agent.1\": \"page\"}'\n".to_owned(),
            ),
        ] {
            let script = format!("#!/bin/sh\n{script}");
            fixture::write_program(&folder.path().join(name), script.as_bytes());
        }
        let texts = texts(folder.path(), &Release::for_tests()).expect("texts");
        let names: Vec<&str> = texts.keys().map(String::as_str).collect();
        let expected = [
            "bash/burin",
            "fish/burin.fish",
            "man/burin-agent.1",
            "man/burin.1",
            "zsh/_burin",
        ];
        assert_eq!(names, expected);
        assert_eq!(texts["man/burin-agent.1"], "page");
        assert!(texts["man/burin.1"].contains("burin \\- an editor"));
    }

    #[test]
    fn another_answer_is_an_error() {
        for output in ["", "[]", "{\"a\": 1}"] {
            assert!(parse_texts(output).is_err(), "{output}");
        }
    }

    #[test]
    fn paths_of_the_machine_are_counted() {
        assert_eq!(occurrences(b"/root/a /root /root/b", b"/root"), 2);
        assert_eq!(occurrences(b"/a", b""), 0);
        assert_eq!(occurrences(b"", b"/root"), 0);
    }

    #[test]
    fn flags_replace_each_path() {
        let flags = compiler_flags(&[("/home/me".to_owned(), "/burin")]);
        assert_eq!(flags[0], "--remap-path-prefix=/home/me=/burin");
    }
}
