//! The permissions file: one reader, closed where it is not understood, written without losing comments.

use agent::access::{CommandGrant, KeptRule, RuleList, RuleOrigin};
use serde_json::json;

use super::*;

struct World {
    _folder: host::TempFolder,
    dirs: Dirs,
}

fn world(text: &str) -> World {
    let folder = host::TempFolder::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let dirs = Dirs {
        config: at("config"),
        state: at("state"),
        cache: at("cache"),
    };
    RealFiles.create_folder(&dirs.config).expect("a folder");
    RealFiles
        .write_private(&path(&dirs), text.as_bytes())
        .expect("written");
    World {
        _folder: folder,
        dirs,
    }
}

fn root() -> AbsPath {
    AbsPath::new("/work/project").expect("absolute")
}

fn written(world: &World) -> String {
    text(&path(&world.dirs)).expect("read")
}

#[test]
fn problems_name_the_file_and_the_place() {
    let cases = [
        ("{ \"permissions\": {\n \"deny\": [\"Bash(rm:*)\" }", ":2:"),
        (
            "{ \"permissions\": {\n \"deny\": \"Bash(rm:*)\" } }",
            ":2:10:",
        ),
        ("{\n \"deny\": [\n  \"Bash(rm\"] }", ":3:3:"),
        ("{ \"deny\": [\n  \"Bsh(rm:*)\"] }", ":2:3:"),
        (
            "{ \"permissions\": {\n  \"denny\": [\"Bash\"] } }",
            ":2:12:",
        ),
        ("{ \"permission\": {\n  \"deny\": [\"Bash\"] } }", ":1:17:"),
        ("{ \"deny\": [\"Fetch(a.com)\"] }", ":1:12:"),
        ("[]", "must be an object"),
    ];
    for (text, place) in cases {
        let world = world(text);
        let (_, problems) = Permissions::read(&world.dirs).rules(&root());
        let [problem, ..] = &problems[..] else {
            panic!("{text}: no problem");
        };
        assert!(
            problem.contains("permissions.json") && problem.contains(place),
            "{text}: {problem}"
        );
        assert!(problem.contains("every call"), "{text}: {problem}");
    }
    let world = world("{ \"allow\": [3] }");
    let (_, problems) = Permissions::read(&world.dirs).rules(&root());
    assert!(!problems[0].contains("every call"), "{problems:?}");
}

#[test]
fn keeping_a_rule_keeps_comments() {
    let before =
        "{\n  // mine\n  \"permissions\": {\n    \"deny\": [\"Bash(rm:*)\"], // never\n  },\n}\n";
    let world = world(before);
    let file = path(&world.dirs);
    let rule = ["Bash(cargo test:*)".to_owned()];
    save_allow_rules(&file, &PermissionScope::Everywhere, &rule).expect("kept");
    save_allow_rules(&file, &PermissionScope::Project(root()), &rule).expect("kept");
    let text = written(&world);
    for part in ["// mine", "// never", "Bash(rm:*)"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let read = Permissions::read(&world.dirs);
    assert_eq!(
        read.get("permissions"),
        Some(json!({ "deny": ["Bash(rm:*)"], "allow": rule }))
    );
    assert_eq!(
        read.get("projects"),
        Some(json!({ "/work/project": { "allow": rule } }))
    );
    let list = ["projects", "/work/project", "allow"];
    assert!(remove(&file, &list, &rule[0]).expect("changed"));
    assert!(!remove(&file, &list, &rule[0]).expect("unchanged"));
    assert!(written(&world).contains("// never"));
}

#[test]
fn a_broken_file_is_never_written() {
    for before in [
        "{ \"permissions\": { \"deny\": [\"Bash(rm:*)\"] ",
        "{ \"a\": 1, \"a\": 2 }",
        "{ \"permissions\": { \"allow\": 3 } }",
        "[1]",
    ] {
        let world = world(before);
        let file = path(&world.dirs);
        let kept = save_allow_rules(
            &file,
            &PermissionScope::Everywhere,
            &["Bash(ls)".to_owned()],
        );
        let error = kept.expect_err(before);
        assert!(error.to_string().contains("nothing was written"), "{error}");
        assert_eq!(written(&world), before);
    }
}

#[test]
fn a_linked_file_stays_a_link() {
    let world = world("{}");
    let real = world.dirs.config.join("real.json");
    let file = path(&world.dirs);
    RealFiles.rename(&file, &real).expect("moved");
    std::os::unix::fs::symlink(&real, &file).expect("linked");
    save_allow_rules(
        &file,
        &PermissionScope::Everywhere,
        &["Bash(ls)".to_owned()],
    )
    .expect("kept");
    let meta = file.as_path().symlink_metadata().expect("there");
    assert!(meta.is_symlink());
    assert!(text(&real).expect("read").contains("Bash(ls)"));
}

#[test]
fn kept_rules_are_removed_from_the_list_that_has_them() {
    let world = world(
        "{ // mine\n \"permissions\": { \"allow\": [\"A\"], \"deny\": [\"A\"] },\n \
         \"projects\": { \"/p\": { \"ask\": [\"B\"], \"commands\": { \"C\": [\"write /d\"] } } } }",
    );
    let rule = |rule: &str, list, origin| KeptRule {
        rule: rule.to_owned(),
        list,
        origin,
    };
    let project = || RuleOrigin::Project("/p".to_owned());
    let denied = rule("A", RuleList::Deny, RuleOrigin::User);
    let allowed = rule("A", RuleList::Allow, RuleOrigin::User);
    let asked = rule("B", RuleList::Ask, project());
    let kept = || Permissions::read(&world.dirs).kept_rules();
    assert_eq!(kept(), [denied.clone(), allowed.clone(), asked.clone()]);
    remove_rule(&world.dirs, &allowed).expect("removed");
    assert_eq!(kept(), [denied.clone(), asked.clone()]);
    let missing = remove_rule(&world.dirs, &allowed).expect_err("gone");
    assert!(matches!(missing, Error::Unknown(_)), "{missing}");
    let off = rule("mcp__a__b", RuleList::Deny, project());
    add_rule(&world.dirs, &off).expect("added");
    add_rule(&world.dirs, &off).expect("there already");
    assert_eq!(kept(), [denied, off, asked]);
    let grant = CommandGrant {
        rule: "C".to_owned(),
        access: "write /d".to_owned(),
        origin: project(),
    };
    let grants = || Permissions::read(&world.dirs).grants("/p");
    assert_eq!(grants().first(), Some(&grant));
    remove_grant(&world.dirs, &grant).expect("removed");
    assert_eq!(grants(), []);
    assert!(written(&world).contains("// mine"));
}

#[test]
fn an_unreadable_file_is_the_reason_for_a_refused_change() {
    let world = world("{ \"permissions\": ");
    let rule = KeptRule {
        rule: "A".to_owned(),
        list: RuleList::Allow,
        origin: RuleOrigin::User,
    };
    let refused = remove_rule(&world.dirs, &rule).expect_err("unreadable");
    assert!(matches!(refused, Error::InvalidFile(_)), "{refused}");
    let sentence = refused.to_string();
    assert!(sentence.contains("permissions.json"), "{sentence}");
    assert!(
        sentence.contains("every call of an agent needs permission"),
        "{sentence}"
    );
    assert_eq!(written(&world), "{ \"permissions\": ");
}
