//! Components with invalid descriptions. Each file in `examples` is one of them.

#[doc(hidden)]
pub use notehost_sdk;
use notehost_sdk::guest::notehost::domain::types::{Action, Description, Effect};

/// A component with this description and no behavior.
#[macro_export]
macro_rules! describes {
    ($description:expr) => {
        use $crate::notehost_sdk::guest as contract;
        use contract::notehost::domain::types;

        struct Liar;

        impl contract::Guest for Liar {
            fn describe() -> types::Description {
                $description
            }

            fn call(
                _: &contract::notehost::domain::vault::Vault,
                _: types::Request,
            ) -> Result<types::Reply, types::Error> {
                std::process::abort()
            }
        }

        contract::export_bindings!(Liar with_types_in contract);
    };
}

/// A description with these actions.
pub fn described(domain: &str, actions: Vec<Action>) -> Description {
    Description {
        name: domain.to_owned(),
        version: "1.0.0".to_owned(),
        description: "A lie.".to_owned(),
        actions,
        prompts: Vec::new(),
    }
}

/// An action whose input schema has these properties.
pub fn action(name: &str, properties: &str) -> Action {
    action_with_input(
        name,
        format!(r#"{{"type": "object", "properties": {properties}}}"#),
    )
}

/// An action with this input schema.
pub fn action_with_input(name: &str, input: String) -> Action {
    Action {
        name: name.to_owned(),
        description: "A lie.".to_owned(),
        effect: Effect::Read,
        input,
        output: r#"{"type": "object", "properties": {}}"#.to_owned(),
    }
}
