//! Tests of the proxy: names by table and at random, then real sockets on loopback.

mod live;
mod requests;

use std::net::IpAddr;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::address::is_public;
use super::host::Host;
use super::rule::ParsedRule;
use crate::HostRule;

fn rule(text: &str) -> ParsedRule {
    let rule: HostRule = text.parse().expect(text);
    ParsedRule::of(&rule).expect(text)
}

fn host(text: &str) -> Option<String> {
    Host::parse(text).ok().map(|host| host.to_string())
}

fn check_host(text: &str, expected: Option<&str>) {
    assert_eq!(host(text).as_deref(), expected, "{text:?}");
}

#[test]
fn hosts_are_normalized() {
    check_host("example.com", Some("example.com"));
    check_host("EXAMPLE.Com", Some("example.com"));
    check_host("example.com.", Some("example.com"));
    check_host("_dmarc.example.com", Some("_dmarc.example.com"));
    check_host("bücher.example", Some("xn--bcher-kva.example"));
    check_host("BÜCHER.example", Some("xn--bcher-kva.example"));
    check_host("XN--BCHER-KVA.example", Some("xn--bcher-kva.example"));
    // Full-width letters and other dots are the same to a resolver that maps them.
    check_host("ｅxample.com", Some("example.com"));
    check_host("example。com", Some("example.com"));
    check_host("r1---sn-abc.example.com", Some("r1---sn-abc.example.com"));
    check_host("1.example.com", Some("1.example.com"));
    check_host("localhost", Some("localhost"));
    check_host("127.0.0.1", Some("127.0.0.1"));
    check_host("127.0.0.1.", Some("127.0.0.1"));
    check_host("[::1]", Some("[::1]"));
    check_host("[::FFFF:127.0.0.1]", Some("127.0.0.1"));
    check_host("[0:0:0:0:0:0:0:1]", Some("[::1]"));
}

#[test]
fn ambiguous_hosts_are_refused() {
    for text in [
        "",
        ".",
        "..",
        ".example.com",
        "example..com",
        "example.com..",
        "evil.com\0.example.com",
        "evil.com%00.example.com",
        "evil.com%2eexample.com",
        "evil.com\r\n.example.com",
        "evil.com\n.example.com",
        "evil.com .example.com",
        "evil.com\t.example.com",
        "evil.com/.example.com",
        "evil.com\\.example.com",
        "evil.com#.example.com",
        "evil.com?.example.com",
        "evil.com@example.com",
        "user:word@example.com",
        "evil.com:80:example.com",
        "-example.com",
        "example-.com",
        "exa\u{7f}mple.com",
        "exa\u{ad}mple\u{0}.com",
        "*.example.com",
        "example.com,evil.com",
        "xn--.example",
        "xn--0.example",
        "xn--a\u{308}.example",
        // Numbers that some resolver accepts as an address.
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0x7f.0.0.1",
        "017700000001",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "127.0.0.01",
        "127.0.0.256",
        "1.2.3.4.5",
        "example.1",
        "example.0x1",
        "0x",
        "１２７.1",
        "②.1",
        // Invalid addresses in brackets.
        "[127.0.0.1]",
        "[::1",
        "::1",
        "[::1%eth0]",
        "[::1%25eth0]",
        "[]",
        "[v1.x]",
        "[::1].example.com",
    ] {
        check_host(text, None);
    }
    check_host(&"a".repeat(64), None);
    check_host(&"a.".repeat(128), None);
    check_host(&"a".repeat(2000), None);
}

