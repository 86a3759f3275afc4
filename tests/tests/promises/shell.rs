//! Reads the commands that documents show, as far as documents use the shell: words and quotes, what is set
//! before a command, pipes and lists, loops, functions, `$(…)`, redirections and texts of their own (`<<`).

use std::{collections::BTreeSet, iter::Peekable, str::Chars};

/// A command as a document shows it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Variables that are set for it, or for all later ones if it has no words.
    pub(crate) set: Vec<(String, String)>,
    /// The program and its arguments, without quotes.
    pub(crate) words: Vec<String>,
}

/// The commands of a text, in order.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: Vec<Shown>,
    /// Names of functions that the text itself defines.
    pub(crate) functions: BTreeSet<String>,
}

/// Words that begin or join commands, and are none.
const JOINING: [&str; 9] = [
    "do", "then", "else", "until", "while", "if", "!", "{", "time",
];
/// Words that end something, and with it the command.
const ENDING: [&str; 3] = ["done", "fi", "}"];

/// Reads a text of shell commands.
pub(crate) fn read(text: &str) -> Script {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        script: Script::default(),
        command: Shown::default(),
        drop_next: false,
        loop_head: false,
        until: None,
    };
    reader.all();
    reader.script
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    script: Script,
    command: Shown,
    /// The next word is a file of a redirection.
    drop_next: bool,
    /// The words are those of `for NAME in …`.
    loop_head: bool,
    /// The word that ends the text that follows this line.
    until: Option<String>,
}

impl Reader<'_> {
    fn all(&mut self) {
        while let Some(&c) = self.rest.peek() {
            match c {
                '\n' => self.line_ends(),
                ' ' | '\t' => {
                    self.rest.next();
                }
                '#' => while self.rest.next_if(|c| *c != '\n').is_some() {},
                '|' | '&' | ';' => {
                    self.rest.next();
                    self.command_ends();
                }
                '<' | '>' => self.redirection(),
                _ => {
                    let word = self.word();
                    self.take(word);
                }
            }
        }
        self.command_ends();
    }

    fn line_ends(&mut self) {
        self.rest.next();
        self.command_ends();
        let Some(end) = self.until.take() else { return };
        loop {
            let mut line = String::new();
            while let Some(c) = self.rest.next_if(|c| *c != '\n') {
                line.push(c);
            }
            let last = self.rest.next().is_none();
            if last || line.trim() == end {
                return;
            }
        }
    }

    fn redirection(&mut self) {
        let mut sign = String::new();
        while let Some(c) = self.rest.next_if(|c| matches!(c, '<' | '>' | '&')) {
            sign.push(c);
        }
        if sign == "<<" {
            self.until = Some(self.word());
        } else {
            self.drop_next = true;
        }
    }

    /// Reads a word, and the commands of each `$(…)` in it.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(&c) = self.rest.peek() {
            if c.is_whitespace() || "|&;<>".contains(c) {
                break;
            }
            self.rest.next();
            match c {
                '\'' => word.extend(self.rest.by_ref().take_while(|c| *c != '\'')),
                '"' => self.quoted(&mut word),
                '\\' => match self.rest.next() {
                    None | Some('\n') => {}
                    Some(c) => word.push(c),
                },
                '$' if self.rest.peek() == Some(&'(') => word.push_str(&self.inner()),
                c => word.push(c),
            }
        }
        word
    }

    fn quoted(&mut self, word: &mut String) {
        while let Some(c) = self.rest.next() {
            match c {
                '"' => return,
                '\\' => word.extend(self.rest.next()),
                '$' if self.rest.peek() == Some(&'(') => word.push_str(&self.inner()),
                c => word.push(c),
            }
        }
    }

    /// Reads the commands of a `$(…)` and returns its text.
    fn inner(&mut self) -> String {
        self.rest.next();
        let (mut depth, mut text) = (1, String::new());
        for c in self.rest.by_ref() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            text.push(c);
        }
        self.script.commands.extend(read(&text).commands);
        format!("$({text})")
    }

    fn take(&mut self, word: String) {
        if std::mem::take(&mut self.drop_next) || word.is_empty() {
            return;
        }
        if self.loop_head || !self.command.words.is_empty() {
            return self.command.words.push(word);
        }
        if let Some(name) = word.strip_suffix("()") {
            self.script.functions.insert(name.to_owned());
        } else if word == "for" {
            self.loop_head = true;
        } else if ENDING.contains(&&*word) {
            self.command_ends();
        } else if !JOINING.contains(&&*word) {
            match assignment(&word) {
                Some(set) => self.command.set.push(set),
                None => self.command.words.push(word),
            }
        }
    }

    fn command_ends(&mut self) {
        let command = std::mem::take(&mut self.command);
        self.drop_next = false;
        if !std::mem::take(&mut self.loop_head) && command != Shown::default() {
            self.script.commands.push(command);
        }
    }
}

/// Returns the name and the value of a word such as `PORT=5555`.
pub(crate) fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = !name.is_empty() && name.chars().all(fits);
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the commands, one a line, what they set in front.
    fn shown(text: &str) -> String {
        let line = |shown: &Shown| {
            let set = shown
                .set
                .iter()
                .map(|(name, value)| format!("{name}={value}"));
            let words = shown.words.iter().map(|word| format!("[{word}]"));
            set.chain(words).collect::<Vec<_>>().join(" ")
        };
        let commands = read(text).commands;
        commands.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn commands_of_a_document_are_read() {
        for (text, expected) in [
            (
                "run --a 'b c' \"d\\\"e\" # not this\nnext &",
                "[run] [--a] [b c] [d\"e]\n[next]",
            ),
            ("A=1 B='x y' run > file", "A=1 B=x y [run]"),
            ("export A=1", "[export] [A=1]"),
            ("run \\\n    --more", "[run] [--more]"),
            ("a | b && c; d", "[a]\n[b]\n[c]\n[d]"),
            ("cat >> x <<'END'\nnot; this\nEND\nnext", "[cat]\n[next]"),
            ("jq . <<<\"$x\"", "[jq] [.]"),
            ("for f in /a/*; do mv \"$f\" b; done", "[mv] [$f] [b]"),
            ("until a | b; do c 1; done", "[a]\n[b]\n[c] [1]"),
            (
                "x=$(a \"$(b c)\")",
                "[b] [c]\n[a] [$(b c)]\nx=$(a \"$(b c)\")",
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn functions_of_a_document_are_known() {
        let script = read("ask() { curl \"$@\"; }\nask x");
        assert!(script.functions.contains("ask"));
        assert_eq!(
            shown("ask() { curl \"$@\"; }\nask x"),
            "[curl] [$@]\n[ask] [x]"
        );
    }
}
