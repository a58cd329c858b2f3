//! Shell integration: files that make a shell mark its prompts, commands and folder.
//!
//! Invariant: no file of the user is changed; the shell still reads all of them.
//! Invariant: a prompt that another integration marks is not changed.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use base::AbsPath;
use host::{Error, Files};

/// A shell that has an integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellKind {
    /// Bash, 4.4 or later.
    Bash,
    /// Zsh.
    Zsh,
    /// Fish.
    Fish,
}

/// The arguments and variables that load the integration into one shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellIntegration {
    /// The shell.
    pub kind: ShellKind,
    /// Proves that a command line was reported by the shell.
    pub nonce: String,
    /// Arguments before those of the user.
    pub arguments: Vec<OsString>,
    /// Variables that replace those of the environment.
    pub variables: Vec<(OsString, OsString)>,
}

/// The files, by their paths below the folder of the integration.
const FILES: [(&str, &str); 3] = [
    (BASH_FILE, include_str!("integration/burin.bash")),
    (ZSH_FILE, include_str!("integration/burin.zsh")),
    (FISH_FILE, include_str!("integration/burin.fish")),
];

const BASH_FILE: &str = "bash/burin.bash";
const ZSH_FILE: &str = "zsh/.zshenv";
const FISH_FILE: &str = "fish/fish/vendor_conf.d/burin.fish";

/// Folders in which fish looks for data if the environment names none.
const DATA_FOLDERS: &str = "/usr/local/share:/usr/share";

impl ShellKind {
    /// Returns the kind of a shell by the name of its program; `None` if it has no integration.
    pub fn of(program: &OsStr) -> Option<Self> {
        match Path::new(program).file_name()?.to_str()? {
            "bash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            "fish" => Some(Self::Fish),
            _ => None,
        }
    }
}

/// Writes the integration's files to `folder`, which belongs to Burin, unless they are there already.
///
/// # Errors
/// A file cannot be written.
pub fn install_integration(files: &dyn Files, folder: &AbsPath) -> Result<(), Error> {
    for (name, content) in FILES {
        let path = folder.join(name);
        let limit = 2 * content.len() as u64;
        let is_there = files
            .read(&path, limit)
            .is_ok_and(|found| found == content.as_bytes());
        if !is_there {
            if let Some(parent) = path.parent() {
                files.create_folder(&parent)?;
            }
            files.write_private(&path, content.as_bytes())?;
        }
    }
    Ok(())
}

/// Returns the integration of a shell from the files in `folder`. `nonce` is a secret of at least 16 random letters and
/// digits, `variables` the environment of the shell.
pub fn integrate(
    kind: ShellKind,
    folder: &AbsPath,
    nonce: String,
    variables: &[(OsString, OsString)],
) -> ShellIntegration {
    let own = |name: &str, value: OsString| (OsString::from(name), value);
    let inherited = |name: &str| {
        let found = variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    let mut arguments = Vec::new();
    let mut set = vec![own("BURIN_SHELL_NONCE", nonce.clone().into())];
    match kind {
        ShellKind::Bash => {
            arguments = vec![
                "--init-file".into(),
                folder.join(BASH_FILE).as_path().into(),
            ];
        }
        ShellKind::Zsh => {
            if let Some(user) = inherited("ZDOTDIR") {
                set.push(own("BURIN_USER_ZDOTDIR", user));
            }
            set.push(own("ZDOTDIR", folder.join("zsh").as_path().into()));
        }
        ShellKind::Fish => {
            let user = inherited("XDG_DATA_DIRS");
            let own_data = folder.join("fish");
            let mut folders = own_data.as_path().as_os_str().to_owned();
            folders.push(":");
            folders.push(user.as_deref().unwrap_or(OsStr::new(DATA_FOLDERS)));
            set.push(own("XDG_DATA_DIRS", folders));
            set.push(own("BURIN_DATA_DIR", own_data.as_path().into()));
            let is_set = if user.is_some() { "1" } else { "" };
            set.push(own("BURIN_HAD_DATA_DIRS", is_set.into()));
        }
    }
    ShellIntegration {
        kind,
        nonce,
        arguments,
        variables: set,
    }
}

#[cfg(test)]
mod tests;
