//! Glob matching for rules.

/// Returns whether `path`, relative with `/`, matches a glob. `*` stays within a folder, `**` does
/// not, `{a,b}` is a choice. A glob without a slash matches the file name in any folder.
pub(crate) fn glob_matches(glob: &str, path: &str) -> bool {
    let glob = glob.trim_start_matches("./").trim_start_matches('/');
    if glob.is_empty() {
        return false;
    }
    alternatives(glob).iter().any(|glob| {
        let whole = match glob.strip_suffix('/') {
            Some(folder) => format!("{folder}/**"),
            None => glob.clone(),
        };
        if whole.contains('/') {
            return matches(whole.as_bytes(), path.as_bytes());
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        matches(whole.as_bytes(), name.as_bytes()) || whole == "**"
    })
}

/// Expands the braces of a glob; at most 64 results.
fn alternatives(glob: &str) -> Vec<String> {
    let mut whole = vec![glob.to_owned()];
    loop {
        let Some(ix) = whole.iter().position(|glob| braces(glob).is_some()) else {
            return whole;
        };
        let glob = whole.swap_remove(ix);
        let Some((open, close)) = braces(&glob) else {
            return whole;
        };
        for choice in glob[open + 1..close].split(',') {
            whole.push(format!("{}{choice}{}", &glob[..open], &glob[close + 1..]));
        }
        if whole.len() > 64 {
            return whole;
        }
    }
}

/// Returns the innermost pair of braces.
fn braces(glob: &str) -> Option<(usize, usize)> {
    let close = glob.find('}')?;
    let open = glob[..close].rfind('{')?;
    Some((open, close))
}

/// Runs in time bounded by the product of the lengths: one pass over the path per glob character.
fn matches(glob: &[u8], path: &[u8]) -> bool {
    // `row[at]` says whether the glob so far matches the path up to `at`.
    let mut row: Vec<bool> = vec![false; path.len() + 1];
    row[0] = true;
    let mut rest = glob;
    while let Some((sign, more)) = rest.split_first() {
        rest = more;
        let mut next = vec![false; path.len() + 1];
        if *sign == b'*' && rest.first() == Some(&b'*') {
            rest = &rest[1..];
            // `**/` also matches no folder at all.
            let skips_slash = rest.first() == Some(&b'/');
            let mut reached = false;
            for at in 0..=path.len() {
                let begins = at == 0 || path[at - 1] == b'/';
                if skips_slash {
                    next[at] = row[at] || (reached && begins);
                } else {
                    next[at] = row[at] || reached;
                }
                reached |= row[at];
            }
            if skips_slash {
                rest = &rest[1..];
            }
        } else if *sign == b'*' {
            let mut reached = false;
            for at in 0..=path.len() {
                if at > 0 && path[at - 1] == b'/' {
                    reached = false;
                }
                reached |= row[at];
                next[at] = reached;
            }
        } else {
            for at in 0..path.len() {
                let fits = *sign == path[at] || (*sign == b'?' && path[at] != b'/');
                next[at + 1] = row[at] && fits;
            }
        }
        row = next;
    }
    row[path.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_by_example() {
        let check = |glob: &str, path: &str, expected: bool| {
            assert_eq!(glob_matches(glob, path), expected, "{glob} on {path}");
        };
        check("*.rs", "a.rs", true);
        check("*.rs", "src/deep/a.rs", true);
        check("src/*.rs", "src/a.rs", true);
        check("src/*.rs", "src/deep/a.rs", false);
        check("src/**", "src/deep/a.rs", true);
        check("src/**/*.rs", "src/a.rs", true);
        check("src/**/*.rs", "src/x/y/a.rs", true);
        check("src/**/*.rs", "srcs/a.rs", false);
        check("**/*.ts", "a.ts", true);
        check("**/*.ts", "x/a.ts", true);
        check("*.{ts,tsx}", "x/a.tsx", true);
        check("{app,lib}/**/*.{ts,js}", "lib/x/a.js", true);
        check("{app,lib}/**/*.{ts,js}", "src/x/a.js", false);
        check("docs/", "docs/a/b.md", true);
        check("docs/", "doc/a.md", false);
        check("a?c", "abc", true);
        check("a?c/x", "a/c/x", false);
        check("**", "x/y", true);
        check("*", "x/y", true);
        check("", "x", false);
        check("./src/*.rs", "src/a.rs", true);
    }
}
