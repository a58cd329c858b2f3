//! Packs leave no placeholder unfilled, for any profile.

use super::*;
use model::Profiles;

const OWN: [&str; 14] = [
    "read",
    "grep",
    "glob",
    "edit",
    "apply_patch",
    "write",
    "exec_command",
    "write_stdin",
    "plan",
    "ask_user",
    "spawn_agent",
    "semantic_search",
    "fetch",
    "list",
];

fn tools(without: &[&str]) -> Vec<(String, String)> {
    let own = OWN.iter().filter(|name| !without.contains(name));
    own.map(|name| ((*name).to_owned(), format!("the_{name}")))
        .collect()
}

fn profile(pack: &str, edit: EditTool, parallel: ParallelTools) -> Profile {
    Profile {
        prompt_pack: pack.to_owned(),
        edit,
        parallel,
        ..Profile::harmless()
    }
}

/// Every built-in profile has a pack, and every placeholder of every pack is filled.
#[test]
fn every_placeholder_of_every_pack_is_filled() {
    let edits = [
        EditTool::StrReplace,
        EditTool::ApplyPatch,
        EditTool::Hashline,
        EditTool::SearchReplace,
        EditTool::WholeFile,
    ];
    let parallels = [
        ParallelTools::Never,
        ParallelTools::Allowed,
        ParallelTools::Hinted,
    ];
    for pack in PACKS {
        for edit in edits {
            for parallel in parallels {
                for post in [AgentRole::Main, AgentRole::Subagent] {
                    let profile = profile(pack.name, edit, parallel);
                    let text = PromptPack::of(&profile).text(&profile, post, &tools(&[]));
                    let what = format!("{} {edit:?} {parallel:?}", pack.name);
                    assert!(
                        !text.contains("{{") && !text.contains("}}"),
                        "{what}:\n{text}"
                    );
                    assert!(!text.contains("\n\n\n"), "{what}");
                    assert!(
                        text.contains("`the_read`") || edit == EditTool::WholeFile,
                        "{what}"
                    );
                    assert!(text.contains("Never print, copy or send secrets"), "{what}");
                    assert!(text.len() < 9_000, "{what}: {} bytes", text.len());
                }
            }
        }
    }
}

#[test]
fn prompt_files_use_only_known_placeholders() {
    let known = ["edit", "parallel", "verify", "safety"];
    for pack in PACKS {
        for gap in pack.text.split("{{").skip(1) {
            let (gap, _) = gap.split_once("}}").expect("a gap is closed");
            let is_tool = gap
                .strip_prefix("tool:")
                .is_some_and(|tool| OWN.contains(&tool));
            assert!(is_tool || known.contains(&gap), "{} has {gap}", pack.name);
        }
    }
}

#[test]
fn packs_named_by_profiles_exist() {
    let text = include_str!("../../../../../assets/models/profiles.json");
    let (profiles, problems) = Profiles::parse(text);
    assert_eq!(problems, Vec::<String>::new());
    for model in [
        "anthropic/claude-sonnet-5",
        "openai/gpt-5.2",
        "gemini/gemini-3-pro",
        "local/gemma-3",
        "x/y",
    ] {
        let model = model::ModelId::parse(model).expect("provider/model");
        let profile = profiles.resolve(&model, None);
        assert_eq!(
            PromptPack::of(&profile).name,
            profile.prompt_pack,
            "{model}"
        );
    }
    // The file names packs only in this form.
    for name in text.split("\"prompt_pack\": \"").skip(1) {
        let (name, _) = name.split_once('"').expect("a name is closed");
        assert!(PACKS.iter().any(|pack| pack.name == name), "{name}");
    }
}

#[test]
fn sentences_about_missing_tools_are_dropped() {
    let profile = profile("claude", EditTool::StrReplace, ParallelTools::Hinted);
    let all = PromptPack::of(&profile).text(&profile, AgentRole::Main, &tools(&[]));
    let less = PromptPack::of(&profile).text(
        &profile,
        AgentRole::Main,
        &tools(&["spawn_agent", "ask_user", "semantic_search", "plan"]),
    );
    for word in ["spawn_agent", "ask_user", "semantic_search", "the_plan"] {
        assert!(all.contains(word), "{word}");
        assert!(!less.contains(word), "{word} in:\n{less}");
    }
    // Sentences next to a dropped one stay, as an item of the list.
    assert!(
        less.contains("\n- Otherwise choose the likelier reading"),
        "{less}"
    );
}

#[test]
fn parallel_call_advice_follows_the_profile() {
    let check = |parallel: ParallelTools, words: &str| {
        let profile = profile("gpt", EditTool::ApplyPatch, parallel);
        let text = PromptPack::of(&profile).text(&profile, AgentRole::Main, &tools(&[]));
        assert!(text.contains(words), "{text}");
    };
    check(ParallelTools::Hinted, "go out together in one message");
    check(ParallelTools::Allowed, "they run at the same time");
    check(ParallelTools::Never, "one call at a time");
}

#[test]
fn each_mode_has_its_own_text() {
    assert!(mode_text(SessionMode::Plan, &tools(&[])).contains("change nothing"));
    assert!(mode_text(SessionMode::Plan, &tools(&["ask_user"])).starts_with("Plan mode:"));
    assert!(mode_text(SessionMode::Ask, &tools(&[])).starts_with("Ask mode:"));
    assert!(mode_text(SessionMode::Build, &[]).starts_with("Build mode:"));
}
