//! What can be bought.

use notehost_sdk::prelude::*;

/// Something to buy.
pub(crate) struct Thing {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) price: u64,
}

const fn thing_of(name: &'static str, price: u64, description: &'static str) -> Thing {
    Thing {
        name,
        description,
        price,
    }
}

/// Everything there is, the cheapest first.
pub(crate) const THINGS: [Thing; 8] = [
    thing_of("biscuit", 5, "gone in one bite"),
    thing_of("ball", 10, "for fetching backlinks"),
    thing_of("bone", 20, "to bury in a folder and find again"),
    thing_of("scarf", 40, "red, hand-knitted"),
    thing_of("blanket", 80, "for long index builds"),
    thing_of("hat", 150, "it looks important now"),
    thing_of("kennel", 300, "a notebook of its own"),
    thing_of("spaceship", 1000, "nobody knows what it wants with that"),
];

/// The thing of that name.
pub(crate) fn thing(name: &str) -> Result<&'static Thing> {
    let asked = name.trim().to_lowercase();
    let found = THINGS.iter().find(|thing| thing.name == asked);
    found.ok_or_else(|| {
        let names: Vec<&str> = THINGS.iter().map(|thing| thing.name).collect();
        Error::not_found(format!(
            "the shop has no `{}`: it has {}",
            name.trim(),
            names.join(", ")
        ))
    })
}
