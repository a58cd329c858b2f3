//! File name patterns: an exact name, or a name with one `*` that matches any text.

/// Returns whether a file name matches a pattern. The text that `*` matches is not empty.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => {
            name.len() > start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn one_star_matches_any_text() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        };
        check("Dockerfile", "Dockerfile", true);
        check("Dockerfile", "Dockerfile.dev", false);
        check("Dockerfile.*", "Dockerfile.dev", true);
        check("*.zig", "main.zig", true);
        check("*.zig", ".zig", false);
        check("*.zig", "main.zigs", false);
        check("a*a", "a", false);
    }
}
