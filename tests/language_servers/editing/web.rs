//! Documents of the web: css, html, json, yaml, svelte.

use lsp::LocationKind;

use super::super::installed::Registry;
use super::client::Client;
use super::project;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "format": { "type": "integer", "description": "Number of the format." },
        "name": { "type": "string" },
        "title": { "type": "string" }
    }
}
"#;
const TSCONFIG: &str = r#"{
    "compilerOptions": { "strict": true, "module": "esnext", "moduleResolution": "bundler", "target": "esnext" }
}
"#;
const UTIL: &str = "/** Twice the value. */\nexport function double(value: number): number {\n    return value * 2;\n}\n\n\
    export const half = 0.5;\n";
const TITLE: &str =
    "<script lang=\"ts\">\n    export let heading: string;\n</script>\n\n<h1>{heading}</h1>\n";
const MAIN: &str = "<script lang=\"ts\">\n    let six = dou\n</script>\n\n<p>{six}</p>\n";

#[test]
fn web_documents_are_completed_described_and_formatted() {
    let Some(mut client) = project(
        Registry::Npm,
        &["css", "html", "json", "yaml"],
        &[
            ("a.css", "p { colo: red }\n"),
            ("a.html", "<p>a</p><te\n"),
            ("a.json", "{\"a\":1,}\n"),
            ("schema.json", SCHEMA),
            (
                "a.yaml",
                "# yaml-language-server: $schema=./schema.json\nname:  &item x\nform\n",
            ),
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
    client.format("a.css", "{\n    color: red;\n}");
    assert_eq!(client.text("a.css").trim_end(), "p {\n    color: red;\n}");
    client.show("a.html");
    client.complete("a.html", "<te", "template");
    assert!(client.text("a.html").contains("template"));
    assert!(client.hover("a.html", "p>a").contains("paragraph"));
    client.show("a.json");
    client.wait_for_diagnostic("a.json", "Trailing comma");
    client.replace("a.json", ",}", "}");
    client.wait_for_diagnostics("a.json", &[]);
    client.format("a.json", "{\n    \"a\": 1\n}");
    assert_eq!(client.text("a.json").trim_end(), "{\n    \"a\": 1\n}");
    edit_yaml(&mut client);
    client.end();
}

fn edit_yaml(client: &mut Client) {
    client.show("a.yaml");
    client.complete("a.yaml", "form", "format");
    client.replace("a.yaml", "format: 0", "format: one");
    client.wait_for_diagnostic("a.yaml", "Incorrect type. Expected \"integer\".");
    client.replace("a.yaml", "one", "1");
    client.wait_for_diagnostics("a.yaml", &[]);
    let hover = client.hover("a.yaml", "format");
    assert!(hover.contains("Number of the format."), "{hover}");
    client.insert_after("a.yaml", "format: 1\n", "title: *item\n\twide: 1\n");
    client.wait_for_diagnostic("a.yaml", "Tabs are not allowed as indentation");
    client.fix("a.yaml", "\twide", "Convert Tab to Spaces");
    client.expect_text("a.yaml", &["\n  wide: 1"]);
    client.replace("a.yaml", "  wide: 1\n", "");
    client.wait_for_diagnostics("a.yaml", &[]);
    let places = client.locations(LocationKind::Definition, "a.yaml", "item\n");
    assert_eq!(places, ["a.yaml"]);
    client.rename_in("a.yaml", "item\n", "anchor", &["a.yaml"]);
    client.format("a.yaml", "name: &anchor x\nformat: 1\ntitle: *anchor\n");
}

#[test]
fn svelte_components_are_edited_across_files() {
    let user = "<script lang=\"ts\">\n    import Title from \"./Title.svelte\";\n</script>\n\n\
        <Title heading=\"a\" />\n";
    let files = [
        (
            "package.json",
            "{ \"name\": \"p\", \"type\": \"module\" }\n",
        ),
        ("tsconfig.json", TSCONFIG),
        ("util.ts", UTIL),
        ("Title.svelte", TITLE),
        ("A.svelte", user),
        ("B.svelte", user),
        ("Main.svelte", MAIN),
    ];
    let Some(mut client) = project(Registry::Npm, &["svelte"], &files) else {
        return;
    };
    let name = "Main.svelte";
    client.show(name);
    client.complete_with_import(name, "dou", "double");
    client.expect_text(name, &["import { double } from \"./util\""]);
    client.insert_after(name, "six = double", "(3");
    let label = client.signature(name, "double(");
    assert_eq!(label, "double(value: number): number");
    client.insert_after(name, "double(3", ") + half;");
    let hover = client.hover(name, "double(3");
    assert!(hover.contains("Twice the value."), "{hover}");
    client.expect_references(name, "double(3", "util.ts", &[name, "util.ts"]);
    client.wait_for_diagnostic(name, "Cannot find name 'half'");
    client.fix(name, "half;", "import");
    client.wait_for_diagnostics(name, &[]);
    client.insert_after(
        name,
        "<script lang=\"ts\">",
        "\n    import Title from   \"./Title.svelte\";",
    );
    client.insert_after(name, "</p>\n", "<Title heading={six} />\n");
    client.wait_for_diagnostic(name, "Type 'number' is not assignable to type 'string'");
    client.replace(name, "{six} />", "\"b\" />");
    client.wait_for_diagnostics(name, &[]);
    client.source_action(name, "source.organizeImports");
    client.format(
        name,
        "    import Title from \"./Title.svelte\";\n    import { double, half } from \"./util\";\n",
    );
    let components = ["A.svelte", "B.svelte", "Main.svelte", "Title.svelte"];
    client.rename_in(name, "heading", "caption", &components);
    client.end();
}
