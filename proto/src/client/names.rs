//! Names of characters: the rule that every way to get one obeys.
//!
//! Always: a name that passed passes again as it is. Two names that a reader can take for one
//! another have the same [`skeleton`] (Unicode Technical Standard 39). Letters are those of any
//! script in use, not only ASCII.

use std::sync::LazyLock;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_security::{
    GeneralSecurityProfile, RestrictionLevel, RestrictionLevelDetection,
    skeleton as confusable_skeleton,
};

use super::limits::{NAME_CHARS_MAX, NAME_CHARS_MIN};

/// The rule in a sentence, for documents and for refusals without more words.
pub const RULE: &str = "a name has 2 to 20 letters, digits, spaces, '-' and '_' of one script, two \
     of them letters or digits, and is no name of staff";

/// Combining marks that may follow one another: more of them draw over the lines around.
const MARKS_MAX: usize = 2;

/// Words that only names of staff may contain.
const RESERVED: [&str; 16] = [
    "admin",
    "administrator",
    "admins",
    "dev",
    "developer",
    "gamemaster",
    "gm",
    "mod",
    "moderator",
    "mods",
    "owner",
    "server",
    "staff",
    "support",
    "system",
    "tilestead",
];

/// Reason why nobody can have a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameRefusal {
    /// Too short or too long.
    #[error("a name has 2 to 20 characters, at least two of them letters or digits")]
    Length,
    /// A character that is none of the allowed ones.
    #[error(
        "a name has letters, digits, spaces, '-' and '_': no other signs, and nothing invisible"
    )]
    Character,
    /// Letters of scripts that are not written together.
    #[error("a name has letters of one script: do not mix Latin and Cyrillic ones, for example")]
    MixedScripts,
    /// A name of staff.
    #[error("names of staff, such as admin, moderator and support, are reserved")]
    Reserved,
}

/// Returns the name as it is kept: trimmed, in Unicode's form NFKC, with single spaces. Fails
/// with the rule that it breaks.
pub fn character_name(raw: &str) -> Result<String, NameRefusal> {
    let name = normal(raw);
    let solid = name.chars().filter(|c| c.is_alphanumeric()).count();
    if solid < NAME_CHARS_MIN || name.chars().count() > NAME_CHARS_MAX {
        return Err(NameRefusal::Length);
    }
    if !name.chars().all(is_allowed) || has_stray_marks(&name) {
        return Err(NameRefusal::Character);
    }
    // Separators belong to every script, and a space is in no identifier.
    let letters: String = name.chars().filter(|c| !is_separator(*c)).collect();
    if !letters.check_restriction_level(RestrictionLevel::HighlyRestrictive) {
        return Err(NameRefusal::MixedScripts);
    }
    if is_reserved(&name) {
        return Err(NameRefusal::Reserved);
    }
    Ok(name)
}

/// Returns the same text for all names that look alike. It is compared, never shown.
pub fn skeleton(name: &str) -> String {
    let drawn: String = confusable_skeleton(&normal(name)).collect();
    drawn.to_lowercase()
}

/// Returns a name as it is compared where case does not count.
pub fn folded(name: &str) -> String {
    normal(name).to_lowercase()
}

/// Returns the name in its one form. NFKC makes one text of full-width and composed letters; runs
/// of spaces become one.
fn normal(raw: &str) -> String {
    let composed: String = raw.nfkc().collect();
    let words: Vec<&str> = composed
        .trim()
        .split(' ')
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '-' | '_')
}

/// Returns whether a name may have the character. Many scripts write vowels as marks. Unicode lists
/// invisible, obsolete and technical characters as restricted.
fn is_allowed(c: char) -> bool {
    is_separator(c) || ((c.is_alphanumeric() || is_combining_mark(c)) && c.identifier_allowed())
}

/// Returns whether a mark stands on no letter, or on too many other marks.
fn has_stray_marks(name: &str) -> bool {
    let mut room = 0;
    for c in name.chars() {
        if is_separator(c) {
            room = 0;
        } else if !is_combining_mark(c) {
            room = MARKS_MAX;
        } else if room == 0 {
            return true;
        } else {
            room -= 1;
        }
    }
    false
}

/// Returns whether a word of the name, or all of them together, reads as a reserved one.
fn is_reserved(name: &str) -> bool {
    let together: String = name.chars().filter(|c| !is_separator(*c)).collect();
    let words = name.split(is_separator).flat_map(humps);
    words
        .chain([together.as_str()])
        .flat_map(|word| [word, word.trim_matches(|c: char| c.is_ascii_digit())])
        .map(read_aloud)
        .any(|read| RESERVED_READ.contains(&read))
}

/// [`RESERVED`] as they are read.
static RESERVED_READ: LazyLock<[String; RESERVED.len()]> =
    LazyLock::new(|| RESERVED.map(read_aloud));

