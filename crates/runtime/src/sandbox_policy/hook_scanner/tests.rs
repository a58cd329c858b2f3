//! Files that are quarantined after a command.

use base::AbsPath;
use host::{Files as _, RealFiles, TempFolder};

use super::HookScanner;

struct Scene {
    folder: TempFolder,
    lookout: HookScanner,
}

fn scene() -> Scene {
    let folder = TempFolder::new().expect("a folder");
    let root = folder.path().join("work");
    RealFiles.create_folder(&root).expect("a folder");
    let lookout = HookScanner::new(&root, &[], folder.path().join("aside"));
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

    /// Ends a command that could not change `fixed`; returns the reported names, and whether each
    /// was quarantined.
    fn end(&self, fixed: &[&str]) -> Vec<(String, bool)> {
        let fixed: Vec<AbsPath> = fixed.iter().map(|name| self.path(name)).collect();
        let planted = self.lookout.command_ended(&fixed);
        let told = planted.iter().map(|one| {
            let name = one.path.relative_to(&self.lookout.root);
            let name = name.expect("within").display().to_string();
            (name, one.quarantine.is_some())
        });
        told.collect()
    }
}

#[test]
fn planted_files_are_quarantined_and_reported_once() {
    let scene = scene();
    scene.lookout.command_started();
    scene.put("sub/.envrc");
    scene.put(".npmrc");
    let told = scene.end(&[]);
    let expected = [("sub/.envrc", true), (".npmrc", false)];
    assert_eq!(told.len(), 2, "{told:?}");
    for (name, is_aside) in expected {
        assert!(told.contains(&(name.to_owned(), is_aside)), "{told:?}");
        assert_eq!(scene.has(name), !is_aside, "{name}");
    }
    scene.lookout.command_started();
    assert_eq!(scene.end(&[]), []);
    let aside = scene.folder.path().join("aside");
    assert_eq!(RealFiles.list(&aside).expect("a listing").entries.len(), 1);
}

#[test]
fn user_changes_between_commands_stay() {
    let scene = scene();
    scene.lookout.command_started();
    assert_eq!(scene.end(&[]), []);
    scene.put(".envrc");
    scene.lookout.command_started();
    assert_eq!(scene.end(&[]), []);
    assert!(scene.has(".envrc"));
}

#[test]
fn changes_to_fixed_paths_come_from_others() {
    let scene = scene();
    scene.put(".vscode/settings.json");
    scene.lookout.command_started();
    scene.put(".vscode/tasks.json");
    assert_eq!(scene.end(&[".vscode"]), []);
    assert!(scene.has(".vscode/tasks.json"));
}

#[test]
fn planted_files_are_found_while_another_command_runs() {
    let scene = scene();
    scene.lookout.command_started();
    scene.put(".envrc");
    scene.lookout.command_started();
    assert_eq!(scene.end(&[]), [(".envrc".to_owned(), true)]);
    scene.put("sub/.envrc");
    assert_eq!(scene.end(&[]), [("sub/.envrc".to_owned(), true)]);
    assert!(!scene.has("sub/.envrc"));
}
