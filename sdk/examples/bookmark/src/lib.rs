//! Bookmarks: links to web pages, kept in notes. An example of a domain that sends requests.

mod links;
mod page;
mod url;
mod web;

use notehost_sdk::prelude::*;

use page::Page;
use url::Url;
use web::{Method, Refusal};

domain! {
    /// Links to web pages, kept in notes.
    "bookmark" {
        "add" => Add,
        "check" => Check,
    }
}

// What it can ever be granted: hosts as the admin likes, and no removing of notes.
notehost_sdk::manifest! {
    "effect": "write",
    "http": ["*"]
}

/// How many links one call looks at.
const MOST_LINKS: usize = 30;

/// Add a link to a web page to a note, with the page's title and description.
#[args]
pub struct Add {
    /// The page's address, beginning with `https://` or `http://`.
    pub url: String,
    /// The note that the link is added to, at its end; it is made if it is not there.
    pub path: String,
}

/// What was added.
#[reply]
pub struct Added {
    /// The note.
    pub path: String,
    /// The page's title.
    pub title: String,
    /// The address that the page was found at, where that is another one.
    pub moved_to: Option<String>,
}

impl Action for Add {
    type Output = Added;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Added> {
        let url = Url::parse(&self.url)?;
        let (found_at, answer) = web::follow(Method::Get, &url).map_err(into_error)?;
        if !answer.is_success() {
            let message = format!("`{found_at}` answered with status {}", answer.status);
            return Err(Error::new(Code::Unavailable, message));
        }
        let page = Page::read(&answer.body);
        let title = page.title.unwrap_or_else(|| url.host().to_owned());
        let line = page::link_line(&title, &url, page.description.as_deref());
        let path = append(vault, &self.path, &line)?;
        Ok(Added {
            path,
            title,
            moved_to: (found_at != url).then(|| found_at.to_string()),
        })
    }

    fn text(added: &Added) -> String {
        format!("Added {} to {}", added.title, added.path)
    }
}

/// Put a line at the end of a note, which is made if it is not there.
fn append(vault: &Vault, path: &str, line: &str) -> Result<String> {
    match vault.read_note(path) {
        Ok(note) => {
            let gap = match note.text.is_empty() || note.text.ends_with('\n') {
                true => "",
                false => "\n",
            };
            vault.write_note(&note, &format!("{}{gap}{line}\n", note.text))?;
            Ok(note.path)
        }
        Err(error) if error.kind() == Code::NotFound => {
            let path = match notehost_sdk::is_note(path) {
                true => path.to_owned(),
                false => format!("{path}.md"),
            };
            vault.create(&path, format!("{line}\n").as_bytes())?;
            Ok(path)
        }
        Err(error) => Err(error),
    }
}

/// Check the links of a note to web pages: which of them lead nowhere, or elsewhere.
#[args]
pub struct Check {
    /// The note's path, or its unique name.
    pub path: String,
}

/// The links of a note.
#[reply]
pub struct Checked {
    /// Each link, in the order of the note; 30 at most.
    pub items: Vec<CheckedLink>,
    /// How many of them are broken.
    pub broken: usize,
    /// How many there are in the note.
    pub total: usize,
}

/// One link.
#[reply]
pub struct CheckedLink {
    /// Where it leads.
    pub url: String,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The status that the server answered with.
    pub status: Option<u16>,
    /// Where it was led on to.
    pub moved_to: Option<String>,
    /// Why it could not be checked.
    pub problem: Option<String>,
}

impl Action for Check {
    type Output = Checked;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Checked> {
        let note = vault.read_note(&self.path)?;
        let links = links::of(&note.text);
        let items: Vec<CheckedLink> = links.iter().take(MOST_LINKS).map(check).collect();
        Ok(Checked {
            broken: items.iter().filter(|link| link.is_broken()).count(),
            items,
            total: links.len(),
        })
    }
}

impl CheckedLink {
    fn is_broken(&self) -> bool {
        self.problem.is_some() || self.status.is_some_and(|status| status >= 400)
    }
}

fn check((line, url): &(usize, String)) -> CheckedLink {
    let mut checked = CheckedLink {
        url: url.clone(),
        line: *line,
        status: None,
        moved_to: None,
        problem: None,
    };
    let parsed = match Url::parse(url) {
        Ok(parsed) => parsed,
        Err(error) => {
            checked.problem = Some(error.message().to_owned());
            return checked;
        }
    };
    // Some servers only know how to send the whole page.
    let answer = match web::follow(Method::Head, &parsed) {
        Ok((_, answer)) if matches!(answer.status, 403 | 405 | 501) => {
            web::follow(Method::Get, &parsed)
        }
        answer => answer,
    };
    match answer {
        Ok((found_at, answer)) => {
            checked.status = Some(answer.status);
            checked.moved_to = (found_at != parsed).then(|| found_at.to_string());
        }
        Err(refusal) => checked.problem = Some(into_error(refusal).message().to_owned()),
    }
    checked
}

/// A request that came to nothing, in words.
fn into_error(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Denied(url) => Error::new(
            Code::PermissionDenied,
            format!("`{}` may not be asked by this component", url.origin()),
        )
        .with_hint(format!(
            "an admin can grant it, under `[components.bookmark.grant]`: `http = [\"{}\"]`",
            url.granting()
        )),
        Refusal::Private(url) => Error::new(
            Code::PermissionDenied,
            format!("`{}` is not a public address", url.origin()),
        ),
        Refusal::TooLarge(url) => Error::too_large(format!("`{url}` is too large")),
        Refusal::Lost(url) => {
            Error::unsupported(format!("`{url}` was led on too often, or to nowhere"))
        }
        Refusal::Failed(url, why) => Error::new(
            Code::Unavailable,
            format!("`{url}` cannot be fetched: {why}"),
        ),
    }
}

#[cfg(test)]
mod tests;
