//! Words as they are looked for: stems, the words that say nothing, and those that say the same.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Words that say nothing about what is wanted.
const SILENT: &str = "a also am an and any are as at be been being by can certain did do does each for from \
     had has have how i if in into is it its just let like may me much my need on only or our please so some specific such \
     than that the their them then these this those to use using via want was we were will with would you your";

/// Several words that are better said in others, the longest first.
const PHRASES: &[(&str, &str)] = &[
    ("at the very beginning", "prepend"),
    ("at the very end", "append"),
    ("at the very top", "prepend"),
    ("can not be found", "missing"),
    ("how do i use", "guide"),
    ("in all my notes", "everywhere notes"),
    ("in the whole vault", "everywhere"),
    ("see this card again", "suspend card"),
    ("to a different folder", "move"),
    ("across all notes", "everywhere notes"),
    ("across the vault", "everywhere"),
    ("add a line", "append"),
    ("am i allowed", "permissions"),
    ("at the beginning", "prepend"),
    ("at the bottom", "append"),
    ("at the end", "append"),
    ("at the start", "prepend"),
    ("at the top", "prepend"),
    ("below a heading", "section"),
    ("below the existing", "append"),
    ("below the heading", "section"),
    ("by its name", "filename"),
    ("call the note", "rename note"),
    ("can i change", "permissions"),
    ("can i delete", "permissions"),
    ("can i edit", "permissions"),
    ("can i read", "permissions"),
    ("can i write", "permissions"),
    ("cannot be found", "missing"),
    ("change the name", "rename"),
    ("create a directory", "mkdir"),
    ("create a folder", "mkdir"),
    ("find and replace", "replace"),
    ("get it back", "restore"),
    ("get rid of", "remove"),
    ("in a folder", "list folder"),
    ("in a note", "of note"),
    ("in all notes", "everywhere notes"),
    ("in many notes", "everywhere notes"),
    ("in multiple notes", "everywhere notes"),
    ("in my notes", "search notes"),
    ("in one go", "many"),
    ("in several notes", "everywhere notes"),
    ("in the folder", "list folder"),
    ("in this folder", "list folder"),
    ("in this note", "of note"),
    ("into a folder", "move"),
    ("into another folder", "move"),
    ("make a directory", "mkdir"),
    ("make a folder", "mkdir"),
    ("no longer used", "unused"),
    ("nobody links to", "orphans"),
    ("nothing links to", "orphans"),
    ("of a note", "of note"),
    ("of this note", "of note"),
    ("on a note", "of note"),
    ("on this note", "of note"),
    ("put it back", "undo"),
    ("refer to this", "backlinks"),
    ("refers to this", "backlinks"),
    ("search and replace", "replace"),
    ("table of contents", "outline"),
    ("this note embed", "of note embed"),
    ("this note have", "of note"),
    ("this note use", "of note use"),
    ("to another folder", "move"),
    ("to the trash", "remove"),
    ("under a heading", "section"),
    ("under one heading", "section"),
    ("under the heading", "section"),
    ("which notes link", "backlinks"),
    ("who am i", "whoami"),
    ("without any links", "orphans"),
    ("all about", "context"),
    ("allowed to", "permissions"),
    ("any more", "suspend"),
    ("at once", "many"),
    ("back up", "export"),
    ("bring back", "restore"),
    ("bring in", "import"),
    ("by name", "filename"),
    ("changed after", "search query"),
    ("check off", "set task"),
    ("clean up", "remove"),
    ("cleaned up", "unused"),
    ("created after", "search query"),
    ("created before", "search query"),
    ("cut out", "remove"),
    ("deleted note", "trash restore note"),
    ("due before", "query"),
    ("every note", "everywhere notes"),
    ("file name", "filename"),
    ("from anki", "import flashcard"),
    ("full text", "text"),
    ("get back", "restore"),
    ("get from", "path"),
    ("going on", "changes"),
    ("how big", "get"),
    ("how long", "count"),
    ("how many", "number"),
    ("how often", "count"),
    ("in bulk", "many"),
    ("into anki", "export flashcard"),
    ("link here", "backlinks"),
    ("link to", "link outgoing"),
    ("links here", "backlinks"),
    ("links to", "link backlinks references"),
    ("look at", "read"),
    ("look for", "search"),
    ("look inside", "children"),
    ("look up", "lookup"),
    ("made up", "list"),
    ("may i", "whoami permissions"),
    ("mention this", "backlinks"),
    ("new directory", "mkdir"),
    ("new folder", "mkdir"),
    ("no links", "orphans"),
    ("no note", "unused"),
    ("nobody references", "unused"),
    ("not exist", "missing unresolved"),
    ("not linked", "unused orphans"),
    ("not referenced", "unused"),
    ("not used", "unused"),
    ("notes about", "search text"),
    ("notes like", "search similar"),
    ("notes say", "search context"),
    ("notes where", "search query"),
    ("on top", "prepend"),
    ("put back", "restore"),
    ("referring to", "backlinks"),
    ("regular expression", "regex"),
    ("roll back", "undo"),
    ("s name", "rename"),
    ("since when", "history"),
    ("something else", "rename"),
    ("take back", "undo"),
    ("throw away", "remove"),
    ("throw out", "remove"),
    ("tick off", "set task"),
    ("to anki", "export flashcard"),
    ("to do", "task"),
    ("top level", "notebook"),
    ("trash a", "remove"),
    ("trash the", "remove"),
    ("trash this", "remove"),
    ("turn into", "extract"),
    ("vault wide", "everywhere"),
    ("what links", "backlinks"),
    ("which vaults", "info"),
    ("who changed", "history changes"),
    ("who edited", "history"),
    ("who links", "backlinks references"),
    ("without links", "orphans"),
    ("word count", "count"),
    ("write about", "search text"),
    ("wrote about", "search text"),
    ("deleted", "trash"),
    ("edited", "recent"),
    ("modified", "recent"),
    ("removed", "trash"),
];

