//! Parses an expression. Unknown names are rejected with their position.

use super::scanner::Scanner;
use super::value::Value;
use super::{Expression, Local, Operator, Pattern, vocabulary};

/// Maximum depth of a tree, so that evaluation fits the stack of a component.
const MAX_DEPTH: usize = 80;
/// Maximum length of an expression in bytes.
const MAX_BYTES: usize = 20_000;

/// Parses an expression. `values` is whether the name `values` is in scope, as in a summary.
pub(crate) fn parse(text: &str, is_summary: bool) -> Result<Expression, String> {
    if text.len() > MAX_BYTES {
        return Err(format!(
            "the expression has {} bytes, the maximum is {MAX_BYTES}",
            text.len()
        ));
    }
    let mut parser = Parser {
        scanner: Scanner::new(text),
        is_summary,
        per_item: 0,
        depth: 0,
    };
    if parser.scanner.peek().is_none() {
        return Err("the expression is empty".to_owned());
    }
    let with_place = |(place, message): ParseError| format!("{message} (at character {place})");
    let Tree { expression, .. } = parser.any().map_err(with_place)?;
    match parser.scanner.peek() {
        None => Ok(expression),
        Some(letter) => {
            let place = parser.scanner.place();
            let advice = match letter {
                '=' => ": write `==` to compare",
                '&' | '|' => ": write `&&` or `||`",
                '?' => ": write `if(condition, one, other)`",
                _ => "",
            };
            Err(format!(
                "unexpected `{letter}`{advice} (at character {place})"
            ))
        }
    }
}

/// A parse error: its position and message.
type ParseError = (usize, String);

/// A parsed node and its depth.
struct Tree {
    expression: Expression,
    depth: usize,
}

struct Parser<'t> {
    scanner: Scanner<'t>,
    is_summary: bool,
    /// Nesting depth of per-item expressions.
    per_item: usize,
    /// Nesting depth of brackets.
    depth: usize,
}

