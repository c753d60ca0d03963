//! The description of the domain.

use super::*;

#[test]
fn description_is_complete_and_within_budget() {
    let described = Domain::describe();
    let actions = described["actions"].as_array().unwrap();
    let names: Vec<&str> = actions
        .iter()
        .map(|action| action["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 29);
    let mut inputs = 0;
    for action in actions {
        assert!(
            !action["description"].as_str().unwrap().is_empty(),
            "{action}"
        );
        let input = action["input"].to_string();
        for forbidden in ["$ref", "oneOf", "anyOf", "\"null\""] {
            assert!(!input.contains(forbidden), "{input}");
            assert!(
                !action["output"].to_string().contains(forbidden),
                "{}",
                action["output"]
            );
        }
        inputs += input.len();
    }
    assert!(inputs < 11_000, "{inputs} bytes of input schemas");
}
