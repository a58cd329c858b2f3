//! The bill of materials: what the programs contain, in the format CycloneDX.
//!
//! Invariant: the same crates and the same release give the same text. The format's serial number, which is usually random,
//! is derived from the content.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::calendar::timestamp;
use crate::dependencies::LinkedCrate;
use crate::release::Release;

/// Fonts, icons and other works in the programs that are no crates: name, licence and address.
const ASSETS: &[(&str, &str, &str)] = &[
    ("Inter", "OFL-1.1", "https://rsms.me/inter/"),
    (
        "JetBrains Mono",
        "OFL-1.1",
        "https://www.jetbrains.com/lp/mono/",
    ),
    ("Lucide", "ISC", "https://lucide.dev/"),
];

/// Returns the bill of materials of the programs with these crates.
pub(crate) fn cyclonedx(crates: &[LinkedCrate], release: &Release) -> String {
    let root = format!("burin-package@{}", release.version);
    let mut bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": timestamp(release.epoch),
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "burin",
                "version": release.version,
                "licenses": [{ "expression": "Apache-2.0 OR MIT" }],
            },
        },
        "components": components(crates),
        "dependencies": dependencies(crates, &root),
    });
    let serial = serial_number(&bill.to_string());
    bill["serialNumber"] = Value::String(serial);
    // Indented, so that two texts can be compared.
    format!("{bill:#}\n")
}

fn components(crates: &[LinkedCrate]) -> Vec<Value> {
    let crates = crates.iter().map(component);
    let assets = ASSETS.iter().map(|(name, licence, address)| {
        json!({
            "type": "data",
            "bom-ref": format!("asset:{name}"),
            "name": name,
            "licenses": [{ "expression": licence }],
            "externalReferences": [{ "type": "website", "url": address }],
        })
    });
    crates.chain(assets).collect()
}

fn component(it: &LinkedCrate) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": it.id(),
        "name": it.name,
        "version": it.version,
        "licenses": [{ "expression": it.licence }],
    });
    if let Some(checksum) = &it.checksum {
        component["purl"] = Value::String(it.id());
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let Some(repository) = &it.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

fn dependencies(crates: &[LinkedCrate], root: &str) -> Vec<Value> {
    let programs = crates.iter().filter(|it| it.is_program());
    let programs = programs.map(LinkedCrate::id);
    let assets = ASSETS.iter().map(|(name, ..)| format!("asset:{name}"));
    let used: Vec<String> = programs.chain(assets).collect();
    let first = json!({ "ref": root, "dependsOn": used });
    let crates = crates
        .iter()
        .map(|it| json!({ "ref": it.id(), "dependsOn": it.uses }));
    std::iter::once(first).chain(crates).collect()
}

/// Returns a UUID of version 8, whose bits come from the text.
fn serial_number(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let mut bytes: Vec<u8> = hash.iter().take(16).copied().collect();
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let groups = [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ];
    format!("urn:uuid:{}", groups.join("-"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::{cyclonedx, serial_number};
    use crate::dependencies::LinkedCrate;
    use crate::release::Release;

    fn bill() -> Value {
        let text = cyclonedx(&LinkedCrate::for_tests(), &Release::for_tests());
        serde_json::from_str(&text).expect("JSON")
    }

    #[test]
    fn components_have_versions_licences_and_hashes() {
        let bill = bill();
        assert_eq!(bill["metadata"]["timestamp"], "2026-11-30T12:00:00Z");
        assert_eq!(bill["metadata"]["component"]["version"], "1.2.3");
        let log = &bill["components"][1];
        assert_eq!(log["purl"], "pkg:cargo/log@0.4.29");
        assert_eq!(log["hashes"][0]["content"], "ab");
        assert_eq!(log["licenses"][0]["expression"], "MIT OR Apache-2.0");
        let ours = &bill["components"][0];
        assert_eq!(ours["bom-ref"], "workspace:burin@1.2.3");
        assert!(ours.get("purl").is_none(), "it is not in the registry");
    }

    #[test]
    fn every_reference_names_a_component() {
        let bill = bill();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let components = list(&bill["components"]);
        let names: BTreeSet<String> = components.iter().map(|it| text(&it["bom-ref"])).collect();
        assert_eq!(names.len(), components.len());
        let dependencies = list(&bill["dependencies"]);
        let used: Vec<String> = dependencies
            .iter()
            .flat_map(|it| list(&it["dependsOn"]))
            .map(|it| text(&it))
            .collect();
        assert!(used.contains(&"pkg:cargo/log@0.4.29".to_owned()));
        assert!(used.iter().all(|name| names.contains(name)), "{used:?}");
    }

    #[test]
    fn the_serial_number_depends_on_the_content_alone() {
        let (one, other) = (serial_number("a"), serial_number("b"));
        assert!(one != other && one == serial_number("a"));
        let groups: Vec<usize> = one["urn:uuid:".len()..].split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12]);
        let crates = LinkedCrate::for_tests();
        let release = Release::for_tests();
        assert_eq!(cyclonedx(&crates, &release), cyclonedx(&crates, &release));
    }
}
