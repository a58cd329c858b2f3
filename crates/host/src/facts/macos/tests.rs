//! Tests with output as the programs of macOS print it.

use super::*;

const SW_VERS: &str = "ProductName:\t\tmacOS\nProductVersion:\t\t15.5\nBuildVersion:\t\t24F74\n";
const DISPLAYS: &str = "Graphics/Displays:\n\n    Apple M2:\n\n      Chipset Model: Apple M2\n      \
                        Type: GPU\n      Metal Support: Metal 3\n";

fn volume(kind: &str, is_local: bool) -> Volume {
    Volume {
        kind: kind.to_owned(),
        is_local,
        is_case_sensitive: Some(false),
    }
}

fn good_machine() -> MacProbe {
    MacProbe {
        session: Some("Aqua\n".to_owned()),
        displays: Some(DISPLAYS.to_owned()),
        translated: Some("0\n".to_owned()),
        sandbox_exec: Some(0),
        integrity: Some("System Integrity Protection status: enabled.\n".to_owned()),
        volumes: vec![("project volume", volume("apfs", true))],
    }
}

/// Returns the verdict about `name` as a letter, and the value.
fn verdict(probe: &MacProbe, name: &str) -> String {
    let facts = judge(probe);
    let fact = facts.iter().find(|fact| fact.name == name);
    let fact = fact.expect("a fact");
    let letter = match &fact.verdict {
        FactVerdict::Good => "good",
        FactVerdict::Warn(advice) | FactVerdict::Bad(advice) if advice.len() < 10 => "no advice",
        FactVerdict::Warn(_) => "warn",
        FactVerdict::Bad(_) => "bad",
    };
    format!("{letter}: {}", fact.value)
}

#[test]
fn a_good_machine_has_good_facts_without_words_of_linux() {
    let facts = judge(&good_machine());
    for fact in &facts {
        assert_eq!(fact.verdict, FactVerdict::Good, "{fact:?}");
    }
    assert_eq!(verdict(&good_machine(), "Metal"), "good: Metal 3, Apple M2");
    assert_eq!(
        verdict(&good_machine(), "project volume"),
        "good: apfs, not case-sensitive"
    );
    assert_eq!(version(SW_VERS).as_deref(), Some("macOS 15.5 (24F74)"));
    assert_eq!(version(""), None);
    let others = [good_machine(), MacProbe::default()];
    for fact in others.iter().flat_map(judge) {
        let shown = format!("{fact:?}");
        for word in [
            "Linux", "/proc", "/dev/dri", "Vulkan", "DISPLAY", "X11", "sysctl ",
        ] {
            assert!(!shown.contains(word), "{shown}");
        }
    }
}

#[test]
fn problems_are_told_with_advice() {
    let with = |change: &dyn Fn(&mut MacProbe), name: &str| {
        let mut probe = good_machine();
        change(&mut probe);
        verdict(&probe, name)
    };
    let session = |probe: &mut MacProbe| probe.session = Some("Background".to_owned());
    assert_eq!(
        with(&session, "window server"),
        "warn: not available in a session of type Background"
    );
    let rosetta = |probe: &mut MacProbe| probe.translated = Some("1\n".to_owned());
    assert_eq!(
        with(&rosetta, "translation"),
        "warn: this program runs under Rosetta"
    );
    for (exit, expected) in [
        (Some(71), "bad: this program is sandboxed itself"),
        (Some(65), "bad: sandbox-exec exits with 65"),
        (None, "bad: sandbox-exec does not run"),
    ] {
        let nested = move |probe: &mut MacProbe| probe.sandbox_exec = exit;
        assert_eq!(with(&nested, "sandbox"), expected);
    }
    let open = |probe: &mut MacProbe| {
        probe.integrity = Some("System Integrity Protection status: disabled.\n".to_owned());
    };
    assert_eq!(with(&open, "system integrity"), "warn: disabled");
    for (kind, is_local) in [("exfat", true), ("smbfs", false), ("apfs", false)] {
        let other = move |probe: &mut MacProbe| probe.volumes[0].1 = volume(kind, is_local);
        let expected = format!("warn: {kind}, not case-sensitive");
        assert_eq!(with(&other, "project volume"), expected);
    }
    let none = |probe: &mut MacProbe| {
        probe.displays = Some("Chipset Model: X\nMetal Support: Not Supported".to_owned())
    };
    assert_eq!(with(&none, "Metal"), "bad: Not Supported, X");
}
