//! Bookmarks: links to web pages, stored in notes. An example of a domain with outgoing HTTP.

mod links;
mod page;
mod url;
mod web;

use notehost_sdk::prelude::*;

use page::Page;
use url::Url;
use web::{Method, RequestError};

domain! {
    /// Links to web pages, stored in notes.
    "bookmark" {
        "add" => Add,
        "check" => Check,
    }
}

// The maximum that can be granted: any host, and no deletion of notes.
notehost_sdk::manifest! {
    "effect": "write",
    "http": ["*"]
}

/// The maximum number of links that one call checks.
const MAX_LINKS: usize = 30;

/// Add a link to a web page to a note, with the page's title and description.
#[args]
pub struct Add {
    /// The URL of the page, starting with `https://` or `http://`.
    pub url: String,
    /// The note to append the link to; created if it does not exist.
    pub path: String,
}

/// The added link.
#[reply]
pub struct Added {
    /// The note.
    pub path: String,
    /// The page's title.
    pub title: String,
    /// The URL after redirects, if it differs.
    pub moved_to: Option<String>,
}

impl Action for Add {
    type Output = Added;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Added> {
        let url = Url::parse(&self.url)?;
        let (final_url, response) = web::follow(Method::Get, &url).map_err(into_error)?;
        if !response.is_success() {
            let message = format!("`{final_url}` returned status {}", response.status);
            return Err(Error::new(Code::Unavailable, message));
        }
        let page = Page::read(&response.body);
        let title = page.title.unwrap_or_else(|| url.host().to_owned());
        let line = page::link_line(&title, &url, page.description.as_deref());
        let path = append(vault, &self.path, &line)?;
        Ok(Added {
            path,
            title,
            moved_to: (final_url != url).then(|| final_url.to_string()),
        })
    }

    fn text(added: &Added) -> String {
        format!("Added {} to {}", added.title, added.path)
    }
}

/// Appends a line to a note, which is created if it does not exist.
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

/// Check the web links of a note: find broken and redirected URLs.
#[args]
pub struct Check {
    /// The note's path, or its unique name.
    pub path: String,
}

/// The links of a note.
#[reply]
pub struct Checked {
    /// Each link, in the order of the note; at most 30.
    pub items: Vec<CheckedLink>,
    /// Number of broken links in `items`.
    pub broken: usize,
    /// Number of links in the note.
    pub total: usize,
}

/// One link.
#[reply]
pub struct CheckedLink {
    /// The URL.
    pub url: String,
    /// The line of the file, from 1.
    pub line: usize,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The URL after redirects, if it differs.
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
        let items: Vec<CheckedLink> = links.iter().take(MAX_LINKS).map(check).collect();
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
    // Some servers reject HEAD requests.
    let response = match web::follow(Method::Head, &parsed) {
        Ok((_, response)) if matches!(response.status, 403 | 405 | 501) => {
            web::follow(Method::Get, &parsed)
        }
        response => response,
    };
    match response {
        Ok((final_url, response)) => {
            checked.status = Some(response.status);
            checked.moved_to = (final_url != parsed).then(|| final_url.to_string());
        }
        Err(error) => checked.problem = Some(into_error(error).message().to_owned()),
    }
    checked
}

/// A failed request as an error of the action.
fn into_error(error: RequestError) -> Error {
    match error {
        RequestError::Denied(url) => Error::new(
            Code::PermissionDenied,
            format!("this component may not send requests to `{}`", url.origin()),
        )
        .with_hint(format!(
            "an admin can grant it, under `[components.bookmark.grant]`: `http = [\"{}\"]`",
            url.grant_entry()
        )),
        RequestError::Private(url) => Error::new(
            Code::PermissionDenied,
            format!("`{}` is not a public address", url.origin()),
        ),
        RequestError::TooLarge(url) => {
            Error::too_large(format!("the response of `{url}` is too large"))
        }
        RequestError::Redirects(url) => {
            Error::unsupported(format!("`{url}` has too many redirects, or an invalid one"))
        }
        RequestError::Failed(url, why) => Error::new(
            Code::Unavailable,
            format!("`{url}` cannot be fetched: {why}"),
        ),
    }
}

#[cfg(test)]
mod tests;
