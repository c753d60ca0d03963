//! That no name leads out of a folder, and both ways down lead to the same.

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn no_name_leads_out_of_a_folder() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(place.path().join("vault/in")).unwrap();
    std::fs::write(place.path().join("secret"), "s").unwrap();
    std::fs::write(place.path().join("vault/mine"), "m").unwrap();
    let root = Folder::open_vault(&place.path().join("vault")).unwrap();
    for name in [
        "",
        ".",
        "..",
        "../secret",
        "in/../../secret",
        "/etc",
        "in/",
        "a\0b",
    ] {
        assert!(root.folder(name).is_err(), "{name:?}");
        assert!(!matches!(root.status(name), Ok(Some(_))), "{name:?}");
        assert!(!matches!(root.open(name), Ok(Some(_))), "{name:?}");
        let is_folder = matches!(name, "" | "in/");
        assert!(!matches!(root.open_below(name), Ok(Some(_))), "{name:?}");
        assert!(
            is_folder || !matches!(root.status_below(name), Ok(Some(_))),
            "{name:?}"
        );
        assert!(
            root.create(name).is_err() && root.make_folder(name).is_err(),
            "{name:?}"
        );
        assert!(root.rename_new("mine", &root, name).is_err(), "{name:?}");
        assert!(root.rename_over(name, &root, "mine").is_err(), "{name:?}");
        assert!(
            !matches!(root.exchange("mine", &root, name), Ok(true)),
            "{name:?}"
        );
        assert!(!matches!(root.unlink(name), Ok(true)), "{name:?}");
        assert!(!matches!(root.unlink_folder(name), Ok(true)), "{name:?}");
    }
    assert_eq!(std::fs::read(place.path().join("secret")).unwrap(), b"s");
    assert!(place.path().join("vault/in").exists());
}

#[test]
fn both_ways_down_lead_to_the_same() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    std::fs::create_dir_all(at("a/b/c")).unwrap();
    std::fs::write(at("a/note.md"), "").unwrap();
    symlink("b", at("a/inside")).unwrap();
    symlink("/", at("a/outside")).unwrap();
    let root = Folder::open_vault(place.path()).unwrap();
    let arrived = |folder: io::Result<Folder>| match folder {
        Ok(folder) => folder.own_status().unwrap().stamp.identity.to_string(),
        Err(error) => format!("absent: {}", is_absent(&error)),
    };
    for (path, is_there) in [
        ("", true),
        ("a", true),
        ("a/b", true),
        ("a/b/c", true),
        ("a//b", true),
        ("a/x/c", false),
        ("a/note.md/c", false),
        ("a/inside", false),
        ("a/inside/c", false),
        ("a/outside/tmp", false),
        ("..", false),
        (".", false),
        ("a/..", false),
        ("a/../a/b", false),
        ("./a", false),
        ("a\0", false),
    ] {
        let by_name = arrived(root.descend_by_name(path));
        assert_eq!(arrived(root.descend(path)), by_name, "{path}");
        assert_eq!(by_name != "absent: true", is_there, "{path}: {by_name}");
    }
}

#[test]
fn a_copy_is_private_until_it_is_complete() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = tempfile::tempdir().unwrap();
    let note = place.path().join("note.md");
    std::fs::write(&note, "text").unwrap();
    std::fs::set_permissions(&note, std::fs::Permissions::from_mode(0o664)).unwrap();
    let root = Folder::open_vault(place.path()).unwrap();
    root.copy("note.md", &root, "copy", |copy| {
        let found = copy.metadata().unwrap();
        assert_eq!(
            (found.len(), found.permissions().mode() & 0o777),
            (4, 0o600)
        );
    })
    .unwrap();
    assert_eq!(root.status("copy").unwrap().unwrap().mode, 0o664);
    assert_eq!(std::fs::read(place.path().join("copy")).unwrap(), b"text");
}
