//! The system's keychain, through the program that each system has for it: no library of ours speaks D-Bus.
//!
//! Limitation: on Linux `secret-tool` (of libsecret) must be installed; without it there is no keychain.

use super::secret::Secret;

/// The name under which our keys are kept.
const SERVICE: &str = "burin";

/// Whose keychain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// The Secret Service: GNOME Keyring, KWallet, KeePassXC.
    Linux,
    /// The login keychain.
    Macos,
    /// None that we know.
    Other,
}

impl Platform {
    /// The one that we run on.
    pub fn current() -> Self {
        match std::env::consts::OS {
            "linux" => Self::Linux,
            "macos" => Self::Macos,
            _ => Self::Other,
        }
    }
}

/// A program to be run with a secret as its input.
pub(super) struct Call {
    pub(super) words: Vec<String>,
    pub(super) input: Secret,
}

/// What prints a provider's key.
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

/// What keeps a provider's key. The key goes through the input: arguments are visible to every process.
pub(super) fn store(platform: Platform, provider: &str, secret: &Secret) -> Option<Call> {
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
            Some(Call {
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
            Some(Call {
                words: vec!["security".to_owned(), "-i".to_owned()],
                input: Secret::new(line),
            })
        }
        Platform::Other => None,
    }
}