impl Parser<'_> {
    fn error<T>(&mut self, message: impl Into<String>) -> Result<T, ParseError> {
        Err((self.scanner.place(), message.into()))
    }

    fn tree(&mut self, expression: Expression, depth: usize) -> Result<Tree, ParseError> {
        match depth > MAX_DEPTH {
            true => self.error(format!(
                "the expression is nested more than {MAX_DEPTH} deep"
            )),
            false => Ok(Tree { expression, depth }),
        }
    }

    /// An expression, starting at the lowest precedence.
    fn any(&mut self) -> Result<Tree, ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH / 2 {
            return self.error(format!(
                "brackets are nested more than {} deep",
                MAX_DEPTH / 2
            ));
        }
        let tree = self.joined("||", Self::all, Expression::Any);
        self.depth -= 1;
        tree
    }

    fn all(&mut self) -> Result<Tree, ParseError> {
        self.joined("&&", Self::compared, Expression::All)
    }

    /// Operands of one logical operator; a single operand is returned unchanged.
    fn joined(
        &mut self,
        sign: &str,
        part: fn(&mut Self) -> Result<Tree, ParseError>,
        join: fn(Vec<Expression>) -> Expression,
    ) -> Result<Tree, ParseError> {
        let first = part(self)?;
        if !self.scanner.rest().starts_with(sign) {
            return Ok(first);
        }
        let mut depth = first.depth;
        let mut parts = vec![first.expression];
        while self.scanner.take(sign) {
            let next = part(self)?;
            depth = depth.max(next.depth);
            parts.push(next.expression);
        }
        self.tree(join(parts), depth + 1)
    }

    fn compared(&mut self) -> Result<Tree, ParseError> {
        const SIGNS: [(&str, Operator); 6] = [
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::AtMost),
            (">=", Operator::AtLeast),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        self.operated(&SIGNS, Self::added)
    }

    fn added(&mut self) -> Result<Tree, ParseError> {
        self.operated(
            &[("+", Operator::Add), ("-", Operator::Subtract)],
            Self::multiplied,
        )
    }

    fn multiplied(&mut self) -> Result<Tree, ParseError> {
        const SIGNS: [(&str, Operator); 3] = [
            ("*", Operator::Multiply),
            ("/", Operator::Divide),
            ("%", Operator::Remainder),
        ];
        self.operated(&SIGNS, Self::signed)
    }

    fn operated(
        &mut self,
        signs: &[(&str, Operator)],
        part: fn(&mut Self) -> Result<Tree, ParseError>,
    ) -> Result<Tree, ParseError> {
        let mut left = part(self)?;
        while let Some((_, operator)) = signs.iter().find(|(sign, _)| self.scanner.take(sign)) {
            let right = part(self)?;
            let depth = left.depth.max(right.depth) + 1;
            left = self.tree(binary(*operator, left.expression, right.expression), depth)?;
        }
        Ok(left)
    }

    /// Prefix `!` and `-`; iterative, so that a long run of them uses no stack.
    fn signed(&mut self) -> Result<Tree, ParseError> {
        let mut signs = Vec::new();
        loop {
            let rest = self.scanner.rest();
            match rest.chars().next() {
                Some(sign @ ('!' | '-')) if !rest.starts_with("!=") => {
                    self.scanner.take(&sign.to_string());
                    signs.push(sign);
                }
                _ => break,
            }
            if signs.len() > MAX_DEPTH {
                return self.error("too many prefix operators");
            }
        }
        let mut tree = self.followed()?;
        while let Some(sign) = signs.pop() {
            let inner = Box::new(tree.expression);
            let expression = match sign {
                '!' => Expression::Not(inner),
                _ => Expression::Negate(inner),
            };
            tree = self.tree(expression, tree.depth + 1)?;
        }
        Ok(tree)
    }

    /// A value with its postfix operators: `.name`, `.name(…)`, `[…]`.
    fn followed(&mut self) -> Result<Tree, ParseError> {
        let mut tree = self.primary()?;
        loop {
            if self.scanner.take(".") {
                let place = self.scanner.place();
                let Some(name) = self.scanner.name() else {
                    return self.error("expected a name after `.`");
                };
                if self.scanner.take("(") {
                    let is_per_item = vocabulary::is_per_item(name);
                    let (arguments, depth) = self.arguments(")", is_per_item)?;
                    let method = vocabulary::method(name, arguments.len())
                        .map_err(|message| (place, message))?;
                    let depth = depth.max(tree.depth) + 1;
                    tree = self.tree(called(tree.expression, method, arguments), depth)?;
                } else {
                    let expression =
                        member(tree.expression, name).map_err(|message| (place, message))?;
                    tree = self.tree(expression, tree.depth + 1)?;
                }
            } else if self.scanner.take("[") {
                let inside = self.any()?;
                if !self.scanner.take("]") {
                    return self.error("expected `]`");
                }
                let depth = tree.depth.max(inside.depth) + 1;
                tree = self.tree(indexed(tree.expression, inside.expression), depth)?;
            } else {
                return Ok(tree);
            }
        }
    }

    fn primary(&mut self) -> Result<Tree, ParseError> {
        let place = self.scanner.place();
        let at_place = |message: String| (place, message);
        let expression = match self.scanner.peek() {
            None => return self.error("unexpected end of the expression: expected a value"),
            Some('"' | '\'') => {
                let text = self.scanner.quoted().map_err(at_place)?;
                Expression::Literal(Value::text(text))
            }
            Some('/') => {
                let (source, flags) = self.scanner.pattern().map_err(at_place)?;
                Expression::Literal(Value::Pattern(
                    Pattern::new(source, flags).map_err(at_place)?,
                ))
            }
            Some('(') => {
                self.scanner.take("(");
                let tree = self.any()?;
                if !self.scanner.take(")") {
                    return self.error("expected `)`");
                }
                return Ok(tree);
            }
            Some('[') => {
                self.scanner.take("[");
                let (items, depth) = self.arguments("]", false)?;
                return self.tree(Expression::List(items), depth + 1);
            }
            Some('{') => return self.object(),
            Some(letter) if letter.is_ascii_digit() => {
                Expression::Literal(Value::Number(self.scanner.number().map_err(at_place)?))
            }
            Some(letter) => match self.scanner.name() {
                Some(name) => return self.named(name, place),
                None => {
                    return self.error(format!("unexpected `{letter}`: expected a value"));
                }
            },
        };
        self.tree(expression, 1)
    }

    fn named(&mut self, name: &str, place: usize) -> Result<Tree, ParseError> {
        if self.scanner.take("(") {
            let (arguments, depth) = self.arguments(")", false)?;
            let function =
                vocabulary::function(name, arguments.len()).map_err(|message| (place, message))?;
            return self.tree(Expression::Call(function, arguments), depth + 1);
        }
        let expression = match name {
            "true" => Expression::Literal(Value::Bool(true)),
            "false" => Expression::Literal(Value::Bool(false)),
            "null" => Expression::Literal(Value::Null),
            "file" => Expression::File,
            "note" => Expression::Note,
            "this" => Expression::This,
            "formula" => {
                let formula = self.formula_name()?;
                Expression::Formula(formula)
            }
            "value" if self.per_item > 0 => Expression::Local(Local::Value),
            "index" if self.per_item > 0 => Expression::Local(Local::Index),
            "acc" if self.per_item > 0 => Expression::Local(Local::Accumulator),
            "values" if self.is_summary => Expression::Values,
            property => Expression::Property(property.to_owned()),
        };
        self.tree(expression, 1)
    }

    /// The name after `formula`: `.name` or `["name"]`.
    fn formula_name(&mut self) -> Result<String, ParseError> {
        if self.scanner.take(".")
            && let Some(name) = self.scanner.name()
        {
            return Ok(name.to_owned());
        }
        if self.scanner.take("[") && matches!(self.scanner.peek(), Some('"' | '\'')) {
            let place = self.scanner.place();
            let name = self.scanner.quoted().map_err(|message| (place, message))?;
            if self.scanner.take("]") {
                return Ok(name);
            }
        }
        self.error("`formula` needs a name: write `formula.name` or `formula[\"a name\"]`")
    }

    fn object(&mut self) -> Result<Tree, ParseError> {
        self.scanner.take("{");
        let (mut entries, mut depth) = (Vec::new(), 0);
        while !self.scanner.take("}") {
            let place = self.scanner.place();
            let key = match self.scanner.peek() {
                Some('"' | '\'') => self.scanner.quoted().map_err(|message| (place, message))?,
                _ => match self.scanner.name() {
                    Some(name) => name.to_owned(),
                    None => return self.error("expected a key or `}`"),
                },
            };
            if !self.scanner.take(":") {
                return self.error("expected `:` after the key");
            }
            let value = self.any()?;
            depth = depth.max(value.depth);
            entries.push((key, value.expression));
            if !self.scanner.take(",") && !self.scanner.rest().starts_with('}') {
                return self.error("expected `,` or `}`");
            }
        }
        self.tree(Expression::Object(entries), depth + 1)
    }

    /// Comma-separated expressions up to the closing bracket; the first may be evaluated per item.
    fn arguments(
        &mut self,
        end: &str,
        is_per_item: bool,
    ) -> Result<(Vec<Expression>, usize), ParseError> {
        let (mut arguments, mut depth) = (Vec::new(), 0);
        while !self.scanner.take(end) {
            let is_first = is_per_item && arguments.is_empty();
            self.per_item += usize::from(is_first);
            let argument = self.any();
            self.per_item -= usize::from(is_first);
            let argument = argument?;
            depth = depth.max(argument.depth);
            arguments.push(argument.expression);
            if !self.scanner.take(",") && !self.scanner.rest().starts_with(end) {
                return self.error(format!("expected `,` or `{end}`"));
            }
        }
        Ok((arguments, depth))
    }
}

