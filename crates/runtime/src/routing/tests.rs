//! Budgets of the settings.

use model::Cost;
use settings::ModelSettings;

use super::budget_caps;

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
