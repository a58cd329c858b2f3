//! What is put aside after a command, and what is not.

use base::AbsPath;
use host::{Files as _, RealFiles, TempFolder};

use super::Lookout;

struct Scene {
    folder: TempFolder,
    lookout: Lookout,
}

fn scene() -> Scene {
    let folder = TempFolder::new().expect("a folder");
    let root = folder.path().join("work");
    RealFiles.create_folder(&root).expect("a folder");
    let lookout = Lookout::new(&root, &[], folder.path().join("aside"));
    Scene { folder, lookout }
}

impl Scene {
    fn path(&self, name: &str) -> AbsPath {
        self.lookout.root.join(name)
    }

    fn put(&self, name: &str) {
        let path = self.path(name);
        let above = path.parent().expect("a folder");
        RealFiles.create_folder(&above).expect("a folder");
        RealFiles.write_private(&path, b"x").expect("written");
    }

    fn has(&self, name: &str) -> bool {
        RealFiles.exists(&self.path(name))
    }

    /// The names that a command left which could not change `fixed`, and whether each was put aside.
    fn end(&self, fixed: &[&str]) -> Vec<(String, bool)> {
        let fixed: Vec<AbsPath> = fixed.iter().map(|name| self.path(name)).collect();
        let planted = self.lookout.end(&fixed);
        let told = planted.iter().map(|one| {
            let name = one.path.relative_to(&self.lookout.root);
            let name = name.expect("within").display().to_string();
            (name, one.aside.is_some())
        });
        told.collect()
    }
}

#[test]
fn what_a_command_plants_is_put_aside_and_told_once() {
    let scene = scene();
    scene.lookout.begin();
    scene.put("sub/.envrc");
    scene.put(".npmrc");
    let told = scene.end(&[]);
    let expected = [("sub/.envrc", true), (".npmrc", false)];
    assert_eq!(told.len(), 2, "{told:?}");
    for (name, is_aside) in expected {
        assert!(told.contains(&(name.to_owned(), is_aside)), "{told:?}");
        assert_eq!(scene.has(name), !is_aside, "{name}");
    }
    scene.lookout.begin();
    assert_eq!(scene.end(&[]), []);
    let aside = scene.folder.path().join("aside");
    assert_eq!(RealFiles.list(&aside).expect("a listing").entries.len(), 1);
}

#[test]
fn what_the_person_does_between_commands_stays() {
    let scene = scene();
    scene.lookout.begin();
    assert_eq!(scene.end(&[]), []);
    scene.put(".envrc");
    scene.lookout.begin();
    assert_eq!(scene.end(&[]), []);
    assert!(scene.has(".envrc"));
}

#[test]
fn what_a_command_cannot_change_was_changed_by_somebody_else() {
    let scene = scene();
    scene.put(".vscode/settings.json");
    scene.lookout.begin();
    scene.put(".vscode/tasks.json");
    assert_eq!(scene.end(&[".vscode"]), []);
    assert!(scene.has(".vscode/tasks.json"));
}

#[test]
fn what_one_command_plants_is_found_although_another_begins() {
    let scene = scene();
    scene.lookout.begin();
    scene.put(".envrc");
    scene.lookout.begin();
    assert_eq!(scene.end(&[]), [(".envrc".to_owned(), true)]);
    scene.put("sub/.envrc");
    assert_eq!(scene.end(&[]), [("sub/.envrc".to_owned(), true)]);
    assert!(!scene.has("sub/.envrc"));
}
