//! `tilestead top`: zones, regions and players, live in a terminal.
//!
//! Always: the terminal is as it was when the program ends, also after a panic. A gateway that does
//! not answer is said so; what was seen last stays.

use std::{
    collections::VecDeque,
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use anyhow::Context;
use crossterm::{
    cursor::{Hide, MoveTo, Show},
    event::{self, Event, KeyCode, KeyEventKind, KeyModifiers},
    execute, queue,
    style::{Color, Print, ResetColor, SetForegroundColor},
    terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen},
};
use service_runtime::config::ConfigError;

use super::{
    cluster::Cluster,
    sight::{Sight, Zone, millis},
    table::table,
};

/// Time between two looks at the cluster.
const LOOK: Duration = Duration::from_secs(2);
/// Time for which one waits for a key.
const KEY: Duration = Duration::from_millis(200);
/// A tick, in microseconds.
const TICK_MICROS: u64 = 600_000;
/// Looks that the picture of the players goes back.
const PAST: usize = 100;
/// Width of a zone's bar, in columns.
const BAR: usize = 20;
/// Heights of the picture of the players.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Shows the cluster until somebody presses q, Escape or Ctrl-C.
///
/// # Errors
/// A [`ConfigError`] where the output is no terminal.
pub(super) async fn watch(cluster: Cluster) -> anyhow::Result<()> {
    if !std::io::stdout().is_terminal() {
        let why = "top needs a terminal; `tilestead zones --json` prints the same once";
        return Err(ConfigError::new(why.to_owned()).into());
    }
    let _screen = Taken::new().context("take the terminal")?;
    follow(&cluster).await
}

/// The terminal, until this is dropped.
struct Taken;

