//! A person who plays in a window of one size, with a mouse or with a finger, and looks at the page
//! in windows of other sizes as well.

use std::{cell::Cell, fs, time::Duration};

use anyhow::{Context, Result, ensure};
use fantoccini::{
    Client, Locator,
    actions::{
        InputSource, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MOUSE_BUTTON_RIGHT, MouseActions,
        PointerAction, TouchActions,
    },
    elements::{Element, ElementRef},
    error::CmdError,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    browser::{pack, shoot, state},
    browser_steps::{SOON, shown},
    driver::Driver,
};

/// Width and height of a window.
pub(super) type Size = (u32, u32);

/// A phone held upright and across, and two desktops.
const SIZES: [Size; 4] = [(390, 844), (844, 390), (1280, 720), (1920, 1080)];
/// Below this, a window is one of a phone.
const PHONE: u32 = 600;
const POLL: Duration = Duration::from_millis(100);
/// Polls for which something stands still before somebody presses it. The page writes what stands
/// above it every 200 ms.
const STILL_POLLS: u32 = 3;
/// Time for which a tap holds a button or a key down.
const TAP: Duration = Duration::from_millis(60);
/// Where WebDriver puts the id of an element that a script returns.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The key that sends and chooses.
const ENTER: char = '\u{E007}';

pub(super) struct Person<'d> {
    driver: &'d Driver,
    pub(super) page: Client,
    pub(super) name: &'static str,
    window: Cell<Size>,
    /// Windows in which the person looks at everything.
    pub(super) windows: &'static [Size],
    pub(super) finger: bool,
}

impl<'d> Person<'d> {
    pub(super) async fn with_mouse(
        driver: &'d Driver,
        name: &'static str,
        window: Size,
    ) -> Result<Self> {
        let page = driver.calm_browser().await?;
        let person = Self {
            driver,
            page,
            name,
            window: Cell::new(window),
            windows: &SIZES,
            finger: false,
        };
        person.emulates(window).await?;
        Ok(person)
    }

    pub(super) async fn with_finger(
        driver: &'d Driver,
        name: &'static str,
        window: Size,
    ) -> Result<Self> {
        let mut person = Self::with_mouse(driver, name, window).await?;
        let touches = json!({ "enabled": true, "maxTouchPoints": 2 });
        person
            .devtools("Emulation.setTouchEmulationEnabled", touches)
            .await?;
        person.finger = true;
        person.windows = &SIZES[..2];
        Ok(person)
    }

    /// Lets somebody with a mouse at a desk and somebody with a finger on a phone play a story. If
    /// it fails, it keeps a picture of both.
    #[allow(clippy::unwrap_used, reason = "a test may")]
    pub(super) async fn at_desk_and_phone(
        names: [&'static str; 2],
        story: impl AsyncFnOnce(&Person<'_>, &Person<'_>) -> Result<()>,
    ) {
        let driver = Driver::start().await.unwrap();
        let desk = Person::with_mouse(&driver, names[0], (1280, 720));
        let phone = Person::with_finger(&driver, names[1], (390, 844));
        let (desk, phone) = tokio::try_join!(desk, phone).unwrap();
        let told = story(&desk, &phone).await;
        for person in [desk, phone] {
            if told.is_err() {
                let name = format!("failed-{}", person.name.replace(' ', "-"));
                shoot(&person.page, &name).await.unwrap();
                let script = "return window.tilestead.chat().slice(-10)";
                let heard = person.page.execute(script, vec![]).await;
                eprintln!("{} heard last: {heard:?}", person.name);
            }
            person.page.close().await.unwrap();
        }
        told.unwrap();
    }

    // --- what only this browser knows ---

    async fn devtools(&self, command: &str, params: Value) -> Result<()> {
        self.driver.devtools(&self.page, command, params).await
    }

    /// Returns the errors in the browser's console.
    pub(super) async fn errors(&self) -> Result<Vec<Value>> {
        let log = self
            .driver
            .order(&self.page, "se/log", &json!({ "type": "browser" }))
            .await?;
        let all = log.as_array().context("a log")?.iter();
        let errors = all.filter(|entry| entry["level"] == json!("SEVERE"));
        Ok(errors.cloned().collect())
    }

    /// Asks the page for as little motion as possible, as a setting of the system does, or no longer.
    pub(super) async fn wants_stillness(&self, wanted: bool) -> Result<()> {
        let value = if wanted { "reduce" } else { "no-preference" };
        let feature = json!({ "name": "prefers-reduced-motion", "value": value });
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({ "features": [feature] }),
        )
        .await
    }

