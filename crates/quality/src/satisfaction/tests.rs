//! Judgements of turns. The messages were written as users write them; each has the judgement of a reader, and `?` where
//! a reader could not tell either.

use super::*;

/// Messages after a turn with the prompt "add a retry to the upload in src/upload.rs", which changed that file.
const MESSAGES: &str = r#"
+ thanks!
+ Thank you, that's exactly it
+ perfect
+ Great, works now
+ nice work
+ LGTM
+ Danke, passt so
+ Super, danke dir
+ looks good to me
+ that works, thanks
+ excellent
+ Sehr schön
+ commit
+ commit this with a short message
+ please commit and push
+ Push it to the branch
+ ship it
+ create a PR for it
+ bitte committen
+ merge to main
+ add a dark theme to the settings dialog
+ Now write documentation for the plugin protocol
+ implement pagination for the invoice list endpoint
+ rename Customer.address to Customer.postalAddress everywhere
+ Schreibe einen Test für den Kalenderexport nach Outlook
+ bump tokio to the latest release in Cargo.toml
+ remove the deprecated telemetry feature flags
+ refactor the login screen to use hooks
- no, that's not what I meant
- No. The limit must be per host
- nope
- Nein, das war falsch
- wrong file
- it still fails with the same timeout
- still broken
- The test is still failing on Windows
- That doesn't work
- doesn't compile
- you broke the build
- why did you delete the logging?
- you removed my comment
- you forgot the second call
- revert that
- undo your last change please
- please roll back, this is even worse
- try again, but keep the signature
- that's not right, the delay should double
- I said three attempts, not five
- I told you not to touch the tests
- das funktioniert nicht
- Geht immer noch nicht
- schon wieder derselbe Fehler
- mach das rückgängig
- Warum hast du die Tests gelöscht?
- this is wrong
- the backoff is wrong
- you ignored the second requirement
- that made it worse
- not what I asked for
- I still get the panic when the server is down
- stop
- error[E0308]: mismatched types
- error: could not compile `upload` due to 2 previous errors
- thread 'main' panicked at src/upload.rs:12:5:
- Traceback (most recent call last)
- TypeError: undefined is not a function
- src/upload.rs:40:9: error: expected expression
- npm ERR! code ELIFECYCLE
- test result: FAILED. 3 passed; 1 failed
- Exception in thread "main" java.lang.NullPointerException
- FAILED tests/test_upload.py::test_retry - AssertionError
? what does the second parameter do?
? ok
? hm
? continue
? go on
? yes
? 3
? can you also handle timeouts?
? and for downloads?
? run the tests again
? is it still necessary to keep the old function?
? how many attempts are made now?
? make it five attempts
? use exponential backoff instead
? also add a log line for each attempt
? thanks, but the delay is too short
? great, except for the name of the constant
? good question, what do you think?
? add a test for the retry
? rename the retry function
? explain the upload code
? now do the same for the download
? if it doesn't work on Windows, tell me
? find out what is wrong with the parser of dates
? The retry is fine I guess
? Looks better but not there yet
? let me check
? weiter
? kannst du das noch testen?
? wie viele Versuche sind es jetzt?
? mach es bitte konfigurierbar
? hmm, interesting
? why is there a sleep in the loop?
? should fail if the host is unknown
? no idea what this means, explain the error type
? nothing else
? note that the server limits requests
? nobody uses upload any more
? commit messages in this repository follow a strict convention, which linter checks that before each push and where is it configured?
? write that to a file
? fix the other one too
? the file is huge
? nonetheless keep the old name
"#;

fn judged(message: &str) -> Satisfaction {
    let changed = ["src/upload.rs".to_owned()];
    let turn = TurnFacts {
        prompt: "add a retry to the upload in src/upload.rs",
        changed: &changed,
    };
    judge(&turn, (MESSAGE_MS, message))
}

/// A judgement must be right where it is given; only unknown may be wrong, and not too often.
#[test]
fn judgements_are_right_or_unknown() {
    let (mut given, mut wrong, mut clear, mut missed) = (0, Vec::new(), 0, Vec::new());
    for line in MESSAGES.lines().filter(|line| !line.is_empty()) {
        let (sign, message) = line.split_at(2);
        let found = judged(message);
        let expected = sign.trim();
        let name = match found {
            Satisfaction::Satisfied(_) => "+",
            Satisfaction::Dissatisfied(_) => "-",
            Satisfaction::Unknown => "?",
        };
        given += usize::from(name != "?");
        clear += usize::from(expected != "?");
        if name != "?" && name != expected {
            wrong.push(format!("{line} is judged {found:?}"));
        }
        if name == "?" && expected != "?" {
            missed.push(line);
        }
    }
    println!(
        "{given} given, wrong {wrong:?}, {} of {clear} missed: {missed:?}",
        missed.len()
    );
    assert!(wrong.len() * 50 <= given, "{wrong:?}");
    assert!(missed.len() * 10 <= clear, "{missed:?}");
}

#[test]
fn late_messages_are_unknown() {
    let changed = ["a.rs".to_owned()];
    let turn = TurnFacts {
        prompt: "x",
        changed: &changed,
    };
    assert_eq!(
        judge(&turn, (MESSAGE_MS, "thanks")),
        Satisfaction::Satisfied(Sign::Praised)
    );
    assert_eq!(
        judge(&turn, (MESSAGE_MS + 1, "thanks")),
        Satisfaction::Unknown
    );
}

#[test]
fn actions_speak_without_words() {
    let actions = |edited_ms, is_undone| TurnActions {
        edited_ms,
        is_undone,
    };
    let with = |words: Satisfaction, edited_ms, is_undone| {
        words.with_actions(&actions(edited_ms, is_undone))
    };
    let unknown = Satisfaction::Unknown;
    let bad = Satisfaction::Dissatisfied;
    assert_eq!(with(unknown, Some(EDIT_MS), false), bad(Sign::EditedByHand));
    assert_eq!(with(unknown, Some(EDIT_MS + 1), false), unknown);
    assert_eq!(with(unknown, None, true), bad(Sign::Undone));
    assert_eq!(with(bad(Sign::Objected), None, true), bad(Sign::Objected));
    // Signs of both kinds tell nothing.
    let good = Satisfaction::Satisfied(Sign::Praised);
    assert_eq!(with(good, Some(5), false), unknown);
    assert_eq!(with(good, None, false), good);
}

#[test]
fn an_error_after_an_answer_in_words_is_a_new_task() {
    let changed = ["a.rs".to_owned()];
    let turn = |changed| TurnFacts {
        prompt: "x",
        changed,
    };
    let error = (9, "error[E0308]: mismatched types");
    assert_eq!(judge(&turn(&[]), error), Satisfaction::Unknown);
    assert_eq!(
        judge(&turn(&changed), error),
        Satisfaction::Dissatisfied(Sign::PastedError)
    );
}

#[test]
fn unknown_turns_count_in_no_share() {
    let mut counts = SatisfactionCounts::default();
    assert_eq!(counts.share(), None);
    counts.add(Satisfaction::Unknown);
    assert_eq!(counts.share(), None);
    counts.add(Satisfaction::Satisfied(Sign::Praised));
    counts.add(Satisfaction::Satisfied(Sign::MovedOn));
    counts.add(Satisfaction::Dissatisfied(Sign::Objected));
    assert_eq!((counts.unknown, counts.share()), (1, Some(2.0 / 3.0)));
}
