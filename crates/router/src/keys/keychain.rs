//! The system keychain, accessed through each platform's command-line program instead of a D-Bus
//! library.
//!
//! Limitation: Linux requires `secret-tool` (of libsecret); without it there is no keychain.

use super::secret::Secret;

/// Service name of our keychain entries.
const SERVICE: &str = "burin";

/// Platform of a keychain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// The Secret Service: GNOME Keyring, KWallet, KeePassXC.
    Linux,
    /// The macOS login keychain.
    Macos,
    /// A platform without a supported keychain.
    Other,
}

impl Platform {
    /// Returns the platform of this build.
    pub fn current() -> Self {
        match std::env::consts::OS {
            "linux" => Self::Linux,
            "macos" => Self::Macos,
            _ => Self::Other,
        }
    }
}

/// A program with a secret as its standard input.
pub(super) struct KeychainCommand {
    pub(super) words: Vec<String>,
    pub(super) input: Secret,
}

/// Returns the command that prints a provider's key.
pub(super) fn look_up(platform: Platform, provider: &str) -> Option<Vec<String>> {
    let words = match platform {
        Platform::Linux => vec![
            "secret-tool",
            "lookup",
            "service",
            SERVICE,
            "account",
            provider,
        ],
        Platform::Macos => vec![
            "security",
            "find-generic-password",
            "-s",
            SERVICE,
            "-a",
            provider,
            "-w",
        ],
        Platform::Other => return None,
    };
    Some(words.into_iter().map(str::to_owned).collect())
}

/// Returns the command that stores a provider's key. The key is passed as input, since arguments
/// are visible to every process.
pub(super) fn store(
    platform: Platform,
    provider: &str,
    secret: &Secret,
) -> Option<KeychainCommand> {
    match platform {
        Platform::Linux => {
            let label = format!("--label=Burin: key of {provider}");
            let words = [
                "secret-tool",
                "store",
                &label,
                "service",
                SERVICE,
                "account",
                provider,
            ];
            Some(KeychainCommand {
                words: words.into_iter().map(str::to_owned).collect(),
                input: secret.clone(),
            })
        }
        Platform::Macos => {
            let quoted =
                |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
            let line = format!(
                "add-generic-password -U -s {SERVICE} -a {} -w {}\n",
                quoted(provider),
                quoted(secret.expose()),
            );
            Some(KeychainCommand {
                words: vec!["security".to_owned(), "-i".to_owned()],
                input: Secret::new(line),
            })
        }
        Platform::Other => None,
    }
}
