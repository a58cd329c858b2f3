//! Commands and the sandbox: what the person is asked when it kept a command from something.

use std::sync::Arc;

use base::AbsPath;
use host::process::{Bounds, Denial, End, Ended, Planted};
use model::Content;

use crate::ask::{Question, rules_in_words};
use crate::confine::Sandbox;
use crate::outcome::Detail;
use crate::rules::is_read_only;
use crate::tool::{Answer, Kept, Shown, ToolContext};

use super::super::terminal::Terminal;
use super::super::unexpected;
use super::Wanted;

/// Things of one refusal that a question names; the rest is counted.
const NAMED: usize = 3;
const SKIP: &str = "Skip";
const ONCE: &str = "Allow once";
/// The beginning of the answer that is kept; the rules follow.
const ALWAYS: &str = "Always in this project for";
const OUTSIDE: &str = "Run outside the sandbox";

/// How a command is started.
pub(super) enum Way {
    /// With the person's rights: there is no sandbox, or they said so.
    Free,
    /// In bounds that let these things through.
    Bound(Vec<Denial>),
    /// In bounds for commands that only read: they run unasked.
    Reading,
}

/// What the person decided about a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Skip,
    Once,
    Always,
    Outside,
}

/// How far calls of a session are kept in bounds.
pub(super) fn kept(context: &ToolContext) -> Kept {
    match &context.sandbox {
        None => Kept::Free,
        Some(sandbox) if sandbox.has_own_ground() => Kept::ToOwnGround,
        Some(_) => Kept::ToProject,
    }
}

impl Way {
    /// The way of a command that nobody was asked about.
    pub(super) fn of(context: &ToolContext, wanted: &Wanted) -> Self {
        match &context.sandbox {
            None => Way::Free,
            Some(_) if is_read_only(&wanted.command) => Way::Reading,
            Some(sandbox) => Way::Bound(sandbox.granted(&wanted.command)),
        }
    }

    /// The bounds to start in; `None` where it is free. Where they cannot be had, the person is asked: nothing runs
    /// without them in silence.
    pub(super) async fn bounds(
        &mut self,
        context: &ToolContext,
        wanted: &Wanted,
    ) -> Result<Option<Arc<dyn Bounds>>, Answer> {
        let Some(sandbox) = &context.sandbox else {
            return Ok(None);
        };
        let made = match self {
            Way::Free => return Ok(None),
            Way::Bound(granted) => {
                let granted = granted.clone();
                made(sandbox, move |sandbox| sandbox.bounds(&granted)).await
            }
            Way::Reading => made(sandbox, |sandbox| sandbox.reading()).await,
        };
        let sentence = match made {
            Ok(bounds) => return Ok(Some(bounds)),
            Err(sentence) => sentence,
        };
        let question = Question {
            text: format!(
                "{} cannot be run in the sandbox: {sentence}",
                quoted(&wanted.command)
            ),
            options: [SKIP, OUTSIDE].map(str::to_owned).to_vec(),
        };
        match choice(context.desk.ask(question).await.as_deref()) {
            Choice::Outside => {
                *self = Way::Free;
                Ok(None)
            }
            _ => Err(unexpected(format!("The command was not run: {sentence}"))
                .with_detail(Detail::SandboxUnavailable)),
        }
    }

    /// A command has ended. Where the sandbox kept it from something that it needed, the person decides; true where
    /// it is to run once more, this way.
    pub(super) async fn widened(
        &mut self,
        context: &ToolContext,
        wanted: &Wanted,
        terminal: &Terminal,
        ended: Ended,
    ) -> bool {
        let denials = terminal.denials();
        let Some(sandbox) = &context.sandbox else {
            return false;
        };
        let mut granted = match self {
            Way::Free => return false,
            Way::Bound(granted) => granted.clone(),
            Way::Reading => Vec::new(),
        };
        let more: Vec<Denial> = denials
            .into_iter()
            .filter(|denial| !granted.contains(denial))
            .collect();
        if ended.end == End::Exited(0) || more.is_empty() {
            return false;
        }
        let rules = sandbox.rules(&wanted.command);
        let answer = context.desk.ask(question(wanted, &more, &rules)).await;
        let chosen = choice(answer.as_deref());
        if chosen == Choice::Always
            && let Err(sentence) = sandbox.grant(&wanted.command, &more)
        {
            base::report(&sentence);
        }
        match chosen {
            Choice::Skip => return false,
            Choice::Once | Choice::Always => {
                granted.extend(more);
                *self = Way::Bound(granted);
            }
            Choice::Outside => *self = Way::Free,
        }
        true
    }
}

