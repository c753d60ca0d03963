//! Every text of its description is empty.

guest_liar::describes!(guest_liar::described(
    "",
    vec![guest_liar::action_with_input("", String::new())]
));
