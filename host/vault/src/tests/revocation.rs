//! Rights that are taken away while a transaction is under way.

use super::*;
use notehost_sdk::Code;

fn rules(list: &[(&str, Tier)]) -> Option<Arc<dyn Rules>> {
    let list = list.iter();
    let list = list.map(|(prefix, tier)| ((*prefix).to_owned(), *tier));
    Some(Arc::new(Prefixes(list.collect())))
}

const WORK: (&str, &str) = ("Work/Plan.md", "plan\n");

#[test]
fn what_was_hidden_meanwhile_is_not_there() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[WORK, ("Diary/Day.md", "day\n")]);
        let mut transaction = fixture.begin();
        transaction.read("Work/Plan.md").unwrap();
        assert_eq!(
            transaction.list("", true, None, 10).unwrap().entries.len(),
            4
        );
        transaction.narrow(rules(&[("", Tier::Delete), ("Work", Tier::None)]));
        assert_eq!(code(transaction.read("Work/Plan.md")), "not_found");
        assert_eq!(code(transaction.stat("Work")), "not_found");
        assert_eq!(
            transaction.list("", true, None, 10).unwrap().entries.len(),
            2
        );
        assert_eq!(transaction.resolve("Plan", None).unwrap(), [""; 0]);
        assert_eq!(transaction.mentioning(&["plan".into()]).unwrap(), [""; 0]);
        assert_eq!(transaction.tier_at("Work/Plan.md"), Tier::None);
        // Given back, it is there again.
        transaction.narrow(None);
        transaction.read("Work/Plan.md").unwrap();
    });
}

#[test]
fn what_is_given_meanwhile_makes_nothing_more_of_it() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[WORK, ("Diary/Day.md", "day\n")]);
        let began = [("", Tier::Read), ("Diary", Tier::None)];
        let mut transaction = fixture.begin_as(&began, Effect::Delete);
        transaction.narrow(rules(&[("", Tier::Delete)]));
        assert_eq!(code(transaction.read("Diary/Day.md")), "not_found");
        let written = transaction.write("Work/Plan.md", b"other\n", None);
        assert_eq!(code(written), "permission_denied");
    });
}

/// Each way of changing something, staged and then forbidden, changes nothing.
#[test]
fn what_was_staged_and_may_no_longer_be_does_not_land() {
    on_each_storage(|| {
        type Act = fn(&mut Transaction) -> Result<(), VaultError>;
        let acts: [(&str, Tier, Act); 7] = [
            ("Work", Tier::Read, |one| {
                one.create("Work/New.md", b"new").map(drop)
            }),
            ("Work", Tier::Read, |one| {
                one.write("Work/Plan.md", b"new", None).map(drop)
            }),
            ("Work", Tier::Read, |one| one.create_folder("Work/New")),
            // A rename needs both ends.
            ("Work", Tier::Read, |one| {
                one.rename("Work/Plan.md", "Diary/Plan.md")
            }),
            ("Diary", Tier::Read, |one| {
                one.rename("Work/Plan.md", "Diary/Plan.md")
            }),
            ("Work", Tier::Write, |one| {
                one.remove("Work/Plan.md").map(drop)
            }),
            ("Work", Tier::None, |one| one.remove("Work").map(drop)),
        ];
        for (number, (place, left, act)) in acts.into_iter().enumerate() {
            let fixture = Fixture::new(&[WORK, ("Diary/Day.md", "day\n")]);
            let before = fixture.files();
            let mut transaction = fixture.begin();
            act(&mut transaction).unwrap();
            let landed = transaction.commit_if(note(), |transaction| {
                transaction.narrow(rules(&[("", Tier::Delete), (place, left)]));
                Ok(())
            });
            let error = match landed.unwrap_err() {
                CommitError::Failed(error) | CommitError::Unsettled(error) => error,
                conflict @ CommitError::Conflict { .. } => panic!("{number}: {conflict}"),
            };
            assert_eq!(error.code(), "permission_denied", "{number}");
            assert_eq!(fixture.files(), before, "{number}");
            assert!(fixture.leftovers().is_empty(), "{number}");
        }
    });
}

#[test]
fn what_is_taken_elsewhere_does_not_matter() {
    on_each_storage(|| {
        let fixture = Fixture::new(&[WORK, ("Diary/Day.md", "day\n")]);
        let mut transaction = fixture.begin_as(&[("", Tier::Write)], Effect::Write);
        transaction.write("Work/Plan.md", b"other\n", None).unwrap();
        let landed = transaction.commit_if(note(), |transaction| {
            transaction.narrow(rules(&[("", Tier::Write), ("Diary", Tier::None)]));
            Ok(())
        });
        landed.unwrap();
        assert_eq!(fixture.text("Work/Plan.md").unwrap(), "other\n");
    });
}

#[test]
fn a_closed_transaction_refuses_writes() {
    let fixture = Fixture::new(&[WORK]);
    let refusal = || VaultError::new(Code::ReadOnly, "nothing can be changed now");
    let mut transaction = fixture.begin();
    transaction.store_set("key", b"value").unwrap();
    transaction.close(Some(refusal()));
    assert_eq!(code(transaction.create("Work/New.md", b"new")), "read_only");
    transaction.read("Work/Plan.md").unwrap();
    let Err(CommitError::Failed(error)) = transaction.commit(note()) else {
        panic!("what was kept in the store is a change as well");
    };
    assert_eq!(error.code(), "read_only");
    // Who refuses at the last moment has the last word.
    let mut transaction = fixture.begin();
    transaction.create("Work/New.md", b"new").unwrap();
    assert!(transaction.commit_if(note(), |_| Err(refusal())).is_err());
    assert_eq!(fixture.text("Work/New.md"), None);
}