    async fn emulates(&self, (width, height): Size) -> Result<()> {
        let mobile = width.min(height) < PHONE;
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)
            .await
    }

    async fn resize(&self, (width, height): Size) -> Result<()> {
        self.emulates((width, height)).await?;
        // It has that size, and everything is in its place.
        let script = "const [w, h, done] = arguments; \
            const look = () => innerWidth === w && innerHeight === h \
                ? requestAnimationFrame(() => requestAnimationFrame(() => done(true))) \
                : requestAnimationFrame(look); \
            look();";
        let args = vec![json!(width), json!(height)];
        self.page.execute_async(script, args).await?;
        Ok(())
    }

    // --- looking ---

    /// Checks that everything can be seen whole and reached, in windows of all sizes.
    pub(super) async fn looks(&self, at: &str) -> Result<()> {
        self.looks_in(at, self.windows).await
    }

    pub(super) async fn looks_in(&self, at: &str, sizes: &[Size]) -> Result<()> {
        let mut wrong = Vec::new();
        for size in sizes {
            self.resize(*size).await?;
            wrong.extend(self.wrong_here(at, *size).await?);
        }
        self.resize(self.window.get()).await?;
        ensure!(wrong.is_empty(), "{at}: {wrong:#?}");
        Ok(())
    }

    /// Goes through a story in windows of all sizes, and back to the window of before.
    pub(super) async fn in_every_window(
        &self,
        story: impl AsyncFn(Size) -> Result<()>,
    ) -> Result<()> {
        let before = self.window.get();
        for size in self.windows {
            self.resize(*size).await?;
            self.window.set(*size);
            let (width, height) = size;
            let told = story(*size).await;
            told.with_context(|| format!("{width} × {height}"))?;
        }
        self.window.set(before);
        self.resize(before).await
    }

    /// Checks the same in the window as it is: a menu closes when the window changes.
    pub(super) async fn looks_here(&self, at: &str) -> Result<()> {
        let wrong = self.wrong_here(at, self.window.get()).await?;
        ensure!(wrong.is_empty(), "{at}: {wrong:#?}");
        Ok(())
    }

    async fn wrong_here(&self, at: &str, (width, height): Size) -> Result<Vec<String>> {
        let script = concat!(
            include_str!("page/geometry.js"),
            "; return [innerWidth, innerHeight, geometry()];"
        );
        let found = self.page.execute(script, vec![]).await?;
        let mut wrong = Vec::new();
        if [&found[0], &found[1]] != [&json!(width), &json!(height)] {
            wrong.push(format!("the window is not {width} × {height}: {found}"));
        }
        for words in found[2].as_array().context("sentences")? {
            let words = words.as_str().unwrap_or_default();
            wrong.push(format!("{width} × {height}: {words}"));
        }
        for words in self.barriers().await? {
            wrong.push(format!("{width} × {height}: {words}"));
        }
        if !wrong.is_empty() {
            let name = format!("failed-{}-{at}-{width}x{height}", self.name);
            shoot(&self.page, &name.replace(' ', "-")).await?;
        }
        Ok(wrong)
    }

    /// Looks for barriers by axe-core, after the rules of WCAG 2.2 A and AA. Nothing beneath a menu
    /// is touched before it closes.
    async fn barriers(&self) -> Result<Vec<String>> {
        if self
            .page
            .execute("return window.axe === undefined", vec![])
            .await?
            == json!(true)
        {
            let path =
                std::env::var_os("AXE").context("AXE names no file; tests/run installs it")?;
            self.page
                .execute(&fs::read_to_string(path)?, vec![])
                .await?;
        }
        let script = "const done = arguments[0]; \
            const values = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']; \
            const runOnly = { type: 'tag', values }; \
            const menu = document.querySelector('#menu:not([hidden])'); \
            axe.run(menu ?? document, { runOnly, resultTypes: ['violations'] }).then((found) => \
                done(found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.target).slice(0, 3)}`)));";
        let found = self.page.execute_async(script, vec![]).await?;
        Ok(serde_json::from_value(found)?)
    }

    // --- doing ---

    /// Presses the first thing that is shown, not covered, enabled, and whose words begin so.
    pub(super) async fn presses(&self, css: &str, words: &str) -> Result<()> {
        self.taps(css, words, MOUSE_BUTTON_LEFT).await
    }

    /// Asks what can be done with a thing of the pack: with the other button of the mouse, or by a
    /// tap.
    pub(super) async fn asks(&self, css: &str) -> Result<()> {
        let button = match self.finger {
            true => MOUSE_BUTTON_LEFT,
            false => MOUSE_BUTTON_RIGHT,
        };
        self.taps(css, "", button).await
    }

    /// Presses a thing where it is by then: a line that comes above it may have moved it.
    async fn taps(&self, css: &str, words: &str, button: u64) -> Result<()> {
        let deadline = Instant::now() + SOON;
        loop {
            let (element, ..) = self.finds(css, words).await?;
            let onto = PointerAction::MoveToElement {
                element,
                duration: None,
                x: 0.0,
                y: 0.0,
            };
            match self.presses_at(onto, button).await {
                // The page has just drawn it anew.
                Err(e) if e.is_stale_element_reference() && Instant::now() < deadline => {}
                pressed => return Ok(pressed?),
            }
        }
    }

    /// Holds the mouse's button down on the first thing that fits until `meanwhile` is over.
    pub(super) async fn holds(
        &self,
        css: &str,
        words: &str,
        meanwhile: impl AsyncFnOnce() -> Result<()>,
    ) -> Result<()> {
        let (_, x, y) = self.finds(css, words).await?;
        let (button, duration) = (MOUSE_BUTTON_LEFT, None);
        let mouse = || MouseActions::new("mouse".to_owned());
        let down = mouse()
            .then(PointerAction::MoveTo { duration, x, y })
            .then(PointerAction::Down { button });
        self.page.perform_actions(down).await?;
        meanwhile().await?;
        let up = mouse().then(PointerAction::Up { button });
        Ok(self.page.perform_actions(up).await?)
    }

    /// Drags the first thing that fits to another one, with the mouse.
    pub(super) async fn drags(&self, from: &str, to: &str) -> Result<()> {
        let ((_, x, y), (_, to_x, to_y)) = (self.finds(from, "").await?, self.finds(to, "").await?);
        let (button, duration) = (MOUSE_BUTTON_LEFT, Some(TAP));
        let mouse = MouseActions::new("mouse".to_owned())
            .then(PointerAction::MoveTo {
                duration: None,
                x,
                y,
            })
            .then(PointerAction::Down { button })
            .then(PointerAction::MoveTo {
                duration,
                x: x + 10.0,
                y: y + 10.0,
            })
            .then(PointerAction::MoveTo {
                duration,
                x: to_x,
                y: to_y,
            })
            .then(PointerAction::Up { button });
        Ok(self.page.perform_actions(mouse).await?)
    }

    /// Returns the first thing that is shown, not covered, enabled, and whose words begin so, with its
    /// middle.
    async fn finds(&self, css: &str, words: &str) -> Result<(Element, f64, f64)> {
        let script = "const [css, words] = arguments; \
            const fits = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && \
                (e.getAttribute('aria-label') ?? e.textContent).trim().startsWith(words); \
            const found = [...document.querySelectorAll(css)].find(fits); \
            found?.scrollIntoView({ block: 'nearest' }); \
            const at = found?.getBoundingClientRect(); \
            const panes = [...document.querySelectorAll('.pane:not([hidden])')]; \
            if (!at) return `none is shown in ${panes.map((pane) => pane.innerText).join('; ')}`; \
            const [x, y] = [(at.left + at.right) / 2, (at.top + at.bottom) / 2]; \
            const hit = document.elementFromPoint(x, y); \
            return found.contains(hit) ? [x, y, found] : `covered by ${hit?.outerHTML.slice(0, 200)}`;";
        let deadline = Instant::now() + SOON;
        let (mut before, mut still) = (Value::Null, 0);
        loop {
            let args = vec![json!(css), json!(words)];
            let at = self.page.execute(script, args).await?;
            still = if at == before { still + 1 } else { 0 };
            // Nobody hits what still moves, such as a window into which words come.
            if let (Some(x), Some(y)) = (at[0].as_f64(), at[1].as_f64())
                && still >= STILL_POLLS
            {
                let id = at[2][ELEMENT].as_str().context("an element")?;
                let id = ElementRef::from(id.to_owned());
                return Ok((Element::from_element_id(self.page.clone(), id), x, y));
            }
            ensure!(Instant::now() < deadline, "{css} {words:?}: {at}");
            before = at;
            sleep(POLL).await;
        }
    }

    /// Clicks, or taps with the finger.
    pub(super) async fn points(&self, x: f64, y: f64) -> Result<()> {
        let duration = None;
        let to = PointerAction::MoveTo { duration, x, y };
        Ok(self.presses_at(to, MOUSE_BUTTON_LEFT).await?)
    }

    /// Goes there with the finger or the mouse, and presses.
    async fn presses_at(&self, to: PointerAction, button: u64) -> Result<(), CmdError> {
        if self.finger {
            let finger = TouchActions::new("finger".to_owned());
            self.page.perform_actions(tapping(finger, to, button)).await
        } else {
            let mouse = MouseActions::new("mouse".to_owned());
            self.page.perform_actions(tapping(mouse, to, button)).await
        }
    }

    pub(super) async fn taps_key(&self, key: char) -> Result<()> {
        let keys = KeyActions::new("keys".to_owned())
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Pause { duration: TAP })
            .then(KeyAction::Up { value: key });
        Ok(self.page.perform_actions(keys).await?)
    }

    pub(super) async fn taps_enter(&self) -> Result<()> {
        self.taps_key(ENTER).await
    }

    /// Types wherever the keys go.
    pub(super) async fn types(&self, text: &str) -> Result<()> {
        let mut keys = KeyActions::new("keys".to_owned());
        for value in text.chars() {
            keys = keys
                .then(KeyAction::Down { value })
                .then(KeyAction::Up { value });
        }
        Ok(self.page.perform_actions(keys).await?)
    }

    /// Replaces the text in a field.
    pub(super) async fn fills(&self, css: &str, text: &str) -> Result<()> {
        self.page.find(Locator::Css(css)).await?.clear().await?;
        self.presses(css, "").await?;
        self.types(text).await
    }

    /// Looks into the pack, which on a phone is closed until somebody opens it.
    pub(super) async fn opens_pack(&self) -> Result<()> {
        if !shown(&self.page, "#side").await? {
            self.presses("#side-toggle", "").await?;
        }
        if !shown(&self.page, "#pack").await? {
            self.presses("#tab-pack", "").await?;
        }
        Ok(())
    }

    /// Closes the pack again on a phone, so that the map is visible.
    pub(super) async fn closes_pack(&self) -> Result<()> {
        if self.finger && shown(&self.page, "#side").await? {
            self.presses("#side-close", "").await?;
        }
        Ok(())
    }

    /// Presses what lies in the pack, and an entry of its menu.
    pub(super) async fn chooses(&self, item: &str, entry: &str) -> Result<()> {
        self.opens_pack().await?;
        let slots = pack(&state(&self.page).await?)["slots"].clone();
        let mut slots = slots.as_array().context("slots")?.iter();
        let slot = slots.position(|slot| slot["itemId"] == json!(item));
        let slot = slot.with_context(|| format!("no {item}"))? + 1;
        self.asks(&format!("#slots button:nth-child({slot})"))
            .await?;
        self.presses("#menu button", entry).await
    }
}

fn tapping<S: InputSource<Action = PointerAction>>(source: S, to: PointerAction, button: u64) -> S {
    source
        .then(to)
        .then(PointerAction::Down { button })
        .then(PointerAction::Pause { duration: TAP })
        .then(PointerAction::Up { button })
}
