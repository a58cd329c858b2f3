//! Exit codes, and parsing of terminal lines.

use agent::record::TurnEnd;
use agent::user_prompts::PermissionDecision;

use super::exit_code;
use super::terminal_ui::{answers, decision};

fn check(end: TurnEnd, code: u8) {
    let expect = std::process::ExitCode::from(code);
    assert_eq!(
        format!("{:?}", exit_code(&end)),
        format!("{expect:?}"),
        "{end:?}"
    );
}

#[test]
fn every_end_has_its_code() {
    let failed = |class: &str| TurnEnd::Failed {
        class: class.to_owned(),
        what: String::new(),
    };
    let what = String::new;
    check(TurnEnd::Done, 0);
    check(TurnEnd::Refused, 1);
    check(failed("hook"), 1);
    check(failed("ledger"), 1);
    check(TurnEnd::OutOfBudget { what: what() }, 3);
    check(failed("budget"), 3);
    check(TurnEnd::Looped { what: what() }, 4);
    check(failed("offline"), 97);
    check(failed("context_overflow"), 97);
    check(TurnEnd::Stopped, 130);
}

#[test]
fn a_line_at_the_terminal_is_a_decision() {
    assert_eq!(decision("Y"), PermissionDecision::Once);
    assert_eq!(decision("session"), PermissionDecision::Session);
    assert_eq!(decision("a"), PermissionDecision::Always);
    assert_eq!(decision("everywhere"), PermissionDecision::Everywhere);
    assert_eq!(decision(""), PermissionDecision::Refuse { instead: None });
    let instead = Some("use make".to_owned());
    assert_eq!(decision("use make"), PermissionDecision::Refuse { instead });
    let asked = answers(&["Bash(cargo test:*)".to_owned()]);
    assert!(
        asked.contains("the rule Bash(cargo test:*) for this [s]ession"),
        "{asked}"
    );
    assert!(!answers(&[]).contains("[s]ession"), "nothing could be kept");
}
