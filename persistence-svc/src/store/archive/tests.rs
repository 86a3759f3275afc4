use super::*;

fn month(month: &str, begins: i64, ends: i64) -> Month {
    Month {
        kind: "ledger".to_owned(),
        month: month.to_owned(),
        begins,
        ends,
        part: String::new(),
        closed: None,
        rows: None,
        exported: None,
        exported_rows: None,
        sha256: None,
        dropped: None,
    }
}

#[test]
fn a_time_is_of_its_calendar_month() {
    for (ms, name) in [
        (0, "1970-01"),
        (-1, "1969-12"),
        (951_782_400_000, "2000-02"),
        (951_868_799_999, "2000-02"),
        (951_868_800_000, "2000-03"),
        (1_798_761_599_999, "2026-12"),
        (1_798_761_600_000, "2027-01"),
        (4_107_542_400_000, "2100-03"),
        (4_107_542_399_999, "2100-02"),
    ] {
        assert_eq!(Calendar::at(ms).to_string(), name, "{ms}");
    }
    assert_eq!(Calendar::at(1_800_000_000_000).begins(), 1_798_761_600_000);
    // Every month of 800 years begins where the one before it ends.
    let mut this = Calendar::at(0).later(-4_800);
    for _ in 0..9_600 {
        let next = this.later(1);
        assert_eq!(Calendar::at(this.begins()), this);
        assert_eq!(Calendar::at(next.begins() - 1), this);
        let days = (next.begins() - this.begins()) / DAY_MS;
        assert!((28..=31).contains(&days), "{this} has {days} days");
        this = next;
    }
}

#[test]
fn months_are_made_without_a_gap_up_to_three_ahead() {
    let now = Calendar::at(1_798_761_600_000).begins() + 5;
    let mut months = Vec::new();
    while let Some(next) = missing(&months, now) {
        let mut made = month(&next.month, next.begins, next.ends);
        next.table.kind().clone_into(&mut made.kind);
        months.push(made);
    }
    let ledger: Vec<_> = months.iter().filter(|m| m.kind == "ledger").collect();
    let names: Vec<_> = ledger.iter().map(|m| m.month.as_str()).collect();
    assert_eq!(names, ["2027-01", "2027-02", "2027-03", "2027-04"]);
    assert_eq!(ledger[0].begins, 0);
    assert!(ledger.windows(2).all(|pair| pair[0].ends == pair[1].begins));
    assert_eq!(months.len(), 12);
    assert_eq!(ahead(&months, now), AHEAD);
    // Nobody made any for half a year.
    let late = Calendar::at(now).later(6).begins();
    assert_eq!(ahead(&months, late), -3);
    assert_eq!(missing(&months, late).unwrap().month, "2027-05");
}

#[test]
fn a_month_is_due_six_hours_after_its_end_and_in_order() {
    let mut months = [month("1970-01", 0, 100), month("1970-02", 100, 200)];
    assert_eq!(due(&months, 100 + CLOSES_AFTER_MS - 1), None);
    let late = 200 + CLOSES_AFTER_MS;
    assert_eq!(due(&months, late).unwrap().month, "1970-01");
    months[0].closed = Some(1);
    assert_eq!(due(&months, late).unwrap().month, "1970-02");
    assert_eq!(due(&months, late - 1), None);
}

#[test]
fn only_the_oldest_closed_and_exported_month_is_dropped() {
    let mut months = vec![month("1970-01", 0, 100), month("1970-02", 100, 200)];
    let says = |months: &[Month], at: usize, rows, unexported| {
        let refused = may_drop(months, &months[at], rows, unexported);
        refused.err().map(|why| why.to_string()).unwrap_or_default()
    };
    assert!(says(&months, 0, 3, true).contains("not closed"));
    months[0].closed = Some(1);
    months[1].closed = Some(1);
    assert!(says(&months, 1, 3, true).contains("1970-01 is older"));
    assert!(says(&months, 0, 3, false).contains("not exported"));
    assert_eq!(says(&months, 0, 3, true), "");
    months[0].exported_rows = Some(3);
    assert_eq!(says(&months, 0, 3, false), "");
    assert!(says(&months, 0, 4, false).contains("export it again"));
    assert!(says(&months, 0, 2, false).contains("export it again"));
    months[0].kind = "sessions".to_owned();
    assert_eq!(says(&months, 0, 2, false), "");
    assert!(says(&months, 0, 4, false).contains("export it again"));
    months[0].dropped = Some(9);
    assert!(says(&months, 0, 3, true).contains("dropped already"));
}

#[test]
fn a_session_is_removed_only_after_everybody_saw_its_end() {
    let now = 10 * DAY_MS;
    let mut of = month("1970-01", 0, 100);
    assert_eq!(ended_before(&of, now), now - DAY_MS);
    of.exported = Some(5);
    assert_eq!(ended_before(&of, now), 5);
    of.exported = Some(now);
    assert_eq!(ended_before(&of, now), now - DAY_MS);
}