fn member(inner: Expression, name: &str) -> Result<Expression, String> {
    Ok(match inner {
        Expression::File => match vocabulary::file_field(name)? {
            "file" => Expression::File,
            field => Expression::FileField(field),
        },
        Expression::Note => Expression::Property(name.to_owned()),
        inner => Expression::Member(Box::new(inner), name.to_owned()),
    })
}

fn indexed(inner: Expression, inside: Expression) -> Expression {
    match (inner, inside.literal_text()) {
        (Expression::Note, Some(name)) => Expression::Property(name.to_owned()),
        (inner, _) => Expression::Index(Box::new(inner), Box::new(inside)),
    }
}

/// Strips `#` from tag literals: `file.tags` holds tags without it.
fn called(inner: Expression, method: &'static str, mut arguments: Vec<Expression>) -> Expression {
    if matches!(inner, Expression::FileField("tags")) && method.starts_with("contains") {
        for argument in &mut arguments {
            if let Some(tag) = argument
                .literal_text()
                .and_then(|text| text.strip_prefix('#'))
            {
                *argument = Expression::Literal(Value::text(tag));
            }
        }
    }
    Expression::Method(Box::new(inner), method, arguments)
}

/// Strips `.md` from name literals: `file.name` of a note is without it.
fn binary(operator: Operator, mut left: Expression, mut right: Expression) -> Expression {
    let is_name = |side: &Expression| matches!(side, Expression::FileField("name"));
    if is_name(&left) || is_name(&right) {
        for side in [&mut left, &mut right] {
            if let Some(name) = side
                .literal_text()
                .and_then(|text| text.strip_suffix(".md"))
            {
                *side = Expression::Literal(Value::text(name));
            }
        }
    }
    Expression::Binary(operator, Box::new(left), Box::new(right))
}
