//! The gateway guards the door and shows the world: HTTP, WebSocket sessions, authentication,
//! limits, what each session sees, and chat. It holds nothing that matters when it is killed.

mod directory;
mod mailbox;
mod view;
mod zone_link;
