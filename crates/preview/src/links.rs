//! The targets of links and images in a document.
//!
//! Invariant: only addresses of the web and of mail, and paths, are targets; every other scheme is refused.
//! Start at `PreviewLink::of`.

use base::AbsPath;

/// The target of a link or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreviewLink {
    /// An address of the schemes `http`, `https` or `mailto`, for the browser or the mail program.
    Web(String),
    /// A heading of the same document, as GitHub names them.
    Anchor(String),
    /// A file, with the heading or the line in it.
    File {
        /// The path, whether there is such a file or not.
        path: AbsPath,
        /// The text after `#`.
        fragment: Option<String>,
    },
    /// An address with another scheme.
    Refused(String),
}

/// Longest scheme that is named in a message.
const MAX_SCHEME: usize = 20;

impl PreviewLink {
    /// Classifies a target. Paths begin at `folder`, and those that begin with `/` at `root`. Returns `None` for a path
    /// of a document that has no folder, and for an empty target.
    pub fn of(target: &str, folder: Option<&AbsPath>, root: Option<&AbsPath>) -> Option<Self> {
        let target: String = target
            .trim()
            .chars()
            .filter(|it| !it.is_control())
            .collect();
        if let Some(anchor) = target.strip_prefix('#') {
            return Some(Self::Anchor(decoded(anchor)));
        }
        if let Some(scheme) = scheme(&target) {
            let scheme = scheme.to_ascii_lowercase();
            return Some(match scheme.as_str() {
                "http" | "https" | "mailto" => Self::Web(target),
                _ => Self::Refused(scheme.chars().take(MAX_SCHEME).collect()),
            });
        }
        if target.starts_with("//") {
            return Some(Self::Web(format!("https:{target}")));
        }
        let (path, fragment) = match target.split_once('#') {
            Some((path, fragment)) => (path, Some(decoded(fragment))),
            None => (target.as_str(), None),
        };
        let path = path.split('?').next().unwrap_or_default();
        if path.is_empty() {
            return None;
        }
        let path = decoded(path);
        let path = match path.strip_prefix('/') {
            Some(inner) => root.or(folder)?.join(inner.trim_start_matches('/')),
            None => folder?.join(&path),
        };
        Some(Self::File { path, fragment })
    }
}

/// Returns the scheme of an address; `None` for a path.
fn scheme(target: &str) -> Option<&str> {
    let (scheme, _) = target.split_once(':')?;
    let is_scheme = scheme.starts_with(|it: char| it.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.'));
    is_scheme.then_some(scheme)
}

/// Replaces `%20` and the like. Sequences that are no UTF-8, and the null byte, stay as they are.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let value = digits.and_then(|it| u8::from_str_radix(it, 16).ok());
        match value.filter(|value| *value != 0) {
            Some(value) => {
                decoded.push(value);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

/// Returns the name by which links address a heading, as GitHub makes it.
pub fn anchor_of(heading: &str) -> String {
    let letters = heading.trim().chars().flat_map(char::to_lowercase);
    let kept = letters.filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    kept.map(|it| if it == ' ' { '-' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use base::AbsPath;

    use super::{PreviewLink, anchor_of};

    fn check(target: &str, expected: &str) {
        let root = AbsPath::new("/p").expect("absolute");
        let folder = root.join("docs");
        let link = PreviewLink::of(target, Some(&folder), Some(&root));
        let shown = match link {
            Some(PreviewLink::Web(address)) => format!("web {address}"),
            Some(PreviewLink::Anchor(anchor)) => format!("anchor {anchor}"),
            Some(PreviewLink::File { path, fragment }) => {
                format!("file {} {}", path.name(), fragment.unwrap_or_default())
                    .trim_end()
                    .replace(&path.name(), &path.printable())
            }
            Some(PreviewLink::Refused(scheme)) => format!("refused {scheme}"),
            None => "none".to_owned(),
        };
        assert_eq!(shown, expected, "{target}");
    }

    #[test]
    fn targets_are_classified() {
        check("https://a.b/c#d", "web https://a.b/c#d");
        check("MAILTO:a@b", "web MAILTO:a@b");
        check("//a.b/c", "web https://a.b/c");
        check("#the-end", "anchor the-end");
        check("a%20b.md#c", "file /p/docs/a b.md c");
        check("../x.png?raw=true", "file /p/x.png");
        check("/x.png", "file /p/x.png");
        check("//", "web https://");
        check("", "none");
        check("?a", "none");
    }

    #[test]
    fn other_schemes_are_refused() {
        check("javascript:alert(1)", "refused javascript");
        check(" java\nscript:alert(1)", "refused javascript");
        check("file:///etc/passwd", "refused file");
        check("data:text/html,x", "refused data");
        check("vscode://x", "refused vscode");
        check("C:\\a", "refused c");
    }

    #[test]
    fn headings_have_the_names_of_github() {
        assert_eq!(anchor_of("What's new? (v1.2)"), "whats-new-v12");
        assert_eq!(anchor_of("Über  uns_x"), "über--uns_x");
    }
}
