//! A text that is not shown.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use zeroize::Zeroizing;

/// What stands for a key in texts.
pub(crate) const MASK: &str = "<key>";

/// A key. Neither `Debug` nor `Display` shows it; its memory is wiped when its last copy goes.
#[derive(Clone, Deserialize)]
#[serde(from = "String")]
pub struct Secret(Arc<Zeroizing<String>>);

impl Secret {
    /// Keeps a key, without the space around it.
    pub fn new(text: impl Into<String>) -> Self {
        let text = Zeroizing::new(text.into());
        Self(Arc::new(Zeroizing::new(text.trim().to_owned())))
    }

    /// The key itself. Only what goes to its provider may hold it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text with every copy of the key taken out.
    pub fn mask(&self, text: &str) -> String {
        if self.is_empty() {
            return text.to_owned();
        }
        text.replace(self.expose(), MASK)
    }

    /// Overwrites every copy of the key in bytes with `*`, and keeps their number.
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
