//! The automations that the user turned on, by the hash of their text.
//!
//! Invariant: if the stored list cannot be read, every automation is off.

use base::AbsPath;
use host::Files;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Largest size of the list, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// The consent to one automation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// The root of its project.
    pub root: String,
    /// Its name.
    pub name: String,
    /// The hash of the text that the user saw.
    pub mark: String,
    /// The time of the consent, in milliseconds since 1970: nothing before it fires.
    pub at_ms: u64,
}

/// The list of consents in the state folder of the user.
#[derive(Clone, Debug)]
pub struct ConsentStore {
    path: AbsPath,
}

impl ConsentStore {
    /// The store below this state folder.
    pub fn new(state: &AbsPath) -> Self {
        Self {
            path: state.join("automations.json"),
        }
    }

    /// Reads all consents; empty if there are none, or if the list cannot be read. Blocks on the disk.
    pub fn read(&self, files: &dyn Files) -> Vec<Consent> {
        self.try_read(files).unwrap_or_default()
    }

    /// Returns the consent to the automation of a project. Blocks on the disk.
    pub fn of(&self, files: &dyn Files, root: &AbsPath, name: &str) -> Option<Consent> {
        let root = root.to_string();
        let mut all = self.read(files).into_iter();
        all.find(|it| it.root == root && it.name == name)
    }

    /// Stores a consent in place of an earlier one to the same automation. Blocks on the disk.
    pub fn give(&self, files: &dyn Files, consent: Consent) -> Result<(), Error> {
        let mut all = self.try_read(files)?;
        all.retain(|it| it.root != consent.root || it.name != consent.name);
        all.push(consent);
        self.write(files, &all)
    }

    /// Withdraws the consent to an automation. Blocks on the disk.
    pub fn revoke(&self, files: &dyn Files, root: &AbsPath, name: &str) -> Result<(), Error> {
        let mut all = self.try_read(files)?;
        let root = root.to_string();
        all.retain(|it| it.root != root || it.name != name);
        self.write(files, &all)
    }

    fn try_read(&self, files: &dyn Files) -> Result<Vec<Consent>, Error> {
        match files.read(&self.path, MAX_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                let path = &self.path;
                let why = format!("{path}, the list of trusted automations, is damaged: {error}");
                Error::NotStarted(why)
            }),
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn write(&self, files: &dyn Files, all: &[Consent]) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(all).unwrap_or_default();
        Ok(files.write_private(&self.path, &text)?)
    }
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text).expect("absolute")
    }

    #[test]
    fn consents_are_kept_by_project_and_name() {
        let (files, store) = (FakeFiles::new(), ConsentStore::new(&path("/state")));
        files.folder(&path("/state"));
        let consent = |root: &str, mark: &str| Consent {
            root: root.to_owned(),
            name: "check".to_owned(),
            mark: mark.to_owned(),
            at_ms: 1,
        };
        store.give(&files, consent("/p", "1")).expect("stored");
        store.give(&files, consent("/q", "1")).expect("stored");
        store.give(&files, consent("/p", "2")).expect("stored");
        assert_eq!(store.read(&files), [consent("/q", "1"), consent("/p", "2")]);
        store.revoke(&files, &path("/p"), "check").expect("stored");
        assert_eq!(store.of(&files, &path("/p"), "check"), None);
        assert_eq!(store.read(&files).len(), 1);
    }

    #[test]
    fn damaged_list_turns_nothing_on_and_stays() {
        let (files, store) = (FakeFiles::new(), ConsentStore::new(&path("/state")));
        files.folder(&path("/state"));
        files.write(&path("/state/automations.json"), "[{");
        assert_eq!(store.read(&files), []);
        let refused = store
            .revoke(&files, &path("/p"), "check")
            .expect_err("damaged");
        assert!(refused.to_string().contains("damaged"), "{refused}");
        let kept = files
            .read(&path("/state/automations.json"), 99)
            .expect("kept");
        assert_eq!(kept, b"[{");
    }
}
