//! Tests of the reader.

use super::{Env, Reader};

const NONE: [(&str, &str); 0] = [];

#[test]
fn all_problems_are_named_in_one_sentence() {
    let mut reader = Reader::new(Env::from_pairs([
        ("PORT", "many"),
        ("DISABLE_RATE_LIMIT", "perhaps"),
        ("NODE_ENV", "prod"),
    ]));
    assert_eq!(reader.value("PORT", 5555_u16, "the port"), 5555);
    assert!(!reader.flag("DISABLE_RATE_LIMIT", false, "off"));
    assert_eq!(reader.required::<String>("GATEWAY_NAME", "a name"), "");
    assert!(!reader.production() && !reader.production());
    reader.problem("A and B exclude each other".to_owned());
    let sentence = reader.finish().unwrap_err().to_string();
    assert_eq!(
        sentence,
        "the configuration is not usable: PORT cannot be \"many\" (invalid digit found in \
         string); DISABLE_RATE_LIMIT must be true or false; GATEWAY_NAME is missing (a name); \
         NODE_ENV must be development, test or production; A and B exclude each other."
    );
}

#[test]
fn a_secret_is_never_printed() {
    let mut reader = Reader::new(Env::from_pairs([("JWT_SECRET", "hunter2-hunter2")]));
    let secret = reader.secret("JWT_SECRET", "signs tokens").unwrap();
    assert_eq!(secret.expose(), "hunter2-hunter2");
    let shown = format!("{secret} {secret:?} {reader:?} {}", reader.table());
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(reader.table().contains("[redacted]"));
    assert!(reader.finish().is_ok());
}

#[test]
fn a_secret_may_lie_in_a_file() {
    let path = std::env::temp_dir().join(format!("service-runtime-secret-{}", std::process::id()));
    std::fs::write(&path, "from the file\n").unwrap();
    let name = path.to_str().unwrap();
    let mut reader = Reader::new(Env::from_pairs([("ADMIN_CODE_FILE", name)]));
    let secret = reader.secret("ADMIN_CODE", "for operators").unwrap();
    assert_eq!(secret.expose(), "from the file");
    assert!(reader.table().contains("file"));

    let both = [("ADMIN_CODE_FILE", name), ("ADMIN_CODE", "x")];
    let mut reader = Reader::new(Env::from_pairs(both));
    assert!(reader.secret("ADMIN_CODE", "for operators").is_none());
    let sentence = reader.finish().unwrap_err().to_string();
    assert!(sentence.contains("only one of ADMIN_CODE and ADMIN_CODE_FILE"));
    std::fs::remove_file(&path).unwrap();

    let mut reader = Reader::new(Env::from_pairs([("ADMIN_CODE_FILE", name)]));
    assert!(reader.secret("ADMIN_CODE", "for operators").is_none());
    let sentence = reader.finish().unwrap_err().to_string();
    assert!(sentence.contains("ADMIN_CODE_FILE cannot be read"));
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let mut reader = Reader::new(Env::from_pairs([("PORT", " "), ("REDIS_URL", "")]));
    assert_eq!(reader.value("PORT", 7_u16, "the port"), 7);
    assert!(reader.secret("REDIS_URL", "the bus").is_none());
    assert!(reader.finish().is_ok());
}

#[test]
fn a_list_drops_blanks_and_empty_parts() {
    let mut reader = Reader::new(Env::from_pairs([("HOSTS", " a:1 ,, b:2,")]));
    assert_eq!(reader.list("HOSTS", "", "where"), ["a:1", "b:2"]);
    assert_eq!(reader.list("OTHERS", "c:3", "where"), ["c:3"]);
}

#[test]
fn the_table_says_where_each_value_is_from() {
    let mut reader = Reader::new(Env::from_pairs([("PORT", "80")]));
    reader.value("PORT", 5555_u16, "the port");
    reader.value("HOST", "127.0.0.1".to_owned(), "the address");
    let table = reader.table();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "PORT  80         environment  the port");
    assert_eq!(lines[1], "HOST  127.0.0.1  default      the address");
}

#[test]
fn nothing_set_is_no_problem_unless_required() {
    let mut reader = Reader::new(Env::from_pairs(NONE));
    assert_eq!(reader.optional::<u16>("METRICS_PORT", "metrics"), None);
    assert!(reader.finish().is_ok());
    assert_eq!(reader.required::<u16>("METRICS_PORT", "metrics"), 0);
    assert!(reader.finish().is_err());
}

#[test]
fn production_takes_no_secret_that_everybody_knows() {
    let file = std::env::temp_dir().join(format!("sample-{}", std::process::id()));
    std::fs::write(&file, "<IDP_APP_SECRET>\n").unwrap();
    let path = file.display().to_string();
    for (environment, refused) in [
        ("production", true),
        ("development", false),
        ("test", false),
    ] {
        for pair in [
            ("IDP_APP_SECRET", "change-me"),
            ("IDP_APP_SECRET_FILE", path.as_str()),
        ] {
            let mut reader = Reader::new(Env::from_pairs([("NODE_ENV", environment), pair]));
            assert!(reader.secret("IDP_APP_SECRET", "the app's").is_some());
            let said = reader.finish().err().map(|error| error.to_string());
            let named = said
                .as_ref()
                .is_some_and(|said| said.contains("IDP_APP_SECRET is a sample"));
            assert_eq!(named, refused, "{environment} {pair:?}: {said:?}");
            assert!(said.is_none_or(|said| !said.contains("change-me")));
        }
    }
    std::fs::remove_file(file).unwrap();
}
