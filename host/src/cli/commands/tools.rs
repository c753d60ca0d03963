//! `notehost tools`: lists the actions, one line each, or the token cost of the tool list.

use std::process::ExitCode;

use clap::Args;
use notehost_sdk::text::approx_tokens;
use serde_json::{Map, Value, json};

use crate::cli::logging;
use crate::cli::options::{self, Common, OutputFlags};
use crate::cli::remote::Remote;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::output::print_json;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{Overrides, Surface};
use notehost_pipeline::registry::Snapshot;
use notehost_policy::auth::Scopes;
use notehost_vault::Effect;

/// List the domains and their actions.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// The surface whose tool names are shown
    #[arg(long, value_name = "S")]
    surface: Option<Surface>,
    /// Show how many tokens the list of tools costs a model, by surface and domain
    #[arg(long)]
    cost: bool,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    remote: Remote,
    #[command(flatten)]
    common: Common,
}

impl Tools {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(Overrides {
            surface: self.surface,
            ..self.common.clone().given()
        })?;
        logging::start(&loaded.running, "warn")?;
        let domains = self.remote.domains(&self.common, &loaded)?;
        let surface = loaded.settings.surface;
        let terminal = Terminal::stdout();
        if self.cost {
            let surfaces = match self.surface {
                Some(one) => vec![one],
                None => Surface::ALL.to_vec(),
            };
            // As a stdio client sees them.
            let seen = domains.seen_with(&Scopes::everything_but_admin());
            let costs: Vec<Cost> = surfaces
                .into_iter()
                .map(|one| Cost::of(&seen, one))
                .collect();
            if self.output.is_json(&terminal) {
                print_json(&terminal, Cost::json(&costs));
            } else {
                terminal.print(&Cost::table(&terminal, &costs));
            }
            return Ok(ExitCode::SUCCESS);
        }
        if self.output.is_json(&terminal) {
            print_json(&terminal, json!({ "items": json_rows(&domains, surface) }));
        } else {
            let more = terminal.faint("more: notehost help DOMAIN [ACTION]");
            terminal.print(&format!(
                "{}\n{more}\n",
                table(&terminal, &domains, surface)
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// How tokens are counted: every model has its own tokenizer.
const ESTIMATE: &str = "tokens are estimated: one token is about four ASCII characters, or one character of most other scripts";

/// The cost of a surface's tool list.
struct Cost {
    surface: Surface,
    whole: Share,
    /// By domain; without the tools for all domains.
    domains: Vec<(String, Share)>,
}

/// The cost of some tools.
#[derive(Default)]
struct Share {
    tools: usize,
    bytes: usize,
    tokens: usize,
}

impl Share {
    fn add(&mut self, tool: &str) {
        self.tools += 1;
        self.bytes += tool.len();
        self.tokens += approx_tokens(tool);
    }

    fn json(&self) -> Map<String, Value> {
        let parts = [
            ("tools", self.tools),
            ("bytes", self.bytes),
            ("tokens", self.tokens),
        ];
        parts
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect()
    }
}

impl Cost {
    fn of(domains: &Snapshot, surface: Surface) -> Cost {
        let mut cost = Cost {
            surface,
            whole: Share::default(),
            domains: Vec::new(),
        };
        for tool in notehost_tools::tools(domains, surface) {
            let text = serde_json::to_string(&tool).unwrap_or_default();
            cost.whole.add(&text);
            let Some(domain) = domain_of(domains, &tool.name) else {
                continue;
            };
            match cost.domains.last_mut() {
                Some((last, share)) if last == domain => share.add(&text),
                _ => {
                    let mut share = Share::default();
                    share.add(&text);
                    cost.domains.push((domain.to_owned(), share));
                }
            }
        }
        cost
    }

    fn json(costs: &[Cost]) -> Value {
        let items = costs.iter().map(|cost| {
            let domains = cost.domains.iter().map(|(name, share)| {
                let mut item = share.json();
                item.insert("domain".into(), name.as_str().into());
                Value::Object(item)
            });
            let mut item = cost.whole.json();
            item.insert("surface".into(), cost.surface.as_str().into());
            item.insert("domains".into(), domains.collect());
            Value::Object(item)
        });
        json!({ "items": items.collect::<Vec<_>>(), "estimate": ESTIMATE })
    }

    fn table(terminal: &Terminal, costs: &[Cost]) -> String {
        let row = |surface: &str, domain: &str, share: &Share| {
            let numbers = [share.tools, share.bytes, share.tokens];
            let mut row = vec![surface.to_owned(), domain.to_owned()];
            row.extend(numbers.map(|number| number.to_string()));
            row
        };
        let mut rows = Vec::new();
        for cost in costs {
            rows.push(row(cost.surface.as_str(), "all", &cost.whole));
            let domains = cost.domains.iter();
            rows.extend(domains.map(|(name, share)| row("", name, share)));
        }
        let table = terminal.table(&["surface", "domain", "tools", "bytes", "tokens"], rows);
        format!("{table}\n{}\n", terminal.faint(ESTIMATE))
    }
}

/// The domain of a tool: the longest domain name that its name begins with.
fn domain_of<'a>(domains: &'a Snapshot, tool: &str) -> Option<&'a str> {
    let names = domains.domains().map(|domain| domain.name.as_str());
    names
        .filter(|name| {
            let rest = tool.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
        .max_by_key(|name| name.len())
}

/// All actions as a table.
pub(crate) fn table(terminal: &Terminal, domains: &Snapshot, surface: Surface) -> String {
    let mut rows = Vec::new();
    for domain in domains.domains() {
        for action in &domain.actions {
            rows.push(vec![
                domain.name.clone(),
                action.name.clone(),
                effect_word(action.effect).to_owned(),
                tool_name(surface, &domain.name, &action.name, action.effect),
                first_sentence(&action.description),
            ]);
        }
    }
    terminal.table(&["domain", "action", "effect", "tool", "description"], rows)
}

fn json_rows(domains: &Snapshot, surface: Surface) -> Vec<Value> {
    let rows = domains.domains().flat_map(|domain| {
        domain.actions.iter().map(move |action| {
            json!({
                "domain": domain.name,
                "action": action.name,
                "effect": effect_word(action.effect),
                "tool": tool_name(surface, &domain.name, &action.name, action.effect),
                "description": action.description,
            })
        })
    });
    rows.collect()
}

/// The name of the tool for an action.
fn tool_name(surface: Surface, domain: &str, action: &str, effect: Effect) -> String {
    match surface {
        Surface::Domain => domain.to_owned(),
        Surface::Split => format!("{domain}_{}", effect_word(effect)),
        Surface::Flat => format!("{domain}__{action}"),
        Surface::Finder => "call_action".to_owned(),
    }
}

/// The word for an effect.
pub(crate) fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Write => "write",
        Effect::Delete => "delete",
    }
}

/// The first sentence of a description.
pub(crate) fn first_sentence(description: &str) -> String {
    let paragraph = description.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.find(". ").unwrap_or(line.len());
    line[..end].trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_sentence_may_run_over_lines() {
        assert_eq!(
            first_sentence("List all,\nwith sizes. And more.\n\nElse."),
            "List all, with sizes"
        );
        assert_eq!(first_sentence("Read a note."), "Read a note");
        assert_eq!(first_sentence(""), "");
    }
}
