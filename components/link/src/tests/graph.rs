//! Tests of `neighbours`, `path`, `graph` and `health`.

use super::*;

/// a → b → c → a, c → d, e → d, f alone.
fn vault() -> MemoryVault {
    Vault::in_memory()
        .with("a.md", "\n[[b]]")
        .with("b.md", "[[c]] [[c]]")
        .with("c.md", "[[a]]\n[[d]]")
        .with("d.md", "")
        .with("e.md", "[[d]]")
        .with("f.md", "")
        .with("Hidden/s.md", "[[a]] [[f]]")
        .allow("Hidden", Tier::None)
}

#[test]
fn neighbours_are_sorted_by_distance() {
    let vault = vault();
    let near = ok(&vault, "neighbours", json!({ "path": "c" }));
    assert_eq!(each(&near, "path"), ["a.md", "b.md", "d.md"]);
    assert_eq!(each(&near, "linked"), [true, false, true]);
    assert_eq!(each(&near, "links_back"), [false, true, false]);
    let out = ok(
        &vault,
        "neighbours",
        json!({ "path": "c", "depth": 2, "direction": "out" }),
    );
    assert_eq!(each(&out, "path"), ["a.md", "d.md", "b.md"]);
    assert_eq!(out["items"][2]["via"], "a.md");
    let into = ok(
        &vault,
        "neighbours",
        json!({ "path": "d", "depth": 10, "direction": "in" }),
    );
    assert_eq!(each(&into, "distance"), [1, 1, 2, 3]);
    assert_eq!(
        all_pages(&vault, "neighbours", &json!({ "path": "d", "depth": 3 }), 1).len(),
        4
    );
    assert_eq!(
        ok(&vault, "neighbours", json!({ "path": "f" }))["items"],
        json!([])
    );
    for (arguments, code) in [
        (json!({ "path": "c", "depth": 0 }), "validation_error"),
        (json!({ "path": "c", "depth": 11 }), "validation_error"),
        (
            json!({ "path": "c", "direction": "up" }),
            "validation_error",
        ),
        (json!({ "path": "s" }), "not_found"),
    ] {
        assert_eq!(refused(&vault, "neighbours", arguments).code(), code);
    }
}

#[test]
fn a_path_lists_its_links() {
    let vault = vault();
    let path = ok(&vault, "path", json!({ "from": "a", "to": "e" }));
    assert_eq!(path["notes"], json!(["a.md", "c.md", "d.md", "e.md"]));
    assert_eq!(path["length"], 3);
    assert_eq!(
        path["items"],
        json!([
            {"path": "c.md", "line": 1, "to": "a.md", "backward": true},
            {"path": "c.md", "line": 2, "to": "d.md", "backward": false},
            {"path": "e.md", "line": 1, "to": "d.md", "backward": true}
        ])
    );
    let directed = json!({ "from": "a", "to": "d", "directed": true });
    assert_eq!(
        ok(&vault, "path", directed)["notes"],
        json!(["a.md", "b.md", "c.md", "d.md"])
    );
    let none = json!({ "from": "a", "to": "e", "directed": true });
    let reply = ok(&vault, "path", none.clone());
    assert_eq!(reply["notes"], json!([]));
    assert!(reply.get("length").is_none());
    assert_eq!(
        text_of(&vault, "path", none),
        "no path from `a.md` to `e.md`"
    );
    assert_eq!(
        ok(&vault, "path", json!({ "from": "a", "to": "a" }))["length"],
        0
    );
    assert_eq!(
        refused(&vault, "path", json!({ "from": "a", "to": "s" })).code(),
        "not_found"
    );
}

#[test]
fn the_graph_is_limited_and_reports_what_is_left_out() {
    let vault = vault();
    let whole = ok(&vault, "graph", json!({}));
    assert_eq!(whole["items"].as_array().unwrap().len(), 6);
    assert_eq!(whole["items"][0]["path"], "c.md");
    assert_eq!(
        whole["edges"][0],
        json!({ "from": id(&whole, "b.md"), "to": id(&whole, "c.md"), "links": 2 })
    );
    assert_eq!(whole["edges"].as_array().unwrap().len(), 5);
    assert_eq!(whole["left_out"], json!({ "notes": 0, "edges": 0 }));
    let small = ok(&vault, "graph", json!({ "limit": 2 }));
    assert_eq!(small["left_out"]["notes"], 4);
    assert_eq!(small["total"], 6);
    let around = ok(&vault, "graph", json!({ "path": "e", "depth": 1 }));
    assert_eq!(each(&around, "path"), ["e.md", "d.md"]);
    assert_eq!(each(&around, "distance"), [0, 1]);
    let text = text_of(&vault, "graph", json!({ "path": "e", "depth": 1 }));
    assert_eq!(
        text,
        "2 notes and 1 edge between them\n```mermaid\ngraph LR\n  n0[\"e\"]\n  n1[\"d\"]\n  n0 --> n1\n```"
    );
    for (arguments, code) in [
        (json!({ "limit": 0 }), "validation_error"),
        (json!({ "limit": 301 }), "validation_error"),
        (json!({ "depth": 2 }), "validation_error"),
        (json!({ "path": "s" }), "not_found"),
    ] {
        assert_eq!(refused(&vault, "graph", arguments).code(), code);
    }
    let empty = ok(&Vault::in_memory(), "graph", json!({}));
    assert_eq!(empty["items"], json!([]));
}

fn id(graph: &Value, path: &str) -> Value {
    let mut items = graph["items"].as_array().unwrap().iter();
    items.find(|node| node["path"] == path).unwrap()["id"].clone()
}

#[test]
fn health_has_counts_lists_and_advice() {
    let mut vault = vault()
        .with("Broken.md", "[[Nowhere]] [[Nowhere]] [[d#Gone]] [[twin]]")
        .with("x/twin.md", "")
        .with("y/twin.md", "");
    for number in 0..40 {
        vault = vault.with(&format!("many/{number}.md"), "[[d]]");
    }
    let report = ok(&vault, "health", json!({}));
    assert_eq!(
        report["counts"],
        json!({"notes": 49, "links": 50, "broken_links": 2, "missing_targets": 1, "broken_fragments": 1, "ambiguous_links": 1,
               "orphans": 2, "without_incoming": 44, "cycles": 1, "hubs": 1})
    );
    assert_eq!(report["broken"][0]["target"], "Nowhere");
    assert_eq!(report["broken_fragments"][0]["target"], "d#Gone");
    assert_eq!(report["ambiguous"][0]["rivals"], 1);
    assert_eq!(report["orphans"], json!(["f.md", "y/twin.md"]));
    assert_eq!(
        report["cycles"],
        json!([{"size": 3, "notes": ["a.md", "b.md", "c.md"]}])
    );
    assert_eq!(report["hubs"][0]["path"], "d.md");
    assert_eq!(report["hubs"][0]["incoming"], 43);
    assert_eq!(report["advice"].as_array().unwrap().len(), 4);
    let score = report["score"].as_u64().unwrap();
    assert!((90..100).contains(&score), "{score}");
    let fine = Vault::in_memory()
        .with("A.md", "[[B]]")
        .with("B.md", "[[A]]");
    let fine = ok(&fine, "health", json!({ "limit": 1 }));
    assert_eq!(fine["score"], 100);
    assert_eq!(fine["advice"], json!(["nothing to do"]));
    assert_eq!(ok(&Vault::in_memory(), "health", json!({}))["score"], 100);
    assert_eq!(
        refused(&vault, "health", json!({ "limit": 101 })).code(),
        "validation_error"
    );
}
