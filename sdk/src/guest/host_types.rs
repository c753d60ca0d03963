//! Conversion of the contract's types of the `host` interface.

use super::notehost::domain::host as wire;
use super::types::Effect;
use crate::host::{About, AboutDomain, CallerInfo, Conventions, LimitLeft, Now};

impl From<wire::LocalTime> for Now {
    fn from(now: wire::LocalTime) -> Self {
        Now {
            milliseconds: now.milliseconds,
            offset_minutes: now.offset_minutes,
            zone: now.zone,
        }
    }
}

impl From<wire::HostInfo> for About {
    fn from(info: wire::HostInfo) -> Self {
        let domains = info.domains.into_iter().map(|domain| AboutDomain {
            name: domain.name,
            version: domain.version,
            actions: domain.actions,
        });
        About {
            version: info.version,
            vault: info.vault,
            vaults: info.vaults,
            surface: info.surface,
            read_only: info.read_only,
            started: info.started,
            tag_policy: match info.tag_policy {
                wire::TagPolicy::Open => "open".to_owned(),
                wire::TagPolicy::Existing => "existing".to_owned(),
            },
            domains: domains.collect(),
        }
    }
}

impl From<wire::CallerInfo> for CallerInfo {
    fn from(caller: wire::CallerInfo) -> Self {
        let limits = caller.limits.into_iter().map(|limit| LimitLeft {
            effect: match limit.effect {
                Effect::Read => "read".to_owned(),
                Effect::Write => "write".to_owned(),
                Effect::Delete => "delete".to_owned(),
            },
            per_minute: limit.per_minute,
            left: limit.left,
        });
        CallerInfo {
            name: caller.name,
            scopes: caller.scopes,
            bound_to: caller.bound_to,
            calls: caller.calls,
            limits: limits.collect(),
        }
    }
}

impl From<wire::NoteConventions> for Conventions {
    fn from(conventions: wire::NoteConventions) -> Self {
        let types = conventions.property_types.into_iter();
        let link_format = conventions.link_format.map(|format| match format {
            wire::LinkFormat::Shortest => "shortest".to_owned(),
            wire::LinkFormat::Relative => "relative".to_owned(),
            wire::LinkFormat::Absolute => "absolute".to_owned(),
        });
        Conventions {
            attachments: conventions.attachments,
            link_format,
            markdown_links: conventions.markdown_links,
            templates: conventions.templates,
            template_date: conventions.template_date,
            template_time: conventions.template_time,
            daily_notes: conventions.daily_notes,
            daily_format: conventions.daily_format,
            property_types: types.map(|one| (one.key, one.kind)).collect(),
        }
    }
}
