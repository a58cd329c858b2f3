//! The system keychain, read through each platform's command-line program instead of a D-Bus
//! library.
//!
//! Limitation: Linux requires `secret-tool` (of libsecret); without it there is no keychain.

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

/// Returns the command line that prints a provider's key, or `None` for a platform without a
/// keychain. Does not run the command.
pub(super) fn lookup_command(platform: Platform, provider: &str) -> Option<Vec<String>> {
    let command = match platform {
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
    Some(command.into_iter().map(str::to_owned).collect())
}
