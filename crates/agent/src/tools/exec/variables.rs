//! The environment of commands: the allow-listed variables, and settings that disable prompts and
//! pagers.

use std::ffi::{OsStr, OsString};

/// Builds the environment of a command from `ours`, the allow-listed variables of this process.
/// `has_screen` indicates whether it runs in a terminal.
pub(in crate::tools) fn for_commands(
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
    let kept = ours.iter().filter(|(name, _)| !is_added(name));
    let added = added
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    kept.cloned().chain(added).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_environment_disables_prompts_and_pagers() {
        let ours = [("PATH", "/bin"), ("PAGER", "less")];
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
        assert_eq!(of("TERM"), ["dumb"]);
    }
}
