//! Changed files of `tests/data/hunks`, which need no repository.

use std::io::Read;
use std::path::Path;

use base::AbsPath;
use serde_json::Value;
use syntax::language_for;

use replay::ChangedFile;

/// Names of the files, each with the changes in one language.
pub(super) const LANGUAGES: [&str; 5] = ["rust", "python", "javascript", "typescript", "go"];

/// Returns the changed files in a language.
pub(super) fn changed_files(language: &str) -> Vec<ChangedFile> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../../tests/data/hunks/{language}.json.gz"));
    let file = std::fs::File::open(path).expect("the data of the test");
    let mut json = String::new();
    let mut unpacked = flate2::read::GzDecoder::new(file);
    unpacked.read_to_string(&mut json).expect("text");
    let files: Vec<Value> = serde_json::from_str(&json).expect("JSON");
    files.iter().map(changed_file).collect()
}

fn changed_file(json: &Value) -> ChangedFile {
    let text = |key: &str| json[key].as_str().expect("a text").to_owned();
    let path = text("path");
    ChangedFile {
        language: language_for(Path::new(&path), "").expect("a known language"),
        path: AbsPath::new("/project").expect("absolute").join(path),
        old: text("old"),
        new: text("new"),
    }
}
