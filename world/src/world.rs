//! The world: the regions that are played here and all that belongs to them.
//!
//! Always: every player and NPC belongs to a region that is played here. Each entity is in the
//! index of the chunk in which it stands, and in no other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::content::Content;
use crate::entity::fire::Fires;
use crate::entity::ground_item::{Ground, GroundItem, REACH_TILES};
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::look::{Field, Kind, Look};
use crate::entity::npc::{Npc, NpcState, Npcs};
use crate::entity::player::record::{PlayerHot, PlayerRecord};
use crate::entity::player::{Player, Players};
use crate::entity::resource::{ResourceState, Resources};
use crate::features::duel::Duels;
use crate::features::emotes::Emotes;
use crate::features::movement::border::PAST_TILES_MAX;
use crate::features::npc_mind::{self, Crowd};
use crate::features::potions::Dosed;
use crate::features::shop::{Shelves, Shops};
use crate::features::trade::Trades;
use crate::geometry::route::Router;
use crate::geometry::tile::{Chunk, Region, Tile};
use crate::image::{Counters, Image, Unreadable};
use crate::mint::Mint;
use crate::rules::Rules;
use crate::time::Tick;

/// Steps within which a region may hold something in reach: nobody goes further past a border.
const REGION_REACH_TILES: u32 = REACH_TILES + PAST_TILES_MAX;

/// A part of the world, played tick by tick.
#[derive(Debug)]
pub struct World {
    pub(crate) content: Arc<Content>,
    pub(crate) rules: Rules,
    pub(crate) mint: Mint,
    /// Last tick played, here or in the worlds from which the regions come.
    pub(crate) now: Tick,
    pub(crate) regions: BTreeMap<Region, Counters>,
    pub(crate) players: Players,
    pub(crate) npcs: Npcs,
    pub(crate) ground: Ground,
    pub(crate) resources: Resources,
    pub(crate) fires: Fires,
    pub(crate) trades: Trades,
    pub(crate) duels: Duels,
    pub(crate) shops: Shops,
    pub(crate) emotes: Emotes,
    pub(crate) dosed: Dosed,
    pub(crate) index: Index,
    pub(crate) router: Router,
}

impl World {
    /// Returns a world without regions. `seed` is that of its dice; the land has its own. `run_id`:
    /// no two worlds that may ever exchange anything have the same.
    pub fn new(content: Arc<Content>, rules: Rules, seed: u64, run_id: u64) -> World {
        World {
            content,
            rules,
            mint: Mint::new(seed, run_id),
            now: Tick::default(),
            regions: BTreeMap::new(),
            players: Players::new(),
            npcs: Npcs::new(),
            ground: Ground::default(),
            resources: Resources::default(),
            fires: Fires::new(),
            trades: Trades::default(),
            duels: Duels::default(),
            shops: Shops::new(),
            emotes: Emotes::default(),
            dosed: Dosed::default(),
            index: Index::default(),
            router: Router::default(),
        }
    }

    /// Returns the content of the world.
    pub fn content(&self) -> &Arc<Content> {
        &self.content
    }

    /// Returns the last tick played; zero before the first.
    pub fn now(&self) -> Tick {
        self.now
    }

    /// Takes `region` in, with the `state` from [`World::region_bytes`] or as content has it. `now`
    /// is the last tick of play: timers go on from there.
    ///
    /// # Errors
    /// The bytes are not those of this region, or it is here already. Nothing has changed then.
    pub fn region_in(
        &mut self,
        region: Region,
        now: Tick,
        state: Option<&[u8]>,
    ) -> Result<(), Unreadable> {
        if self.regions.contains_key(&region) {
            return Err(Unreadable::Held);
        }
        let image = match state {
            Some(bytes) => Image::from_bytes(bytes, region)?.resumed(now),
            None => Image::new(
                region,
                now,
                Counters::default(),
                Vec::new(),
                Vec::new(),
                Vec::new(),
            ),
        };
        self.settle_image(image, now);
        Ok(())
    }

    /// Puts in everything of a region that is not here yet.
    pub(crate) fn settle_image(&mut self, image: Image, now: Tick) {
        let region = image.region;
        self.now = self.now.max(now);
        self.regions.insert(region, image.counters);
        self.settle_npcs(region, now, image.npcs);
        for player in image.players {
            self.settle_player(player);
        }
        image
            .ground
            .into_iter()
            .for_each(|item| self.settle_item(item));
        for (id, shelves) in image.shops {
            self.shops.insert((region, id), shelves);
        }
        for trade in image.trades {
            self.trades.all.entry(trade.id.clone()).or_insert(trade);
        }
        for duel in image.duels {
            self.duels.all.entry(duel.id.clone()).or_insert(duel);
        }
        let content = Arc::clone(&self.content);
        let known = |state: &ResourceState| content.fixture(&state.id).is_some();
        let resources = image.resources.into_iter().filter(known);
        resources.for_each(|state| self.resources.put(state));
        self.settle_shoals(region);
        for fixture in content.fixtures_in(region) {
            let tile = self.resources.tile(fixture);
            self.index.come(Chunk::from(tile), fixture.id.clone());
        }
        image
            .fires
            .into_iter()
            .for_each(|fire| self.settle_fire(fire));
    }

