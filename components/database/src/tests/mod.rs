//! Every action, called as the host calls it: by name, with JSON.

mod edit_actions;
mod lossless;
mod query;

use crate::Domain;
use notehost_sdk::serde_json::json;
use notehost_sdk::{MemoryVault, Vault};

notehost_sdk::calls!(Domain);

/// 2024-05-31T10:20:30Z
const NOW: u64 = 1_717_150_830_000;

const BOOKS: &str = "# my books\nfilters:\n  and:\n    - file.inFolder(\"Books\")\n    - file.hasTag(\"book\")\nformulas:\n  ppp: (price / pages).round(3)\n  label: 'if(price, price.toFixed(2) + \" €\")'\nproperties:\n  price:\n    displayName: \"Price\" # in euro\nsummaries:\n  spread: values.max() - values.min()\nviews:\n  - type: table\n    name: All\n    order:\n      - file.name\n      - price # dear\n      - formula.ppp\n    sort:\n      - property: price\n        direction: DESC\n    summaries:\n      price: Average\n      formula.ppp: spread\n  - type: cards\n    name: Open\n    filters: done != true\n    groupBy: {property: author, direction: ASC}\n    limit: 2\n    order: [file.name, author]\n";

/// The vault of most tests.
fn vault() -> MemoryVault {
    Vault::in_memory()
        .at(NOW)
        .with("Books.base", BOOKS)
        .with(
            "Books/Dune.md",
            "---\ntags: [book]\nprice: 12.5 # eur\npages: 400\nauthor: \"[[Frank]]\"\ndone: true\n---\nText\n",
        )
        .with("Books/Emma.md", "---\ntags: [book]\nprice: 8\npages: 500\nauthor: \"[[Jane]]\"\n---\n")
        .with("Books/Ubik.md", "---\r\ntags: [book]\r\nprice: 20\r\npages: 200\r\nauthor: \"[[Philip|P | D]]\"\r\n---\r\nx")
        .with("Books/Notes.md", "---\nprice: 1\n---\nno book\n")
        .with("Other/Pan.md", "---\ntags: [book]\n---\n")
        .with(
            "Report.md",
            "# Report\n\n```base\nfilters: file.name == this.file.name || price > 10\nviews:\n  - type: table\n    name: One\n    order:\n      - file.name\n```\n\n````\n```base\nnot: one\n```\n````\n\n~~~base\nviews:\n- type: list\n  name: Two\n~~~\n",
        )
}
