//! Spellings of file names: which different names a volume takes for the same one.
//!
//! Knows: names as bytes. Must not know: the disk, which volume has which rules.
//! Invariant: two names are the same on a volume if and only if `NameRules::key` gives the same bytes.
//! Invariant: a key has a slash exactly where the name has one, so a whole path can be folded at once.
//!
//! Folding is Unicode's canonical caseless matching, as APFS does it: normal form D, full case
//! folding (`ß` is `ss`, `ﬁ` is `fi`, U+212A is `k`), normal form D again. Lowercasing is not enough.
//! Start at `NameRules::key`.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use unicase::UniCase;

use crate::AbsPath;

/// Rules by which a volume compares names. The stored spelling does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NameRules {
    /// Names that differ only in case are the same name.
    pub folds_case: bool,
    /// Canonically equivalent names, such as composed and decomposed accents, are the same name.
    pub normalizes: bool,
}

impl NameRules {
    /// Different bytes are different names: most volumes of Linux.
    pub const EXACT: Self = Self {
        folds_case: false,
        normalizes: false,
    };
    /// Neither case nor normal form distinguishes names: the default volume of macOS.
    pub const FOLDING: Self = Self {
        folds_case: true,
        normalizes: true,
    };

    /// Returns the bytes that stand for all spellings of a name or path. They are for comparing
    /// and hashing only: a key need not be a name that the volume would show. Bytes that are not
    /// UTF-8 stay as they are. Allocates only if the key differs from the name.
    pub fn key(self, name: &[u8]) -> Cow<'_, [u8]> {
        if name.is_ascii() {
            let is_folded = !self.folds_case || !name.iter().any(u8::is_ascii_uppercase);
            return if is_folded {
                Cow::Borrowed(name)
            } else {
                Cow::Owned(name.to_ascii_lowercase())
            };
        }
        if self == Self::EXACT {
            return Cow::Borrowed(name);
        }
        let mut key = Vec::with_capacity(name.len() + 8);
        for chunk in name.utf8_chunks() {
            key.extend_from_slice(self.text_key(chunk.valid()).as_bytes());
            key.extend_from_slice(chunk.invalid());
        }
        if key == name {
            Cow::Borrowed(name)
        } else {
            Cow::Owned(key)
        }
    }

    fn text_key(self, text: &str) -> Cow<'_, str> {
        let decomposer = DecomposingNormalizerBorrowed::new_nfd();
        match (self.folds_case, self.normalizes) {
            (false, false) => Cow::Borrowed(text),
            (false, true) => decomposer.normalize(text),
            (true, false) => Cow::Owned(UniCase::unicode(text).to_folded_case()),
            (true, true) => {
                let folded = UniCase::unicode(decomposer.normalize(text)).to_folded_case();
                Cow::Owned(decomposer.normalize(&folded).into_owned())
            }
        }
    }

    /// Returns the key of a path; the root and the separators stay.
    pub fn path_key(self, path: &AbsPath) -> AbsPath {
        match self.key(path.as_path().as_os_str().as_bytes()) {
            Cow::Borrowed(_) => path.clone(),
            Cow::Owned(key) => path.join(Path::new(&OsString::from_vec(key))),
        }
    }

    /// Returns whether both are spellings of one name, or of one path.
    pub fn is_same(self, one: impl AsRef<OsStr>, other: impl AsRef<OsStr>) -> bool {
        let (one, other) = (one.as_ref().as_bytes(), other.as_ref().as_bytes());
        if one == other {
            return true;
        }
        if one.is_ascii() && other.is_ascii() {
            return self.folds_case && one.eq_ignore_ascii_case(other);
        }
        self != Self::EXACT && self.key(one) == self.key(other)
    }
}

/// Returns the key of a name for every volume that git supports: folded, and without the characters
/// that HFS+ ignores. A name that must be recognized wherever it is checked out is compared by it.
pub fn widest_key(name: &[u8]) -> Cow<'_, [u8]> {
    if name.is_ascii() {
        return NameRules::FOLDING.key(name);
    }
    let mut shown = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        let letters = chunk
            .valid()
            .chars()
            .filter(|letter| !is_ignorable(*letter));
        shown.extend_from_slice(letters.collect::<String>().as_bytes());
        shown.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(NameRules::FOLDING.key(&shown).into_owned())
}

/// Returns whether HFS+ ignores a character when it compares names.
fn is_ignorable(letter: char) -> bool {
    matches!(
        letter,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}

/// Returns other spellings of a name that folding or normalizing volumes take for the same: at
/// most one in the other case and one in the other normal form. A name without any, such as `42`,
/// has one spelling on every volume. Used to find out which rules a volume has.
pub fn other_spellings(name: &OsStr) -> Vec<OsString> {
    let Some(text) = name.to_str() else {
        return Vec::new();
    };
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    let other_form = if composed == text {
        DecomposingNormalizerBorrowed::new_nfd().normalize(text)
    } else {
        composed
    };
    let mut others: Vec<OsString> = Vec::new();
    for other in [other_case(text), other_form.into_owned()] {
        if other != text && NameRules::FOLDING.is_same(text, &other) {
            others.push(other.into());
        }
    }
    others
}

/// Returns `text` in upper case, or in lower case if it is in upper case already.
fn other_case(text: &str) -> String {
    let upper = text.to_uppercase();
    if upper == text {
        text.to_lowercase()
    } else {
        upper
    }
}

/// Returns whether a name is one that macOS adds to folders for itself: Finder's settings and icon,
/// the folders of search, trash and events. Such entries are not part of a project unless its
/// repository tracks them.
pub fn is_system_litter(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 6] = [
        b".ds_store",
        b".spotlight-v100",
        b".trashes",
        b".fseventsd",
        b".temporaryitems",
        b"icon\r",
    ];
    // Most names end here: no other letter folds to these.
    matches!(name, [b'.' | b'I' | b'i', ..]) && NAMES.contains(&&*NameRules::FOLDING.key(name))
}

/// Returns `a` for `._a`, the name under which macOS stores the attributes of `a` on volumes that
/// have none; `None` for another name.
pub fn apple_double_of(name: &[u8]) -> Option<&[u8]> {
    name.strip_prefix(b"._").filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests;