    /// Puts items on the ground of `region`, which came from the store without its state. `played`
    /// is the last tick of its play (0: never), and timers go on from there. Leaves out items of
    /// other regions and those that lie here already. Returns false if the region is not here.
    pub fn ground_in(&mut self, region: Region, played: Tick, items: Vec<GroundItem>) -> bool {
        if !self.regions.contains_key(&region) {
            return false;
        }
        let never = played == Tick::default();
        let away = if never { 0 } else { self.now.since(played) };
        for item in items {
            if item.region == region {
                self.settle_item(item.delayed(away));
            }
        }
        true
    }

    fn settle_item(&mut self, item: GroundItem) {
        if self.ground.get(&item.id).is_none() {
            self.index.come(Chunk::from(item.tile), item.seen().clone());
            self.ground.put(item);
        }
    }

    /// Calls off the departure of `who` for a region that is not played here: the player stays, and
    /// hears so at the next tick. Returns whether the player is here.
    pub fn call_off(&mut self, who: &CharacterId) -> bool {
        let Some(player) = self.players.get_mut(who) else {
            return false;
        };
        if let Some(leaving) = &mut player.homeward.leaving {
            leaving.called_off = true;
        }
        true
    }

    /// Puts the NPCs of `region` where `left` has them, and all others anew.
    fn settle_npcs(&mut self, region: Region, now: Tick, left: Vec<NpcState>) {
        let content = Arc::clone(&self.content);
        let mut left: BTreeMap<EntityId, NpcState> = left
            .into_iter()
            .map(|state| (state.id.clone(), state))
            .collect();
        let mut crowd = Crowd::default();
        left.values()
            .filter(|state| state.combat.back_at.is_none())
            .for_each(|state| crowd.stand(state.tile));
        for placement in content.npcs_in(region) {
            let state = left.remove(&placement.id).unwrap_or_else(|| {
                let mut dice = self.mint.dice(placement.key, Tick::default());
                npc_mind::appear(placement, content.terrain(), &mut crowd, now, &mut dice)
            });
            if state.combat.back_at.is_none() {
                self.index
                    .come(Chunk::from(state.tile), placement.id.clone());
            }
            let npc = Npc {
                placement: placement.clone(),
                region,
                state,
            };
            self.npcs.insert(placement.id.clone(), npc);
        }
    }

    /// Puts in a player of a region that is here, on ground that bears.
    pub(crate) fn settle_player(&mut self, mut player: Player) {
        if self.players.contains_key(&player.record.id) {
            return;
        }
        let terrain = self.content.terrain();
        if !terrain.walkable(player.record.tile) {
            let near = terrain.settled(player.record.tile);
            let home = self.content.home_of(&player.record.id);
            player.gait.path.clear();
            player.stand(terrain, near.unwrap_or(home));
        }
        let id = player.record.id.clone();
        self.index.come(Chunk::from(player.tile()), id.entity());
        self.dosed.note(&player.record.id, &player.record.potions);
        self.players.insert(id, player);
    }

    /// Gives `region` away with all that belongs to it. Returns the bytes for its next owner.
    pub fn region_out(&mut self, region: Region) -> Option<Vec<u8>> {
        let bytes = self.region_bytes(region)?;
        self.part_trades(region);
        self.part_duels(region);
        self.shops.retain(|(of, _), _| *of != region);
        self.regions.remove(&region);
        let of_region = |player: &&Player| player.region == region;
        let players: Vec<CharacterId> = self
            .players
            .values()
            .filter(of_region)
            .map(|p| p.record.id.clone())
            .collect();
        for who in &players {
            self.leave(who);
        }
        let items: Vec<EntityId> = self.ground.of(region).map(|i| i.id.clone()).collect();
        for id in items {
            if let Some(item) = self.ground.take(&id) {
                self.index.go(Chunk::from(item.tile), item.seen());
            }
        }
        for placement in self.content.npcs_in(region) {
            if let Some(npc) = self.npcs.remove(&placement.id) {
                self.index.go(Chunk::from(npc.state.tile), &placement.id);
            }
        }
        for fixture in self.content.fixtures_in(region) {
            let tile = self.resources.tile(fixture);
            self.resources.take(&fixture.id);
            self.index.go(Chunk::from(tile), &fixture.id);
        }
        let index = &mut self.index;
        self.fires.retain(|id, fire| {
            let stays = fire.region != region;
            if !stays {
                index.go(Chunk::from(fire.tile), id);
            }
            stays
        });
        Some(bytes)
    }

