//! A string type whose content is never displayed.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use zeroize::Zeroizing;

/// Replacement of a key in texts.
pub(crate) const MASK: &str = "<key>";

/// A secret key. Neither `Debug` nor `Display` shows it; its memory is wiped when the last copy is
/// dropped.
#[derive(Clone, Deserialize)]
#[serde(from = "String")]
pub struct Secret(Arc<Zeroizing<String>>);

impl Secret {
    /// Creates a secret, with surrounding white space removed.
    pub fn new(text: impl Into<String>) -> Self {
        let text = Zeroizing::new(text.into());
        Self(Arc::new(Zeroizing::new(text.trim().to_owned())))
    }

    /// Returns the key itself. Use it only in requests to its provider.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the key is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a text with every occurrence of the key replaced by `<key>`. An empty key leaves the
    /// text unchanged.
    pub fn mask(&self, text: &str) -> String {
        if self.is_empty() {
            return text.to_owned();
        }
        text.replace(self.expose(), MASK)
    }

    /// Overwrites every occurrence of the key in `bytes` with `*`, preserving the length.
    pub fn blot(&self, bytes: &mut [u8]) {
        let key = self.expose().as_bytes();
        if key.is_empty() || bytes.len() < key.len() {
            return;
        }
        let mut at = 0;
        while at + key.len() <= bytes.len() {
            if &bytes[at..at + key.len()] == key {
                bytes[at..at + key.len()].fill(b'*');
                at += key.len();
            } else {
                at += 1;
            }
        }
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}
