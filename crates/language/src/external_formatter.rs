//! Formatters that are not servers: programs that read a text from standard input and write it formatted to standard
//! output.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use base::AbsPath;
use host::process::{self, ProcessEnvironment, ProcessRequest};

use crate::Error;
use crate::path_lookup;
use crate::selection::FolderServers;

/// Time for a formatter to end.
const MAX_TIME: Duration = Duration::from_secs(10);
/// Maximum length of a formatted text, in bytes.
const MAX_OUTPUT: usize = 64 << 20;
/// The word in the command that is replaced by the path of the file.
const PATH_WORD: &str = "{path}";

impl FolderServers {
    /// Formats a text by a command in the root of the folder, with the environment of its servers. `command` is a
    /// program and its arguments, in which `{path}` is replaced by the path of the file. Blocks until the program ends,
    /// for at most ten seconds.
    ///
    /// # Errors
    /// The folder is not trusted, or the program is missing, fails, or writes something else than text.
    pub fn format_with(
        &self,
        command: &[String],
        path: &AbsPath,
        text: &str,
    ) -> Result<String, Error> {
        let Some((name, arguments)) = command.split_first() else {
            return Ok(text.to_owned());
        };
        if !self.is_trusted() {
            return Err(Error::FormatterUntrusted(self.root().clone()));
        }
        let failed = |reason: String| Error::FormatterFailed {
            program: name.clone(),
            reason,
        };
        let program = self.formatter_program(name);
        let program = program.ok_or_else(|| failed("it is not in PATH".to_owned()))?;
        let arguments = arguments.iter().map(|word| with_path(word, path));
        let request = ProcessRequest {
            deadline: MAX_TIME,
            output_cap: MAX_OUTPUT,
            environment: ProcessEnvironment::Only(self.variables().to_vec()),
            input: text.as_bytes().to_vec(),
            ..ProcessRequest::new(program.as_path(), self.root()).with_arguments(arguments)
        };
        let output = process::run(&request)?;
        if !output.is_success() {
            let errors = String::from_utf8_lossy(&output.errors).into_owned();
            let line = errors.lines().find(|line| !line.trim().is_empty());
            let end = crate::process::exit_text(output.exit);
            return Err(failed(match line {
                Some(line) => format!("it {end}: {}", line.trim()),
                None => format!("it {end}"),
            }));
        }
        if output.is_cut {
            return Err(failed("it wrote more than 64 MB".to_owned()));
        }
        String::from_utf8(output.output).map_err(|_| failed("it did not write UTF-8".to_owned()))
    }

    /// Returns the program of a formatter: a path, or a name in the folder's own programs or in `PATH`.
    fn formatter_program(&self, name: &str) -> Option<AbsPath> {
        if name.contains('/') {
            return Some(self.root().join(Path::new(name)));
        }
        let own = ["node_modules/.bin", ".venv/bin"];
        let own = own.map(|folder| self.root().join(folder).join(name));
        own.into_iter()
            .find(|path| path_lookup::is_program(self.files(), path))
            .or_else(|| path_lookup::in_path(self.files(), self.variables(), name, &|_| true))
    }
}

/// Returns a word of a command with the path of the file.
fn with_path(word: &str, path: &AbsPath) -> OsString {
    let Some((before, after)) = word.split_once(PATH_WORD) else {
        return word.into();
    };
    let mut filled = OsString::from(before);
    filled.push(path.as_path());
    filled.push(after);
    filled
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::{RealFiles, TempFolder};
    use settings::Settings;

    use super::*;
    use crate::InstalledServers;

    fn format(is_trusted: bool, command: &[&str], text: &str) -> Result<String, String> {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().clone();
        let mut settings = Settings::default();
        settings.lsp.load_environment = false;
        let installed = InstalledServers::new(root.join("servers"));
        let files = Arc::new(RealFiles);
        let servers = FolderServers::open(files, root.clone(), settings, installed, is_trusted);
        let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
        let formatted = servers.format_with(&command, &root.join("a b.txt"), text);
        formatted.map_err(|error| error.to_string().replace(&root.to_string(), "/root"))
    }

    #[test]
    fn a_formatter_reads_standard_input() {
        let upper = ["tr", "a-z", "A-Z"];
        assert_eq!(format(true, &upper, "one\n"), Ok("ONE\n".to_owned()));
        let name = ["sh", "-c", "cat; basename \"$1\"", "sh", "{path}"];
        assert_eq!(format(true, &name, "x\n"), Ok("x\na b.txt\n".to_owned()));
    }

    #[test]
    fn a_failing_formatter_changes_nothing_and_says_why() {
        let check = |command: &[&str], expected: &str| {
            assert_eq!(format(true, command, "x"), Err(expected.to_owned()));
        };
        check(
            &["sh", "-c", "echo 'no such rule' >&2; exit 2"],
            "the formatter sh failed: it exited with code 2: no such rule",
        );
        check(
            &["no-such-formatter"],
            "the formatter no-such-formatter failed: it is not in PATH",
        );
        check(
            &["printf", "\\377"],
            "the formatter printf failed: it did not write UTF-8",
        );
    }

    #[test]
    fn no_formatter_runs_in_a_folder_without_trust() {
        let expected =
            "/root is not trusted, so no formatter runs in it; trust it in the agent panel";
        assert_eq!(format(false, &["cat"], "x"), Err(expected.to_owned()));
    }
}
