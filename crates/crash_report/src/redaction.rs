//! Removes from a report what belongs to the user: names, paths, addresses, secrets, quoted text.
//!
//! Limitations: a rule sees one word at a time, so a private word that looks like any other word stays unless it is
//! quoted. Reports are therefore shown before a user copies them.

use std::env;

/// Replacements.
const QUOTE: &str = "[text]";
const PATH: &str = "[path]";
const ADDRESS: &str = "[address]";
const SECRET: &str = "[secret]";
const USER: &str = "[user]";
const HOST: &str = "[host]";

/// Words of Rust's own messages that may stay between quotes.
const PLAIN_QUOTES: &[&str] = &[
    "Result::unwrap()",
    "Result::unwrap_err()",
    "Result::expect()",
    "Option::unwrap()",
    "Option::expect()",
    "Err",
    "None",
    "Ok",
    "Some",
    "left",
    "right",
    "left == right",
    "left != right",
    "async fn",
];

/// Folders whose names say nothing about a user: those of the system, and the sources of a release.
const PUBLIC_FOLDERS: &[&str] = &[
    "/burin/", "/cargo/", "/dev/", "/etc/", "/lib/", "/proc/", "/rustc/", "/sys/", "/target/",
    "/usr/",
];

/// Beginnings of common secrets.
const SECRET_STARTS: &[&str] = &[
    "AIza",
    "AKIA",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "hf_",
    "npm_",
    "pypi-",
    "sk-",
    "sk_",
    "xai-",
    "xoxb-",
    "xoxp-",
    "eyJ",
];

/// Shortest word that is a secret because it mixes letters and digits.
const SECRET_LENGTH: usize = 24;
/// Number of letters, and of digits, in such a word.
const MIXED: usize = 4;
/// Shortest name of a user or a host that is replaced: shorter ones are parts of other words.
const MIN_NAME: usize = 3;
/// Names that many machines have.
const COMMON_NAMES: &[&str] = &["root", "user", "burin", "localhost", "debian", "ubuntu"];

/// The names that a report must not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redaction {
    /// The home folder of the user.
    pub home: Option<String>,
    /// The name of the user.
    pub user: Option<String>,
    /// The name of the machine.
    pub host: Option<String>,
}

impl Redaction {
    /// Returns the names of this user and this machine.
    pub fn of_this_user() -> Self {
        let home = env::var("HOME").ok().filter(|home| home.len() > 1);
        let user = env::var("USER").or_else(|_| env::var("LOGNAME")).ok();
        Self {
            home,
            user,
            host: host::host_name(),
        }
    }

    /// Redacts the message of a panic, which may quote any text.
    pub fn message(&self, message: &str) -> String {
        self.words(&without_quotes(message), WordRules::Strict)
    }

    /// Redacts a text of the program about the machine: quotes and paths outside the home folder stay.
    pub fn text(&self, text: &str) -> String {
        self.words(text, WordRules::Own)
    }

    /// Redacts a backtrace: its words are names of functions and files of the program.
    pub fn backtrace(&self, backtrace: &str) -> String {
        self.words(backtrace, WordRules::Names)
    }

    fn words(&self, text: &str, rules: WordRules) -> String {
        let text = match &self.home {
            Some(home) => text.replace(home.trim_end_matches('/'), "~"),
            None => text.to_owned(),
        };
        let mut redacted = String::with_capacity(text.len());
        for word in text.split_inclusive(is_separator) {
            let bare = word
                .trim_end_matches(is_separator)
                .trim_end_matches([':', '.']);
            redacted.push_str(&self.word(bare, rules));
            redacted.push_str(&word[bare.len()..]);
        }
        redacted
    }

    fn word(&self, word: &str, rules: WordRules) -> String {
        if rules != WordRules::Names {
            if is_address(word) {
                return ADDRESS.to_owned();
            }
            if is_secret(word) {
                return SECRET.to_owned();
            }
        }
        if rules == WordRules::Strict && is_private_path(word) {
            return PATH.to_owned();
        }
        let names = [(&self.user, USER), (&self.host, HOST)];
        let mut word = word.to_owned();
        for (name, replacement) in names {
            let name = name.as_deref().unwrap_or_default();
            if name.len() >= MIN_NAME && !COMMON_NAMES.contains(&name) {
                word = without_name(&word, name, replacement);
            }
        }
        word
    }
}

