//! Measurements, run by hand: `cargo test --release -- --ignored --nocapture speed`.

use std::{io::Write, time::Instant};

use super::*;

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}

fn measure(rounds: usize, mut act: impl FnMut(usize)) -> Duration {
    median(
        (0..rounds)
            .map(|round| {
                let start = Instant::now();
                act(round);
                start.elapsed()
            })
            .collect(),
    )
}

fn tell(what: &str, time: Duration) {
    writeln!(std::io::stderr(), "{what}: {time:?}").unwrap();
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let text = "line of text\n".repeat(315);
    let fixture = Fixture::new(&[("Work/Plan.md", &text), ("Work/Other.md", &text)]);
    let folder = fixture.folder();
    let path = folder.join("Work/Plan.md");
    tell(
        "fs::read of 4 KB",
        measure(20_000, |_| drop(fs::read(&path).unwrap())),
    );
    tell(
        "begin, read, validate of 4 KB",
        measure(20_000, |_| {
            let mut transaction = fixture.begin();
            transaction.read("Work/Plan.md").unwrap();
            transaction.validate().unwrap();
        }),
    );
    let raw = folder.join("raw");
    let opened = fs::File::open(&folder).unwrap();
    tell(
        "write, fsync, rename, fsync by hand",
        measure(300, |round| {
            let mut file = fs::File::create(&raw).unwrap();
            file.write_all(format!("{text}{round}").as_bytes()).unwrap();
            file.sync_all().unwrap();
            fs::rename(&raw, folder.join("by hand.md")).unwrap();
            opened.sync_all().unwrap();
        }),
    );
    tell(
        "durable edit of 4 KB",
        measure(300, |round| {
            fixture.run(|t| {
                t.read("Work/Plan.md")?;
                t.write("Work/Plan.md", format!("{text}{round}").as_bytes(), None)
            });
        }),
    );
    for number in 0..500 {
        fixture.put(&format!("Many/{number}.md"), &text);
    }
    let start = Instant::now();
    fixture.run(|t| {
        for number in 0..500 {
            t.write(&format!("Many/{number}.md"), b"changed", None)?;
        }
        t.rename("Work/Other.md", "Work/Another.md")
    });
    tell(
        "rename and 500 files rewritten, one commit",
        start.elapsed(),
    );

    let Ok(vault) = std::env::var("NOTEHOST_TEST_VAULT") else {
        return;
    };
    let state = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let vault = Arc::new(
        Vault::open(
            "hub",
            PathBuf::from(vault).as_path(),
            state.path(),
            VaultSettings::default(),
        )
        .unwrap(),
    );
    tell("open", start.elapsed());
    let begin = || {
        vault.begin(Access {
            rules: Arc::new(Prefixes(vec![(String::new(), Tier::Read)])),
            effect: Effect::Read,
            component: "test".into(),
            limits: Limits::default(),
        })
    };
    let mut count = 0;
    tell(
        "mentioning `obsidian`",
        measure(9, |_| {
            count = begin().mentioning(&["obsidian".into()]).unwrap().len()
        }),
    );
    tell(
        &format!("({count} notes) mentioning `[[Zettelkasten`"),
        measure(9, |_| {
            drop(begin().mentioning(&["[[Zettelkasten".into()]).unwrap())
        }),
    );
    tell(
        "mentioning `grüße`",
        measure(9, |_| drop(begin().mentioning(&["grüße".into()]).unwrap())),
    );
    tell(
        "resolve",
        measure(99, |_| drop(begin().resolve("Dataview", None).unwrap())),
    );
    tell(
        "list all",
        measure(9, |_| drop(begin().list("", true, None, 10_000).unwrap())),
    );
}
