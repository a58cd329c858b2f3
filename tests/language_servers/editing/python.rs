//! Python: ty with ruff, basedpyright, pyright.

use super::super::installed::Registry;
use super::client::Client;
use super::project;

const UTIL: &str = "def double(value: int) -> int:\n    \"\"\"Twice the value.\"\"\"\n    return value * 2\n\n\nHALF = 2\n";
const USER: &str = "from util import double\n\nprint(double(2))\n";
const FILES: [&str; 4] = ["a.py", "b.py", "main.py", "util.py"];

/// Opens a project, completes a call with its import, looks the function up and renames it to `twice`.
fn edited_project(registry: Registry, ids: &[&str]) -> Option<Client> {
    let files = [
        (
            "pyproject.toml",
            "[project]\nname = \"p\"\nversion = \"1\"\n",
        ),
        ("util.py", UTIL),
        ("a.py", USER),
        ("b.py", USER),
        ("main.py", "four = doub\n"),
    ];
    let mut client = project(registry, ids, &files)?;
    for name in FILES {
        client.show(name);
    }
    client.complete_with_import("main.py", "doub", "double");
    client.expect_text("main.py", &["from util import double"]);
    client.insert_after("main.py", "four = double", "(3");
    let label = client.signature("main.py", "double(");
    assert!(label.contains("value: int"), "{label}");
    client.insert_after("main.py", "double(3", ")");
    let hover = client.hover("main.py", "double(3");
    assert!(hover.contains("Twice the value."), "{hover}");
    client.expect_references("main.py", "double(3", "util.py", &FILES);
    client.rename_in("main.py", "double(3", "twice", &FILES);
    Some(client)
}

#[test]
fn python_is_edited_across_files() {
    let Some(mut client) = edited_project(Registry::Pypi, &["ty", "ruff"]) else {
        return;
    };
    client.insert_after("main.py", "twice(3)", "\nx: int = \"\"");
    client.insert_after(
        "main.py",
        "from util import twice",
        "\nimport os\nimport ast",
    );
    client.wait_for_diagnostic("main.py", "`os` imported but unused");
    client.fix("main.py", "os", "os");
    assert!(!client.text("main.py").contains("import os"));
    client.source_action("main.py", "source.organizeImports");
    let text = client.text("main.py");
    let positions = ["import ast", "from util"].map(|import| text.find(import).expect("an import"));
    assert!(positions.is_sorted(), "{text}");
    client.source_action("main.py", "source.fixAll");
    assert!(!client.text("main.py").contains("ast"));
    client.insert_after("main.py", "x: int = \"\"", "\ny  =  [ 1 ]");
    client.format("main.py", "\ny = [1]\n");
    client.replace("main.py", "\"\"", "0");
    client.wait_for_diagnostics("main.py", &[]);
    client.end();
}

#[test]
fn python_is_edited_with_basedpyright() {
    let Some(mut client) = edited_project(Registry::Npm, &["basedpyright"]) else {
        return;
    };
    client.insert_after("main.py", "twice(3)", "\nx = twice(HALF)");
    client.wait_for_diagnostic("main.py", "\"HALF\" is not defined");
    client.fix("main.py", "HALF)", "import HALF");
    client.expect_text("main.py", &["from util import HALF, twice"]);
    client.wait_for_diagnostics("main.py", &[]);
    client.end();
}

#[test]
fn python_is_edited_with_pyright() {
    let Some(mut client) = edited_project(Registry::Npm, &["pyright"]) else {
        return;
    };
    client.insert_after("main.py", "twice(3)", "\nx: str = twice(2)");
    client.wait_for_diagnostic("main.py", "Type \"int\" is not assignable");
    client.replace("main.py", "x: str", "x: int");
    client.wait_for_diagnostics("main.py", &[]);
    client.end();
}