/// The rules for the words of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordRules {
    /// For text that may come from anywhere.
    Strict,
    /// For the program's own text about the machine.
    Own,
    /// For names of functions and files: long ones are no secrets.
    Names,
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(
            letter,
            '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | '='
        )
}

/// Returns the text with the contents of its quotes replaced. A quote that is not closed ends with the text.
fn without_quotes(text: &str) -> String {
    let mut redacted = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_quote) {
        let (before, quoted) = rest.split_at(start);
        redacted.push_str(before);
        let mark = if quoted.starts_with('`') { '`' } else { '"' };
        let is_letter = quoted.starts_with('\'');
        let mark = if is_letter { '\'' } else { mark };
        let inside = &quoted[1..];
        // An apostrophe is no quote: `it's`. A quoted letter has one letter, or an escape.
        if is_letter && before.ends_with(char::is_alphanumeric) {
            redacted.push(mark);
            rest = inside;
            continue;
        }
        let end = closing(inside, mark);
        let content = &inside[..end];
        let shown = if PLAIN_QUOTES.contains(&content) {
            content
        } else {
            QUOTE
        };
        redacted.push_str(&format!("{mark}{shown}{mark}"));
        rest = inside.get(end + 1..).unwrap_or_default();
    }
    redacted.push_str(rest);
    redacted
}

fn is_quote(letter: char) -> bool {
    matches!(letter, '`' | '"' | '\'')
}

/// Returns the end of a quote. The text of a user may contain the mark, so a backquote ends with the last one of the
/// text if Rust's message ends there; other quotes end at the first mark that no backslash escapes.
fn closing(inside: &str, mark: char) -> usize {
    if mark == '`' && inside.ends_with('`') && !PLAIN_QUOTES.iter().any(|it| inside.starts_with(it))
    {
        return inside.len() - 1;
    }
    let mut is_escaped = false;
    for (at, letter) in inside.char_indices() {
        match letter {
            '\\' if mark != '`' => is_escaped = !is_escaped,
            _ if letter == mark && !is_escaped => return at,
            _ => is_escaped = false,
        }
    }
    inside.len()
}

/// Returns whether a word is an address of the web or of mail.
fn is_address(word: &str) -> bool {
    if word.contains("://") {
        return true;
    }
    word.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && host.contains('.') && !host.starts_with('.')
    })
}

/// Returns whether a word is the absolute path of a file that may be the user's.
fn is_private_path(word: &str) -> bool {
    word.split(':').any(|part| {
        let below = part.strip_prefix('~').unwrap_or(part);
        let is_path = below.starts_with('/') && below.len() > 1;
        is_path && !PUBLIC_FOLDERS.iter().any(|it| part.starts_with(it))
    })
}

/// Returns whether a word looks like a key or a token.
fn is_secret(word: &str) -> bool {
    // One of several parts, as in `key:sk-…`.
    word.split(':').any(|part| {
        let mut starts = SECRET_STARTS.iter();
        starts.any(|start| part.starts_with(start) && part.len() > start.len() + MIXED)
            || is_token(part)
    })
}

/// Returns whether a word is long and mixes letters and digits.
fn is_token(word: &str) -> bool {
    let is_letter = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '+' | '/' | '.' | '~')
    };
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let letters = word.chars().filter(char::is_ascii_alphabetic).count();
    // A path has slashes between short names.
    let longest = word.split(['/', '.']).map(str::len).max();
    longest.unwrap_or_default() >= SECRET_LENGTH
        && word.chars().all(is_letter)
        && digits >= MIXED
        && letters >= MIXED
}

/// Replaces a name where it is not a part of a longer word.
fn without_name(word: &str, name: &str, replacement: &str) -> String {
    let mut redacted = String::new();
    let mut rest = word;
    let mut last = None;
    while let Some(at) = rest.find(name) {
        let before = rest[..at].chars().next_back().or(last);
        let after = rest[at + name.len()..].chars().next();
        let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        let is_whole = !is_part(before) && !is_part(after);
        redacted.push_str(&rest[..at]);
        redacted.push_str(if is_whole { replacement } else { name });
        last = name.chars().next_back();
        rest = &rest[at + name.len()..];
    }
    redacted.push_str(rest);
    redacted
}

