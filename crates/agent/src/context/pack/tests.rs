//! Packs without gaps, whatever the profile.

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

/// Every profile that the program comes with has a pack, and every gap of every pack is filled.
#[test]
fn all_gaps_are_filled_in_every_pack() {
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
                for post in [Post::Person, Post::Agent] {
                    let profile = profile(pack.name, edit, parallel);
                    let text = Pack::of(&profile).text(&profile, post, &tools(&[]));
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
fn every_gap_in_the_files_is_one_that_is_known() {
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
fn every_pack_that_a_profile_names_is_there() {
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
        assert_eq!(Pack::of(&profile).name, profile.prompt_pack, "{model}");
    }
    // The file names packs in no other way than this.
    for name in text.split("\"prompt_pack\": \"").skip(1) {
        let (name, _) = name.split_once('"').expect("a name is closed");
        assert!(PACKS.iter().any(|pack| pack.name == name), "{name}");
    }
}

#[test]
fn what_is_not_offered_is_not_spoken_of() {
    let profile = profile("claude", EditTool::StrReplace, ParallelTools::Hinted);
    let all = Pack::of(&profile).text(&profile, Post::Person, &tools(&[]));
    let less = Pack::of(&profile).text(
        &profile,
        Post::Person,
        &tools(&["spawn_agent", "ask_user", "semantic_search", "plan"]),
    );
    for word in ["spawn_agent", "ask_user", "semantic_search", "the_plan"] {
        assert!(all.contains(word), "{word}");
        assert!(!less.contains(word), "{word} in:\n{less}");
    }
    // Sentences beside one that goes are still there, as a point of the list.
    assert!(
        less.contains("\n- Otherwise choose the likelier reading"),
        "{less}"
    );
}

#[test]
fn profiles_are_told_of_calls_side_by_side_as_they_need() {
    let check = |parallel: ParallelTools, words: &str| {
        let profile = profile("gpt", EditTool::ApplyPatch, parallel);
        let text = Pack::of(&profile).text(&profile, Post::Person, &tools(&[]));
        assert!(text.contains(words), "{text}");
    };
    check(ParallelTools::Hinted, "go out together in one message");
    check(ParallelTools::Allowed, "they run at the same time");
    check(ParallelTools::Never, "one call at a time");
}

#[test]
fn modes_have_words_of_their_own() {
    assert!(mode_text(Mode::Plan, &tools(&[])).contains("change nothing"));
    assert!(mode_text(Mode::Plan, &tools(&["ask_user"])).starts_with("Plan mode:"));
    assert!(mode_text(Mode::Ask, &tools(&[])).starts_with("Ask mode:"));
    assert!(mode_text(Mode::Build, &[]).starts_with("Build mode:"));
}