/// Words of actions, and what people say who mean them. General ones: what is special to a component stands in its own
/// words.
const SAID: &[(&str, &str)] = &[
    // What can be done to anything.
    (
        "add",
        "append assign attach create extend include insert label new put",
    ),
    ("append", "add bottom end last"),
    (
        "batch",
        "atomic atomically bulk many operation several together transaction",
    ),
    ("children", "browse contains content contents inside"),
    (
        "configure",
        "adjust customise customize describe emoji set settings sorting",
    ),
    ("copy", "clone duplicate replicate"),
    ("count", "amount length long number size"),
    (
        "create",
        "add build compose draft fresh generate jot make new start turn write",
    ),
    ("delete", "clear cut discard drop erase remove strip"),
    ("diff", "changed compare comparison difference version"),
    ("duplicate", "clone copy replicate"),
    (
        "edit",
        "alter change correct fix mistake modify patch rephrase replace replacement sed spelling substitute swap tweak typo wording",
    ),
    (
        "export",
        "archive backup convert download html publish send share web zip",
    ),
    ("extract", "break own refactor separate split"),
    ("find", "filename locate named search"),
    (
        "get",
        "big describe detail details fetch info information inspect obtain retrieve say single statistics summary tell",
    ),
    (
        "health",
        "audit check diagnose diagnostics fine healthy ok problem report status working",
    ),
    (
        "history",
        "earlier log older previous past revision version",
    ),
    ("import", "bring load migrate"),
    ("info", "about version"),
    ("insert", "add between place put squeeze"),
    (
        "list",
        "all available browse catalog catalogue divided enumerate every exist existing have overview show which",
    ),
    (
        "lookup",
        "called exist locate name named point resolve title wikilink",
    ),
    ("many", "multiple several"),
    ("merge", "combine consolidate fold join unite"),
    (
        "move",
        "archive drag organise organize put relocate reorder shift sort transfer",
    ),
    ("outline", "chapter heading structure toc"),
    ("prepend", "beginning first start top"),
    (
        "query",
        "condition criteria filter metadata property select type where whose",
    ),
    (
        "read",
        "content display fetch get load obtain open print retrieve say see show view",
    ),
    (
        "recent",
        "edited last lately latest modified month newest recently since week worked yesterday",
    ),
    (
        "remove",
        "abolish clean cleanup clear cut delete discard drop eliminate erase purge strip take untag wipe",
    ),
    ("rename", "differently name retitle title"),
    (
        "replace",
        "across change everywhere mass overwrite rewrite substitute swap throughout update",
    ),
    ("restore", "mistake recover retrieve undelete"),
    ("set", "add change complete finish mark tick toggle update"),
    (
        "similar",
        "alike else like more related resembling same subject",
    ),
    (
        "stats",
        "analytics doing forecast performance progress statistics",
    ),
    ("suggest", "could idea missing propose recommend should"),
    ("trash", "bin delete deleted recycle removed thrown"),
    ("tree", "hierarchy organised organized structure"),
    ("undo", "cancel mistake oops revert rollback wrong"),
    (
        "update",
        "body change completely content modify overwrite replace rewrite set",
    ),
    ("values", "different distinct tally unique"),
    ("write", "add attach echo save store upload"),
    // Notes and what is in them.
    (
        "attributes",
        "callout checkbox complete field finish inline metadata state status task toggle",
    ),
    ("block", "bullet callout item paragraph task todo"),
    (
        "breadcrumb",
        "above ancestor located location parent position under where",
    ),
    ("document", "note page"),
    ("identify", "anchor id permanent"),
    ("properties", "frontmatter metadata yaml"),
    ("references", "backlink link mention"),
    ("section", "chapter heading part"),
    ("task", "checkbox todo"),
    // Files, folders, databases, cards.
    (
        "assets",
        "attachment file image jpg media pdf photo picture png",
    ),
    ("cells", "field fill value"),
    ("column", "field header property schema"),
    ("database", "base record table"),
    ("decks", "collection"),
    (
        "file",
        "asset attachment audio image media pdf photo picture",
    ),
    (
        "flashcard",
        "anki card deck learn memorise memorize quiz repetition study",
    ),
    ("fs", "directory shell"),
    ("missing", "broken gone lost nonexistent"),
    ("next", "now practice practise quiz study train"),
    ("notebook", "area workspace"),
    ("render", "expand fill placeholder preview"),
    ("resume", "paused reactivate unpause unsuspend"),
    ("review", "answer easy grade hard rate rating record score"),
    ("rows", "entry item record"),
    ("skip", "afterwards defer later postpone"),
    ("suspend", "bury disable hide never pause stop"),
    (
        "unused",
        "leftover nobody orphaned redundant superfluous unneeded unreferenced",
    ),
    // Links, tags, finding.
    ("backlinks", "cite incoming mention pointing refer"),
    ("context", "answer gather passage rag relevant say"),
    ("graph", "central map network visualise visualize"),
    (
        "link",
        "cite connect connected connection refer reference wikilink",
    ),
    (
        "neighbours",
        "around close closely connected depth hop indirectly near nearby neighbor surrounding vicinity",
    ),
    (
        "orphans",
        "disconnected isolated lonely nothing unconnected unlinked",
    ),
    ("outgoing", "cite of out refer"),
    ("path", "between chain connected route"),
    ("regex", "expression match pattern regexp"),
    (
        "rewrite",
        "change fix point redirect repoint retarget switch update",
    ),
    ("search", "find seek"),
    (
        "tag",
        "categorise categorize category hashtag label labeled labelled tagged topic",
    ),
    ("take", "remove strip untag"),
    ("text", "about contain keyword phrase talk word"),
    ("transfer", "point redirect repoint retarget"),
    (
        "unresolved",
        "broken dangling dead exist invalid nowhere target wanted",
    ),
    ("grep", "ripgrep rg"),
    ("ls", "dir"),
    ("cat", "head tail"),
    // The server and who calls.
    (
        "changes",
        "activity changed event happened others since today trail yesterday",
    ),
    (
        "guide",
        "begin convention help instruction kept onboarding started tutorial usage use",
    ),
    (
        "notify",
        "alert human inform message notification person ping send tell warn warning",
    ),
    ("permissions", "access allowed may right role tier"),
    ("system", "server vault"),
    ("time", "clock current date day now timezone today zone"),
    ("whoami", "account identity limit scope token user"),
    // Coins.
    ("balance", "coin money rich wallet"),
    ("buy", "purchase spend"),
    ("mascot", "pet"),
    ("shop", "buy price sale sell store"),
];

