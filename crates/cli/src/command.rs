//! The commands of `burin-agent`, and where each is done.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use host::{Dirs, RealFiles};

use crate::doctor::DoctorForm;
use crate::{
    Streams, acp, agents, apply, ask, automations, complete, compose, doctor, grep, index, lsp,
    mcp, models, permissions, quality, recover, run, sandbox, serve, sessions, stats, trust,
    worktree, write,
};

/// Run the engines of Burin without a window
#[derive(Parser)]
#[command(name = "burin-agent", version)]
pub(crate) struct AgentArguments {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// The commands by topic, as the help lists them.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Agents",
        &[
            "run",
            "compose",
            "acp",
            "agents",
            "automations",
            "serve",
            "sessions",
            "stats",
            "quality",
            "worktree",
        ],
    ),
    ("Models", &["ask", "complete", "models"]),
    ("Search", &["grep", "search", "index"]),
    ("Files", &["apply", "write", "recover"]),
    (
        "Setup and safety",
        &["doctor", "lsp", "mcp", "permissions", "sandbox", "trust"],
    ),
];

impl AgentArguments {
    /// Parses a command line. Also returns whether the output is for programs: JSON, or an answer
    /// that is passed on unchanged.
    pub(crate) fn read(
        line: impl IntoIterator<Item = OsString>,
    ) -> Result<(Self, bool), clap::Error> {
        let matches = Self::grouped().try_get_matches_from(line)?;
        Ok((Self::from_arg_matches(&matches)?, is_for_programs(&matches)))
    }

    /// Returns the command line for parsing, whose help lists the commands in groups.
    pub(crate) fn grouped() -> clap::Command {
        let command = Self::command();
        let mut list = String::new();
        for (title, names) in GROUPS {
            list.push_str(&format!("{title}:\n"));
            for command in names
                .iter()
                .filter_map(|name| command.find_subcommand(name))
            {
                let about = command.get_about().map(ToString::to_string);
                let about = about.unwrap_or_default();
                list.push_str(&format!("  {:<11} {about}\n", command.get_name()));
            }
            list.push('\n');
        }
        let usage = "{about}\n\n{usage-heading} {usage}\n\n";
        command.help_template(format!("{usage}{list}Options:\n{{options}}"))
    }
}

/// Returns whether the output of a command is for programs: by the command itself, or because it or
/// a subcommand has `--json`.
fn is_for_programs(matches: &ArgMatches) -> bool {
    const PROGRAMS: &[&str] = &["acp", "ask", "complete", "grep", "search", "write"];
    let is_json = |matches: &ArgMatches| matches!(matches.try_get_one("json"), Ok(Some(true)));
    let mut inner = matches.subcommand();
    let is_answer = inner.is_some_and(|(name, _)| PROGRAMS.contains(&name));
    while let Some((_, matches)) = inner {
        if is_json(matches) {
            return true;
        }
        inner = matches.subcommand();
    }
    is_answer
}

/// Prints the requested help to `output`, or the error in a command line to `errors`. Returns exit
/// code 0 for help, and clap's exit code for an error.
pub(crate) fn explain(
    error: &clap::Error,
    output: &mut dyn Write,
    errors: &mut dyn Write,
) -> ExitCode {
    let text = error.render().to_string();
    if error.use_stderr() {
        errors.write_all(text.as_bytes()).ok()
    } else {
        output.write_all(text.as_bytes()).ok()
    };
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1))
}

/// A subcommand. If it has a type, the help text is the type's documentation.
#[derive(Subcommand)]
pub(crate) enum CliCommand {
    /// Check this machine's capabilities, and report problems
    Doctor {
        /// Print an array of {name, value, verdict, advice}
        #[arg(long)]
        json: bool,
        /// Print the text of an issue: versions, machine, latest crash; redacted, so read it before you share it
        #[arg(long, conflicts_with = "json")]
        report: bool,
    },
    /// Save standard input to a file the way the editor saves
    Write {
        /// The file to write; it is created if it is missing
        path: OsString,
    },
    /// Recover unsaved texts after a crash
    Recover {
        /// List recoverable texts, and change nothing
        #[arg(long)]
        list: bool,
    },
    Apply(apply::ApplyCommand),
    Ask(ask::AskCommand),
    Complete(complete::CompleteCommand),
    Run(Box<run::RunCommand>),
    Compose(Box<compose::ComposeCommand>),
    Acp(acp::AcpCommand),
    Agents(agents::AgentsCommand),
    Automations(automations::AutomationsCommand),
    Lsp(lsp::LspCommand),
    Mcp(mcp::McpCommand),
    Sandbox(sandbox::SandboxCommand),
    Serve(serve::ServeCommand),
    Sessions(sessions::SessionsCommand),
    Stats(stats::StatsCommand),
    Quality(quality::QualityCommand),
    Models(models::Models),
    Permissions(permissions::PermissionsCommand),
    Grep(grep::GrepCommand),
    Trust(trust::TrustCommand),
    Index(index::IndexCommand),
    Search(index::SearchCommand),
    Worktree(worktree::WorktreeCommand),
}

