//! The user's login shell: which one it is, and how it runs a command.

use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The user's login shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoginShell {
    pub(super) program: PathBuf,
    syntax: ShellSyntax,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShellSyntax {
    Posix,
    Zsh,
    Bash,
    Fish,
    Nu,
    Csh,
}

impl LoginShell {
    /// Returns the shell that `SHELL` names, or else the user record; `/bin/sh` without both.
    pub(super) fn of_user() -> Self {
        let named = std::env::var_os("SHELL").map(PathBuf::from);
        let named = named.filter(|shell| shell.is_absolute());
        Self::new(
            named
                .or_else(recorded_shell)
                .unwrap_or_else(|| "/bin/sh".into()),
        )
    }

    pub(super) fn new(program: PathBuf) -> Self {
        let syntax = match program.file_name().and_then(OsStr::to_str) {
            Some("zsh") => ShellSyntax::Zsh,
            Some("bash") => ShellSyntax::Bash,
            Some("fish") => ShellSyntax::Fish,
            Some("nu") => ShellSyntax::Nu,
            Some("csh" | "tcsh") => ShellSyntax::Csh,
            _ => ShellSyntax::Posix,
        };
        Self { program, syntax }
    }

    /// Returns the arguments that make it a login shell for an interactive user and run a command.
    pub(super) fn arguments(&self, command: &[OsString]) -> Vec<OsString> {
        let words: Vec<Vec<u8>> = command
            .iter()
            .map(|word| self.quoted(word.as_bytes()))
            .collect();
        let run: &[u8] = match self.syntax {
            // A path in quotes is a text there, not a command.
            ShellSyntax::Nu => b"^",
            _ => b"exec ",
        };
        let line = OsString::from_vec([run, &words.join(&b' ')].concat());
        match self.syntax {
            // It accepts `-l` only without other arguments.
            ShellSyntax::Csh => vec!["-ic".into(), line],
            _ => vec!["-l".into(), "-i".into(), "-c".into(), line],
        }
    }

    /// Returns a word in the shell's quotes.
    fn quoted(&self, word: &[u8]) -> Vec<u8> {
        let (quote, escaped): (u8, &[(u8, &[u8])]) = match self.syntax {
            ShellSyntax::Fish => (b'\'', &[(b'\'', b"\\'"), (b'\\', b"\\\\")]),
            ShellSyntax::Nu => (b'"', &[(b'"', b"\\\""), (b'\\', b"\\\\")]),
            ShellSyntax::Csh => (b'\'', &[(b'\'', b"'\\''"), (b'!', b"\\!")]),
            ShellSyntax::Posix | ShellSyntax::Zsh | ShellSyntax::Bash => {
                (b'\'', &[(b'\'', b"'\\''")])
            }
        };
        let mut quoted = vec![quote];
        for byte in word {
            match escaped.iter().find(|(from, _)| from == byte) {
                Some((_, to)) => quoted.extend_from_slice(to),
                None => quoted.push(*byte),
            }
        }
        quoted.push(quote);
        quoted
    }

    /// Returns the files from which the shell may take its environment. `variable` looks a variable
    /// up in the environment that they resulted in.
    pub(super) fn start_up_files(
        &self,
        home: &Path,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Vec<PathBuf> {
        let config =
            variable("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
        let below = |folder: &Path, names: &[&str]| -> Vec<PathBuf> {
            names.iter().map(|name| folder.join(name)).collect()
        };
        let mut files = below(Path::new("/etc"), &["profile", "paths", "paths.d"]);
        files.extend(match self.syntax {
            ShellSyntax::Posix => below(home, &[".profile", ".kshrc", ".shrc"]),
            ShellSyntax::Bash => below(
                home,
                &[".bash_profile", ".bash_login", ".profile", ".bashrc"],
            ),
            ShellSyntax::Zsh => {
                let names = [".zshenv", ".zprofile", ".zshrc", ".zlogin"];
                let mut files = below(home, &names);
                // Often set in `.zshenv` only.
                if let Some(folder) = variable("ZDOTDIR") {
                    files.extend(below(Path::new(&folder), &names));
                }
                files.extend(below(Path::new("/etc"), &["zshenv", "zprofile", "zshrc"]));
                files
            }
            ShellSyntax::Fish => below(
                &config.join("fish"),
                &["config.fish", "conf.d", "fish_variables"],
            ),
            ShellSyntax::Nu => {
                let names = ["env.nu", "config.nu", "login.nu"];
                let mut files = below(&config.join("nushell"), &names);
                files.extend(below(
                    &home.join("Library/Application Support/nushell"),
                    &names,
                ));
                files
            }
            ShellSyntax::Csh => below(home, &[".cshrc", ".tcshrc", ".login"]),
        });
        files
    }
}

/// Returns the shell in the user record.
#[expect(unsafe_code, reason = "the user record has no safe wrapper here")]
fn recorded_shell() -> Option<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let mut buffer = vec![0; 16 << 10];
    let mut found = std::ptr::null_mut();
    // SAFETY: an all-zero record is valid, and all pointers outlive the call. On success the
    // record's texts are in the buffer and end with a null byte.
    unsafe {
        let mut record: libc::passwd = std::mem::zeroed();
        let length = buffer.len();
        let text = buffer.as_mut_ptr();
        let failed = libc::getpwuid_r(user, &raw mut record, text, length, &raw mut found);
        if failed != 0 || found.is_null() || record.pw_shell.is_null() {
            return None;
        }
        let shell = CStr::from_ptr(record.pw_shell).to_bytes();
        let shell = PathBuf::from(OsStr::from_bytes(shell));
        shell.is_absolute().then_some(shell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(program: &str, words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let arguments = LoginShell::new(program.into()).arguments(&words);
        let arguments = arguments.iter().map(|word| word.to_string_lossy());
        arguments.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_shell_has_its_own_options_and_quotes() {
        let words = ["/a b/it's", r"\x"];
        for (program, expected) in [
            ("/bin/zsh", r"-l -i -c exec '/a b/it'\''s' '\x'"),
            ("/bin/bash", r"-l -i -c exec '/a b/it'\''s' '\x'"),
            (
                "/opt/homebrew/bin/fish",
                r"-l -i -c exec '/a b/it\'s' '\\x'",
            ),
            ("/usr/local/bin/nu", r#"-l -i -c ^"/a b/it's" "\\x""#),
            ("/bin/tcsh", r"-ic exec '/a b/it'\''s' '\x'"),
            ("/bin/dash", r"-l -i -c exec '/a b/it'\''s' '\x'"),
        ] {
            assert_eq!(line(program, &words), expected, "{program}");
        }
    }

    #[test]
    fn start_up_files_follow_zdotdir() {
        let shell = LoginShell::new("/bin/zsh".into());
        let variable = |name: &str| (name == "ZDOTDIR").then(|| OsString::from("/z"));
        let files = shell.start_up_files(Path::new("/h"), &variable);
        for file in ["/h/.zshenv", "/z/.zshrc", "/etc/zprofile"] {
            assert!(files.contains(&PathBuf::from(file)), "{file}");
        }
    }

    #[test]
    fn the_user_record_names_a_shell() {
        // A record without a shell is valid too.
        assert!(recorded_shell().is_none_or(|shell| shell.is_absolute()));
    }
}