impl Taken {
    fn new() -> std::io::Result<Self> {
        terminal::enable_raw_mode()?;
        let taken = Self;
        execute!(std::io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        let _ = execute!(std::io::stdout(), Show, LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

async fn follow(cluster: &Cluster) -> anyhow::Result<()> {
    let mut screen = Screen::new(cluster.url.as_str());
    let mut looked: Option<Instant> = None;
    loop {
        if looked.is_none_or(|at| at.elapsed() >= LOOK) {
            screen.see(Sight::of(cluster).await);
            looked = Some(Instant::now());
            draw(&screen.lines()).context("draw on the terminal")?;
        }
        let key = tokio::task::spawn_blocking(ends).await;
        if key.context("wait for a key")?? {
            return Ok(());
        }
    }
}

/// Waits a moment for a key. Returns whether it ends the program.
fn ends() -> anyhow::Result<bool> {
    if !event::poll(KEY).context("wait for a key")? {
        return Ok(false);
    }
    let Event::Key(key) = event::read().context("read a key")? else {
        return Ok(false);
    };
    let interrupts =
        key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c');
    let ends = matches!(key.code, KeyCode::Char('q') | KeyCode::Esc) || interrupts;
    Ok(ends && key.kind == KeyEventKind::Press)
}

/// Draws as many lines as there is room for.
fn draw(lines: &[(Color, String)]) -> std::io::Result<()> {
    let (width, height) = terminal::size()?;
    let mut out = std::io::stdout().lock();
    queue!(out, Clear(ClearType::All))?;
    for (row, (color, text)) in (0..height).zip(lines) {
        let text: String = text.chars().take(usize::from(width)).collect();
        let color = SetForegroundColor(*color);
        queue!(out, MoveTo(0, row), color, Print(text), ResetColor)?;
    }
    out.flush()
}

/// What is shown.
struct Screen {
    url: String,
    sight: Option<Sight>,
    /// Players at each look, the newest last.
    past: VecDeque<u64>,
    /// Why the last look failed.
    wrong: Option<String>,
}

impl Screen {
    fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            sight: None,
            past: VecDeque::with_capacity(PAST),
            wrong: None,
        }
    }

    /// Takes what a look saw.
    fn see(&mut self, seen: anyhow::Result<Sight>) {
        match seen {
            Ok(sight) => {
                if self.past.len() == PAST {
                    self.past.pop_front();
                }
                self.past.push_back(sight.players());
                self.sight = Some(sight);
                self.wrong = None;
            }
            Err(error) => self.wrong = Some(format!("{error:#}")),
        }
    }

    /// Returns all lines, each with its color.
    fn lines(&self) -> Vec<(Color, String)> {
        let mut lines = vec![(Color::Yellow, format!("Tilestead {}  (q ends)", self.url))];
        if let Some(wrong) = &self.wrong {
            lines.push((Color::Red, wrong.clone()));
        }
        let Some(sight) = &self.sight else {
            return lines;
        };
        let said = format!(
            "{} players, {} zones, {} regions",
            sight.players(),
            sight.zones.len(),
            sight.regions.len()
        );
        lines.push((Color::Reset, said));
        lines.push((Color::Green, picture(&self.past)));
        lines.push((Color::Reset, String::new()));
        zones(&mut lines, &sight.zones);
        lines.push((Color::Reset, String::new()));
        regions(&mut lines, sight);
        lines
    }
}

/// Adds a table: its headings, and a line of a color for each row.
fn add(
    lines: &mut Vec<(Color, String)>,
    headings: &[&str],
    rows: impl Iterator<Item = (Color, Vec<String>)>,
) {
    let (colors, rows): (Vec<Color>, Vec<Vec<String>>) = rows.unzip();
    let colors = std::iter::once(Color::DarkGrey).chain(colors);
    let text = table(headings, &rows);
    lines.extend(colors.zip(text.lines().map(str::to_owned)));
}

fn zones(lines: &mut Vec<(Color, String)>, zones: &[Zone]) {
    let headings = [
        ">zone",
        "address",
        "state",
        ">regions",
        ">players",
        ">ms a tick",
        "of a tick",
    ];
    let rows = zones.iter().map(|zone| {
        let row = vec![
            zone.id.clone(),
            zone.address.clone(),
            zone.state.clone(),
            zone.regions.to_string(),
            zone.players.to_string(),
            millis(zone.cost_micros),
            bar(zone.cost_micros),
        ];
        (heat(zone.cost_micros), row)
    });
    add(lines, &headings, rows);
}

fn regions(lines: &mut Vec<(Color, String)>, sight: &Sight) {
    let headings = [
        ">region",
        ">zone",
        ">epoch",
        ">players",
        ">ms a tick",
        "note",
    ];
    let rows = sight.regions.iter().map(|region| {
        let row = vec![
            format!("{},{}", region.x, region.z),
            region.zone.clone().unwrap_or_default(),
            region.epoch.to_string(),
            region.players.to_string(),
            millis(region.cost_micros),
            region.note(),
        ];
        match region.paused || region.zone.is_none() {
            true => (Color::Red, row),
            false => (Color::Reset, row),
        }
    });
    add(lines, &headings, rows);
}

/// Returns the players of the past as a row of bars, the newest last.
fn picture(past: &VecDeque<u64>) -> String {
    let most = past.iter().copied().max().unwrap_or(0).max(1);
    let top = HEIGHTS.len() as u64 - 1;
    let height = |players: &u64| HEIGHTS.get(usize::try_from(players * top / most).unwrap_or(0));
    past.iter().filter_map(height).collect()
}

/// Returns how much of a tick the work takes, as a bar.
fn bar(cost_micros: u64) -> String {
    let full = BAR as u64;
    let filled = (cost_micros * full).div_ceil(TICK_MICROS).min(full);
    "█".repeat(usize::try_from(filled).unwrap_or(BAR))
}

fn heat(cost_micros: u64) -> Color {
    match cost_micros * 100 / TICK_MICROS {
        0..=9 => Color::Green,
        10..=49 => Color::Yellow,
        50.. => Color::Red,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operate::sight::tests::answer;

    fn shown(screen: &Screen) -> String {
        let lines = screen.lines().into_iter().map(|(_, line)| line);
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_screen_shows_zones_regions_and_what_is_wrong() {
        let mut screen = Screen::new("http://here:5555/");
        assert!(shown(&screen).contains("http://here:5555/"));
        screen.see(Sight::read(answer()));
        let text = shown(&screen);
        for part in [
            "6 players, 2 zones, 3 regions",
            "zone-0:5700",
            "draining",
            "5.2",
            "paused, nobody plays it",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        let red = |line: &(Color, String)| line.0 == Color::Red;
        assert!(
            screen
                .lines()
                .iter()
                .any(|line| red(line) && line.1.contains("paused"))
        );
        screen.see(Err(anyhow::anyhow!("it does not answer")));
        let text = shown(&screen);
        assert!(text.contains("it does not answer"), "{text}");
        assert!(
            text.contains("zone-0:5700"),
            "the last sight stays:\n{text}"
        );
    }

    #[test]
    fn a_bar_is_full_when_the_work_takes_a_tick() {
        let columns = |micros| bar(micros).chars().count();
        let micros = [0, 1, 300_000, 600_000, u64::from(u32::MAX)];
        assert_eq!(micros.map(columns), [0, 1, 10, 20, 20]);
    }

    #[test]
    fn the_picture_of_the_players_is_bounded_and_its_highest_bar_is_the_most() {
        assert_eq!(picture(&VecDeque::from([0, 50, 100])), "▁▄█");
        assert_eq!(picture(&VecDeque::from([0])), "▁");
        let mut screen = Screen::new("http://here/");
        for _ in 0..PAST + 5 {
            screen.see(Sight::read(answer()));
        }
        assert_eq!(screen.past.len(), PAST);
    }
}
