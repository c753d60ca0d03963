//! Components with invalid descriptions. Each file in `examples` is one of them.

#[doc(hidden)]
pub use notehost_sdk;

/// A component with this description and no behavior.
#[macro_export]
macro_rules! describes {
    ($description:expr) => {
        use $crate::notehost_sdk::guest as contract;

        struct Liar;

        impl contract::Guest for Liar {
            fn describe() -> String {
                $description
            }

            fn call(
                _: &contract::notehost::domain::vault::Vault,
                _: String,
                _: String,
            ) -> Result<contract::notehost::domain::types::Reply, contract::notehost::domain::types::Error>
            {
                std::process::abort()
            }
        }

        contract::export_bindings!(Liar with_types_in contract);
    };
}

/// A description with one action whose input schema has these properties.
pub fn described(domain: &str, action: &str, properties: &str) -> String {
    let action = action_described(action, properties);
    format!(
        r#"{{"name": "{domain}", "version": "1.0.0", "description": "A lie.", "actions": [{action}]}}"#
    )
}

/// One action of a description.
pub fn action_described(action: &str, properties: &str) -> String {
    format!(
        r#"{{"name": "{action}", "description": "A lie.", "effect": "read",
            "input": {{"type": "object", "properties": {properties}}},
            "output": {{"type": "object", "properties": {{}}}}}}"#
    )
}
