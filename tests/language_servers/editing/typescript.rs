//! TypeScript: typescript-language-server, and version 7 of the compiler.

use super::super::installed::Registry;
use super::project;

const UTIL: &str = "/** Twice the value. */\nexport function double(value: number): number {\n    return value * 2;\n}\n\n\
    export const half = 0.5;\n";
const USER: &str = "import { double } from \"./util\";\n\nexport const four = double(2);\n";
const FILES: [&str; 4] = ["a.ts", "b.ts", "main.ts", "util.ts"];

#[test]
fn typescript_is_edited_across_files() {
    edit_typescript("typescript-language-server");
}

#[test]
fn typescript_is_edited_with_the_compiler_of_version_7() {
    edit_typescript("tsc");
}

fn edit_typescript(id: &str) {
    let options = "{ \"compilerOptions\": { \"strict\": true } }\n";
    let files = [
        ("tsconfig.json", options),
        ("util.ts", UTIL),
        ("a.ts", USER),
        ("b.ts", USER),
        ("main.ts", "export const six = dou\n"),
    ];
    let Some(mut client) = project(Registry::Npm, &[id], &files) else {
        return;
    };
    client.show("main.ts");
    client.complete_with_import("main.ts", "dou", "double");
    let import = "import { double } from \"./util\";";
    assert!(client.text("main.ts").starts_with(import));
    client.insert_after("main.ts", "six = double", "(3");
    let label = client.signature("main.ts", "double(");
    assert_eq!(label, "double(value: number): number");
    client.insert_after("main.ts", "double(3", ");");
    let hover = client.hover("main.ts", "double(3");
    assert!(
        hover.contains("double(value: number): number") && hover.contains("Twice the value."),
        "{hover}"
    );
    client.expect_references("main.ts", "double(3", "util.ts", &FILES);
    client.rename_in("main.ts", "double(3", "twice", &FILES);
    client.insert_after(
        "main.ts",
        "twice(3);",
        "\nexport const x = twice(half) + four;",
    );
    client.wait_for_diagnostic("main.ts", "Cannot find name 'half'");
    client.fix("main.ts", "half)", "import");
    let text = client.text("main.ts");
    let import = text.lines().next().unwrap_or_default();
    assert!(
        import.contains("half") && import.contains("twice"),
        "{text}"
    );
    client.insert_after(
        "main.ts",
        "from \"./util\";",
        "\nimport { four } from \"./a\";",
    );
    client.wait_for_diagnostics("main.ts", &[]);
    client.source_action("main.ts", "source.organizeImports");
    let text = client.text("main.ts");
    let positions = ["\"./a\"", "\"./util\""].map(|name| text.find(name).expect("an import"));
    assert!(positions.is_sorted(), "{text}");
    client.insert_after("main.ts", " + four;", "\n  export   const y=1;");
    client.format("main.ts", "\nexport const y = 1;");
    client.end();
}
