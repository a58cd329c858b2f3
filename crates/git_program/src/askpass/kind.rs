//! The kind of a prompt, recognized from its text.

/// The kind of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// A user name; the answer may be shown.
    Username,
    /// A password or a token of an account.
    Password,
    /// The passphrase of a key.
    Passphrase,
    /// A question about the key of a host; the answer is `yes`, `no` or a fingerprint.
    HostKey,
    /// A question that is answered with yes or no, such as the use of a key of the agent.
    Confirmation,
    /// A note that a hardware key waits for a touch. It ends by itself and has no answer.
    Presence,
}

impl PromptKind {
    /// Returns the kind of a prompt. `hint` is the value of `SSH_ASKPASS_PROMPT`.
    pub(super) fn of(text: &str, hint: &str) -> Self {
        let lower = text.to_lowercase();
        let has = |words: &str| lower.contains(words);
        if hint == "none" {
            Self::Presence
        } else if has("(yes/no") || has("authenticity of host") || has("type 'yes'") {
            Self::HostKey
        } else if hint == "confirm" {
            Self::Confirmation
        } else if has("passphrase") || has("enter pin") {
            Self::Passphrase
        } else if lower.starts_with("username") {
            Self::Username
        } else {
            Self::Password
        }
    }

    /// Returns whether the answer must not be shown while it is typed.
    pub fn is_secret(self) -> bool {
        match self {
            Self::Password | Self::Passphrase => true,
            Self::Username | Self::HostKey | Self::Confirmation | Self::Presence => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PromptKind;

    #[test]
    fn prompts_of_git_and_ssh_are_recognized() {
        for (text, hint, kind) in [
            ("Username for 'https://h': ", "", PromptKind::Username),
            ("Password for 'https://me@h': ", "", PromptKind::Password),
            ("me@h's password: ", "", PromptKind::Password),
            (
                "Enter passphrase for key '/k': ",
                "",
                PromptKind::Passphrase,
            ),
            (
                "The authenticity of host 'h' can't be established.\nAre you sure you want to continue connecting (yes/no/[fingerprint])? ",
                "",
                PromptKind::HostKey,
            ),
            ("Allow use of key k?", "confirm", PromptKind::Confirmation),
            (
                "Confirm user presence for key",
                "none",
                PromptKind::Presence,
            ),
        ] {
            assert_eq!(PromptKind::of(text, hint), kind, "{text}");
        }
        assert!(PromptKind::Password.is_secret() && !PromptKind::HostKey.is_secret());
    }
}
