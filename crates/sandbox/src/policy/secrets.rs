//! The table of secret files and folders.
//!
//! Invariant: every entry cites the documentation of its path, so that it can be checked and
//! removed again.

use base::AbsPath;

/// A path below the home folder or an absolute one, a tab, and the source.
const TABLE: &str = include_str!("secrets.txt");

/// Returns the entries: paths as written, and their sources.
pub(super) fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TABLE.lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once('\t').unwrap_or((line, "")))
}

/// Returns the paths on a machine with this home folder.
pub(super) fn paths(home: &AbsPath) -> Vec<AbsPath> {
    // Joining an absolute path yields that path.
    entries().map(|(path, _)| home.join(path)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_secret_has_a_source_and_is_listed_once() {
        let mut seen = BTreeSet::new();
        for (path, source) in entries() {
            assert!(!source.trim().is_empty(), "{path} has no source");
            assert!(seen.insert(path), "{path} is listed twice");
            assert_eq!(path.trim(), path, "{path:?}");
            assert!(!path.ends_with('/') && !path.contains("//"), "{path}");
            assert!(!path.split('/').any(|part| part == ".."), "{path}");
        }
    }

    #[test]
    fn credentials_of_common_tools_are_hidden() {
        let home = AbsPath::new("/home/ada").expect("absolute");
        let paths = paths(&home);
        for file in [
            ".config/containers/auth.json",
            ".docker/config.json",
            ".config/helm/registry/config.json",
            ".kube/config",
            ".config/gh/hosts.yml",
            ".config/glab-cli/config.yml",
            ".oci/config",
            ".fly/config.yml",
            ".local/share/com.vercel.cli/auth.json",
            ".terraform.d/credentials.tfrc.json",
            ".pulumi/credentials.json",
            ".composer/auth.json",
            ".pgpass",
            ".config/Bitwarden CLI/data.json",
            ".config/Slack/Cookies",
            ".config/discord/Local Storage",
            ".local/share/TelegramDesktop/tdata",
            ".config/Element/Cookies",
            ".bitcoin/wallet.dat",
            ".ethereum/keystore/x",
            ".electrum/wallets/default_wallet",
            ".config/solana/id.json",
            ".config/rclone/rclone.conf",
            ".s3cfg",
            ".local/share/opencode/auth.json",
            ".sqlite_history",
            ".local/share/fish/fish_history",
            "Library/Keychains/login.keychain-db",
            "Library/Cookies/Cookies.binarycookies",
            "Library/Messages/chat.db",
            "Library/Application Support/Google/Chrome/Default/Login Data",
            "Library/Application Support/Slack/Cookies",
            "Library/Group Containers/group.com.apple.notes/NoteStore.sqlite",
            ".zsh_sessions/x.history",
        ] {
            let file = home.join(file);
            assert!(paths.iter().any(|path| file.is_within(path)), "{file}");
        }
        assert!(paths.contains(&AbsPath::new("/etc/shadow").expect("absolute")));
    }
}
