//! The text of an issue: versions, the machine, the latest crash. Redacted.

use host::{Fact, FactVerdict};

use crate::note::{CrashNote, ProgramVersion};
use crate::redaction::Redaction;

/// Returns a report in Markdown, whose first part the user writes. It holds nothing that the redaction removes.
pub fn issue_report(
    program: &ProgramVersion,
    facts: &[Fact],
    crash: Option<&CrashNote>,
    redaction: &Redaction,
) -> String {
    let mut report = String::from(
        "## Problem\n\nSteps, what you expected, and what happened instead.\n\n## Versions and machine\n\n",
    );
    report.push_str(&format!("- {}: {}\n", program.name, program.version));
    for fact in facts {
        let value = redaction.text(&fact.value);
        let mark = match fact.verdict {
            FactVerdict::Good => "",
            FactVerdict::Warn(_) => " (warning)",
            FactVerdict::Bad(_) => " (does not work)",
        };
        report.push_str(&format!("- {}: {value}{mark}\n", fact.name));
    }
    if let Some(crash) = crash {
        report.push_str("\n## Latest crash\n\n");
        report.push_str(&crash.report(redaction));
    }
    report
}

impl CrashNote {
    /// Returns the note in Markdown, redacted.
    pub fn report(&self, redaction: &Redaction) -> String {
        let note = Self {
            message: redaction.message(&self.message),
            place: redaction.backtrace(&self.place),
            thread: redaction.text(&self.thread),
            backtrace: redaction.backtrace(&self.backtrace),
            ..self.clone()
        };
        // A longer fence than any in the note.
        format!("````text\n{}````\n", note.to_text().replace("````", "'''"))
    }
}

#[cfg(test)]
mod tests {
    use host::{Fact, FactVerdict};

    use super::issue_report;
    use crate::note::{CrashNote, ProgramVersion};
    use crate::redaction::Redaction;

    #[test]
    fn a_report_has_the_machine_and_the_crash_without_secrets() {
        let redaction = Redaction {
            home: Some("/home/ada".to_owned()),
            user: Some("ada".to_owned()),
            host: None,
        };
        let program = ProgramVersion {
            name: "burin",
            version: "1.2.3",
        };
        let fact = |name, value: &str, verdict| Fact {
            name,
            value: value.to_owned(),
            verdict,
        };
        let facts = [
            fact("git", "2.39.5", FactVerdict::Good),
            fact(
                "cache volume",
                "ext4 at /home/ada/.cache",
                FactVerdict::Warn("advice".to_owned()),
            ),
        ];
        let crash = CrashNote {
            program: "burin 1.2.3".to_owned(),
            message: "cannot read \"my diary\" in /home/ada/x: sk-abcdef123456 ````".to_owned(),
            place: "/burin/crates/a.rs:1:2".to_owned(),
            backtrace: "0: burin+0x10 - <unknown>\n1: at /home/ada/burin/a.rs:1".to_owned(),
            ..CrashNote::default()
        };
        let report = issue_report(&program, &facts, Some(&crash), &redaction);
        for expected in [
            "## Problem\n",
            "- burin: 1.2.3\n- git: 2.39.5\n- cache volume: ext4 at ~/.cache (warning)\n",
            "  cannot read \"[text]\" in [path]: [secret] ",
            "place: /burin/crates/a.rs:1:2\n",
            "  0: burin+0x10 - <unknown>\n  1: at ~/burin/a.rs:1\n",
        ] {
            assert!(report.contains(expected), "{expected:?} in {report}");
        }
        for secret in ["ada", "diary", "abcdef"] {
            assert!(!report.contains(secret), "{secret} in {report}");
        }
        assert_eq!(report.matches("````").count(), 2);
        let without = issue_report(&program, &[], None, &redaction);
        assert!(without.ends_with("- burin: 1.2.3\n"), "{without}");
    }
}