    /// Returns the very bytes with which `region` would move now; `None`: it is not here.
    pub fn region_bytes(&self, region: Region) -> Option<Vec<u8>> {
        let counters = *self.regions.get(&region)?;
        let players = self
            .players
            .values()
            .filter(|p| p.region == region)
            .cloned()
            .collect();
        let npcs = self.npcs_of(region);
        let ground = self.ground.of(region).cloned().collect();
        let resources = self.resources.of(&self.content, region).cloned().collect();
        let fires = self.fires.values().filter(|fire| fire.region == region);
        let trades = self.trades.all.values();
        let trades = trades.filter(|trade| self.concerns(trade, region));
        let duels = self.duels.all.values();
        let duels = duels.filter(|duel| self.fought_in(duel, region));
        let image = Image {
            trades: trades.cloned().collect(),
            duels: duels.cloned().collect(),
            shops: self.shops_of(region),
            resources,
            fires: fires.cloned().collect(),
            ..Image::new(region, self.now, counters, players, npcs, ground)
        };
        Some(image.to_bytes())
    }

    /// Returns the changing state of the NPCs of a region, by id.
    pub(crate) fn npcs_of(&self, region: Region) -> Vec<NpcState> {
        let npcs = self.npcs.values().filter(|npc| npc.region == region);
        npcs.map(|npc| npc.state.clone()).collect()
    }

    /// Returns the shops of a region that are not as usual.
    pub(crate) fn shops_of(&self, region: Region) -> BTreeMap<Arc<str>, Shelves> {
        let shops = self.shops.iter().filter(|((of, _), _)| *of == region);
        let shops = shops.map(|((_, id), shelves)| (Arc::clone(id), shelves.clone()));
        shops.collect()
    }

    /// Returns the regions that are played here, in order.
    pub fn regions(&self) -> impl Iterator<Item = Region> + '_ {
        self.regions.keys().copied()
    }

    /// Returns how many tiles all searches for a way have visited so far.
    pub fn tiles_searched(&self) -> u64 {
        self.router.visited()
    }

    /// Returns whether `region` is played here.
    pub fn plays(&self, region: Region) -> bool {
        self.regions.contains_key(&region)
    }

    /// Returns whether something that a player at `tile` may reach can lie where others play.
    pub(crate) fn may_be_elsewhere(&self, tile: Tile) -> bool {
        let regions = self.content.regions();
        let mut near = regions
            .iter()
            .filter(|region| region.tiles_past(tile) <= REGION_REACH_TILES);
        near.any(|region| !self.plays(*region))
    }

    /// Takes a player out of the world.
    pub fn leave(&mut self, who: &CharacterId) -> Option<(PlayerRecord, PlayerHot)> {
        let player = self.players.remove(who)?;
        self.leave_trades(who);
        self.leave_duels(who);
        self.index.go(Chunk::from(player.tile()), &who.entity());
        let hot = player.hot();
        Some((player.record, hot))
    }

    /// Holds a player for a handover, or releases it. A held player does not move, and the world
    /// does not listen to it. Returns false if the player is not here.
    pub fn hold(&mut self, who: &CharacterId, held: bool) -> bool {
        self.players
            .get_mut(who)
            .map(|player| player.gait.held = held)
            .is_some()
    }

    /// Makes the player belong to `region` from now on. Returns false, and changes nothing, if
    /// player or region is not here.
    pub fn set_region(&mut self, who: &CharacterId, region: Region) -> bool {
        let Some(player) = self.players.get_mut(who) else {
            return false;
        };
        if !self.regions.contains_key(&region) {
            return false;
        }
        player.region = region;
        player.region_since = self.now;
        true
    }

    /// Returns a player that is here.
    pub fn player(&self, who: &CharacterId) -> Option<&Player> {
        self.players.get(who)
    }

    /// Returns all players here, by character id.
    pub fn players(&self) -> impl Iterator<Item = &Player> {
        self.players.values()
    }

    /// Returns all that lies on the ground and belongs to `region`, by id.
    pub fn ground(&self, region: Region) -> impl Iterator<Item = &GroundItem> {
        self.ground.of(region)
    }

    /// Returns something that lies on the ground here.
    pub fn ground_item(&self, id: &EntityId) -> Option<&GroundItem> {
        self.ground.get(id)
    }

    /// Returns the saved record of a player that is here.
    pub fn record(&self, who: &CharacterId) -> Option<PlayerRecord> {
        self.players.get(who).map(|player| player.record.clone())
    }

    /// Returns the public look of something that belongs to a region played here.
    pub fn look(&self, id: &EntityId) -> Option<Look> {
        let mut look = self.look_at_rest(id)?;
        look.fields.extend(self.emote_field(id));
        if look.kind == Kind::Player {
            look.fields.extend(self.worn_field(id));
            look.fields.extend(self.doing_field(id));
        }
        Some(look)
    }

    fn look_at_rest(&self, id: &EntityId) -> Option<Look> {
        if let Some(player) = self.players.get(&id.character()) {
            return Some(player.look());
        }
        if let Some(npc) = self.npcs.get(id) {
            return npc.lives().then(|| npc.look());
        }
        if let Some(item) = self.ground.seen(id) {
            let kind = self.content.item(&item.item);
            return Some(item.look(kind.map_or(&item.item, |kind| &kind.name), self.now));
        }
        if let Some(fire) = self.fires.get(id) {
            return Some(fire.look());
        }
        let fixture = self.content.fixture(id)?;
        let region = Region::from(fixture.tile);
        if !self.regions.contains_key(&region) {
            return None;
        }
        let mut fields: Vec<(&'static str, Field)> = vec![("name", (&fixture.name).into())];
        if fixture.kind == Kind::Resource {
            fields.push(("resourceId", (&fixture.of).into()));
            fields.push(("resourceType", (&fixture.sort).into()));
            fields.push(("level", fixture.level.into()));
            if self.resources.is_empty(id) {
                fields.push(("depleted", true.into()));
            }
        } else {
            fields.push(("stationType", (&fixture.sort).into()));
        }
        let id = fixture.id.clone();
        Some(Look {
            id,
            kind: fixture.kind,
            tile: self.resources.tile(fixture),
            region,
            fields,
        })
    }

    /// Returns all that stands in `chunk` and belongs to a region played here, by id.
    pub fn entities_in(&self, chunk: Chunk) -> impl Iterator<Item = &EntityId> {
        self.index.chunks.get(&chunk).into_iter().flatten()
    }

    /// Returns the ids of everything in the chunks within `tiles` of `from`, of the regions played
    /// here.
    pub fn entities_near(&self, from: Tile, tiles: u32) -> Vec<&EntityId> {
        let reach = i32::try_from(tiles).unwrap_or(i32::MAX);
        let low = Chunk::from(from.moved(-reach, -reach));
        let high = Chunk::from(from.moved(reach, reach));
        let column = |x| Chunk { x, z: low.z }..=Chunk { x, z: high.z };
        let found = (low.x..=high.x).flat_map(|x| self.index.between(column(x)));
        found.collect()
    }

    /// Returns all that belongs to the regions played here, by chunk.
    pub fn entities(&self) -> impl Iterator<Item = &EntityId> {
        self.index.chunks.values().flatten()
    }
}

