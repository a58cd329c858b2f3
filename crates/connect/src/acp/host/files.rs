//! Reads and writes files for a hosted agent, only below its root.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use base::AbsPath;
use host::{ExpectedContent, Files, SaveRequest};

use crate::error::Error;

/// Maximum size of a file to read, in bytes.
const MAX_FILE_LEN: u64 = 32 << 20;

/// The files a hosted agent can access.
#[derive(Clone)]
pub(super) struct AgentFiles {
    pub(super) files: Arc<dyn Files>,
    /// The root folder, with symlinks resolved.
    pub(super) root: AbsPath,
    pub(super) recovery: AbsPath,
}

impl AgentFiles {
    /// Reads a file, or `limit` of its lines from `line` on, counted from 1. Without a limit, reads
    /// to the end of the file. Blocks. Fails for paths outside the root and for files that are not
    /// text.
    pub(super) fn read(
        &self,
        path: &Path,
        line: Option<u32>,
        limit: Option<u32>,
    ) -> Result<String, Error> {
        let path = self.inside(path)?;
        let bytes = self.files.read(&path, MAX_FILE_LEN).map_err(refused)?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::Refused(format!("{} is not UTF-8 text", path.as_path().display()))
        })?;
        if line.is_none() && limit.is_none() {
            return Ok(text);
        }
        let first = line.unwrap_or(1).max(1) as usize - 1;
        let count = limit.map_or(usize::MAX, |limit| limit as usize);
        Ok(text.split_inclusive('\n').skip(first).take(count).collect())
    }

    /// Writes a file and creates missing folders. Blocks. Files that only the user may
    /// change are refused.
    pub(super) fn write(&self, path: &Path, content: &str) -> Result<(), Error> {
        let path = self.inside(path)?;
        let home = std::env::var_os("HOME").and_then(AbsPath::new);
        if let Some(sentence) = sandbox::refusal(&self.root, &path, home.as_ref()) {
            return Err(Error::Refused(sentence));
        }
        if let Some(folder) = path.parent() {
            self.files.create_folder(&folder).map_err(refused)?;
        }
        let request = SaveRequest {
            path: &path,
            content: content.as_bytes(),
            expected: ExpectedContent::Anything,
            recovery_folder: &self.recovery,
        };
        self.files.save(&request).map(|_| ()).map_err(refused)
    }

    /// Resolves a path, which must be below the root after following symlinks.
    fn inside(&self, path: &Path) -> Result<AbsPath, Error> {
        let shown = path.display();
        let outside = || {
            let root = self.root.as_path().display();
            Error::Refused(format!(
                "{shown} is not below {root}, where this agent works"
            ))
        };
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(outside());
        }
        let absolute = AbsPath::new(path)
            .ok_or_else(|| Error::Refused(format!("{shown} is not an absolute path")))?;
        let real = self.real(&absolute)?;
        if real.is_within(&self.root) {
            Ok(real)
        } else {
            Err(outside())
        }
    }

    /// Resolves symlinks; missing components at the end stay as written.
    fn real(&self, path: &AbsPath) -> Result<AbsPath, Error> {
        let mut missing: Vec<PathBuf> = Vec::new();
        let mut at = path.clone();
        loop {
            match self.files.canonicalize(&at) {
                Ok(real) => {
                    let rest = missing.iter().rev();
                    return Ok(rest.fold(real, |path, name| path.join(name)));
                }
                // A write would follow a dangling symlink, so it is not treated as missing.
                Err(error) if error.is_not_found() && !self.files.exists(&at) => {
                    let parent = at.parent().ok_or_else(|| refused(error))?;
                    missing.push(PathBuf::from(at.name()));
                    at = parent;
                }
                Err(error) => return Err(refused(error)),
            }
        }
    }
}

fn refused(error: host::Error) -> Error {
    Error::Refused(error.to_string())
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text).expect("absolute")
    }

    fn reach() -> AgentFiles {
        let files = FakeFiles::new();
        for folder in ["/project", "/project/src", "/other", "/state"] {
            files.folder(&path(folder));
        }
        files.write(&path("/project/src/a.txt"), "one\ntwo\nthree\n");
        files.write(&path("/other/secret"), "s");
        files.link(&path("/project/out"), "/other");
        files.link(&path("/project/dangling"), "/other/new");
        AgentFiles {
            files: Arc::new(files),
            root: path("/project"),
            recovery: path("/state"),
        }
    }

    #[test]
    fn lines_are_counted_from_one() {
        let check = |line, limit, expected: &str| {
            let found = reach().read(Path::new("/project/src/a.txt"), line, limit);
            assert_eq!(found.as_deref(), Ok(expected));
        };
        check(None, None, "one\ntwo\nthree\n");
        check(Some(2), None, "two\nthree\n");
        check(Some(0), Some(1), "one\n");
        check(Some(3), Some(9), "three\n");
        check(Some(9), None, "");
    }

    #[test]
    fn files_outside_the_root_are_refused() {
        let reach = reach();
        for outside in [
            "/other/secret",
            "/project/../other/secret",
            "/project/out/secret",
            "/project/out/new/file",
            "/project/dangling",
            "relative",
            "/projectshop/x",
        ] {
            let outside = Path::new(outside);
            assert!(
                reach.read(outside, None, None).is_err(),
                "{outside:?} was read"
            );
            assert!(
                reach.write(outside, "x").is_err(),
                "{outside:?} was written"
            );
        }
        assert_eq!(
            reach.files.read(&path("/other/secret"), 9).expect("a file"),
            b"s"
        );
        assert!(!reach.files.exists(&path("/other/new")));
    }

    #[test]
    fn files_that_run_programs_are_not_written() {
        let reach = reach();
        for path in [
            "/project/.git/hooks/pre-commit",
            "/project/.git/config",
            "/project/src/.GIT/config",
            "/project/.vscode/tasks.json",
            "/project/src/.envrc",
        ] {
            let refused = reach.write(Path::new(path), "x").expect_err(path);
            assert!(
                refused.to_string().contains("only the user may change it"),
                "{refused}"
            );
            assert!(!reach.files.exists(&self::path(path)), "{path}");
        }
    }

    #[test]
    fn a_new_file_gets_its_folders() {
        let reach = reach();
        reach
            .write(Path::new("/project/new/deep/b.txt"), "b")
            .expect("written");
        let found = reach.read(Path::new("/project/new/deep/b.txt"), None, None);
        assert_eq!(found.as_deref(), Ok("b"));
    }
}
