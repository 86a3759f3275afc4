//! A flame graph: how often each function was on the stack, as a picture (SVG).
//!
//! Each box is a function. It stands on the function that called it, and is as wide as its share of the
//! samples. The form is that of <https://www.brendangregg.com/flamegraphs.html>.

use std::{collections::BTreeMap, fmt::Write};

/// Width of the picture, height of a box, and height above the boxes, in pixels.
const WIDTH: f64 = 1200.0;
const BOX: u64 = 17;
const HEAD: u64 = 40;
/// Narrower boxes, in pixels, are left out: nobody could see them.
const NARROWEST: f64 = 0.3;
/// Width of a letter, in pixels.
const LETTER: f64 = 6.6;

/// All samples of a profile, as a tree of calls.
pub(super) struct Stacks(Call);

#[derive(Default)]
struct Call {
    samples: u64,
    calls: BTreeMap<String, Call>,
}

impl Stacks {
    /// Reads the folded form: a line for each stack, `outermost;…;innermost samples`.
    ///
    /// Returns `None` if a line is not of this form.
    pub(super) fn read(folded: &str) -> Option<Self> {
        let mut all = Call::default();
        for line in folded.lines() {
            let (stack, samples) = line.rsplit_once(' ')?;
            let samples: u64 = samples.parse().ok()?;
            all.samples = all.samples.checked_add(samples)?;
            let mut at = &mut all;
            for name in stack.split(';') {
                at = at.calls.entry(name.to_owned()).or_default();
                // No more than the sum of all.
                at.samples += samples;
            }
        }
        Some(Self(all))
    }

    pub(super) const fn samples(&self) -> u64 {
        self.0.samples
    }

    /// Draws the picture. The name of a box and its share come up where the pointer rests.
    pub(super) fn draw(&self, title: &str) -> String {
        let mut boxes = String::new();
        let rows = self.rows(&mut boxes);
        let height = HEAD + rows * BOX + BOX;
        let title = plain(title);
        let samples = self.samples();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"monospace\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fdfaf3\"/>\n\
             <text x=\"8\" y=\"24\" font-size=\"15\">{title}: {samples} samples</text>\n\
             {boxes}</svg>\n"
        )
    }

    /// Writes all boxes, from the outermost calls downwards. Returns the number of rows.
    fn rows(&self, boxes: &mut String) -> u64 {
        let pixels = |samples: u64| samples as f64 / self.0.samples.max(1) as f64 * WIDTH;
        // The stacks may be deep: they wait here and not on the stack of this program.
        let mut waiting = vec![(&self.0, 0, 0)];
        let mut rows = 0;
        while let Some((call, first, row)) = waiting.pop() {
            let mut first = first;
            for (name, inner) in &call.calls {
                let (x, width) = (pixels(first), pixels(inner.samples));
                first += inner.samples;
                if width < NARROWEST {
                    continue;
                }
                rows = rows.max(row + 1);
                let share = inner.samples as f64 / self.0.samples as f64 * 100.0;
                let label = (name, format!("{} samples, {share:.1} %", inner.samples));
                put(boxes, (x, width), HEAD + row * BOX, &label);
                waiting.push((inner, first - inner.samples, row + 1));
            }
        }
        rows
    }
}

fn put(boxes: &mut String, (x, width): (f64, f64), y: u64, (name, share): &(&String, String)) {
    // As many letters as find room.
    let room = (width / LETTER) as usize;
    let short: String = match name.chars().count() <= room {
        true => (*name).clone(),
        false if room > 3 => name.chars().take(room - 2).chain("..".chars()).collect(),
        false => String::new(),
    };
    let (full, short) = (plain(name), plain(&short));
    let hue = 20 + name.bytes().map(u32::from).sum::<u32>() % 35;
    let (height, line) = (BOX - 1, y + 12);
    // A string takes everything.
    let _ = writeln!(
        boxes,
        "<g><title>{full} ({share})</title><rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{height}\" \
         rx=\"2\" fill=\"hsl({hue},80%,65%)\"/><text x=\"{:.2}\" y=\"{line}\">{short}</text></g>",
        x + 3.0
    );
}

/// Writes a text so that it is no markup.
fn plain(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDED: &str = "main;run;tick<T> 3\nmain;run;write 1\nidle 4\n";

    #[test]
    fn each_box_is_as_wide_as_its_share_and_stands_below_its_caller() {
        let stacks = Stacks::read(FOLDED).unwrap();
        assert_eq!(stacks.samples(), 8);
        let picture = stacks.draw("zone 7");
        for (name, x, y, width) in [
            ("idle (4 samples, 50.0 %)", "0.00", 40, "600.00"),
            ("main (4 samples, 50.0 %)", "600.00", 40, "600.00"),
            ("run (4 samples, 50.0 %)", "600.00", 57, "600.00"),
            ("tick&lt;T&gt; (3 samples, 37.5 %)", "600.00", 74, "450.00"),
            ("write (1 samples, 12.5 %)", "1050.00", 74, "150.00"),
        ] {
            let box_of =
                format!("<title>{name}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\"");
            assert!(picture.contains(&box_of), "{name}: {picture}");
        }
        assert!(picture.contains("zone 7: 8 samples"), "{picture}");
    }

    #[test]
    fn what_is_not_in_the_folded_form_is_refused_and_nothing_is_an_empty_picture() {
        for text in ["main", "main x", "main -1", "a 18446744073709551615\nb 1"] {
            assert!(Stacks::read(text).is_none(), "{text}");
        }
        let none = Stacks::read("").unwrap();
        assert!(none.draw("nothing").contains("0 samples"));
    }
}