impl CliCommand {
    /// Runs the command and returns its exit code. On failure, returns a sentence that the caller
    /// prints.
    pub(crate) fn perform(
        self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        match self {
            CliCommand::Doctor { json, report } => {
                let form = if report {
                    DoctorForm::Issue
                } else if json {
                    DoctorForm::Json
                } else {
                    DoctorForm::Lines
                };
                doctor::run(dirs, form, streams)
            }
            CliCommand::Write { path } => write::run(&RealFiles, dirs, &path, streams),
            CliCommand::Recover { list } => recover::run(&RealFiles, dirs, list, streams),
            CliCommand::Apply(apply) => apply.run(&RealFiles, dirs, streams),
            CliCommand::Ask(ask) => ask.run(&RealFiles, dirs, streams),
            CliCommand::Complete(complete) => complete.run(&RealFiles, dirs, streams),
            CliCommand::Run(run) => run.run(
                run::RunEnvironment {
                    files: &RealFiles,
                    dirs,
                },
                streams,
            ),
            CliCommand::Compose(compose) => compose.run(dirs, streams),
            CliCommand::Acp(acp) => acp.run(dirs, streams),
            CliCommand::Agents(agents) => agents.run(&RealFiles, dirs, streams),
            CliCommand::Automations(automations) => automations.run(dirs, streams),
            CliCommand::Lsp(lsp) => lsp.run(dirs, streams),
            CliCommand::Mcp(mcp) => mcp.run(dirs, streams),
            CliCommand::Sandbox(sandbox) => sandbox.run(&RealFiles, dirs, streams),
            CliCommand::Serve(serve) => serve.run(dirs, streams),
            CliCommand::Sessions(sessions) => sessions.run(dirs, streams),
            CliCommand::Stats(stats) => stats.run(dirs, streams),
            CliCommand::Quality(quality) => quality.run(dirs, streams),
            CliCommand::Models(models) => models.run(&RealFiles, dirs, streams),
            CliCommand::Permissions(permissions) => permissions.run(dirs, streams),
            CliCommand::Trust(trust) => trust.run(dirs, streams),
            CliCommand::Grep(grep) => grep.run(dirs, streams),
            CliCommand::Index(index) => index.run(&RealFiles, dirs, streams),
            CliCommand::Search(search) => search.run(&RealFiles, dirs, streams),
            CliCommand::Worktree(worktree) => worktree.run(&RealFiles, dirs, streams),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command with the commands below it.
    fn all(command: &clap::Command) -> Vec<&clap::Command> {
        let below = command.get_subcommands().flat_map(all);
        std::iter::once(command).chain(below).collect()
    }

    #[test]
    fn every_command_stands_in_one_group_of_the_help() {
        let grouped = AgentArguments::grouped();
        let listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| names.iter()).collect();
        for command in grouped.get_subcommands() {
            let count = listed.iter().filter(|name| **name == &command.get_name());
            assert_eq!(count.count(), 1, "{}", command.get_name());
        }
        let help = AgentArguments::grouped().render_help().to_string();
        for words in [
            "Search:\n  grep",
            "Run an agent on a task",
            "Options:",
            "--help",
        ] {
            assert!(help.contains(words), "{help}");
        }
    }

    #[test]
    fn help_is_imperative_and_has_no_full_stop() {
        const OTHERS: &[&str] = &[
            "How", "What", "Have", "Which", "Whose", "All", "One", "Each", "Whether",
        ];
        let mut command = AgentArguments::grouped();
        command.build();
        for command in all(&command) {
            let about = command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            let first = about.split(' ').next().unwrap_or_default();
            let is_other = OTHERS.contains(&first) || first.ends_with('s');
            assert!(
                !is_other && !about.is_empty(),
                "{}: {about}",
                command.get_name()
            );
            let arguments = command.get_arguments().filter_map(|it| it.get_help());
            let texts = arguments.map(ToString::to_string).chain([about]);
            for text in texts {
                assert!(!text.ends_with('.'), "{}: {text}", command.get_name());
            }
        }
    }

    #[test]
    fn every_command_takes_root_and_the_old_names() {
        let mut command = AgentArguments::grouped();
        command.build();
        for command in all(&command) {
            for argument in command.get_arguments() {
                let name = argument.get_long().unwrap_or_default();
                assert!(
                    !matches!(name, "workspace" | "dir" | "cwd"),
                    "{}",
                    command.get_name()
                );
            }
        }
        for line in [
            "sandbox --workspace . -- true",
            "sandbox --root . -- true",
            "apply --format udiff",
        ] {
            let words = std::iter::once("burin-agent").chain(line.split(' '));
            assert!(AgentArguments::try_parse_from(words).is_ok(), "{line}");
        }
    }
}
