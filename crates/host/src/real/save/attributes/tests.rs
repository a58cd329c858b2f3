//! Tests of the attributes that a save keeps, with a file whose attributes the system guards.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::*;

/// Attributes in memory; those in `guarded` cannot be set.
#[derive(Default)]
struct FakeAttributes {
    values: RefCell<BTreeMap<OsString, Vec<u8>>>,
    guarded: Vec<&'static str>,
    unreadable: Vec<&'static str>,
}

impl FakeAttributes {
    fn new(values: &[(&str, &[u8])]) -> Self {
        let values = values
            .iter()
            .map(|(name, value)| (OsString::from(name), value.to_vec()));
        Self {
            values: RefCell::new(values.collect()),
            ..Self::default()
        }
    }

    fn has(&self, name: &str) -> bool {
        self.values.borrow().contains_key(OsStr::new(name))
    }
}

impl AttributeStore for FakeAttributes {
    fn names(&self) -> Result<Vec<OsString>, Errno> {
        Ok(self.values.borrow().keys().cloned().collect())
    }

    fn length(&self, name: &OsStr) -> Result<Option<usize>, Errno> {
        Ok(self.values.borrow().get(name).map(Vec::len))
    }

    fn get(&self, name: &OsStr) -> Result<Option<Vec<u8>>, Errno> {
        if self.unreadable.iter().any(|guarded| name == *guarded) {
            return Err(Errno::PERM);
        }
        Ok(self.values.borrow().get(name).cloned())
    }

    fn set(&self, name: &OsStr, value: &[u8]) -> Result<(), Errno> {
        if self.guarded.iter().any(|guarded| name == *guarded) {
            return Err(Errno::PERM);
        }
        let mut values = self.values.borrow_mut();
        values.insert(name.to_owned(), value.to_vec());
        Ok(())
    }

    fn remove(&self, name: &OsStr) -> Result<(), Errno> {
        self.values.borrow_mut().remove(name);
        Ok(())
    }
}

const GUARDED: [&str; 6] = [
    "com.apple.provenance",
    "com.apple.macl",
    "com.apple.system.Security",
    "com.apple.rootless",
    "com.apple.FinderInfo",
    "user.mine",
];

/// Copies one attribute to a new file whose guarded attributes cannot be set.
fn check(rules: AttributeRules, name: &'static str, wanted: bool) {
    let old = FakeAttributes::new(&[(name, b"x"), ("plain", b"y")]);
    let new = FakeAttributes {
        guarded: GUARDED.to_vec(),
        ..FakeAttributes::default()
    };
    let kept = keep_attributes(rules, &old, &new).expect("no error of the disk");
    assert_eq!(kept, wanted, "{rules:?} {name}");
    assert!(!kept || new.has("plain"), "{rules:?} {name}");
}

#[test]
fn attributes_of_the_system_do_not_prevent_a_replacement() {
    for name in &GUARDED[..4] {
        check(AttributeRules::MacOs, name, true);
    }
    for name in &GUARDED[4..] {
        check(AttributeRules::MacOs, name, false);
    }
    for name in GUARDED {
        check(AttributeRules::Linux, name, false);
    }
    check(
        AttributeRules::MacOs,
        "com.apple.metadata:_kMDItemUserTags",
        true,
    );
}

#[test]
fn attributes_of_the_system_are_not_copied() {
    let old = FakeAttributes::new(&[("com.apple.provenance", b"x"), ("security.ima", b"x")]);
    let new = FakeAttributes::default();
    assert!(keep_attributes(AttributeRules::MacOs, &old, &new).expect("kept"));
    assert!(!new.has("com.apple.provenance") && new.has("security.ima"));
    let new = FakeAttributes::default();
    assert!(keep_attributes(AttributeRules::Linux, &old, &new).expect("kept"));
    assert!(new.has("com.apple.provenance") && !new.has("security.ima"));
}

#[test]
fn quarantine_is_copied_and_never_invented() {
    let quarantined = || FakeAttributes::new(&[("com.apple.quarantine", b"0081")]);
    let new = FakeAttributes::default();
    assert!(keep_attributes(AttributeRules::MacOs, &quarantined(), &new).expect("kept"));
    assert!(new.has("com.apple.quarantine"));
    let new = quarantined();
    let old = FakeAttributes::default();
    assert!(keep_attributes(AttributeRules::MacOs, &old, &new).expect("kept"));
    assert!(!new.has("com.apple.quarantine"));
}

#[test]
fn a_large_resource_fork_is_not_copied() {
    let fork = vec![0; MAX_VALUE + 1];
    for (length, wanted) in [(MAX_VALUE, true), (MAX_VALUE + 1, false)] {
        let old = FakeAttributes::new(&[("com.apple.ResourceFork", &fork[..length])]);
        let new = FakeAttributes::default();
        let kept = keep_attributes(AttributeRules::MacOs, &old, &new).expect("no error");
        assert_eq!((kept, new.has("com.apple.ResourceFork")), (wanted, wanted));
    }
}

#[test]
fn an_unreadable_attribute_stays_with_the_old_file() {
    let old = FakeAttributes {
        unreadable: vec!["user.secret"],
        ..FakeAttributes::new(&[("user.secret", b"x")])
    };
    let new = FakeAttributes::default();
    assert!(!keep_attributes(AttributeRules::Linux, &old, &new).expect("no error"));
}
