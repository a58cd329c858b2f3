//! The environment of commands: ours without keys, and with what keeps programs from asking and paging.

use std::ffi::{OsStr, OsString};

/// How names of secrets end.
const ENDINGS: [&str; 9] = [
    "_API_KEY",
    "_APIKEY",
    "_TOKEN",
    "_SECRET",
    "_PASSWORD",
    "_PASSWD",
    "_CREDENTIALS",
    "_ACCESS_KEY",
    "_PRIVATE_KEY",
];
/// Names of secrets that end otherwise.
const NAMES: [&str; 9] = [
    "API_KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "AWS_ACCESS_KEY_ID",
    "AWS_SESSION_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_OPENAI_KEY",
    "HF_HOME_TOKEN",
];

/// The variables of a command.
pub(super) fn for_commands(
    ours: &[(OsString, OsString)],
    has_screen: bool,
) -> Vec<(OsString, OsString)> {
    let added = [
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_EDITOR", "true"),
        ("TERM", if has_screen { "xterm-256color" } else { "dumb" }),
    ];
    let is_added = |name: &OsStr| added.iter().any(|(own, _)| name == OsStr::new(own));
    let kept = ours
        .iter()
        .filter(|(name, _)| !is_secret(name) && !is_added(name));
    let added = added
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    kept.cloned().chain(added).collect()
}

fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    NAMES.contains(&name.as_str()) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_out() {
        for secret in [
            "OPENAI_API_KEY",
            "anthropic_api_key",
            "GITHUB_TOKEN",
            "X_SECRET",
            "AWS_SECRET_ACCESS_KEY",
            "DB_PASSWORD",
            "AWS_ACCESS_KEY_ID",
        ] {
            assert!(is_secret(OsStr::new(secret)), "{secret}");
        }
        for plain in [
            "PATH",
            "HOME",
            "LANG",
            "CARGO_HOME",
            "TOKENIZERS_PARALLELISM",
            "SSH_AUTH_SOCK",
            "KEYBOARD",
        ] {
            assert!(!is_secret(OsStr::new(plain)), "{plain}");
        }
        let ours = [("PATH", "/bin"), ("PAGER", "less"), ("X_TOKEN", "1")];
        let ours = ours.map(|(name, value)| (name.into(), value.into()));
        let theirs = for_commands(&ours, false);
        let of = |name: &str| {
            let found = theirs.iter().filter(|(own, _)| own == OsStr::new(name));
            found
                .map(|(_, value)| value.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(of("PATH"), ["/bin"]);
        assert_eq!(of("PAGER"), ["cat"]);
        assert!(of("X_TOKEN").is_empty());
    }
}
