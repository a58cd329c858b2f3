//! Git configuration files, parsed into keys and values.
//!
//! Limitations: every `includeIf` counts as active. Nothing is refused: any text that is neither a
//! header nor a comment becomes an entry, so that `??? x` below `[core]` gives the key `core.??? x`
//! with the value `true`, although git refuses such a file.

/// Maximum number of included files, and maximum include depth.
pub(super) const MAX_FILES: usize = 64;

/// One assignment of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigEntry {
    /// Section, subsection and name joined by dots; section and name in lower case.
    pub(super) key: String,
    /// `true` if the line has no value.
    pub(super) value: String,
}

impl ConfigEntry {
    /// Returns the part before the first dot.
    pub(super) fn section(&self) -> &str {
        self.key.split('.').next().unwrap_or_default()
    }

    /// Returns the part after the last dot.
    pub(super) fn name(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or_default()
    }
}

/// Parses a configuration file. Never fails; see the limitations above.
pub(super) fn parse(text: &[u8]) -> Vec<ConfigEntry> {
    let text = String::from_utf8_lossy(text);
    let mut letters = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut section = String::new();
    let mut entries = Vec::new();
    while let Some(letter) = letters.peek().copied() {
        match letter {
            '[' => {
                letters.next();
                section = header(&mut letters);
            }
            '#' | ';' => while letters.next().is_some_and(|letter| letter != '\n') {},
            letter if letter.is_whitespace() => {
                letters.next();
            }
            _ => {
                let (name, value) = assignment(&mut letters);
                entries.push(ConfigEntry {
                    key: format!("{section}.{}", name.to_ascii_lowercase()),
                    value,
                });
            }
        }
    }
    entries
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Parses a section header after `[`, up to and including `]` or the end of the line. Returns the
/// section in lower case, then a dot and the subsection if there is one.
fn header(letters: &mut Letters<'_>) -> String {
    let mut section = String::new();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            ']' if !is_quoted => break,
            '\n' => break,
            '"' => {
                if !is_quoted {
                    section.push('.');
                }
                is_quoted = !is_quoted;
            }
            '\\' if is_quoted => section.extend(letters.next()),
            ' ' | '\t' if !is_quoted => {}
            letter if is_quoted => section.push(letter),
            letter => section.extend(letter.to_lowercase()),
        }
    }
    section
}

/// Parses one assignment up to the end of its line or value: the name as written, without the
/// blanks around it, and the value. A name without `=` has the value `true`.
fn assignment(letters: &mut Letters<'_>) -> (String, String) {
    let mut name = String::new();
    while let Some(letter) = letters.next_if(|letter| !matches!(letter, '=' | '\n' | '#' | ';')) {
        name.push(letter);
    }
    let name = name.trim().to_owned();
    if letters.next_if_eq(&'=').is_none() {
        return (name, "true".to_owned());
    }
    (name, value(letters))
}

fn value(letters: &mut Letters<'_>) -> String {
    let mut value = String::new();
    let mut is_quoted = false;
    // Trailing blanks do not belong to the value, unless they are quoted.
    let mut length = 0;
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => break,
            '#' | ';' if !is_quoted => {
                while letters.next().is_some_and(|letter| letter != '\n') {}
                break;
            }
            '"' => is_quoted = !is_quoted,
            '\\' => match letters.next() {
                Some('\n') => {}
                Some('\r') => {
                    letters.next_if_eq(&'\n');
                }
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(other) => value.push(other),
                None => break,
            },
            letter if letter.is_whitespace() && value.is_empty() && !is_quoted => continue,
            letter => value.push(letter),
        }
        let is_blank = letter.is_whitespace() && !is_quoted;
        if !is_blank {
            length = value.len();
        }
    }
    value.truncate(length);
    value
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let entries = parse(text.as_bytes());
        let found: Vec<(&str, &str)> = entries
            .iter()
            .map(|entry| (entry.key.as_str(), entry.value.as_str()))
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn configuration_is_read_as_git_reads_it() {
        check("", &[]);
        check("[core]\n\tbare = false\n", &[("core.bare", "false")]);
        check("[CORE] HooksPath = x", &[("core.hookspath", "x")]);
        check("[core]\nfsmonitor\n", &[("core.fsmonitor", "true")]);
        check(
            "[remote \"A.b\"]\n url = u # no\n",
            &[("remote.A.b.url", "u")],
        );
        check("[a]\n b = \"c # d\" e ; f\n", &[("a.b", "c # d e")]);
        check(
            "[a]\n b = c\\\n d\n e = f\n",
            &[("a.b", "c d"), ("a.e", "f")],
        );
        check("[a \"x\\\"y\"]\nb=1\r\n", &[("a.x\"y.b", "1")]);
        check("\u{feff}[a]\nb = \" c \"\n", &[("a.b", " c ")]);
        check(
            "[alias]\n x = \"!f() { ./y; }; f\"\n",
            &[("alias.x", "!f() { ./y; }; f")],
        );
    }
}
