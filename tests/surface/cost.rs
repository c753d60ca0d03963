//! `notehost tools --cost`: the cost of the tools, measured on the actual tool list.

use std::process::Command;

use serde_json::Value;

use super::{SURFACES, name, tools};
use crate::support::place::Place;

fn cost(place: &Place, arguments: &[&str]) -> Value {
    let result = Command::new(crate::support::program())
        .args(["tools", "--cost", "--json-output"])
        .args(arguments)
        .arg("--state")
        .arg(place.state())
        .env("HOME", place.root())
        .output()
        .expect("the program runs");
    let errors = String::from_utf8_lossy(&result.stderr);
    serde_json::from_slice(&result.stdout).unwrap_or_else(|_| panic!("no JSON: {errors}"))
}

#[test]
fn cost_matches_the_listed_tools() {
    let place = Place::new();
    let report = cost(&place, &[]);
    let items = report["items"].as_array().expect("items");
    assert_eq!(items.len(), SURFACES.len());
    for (item, surface) in items.iter().zip(SURFACES) {
        assert_eq!(item["surface"], surface);
        let tools = tools(surface);
        let bytes: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
        assert_eq!(item["tools"], tools.len(), "{surface}");
        assert_eq!(item["bytes"], bytes, "{surface}");
        let tokens = item["tokens"].as_u64().expect("tokens");
        assert!(
            tokens > bytes as u64 / 6 && tokens < bytes as u64 / 2,
            "{item}"
        );
        let domains = item["domains"].as_array().expect("domains");
        let sum: u64 = domains
            .iter()
            .filter_map(|domain| domain["bytes"].as_u64())
            .sum();
        if surface == "finder" {
            assert!(domains.is_empty(), "{item}");
        } else {
            assert_eq!(
                sum, bytes as u64,
                "{surface}: every tool belongs to a domain"
            );
            assert_eq!(
                domains.len(),
                super::tools("domain").iter().map(name).count()
            );
        }
    }
    assert!(
        report["estimate"]
            .as_str()
            .is_some_and(|words| words.contains("token"))
    );
}

#[test]
fn cost_of_one_surface_can_be_shown() {
    let report = cost(&Place::new(), &["--surface", "finder"]);
    let items = report["items"].as_array().expect("items");
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["surface"], "finder");
    assert_eq!(items[0]["tools"], 3);
}
