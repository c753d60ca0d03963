//! The functions, methods and file attributes of expressions with their argument counts. Other names are rejected.

use notehost_sdk::nearest::nearest_name;
use notehost_sdk::quoted;

/// No maximum.
const MANY: usize = usize::MAX;

/// A name, and its minimum and maximum number of arguments.
type Word = (&'static str, usize, usize);

/// Free functions.
const FUNCTIONS: [Word; 16] = [
    ("date", 1, 1),
    ("duration", 1, 1),
    ("escapeHTML", 1, 1),
    ("file", 1, 1),
    ("html", 1, 1),
    ("icon", 1, 1),
    ("if", 2, 3),
    ("image", 1, 1),
    ("link", 1, 2),
    ("list", 1, 1),
    ("max", 1, MANY),
    ("min", 1, MANY),
    ("now", 0, 0),
    ("number", 1, 1),
    ("random", 0, 0),
    ("today", 0, 0),
];

/// Methods of values of any type.
const METHODS: [Word; 48] = [
    ("abs", 0, 0),
    ("asFile", 0, 0),
    ("asLink", 0, 1),
    ("ceil", 0, 0),
    ("contains", 1, 1),
    ("containsAll", 1, MANY),
    ("containsAny", 1, MANY),
    ("date", 0, 0),
    ("endsWith", 1, 1),
    ("filter", 1, 1),
    ("flat", 0, 0),
    ("floor", 0, 0),
    ("format", 1, 1),
    ("hasLink", 1, 1),
    ("hasProperty", 1, 1),
    ("hasTag", 1, MANY),
    ("inFolder", 1, 1),
    ("isEmpty", 0, 0),
    ("isTruthy", 0, 0),
    ("isType", 1, 1),
    ("join", 0, 1),
    ("keys", 0, 0),
    ("linksTo", 1, 1),
    ("lower", 0, 0),
    ("map", 1, 1),
    ("matches", 1, 1),
    ("max", 0, 0),
    ("mean", 0, 0),
    ("min", 0, 0),
    ("reduce", 2, 2),
    ("relative", 0, 0),
    ("repeat", 1, 1),
    ("replace", 2, 2),
    ("reverse", 0, 0),
    ("round", 0, 1),
    ("slice", 1, 2),
    ("sort", 0, 0),
    ("split", 1, 2),
    ("startsWith", 1, 1),
    ("sum", 0, 0),
    ("time", 0, 0),
    ("title", 0, 0),
    ("toFixed", 0, 1),
    ("toString", 0, 0),
    ("trim", 0, 0),
    ("unique", 0, 0),
    ("upper", 0, 0),
    ("values", 0, 0),
];

/// The attributes of a file.
pub(crate) const FILE_FIELDS: [&str; 15] = [
    "aliases",
    "backlinks",
    "basename",
    "ctime",
    "embeds",
    "ext",
    "file",
    "folder",
    "links",
    "mtime",
    "name",
    "path",
    "properties",
    "size",
    "tags",
];

/// The function with this name, if it takes this number of arguments.
pub(super) fn function(name: &str, arguments: usize) -> Result<&'static str, String> {
    look_up(&FUNCTIONS, "function", name, arguments)
}

/// The method with this name, if it takes this number of arguments.
pub(super) fn method(name: &str, arguments: usize) -> Result<&'static str, String> {
    look_up(&METHODS, "function", name, arguments).map_err(|error| {
        let is_function = FUNCTIONS.iter().any(|word| word.0 == name);
        match is_function && METHODS.iter().all(|word| word.0 != name) {
            true => format!("`{name}` is a function, not a method: write `{name}(…)`"),
            false => error,
        }
    })
}

/// Whether the first argument of a method is evaluated for every list item.
pub(super) fn is_per_item(method: &str) -> bool {
    matches!(method, "filter" | "map" | "reduce")
}

/// The fact of a file.
pub(super) fn file_field(name: &str) -> Result<&'static str, String> {
    FILE_FIELDS
        .into_iter()
        .find(|field| *field == name)
        .ok_or_else(|| {
            format!(
                "unknown file attribute `file.{name}`; the attributes are {}",
                quoted(FILE_FIELDS)
            )
        })
}

fn look_up(
    words: &[Word],
    what: &str,
    name: &str,
    arguments: usize,
) -> Result<&'static str, String> {
    let Some((known, fewest, most)) = words.iter().find(|word| word.0 == name) else {
        return Err(match nearest_name(name, words.iter().map(|word| word.0)) {
            Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`?"),
            None => format!("unknown {what} `{name}`"),
        });
    };
    if (*fewest..=*most).contains(&arguments) {
        return Ok(known);
    }
    let expected = match (*fewest, *most) {
        (fewest, MANY) => format!("{fewest} or more arguments"),
        (1, 1) => "1 argument".to_owned(),
        (fewest, most) if fewest == most => format!("{most} arguments"),
        (fewest, most) => format!("{fewest} to {most} arguments"),
    };
    Err(format!("`{name}` takes {expected}, not {arguments}"))
}
