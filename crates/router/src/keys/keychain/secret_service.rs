//! The Secret Service of Linux desktops: GNOME Keyring, KWallet, KeePassXC.
//!
//! It is read through `secret-tool` of libsecret: `burin-agent` would need a D-Bus library for this
//! one query. Limitation: without `secret-tool`, or a running service, there is no keychain.

use super::{SERVICE, key_of};
use crate::error::Error;
use crate::keys::{COMMAND_TIMEOUT, Secret, SecretSource as _, SystemSecrets};

/// Returns the key of an account; `None` if it has none, or there is no keychain.
///
/// # Errors
/// The entry is not a key.
pub(in crate::keys) async fn find(
    secrets: &SystemSecrets,
    account: &str,
) -> Result<Option<Secret>, Error> {
    match secrets.run(&command(account), COMMAND_TIMEOUT).await {
        Ok(output) => key_of(output.bytes()).map(Some),
        Err(why) => {
            log::debug!("no key for {account} in the keychain: {why}");
            Ok(None)
        }
    }
}

fn command(account: &str) -> Vec<String> {
    let words = [
        "secret-tool",
        "lookup",
        "service",
        SERVICE,
        "account",
        account,
    ];
    words.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Looks a key up with this script in place of `secret-tool`.
    async fn look_up(script: &str) -> Result<Option<String>, Error> {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("secret-tool");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a script");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("a mode");
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let secrets = SystemSecrets {
            environment: vec![("PATH".into(), path.into())],
            variable: |_| None,
        };
        let found = find(&secrets, "maker").await?;
        Ok(found.map(|key| key.expose().to_owned()))
    }

    #[tokio::test]
    async fn the_service_is_asked_for_our_entry() {
        let printed = look_up("echo \"$*\"").await;
        let expected = "lookup service burin account maker";
        assert_eq!(printed, Ok(Some(expected.to_owned())));
        assert_eq!(look_up("exit 1").await, Ok(None));
        let refused = look_up("printf 'a\\nb'").await;
        assert!(matches!(refused, Err(Error::Keychain(_))), "{refused:?}");
    }
}
