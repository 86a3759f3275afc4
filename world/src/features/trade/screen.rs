//! The two screens of a trade.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Screen of an open trade.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Screen {
    /// Screen on which both players lay out their offers.
    Offer,
    /// Screen on which both players see the offers for the last time.
    Confirm,
}
