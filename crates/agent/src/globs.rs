//! Globs over paths with `/`: `*.rs` in any folder, `src/**` below src, `a/b.txt` itself.

use globset::{GlobBuilder, GlobMatcher};

/// A glob that is ready to be asked.
#[derive(Clone, Debug)]
pub(crate) struct Glob(GlobMatcher);

impl Glob {
    /// Reads a glob. Without a `/` it means the last part of a path; a `/` at its end means all that lies
    /// below. `*` does not match a `/`.
    ///
    /// # Errors
    /// A sentence when it is none.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let inner = pattern.strip_prefix("./").unwrap_or(pattern);
        let mut whole = match inner.trim_end_matches('/').contains('/') || inner == "**" {
            true => inner.to_owned(),
            false => format!("**/{inner}"),
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

    /// Whether a path matches.
    pub(crate) fn matches(&self, path: impl AsRef<std::path::Path>) -> bool {
        self.0.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_mean_what_people_expect() {
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
            let glob = Glob::new(glob).expect("a glob");
            assert_eq!(glob.matches(path), expected, "{glob:?} {path}");
        }
        assert!(Glob::new("{a").expect_err("no glob").contains("{a"));
    }
}
