//! The user of a story, who answers or refuses the questions of Git, ssh and signing programs.

use std::pin::pin;

use futures::executor::block_on;
use futures::future::{Either, select};
use git_panel::{GitPrompt, GitService as _};
use git_program::{PromptKind, askpass_client};

use super::Fixture;

/// Variable with the question, in the process that Git and ssh run to ask.
const QUESTION: &str = "BURIN_TEST_QUESTION";
/// The test that acts as this process.
const CHILD: &str = "git_service::tests::answers::a_question_waits_for_its_answer";

/// Runs as the process that Git and ssh run to ask, if the variable says so.
#[test]
fn a_question_waits_for_its_answer() {
    if let Some(question) = std::env::var_os(QUESTION) {
        std::process::exit(askpass_client(&[question]));
    }
}

/// Makes Git and ssh ask through this program, whose output begins with two lines of the test harness.
pub(super) fn connect(fixture: &Fixture) {
    let program = std::env::current_exe().expect("the path of this program");
    let ask = format!(
        "{QUESTION}=\"$1\" '{}' --quiet --nocapture --exact {CHILD}",
        program.display()
    );
    let script =
        format!("answer=$({ask} | sed -n 3p)\ntest -n \"$answer\" && printf '%s\\n' \"$answer\"");
    let place = fixture.folder.join("ask");
    fixture.install(&place, &script);
    fixture.service.folder.prompts.ask_through(place);
}

/// Answers the questions of the service while `work` runs; a question without an answer is refused. Returns the result of the
/// work with the kinds of the questions.
pub(super) fn answering<T>(
    fixture: &Fixture,
    answer: impl Fn(&GitPrompt) -> Option<&'static str> + Send,
    work: impl FnOnce() -> T,
) -> (T, Vec<PromptKind>) {
    let questions = fixture.service.prompts();
    let (end, ended) = async_channel::bounded::<()>(1);
    std::thread::scope(|scope| {
        let user = scope.spawn(move || {
            let mut kinds = Vec::new();
            loop {
                let question = pin!(questions.recv());
                let end = pin!(ended.recv());
                let Either::Left((Ok(prompt), _)) = block_on(select(question, end)) else {
                    break kinds;
                };
                kinds.push(prompt.kind);
                if let Some(answer) = answer(&prompt) {
                    (prompt.reply)(answer.to_owned().into());
                }
            }
        });
        let result = work();
        drop(end);
        (result, user.join().expect("no panic"))
    })
}