async fn made(
    sandbox: &Arc<dyn Sandbox>,
    make: impl FnOnce(&dyn Sandbox) -> Result<Arc<dyn Bounds>, String> + Send + 'static,
) -> Result<Arc<dyn Bounds>, String> {
    let sandbox = Arc::clone(sandbox);
    let made = tokio::task::spawn_blocking(move || make(&*sandbox)).await;
    made.unwrap_or_else(|error| Err(format!("it broke off: {error}")))
}

/// The question whether a command may do more. It names the whole command and everything that would be allowed.
fn question(wanted: &Wanted, denials: &[Denial], rules: &[String]) -> Question {
    let always = format!("{ALWAYS} {}", rules_in_words(rules));
    let all: Vec<String> = denials.iter().map(Denial::to_string).collect();
    Question {
        text: format!(
            "The sandbox did not allow {} {}.",
            quoted(&wanted.command),
            all.join(", ")
        ),
        options: vec![SKIP.to_owned(), ONCE.to_owned(), always, OUTSIDE.to_owned()],
    }
}

fn quoted(command: &str) -> String {
    format!("\u{201c}{command}\u{201d}")
}

/// `to change /etc/hosts, to reach example.com:443 and 2 more things`.
fn listed(denials: &[Denial]) -> String {
    let named: Vec<String> = denials.iter().take(NAMED).map(Denial::to_string).collect();
    let named = named.join(", ");
    match denials.len().saturating_sub(NAMED) {
        0 => named,
        1 => format!("{named} and one more thing"),
        more => format!("{named} and {more} more things"),
    }
}

/// Whatever is not clearly leave is none.
fn choice(answer: Option<&str>) -> Choice {
    match answer.map(str::trim) {
        Some(ONCE) => Choice::Once,
        Some(answer) if answer.starts_with(ALWAYS) => Choice::Always,
        Some(OUTSIDE) => Choice::Outside,
        _ => Choice::Skip,
    }
}

/// The line about what the sandbox forbade, for the model, and what lies beneath; `None` where it forbade nothing.
pub(super) fn refusal(terminal: &Terminal) -> Option<(String, Detail)> {
    let denials = terminal.denials();
    let what = match denials.first()? {
        Denial::Write(path) | Denial::Read(path) | Denial::Connect(path) => path.to_string(),
        Denial::Host(host, port) => format!("{host}:{port}"),
        Denial::Call(name) => name.clone(),
    };
    let line = format!(
        "the sandbox did not allow it {}; work without that, or say why it is needed",
        listed(&denials)
    );
    Some((line, Detail::SandboxDenied { what }))
}

/// Lines about what a command left that a person is shown; the rest is counted.
const SHOWN: usize = 12;

/// An answer with what its command left that other programs run by themselves, where it left anything.
pub(super) fn with_planted(answer: Answer, terminal: &Terminal) -> Answer {
    let planted = terminal.planted();
    if planted.is_empty() {
        return answer;
    }
    let answer = answer.showing(Shown::Text(for_person(&planted)));
    let aside: Vec<&AbsPath> = aside(&planted).map(|one| &one.path).collect();
    let Some(first) = aside.first() else {
        return answer;
    };
    let named: Vec<String> = aside.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match aside.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let line = format!(
        "\n[put aside, because other programs would run it by themselves: {}{more}; go on without it, or ask the \
         person to make it]",
        named.join(", ")
    );
    let what = first.to_string();
    let mut answer = answer.with_detail(Detail::Planted { what });
    answer.content.push(Content::Text(line));
    answer
}

fn aside(planted: &[Planted]) -> impl Iterator<Item = &Planted> {
    planted.iter().filter(|one| one.aside.is_some())
}

/// What was put aside and where, and what stayed and is to be looked at.
fn for_person(planted: &[Planted]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let stayed = planted.iter().filter(|one| one.aside.is_none());
    for (head, list) in [
        (
            "Put aside before anything could run it:",
            aside(planted).collect::<Vec<_>>(),
        ),
        (
            "To be looked at before other programs use it:",
            stayed.collect(),
        ),
    ] {
        if list.is_empty() {
            continue;
        }
        lines.push(head.to_owned());
        lines.extend(
            list.iter()
                .take(SHOWN)
                .map(|one| format!("- {}", one.sentence)),
        );
        if let more @ 1.. = list.len().saturating_sub(SHOWN) {
            lines.push(format!("- and {more} more"));
        }
    }
    if let Some(folder) = aside(planted).find_map(|one| one.aside.as_ref()) {
        lines.push(format!(
            "It lies in {folder}; `burin-agent sandbox --restore {folder}` brings it back."
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
