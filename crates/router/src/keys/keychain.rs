//! The system keychain: the login keychain on macOS, the Secret Service on Linux.
//!
//! An entry has the service `burin`, and the provider's id as its account.
//! Invariant: a value that contains a control character or exceeds `MAX_KEY_BYTES` is refused. It is
//! not a key, and a line feed in it would start another HTTP header.

#[cfg(target_os = "macos")]
#[path = "keychain/macos.rs"]
mod system;
#[cfg(not(target_os = "macos"))]
#[path = "keychain/secret_service.rs"]
mod system;

pub(super) use system::find;

use super::Secret;
use crate::error::Error;

/// Service name of our keychain entries.
const SERVICE: &str = "burin";
/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 2_000;

/// Returns the key in an entry's value. White space around it is not part of it.
///
/// # Errors
/// The value is not a key; the error does not contain it.
fn key_of(value: &[u8]) -> Result<Secret, Error> {
    let refused = |cause: &str| {
        Err(Error::Keychain(format!(
            "the entry in the keychain is not a key: {cause}; store it again"
        )))
    };
    let Ok(text) = std::str::from_utf8(value) else {
        return refused("it is not text");
    };
    let text = text.trim();
    if text.len() > MAX_KEY_BYTES {
        return refused("it is longer than 2,000 bytes");
    }
    if text.chars().any(char::is_control) {
        return refused("it contains a control character");
    }
    Ok(Secret::new(text))
}

/// Returns the reason that macOS refused to read an entry; `None` if there is no entry. `code` is an
/// `OSStatus`.
#[cfg(any(test, target_os = "macos"))]
fn refusal(code: i32) -> Option<Error> {
    let cause = match code {
        // errSecItemNotFound
        -25300 => return None,
        // errSecInteractionNotAllowed
        -25308 => {
            "macOS may not ask for it here, as over SSH; run \"security unlock-keychain\", or put the \
             key into an environment variable"
        }
        // errSecAuthFailed, userCanceledErr
        -25293 | -128 => "access was denied; allow it when macOS asks",
        // errSecNotAvailable, errSecNoDefaultKeychain
        -25291 | -25307 => {
            "there is no keychain for this user; put the key into an environment variable"
        }
        _ => {
            return Some(Error::Keychain(format!(
                "the keychain cannot be read: error {code}"
            )));
        }
    };
    Some(Error::Keychain(format!(
        "the keychain cannot be read: {cause}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_printable_values_are_keys() {
        let key = |value: &[u8]| key_of(value).map(|key| key.expose().to_owned());
        assert_eq!(key(b"sk-1\n"), Ok("sk-1".to_owned()));
        assert_eq!(key(b" sk-1 "), Ok("sk-1".to_owned()));
        assert!(key("x".repeat(2_000).as_bytes()).is_ok());
        for wrong in [
            &b"sk-secret\nX-Header: 1"[..],
            b"sk-secret\x1b[31m",
            b"sk-secret\0",
            b"sk-secret\xff",
            "sk-secret\u{85}x".as_bytes(),
            "sk-secret".repeat(300).as_bytes(),
        ] {
            let error = key(wrong).expect_err("refused").to_string();
            assert!(!error.contains("sk-secret"), "{error}");
        }
    }

    #[test]
    fn refusals_are_explained() {
        assert_eq!(refusal(-25300), None);
        for (code, expected) in [
            (-25308, "SSH"),
            (-25293, "denied"),
            (-128, "denied"),
            (-25307, "no keychain"),
            (-1, "error -1"),
        ] {
            let error = refusal(code).expect("a refusal").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