/// Words by which something is told to be done; at the beginning, or anywhere in what is no question.
const ORDERS: &str = "abolish activate add adjust alert alter append apply archive assign attach bury buy call cancel change \
     clean clear clone combine complete compose configure consolidate convert correct cp create customize cut \
     defer delete discard download draft drag drop echo edit eliminate erase export extend extract fill finish \
     fix fold generate grade hide import include inform insert join jot log make mark memorize merge migrate \
     mkdir modify move mv new notify organise organize overwrite patch pause place postpone prepend publish \
     purchase purge put rate redirect relocate remove rename reorder replace repoint restore resume revert \
     rewrite rm roll save sed send set share shift skip spend split squeeze start stop store strip substitute \
     suspend swap switch throw tick toggle transfer turn tweak undo unsuspend untag update upload wipe write \
     zip";

/// Those of them by which something is done away with.
const REMOVING: &str = "abolish clean clear cut delete discard drop eliminate erase purge remove rm strip throw trash wipe";

/// Words that are an order only at the beginning.
const FIRST_ORDERS: &str = "categorise categorize copy duplicate file label record sort tag trash";

/// Words that begin a question.
const QUESTIONS: &str =
    "what which where who when how is are am does do did find search list show read get look";

/// Words that are said of many things: they decide between actions, not more.
const LIGHT: &str = "bring do find give in make new of put show start turn";
/// What such a word counts.
const LIGHT_WORD: f32 = 0.6;
/// What another word for the same counts.
const OTHER_WORD: f32 = 0.88;