#[cfg(test)]
mod tests {
    use super::Redaction;

    fn redaction() -> Redaction {
        Redaction {
            home: Some("/home/ada".to_owned()),
            user: Some("ada".to_owned()),
            host: Some("engine-1".to_owned()),
        }
    }

    #[test]
    fn quoted_text_of_messages_is_removed() {
        for (message, expected) in [
            (
                "byte index 1 is not a char boundary; it is inside '\u{e4}' (bytes 0..2) of `\u{e4} my `secret` text`",
                "byte index 1 is not a char boundary; it is inside '[text]' (bytes 0..2) of `[text]`",
            ),
            (
                "called `Result::unwrap()` on an `Err` value: Parse { line: \"let a\", at: 3 }",
                "called `Result::unwrap()` on an `Err` value: Parse { line: \"[text]\", at: 3 }",
            ),
            (
                "assertion `left == right` failed\n  left: \"a \\\" b\"\n right: \"c",
                "assertion `left == right` failed\n  left: \"[text]\"\n right: \"[text]\"",
            ),
            (
                "index out of bounds: the len is 3 but the index is 7",
                "index out of bounds: the len is 3 but the index is 7",
            ),
            ("the user's view isn't there", "the user's view isn't there"),
            ("it is '\\'' and '\\n'", "it is '[text]' and '[text]'"),
            ("", ""),
        ] {
            assert_eq!(redaction().message(message), expected, "{message}");
        }
    }

    #[test]
    fn seeded_secrets_never_stay_in_a_message() {
        let secrets = [
            "sk-ant-api03-Zm9vYmFy_12",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "AKIAIOSFODNN7EXAMPLE",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
            "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
            "/home/ada/secret-project/plan.md",
            "/srv/clients/acme/a.rs",
            "ada@example.org",
            "https://ada:pw@git.example.org/x",
            "postgres://u:p@db/x",
        ];
        let forms = [
            "cannot open {}",
            "{}: no such file",
            "Err(Io({}))",
            "key={}, next",
            "[{}]",
            "a:{}",
            "(\"{}\")",
            "`{}`",
            "Authorization: Bearer {}",
        ];
        for secret in secrets {
            for form in forms {
                let message = form.replace("{}", secret);
                let redacted = redaction().message(&message);
                let rest = redacted.replace("[secret]", "").replace("[path]", "");
                assert!(!redacted.contains(secret), "{message}: {redacted}");
                for part in ["ada", "acme", "plan", "pw", "Zm9v", "7710", "IOSF", "sdWI"] {
                    assert!(!rest.contains(part), "{message}: {redacted}");
                }
            }
        }
    }

    #[test]
    fn names_of_the_user_and_the_machine_are_replaced() {
        let text =
            redaction().text("cache /home/ada/.cache/burin on engine-1: adapter of ada, Canada");
        assert_eq!(
            text,
            "cache ~/.cache/burin on [host]: adapter of [user], Canada"
        );
        let common = Redaction {
            user: Some("root".to_owned()),
            ..Redaction::default()
        };
        assert_eq!(common.text("only root can"), "only root can");
    }

    #[test]
    fn useful_words_stay() {
        for text in [
            "Linux 6.8.0-45-generic x86_64, Debian GNU/Linux 12 (bookworm)",
            "/usr/lib/x86_64-linux-gnu/libvulkan.so.1",
            "4096 at most",
            "crates/text/src/buffer/anchors/inserting_between_anchors.rs:12:5",
        ] {
            assert_eq!(redaction().message(text), text);
        }
        let backtrace = "3: alloc::vec::Vec<T>::h0123456789abcdef\n at /burin/crates/a.rs:1\n\
                         4: _ZN4core9panicking18panic_bounds_check17h0123456789abcdefE";
        assert_eq!(redaction().backtrace(backtrace), backtrace);
    }

    #[test]
    fn any_text_is_redacted_without_a_panic() {
        let mut random = 7_u64;
        let letters = [
            '`', '"', '\'', '\\', 'a', '/', '~', ':', '@', '.', '\u{e4}', ' ', '\n', '3',
        ];
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..16 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push(letters[(random >> 40) as usize % letters.len()]);
            }
            let redacted = redaction().message(&text);
            assert_eq!(redaction().text(&redacted), redacted, "{text:?}");
        }
    }
}
