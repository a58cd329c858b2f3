//! The page with the cost of models, and notices of budgets.

use composer_panel::agents::{SpendLine, SpendNotice, Spending};
use gpui_kit::TestAppContext;

use super::Story;
use super::a11y::names;
use super::agents::open;

fn line(name: &str, cost_nano: u64, tokens: u64) -> SpendLine {
    SpendLine {
        name: name.to_owned(),
        cost_nano,
        has_unknown_cost: false,
        tokens,
        predicted: (0, 0),
    }
}

fn notice() -> SpendNotice {
    SpendNotice {
        at_ms: 1_700_000_000_000,
        scope: "day".to_owned(),
        percent: 80,
    }
}

fn is_named(story: &mut Story, wanted: &str) -> bool {
    let names = names(story, "the panel for agents");
    names.iter().any(|name| name.contains(wanted))
}

#[gpui_kit::test]
fn the_cost_of_models_is_listed_by_day_model_and_agent(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b").keys("alt-shift-u");
    story.settle();
    assert!(is_named(&mut story, "Cost of models"));
    assert!(is_named(&mut story, "Today: $0. No daily budget is set"));
    story.keys("escape");
    story.settle();
    assert!(!is_named(&mut story, "Cost of models"));
    let unknown = SpendLine {
        has_unknown_cost: true,
        ..line("own/new", 0, 9)
    };
    fake.set_spending(Spending {
        total: SpendLine {
            predicted: (12_000, 40),
            ..line("", 2_500_000_000, 1_500_000)
        },
        today: line("2023-11-14", 1_000_000_000, 500_000),
        days: vec![line("2023-11-14", 1_000_000_000, 500_000)],
        models: vec![line("far/big", 2_500_000_000, 1_500_000), unknown],
        agents: vec![line("mend the roof", 2_000_000_000, 0)],
        purposes: vec![line("Subagents", 500_000_000, 100_000)],
        notices: vec![notice()],
    });
    // From the editor, as the palette runs it.
    story.open_file("main.rs");
    story.act(composer_panel::actions::ShowSpending);
    for wanted in [
        "2023-11-14: $1.00, 500k tokens",
        "far/big: $2.50, 1.5M tokens",
        "own/new: price unknown, 9 tokens",
        "mend the roof: $2.00",
        "Subagents: $0.50, 100k tokens",
        "Predicted outputs: 12000 predicted tokens accepted, 40 rejected",
        "2023-11-14: 80 % of the budget of the day for models is used.",
    ] {
        assert!(is_named(&mut story, wanted), "{wanted}");
    }
}

#[gpui_kit::test]
fn a_budget_that_is_nearly_used_is_reported(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-b");
    story.settle();
    fake.send_budget_notice(&notice());
    story.settle();
    let reports = story.reports();
    assert!(
        reports
            .iter()
            .any(|report| report.starts_with("80 % of the budget of the day")),
        "{reports:?}"
    );
}