struct Tables {
    silent: Vec<&'static str>,
    orders: Vec<&'static str>,
    removing: Vec<&'static str>,
    questions: Vec<&'static str>,
    light: Vec<String>,
    meant: HashMap<String, Vec<String>>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut meant: HashMap<String, Vec<String>> = HashMap::new();
    for (word, said) in SAID {
        for said in stems(said) {
            meant.entry(said).or_default().push(stem(word));
        }
    }
    Tables {
        silent: SILENT.split_whitespace().collect(),
        orders: ORDERS.split_whitespace().collect(),
        removing: REMOVING.split_whitespace().collect(),
        questions: QUESTIONS.split_whitespace().collect(),
        light: stems(LIGHT),
        meant,
    }
});

/// What somebody says they want.
pub(super) struct Wanted {
    /// Each word as its stem, with the stems of other words for the same, and how much each counts.
    words: Vec<Vec<(String, f32)>>,
    intent: Intent,
}

/// Whether something is to be told, done, or done away with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    Look,
    Change,
    Remove,
}

impl Wanted {
    pub(super) fn new(text: &str) -> Wanted {
        let mut text = format!(" {} ", words(text).collect::<Vec<_>>().join(" "));
        for (phrase, word) in PHRASES {
            text = text.replace(&format!(" {phrase} "), &format!(" {word} "));
        }
        let mut said: Vec<String> = Vec::new();
        for word in words(&text).filter(|word| !TABLES.silent.contains(&word.as_str())) {
            let stem = stem(&word);
            if !said.contains(&stem) {
                said.push(stem);
            }
        }
        let intent = intent(&text);
        let words = said.into_iter().map(variants).collect();
        Wanted { words, intent }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &[(String, f32)]> {
        self.words.iter().map(Vec::as_slice)
    }

    /// How surely this stem was said, as a word or in another one: from 0 to 1.
    pub(super) fn says(&self, stem: &str) -> f32 {
        let variants = self.words.iter().flatten();
        let same = variants.filter(|(variant, _)| variant == stem);
        same.map(|(_, weight)| *weight).fold(0.0, f32::max)
    }

    /// What is to be done.
    pub(super) fn intent(&self) -> Intent {
        self.intent
    }
}

/// The first order or question tells.
fn intent(text: &str) -> Intent {
    let first = words(text)
        .next()
        .filter(|word| FIRST_ORDERS.split(' ').any(|order| order == word));
    let telling = words(text).find(|word| {
        TABLES.orders.contains(&word.as_str()) || TABLES.questions.contains(&word.as_str())
    });
    match first.or(telling) {
        Some(word) if TABLES.questions.contains(&word.as_str()) => Intent::Look,
        Some(word) if TABLES.removing.contains(&word.as_str()) => Intent::Remove,
        Some(_) => Intent::Change,
        None => Intent::Look,
    }
}

fn variants(stem: String) -> Vec<(String, f32)> {
    let own = if TABLES.light.contains(&stem) {
        LIGHT_WORD
    } else {
        1.0
    };
    let others = TABLES.meant.get(&stem).into_iter().flatten();
    let others: Vec<_> = others
        .map(|other| (other.clone(), own * OTHER_WORD))
        .collect();
    [vec![(stem, own)], others].concat()
}

/// The stems of a text, in order.
pub(super) fn stems(text: &str) -> Vec<String> {
    words(text).map(|word| stem(&word)).collect()
}

/// The stems of what describes something: what is said in every sentence is left out.
pub(super) fn telling_stems(text: &str) -> Vec<String> {
    let telling =
        words(text).filter(|word| word != "of" && !TABLES.silent.contains(&word.as_str()));
    telling.map(|word| stem(&word)).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// A word without its ending: `notes`, `renaming`, `copied`.
fn stem(word: &str) -> String {
    let mut stem = word;
    if stem.len() > 4 && (stem.ends_with("ies") || stem.ends_with("ied")) {
        return format!("{}y", &stem[..stem.len() - 3]);
    }
    if stem.len() > 3 && stem.ends_with('s') && !stem.ends_with("ss") && !stem.ends_with("us") {
        stem = &stem[..stem.len() - 1];
    }
    for ending in ["ing", "ed"] {
        if let Some(short) = stem.strip_suffix(ending)
            && short.len() >= 3
        {
            stem = short;
            break;
        }
    }
    let stem = stem
        .strip_suffix('e')
        .filter(|short| short.len() >= 3)
        .unwrap_or(stem);
    match stem.as_bytes() {
        // `dropped`, `tagged`
        [.., one, other]
            if one == other
                && other.is_ascii_alphabetic()
                && stem.len() > 3
                && !matches!(other, b'l' | b's') =>
        {
            stem[..stem.len() - 1].to_owned()
        }
        _ => stem.to_owned(),
    }
}
