//! Licence expressions of SPDX, as crates write them, and the licences that packages may contain.

/// Licences under which Burin may be passed on with its own, without conditions on its source. MPL-2.0 asks for the source
/// of its own files alone, which the crates' registry offers.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "OFL-1.1",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// Returns an expression in the form of SPDX: older crates write `MIT/Apache-2.0`.
pub(crate) fn normalized(expression: &str) -> String {
    let spaced = expression.replace('/', " OR ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether an expression permits packages: by one of its alternatives, and by all licences that it joins.
/// An expression that cannot be read does not.
pub(crate) fn is_allowed(expression: &str) -> bool {
    let text = normalized(expression)
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut words = Words(text.split_whitespace().collect());
    words.0.reverse();
    let is_allowed = words.alternatives();
    is_allowed == Some(true) && words.0.is_empty()
}

/// The words that are still to be read, the next one last.
struct Words<'a>(Vec<&'a str>);

impl Words<'_> {
    fn takes(&mut self, word: &str) -> bool {
        let is_next = self.0.last() == Some(&word);
        if is_next {
            self.0.pop();
        }
        is_next
    }

    fn alternatives(&mut self) -> Option<bool> {
        let mut is_allowed = self.joined()?;
        while self.takes("OR") {
            is_allowed |= self.joined()?;
        }
        Some(is_allowed)
    }

    fn joined(&mut self) -> Option<bool> {
        let mut is_allowed = self.licence()?;
        while self.takes("AND") {
            is_allowed &= self.licence()?;
        }
        Some(is_allowed)
    }

    fn licence(&mut self) -> Option<bool> {
        if self.takes("(") {
            let is_allowed = self.alternatives()?;
            return self.takes(")").then_some(is_allowed);
        }
        let name = self.0.pop()?;
        // An exception only adds permissions.
        if self.takes("WITH") {
            self.0.pop()?;
        }
        Some(ALLOWED.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::{is_allowed, normalized};

    #[test]
    fn alternatives_need_one_allowed_licence_and_joins_all() {
        for (expression, expected) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("Apache-2.0 / MIT / MPL-2.0", true),
            ("Apache-2.0 OR GPL-2.0-only", true),
            ("Apache-2.0 AND GPL-2.0-only", false),
            ("(Apache-2.0 OR MIT) AND BSD-3-Clause", true),
            ("(GPL-3.0 OR AGPL-3.0) AND MIT", false),
            ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
            ("GPL-3.0-or-later", false),
            ("", false),
            ("MIT OR", false),
            ("(MIT", false),
            ("MIT Apache-2.0", false),
        ] {
            assert_eq!(is_allowed(expression), expected, "{expression}");
        }
    }

    #[test]
    fn slashes_become_alternatives() {
        assert_eq!(normalized("MIT/Apache-2.0"), "MIT OR Apache-2.0");
        assert_eq!(normalized("Apache-2.0 / MIT"), "Apache-2.0 OR MIT");
    }
}
