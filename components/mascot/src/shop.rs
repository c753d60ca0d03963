//! The items of the shop.

use notehost_sdk::prelude::*;

/// An item to buy.
pub(crate) struct Item {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) price: u64,
}

const fn item(name: &'static str, price: u64, description: &'static str) -> Item {
    Item {
        name,
        description,
        price,
    }
}

/// All items, the cheapest first.
pub(crate) const ITEMS: [Item; 8] = [
    item("biscuit", 5, "gone in one bite"),
    item("ball", 10, "for fetching backlinks"),
    item("bone", 20, "to bury in a folder and find again"),
    item("scarf", 40, "red, hand-knitted"),
    item("blanket", 80, "for long index builds"),
    item("hat", 150, "it looks important now"),
    item("kennel", 300, "a notebook of its own"),
    item("spaceship", 1000, "nobody knows what it wants with that"),
];

/// Finds an item by name.
pub(crate) fn find_item(name: &str) -> Result<&'static Item> {
    let name_folded = name.trim().to_lowercase();
    let found = ITEMS.iter().find(|item| item.name == name_folded);
    found.ok_or_else(|| {
        let names: Vec<&str> = ITEMS.iter().map(|item| item.name).collect();
        Error::not_found(format!(
            "no item `{}` in the shop: it has {}",
            name.trim(),
            names.join(", ")
        ))
    })
}
