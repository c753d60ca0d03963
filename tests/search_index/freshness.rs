//! Search results while notes change: by this client, by another program, and during an index build.

use std::fs;

use serde_json::{Value, json};

use super::{paths, reply_of, start_client, wait_for_index};
use crate::support::http::wait_until;
use crate::support::place::Place;

fn found(answer: &Value, path: &str) -> bool {
    paths(answer).contains(&path)
}

#[test]
fn search_finds_the_callers_own_writes() {
    let place = Place::new();
    place.write("Start.md", "nothing\n");
    let mut client = start_client(&place);
    wait_for_index(&mut client);
    for number in 0..40 {
        let (path, word) = (format!("New/Note {number}.md"), format!("wombat{number}"));
        let content = format!("a {word} [[Start]] #animal/{word}\n");
        reply_of(
            &mut client,
            "document",
            json!({"action": "create", "path": path, "content": content}),
        );
        let by_word = reply_of(
            &mut client,
            "search",
            json!({"action": "text", "query": word}),
        );
        assert_eq!(paths(&by_word), [path.as_str()]);
        let by_tag = reply_of(
            &mut client,
            "tag",
            json!({"action": "notes", "tag": format!("animal/{word}")}),
        );
        assert_eq!(paths(&by_tag), [path.as_str()]);
        let links = reply_of(
            &mut client,
            "link",
            json!({"action": "backlinks", "path": "Start"}),
        );
        assert_eq!(links["total"], number + 1);
        let edits = json!([{"old": word, "new": "numbat", "replace_all": true}]);
        reply_of(
            &mut client,
            "document",
            json!({"action": "edit", "path": path, "edits": edits}),
        );
        let gone = reply_of(
            &mut client,
            "search",
            json!({"action": "text", "query": word}),
        );
        assert_eq!(gone["total"], 0, "{gone}");
    }
    let all = reply_of(
        &mut client,
        "search",
        json!({"action": "text", "query": "numbat", "limit": 100}),
    );
    assert_eq!(all["total"], 40);
}

#[test]
fn search_finds_external_edits() {
    let place = Place::new();
    place.write("Folder/A.md", "first\n");
    let mut client = start_client(&place);
    wait_for_index(&mut client);
    let mut until = |what: &str, query: &str, is_so: &dyn Fn(&Value) -> bool| {
        wait_until(what, || {
            is_so(&reply_of(
                &mut client,
                "search",
                json!({"action": "text", "query": query}),
            ))
        });
    };
    // Editors that write in place, replace, rename, and remove folders.
    place.write("Folder/A.md", "quokka\n");
    until("an edit", "quokka", &|answer| found(answer, "Folder/A.md"));
    let temporary = place.vault().join("Folder/.A.md.swp");
    fs::write(&temporary, "bilby\n").expect("a file");
    fs::rename(&temporary, place.vault().join("Folder/A.md")).expect("a rename");
    until("a replacement", "bilby", &|answer| {
        found(answer, "Folder/A.md")
    });
    fs::rename(place.vault().join("Folder"), place.vault().join("Moved")).expect("a rename");
    until("a folder with another name", "bilby", &|answer| {
        paths(answer) == ["Moved/A.md"]
    });
    fs::remove_dir_all(place.vault().join("Moved")).expect("it was there");
    until("a folder that is gone", "bilby", &|answer| {
        paths(answer).is_empty()
    });
}

#[test]
fn queries_do_not_block_on_an_index_build() {
    let place = Place::new();
    for number in 0..3000 {
        place.write(
            &format!("N/{}/{number}.md", number % 20),
            format!(
                "# Note {number}\nwombat [[{}]] #t{}\n",
                number + 1,
                number % 50
            ),
        );
    }
    let mut client = start_client(&place);
    let read = reply_of(
        &mut client,
        "document",
        json!({"action": "read", "path": "N/7/7.md"}),
    );
    assert!(read["content"].is_string());
    let mut seen = 0;
    loop {
        let answer = reply_of(
            &mut client,
            "search",
            json!({"action": "text", "query": "wombat", "limit": 1}),
        );
        let total = answer["total"].as_u64().expect("a number");
        assert!(total >= seen, "what was found stays found");
        seen = total;
        let Some(index) = answer.get("index") else {
            break;
        };
        assert_eq!(index["state"], "building");
        // Callers are rate limited, and on a busy machine building takes long.
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(index["done"].as_u64() <= index["total"].as_u64(), "{index}");
    }
    assert_eq!(seen, 3000);
}

#[test]
fn words_and_parts_of_words_are_found_in_every_script() {
    let place = Place::new();
    for (path, text) in [
        ("zh.md", "我们在北京学习编程语言和数据库设计。"),
        ("ja.md", "東京タワーで昼ごはんを食べました。カタカナ"),
        ("ko.md", "한국어 문장은 학교에서 배웁니다."),
        ("th.md", "ภาษาไทยไม่มีการเว้นวรรค"),
        ("ar.md", "قرأتُ الكِتَابَ في المكتبة"),
        ("he.md", "שָׁלוֹם לעולם"),
        ("de.md", "Die Größe der Straße, naïve façade, Łódź"),
        ("code.md", "let parse_noteName = HttpServer::new(user_id);"),
        ("mixed.md", "用Rust写的MCP服务器 🎉 v2.0"),
    ] {
        place.write(path, text);
    }
    let mut client = start_client(&place);
    wait_for_index(&mut client);
    for (query, path) in [
        ("编程", "zh.md"),
        ("数据库", "zh.md"),
        ("京", "zh.md"),
        ("東京", "ja.md"),
        ("昼ごはん", "ja.md"),
        ("タワー", "ja.md"),
        ("학교", "ko.md"),
        ("문장", "ko.md"),
        ("เว้นวรรค", "th.md"),
        ("الكتاب", "ar.md"),
        ("كتاب", "ar.md"),
        ("שלום", "he.md"),
        ("עולם", "he.md"),
        ("grosse", "de.md"),
        ("STRASSE", "de.md"),
        ("naive facade", "de.md"),
        ("lodz", "de.md"),
        ("parse_noteName", "code.md"),
        ("server", "code.md"),
        ("user_id", "code.md"),
        ("\"rust写的mcp\"", "mixed.md"),
        ("服务器", "mixed.md"),
        ("🎉", "mixed.md"),
    ] {
        let answer = reply_of(
            &mut client,
            "search",
            json!({"action": "text", "query": query}),
        );
        assert!(found(&answer, path), "`{query}` finds {answer}");
    }
}