/// Names made of pieces that break parsers, compared with a minimal reference parser.
#[test]
fn random_hosts_are_normalized_or_refused() {
    let pieces = [
        "a",
        "example",
        "com",
        ".",
        ".",
        "..",
        "-",
        "xn--",
        "xn--bcher-kva",
        "\0",
        "%",
        "%00",
        "@",
        ":",
        "/",
        "\\",
        "[",
        "]",
        "::1",
        "127",
        "0x7f",
        "0177",
        "1",
        "0",
        "。",
        "ü",
        "ß",
        "ſ",
        "\u{200d}",
        "\u{202e}",
        "１",
        "*",
        "_",
        " ",
        "\r\n",
        "\u{ad}",
        "K",
        "evil",
        "com.",
    ];
    let rule = rule("*.example.com");
    for seed in 0..50_000u64 {
        let mut random = StdRng::seed_from_u64(seed);
        let count = random.random_range(1..8);
        let text: String = (0..count)
            .map(|_| pieces[random.random_range(0..pieces.len())])
            .collect();
        let Ok(host) = Host::parse(&text) else {
            continue;
        };
        let again = Host::parse(&host.to_string());
        assert_eq!(
            again.as_ref(),
            Ok(&host),
            "seed {seed}: {text:?} is not stable"
        );
        if let Host::Name(name) = &host {
            let is_plain = name.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte)
            });
            assert!(
                is_plain && name.len() <= 253,
                "seed {seed}: {text:?} became {name:?}"
            );
            assert!(name.parse::<IpAddr>().is_err(), "seed {seed}: {text:?}");
            let is_below = name.ends_with(".example.com");
            assert_eq!(rule.admits(&host, 443), is_below, "seed {seed}: {text:?}");
        }
    }
}

fn check_rule(rule: &str, host: &str, port: u16, expected: bool) {
    let parsed: HostRule = rule.parse().expect(rule);
    assert_eq!(parsed.to_string(), rule);
    let parsed = ParsedRule::of(&parsed).expect(rule);
    let host = Host::parse(host).expect(host);
    assert_eq!(
        parsed.admits(&host, port),
        expected,
        "{rule} for {host}:{port}"
    );
}

#[test]
fn rules_match_their_hosts() {
    check_rule("example.com", "example.com", 443, true);
    check_rule("example.com", "EXAMPLE.com.", 80, true);
    check_rule("example.com", "example.com", 22, false);
    check_rule("example.com", "www.example.com", 443, false);
    check_rule("example.com", "evil-example.com", 443, false);
    check_rule("example.com:22", "example.com", 22, true);
    check_rule("example.com:22", "example.com", 443, false);
    check_rule("*.example.com", "www.example.com", 443, true);
    check_rule("*.example.com", "a.b.example.com", 443, true);
    check_rule("*.example.com", "example.com", 443, false);
    check_rule("*.example.com", "evil-example.com", 443, false);
    check_rule("*.example.com", "example.com.evil.org", 443, false);
    check_rule("bücher.example", "xn--bcher-kva.example", 443, true);
    check_rule("*.bücher.example", "www.BÜCHER.example", 443, true);
    check_rule("127.0.0.1:8080", "127.0.0.1", 8080, true);
    check_rule("127.0.0.1:8080", "[::ffff:127.0.0.1]", 8080, true);
    check_rule("127.0.0.1:8080", "localhost", 8080, false);
    check_rule("[::1]:8080", "[::1]", 8080, true);
    check_rule("[::ffff:127.0.0.1]:8080", "127.0.0.1", 8080, true);
}

#[test]
fn invalid_rules_are_refused() {
    for (text, why) in [
        ("", "it is empty"),
        ("*", "only at the beginning"),
        ("*.com", "too many hosts"),
        ("*.127.0.0.1", "not with addresses"),
        ("a*.example.com", "only at the beginning"),
        ("*example.com", "only at the beginning"),
        ("https://example.com", "not a URL"),
        ("example.com/path", "not a URL"),
        ("example.com:", "not a valid port"),
        ("example.com:0", "not a valid port"),
        ("example.com:65536", "not a valid port"),
        ("example.com:+80", "not a valid port"),
        ("example.com:080", "not a valid port"),
        ("example.com:*", "not a valid port"),
        ("example.com:10-5", "not a valid port"),
        ("[::1]x", "unexpected"),
        ("user@example.com", "'@'"),
        ("example.com\0", "'\\0'"),
    ] {
        let error = text.parse::<HostRule>().expect_err(text).to_string();
        assert!(error.contains(why), "{text:?}: {error}");
    }
}

#[test]
fn addresses_are_classified() {
    for text in [
        "8.8.8.8",
        "1.1.1.1",
        "93.184.216.34",
        "100.63.0.1",
        "100.128.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
    ] {
        assert!(is_public(text.parse().expect(text)), "{text}");
    }
    for text in [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254",
        "169.254.170.2",
        "168.63.129.16",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::",
        "3fff::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "2a00::5efe:127.0.0.1",
        "2a00::200:5efe:10.0.0.1",
        "4000::1",
        "8000::1",
    ] {
        assert!(!is_public(text.parse().expect(text)), "{text}");
    }
}
