//! Call limits of single components, which override those of all.

use serde::{Deserialize, Serialize};

use super::{LimitSettings, Settings};

/// The call limits of one component; unset values are those of `[limits]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComponentLimits {
    /// The maximum memory of an instance in bytes.
    pub memory_bytes: Option<usize>,
    /// The maximum duration of a call in milliseconds.
    pub call_ms: Option<u64>,
    /// The maximum number of host function calls.
    pub host_calls: Option<u64>,
}

impl Settings {
    /// The limits of one call of a component.
    pub fn limits_of(&self, component: &str) -> LimitSettings {
        let mut limits = self.limits.clone();
        if let Some(settings) = self.components.get(component) {
            let own = &settings.limits;
            limits.memory_bytes = own.memory_bytes.unwrap_or(limits.memory_bytes);
            limits.call_ms = own.call_ms.unwrap_or(limits.call_ms);
            limits.host_calls = own.host_calls.unwrap_or(limits.host_calls);
            limits.store_bytes = settings.grant.store_bytes.unwrap_or(limits.store_bytes);
        }
        limits
    }

    /// The limits that the sandbox is created with: enough memory for the largest instance of any component.
    pub fn sandbox_limits(&self) -> LimitSettings {
        let components = self.components.values();
        let own = components.filter_map(|component| component.limits.memory_bytes);
        LimitSettings {
            memory_bytes: own.fold(self.limits.memory_bytes, usize::max),
            ..self.limits.clone()
        }
    }

    /// The longest maximum duration of a call of any component, in milliseconds.
    pub fn max_call_ms(&self) -> u64 {
        let components = self.components.values();
        let own = components.filter_map(|component| component.limits.call_ms);
        own.fold(self.limits.call_ms, u64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_component_limits_use_the_global_ones() {
        let settings: Settings = toml::from_str(
            "[limits]\ncall_ms = 700\nmemory_bytes = 100\n[components.a.limits]\ncall_ms = 900\n\
             [components.a.grant]\nstore_bytes = 5\n[components.b.limits]\nmemory_bytes = 300\nhost_calls = 2",
        )
        .expect("settings");
        let of = |name| {
            let limits = settings.limits_of(name);
            (limits.call_ms, limits.memory_bytes, limits.host_calls)
        };
        assert_eq!(of("a"), (900, 100, 200_000));
        assert_eq!(of("b"), (700, 300, 2));
        assert_eq!(of("c"), (700, 100, 200_000));
        assert_eq!(settings.limits_of("a").store_bytes, 5);
        assert_eq!(settings.sandbox_limits().memory_bytes, 300);
        assert_eq!(settings.max_call_ms(), 900);
    }
}
