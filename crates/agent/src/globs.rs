//! Globs over paths separated by `/`: `*.rs` in any folder, `src/**` below src, `a/b.txt` itself.

use globset::{GlobBuilder, GlobMatcher};

use crate::error::Error;

/// A compiled glob pattern.
#[derive(Clone, Debug)]
pub(crate) struct PathGlob(GlobMatcher);

impl PartialEq for PathGlob {
    fn eq(&self, other: &Self) -> bool {
        self.0.glob() == other.0.glob()
    }
}

impl Eq for PathGlob {}

impl PathGlob {
    /// Compiles a glob. A pattern without `/` matches the last component of a path; a `/` at the
    /// end matches everything below. `*` does not match `/`.
    ///
    /// # Errors
    ///
    /// `Error::InvalidGlob` with the reason.
    pub(crate) fn new(pattern: &str) -> Result<Self, Error> {
        let inner = pattern.strip_prefix("./").unwrap_or(pattern);
        let mut whole = if inner.trim_end_matches('/').contains('/') || inner == "**" {
            inner.to_owned()
        } else {
            format!("**/{inner}")
        };
        if whole.ends_with('/') {
            whole.push_str("**");
        }
        let glob = GlobBuilder::new(&whole)
            .literal_separator(true)
            .backslash_escape(true)
            .build();
        match glob {
            Ok(glob) => Ok(Self(glob.compile_matcher())),
            Err(error) => Err(Error::InvalidGlob {
                pattern: pattern.to_owned(),
                reason: error.kind().clone(),
            }),
        }
    }

    /// Returns whether the glob matches a path.
    pub(crate) fn matches(&self, path: impl AsRef<std::path::Path>) -> bool {
        self.0.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_components_and_subtrees() {
        let cases = [
            ("*.rs", "a.rs", true),
            ("*.rs", "src/deep/a.rs", true),
            ("*.rs", "a.rst", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("src/**", "src/deep/a.rs", true),
            ("src/**", "lib/src/a.rs", false),
            ("src/", "src/a.rs", true),
            ("**/*.{rs,toml}", "a/b.toml", true),
            ("./src/a.rs", "src/a.rs", true),
            ("**", "any/thing", true),
            (".env", "deep/.env", true),
            ("/home/me/.ssh/**", "/home/me/.ssh/id", true),
            ("[ab].txt", "b.txt", true),
            ("[ab].txt", "c.txt", false),
            ("src/[!ab]/*", "src/c/x", true),
            ("src/[!ab]/*", "src/a/x", false),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/x/y/a.rs", true),
            ("src/**/*.rs", "srcs/a.rs", false),
            ("{app,lib}/**/*.{ts,js}", "lib/x/a.js", true),
            ("{app,lib}/**/*.{ts,js}", "src/x/a.js", false),
            ("docs/", "docs/a/b.md", true),
            ("docs/", "doc/a.md", false),
            ("a?c", "abc", true),
            ("a?c/x", "a/c/x", false),
            ("*", "x/y", true),
        ];
        for (glob, path, expected) in cases {
            let glob = PathGlob::new(glob).expect("a glob");
            assert_eq!(glob.matches(path), expected, "{glob:?} {path}");
        }
        let error = PathGlob::new("{a").expect_err("no glob");
        assert!(error.to_string().contains("{a"));
    }
}
