use proptest::prelude::*;

use super::*;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_limits_are_those_of_the_protocol() {
    let table = [
        (REST, "rest", 100),
        (REST_ADDRESS, "rest_address", 600),
        (AUTH, "auth", 10),
        (LOGIN, "login", 60),
        (LOGIN_ADDRESS, "login_address", 600),
        (RESUME, "resume", 240),
        (RESUME_ADDRESS, "resume_address", 2400),
    ];
    for (rule, name, most) in table {
        assert_eq!((rule.name, rule.most), (name, most));
        assert_eq!((rule.length, rule.block), (MINUTE, MINUTE));
        assert_eq!(rule.refusals, 5);
    }
}

/// Returns a counter's decisions at the given moments, in seconds: `+` passes, `-` is a refusal,
/// `B` is a block.
fn story(rule: Rule, seconds: &[u32]) -> String {
    let start = Instant::now();
    let mut counter = Counter::new(rule);
    let say = |second: &u32| match counter.pass(start + *second * SECOND) {
        Ok(_) => '+',
        Err(refusal) if refusal.blocked => 'B',
        Err(_) => '-',
    };
    seconds.iter().map(say).collect()
}

#[test]
fn passes_refusals_and_blocks_come_in_order() {
    let two = Rule { most: 2, ..AUTH };
    for (seconds, expected) in [
        // At the limit and one beyond it.
        (&[0, 0, 0][..], "++-"),
        // A pass of exactly one minute ago counts no more.
        (&[0, 30, 59, 60, 89, 90], "++-+-+"),
        // The fifth refusal within a minute blocks for one.
        (&[0, 0, 1, 2, 3, 4, 5, 64, 65, 65, 66], "++----BB++-"),
        // Four in a minute and a fifth later do not.
        (&[0, 0, 1, 2, 3, 4, 60, 61, 62], "++----++-"),
        // Asking while blocked does not prolong it.
        (&[0, 0, 1, 1, 1, 1, 1, 50, 51, 52, 60, 61], "++----BBBBB+"),
    ] {
        assert_eq!(story(two, seconds), expected, "{seconds:?}");
    }
}

#[test]
fn at_the_limit_one_passes_and_beyond_it_none() {
    for rule in [REST, AUTH] {
        let (start, mut counter) = (Instant::now(), Counter::new(rule));
        for n in 0..rule.most {
            let standing = counter.pass(start + SECOND).unwrap();
            assert_eq!(standing.left, rule.most - 1 - n);
            assert_eq!(standing.more_in, rule.length);
        }
        let refusal = counter.pass(start + 11 * SECOND).unwrap_err();
        assert_eq!(refusal.wait, 50 * SECOND);
        assert!(counter.pass(start + 61 * SECOND - MS).is_err());
        assert!(counter.pass(start + 61 * SECOND).is_ok());
    }
}

#[test]
fn a_refusal_names_the_time_after_which_it_passes() {
    let start = Instant::now();
    let mut window = Window::new(2, SECOND);
    window.pass(start).unwrap();
    window.pass(start + 300 * MS).unwrap();
    let wait = window.pass(start + 400 * MS).unwrap_err();
    assert_eq!(wait, 600 * MS);
    assert!(window.pass(start + 400 * MS + wait - MS).is_err());
    assert!(window.pass(start + 400 * MS + wait).is_ok());
}

#[test]
fn what_others_allowed_counts_and_memory_stays_bounded() {
    let (start, mut counter) = (Instant::now(), Counter::new(AUTH));
    for n in 0..1000_u32 {
        counter.note(start + n * MS);
    }
    assert_eq!(counter.window.passes.len(), AUTH.most);
    assert!(counter.pass(start + SECOND).is_err());
    assert!(!counter.idle(start + 60 * SECOND));
    assert!(counter.idle(start + 62 * SECOND));
}

proptest! {
    /// Checks random requests: no window has more passes than the limit. A refusal without a block
    /// would really have been one too many, and its wait is right to the ms.
    #[test]
    fn no_window_holds_more_than_the_limit_wherever_it_begins(
        most in 1_usize..12,
        gaps in prop::collection::vec(0_u32..40, 1..400),
    ) {
        let rule = Rule {
            name: "test",
            most,
            length: 100 * MS,
            refusals: 5,
            block: 150 * MS,
        };
        let (start, mut counter) = (Instant::now(), Counter::new(rule));
        let (mut at, mut passed) = (0, Vec::new());
        for gap in gaps {
            at += gap;
            let recent = passed.iter().filter(|p| at - **p < 100).count();
            let before = counter.clone();
            match counter.pass(start + at * MS) {
                Ok(standing) => {
                    passed.push(at);
                    prop_assert!(recent < most);
                    prop_assert_eq!(standing.left, most - recent - 1);
                }
                Err(refusal) => {
                    prop_assert!(recent >= most || refusal.blocked);
                    let mut later = before.clone();
                    prop_assert!(!refusal.wait.is_zero());
                    if !refusal.blocked {
                        prop_assert!(later.pass(start + at * MS + refusal.wait - MS).is_err());
                        prop_assert!(before.clone().pass(start + at * MS + refusal.wait).is_ok());
                    }
                }
            }
        }
        for (i, first) in passed.iter().enumerate() {
            let within = passed[i..].iter().take_while(|p| **p < first + 100).count();
            prop_assert!(within <= most, "{} from {}", within, first);
        }
    }
}
