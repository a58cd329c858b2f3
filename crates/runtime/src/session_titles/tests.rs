//! The model for a title, and the title in its answer.

mod asking;

use agent::record::SessionMode;
use agent::stored_parts;
use model::{Rates, TokenRate};

use super::*;

fn model(name: &str, rate: Option<u64>, is_local: bool) -> TitleModel {
    TitleModel {
        id: ModelId::parse(name).expect("provider/model"),
        price: rate.map(|rate| Price {
            base: Rates {
                input: Some(TokenRate(rate)),
                output: Some(TokenRate(rate)),
                ..Rates::default()
            },
            tiers: Vec::new(),
        }),
        is_local,
    }
}

#[test]
fn the_cheapest_model_of_the_same_provider_writes_titles() {
    let models = [
        model("far/big", Some(9), false),
        model("far/small", Some(2), false),
        model("far/unpriced", None, false),
        model("other/tiny", Some(1), false),
        model("odd/only", None, false),
        model("here/large", Some(0), true),
        model("here/small", Some(0), true),
    ];
    let check = |setting, used, expected: Option<&str>| {
        let chosen = choose(setting, used, &models).map(|id| id.to_string());
        assert_eq!(chosen.as_deref(), expected, "{setting} {used}");
    };
    check("auto", "far/big", Some("far/small"));
    check("auto", "far/small", Some("far/small"));
    check("auto", "here/large", Some("here/large"));
    check("auto", "odd/only", None);
    check("auto", "gone/model", None);
    check("none", "far/big", None);
    check("other/tiny", "far/big", Some("other/tiny"));
    check("other/unknown", "far/big", None);
}

#[test]
fn commit_messages_come_from_allowed_models_only() {
    let titles = |setting: &str, auto: &[&str], models: Vec<TitleModel>| SessionTitles {
        setting: setting.to_owned(),
        auto: auto.iter().map(|name| (*name).to_owned()).collect(),
        models,
        requested: Mutex::default(),
    };
    let far = || {
        vec![
            model("far/big", Some(9), false),
            model("far/small", Some(2), false),
            model("other/tiny", Some(1), false),
        ]
    };
    let mut with_local = far();
    with_local.push(model("here/large", Some(0), true));
    let chosen = |titles: SessionTitles, default: &str| {
        let model = titles.model_for_commit(default);
        model.map(|id| id.to_string())
    };
    let check = |found: Option<String>, expected: Option<&str>| {
        assert_eq!(found.as_deref(), expected);
    };
    check(
        chosen(titles("auto", &[], far()), "far/big"),
        Some("far/small"),
    );
    check(
        chosen(titles("auto", &[], far()), "auto"),
        Some("other/tiny"),
    );
    check(
        chosen(titles("auto", &["far/big"], far()), "auto"),
        Some("far/big"),
    );
    check(
        chosen(titles("auto", &[], with_local), "auto"),
        Some("here/large"),
    );
    check(chosen(titles("none", &[], far()), "auto"), None);
    check(chosen(titles("auto", &[], far()), "demo"), None);
}

#[test]
fn only_a_first_turn_without_a_name_gets_a_title() {
    let titles = SessionTitles {
        setting: AUTO.to_owned(),
        auto: Vec::new(),
        models: vec![
            model("far/big", Some(9), false),
            model("demo/demo", Some(0), true),
        ],
        requested: Mutex::default(),
    };
    let line = SessionSummary {
        id: "s".to_owned(),
        started_ms: 0,
        last_ms: 0,
        root: "/p".to_owned(),
        title: "Mend the roof".to_owned(),
        has_title: false,
        model: "far/big".to_owned(),
        wanted: "auto".to_owned(),
        mode: SessionMode::Build,
        turns: 1,
        cost_nano: 0,
        has_unknown_cost: false,
        state: SessionState::Ended(TurnEnd::Done),
        parent: None,
        forked_from: None,
        is_archived: false,
        is_unread: false,
        spent_by_day: Default::default(),
    };
    let check = |change: fn(&mut SessionSummary), gets_title| {
        let mut line = line.clone();
        change(&mut line);
        assert_eq!(titles.model_for(&line).is_some(), gets_title, "{line:?}");
    };
    check(|_| (), true);
    check(|it| it.has_title = true, false);
    check(|it| it.turns = 0, false);
    check(|it| it.turns = 3, false);
    check(|it| it.state = SessionState::Ended(TurnEnd::Stopped), false);
    check(|it| it.model = "demo/demo".to_owned(), false);
    check(|it| it.forked_from = Some("t".to_owned()), false);
    assert!(titles.begin("s") && !titles.begin("s") && titles.begin("t"));
}

#[test]
fn the_title_is_the_first_line_without_decoration() {
    let check = |answer, expected: Option<&str>| {
        assert_eq!(title_of(answer).as_deref(), expected, "{answer}");
    };
    check("Mend the roof", Some("Mend the roof"));
    check("\n\"Mend the roof.\"\nIt rains.", Some("Mend the roof"));
    check("**Dach flicken**", Some("Dach flicken"));
    check("\u{201c}Roof\u{201d}", Some("Roof"));
    check(" \n", None);
    check("\"\"", None);
}

#[test]
fn the_request_holds_the_first_prompt_and_answer_alone() {
    let records = [
        SessionRecord::Prompted {
            turn: 1,
            parts: vec![stored_parts::text("roof ".repeat(1_000))],
            is_steering: false,
        },
        SessionRecord::TurnEnded {
            turn: 1,
            end: TurnEnd::Done,
        },
        SessionRecord::Prompted {
            turn: 2,
            parts: vec![stored_parts::text("and the door")],
            is_steering: false,
        },
    ];
    let stored = records.map(|record| Stored {
        seq: 0,
        at_ms: 0,
        record,
    });
    let id = ModelId::parse("far/small").expect("provider/model");
    let built = request(id.clone(), &stored).expect("there is a prompt");
    let sent = format!("{:?}", built.messages);
    assert!(
        sent.contains("roof roof") && !sent.contains("door"),
        "{sent}"
    );
    assert!(sent.len() < 3 * MAX_TEXT, "{}", sent.len());
    assert!(built.tools.is_empty());
    assert_eq!(request(id, &stored[1..2]), None);
}
