//! Figures of running services, read from what they show to Prometheus.

/// Returns the sum of all series of a metric whose labels have `label` in them; 0 if there is none.
pub fn sum(text: &str, name: &str, label: &str) -> f64 {
    let of = |line: &&str| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['{', ' '])) && line.contains(label)
    };
    let values = text.lines().filter(of);
    let values = values.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    values.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_series_of_one_metric_are_summed() {
        let text = "# TYPE things histogram\n\
            things_bucket{zone=\"1\",le=\"1\"} 3\n\
            things_bucket{zone=\"1\",le=\"16\"} 6\n\
            things_bucket{zone=\"2\",le=\"1\"} 4\n\
            things_count 11\n\
            things_count_of_another 5\n";
        assert_eq!(sum(text, "things_bucket", "le=\"1\""), 7.0);
        assert_eq!(sum(text, "things_count", ""), 11.0);
        assert_eq!(sum(text, "nothing", ""), 0.0);
    }
}
