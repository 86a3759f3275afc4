//! Time for which one bot stands still when something breaks. Pure: the caller passes the time in.
//!
//! After that moment the bot asks again and again for a short walk. It moves again under two
//! conditions. The gateway has acknowledged a walk that it asked for after the moment. A later
//! message, or the one just before, shows its own character elsewhere.
//!
//! Until then it measures how far the character jumps from one place that is shown to the next.

use std::time::Duration;

use tokio::time::Instant;

/// Time between two requests for a walk.
const ASK_EVERY: Duration = Duration::from_millis(400);
/// A step so shortly before the acknowledgement belongs to the same message.
const TOGETHER: Duration = Duration::from_millis(100);

/// Jumps further than this are those of a teleport.
const JUMP_TILES_MAX: u32 = 64;

/// Knowledge of one bot since the last moment.
#[derive(Debug, Clone, Default)]
pub struct Failover {
    since: Option<Instant>,
    ask_at: Option<Instant>,
    first_id: Option<u64>,
    moved: Option<Instant>,
    acknowledged: bool,
    took: Option<Duration>,
    /// Longest jump, in tiles.
    jump: u32,
    /// A death moves the character next.
    died: bool,
}

impl Failover {
    /// Begins at the moment at which something breaks. Who lies dead at that moment still stands up
    /// elsewhere.
    pub fn begin(&mut self, now: Instant) {
        *self = Self {
            since: Some(now),
            ask_at: Some(now),
            died: self.died,
            ..Self::default()
        };
    }

    /// Returns whether it is waiting to move again.
    pub const fn is_waiting(&self) -> bool {
        self.since.is_some() && self.took.is_none()
    }

    /// Returns the time of the next request for a walk; none if it does not wait.
    pub fn due(&self) -> Option<Instant> {
        self.ask_at.filter(|_| self.is_waiting())
    }

    /// Notes that the request `id` asks for a walk.
    pub fn asked(&mut self, id: u64, now: Instant) {
        self.first_id.get_or_insert(id);
        self.ask_at = Some(now + ASK_EVERY);
    }

    /// Takes the `ack` of a request; true if the bot has just moved again.
    pub fn acknowledged(&mut self, id: u64, now: Instant) -> bool {
        if !self.is_waiting() || self.first_id.is_none_or(|first| id < first) {
            return false;
        }
        self.acknowledged = true;
        let together = |moved: Instant| now.saturating_duration_since(moved) <= TOGETHER;
        if self.moved.is_some_and(together) {
            return self.done(now);
        }
        false
    }

    /// Notes that the own character is shown `tiles` steps from where it was shown before; true if it
    /// has just moved again.
    pub fn moved(&mut self, tiles: u32, now: Instant) -> bool {
        let by_death = std::mem::take(&mut self.died);
        if self.is_waiting() && !by_death && tiles <= JUMP_TILES_MAX {
            self.jump = self.jump.max(tiles);
        }
        if !self.is_waiting() || self.first_id.is_none() {
            return false;
        }
        self.moved = Some(now);
        self.acknowledged && self.done(now)
    }

    /// Notes that a death moves the character: this jump is not one of what broke.
    pub const fn died(&mut self) {
        self.died = true;
    }

    fn done(&mut self, now: Instant) -> bool {
        self.took = self.since.map(|since| now.saturating_duration_since(since));
        true
    }

    /// Returns the longest jump from one shown place to the next, in tiles.
    pub const fn jump(&self) -> u32 {
        self.jump
    }

    /// Returns the time that it took until it moved again; none if it has not yet, or nothing has
    /// broken.
    pub const fn took(&self) -> Option<Duration> {
        self.took
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun() -> (Failover, Instant) {
        let now = Instant::now();
        let mut failover = Failover::default();
        failover.begin(now);
        (failover, now)
    }

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn it_counts_to_the_first_step_after_an_acknowledged_walk() {
        let (mut failover, now) = begun();
        failover.asked(5, now);
        assert_eq!(failover.due(), Some(now + ms(400)));
        failover.asked(6, now + ms(400));
        assert!(!failover.acknowledged(6, now + ms(900)));
        assert!(failover.moved(2, now + ms(1_500)));
        assert_eq!(failover.took(), Some(ms(1_500)));
        assert_eq!(failover.due(), None);
    }

    #[test]
    fn the_longest_jump_until_it_moves_again_is_measured() {
        let (mut failover, now) = begun();
        failover.moved(3, now);
        failover.moved(17, now);
        failover.moved(JUMP_TILES_MAX + 1, now);
        failover.died();
        failover.moved(61, now);
        failover.asked(5, now);
        failover.acknowledged(5, now + ms(900));
        assert!(failover.moved(4, now + ms(1_500)));
        failover.moved(30, now + ms(2_000));
        assert_eq!(failover.jump(), 17);
    }

    #[test]
    fn who_was_dead_before_jumps_by_its_death() {
        let (mut failover, now) = begun();
        failover.died();
        failover.begin(now + ms(100));
        failover.moved(40, now + ms(200));
        assert_eq!(failover.jump(), 0);
    }

    #[test]
    fn a_step_from_before_does_not_count() {
        let (mut failover, now) = begun();
        assert!(!failover.moved(2, now), "before anything was asked");
        failover.asked(5, now);
        assert!(!failover.moved(2, now + ms(3)), "it was under way");
        assert!(!failover.acknowledged(4, now + ms(4)), "an older walk");
        assert!(!failover.acknowledged(5, now + ms(2_000)));
        assert!(failover.moved(2, now + ms(2_600)));
    }

    #[test]
    fn a_step_told_together_with_the_acknowledgement_counts() {
        let (mut failover, now) = begun();
        failover.asked(5, now);
        failover.moved(2, now + ms(1_000));
        assert!(failover.acknowledged(5, now + ms(1_001)));
        assert_eq!(failover.took(), Some(ms(1_001)));
    }
}
