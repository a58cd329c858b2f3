//! Checks of files by the programs that systems use to read them.

use std::fs;
use std::path::Path;

use crate::contents::PackageContents;
use crate::error::Error;
use crate::package_tree::PackageTree;
use crate::tools;

/// A check of the files whose paths have a beginning and an end.
struct FileCheck {
    program: &'static str,
    arguments: &'static [&'static str],
    starts: &'static str,
    ends: &'static str,
    allowed: AllowedOutput,
}

/// The texts that a program may print about a good file: some programs report problems and succeed.
#[derive(Clone, Copy)]
enum AllowedOutput {
    Anything,
    /// Nothing on the standard error.
    NoErrors,
    Nothing,
}

const CHECKS: &[FileCheck] = &[
    FileCheck {
        program: "desktop-file-validate",
        arguments: &["--no-hints"],
        starts: "usr/share/applications/",
        ends: ".desktop",
        allowed: AllowedOutput::Nothing,
    },
    FileCheck {
        program: "appstreamcli",
        arguments: &["validate", "--no-net"],
        starts: "usr/share/metainfo/",
        ends: ".metainfo.xml",
        allowed: AllowedOutput::Anything,
    },
    FileCheck {
        program: "bash",
        arguments: &["-n"],
        starts: "usr/share/bash-completion/completions/",
        ends: "",
        allowed: AllowedOutput::Nothing,
    },
    FileCheck {
        program: "zsh",
        arguments: &["-n"],
        starts: "usr/share/zsh/vendor-completions/",
        ends: "",
        allowed: AllowedOutput::Nothing,
    },
    FileCheck {
        program: "fish",
        arguments: &["-n"],
        starts: "usr/share/fish/vendor_completions.d/",
        ends: ".fish",
        allowed: AllowedOutput::Nothing,
    },
    FileCheck {
        program: "man",
        arguments: &["--warnings", "--local-file", "-Tutf8", "-Z"],
        starts: "usr/share/man/man1/",
        ends: ".gz",
        allowed: AllowedOutput::NoErrors,
    },
];

/// Checks the files of the Debian package, which have all forms. Works in `folder`, which does not exist. Returns a sentence
/// for each check that a missing program prevents.
pub(crate) fn check(contents: &PackageContents, folder: &Path) -> Result<Vec<String>, Error> {
    let tree = contents.debian()?;
    tree.write(folder)?;
    let mut missing = Vec::new();
    for it in CHECKS {
        // The manual reader of macOS does not know these options.
        let is_usable = it.program != "man" || std::env::consts::OS == "linux";
        if is_usable && tools::find(it.program).is_some() {
            it.run(&tree, folder)?;
        } else {
            let (starts, program) = (it.starts, it.program);
            missing.push(format!(
                "{starts} was not checked: this system has no suitable {program}"
            ));
        }
    }
    fs::remove_dir_all(folder).map_err(Error::io("remove", folder))?;
    Ok(missing)
}

impl FileCheck {
    fn run(&self, tree: &PackageTree, folder: &Path) -> Result<(), Error> {
        let paths = tree.files().map(|(path, _)| path);
        let paths = paths.filter(|it| it.starts_with(self.starts) && it.ends_with(self.ends));
        for path in paths {
            let mut command = tools::command(self.program);
            command.args(self.arguments).arg(folder.join(path));
            let printed = tools::printed(&mut command, "It was found before")?;
            let problem = match self.allowed {
                AllowedOutput::Anything => String::new(),
                AllowedOutput::NoErrors => printed.errors,
                AllowedOutput::Nothing => printed.errors + &printed.output,
            };
            if !problem.is_empty() {
                return Err(Error::ToolFailed {
                    program: format!("{} of {path}", self.program),
                    output: problem,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{AllowedOutput, FileCheck};
    use crate::package_tree::PackageTree;

    fn is_good(text: &str, allowed: AllowedOutput) -> bool {
        let mut tree = PackageTree::default();
        tree.add("usr/share/a/one.txt", text);
        tree.add("usr/share/b/two.txt", "exit 1\n");
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("tree");
        tree.write(&folder).expect("written");
        let check = FileCheck {
            program: "sh",
            arguments: &[],
            starts: "usr/share/a/",
            ends: ".txt",
            allowed,
        };
        check.run(&tree, &folder).is_ok()
    }

    #[test]
    fn failures_and_unwanted_output_end_a_check() {
        use AllowedOutput::{Anything, NoErrors, Nothing};
        for (text, allowed, expected) in [
            ("true\n", Nothing, true),
            ("exit 3\n", Anything, false),
            ("echo words\n", Anything, true),
            ("echo words\n", NoErrors, true),
            ("echo words\n", Nothing, false),
            ("echo words >&2\n", NoErrors, false),
        ] {
            assert_eq!(is_good(text, allowed), expected, "{text}");
        }
    }
}
