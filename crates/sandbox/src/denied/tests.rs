//! Denials are told once and not without bound.

use super::{Denials, Denied};

#[test]
fn the_same_denial_is_told_once() {
    let denials = Denials::default();
    for _ in 0..3 {
        denials.add(Denied::Call { name: "ptrace" });
    }
    assert_eq!(denials.take(), [Denied::Call { name: "ptrace" }]);
    assert_eq!(denials.take(), []);
}

#[test]
fn a_flood_is_cut() {
    let denials = Denials::default();
    for port in 0..1000 {
        let host = "example.org".to_owned();
        denials.add(Denied::Host { host, port });
    }
    assert_eq!(denials.take().len(), Denials::KEPT);
}
