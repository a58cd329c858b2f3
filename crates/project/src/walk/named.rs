//! Matches single paths against a set of globs, without a walk.

use std::path::Path;

use base::AbsPath;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::BadGlob;

/// A compiled set of globs over paths with the rules of `.gitignore`: a glob with a slash is
/// relative to the folder, another one matches in any folder.
#[derive(Clone, Debug)]
pub struct NamedFiles {
    folder: Option<(AbsPath, Gitignore)>,
    /// Rules for files outside the folder.
    anywhere: Gitignore,
}

impl NamedFiles {
    /// Parses globs, relative to `folder`, if there is one, and to `/` for other files. Invalid
    /// ones match nothing and are returned.
    pub fn new(folder: Option<&AbsPath>, globs: &[String]) -> (Self, Vec<BadGlob>) {
        let mut bad = Vec::new();
        let anywhere = build("/", globs, &mut bad);
        let folder = folder.map(|folder| {
            let built = build(folder.as_path(), globs, &mut Vec::new());
            (folder.clone(), built)
        });
        (Self { folder, anywhere }, bad)
    }

    /// Returns whether a glob matches the file or one of its parent folders. A later negated glob
    /// (`!`) re-includes the file. Does not access the disk.
    pub fn matches(&self, path: &AbsPath) -> bool {
        let globs = match &self.folder {
            Some((folder, globs)) if path.is_within(folder) && path != folder => globs,
            _ => &self.anywhere,
        };
        globs
            .matched_path_or_any_parents(path.as_path(), false)
            .is_ignore()
    }
}

fn build(root: impl AsRef<Path>, globs: &[String], bad: &mut Vec<BadGlob>) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root);
    for glob in globs {
        if let Err(error) = builder.add_line(None, glob) {
            bad.push(BadGlob {
                glob: glob.clone(),
                reason: error.to_string(),
            });
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::NamedFiles;
    use base::AbsPath;

    #[test]
    fn globs_match_files_and_folder_contents() {
        let path = |text: &str| AbsPath::new(text).expect("absolute");
        let globs = ["**/.env*", "gen/*.rs", "**/secrets/**", "{a", "*.md"];
        let globs = globs.map(str::to_owned);
        let (named, bad) = NamedFiles::new(Some(&path("/home/a/p")), &globs);
        assert_eq!(bad.len(), 1);
        assert_eq!(bad[0].glob, "{a");
        for is_in in [
            "/home/a/p/.env",
            "/home/a/p/x/.env.local",
            "/home/a/p/gen/a.rs",
            "/home/a/p/x/secrets/deep/a.txt",
            "/elsewhere/.env",
            "/home/a/p/x/readme.md",
        ] {
            assert!(named.matches(&path(is_in)), "{is_in}");
        }
        for is_out in ["/home/a/p/x/gen/a.rs", "/home/a/p/env", "/elsewhere/a.rs"] {
            assert!(!named.matches(&path(is_out)), "{is_out}");
        }
    }
}