/// Returns the words of `ModAnn`: they begin where a capital follows a small letter.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let letters = rest.char_indices().zip(rest.chars().skip(1));
        let end = letters
            .filter(|((_, before), after)| before.is_lowercase() && after.is_uppercase())
            .map(|((at, before), _)| at + before.len_utf8())
            .next();
        let (hump, more) = rest.split_at(end.unwrap_or(rest.len()));
        rest = more;
        Some(hump)
    })
}

/// Returns a word without regard to case, look-alikes and digits that stand for letters.
fn read_aloud(word: &str) -> String {
    skeleton(&skeleton(word))
        .chars()
        .map(|c| match c {
            '0' => 'o',
            '1' | 'i' => 'l',
            '3' => 'e',
            '4' => 'a',
            '5' => 's',
            '7' => 't',
            '8' => 'b',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_scripts_are_kept_as_they_are() {
        for name in [
            "Ann",
            "Bo",
            "Zoë",
            "Łukasz",
            "Đặng",
            "Ann Lee",
            "ann-lee_7",
            "42nd Street",
            "Дмитрий",
            "Νίκος",
            "山田太郎",
            "さくら",
            "山田タロウ",
            "김민준",
            "محمد",
            "דוד",
            "प्रिया",
            "สมชาย",
            "Анна-Мария",
            "Modesta",
            "Gmork",
            "Serverin",
            "Devon",
            "Badminton",
        ] {
            assert_eq!(character_name(name).as_deref(), Ok(name), "{name}");
        }
    }

    #[test]
    fn names_are_trimmed_composed_and_single_spaced() {
        for (raw, kept) in [
            ("  Ann  ", "Ann"),
            ("Ann   Lee", "Ann Lee"),
            ("Ann\u{a0}\u{3000}Lee", "Ann Lee"),
            ("Zoe\u{308}", "Zoë"),
            ("Ａnn", "Ann"),
        ] {
            assert_eq!(character_name(raw).as_deref(), Ok(kept), "{raw:?}");
            assert_eq!(character_name(kept).as_deref(), Ok(kept), "{kept:?}");
        }
    }

    #[test]
    fn a_bad_name_is_refused_by_the_rule_that_it_breaks() {
        use NameRefusal::{Character, Length, MixedScripts};
        for (name, why) in [
            ("", Length),
            ("A", Length),
            (" A ", Length),
            ("山", Length),
            ("A-", Length),
            ("---", Length),
            ("abcdefghijklmnopqrstu", Length),
            ("<b>", Length),
            ("<bob>", Character),
            ("Ann\tLee", Character),
            ("Ann!", Character),
            ("Ann\u{3164}", Character),
            ("\u{ffa0}Ann", Character),
            ("\u{3164}\u{3164}", Character),
            ("An\u{200b}n", Character),
            ("An\u{200d}n", Character),
            ("An\u{ad}n", Character),
            ("An\u{34f}n", Character),
            ("An\u{fe0f}n", Character),
            ("An\u{202e}n", Character),
            ("Ann \u{301}Lee", Character),
            ("Ann\u{336}\u{335}\u{334}", Character),
            ("Ann☺", Character),
            ("Аnn", MixedScripts),
            ("Bοb", MixedScripts),
            ("Annאב", MixedScripts),
        ] {
            assert_eq!(character_name(name), Err(why), "{name:?}");
        }
    }

    #[test]
    fn names_of_staff_are_reserved_however_they_are_written() {
        for name in [
            "Admin",
            "ADMIN",
            "Ａdmin",
            "4dm1n",
            "AdmIn",
            "Admin 7",
            "admin123",
            "the_admin",
            "Ad min",
            "M0D",
            "Mod Ann",
            "ModAnn",
            "Moderator",
            "m0d3r4t0r",
            "GM",
            "Game Master",
            "Staff",
            "5upport",
            "System",
            "Server",
            "Owner",
            "Developer",
            "Tilestead",
            "Ti1estead",
        ] {
            assert_eq!(character_name(name), Err(NameRefusal::Reserved), "{name}");
        }
    }

    #[test]
    fn look_alikes_have_one_skeleton_and_others_do_not() {
        for (one, other) in [
            ("Bob", "B0b"),
            ("Сор", "Cop"),
            ("BiII", "Bill"),
            ("Rnark", "rnark"),
            ("mark", "rnark"),
            ("νονο", "vovo"),
            ("Ann", "Ａnn"),
            ("Ann", "Аnn"),
        ] {
            assert_eq!(skeleton(one), skeleton(other), "{one} {other}");
        }
        for (one, other) in [
            ("Ann", "Anna"),
            ("Elia", "Ella"),
            ("Zoe", "Zoë"),
            ("Rob", "Bob"),
        ] {
            assert_ne!(skeleton(one), skeleton(other), "{one} {other}");
        }
    }

    #[test]
    fn case_and_spaces_do_not_count_where_names_are_compared() {
        assert_eq!(folded(" ANN  Lee"), folded("ann lee"));
    }
}
