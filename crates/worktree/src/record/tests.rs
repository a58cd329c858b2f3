//! Tests of records on disk: files of earlier builds stay readable, and new ones have the same names.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{BaseRecord, LeaseRecord, WholeLanding};
use crate::backend::{BackendSupport, TreeBackend};
use crate::owner::Owner;
use crate::share::{ShareMethod, SharedPath};

/// Reads a file, and checks that it is written back with the same names and values.
fn check<T: DeserializeOwned + Serialize>(file: &str) -> T {
    let record: T = serde_json::from_str(file).expect("a record of an earlier build");
    let expected: Value = serde_json::from_str(file).expect("JSON");
    assert_eq!(serde_json::to_value(&record).expect("JSON"), expected);
    record
}

#[test]
fn lease_records_keep_their_names() {
    let record: LeaseRecord = check(
        r#"{
            "version": 1,
            "id": "wt-3",
            "hub": "/home/ada/shop",
            "commit": "c0ffee",
            "start": "c0ffee",
            "tree": "7ee",
            "branch": "burin/wt-3",
            "rung": "overlay",
            "by_user": true,
            "ports": { "start": 20000, "end": 20016 },
            "name": "burin_shop_0123abcd_wt3",
            "created_ms": 1760000000000,
            "owner": { "process": { "pid": 42, "started": 9000 } },
            "config": "[core]\n",
            "has_monitor": true,
            "shared": [
                { "path": "target", "way": "overlay" },
                { "path": ".venv", "way": { "leftout": "it is too large" } }
            ],
            "caveats": ["a submodule is empty"],
            "landed": "beef",
            "whole": { "tree": "7ee", "commit": "beef" }
        }"#,
    );
    assert_eq!(record.main_repo, "/home/ada/shop");
    assert_eq!(record.backend, TreeBackend::Overlay);
    assert_eq!(record.ports, 20_000..20_016);
    let (pid, started) = (42, 9000);
    assert_eq!(record.owner, Owner::Process { pid, started });
    let left_out = SharedPath {
        path: ".venv".to_owned(),
        way: ShareMethod::LeftOut("it is too large".to_owned()),
    };
    assert_eq!(record.shared[1], left_out);
    let whole = WholeLanding {
        tree: "7ee".to_owned(),
        commit: "beef".to_owned(),
    };
    assert_eq!(record.whole, Some(whole));
}

#[test]
fn lease_records_of_the_first_build_are_read() {
    let record: LeaseRecord = serde_json::from_str(
        r#"{
            "version": 1,
            "id": "wt-1",
            "hub": "/home/ada/shop",
            "commit": "c0ffee",
            "start": "c0ffee",
            "tree": "7ee",
            "branch": "burin/wt-1",
            "rung": "copy",
            "by_user": false,
            "ports": { "start": 20000, "end": 20016 },
            "name": "burin_shop_0123abcd_wt1",
            "created_ms": 1760000000000,
            "owner": "person",
            "config": "[core]\n",
            "set_up": { "is_done": true, "command": "make", "output": "" }
        }"#,
    )
    .expect("a record without the later names");
    assert_eq!(record.backend, TreeBackend::Copy);
    assert_eq!(record.owner, Owner::Person);
    assert!(!record.has_monitor && record.shared.is_empty() && record.whole.is_none());
}

#[test]
fn base_records_keep_their_names() {
    let record: BaseRecord = check(
        r#"{
            "version": 1,
            "tree": "7ee",
            "fit": "0123",
            "files": 3,
            "bytes": 4096,
            "caveats": [],
            "boot": "b001"
        }"#,
    );
    assert_eq!((record.files, record.bytes), (3, 4096));
}

#[test]
fn detected_backends_keep_their_names() {
    let support: BackendSupport = check(
        r#"{
            "rung": "reflink",
            "missing": { "overlay": "only root can mount" },
            "volume": {
                "file_system": "xfs",
                "is_local": true,
                "can_clone": true,
                "folds_case": false,
                "normalizes": false
            }
        }"#,
    );
    assert_eq!(support.backend, TreeBackend::Reflink);
    // What an earlier build knew is not enough: the volume is examined again.
    let earlier = r#"{ "rung": "reflink", "missing": {} }"#;
    assert!(serde_json::from_str::<BackendSupport>(earlier).is_err());
}

#[test]
fn backends_have_one_name() {
    for backend in TreeBackend::ALL {
        let name = serde_json::to_value(backend).expect("JSON");
        assert_eq!(name, backend.name());
    }
}
