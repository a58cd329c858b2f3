//! One call of Git as a value: arguments, variables and input.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use host::environment::Variable;

use crate::error::Error;

/// The access of a call to the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallAccess {
    /// Takes no lock, so that a refresh of ours never disturbs a rebase of the user.
    Read,
    /// Writes the index or references: one call at a time.
    Write,
    /// Writes, but never the index of this working tree, such as a fetch. Git itself orders the writers of references, and
    /// a slow remote must not delay a commit.
    WriteElsewhere,
}

/// A call of Git: a subcommand with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct GitCall {
    pub(crate) access: CallAccess,
    /// Options before the subcommand.
    pub(crate) options: Vec<OsString>,
    /// The subcommand and its arguments.
    pub(crate) arguments: Vec<OsString>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) input: Vec<u8>,
}

impl GitCall {
    /// Creates a call that only reads. Its output has no colours, and its paths are literal.
    pub(crate) fn read(command: &str) -> Self {
        let options = [
            "--no-optional-locks",
            "--literal-pathspecs",
            "-c",
            "color.ui=false",
        ];
        Self::new(CallAccess::Read, &options, command)
    }

    /// Creates a call that writes and may run hooks, which inherit no options of ours.
    pub(crate) fn write(command: &str) -> Self {
        Self::new(CallAccess::Write, &[], command)
    }

    /// Creates a call that writes the index at the given paths and runs no hook.
    pub(crate) fn write_paths(command: &str) -> Self {
        Self::new(CallAccess::Write, &["--literal-pathspecs"], command)
    }

    /// Creates a call that writes, but neither the index nor the working tree.
    pub(crate) fn write_elsewhere(command: &str) -> Self {
        Self::new(CallAccess::WriteElsewhere, &[], command)
    }

    fn new(access: CallAccess, options: &[&str], command: &str) -> Self {
        Self {
            access,
            options: options.iter().map(Into::into).collect(),
            arguments: vec![command.into()],
            variables: Vec::new(),
            input: Vec::new(),
        }
    }

    /// Returns the subcommand.
    pub(crate) fn command(&self) -> String {
        let command = self.arguments.first();
        command.map_or_else(String::new, |it| it.to_string_lossy().into_owned())
    }

    pub(crate) fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub(crate) fn args<const N: usize>(mut self, arguments: [&str; N]) -> Self {
        self.arguments.extend(arguments.map(OsString::from));
        self
    }

    /// Appends an argument if `condition` holds.
    pub(crate) fn arg_if(self, condition: bool, argument: &str) -> Self {
        if condition { self.arg(argument) } else { self }
    }

    /// Appends a name or revision, which must not look like an option.
    pub(crate) fn name(self, text: &str) -> Result<Self, Error> {
        check_name(text)?;
        Ok(self.arg(text))
    }

    pub(crate) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub(crate) fn input(mut self, input: Vec<u8>) -> Self {
        self.input = input;
        self
    }

    /// Passes paths, relative to the root, through standard input, so that their number is unlimited.
    pub(crate) fn paths(self, paths: &[PathBuf]) -> Self {
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(path.as_os_str().as_bytes());
            input.push(0);
        }
        self.args(["--pathspec-from-file=-", "--pathspec-file-nul"])
            .input(input)
    }
}

/// Refuses a text that Git would take for an option, or that cannot be an argument.
pub(crate) fn check_name(text: &str) -> Result<(), Error> {
    let is_bad = text.is_empty() || text.starts_with('-') || text.contains(char::is_control);
    if is_bad {
        let text = text.to_owned();
        return Err(Error::BadName { text });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{GitCall, check_name};

    #[test]
    fn names_that_look_like_options_are_refused() {
        for bad in ["", "-f", "--upload-pack=x", "a\nb", "a\0b"] {
            check_name(bad).expect_err(bad);
        }
        for good in ["main", "HEAD~2", "a..b", "stash@{0}", "feature/ä"] {
            check_name(good).expect(good);
        }
    }

    #[test]
    fn paths_are_passed_as_input() {
        let call = GitCall::write_paths("add").paths(&[PathBuf::from("a b"), PathBuf::from("-c")]);
        assert_eq!(call.input, b"a b\0-c\0");
        assert!(!call.arguments.contains(&"-c".into()));
    }
}
