//! Tests that denials are recorded once and that their number is limited.

use super::{DenialLog, DeniedAccess};

#[test]
fn equal_denials_are_recorded_once() {
    let denials = DenialLog::default();
    for _ in 0..3 {
        denials.add(DeniedAccess::Call { name: "ptrace" });
    }
    assert_eq!(denials.drain(), [DeniedAccess::Call { name: "ptrace" }]);
    assert_eq!(denials.drain(), []);
}

#[test]
fn denials_are_limited() {
    let denials = DenialLog::default();
    for port in 0..1000 {
        let host = "example.org".to_owned();
        denials.add(DeniedAccess::Host { host, port });
    }
    assert_eq!(denials.drain().len(), DenialLog::MAX_DENIALS);
}
