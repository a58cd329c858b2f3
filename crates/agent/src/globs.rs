//! Globs over paths separated by `/`: `*.rs` in any folder, `src/**` below src, `a/b.txt` itself.

use globset::{GlobBuilder, GlobMatcher};

/// A compiled glob pattern.
#[derive(Clone, Debug)]
pub(crate) struct PathGlob(GlobMatcher);

impl PathGlob {
    /// Compiles a glob. A pattern without `/` matches the last component of a path; a `/` at the
    /// end matches everything below. `*` does not match `/`.
    ///
    /// # Errors
    ///
    /// The reason, as a sentence, when the pattern is invalid.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
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
            Err(error) => Err(format!(
                "cannot read the glob \"{pattern}\": {}",
                error.kind()
            )),
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
        ];
        for (glob, path, expected) in cases {
            let glob = PathGlob::new(glob).expect("a glob");
            assert_eq!(glob.matches(path), expected, "{glob:?} {path}");
        }
        assert!(PathGlob::new("{a").expect_err("no glob").contains("{a"));
    }
}
