//! Declares the contract's version and exports its functions, but with other types.

wit_bindgen::generate!({
    inline: "
        package notehost:domain@1.0.0-rc.1;

        interface domain {
            describe: func() -> string;
            call: func(action: string) -> string;
        }

        world component {
            export domain;
        }
    ",
});

struct Stranger;

impl exports::notehost::domain::domain::Guest for Stranger {
    fn describe() -> String {
        "{}".to_owned()
    }

    fn call(action: String) -> String {
        action
    }
}

export!(Stranger);
