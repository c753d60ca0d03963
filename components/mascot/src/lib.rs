//! The mascot domain: a puppy that lives on what gets done. Every call that succeeds earns its caller a coin; coins buy
//! the puppy things. It is also the smallest example of a component with a private store.

mod shop;
mod wallet;

#[cfg(test)]
mod tests;

use notehost_sdk::Level;
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;

use shop::{THINGS, thing};
use wallet::Wallet;

domain! {
    /// The mascot: a puppy that gets a coin for every call you make. See the `balance`, look into the `shop`, `buy` it
    /// something.
    "mascot" {
        "balance" => Balance,
        "shop" => Shop,
        "buy" => Buy,
    }
}

/// How many coins you have, and what the puppy has.
///
/// Example: `{}`
#[args]
pub struct Balance {}

/// Coins, and what they were spent on.
#[reply]
pub struct Purse {
    /// What is left to spend.
    pub coins: u64,
    /// One for every call that succeeded.
    pub earned: u64,
    /// What was paid so far.
    pub spent: u64,
    /// What the puppy has, in the order in which it was bought.
    pub items: Vec<String>,
}

impl Action for Balance {
    type Output = Purse;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Purse> {
        let wallet = Wallet::of_caller(vault)?;
        Ok(Purse {
            coins: wallet.coins(),
            earned: wallet.earned,
            spent: wallet.spent,
            items: wallet.items,
        })
    }

    fn text(output: &Purse) -> String {
        let has = match output.items.as_slice() {
            [] => "the puppy has nothing yet".to_owned(),
            items => format!("the puppy has: {}", items.join(", ")),
        };
        format!("{}; {has}", counted(output.coins, "coin"))
    }
}

/// What there is to buy, and at which price.
///
/// Example: `{}`
#[args]
pub struct Shop {}

/// The shop.
#[reply]
pub struct Shelf {
    /// The cheapest first.
    pub items: Vec<Offer>,
    /// How many coins you have.
    pub coins: u64,
}

/// Something to buy.
#[reply]
pub struct Offer {
    /// For `buy`.
    pub item: String,
    /// What it is.
    pub description: String,
    /// In coins.
    pub price: u64,
    /// Whether the puppy has it.
    pub owned: bool,
}

impl Action for Shop {
    type Output = Shelf;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Shelf> {
        let wallet = Wallet::of_caller(vault)?;
        let offers = THINGS.iter().map(|thing| Offer {
            item: thing.name.to_owned(),
            description: thing.description.to_owned(),
            price: thing.price,
            owned: wallet.has(thing.name),
        });
        Ok(Shelf {
            items: offers.collect(),
            coins: wallet.coins(),
        })
    }

    fn text(output: &Shelf) -> String {
        let mut text = format!("you have {}", counted(output.coins, "coin"));
        for offer in &output.items {
            let owned = if offer.owned {
                " (the puppy has it)"
            } else {
                ""
            };
            text.push_str(&format!(
                "\n- {}: {}, {}{owned}",
                offer.item,
                offer.description,
                counted(offer.price, "coin")
            ));
        }
        text
    }
}

/// Buy the puppy something from the shop.
///
/// Example: `{"item": "biscuit"}`
#[args]
pub struct Buy {
    /// What, as the shop names it.
    pub item: String,
}

/// Something was bought.
#[reply]
pub struct Bought {
    /// What.
    pub item: String,
    /// What it cost.
    pub price: u64,
    /// What is left.
    pub coins: u64,
}

impl Action for Buy {
    type Output = Bought;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Bought> {
        let thing = thing(&self.item)?;
        let mut wallet = Wallet::of_caller(vault)?;
        wallet.pay(thing)?;
        wallet.keep(vault)?;
        vault.notify(Level::Info, &format!("the puppy got a new {}", thing.name))?;
        Ok(Bought {
            item: thing.name.to_owned(),
            price: thing.price,
            coins: wallet.coins(),
        })
    }

    fn text(output: &Bought) -> String {
        format!(
            "the puppy has a new {} and wags its tail; {} left",
            output.item,
            counted(output.coins, "coin")
        )
    }
}
