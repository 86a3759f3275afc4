//! Divides a text of SQL into its statements.

/// Longest line about a statement, in characters.
const SHORT_MAX: usize = 100;

/// Returns the statements of a text, without what stands before and between them.
pub(crate) fn statements(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = after_comments(rest);
        if rest.is_empty() {
            return found;
        }
        let end = end_of(rest);
        let statement = rest[..end].trim_end();
        if !statement.is_empty() {
            found.push(statement);
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
}

/// Returns the words of a statement in one line, without its comments.
pub(crate) fn one_line(statement: &str) -> String {
    let mut words = String::new();
    let mut rest = statement;
    while !rest.is_empty() {
        let end = skip(rest);
        if !is_comment(rest) {
            words.push_str(&rest[..end]);
        }
        rest = &rest[end..];
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a statement in one line of bounded length.
pub(crate) fn short(statement: &str) -> String {
    let mut line = one_line(statement);
    if let Some((cut, _)) = line.char_indices().nth(SHORT_MAX) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

fn is_comment(text: &str) -> bool {
    text.starts_with("--") || text.starts_with("/*")
}

fn after_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while is_comment(rest) {
        rest = rest[skip(rest)..].trim_start();
    }
    rest
}

/// Returns the length of the first statement, without its semicolon. A trigger of SQLite has
/// statements between `BEGIN` and `END`.
fn end_of(text: &str) -> usize {
    let (mut at, mut within) = (0, false);
    let trigger = one_line(text.lines().next().unwrap_or_default()).starts_with("CREATE TRIGGER");
    while at < text.len() && (within || !text[at..].starts_with(';')) {
        let next = skip(&text[at..]);
        match &text[at..at + next] {
            "BEGIN" if trigger => within = true,
            "END" => within = false,
            _ => {}
        }
        at += next;
    }
    at
}

/// Returns the length of what the text begins with: a comment, something quoted, a word, or one
/// other character.
fn skip(text: &str) -> usize {
    let through = |mark: &str, from: usize| {
        let end = text[from..].find(mark).map(|at| from + at + mark.len());
        end.unwrap_or(text.len())
    };
    let mut all = text.chars();
    let first = all.next().unwrap_or_default();
    match first {
        '-' if text.starts_with("--") => through("\n", 2),
        '/' if text.starts_with("/*") => block_comment(text),
        // A quote within is written twice, which reads as the end and a new beginning.
        '\'' => through("'", 1),
        '"' => through("\"", 1),
        'e' | 'E' if all.next() == Some('\'') => escaped(text),
        '$' => match dollar_mark(text) {
            Some(mark) => through(mark, mark.len()),
            None => 1,
        },
        _ if is_word(first) => text.find(|c| !is_word(c)).unwrap_or(text.len()),
        _ => first.len_utf8(),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of a comment in which others may stand.
fn block_comment(text: &str) -> usize {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 {
        let Some(next) = text[at..].find(['*', '/']) else {
            return text.len();
        };
        at += next;
        if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
        } else if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else {
            at += 1;
        }
    }
    at
}

/// Returns the length of a text with escapes: `E'…'`.
fn escaped(text: &str) -> usize {
    let mut all = text.char_indices().skip(2);
    while let Some((at, c)) = all.next() {
        match c {
            '\\' => {
                let _ = all.next();
            }
            '\'' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the mark that begins and ends a text, such as `$$` and `$body$`.
fn dollar_mark(text: &str) -> Option<&str> {
    let end = text[1..].find('$')? + 2;
    let name = &text[1..end - 1];
    let begins_with_digit = name.starts_with(|c: char| c.is_ascii_digit());
    (name.chars().all(is_word) && !begins_with_digit).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semicolon_ends_a_statement_only_outside_quotes_and_comments() {
        let text = "-- first; not one
            INSERT INTO a VALUES ('it''s; so', E'a\\'; b', \"c;d\");
            /* a; /* b; */ c; */ ;
            DO $body$ BEGIN x := $1; y := '$$'; END; $body$; -- end; of it
            SELECT $$a;b$$";
        let found = statements(text);
        assert_eq!(found.len(), 3, "{found:#?}");
        assert!(found[0].ends_with("\"c;d\")"));
        assert!(found[1].ends_with("$body$"));
        assert_eq!(found[2], "SELECT $$a;b$$");
        assert!(statements(" -- nothing\n ; ").is_empty());
        // Texts that never end are one statement.
        for open in ["SELECT 'a;", "SELECT $$;", "SELECT /* ;", "SELECT E'\\';"] {
            assert_eq!(statements(open).len(), 1, "{open}");
        }
    }

    #[test]
    fn a_trigger_is_one_statement() {
        let text = "CREATE TRIGGER a AFTER DELETE ON b
            BEGIN DELETE FROM c; DELETE FROM d; END; DELETE FROM e";
        assert_eq!(statements(text).len(), 2);
    }

    #[test]
    fn a_statement_is_told_in_one_line() {
        let told = one_line("CREATE INDEX a -- why\n  ON b (c) /* d */\n WHERE e = ' f'");
        assert_eq!(told, "CREATE INDEX a ON b (c) WHERE e = ' f'");
    }
}
