//! The mascot domain: a puppy. Every successful call earns its caller a coin; coins buy things for the puppy. Also the
//! smallest example of a component with a private store.

mod shop;
mod wallet;

#[cfg(test)]
mod tests;

use notehost_sdk::Level;
use notehost_sdk::pages::counted;
use notehost_sdk::prelude::*;

use shop::{ITEMS, find_item};
use wallet::Wallet;

domain! {
    /// The mascot: a puppy. Every call you make earns a coin. See your `balance`, list the `shop`, `buy` the puppy
    /// something.
    "mascot" {
        "balance" => Balance,
        "shop" => Shop,
        "buy" => Buy,
    }
}

/// Show how many coins you have, and what the puppy has.
///
/// Example: `{}`
#[args]
pub struct Balance {}

/// The balance of a caller.
#[reply]
pub struct BalanceReport {
    /// Coins left to spend.
    pub coins: u64,
    /// Coins earned: one per successful call.
    pub earned: u64,
    /// Coins spent so far.
    pub spent: u64,
    /// What the puppy has, in the order of purchase.
    pub items: Vec<String>,
}

impl Action for Balance {
    type Output = BalanceReport;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<BalanceReport> {
        let wallet = Wallet::of_caller(vault)?;
        Ok(BalanceReport {
            coins: wallet.coins(),
            earned: wallet.earned,
            spent: wallet.spent,
            items: wallet.items,
        })
    }

    fn text(output: &BalanceReport) -> String {
        let has = match output.items.as_slice() {
            [] => "the puppy has nothing yet".to_owned(),
            items => format!("the puppy has: {}", items.join(", ")),
        };
        format!("{}; {has}", counted(output.coins, "coin"))
    }
}

/// List what you can buy, with prices.
///
/// Example: `{}`
#[args]
pub struct Shop {}

/// The items of the shop.
#[reply]
pub struct ShopItems {
    /// The items, the cheapest first.
    pub items: Vec<Offer>,
    /// Coins you have.
    pub coins: u64,
}

/// An item of the shop.
#[reply]
pub struct Offer {
    /// The name for `buy`.
    pub item: String,
    /// The description.
    pub description: String,
    /// The price in coins.
    pub price: u64,
    /// Whether the puppy has it.
    pub owned: bool,
}

impl Action for Shop {
    type Output = ShopItems;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<ShopItems> {
        let wallet = Wallet::of_caller(vault)?;
        let offers = ITEMS.iter().map(|item| Offer {
            item: item.name.to_owned(),
            description: item.description.to_owned(),
            price: item.price,
            owned: wallet.has(item.name),
        });
        Ok(ShopItems {
            items: offers.collect(),
            coins: wallet.coins(),
        })
    }

    fn text(output: &ShopItems) -> String {
        let coins = counted(output.coins, "coin");
        ReplyText::new(format!("you have {coins}"))
            .lines(&output.items, |offer| {
                let owned = if offer.owned {
                    " (the puppy has it)"
                } else {
                    ""
                };
                format!(
                    "- {}: {}, {}{owned}",
                    offer.item,
                    offer.description,
                    counted(offer.price, "coin")
                )
            })
            .into()
    }
}

/// Buy the puppy something from the shop.
///
/// Example: `{"item": "biscuit"}`
#[args]
pub struct Buy {
    /// The name of the item in the shop.
    pub item: String,
}

/// A purchase.
#[reply]
pub struct Purchase {
    /// The item.
    pub item: String,
    /// The price.
    pub price: u64,
    /// Coins left.
    pub coins: u64,
}

impl Action for Buy {
    type Output = Purchase;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Purchase> {
        let item = find_item(&self.item)?;
        let mut wallet = Wallet::of_caller(vault)?;
        wallet.pay(item)?;
        wallet.save(vault)?;
        vault.notify(Level::Info, &format!("the puppy got a new {}", item.name))?;
        Ok(Purchase {
            item: item.name.to_owned(),
            price: item.price,
            coins: wallet.coins(),
        })
    }

    fn text(output: &Purchase) -> String {
        format!(
            "the puppy has a new {} and wags its tail; {} left",
            output.item,
            counted(output.coins, "coin")
        )
    }
}
