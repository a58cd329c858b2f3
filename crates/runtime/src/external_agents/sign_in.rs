//! Asks the user to sign in to an external agent.

use agent::user_prompts::{UserPrompts, UserQuestion};
use base::{LineFeeds, printable};
use connect::acp::host::SignIn;
use connect::acp::protocol::SignInMethod;
use serde_json::Map;

use super::directory::ExternalAgent;

/// The answer after a sign-in in a terminal.
const TRY_AGAIN: &str = "Try again";

/// The user's answer to the request to sign in.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SignInAnswer {
    /// Sign in with a method of the agent.
    Method(SignIn),
    /// The user signed in elsewhere: start the agent again.
    Restart,
    /// Do not sign in.
    Declined,
}

/// Returns the question for the user: the reason, a command for each method that needs a terminal,
/// and the methods to choose from.
pub(super) fn question(agent: &ExternalAgent, methods: &[SignInMethod], why: &str) -> UserQuestion {
    let mut text = format!(
        "{} asks you to sign in: {}",
        agent.name,
        printable(why, LineFeeds::Escape)
    );
    for method in methods {
        if let Some(command) = terminal_command(agent, method) {
            let name = printable(&method.name, LineFeeds::Escape);
            text.push_str(&format!(
                "\n{name}: run this in a terminal, then try again:\n{command}"
            ));
        }
    }
    if !agent.sign_in.is_empty() {
        text.push_str(&format!("\n{}", agent.sign_in));
    }
    let direct = methods.iter().filter(|it| it.terminal.is_none());
    let names = direct.map(|it| printable(&it.name, LineFeeds::Escape).into_owned());
    UserQuestion {
        text,
        options: names.chain([TRY_AGAIN.to_owned()]).collect(),
    }
}

/// Returns the command line that signs in by a method; `None` if the method needs no terminal.
fn terminal_command(agent: &ExternalAgent, method: &SignInMethod) -> Option<String> {
    let terminal = method.terminal.as_ref()?;
    let program = &agent.command.as_ref()?.program;
    let variables = terminal.environment.iter();
    let variables = variables.map(|(name, value)| format!("{name}={}", quoted(value)));
    let words = std::iter::once(program).chain(&terminal.arguments);
    let words = words.map(|word| quoted(word));
    let line: Vec<String> = variables.chain(words).collect();
    Some(printable(&line.join(" "), LineFeeds::Escape).into_owned())
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./=:@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Asks the user, and returns the answer.
pub(super) async fn ask(
    prompts: UserPrompts,
    question: UserQuestion,
    methods: Vec<SignInMethod>,
) -> SignInAnswer {
    let Some(answer) = prompts.ask(question).await else {
        return SignInAnswer::Declined;
    };
    let answer = answer.trim();
    if answer.eq_ignore_ascii_case(TRY_AGAIN) {
        return SignInAnswer::Restart;
    }
    let chosen = methods
        .into_iter()
        .filter(|it| it.terminal.is_none())
        .find(|it| it.name.eq_ignore_ascii_case(answer) || it.id == answer);
    match chosen {
        Some(method) => SignInAnswer::Method(SignIn {
            method: method.id,
            meta: Map::new(),
        }),
        None => SignInAnswer::Declined,
    }
}

#[cfg(test)]
mod tests {
    use connect::acp::protocol::SignInTerminal;
    use host::RealFiles;

    use super::*;
    use crate::external_agents::directory::find;

    fn method(id: &str, terminal: Option<SignInTerminal>) -> SignInMethod {
        SignInMethod {
            id: id.to_owned(),
            name: id.to_uppercase(),
            description: None,
            terminal,
        }
    }

    #[test]
    fn a_method_for_a_terminal_is_a_command_to_run() {
        let dirs = host::Dirs::under(&base::AbsPath::new("/burin").expect("absolute"));
        let agent = find(&RealFiles, &dirs, "/bin/sh").expect("a program");
        let terminal = SignInTerminal {
            arguments: vec!["--login".to_owned(), "it's me".to_owned()],
            environment: vec![("A".to_owned(), "b c".to_owned())],
        };
        let methods = [method("key", None), method("login", Some(terminal))];
        let question = question(&agent, &methods, "no key");
        assert_eq!(question.options, ["KEY", "Try again"]);
        let program = &agent.command.as_ref().expect("a command").program;
        let line = format!("A='b c' {program} --login 'it'\\''s me'");
        assert!(question.text.contains(&line), "{}", question.text);
        assert!(question.text.contains("asks you to sign in: no key"));
    }

    #[tokio::test]
    async fn an_answer_is_a_method_or_a_new_start() {
        let check = async |answer: Option<&'static str>, expected: SignInAnswer| {
            let prompts =
                UserPrompts::new(move |_| Box::pin(std::future::ready(answer.map(str::to_owned))));
            let question = UserQuestion {
                text: String::new(),
                options: Vec::new(),
            };
            let methods = vec![method("key", None)];
            assert_eq!(ask(prompts, question, methods).await, expected);
        };
        let sign_in = SignIn {
            method: "key".to_owned(),
            meta: Map::new(),
        };
        check(Some("KEY"), SignInAnswer::Method(sign_in)).await;
        check(Some("try again"), SignInAnswer::Restart).await;
        check(Some("no"), SignInAnswer::Declined).await;
        check(None, SignInAnswer::Declined).await;
    }
}
