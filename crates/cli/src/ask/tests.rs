//! Exit codes.

use model::FailureClass;

use super::exit_code;

#[test]
fn model_failure_and_budget_have_different_exit_codes() {
    let code = |class| format!("{:?}", exit_code(class));
    assert!(code(FailureClass::Offline).contains("97"));
    assert!(code(FailureClass::Quota).contains("97"));
    assert!(!code(FailureClass::Budget).contains("97"));
}
