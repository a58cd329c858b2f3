//! The manual pages and shell completions of `burin-agent`, which packages contain.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap_complete::aot::{Bash, Fish, Generator, Zsh, generate};
use clap_mangen::Man;
use serde_json::{Map, Value};

use crate::{Streams, print_notice, write_error};

/// The option that prints the files. It is for packaging alone, so the help does not name it.
const OPTION: &str = "--package-files";

const PROGRAM: &str = "burin-agent";

/// Returns whether a command line asks for the files.
pub(crate) fn is_asked(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|argument| argument == OPTION)
}

/// Prints the files of a command line. Returns the exit code.
pub(crate) fn print(command: clap::Command, streams: &mut Streams<'_>) -> ExitCode {
    let printed = package_files(command)
        .and_then(|files| writeln!(streams.output, "{}", Value::Object(files)));
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_notice(streams, &write_error(error));
            ExitCode::FAILURE
        }
    }
}

/// Returns the files of a command line as a JSON object from names to texts. A manual page is `man/NAME`; completions are
/// `bash/NAME`, `zsh/NAME` and `fish/NAME`.
fn package_files(command: clap::Command) -> io::Result<Map<String, Value>> {
    let mut files = Map::new();
    for (name, text) in [
        ("bash/burin-agent", completions(Bash, &command)),
        ("zsh/_burin-agent", completions(Zsh, &command)),
        ("fish/burin-agent.fish", completions(Fish, &command)),
    ] {
        files.insert(name.to_owned(), Value::String(text));
    }
    let source = format!("{PROGRAM} {}", command.get_version().unwrap_or_default());
    let mut command = command.disable_help_subcommand(true);
    command.build();
    add_pages(&command, &source, &mut files)?;
    Ok(files)
}

fn completions(shell: impl Generator, command: &clap::Command) -> String {
    let mut text = Vec::new();
    generate(shell, &mut command.clone(), PROGRAM, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Adds the manual pages of a command and of the commands below it.
fn add_pages(
    command: &clap::Command,
    source: &str,
    files: &mut Map<String, Value>,
) -> io::Result<()> {
    for below in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        add_pages(below, source, files)?;
    }
    let page = Man::new(command.clone()).source(source).manual("Burin");
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    files.insert(format!("man/{}", page.get_filename()), Value::String(text));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::package_files;
    use crate::command::AgentArguments;

    fn files() -> serde_json::Map<String, serde_json::Value> {
        package_files(AgentArguments::grouped()).expect("memory takes any text")
    }

    #[test]
    fn every_command_has_a_manual_page_with_its_options() {
        fn check(command: &clap::Command, name: &str, pages: &dyn Fn(&str) -> String) {
            let page = pages(name);
            for argument in command.get_arguments().filter(|it| !it.is_hide_set()) {
                if let Some(long) = argument.get_long() {
                    assert!(page.contains(&format!("--{long}")), "{name}: --{long}");
                }
            }
            for below in command.get_subcommands().filter(|it| !it.is_hide_set()) {
                check(below, &format!("{name}-{}", below.get_name()), pages);
            }
        }
        let files = files();
        let pages = |name: &str| {
            let page = files.get(&format!("man/{name}.1"));
            let page = page.and_then(|page| page.as_str());
            // Manual pages escape hyphens.
            page.unwrap_or_else(|| panic!("{name} has no page"))
                .replace("\\-", "-")
        };
        check(&AgentArguments::grouped(), "burin-agent", &pages);
    }

    #[test]
    fn completions_of_three_shells_name_the_commands() {
        let files = files();
        for (name, beginning) in [
            ("bash/burin-agent", "_burin"),
            ("zsh/_burin-agent", "#compdef burin-agent"),
            ("fish/burin-agent.fish", "complete -c burin-agent"),
        ] {
            let text = files.get(name).and_then(|text| text.as_str());
            let text = text.unwrap_or_else(|| panic!("{name} is missing"));
            for words in [beginning, "doctor", "worktree"] {
                assert!(text.contains(words), "{name}: {words}");
            }
        }
    }
}
