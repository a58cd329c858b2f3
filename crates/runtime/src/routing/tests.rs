//! Budgets and exit codes.

use model::{Cost, FailureClass};
use settings::ModelSettings;

use super::{budget_caps, exit_code};

#[test]
fn a_budget_of_nothing_is_no_budget() {
    let settings = ModelSettings {
        budget_day: 2.5,
        ..ModelSettings::default()
    };
    let caps = budget_caps(&settings);
    assert_eq!(caps.day.cost, Some(Cost(2_500_000_000)));
    assert_eq!((caps.turn.cost, caps.agent.cost), (None, None));
    assert!(!caps.allow_unknown_price);
}

#[test]
fn model_failure_and_budget_have_different_exit_codes() {
    let code = |class| format!("{:?}", exit_code(class));
    assert!(code(FailureClass::Offline).contains("97"));
    assert!(code(FailureClass::Quota).contains("97"));
    assert!(!code(FailureClass::Budget).contains("97"));
}
