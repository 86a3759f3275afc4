//! The ground of a tile.

macro_rules! grounds {
    ($($(#[$meta:meta])* $variant:ident = $id:literal, $name:literal, $color:literal, $walk:literal;)*) => {
        /// Kind of a tile. The ids and names are part of the content's format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Ground {
            $($(#[$meta])* $variant = $id,)*
        }

        impl Ground {
            /// All of them, by id.
            pub const ALL: &'static [Ground] = &[$(Ground::$variant,)*];

            /// Returns the number by which it goes on the wire.
            pub const fn id(self) -> u8 {
                self as u8
            }

            /// Returns the name by which content and clients know it.
            pub const fn name(self) -> &'static str {
                match self { $(Ground::$variant => $name,)* }
            }

            /// Returns its colour on a map, as `#rrggbb`.
            pub const fn color(self) -> &'static str {
                match self { $(Ground::$variant => $color,)* }
            }

            /// Returns whether anybody can stand on it.
            pub const fn walkable(self) -> bool {
                match self { $(Ground::$variant => $walk,)* }
            }

            /// Returns the ground with that name, without regard to case.
            pub fn named(name: &str) -> Option<Ground> {
                Ground::ALL.iter().copied().find(|g| g.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

grounds! {
    /// Short grass.
    Grass = 0, "grass", "#7cab55", true;
    /// Long grass and flowers.
    Meadow = 1, "meadow", "#93b85c", true;
    /// Leaves and moss.
    ForestFloor = 2, "forest_floor", "#4f7a41", true;
    /// Bare earth.
    Dirt = 3, "dirt", "#9b7a52", true;
    /// Furrows.
    Farmland = 4, "farmland", "#b08d4c", true;
    /// Beach or desert.
    Sand = 5, "sand", "#dcc58a", true;
    /// Water to the ankles.
    Shallows = 6, "shallows", "#7fbccb", true;
    /// Too deep to stand in.
    Water = 7, "water", "#4a8fb8", false;
    /// Far too deep.
    DeepWater = 8, "deep_water", "#2f6a96", false;
    /// Paved or trodden.
    Road = 9, "road", "#b9a27e", true;
    /// Flagstones of a square.
    Plaza = 10, "plaza", "#c7bda9", true;
    /// Inside a house.
    Floor = 11, "floor", "#a9855c", true;
    /// The wall of a house.
    Wall = 12, "wall", "#5e5148", false;
    /// Planks over water.
    Bridge = 13, "bridge", "#8a6642", true;
    /// A boulder.
    Rock = 14, "rock", "#85827b", false;
    /// A steep face.
    Cliff = 15, "cliff", "#6b665f", false;
    /// Mud and reeds.
    Swamp = 16, "swamp", "#5f6f45", true;
    /// Snow.
    Snow = 17, "snow", "#e9eef2", true;
    /// Ice that bears.
    Ice = 18, "ice", "#bcdcea", true;
    /// Ash.
    Ash = 19, "ash", "#77716f", true;
    /// Molten rock.
    Lava = 20, "lava", "#d9552b", false;
    /// Bushes too thick to pass.
    Hedge = 21, "hedge", "#3e6b35", false;
}

impl Ground {
    /// Returns whether it is the surface of water, which lies flat.
    pub(crate) const fn flat(self) -> bool {
        matches!(
            self,
            Ground::Shallows | Ground::Water | Ground::DeepWater | Ground::Bridge
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_count_up_and_names_lead_back() {
        for (id, ground) in Ground::ALL.iter().enumerate() {
            assert_eq!(usize::from(ground.id()), id);
            assert_eq!(Ground::named(ground.name()), Some(*ground));
            assert_eq!(ground.color().len(), 7);
        }
        assert_eq!(Ground::named("PLAZA"), Some(Ground::Plaza));
        assert_eq!(Ground::named("cheese"), None);
    }
}
