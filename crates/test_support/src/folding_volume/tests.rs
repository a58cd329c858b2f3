//! Tests that the mounted volume folds names as the real one does.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;

use super::FoldingVolume;
use crate::{Spellings, skip};

#[test]
fn a_name_is_one_in_every_spelling() {
    let volume = match FoldingVolume::mount() {
        Ok(volume) => volume,
        Err(error) => return skip(format!("a FUSE volume cannot be mounted: {error}")),
    };
    let folder = volume.path().join("Strasse");
    let file = folder.join("Caf\u{e9} Kiosk.txt");
    fs::create_dir(&folder).expect("a folder");
    fs::write(&file, "one").expect("a file");
    let inode = fs::metadata(&file).expect("a stat").ino();
    let mut spellings = Spellings::new(3);
    for round in 0..50 {
        let spelled = volume
            .path()
            .join(spellings.of("strasse/caf\u{e9} kiosk.txt"));
        assert_eq!(fs::metadata(&spelled).expect("a stat").ino(), inode);
        fs::write(&spelled, round.to_string()).expect("written");
        assert_eq!(
            fs::read_to_string(&file).expect("a text"),
            round.to_string()
        );
        let taken = fs::File::create_new(&spelled).expect_err("taken");
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    }
    let names: Vec<_> = fs::read_dir(&folder).expect("a folder").collect();
    assert_eq!(names.len(), 1);
    let name = names[0].as_ref().expect("an entry").file_name();
    assert_eq!(name, "Caf\u{e9} Kiosk.txt");
    fs::rename(&file, volume.path().join("Other")).expect("renamed");
    assert!(!file.exists() && volume.path().join("OTHER").exists());
    fs::remove_file(volume.path().join("oTHER")).expect("removed");
    fs::remove_dir(volume.path().join("STRASSE")).expect("removed");
}