/// Entities by chunk.
#[derive(Debug, Default)]
pub(crate) struct Index {
    chunks: BTreeMap<Chunk, BTreeSet<EntityId>>,
    /// Entities that came, changed or went between two ticks.
    touched: BTreeSet<EntityId>,
}

impl Index {
    /// Puts in an entity that comes between two ticks; the next tick tells of it.
    pub(crate) fn come(&mut self, chunk: Chunk, id: EntityId) {
        self.touched.insert(id.clone());
        self.put(chunk, id);
    }

    /// Takes out an entity that goes between two ticks; the next tick tells of it.
    pub(crate) fn go(&mut self, chunk: Chunk, id: &EntityId) {
        self.touched.insert(id.clone());
        self.take(chunk, id);
    }

    /// Notes that an entity changed between two ticks; the next tick tells of it.
    pub(crate) fn touch(&mut self, id: EntityId) {
        self.touched.insert(id);
    }

    /// Returns the entities that came, changed or went since the last call.
    pub(crate) fn take_touched(&mut self) -> BTreeSet<EntityId> {
        std::mem::take(&mut self.touched)
    }

    pub(crate) fn put(&mut self, chunk: Chunk, id: EntityId) {
        self.chunks.entry(chunk).or_default().insert(id);
    }

    pub(crate) fn take(&mut self, chunk: Chunk, id: &EntityId) {
        if let Some(ids) = self.chunks.get_mut(&chunk) {
            ids.remove(id);
            if ids.is_empty() {
                self.chunks.remove(&chunk);
            }
        }
    }

    /// Returns the entities in chunks from one to another, in their order.
    pub(crate) fn between(
        &self,
        chunks: std::ops::RangeInclusive<Chunk>,
    ) -> impl Iterator<Item = &EntityId> {
        self.chunks.range(chunks).flat_map(|(_, ids)| ids)
    }

    pub(crate) fn shift(&mut self, from: Chunk, to: Chunk, id: &EntityId) {
        if from != to {
            self.take(from, id);
            self.put(to, id.clone());
        }
    }
}
