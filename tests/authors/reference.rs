//! `sdk/docs/wit.md`: the contract as a page, generated from `wit/`. `UPDATE=1` regenerates it.

use std::fmt::Write as _;
use std::path::Path;

use wit_parser::{
    Docs, Function, FunctionKind, Handle, Interface, Resolve, Type, TypeDefKind, TypeId, WorldItem,
};

use crate::support::repository;

#[test]
fn contract_reference_page_is_up_to_date() {
    let file = repository().join("sdk/docs/wit.md");
    let mut page = String::from(
        "<!-- Made from `wit/` by tests/authors/reference.rs; UPDATE=1 writes it anew. -->\n\n# The contract, word by word\n",
    );
    let mut tracks = vec![repository().join("wit")];
    let entries = std::fs::read_dir(&tracks[0])
        .expect("the contract")
        .flatten();
    let mut others: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    others.sort();
    tracks.extend(others);
    for track in tracks {
        page.push_str(&page_of(&track));
    }
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(&file, &page).expect("the page is written");
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        known == page,
        "`sdk/docs/wit.md` does not match `wit/`: run with UPDATE=1"
    );
}

fn page_of(track: &Path) -> String {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(track).expect("the contract can be read");
    let package = &resolve.packages[package];
    let mut page = format!("\n## `{}`\n\n{}", package.name, prose(&package.docs));
    for world in package.worlds.values() {
        let world = &resolve.worlds[*world];
        let names = |items: &mut dyn Iterator<Item = &WorldItem>| {
            let names: Vec<String> = items
                .filter_map(|item| match item {
                    WorldItem::Interface { id, .. } => resolve.interfaces[*id].name.clone(),
                    _ => None,
                })
                .map(|name| format!("`{name}`"))
                .collect();
            names.join(", ")
        };
        let (offered, exported) = (
            names(&mut world.imports.values()),
            names(&mut world.exports.values()),
        );
        let _ = writeln!(
            page,
            "The world `{}`: a component may import {offered}, and exports {exported}.\n",
            world.name
        );
    }
    for interface in package.interfaces.values() {
        interface_page(&resolve, &resolve.interfaces[*interface], &mut page);
    }
    page
}

fn interface_page(resolve: &Resolve, interface: &Interface, page: &mut String) {
    let name = interface.name.as_deref().unwrap_or_default();
    let _ = write!(page, "### interface `{name}`\n\n{}", prose(&interface.docs));
    for id in interface.types.values() {
        type_page(resolve, *id, page);
    }
    let mut functions = interface.functions.values().peekable();
    if functions.peek().is_some() {
        page.push_str("| function | |\n|---|---|\n");
        for function in functions {
            let _ = writeln!(
                page,
                "| `{}` | {} |",
                signature(resolve, function),
                cell(&function.docs)
            );
        }
        page.push('\n');
    }
}

fn type_page(resolve: &Resolve, id: TypeId, page: &mut String) {
    let found = &resolve.types[id];
    let name = found.name.as_deref().unwrap_or_default();
    let mut rows: Vec<(String, String)> = Vec::new();
    let kind = match &found.kind {
        TypeDefKind::Record(record) => {
            let fields = record.fields.iter();
            rows.extend(fields.map(|field| {
                (
                    format!("{}: {}", field.name, type_name(resolve, &field.ty)),
                    cell(&field.docs),
                )
            }));
            "record"
        }
        TypeDefKind::Variant(variant) => {
            rows.extend(variant.cases.iter().map(|case| {
                let inner = case
                    .ty
                    .map(|inner| format!("({})", type_name(resolve, &inner)));
                (
                    format!("{}{}", case.name, inner.unwrap_or_default()),
                    cell(&case.docs),
                )
            }));
            "variant"
        }
        TypeDefKind::Enum(cases) => {
            rows.extend(
                cases
                    .cases
                    .iter()
                    .map(|case| (case.name.clone(), cell(&case.docs))),
            );
            "enum"
        }
        TypeDefKind::Resource => "resource",
        // A type that is used from another interface is documented there.
        TypeDefKind::Type(Type::Id(_)) => return,
        TypeDefKind::Type(same) => {
            let _ = write!(
                page,
                "**type `{name}`** is `{}`. {}",
                type_name(resolve, same),
                prose(&found.docs)
            );
            return;
        }
        other => panic!("`{name}` is a {}: add it to this generator", other.as_str()),
    };
    let _ = write!(page, "**{kind} `{name}`** {}", prose(&found.docs));
    if found.docs.is_empty() {
        page.push_str("\n\n");
    }
    if !rows.is_empty() {
        page.push_str("| | |\n|---|---|\n");
        for (what, meaning) in rows {
            let _ = writeln!(page, "| `{what}` | {meaning} |");
        }
        page.push('\n');
    }
}

fn signature(resolve: &Resolve, function: &Function) -> String {
    // The first parameter of a method is its resource.
    let is_method = matches!(function.kind, FunctionKind::Method(_));
    let parameters = function.params.iter().skip(usize::from(is_method));
    let parameters: Vec<String> = parameters
        .map(|parameter| format!("{}: {}", parameter.name, type_name(resolve, &parameter.ty)))
        .collect();
    let result = function
        .result
        .map(|result| format!(" -> {}", type_name(resolve, &result)));
    format!(
        "{}({}){}",
        function.item_name(),
        parameters.join(", "),
        result.unwrap_or_default()
    )
}

fn type_name(resolve: &Resolve, kind: &Type) -> String {
    let Type::Id(id) = kind else {
        return format!("{kind:?}").to_lowercase();
    };
    let found = &resolve.types[*id];
    if let Some(name) = &found.name {
        return name.clone();
    }
    let part = |inner: &Option<Type>| {
        inner.map_or_else(|| "_".to_owned(), |inner| type_name(resolve, &inner))
    };
    match &found.kind {
        TypeDefKind::Option(inner) => format!("option<{}>", type_name(resolve, inner)),
        TypeDefKind::List(inner) => format!("list<{}>", type_name(resolve, inner)),
        TypeDefKind::Result(result) => {
            format!("result<{}, {}>", part(&result.ok), part(&result.err))
        }
        TypeDefKind::Handle(Handle::Borrow(of)) => {
            format!("borrow<{}>", type_name(resolve, &Type::Id(*of)))
        }
        TypeDefKind::Handle(Handle::Own(of)) => type_name(resolve, &Type::Id(*of)),
        other => panic!("an anonymous {}: add it to this generator", other.as_str()),
    }
}

fn prose(docs: &Docs) -> String {
    docs.contents
        .as_deref()
        .map(|text| format!("{}\n\n", text.trim()))
        .unwrap_or_default()
}

/// Docs for a table cell, on one line.
fn cell(docs: &Docs) -> String {
    let text = docs.contents.as_deref().unwrap_or_default();
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}
