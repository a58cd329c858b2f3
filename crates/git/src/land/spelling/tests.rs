//! Tests of landings on volumes that fold names. The files lie on a volume of any kind; Git's
//! settings tell the rules.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests set up real working trees on disk"
)]

use host::RealFiles;

use super::*;
use crate::Repository;
use crate::land::CheckoutPlan;
use crate::merge::ObjectId;
use crate::merge::tests::Fixture;

/// A checkout at the first commit of two, on a volume that folds case.
struct Landing {
    fixture: Fixture,
    from: ObjectId,
    to: ObjectId,
}

impl Landing {
    /// `before` and `after` are the files of the two commits, each with its path as content.
    fn new(before: &[&str], after: &[&str]) -> Self {
        let fixture = Fixture::new();
        fixture.git(&["config", "core.ignorecase", "false"]);
        let commit = |files: &[&str]| {
            fixture.git(&["rm", "-rq", "--cached", "--ignore-unmatch", "."]);
            for file in files {
                fixture.write("content", &format!("{}\n", file.to_lowercase()));
                let blob = fixture.git(&["hash-object", "-w", "content"]);
                let entry = format!("100644,{},{file}", blob.trim());
                fixture.git(&["update-index", "--add", "--cacheinfo", &entry]);
            }
            let tree = fixture.git(&["write-tree"]);
            ObjectId::parse(tree.trim()).expect("an id")
        };
        let to = commit(after);
        let from = commit(before);
        std::fs::remove_file(fixture.root.join("content").as_path()).unwrap();
        fixture.git(&["commit", "-q", "-m", "from"]);
        fixture.git(&["checkout", "-q", "-f", "HEAD"]);
        fixture.git(&["config", "core.ignorecase", "true"]);
        Self { fixture, from, to }
    }

    fn plan(&self) -> Result<CheckoutPlan, Vec<Obstacle>> {
        let repository = Repository::discover(&self.fixture.root).unwrap();
        let plan = repository.plan_checkout(self.from, self.to, &RealFiles);
        plan.unwrap()
    }
}

/// Plans a landing; `expected` are its obstacles, each with the other path that it names.
fn check(before: &[&str], after: &[&str], expected: &[(&str, &str)]) {
    let obstacles = Landing::new(before, after).plan().err().unwrap_or_default();
    let paths: Vec<_> = obstacles.iter().map(|it| it.path.to_string()).collect();
    let wanted: Vec<_> = expected.iter().map(|(path, _)| *path).collect();
    assert_eq!(paths, wanted, "{obstacles:?}");
    for (obstacle, (_, other)) in obstacles.iter().zip(expected) {
        let said = format!("takes it and {other} for the same name");
        assert!(obstacle.reason.contains(&said), "{obstacle:?}");
    }
}

#[test]
fn a_landed_name_that_is_taken_is_an_obstacle() {
    check(&["a"], &["a", "b"], &[]);
    let (old, both) = (["Makefile"], ["Makefile", "makefile"]);
    check(&old, &both, &[("makefile", "Makefile")]);
    check(&["src/a"], &["src/a", "Src"], &[("Src", "src")]);
    check(&["Src"], &["Src", "src/a"], &[("src/a", "Src")]);
    check(&["lib/b"], &["lib/b", "LIB/c"], &[]);
    let both = ["stra\u{df}e", "STRASSE"];
    let alike = [(both[1], both[0]), (both[0], both[1])];
    check(&["z"], &[both[0], both[1], "z"], &alike);
}

#[test]
fn a_pair_that_was_there_before_is_no_obstacle() {
    let both = ["Makefile", "makefile"];
    check(&both, &["Makefile", "makefile", "b"], &[]);
}

#[test]
fn a_change_of_case_lands() {
    let landing = Landing::new(&["Readme", "src/A/x"], &["README", "src/a/x"]);
    let plan = landing.plan().expect("no obstacle");
    let repository = Repository::discover(&landing.fixture.root).unwrap();
    let files = RealFiles;
    assert!(repository.lock_index(&files).unwrap());
    for _ in 0..2 {
        // As after a kill, the plan can be applied again.
        assert_eq!(repository.apply_checkout(&plan, &files).unwrap(), []);
        let mut names = landing.fixture.git(&["ls-files"]);
        assert_eq!(names, "README\nsrc/a/x\n");
        names = std::fs::read_to_string(landing.fixture.root.join("README").as_path()).unwrap();
        assert_eq!(names, "readme\n");
        assert!(!landing.fixture.root.join("Readme").as_path().exists());
    }
}

#[test]
fn a_file_with_another_spelling_leaves_the_path_free() {
    let fixture = Fixture::new();
    fixture.write("src/Readme", "x");
    let (old, new) = (TreePath::from("src/Readme"), TreePath::from("src/README"));
    let paths = [old.clone(), new.clone(), TreePath::from("src/other")];
    let respelled = Respelled::of(paths.iter(), NameRules::FOLDING);
    assert!(!respelled.is_other(&fixture.root, &old));
    assert!(respelled.is_other(&fixture.root, &new));
    // A path without another spelling is never looked up.
    assert!(!respelled.is_other(&fixture.root, &paths[2]));
    let exact = Respelled::of(paths.iter(), NameRules::EXACT);
    assert!(!exact.is_other(&fixture.root, &new));
}
